/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "run/conductor.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "config/paths.h"
#include "control/hosts.h"
#include "run/decisions.h"
#include "run/dry_run.h"
#include "run/part.h"
#include "run/sight.h"
#include "run/watch.h"

#define NS_PER_S      UINT64_C(1000000000)
#define OFFERS_NS     (30 * NS_PER_S) /* between looks at what a host offers */
#define CALM_NS       (60 * NS_PER_S) /* after the last order nobody waits for what comes of it */
#define RETRY_NS      (5 * NS_PER_S)
#define LOOK_NS       (3 * NS_PER_S)  /* between looks whether our session is still there */
#define LOOK_LIMIT_NS (6 * NS_PER_S)  /* of one: a stopped application holds it up for 5 s */
#define LISTED_NS     (10 * NS_PER_S) /* until a relay daemon lists a session that was made */
#define MAX_HOSTS     CONDUCTOR_MAX_FDS
#define TEXT_BYTES    512

/* A host, by its index among the control hosts. */
struct player {
	uint32_t generation; /* of the helper that was spoken to */
	bool asking;         /* for what it offers */
	bool creating;
	bool afresh;  /* creating was not tried since its helper came, or since it was lost */
	bool looking; /* whether our session is still there */
	bool silent;  /* our session: its events do not come */
	bool missed;  /* by the last look; one may be in vain, if just then a call was ended */
	uint64_t offers_ns, create_ns, look_ns; /* not before */
	uint64_t created_ns;
	char session[CONTROL_NAME_BYTES];
	char probe[CONTROL_NAME_BYTES]; /* that of pythiatop-probe beside it; "": none */
	char complaint[CONTROL_SENTENCE_BYTES]; /* why its session is not there, or not well */
};

/* The order that the hosts are at. */
struct playing {
	bool on, undo;
	enum step_kind kind;
	uint32_t step, watch_s;
	uint32_t open; /* asks without an answer */
	bool failed;
	char error[CONTROL_NAME_BYTES + TEXT_BYTES];
};

/* A step that is being watched, and what the hosts say of it. */
struct watching {
	bool on, asked;
	struct watch watch;
	uint64_t discarded; /* in our sessions, at the begin */
	uint32_t open;
	uint64_t discarded_now;
};

struct conductor {
	struct conductor_setup setup;
	struct control_hosts *hosts;
	struct decisions *decisions;
	struct player players[MAX_HOSTS];
	enum step_mode mode;
	struct playing playing;
	uint64_t ordered_ns; /* when the last order was given; 0: none was */
	struct watching watching;
	struct sight sight; /* of the step that is watched */
	struct dry_run dry_run;
	bool changed;
	char own_name[256];
};

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
	conductor->hosts = control_hosts_create(&(struct control_setup){
			.program = program, .local = setup->helper, .ssh = setup->ssh, .console = console});
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
static bool tell(struct conductor *conductor, const struct engine_input *input)
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
	tell(conductor, &(struct engine_input){.kind = INPUT_SILENT,
					.silent = {.host = session->host, .is = is}});
}

/* --- what hosts offer ------------------------------------------------------------------------ */

static int by_pid(const void *a, const void *b)
{
	int64_t x = ((const struct step_process *)a)->pid,
		y = ((const struct step_process *)b)->pid;

	return (x > y) - (x < y);
}

/* A process is listed with each of its points. */
static void take_processes(
		struct conductor *conductor, const char *host, const struct control_answer *answer)
{
	struct step_process *all;
	uint32_t n = 0, known = 0;

	for (uint32_t i = 0; i < answer->n_points; i++) {
		n += answer->points[i].n_listed;
	}
	all = calloc(n + 1, sizeof(*all));
	if (!all) {
		return;
	}
	n = 0;
	for (uint32_t i = 0; i < answer->n_points; i++) {
		const struct control_point *point = &answer->points[i];

		for (uint32_t k = 0; k < point->n_listed; k++) {
			all[n++] = (struct step_process){.pid = point->processes[k].pid,
					.name = point->processes[k].name};
		}
	}
	qsort(all, n, sizeof(*all), by_pid);
	for (uint32_t i = 0; i < n; i++) {
		if (known == 0 || all[known - 1].pid != all[i].pid) {
			all[known++] = all[i];
		}
	}
	tell(conductor, &(struct engine_input){.kind = INPUT_PROCESSES,
					.processes = {.host = host, .n = known, .list = all}});
	free(all);
}

static void take_points(struct conductor *conductor, const struct control_answer *answer)
{
	struct step_offer *offers = calloc(answer->n_points + 1, sizeof(*offers));
	struct control_host host;
	const char **fields;
	size_t n_fields = 0, at = 0;
	uint32_t n = 0;

	for (uint32_t i = 0; i < answer->n_points; i++) {
		n_fields += answer->points[i].n_fields;
	}
	fields = calloc(n_fields + 1, sizeof(*fields));
	control_hosts_view(conductor->hosts, answer->host, NULL, &host);
	for (uint32_t i = 0; offers && fields && i < answer->n_points; i++) {
		const struct control_point *point = &answer->points[i];

		if (point->type != CONTROL_TRACEPOINT) {
			continue;
		}
		offers[n++] = (struct step_offer){.host = host.name,
				.name = point->name,
				.kernel = point->domain == CONTROL_KERNEL,
				.bounded = point->bounded,
				.n_fields = point->n_fields,
				.fields = &fields[at]};
		for (uint32_t f = 0; f < point->n_fields; f++) {
			fields[at++] = point->fields[f].name;
		}
	}
	if (offers && fields) {
		tell(conductor, &(struct engine_input){.kind = INPUT_OFFER,
						.offer = {host.name, n, offers}});
	}
	take_processes(conductor, host.name, answer);
	free(fields);
	free(offers);
}

static void on_points(void *context, const struct control_answer *answer)
{
	struct conductor *conductor = context;
	struct player *player = &conductor->players[answer->host];

	player->asking = false;
	conductor->changed = true;
	if (answer->status == STATUS_OK) {
		take_points(conductor, answer);
	} else {
		player->offers_ns = answer->answered_ns + RETRY_NS;
	}
}

/* --- our sessions ---------------------------------------------------------------------------- */

/* Half a session may be left of one that could not be made. */
static void on_cleared(void *context, const struct control_answer *answer)
{
	struct conductor *conductor = context;

	conductor->players[answer->host].creating = false;
	conductor->changed = true;
}

static void on_created(void *context, const struct control_answer *answer)
{
	struct conductor *conductor = context;
	struct player *player = &conductor->players[answer->host];
	struct control_host host;

	player->creating = player->afresh = false;
	conductor->changed = true;
	if (answer->status != STATUS_OK) {
		snprintf(player->complaint, sizeof(player->complaint), "%s", answer->message);
		player->create_ns = answer->answered_ns + RETRY_NS;
		player->creating = control_ask_destroy(conductor->hosts, answer->host, 0,
						   on_cleared, conductor) != 0;
		return;
	}
	player->complaint[0] = '\0';
	player->created_ns = answer->answered_ns;
	player->look_ns = answer->answered_ns + LOOK_NS;
	player->offers_ns = 0; /* a search may wait for it, after one was lost */
	snprintf(player->session, sizeof(player->session), "%s", answer->session);
	snprintf(player->probe, sizeof(player->probe), "%s", answer->probe);
	control_hosts_view(conductor->hosts, answer->host, NULL, &host);
	conductor->setup.sources.attach(
			conductor->setup.sources.context, host.name, answer->session);
	if (answer->probe[0]) {
		conductor->setup.sources.attach(
				conductor->setup.sources.context, host.name, answer->probe);
	}
}

static void create_session(struct conductor *conductor, int at, const struct control_host *host,
		uint64_t now_ns)
{
	struct player *player = &conductor->players[at];
	char url[TEXT_BYTES], error[TEXT_BYTES];

	if (!conductor->setup.relay) {
		snprintf(player->complaint, sizeof(player->complaint),
				"there is no relay daemon to send events to: only recordings are "
				"read");
		player->create_ns = UINT64_MAX;
		return;
	}
	if (!control_relay_url(conductor->setup.relay_url, conductor->setup.relay, host->local, url,
			    sizeof(url), error, sizeof(error))) {
		snprintf(player->complaint, sizeof(player->complaint), "%s", error);
		player->create_ns = now_ns + RETRY_NS;
		return;
	}
	player->creating =
			control_ask_create(conductor->hosts, at,
					&(struct control_create){.kind = CONTROL_LIVE,
							.relay_url = url,
							.live_timer_us =
									conductor->setup.live_timer_us,
							.kernel = true},
					0, on_created, conductor) != 0;
}

/* --- sessions that are lost ------------------------------------------------------------------ */

/* Whatever steps did there is undone. */
static void tell_gone(struct conductor *conductor, const char *host)
{
	tell(conductor, &(struct engine_input){.kind = INPUT_HOST_GONE, .text = host});
	conductor->changed = true;
}

/* Our session is no more, or leads nowhere: what is left of it goes, then it is made again. */
static void lose_session(struct conductor *conductor, int at, const char *why)
{
	struct player *player = &conductor->players[at];
	struct control_host host;
	char text[CONTROL_SENTENCE_BYTES + TEXT_BYTES];

	control_hosts_view(conductor->hosts, at, NULL, &host);
	tell_gone(conductor, host.name);
	snprintf(player->complaint, sizeof(player->complaint), "%s", why);
	snprintf(text, sizeof(text), "%s: our session is lost, and made again: %s", host.name, why);
	conductor->setup.sources.say(conductor->setup.sources.context, text);
	player->silent = player->missed = false;
	player->afresh = true;
	player->create_ns = 0;
	player->creating = control_ask_destroy(conductor->hosts, at, 0, on_cleared, conductor) != 0;
}

static bool is_listed(const struct control_answer *answer, const char *session)
{
	for (uint32_t i = 0; i < answer->n_sessions; i++) {
		if (strcmp(answer->sessions[i].name, session) == 0) {
			return true;
		}
	}
	return false;
}

static void on_sessions(void *context, const struct control_answer *answer)
{
	struct conductor *conductor = context;
	struct player *player = &conductor->players[answer->host];
	const char *why = answer->message;
	struct control_host host;

	player->looking = false;
	player->look_ns = answer->answered_ns + LOOK_NS;
	control_hosts_view(conductor->hosts, answer->host, NULL, &host);
	if (answer->status == STATUS_END || !host.session[0] || player->creating) {
		return; /* another helper will tell, or another look */
	}
	conductor->changed |= why[0] || player->complaint[0];
	snprintf(player->complaint, sizeof(player->complaint), "%s", why);
	if (answer->status == STATUS_OK) {
		bool there = is_listed(answer, host.session);

		if (there && (!host.probe[0] || is_listed(answer, host.probe))) {
			player->missed = false;
			return;
		}
		why = there ? "pythiatop-probe does not have it; has it ended?"
			    : "the session daemon does not have it; was it started anew, or the "
			      "session destroyed?";
	} else if (answer->status != STATUS_INVALID) {
		return; /* who does not answer may still have it */
	}
	if (player->missed) {
		lose_session(conductor, answer->host, why);
	} else {
		player->missed = true;
		player->look_ns = answer->answered_ns + NS_PER_S;
	}
}

/* Looks whether our session is still there, at both of its ends. */
static void look_after_session(struct conductor *conductor, int at, const struct control_host *host,
		uint64_t now_ns)
{
	struct player *player = &conductor->players[at];

	if (player->creating || player->looking || conductor->playing.on ||
			now_ns < player->look_ns) {
		return;
	}
	if (now_ns >= player->created_ns + LISTED_NS &&
			conductor->setup.sources.is_lost(conductor->setup.sources.context,
					host->name, host->session)) {
		lose_session(conductor, at,
				"the relay daemon does not have it; was it started anew?");
		return;
	}
	player->looking = control_ask_sessions(conductor->hosts, at, LOOK_LIMIT_NS, on_sessions,
					  conductor) != 0;
}

/* Its helper is not there: a session of its is undone, or will be when its lease ends. */
static void lose_helper(struct conductor *conductor, int at, const struct control_host *host)
{
	struct player *player = &conductor->players[at];

	if (player->generation) {
		tell_gone(conductor, host->name);
	}
	if (player->session[0]) {
		conductor->setup.sources.detach(
				conductor->setup.sources.context, host->name, player->session);
	}
	if (player->probe[0]) {
		conductor->setup.sources.detach(
				conductor->setup.sources.context, host->name, player->probe);
	}
	*player = (struct player){0};
}

static void tend_host(struct conductor *conductor, int at, uint64_t now_ns)
{
	struct player *player = &conductor->players[at];
	struct control_host host;

	control_hosts_view(conductor->hosts, at, NULL, &host);
	if (host.state != CONTROL_READY || host.generation != player->generation) {
		lose_helper(conductor, at, &host);
	}
	if (host.state != CONTROL_READY) {
		return;
	}
	if (host.generation != player->generation) {
		*player = (struct player){.generation = host.generation, .afresh = true};
		if (host.event_ns > 0) {
			tell(conductor, &(struct engine_input){.kind = INPUT_CALIBRATE,
							.calibrate = {host.name, host.event_ns}});
		}
	}
	if (host.session[0]) {
		look_after_session(conductor, at, &host, now_ns);
	}
	if (!player->asking && now_ns >= player->offers_ns) {
		player->asking = control_ask_points(conductor->hosts, at, 0, on_points,
						 conductor) != 0;
		player->offers_ns = now_ns + OFFERS_NS;
	}
	if (conductor->mode == MODE_OBSERVE || host.session[0]) {
		return;
	}
	if (host.read_only) {
		snprintf(player->complaint, sizeof(player->complaint),
				"this host is read-only: control.read_only in its control.conf "
				"says so");
	} else if (!player->creating && now_ns >= player->create_ns) {
		create_session(conductor, at, &host, now_ns);
	}
}

/* --- orders ---------------------------------------------------------------------------------- */

static void fail(struct playing *playing, const char *host, const char *message)
{
	if (!playing->failed) {
		snprintf(playing->error, sizeof(playing->error), "%s: %s", host, message);
	}
	playing->failed = true;
}

static void begin_watch(struct conductor *conductor, uint64_t now_ns);

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
	tell(conductor, &input);
	conductor->changed = true;
	if (!playing->failed && !playing->undo) {
		begin_watch(conductor, now_ns);
		sight_begin(&conductor->sight, playing->step, playing->watch_s, now_ns,
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
		conductor->players[answer->host].look_ns = 0; /* is it still there? */
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

/* --- watching -------------------------------------------------------------------------------- */

/* Events that came through sessions of ours, and their bytes. */
static struct watch_counts own_counts(const struct conductor *conductor)
{
	const struct session_desc *session;
	struct watch_counts sum = {0, 0};

	for (uint32_t i = 0; (session = engine_session(conductor->setup.engine, i)); i++) {
		struct session_counts counts;

		if (session->ours) {
			engine_session_counts(conductor->setup.engine, i, &counts);
			sum.events += counts.events;
			sum.bytes += counts.bytes;
		}
	}
	return sum;
}

static void on_discarded(void *context, const struct control_answer *answer)
{
	struct conductor *conductor = context;
	struct watching *watching = &conductor->watching;

	for (uint32_t i = 0; i < answer->n_channels; i++) {
		watching->discarded_now += answer->channels[i].discarded_events +
					   answer->channels[i].lost_packets;
	}
	if (watching->open > 0) {
		watching->open--;
	}
}

/* Asks all hosts what was lost so far. */
static void ask_discarded(struct conductor *conductor)
{
	struct watching *watching = &conductor->watching;

	watching->discarded_now = 0;
	watching->open = 0;
	for (uint32_t i = 0; i < control_hosts_count(conductor->hosts); i++) {
		struct control_host host;

		control_hosts_view(conductor->hosts, (int)i, NULL, &host);
		if (host.state == CONTROL_READY && host.session[0] &&
				control_ask_channels(conductor->hosts, (int)i, host.session,
						LOOK_LIMIT_NS, on_discarded, conductor)) {
			watching->open++;
		}
	}
}

static void begin_watch(struct conductor *conductor, uint64_t now_ns)
{
	const struct playing *playing = &conductor->playing;

	conductor->watching = (struct watching){
			.on = true, .discarded = conductor->watching.discarded_now};
	watch_begin(&conductor->watching.watch, playing->step, playing->kind == STEP_LEARN,
			playing->watch_s, now_ns, own_counts(conductor));
}

static void watch(struct conductor *conductor, uint64_t now_ns)
{
	struct watching *watching = &conductor->watching;
	struct engine_input input = {.kind = INPUT_WATCH};

	if (watching->on && now_ns >= watch_due_ns(&watching->watch)) {
		watch_look(&watching->watch, now_ns, own_counts(conductor).events,
				engine_budget(conductor->setup.engine));
	}
	if (!watching->on || now_ns < watching->watch.end_ns) {
		return;
	}
	if (!watching->asked) {
		watching->asked = true;
		ask_discarded(conductor);
	}
	if (watching->open > 0) {
		return;
	}
	input.watch = watch_end(&watching->watch, now_ns, own_counts(conductor),
			watching->discarded_now > watching->discarded
					? watching->discarded_now - watching->discarded
					: 0);
	watching->on = false;
	conductor->changed = true;
	tell(conductor, &input);
	if (watching->watch.learning) {
		conductor->setup.sources.learned(conductor->setup.sources.context);
	}
}

/* A step that costs nobody knows what must not stay. */
static void undo_unseen(struct conductor *conductor)
{
	uint32_t step = conductor->sight.step;
	char text[TEXT_BYTES];

	snprintf(text, sizeof(text),
			"step %u is undone: its events did not come for %u s; is the relay daemon, "
			"or a session daemon, stopped or cut off?",
			step, SIGHT_BLIND_S);
	conductor->watching.on = false;
	if (tell(conductor, &(struct engine_input){.kind = INPUT_DECIDE,
					    .decide = {step, STEP_UNDO, STEP_BY_WATCH}})) {
		conductor->setup.sources.say(conductor->setup.sources.context, text);
	}
	conductor->changed = true;
}

static bool is_silent(const struct conductor *conductor)
{
	for (uint32_t i = 0; i < MAX_HOSTS; i++) {
		if (conductor->players[i].silent) {
			return true;
		}
	}
	return false;
}

/* Watches by what is seen. */
static void tend_watch(struct conductor *conductor, uint64_t now_ns)
{
	struct sight *sight = &conductor->sight;
	uint64_t time_ns = engine_time(conductor->setup.engine);

	if (!conductor->watching.on) {
		return;
	}
	sight_look(sight, now_ns, time_ns, is_silent(conductor));
	if (sight_is_lost(sight, now_ns, time_ns)) {
		undo_unseen(conductor);
	} else if (!sight_is_blind(sight, now_ns, time_ns)) {
		watch(conductor, sight_clock(sight, now_ns, time_ns));
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
		tend_host(conductor, (int)i, now_ns);
	}
	tend_watch(conductor, now_ns);
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
