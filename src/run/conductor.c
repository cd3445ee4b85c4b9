/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "run/conductor_parts.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "config/paths.h"
#include "run/decisions.h"
#include "run/part.h"

struct conductor *conductor_create(const struct conductor_setup *setup, char *error, size_t size)
{
	struct conductor *conductor = calloc(1, sizeof(*conductor));
	char program[PATH_MAX], console[320];

	if (!conductor) {
		snprintf(error, size, "out of memory");
		return NULL;
	}
	conductor->setup = *setup;
	if (gethostname(conductor->own_name, sizeof(conductor->own_name) - 1) != 0) {
		conductor->own_name[0] = '\0';
	}
	if (!paths_sibling("pythiatop-control", program, sizeof(program))) {
		snprintf(program, sizeof(program), "pythiatop-control");
	}
	snprintf(console, sizeof(console), "%s %d", conductor->own_name, (int)getpid());
	conductor->hosts = control_hosts_create(&(struct control_setup){.program = program,
			.local = setup->helper,
			.ssh = setup->ssh,
			.console = console});
	if (!conductor->hosts) {
		snprintf(error, size, "out of memory");
		conductor_destroy(conductor);
		return NULL;
	}
	conductor->dry_run = (struct dry_run){.hosts = conductor->hosts,
			.engine = setup->engine,
			.say = setup->sources.say,
			.context = setup->sources.context};
	conductor->decisions = decisions_open(setup->log, error, size);
	if (!conductor->decisions) {
		conductor_destroy(conductor);
		return NULL;
	}
	return conductor;
}

const struct decisions *conductor_decisions(const struct conductor *conductor)
{
	return conductor->decisions;
}

void conductor_destroy(struct conductor *conductor)
{
	if (!conductor) {
		return;
	}
	/* What hosts answer now, nobody decides upon. */
	decisions_close(conductor->decisions);
	conductor->decisions = NULL;
	/* Open asks are answered here, while everything they refer to is there. */
	control_hosts_destroy(conductor->hosts);
	free(conductor);
}

bool conductor_add_host(struct conductor *conductor, const char *option, char *error, size_t size)
{
	if (control_hosts_count(conductor->hosts) >= MAX_HOSTS) {
		snprintf(error, size, "more than %u hosts to control", MAX_HOSTS);
		return false;
	}
	return control_hosts_add_option(conductor->hosts, option, error, size) >= 0;
}

void conductor_see_host(struct conductor *conductor, const char *host)
{
	char error[TEXT_BYTES];
	int at = control_hosts_find(conductor->hosts, host);

	if (at >= 0) {
		conductor->players[at].offers_ns = 0; /* what it told of may mean more now */
	} else if (conductor->setup.own_host && strcmp(host, conductor->own_name) == 0 &&
			control_hosts_count(conductor->hosts) < MAX_HOSTS) {
		control_hosts_add(conductor->hosts, host, "local", error, sizeof(error));
	}
}

/* The engine, and where it takes it the log. */
bool conductor_tell(struct conductor *conductor, const struct engine_input *input)
{
	char error[TEXT_BYTES];

	return conductor_input(conductor, input, error, sizeof(error)) == STATUS_OK;
}

void conductor_see_silent(struct conductor *conductor, const struct session_desc *session, bool is)
{
	int at = control_hosts_find(conductor->hosts, session->host);
	struct player *player = at >= 0 ? &conductor->players[at] : NULL;

	if (!player || player->silent == is || strcmp(player->session, session->name) != 0) {
		return;
	}
	player->silent = is;
	decisions_at(conductor->decisions, engine_time(conductor->setup.engine));
	conductor_tell(conductor, &(struct engine_input){.kind = INPUT_SILENT,
						  .silent = {.host = session->host, .is = is}});
}

/* --- orders ---------------------------------------------------------------------------------- */

static void fail(struct playing *playing, const char *host, const char *message)
{
	if (!playing->failed) {
		snprintf(playing->error, sizeof(playing->error), "%s: %s", host, message);
	}
	playing->failed = true;
}

static void finish_order(struct conductor *conductor, uint64_t now_ns)
{
	struct playing *playing = &conductor->playing;
	const struct engine_input input = {.kind = INPUT_OUTCOME,
			.outcome = {.step = playing->step,
					.undo = playing->undo,
					.ok = !playing->failed,
					.error = playing->error,
					.answered_ns = clock_real_ns()}};

	playing->on = false;
	conductor_tell(conductor, &input);
	conductor->changed = true;
	if (!playing->failed && !playing->undo) {
		conductor_begin_watch(conductor, now_ns);
		coverage_begin(&conductor->coverage, playing->step, playing->watch_s, now_ns,
				engine_time(conductor->setup.engine));
	}
}

static void on_changed(void *context, const struct control_answer *answer)
{
	struct conductor *conductor = context;
	struct playing *playing = &conductor->playing;
	struct control_host host;

	control_hosts_view(conductor->hosts, answer->host, NULL, &host);
	if (answer->status != STATUS_OK) {
		/* What a helper that is gone had done is undone. */
		if (!playing->undo || answer->status != STATUS_END) {
			fail(playing, host.name, answer->message);
		}
	}
	for (uint32_t i = 0; i < answer->n_changes; i++) {
		const struct control_change *change = &answer->changes[i];

		if (change->done == CONTROL_REFUSED) {
			char text[TEXT_BYTES];

			snprintf(text, sizeof(text), "%s: %s", change->name, change->message);
			fail(playing, host.name, text);
		}
	}
	if (playing->failed) {
		conductor->players[answer->host].poll_ns = 0; /* is it still there? */
	}
	if (--playing->open == 0) {
		finish_order(conductor, answer->answered_ns);
	}
}

/* What of an order one host is asked for. */
static struct part part_of(struct conductor *conductor, int at, const struct control_host *host,
		const struct step_order *order)
{
	return (struct part){.hosts = conductor->hosts,
			.engine = conductor->setup.engine,
			.at = at,
			.host = host->name,
			.kind = order->kind,
			.n = order->n,
			.events = order->events,
			.done = on_changed,
			.context = conductor};
}

/* All points of a host's providers at once, or no more. */
static void tell_learner(struct conductor *conductor, int at, const struct control_host *host,
		const struct step_order *order)
{
	struct part part = part_of(conductor, at, host, order);
	bool asked = order->undo ? control_ask_learned(conductor->hosts, at, 0, on_changed,
						   conductor) != 0
				 : part_ask(&part, PART_LEARN) > 0;

	if (asked) {
		conductor->playing.open++;
	} else {
		fail(&conductor->playing, host->name, "nothing there to learn from");
	}
}

/* Tells one host its part of an order: what to enable, or what to disable. */
static void tell_host(struct conductor *conductor, int at, const struct control_host *host,
		const struct step_order *order, bool enable)
{
	struct part part = part_of(conductor, at, host, order);
	int asked = part_ask(&part, enable ? PART_ENABLE : PART_DISABLE);

	if (asked > 0) {
		conductor->playing.open++;
	} else if (asked < 0) {
		fail(&conductor->playing, host->name, "out of memory");
	}
}

/* The host as it can be told something; false: why not was noted. */
static bool reach_host(struct conductor *conductor, const char *name, bool undo, int *at,
		struct control_host *host)
{
	*at = control_hosts_find(conductor->hosts, name);
	control_hosts_view(conductor->hosts, *at, name, host);
	if (host->state != CONTROL_READY) {
		/* A helper that is gone has undone what it did. */
		if (!undo) {
			fail(&conductor->playing, name, host->sentence);
		}
		return false;
	}
	if (!host->session[0]) {
		if (!undo) {
			const char *complaint = conductor->players[*at].complaint;

			fail(&conductor->playing, name,
					complaint[0] ? complaint
						     : "no session of ours there so far; try "
						       "again");
		}
		return false;
	}
	return true;
}

/* Is this the first event of the order that is about its host? */
static bool is_first_of_host(const struct step_order *order, uint32_t at)
{
	for (uint32_t i = 0; i < at; i++) {
		if (strcmp(order->events[i].host, order->events[at].host) == 0) {
			return false;
		}
	}
	return true;
}

/* The first session since a helper came, or since one was lost, is being made: orders wait for it.
 */
static bool is_preparing(const struct conductor *conductor)
{
	for (uint32_t i = 0; i < control_hosts_count(conductor->hosts); i++) {
		if (conductor->players[i].afresh && conductor->players[i].creating) {
			return true;
		}
	}
	return false;
}

static void play(struct conductor *conductor, uint64_t now_ns)
{
	const struct step_order *order;

	if (conductor->playing.on || is_preparing(conductor)) {
		return;
	}
	order = engine_next_order(conductor->setup.engine);
	if (!order) {
		return;
	}
	conductor->ordered_ns = now_ns;
	decisions_put(conductor->decisions,
			&(struct engine_input){.kind = INPUT_ORDER, .order = *order});
	conductor->playing = (struct playing){.on = true,
			.undo = order->undo,
			.kind = order->kind,
			.step = order->step,
			.watch_s = order->watch_s,
			.open = 1};
	if (order->undo && conductor->watching.on &&
			conductor->watching.watch.step == order->step) {
		conductor->watching.on = false;
	}
	for (uint32_t i = 0; i < order->n; i++) {
		struct control_host host;
		int at;

		if (is_first_of_host(order, i) && reach_host(conductor, order->events[i].host,
								  order->undo, &at, &host)) {
			if (order->kind == STEP_LEARN) {
				tell_learner(conductor, at, &host, order);
				continue;
			}
			tell_host(conductor, at, &host, order, true);
			tell_host(conductor, at, &host, order, false);
		}
	}
	if (--conductor->playing.open == 0) {
		finish_order(conductor, now_ns);
	}
}

/* --- the caller's loop ----------------------------------------------------------------------- */

uint32_t conductor_poll_fds(const struct conductor *conductor, struct pollfd *fds, uint32_t max)
{
	return control_hosts_poll_fds(conductor->hosts, fds, max);
}

bool conductor_is_calm(const struct conductor *conductor, uint64_t now_ns)
{
	return !conductor->playing.on && !conductor->watching.on &&
	       (conductor->ordered_ns == 0 || now_ns - conductor->ordered_ns >= CALM_NS);
}

uint64_t conductor_due_ns(const struct conductor *conductor)
{
	uint64_t due_ns = control_hosts_due_ns(conductor->hosts);

	if (conductor->watching.on && !conductor->watching.asked) {
		uint64_t next_ns = watch_due_ns(&conductor->watching.watch);

		due_ns = next_ns < due_ns ? next_ns : due_ns;
	}
	return due_ns;
}

bool conductor_step(struct conductor *conductor, uint64_t now_ns)
{
	char notice[CONTROL_SENTENCE_BYTES];
	bool changed;

	decisions_at(conductor->decisions, engine_time(conductor->setup.engine));
	conductor->changed = control_hosts_step(conductor->hosts, now_ns);
	while (control_hosts_notice(conductor->hosts, notice, sizeof(notice))) {
		conductor->setup.sources.say(conductor->setup.sources.context, notice);
	}
	for (uint32_t i = 0; i < control_hosts_count(conductor->hosts); i++) {
		conductor_tend_host(conductor, (int)i, now_ns);
	}
	conductor_tend_watch(conductor, now_ns);
	play(conductor, now_ns);
	changed = conductor->changed;
	conductor->changed = false;
	return changed;
}

/* --- what persons decide --------------------------------------------------------------------- */

enum status conductor_input(struct conductor *conductor, const struct engine_input *input,
		char *error, size_t size)
{
	enum status status = engine_input(conductor->setup.engine, input, error, size);

	if (status != STATUS_OK) {
		return status;
	}
	if (input->kind == INPUT_MODE || input->kind == INPUT_UNDO_ALL) {
		conductor->mode = input->kind == INPUT_MODE ? input->mode : MODE_OBSERVE;
	}
	decisions_put(conductor->decisions, input);
	return STATUS_OK;
}

bool conductor_dry_run(
		struct conductor *conductor, const struct step_row *row, char *error, size_t size)
{
	return dry_run_begin(&conductor->dry_run, row, error, size);
}

void conductor_note(struct conductor *conductor, const struct engine_input *input)
{
	decisions_put(conductor->decisions, input);
}

void conductor_see_first(struct conductor *conductor, uint64_t event_ns)
{
	decisions_at(conductor->decisions, event_ns);
	conductor_note(conductor, &(struct engine_input){.kind = INPUT_FIRST});
}

void conductor_see_end(struct conductor *conductor, const struct session_desc *session)
{
	decisions_at(conductor->decisions, engine_time(conductor->setup.engine));
	conductor_note(conductor, &(struct engine_input){.kind = INPUT_ENDED,
						  .ended = {session->host, session->name}});
}

void conductor_see_last(struct conductor *conductor)
{
	decisions_at(conductor->decisions, engine_time(conductor->setup.engine));
	conductor_note(conductor, &(struct engine_input){.kind = INPUT_FINISH});
}

/* Hosts that traces come from, and that nobody said how to control. */
static uint32_t fill_others(const struct conductor *conductor, struct snapshot *snapshot,
		struct steps_control *controls, uint32_t n)
{
	const struct session_desc *session;

	for (uint32_t i = 0;
			n < 2 * MAX_HOSTS && (session = engine_session(conductor->setup.engine, i));
			i++) {
		struct control_host host;
		bool known = !session->live ||
			     control_hosts_find(conductor->hosts, session->host) >= 0;

		for (uint32_t k = 0; k < n && !known; k++) {
			known = strcmp(controls[k].host, session->host) == 0;
		}
		if (known) {
			continue;
		}
		control_hosts_view(conductor->hosts, -1, session->host, &host);
		controls[n++] = (struct steps_control){
				.host = snapshot_text(snapshot, session->host),
				.session = "",
				.text = snapshot_text(snapshot, host.sentence)};
	}
	return n;
}

bool conductor_end_log(struct conductor *conductor, char *error, size_t size)
{
	decisions_end(conductor->decisions);
	return !decisions_trouble(conductor->decisions, error, size);
}

enum status conductor_fill(const struct conductor *conductor, struct snapshot *snapshot)
{
	char trouble[PATH_MAX + 200];
	uint32_t n = control_hosts_count(conductor->hosts);
	struct steps_control *controls =
			snapshot_alloc(snapshot, 2 * MAX_HOSTS * sizeof(*controls));

	if (!controls) {
		return STATUS_NO_MEMORY;
	}
	if (decisions_trouble(conductor->decisions, trouble, sizeof(trouble))) {
		snapshot_warn_first(snapshot, trouble);
	}
	for (uint32_t i = 0; i < n; i++) {
		const char *complaint = conductor->players[i].complaint;
		struct control_host host;

		control_hosts_view(conductor->hosts, (int)i, NULL, &host);
		controls[i] = (struct steps_control){.host = snapshot_text(snapshot, host.name),
				.ready = host.state == CONTROL_READY && !complaint[0],
				.session = snapshot_text(snapshot, host.session),
				.text = snapshot_text(snapshot,
						host.sentence[0] ? host.sentence : complaint)};
	}
	snapshot->steps.controls = controls;
	snapshot->steps.n_controls = fill_others(conductor, snapshot, controls, n);
	return STATUS_OK;
}
