/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "run/conductor_parts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "run/decisions.h"

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
	conductor_tell(conductor,
			&(struct engine_input){.kind = INPUT_PROCESSES,
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
		conductor_tell(conductor, &(struct engine_input){.kind = INPUT_OFFER,
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
		uint64_t rarer_ns = OFFERS_RARER * (answer->answered_ns - answer->asked_ns);

		/* To tell of ten thousand functions takes a busy host seconds. */
		player->offers_ns += rarer_ns < OFFERS_MOST_NS ? rarer_ns : OFFERS_MOST_NS;
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
	player->poll_ns = answer->answered_ns + POLL_NS;
	if (player->lost) {
		player->lost = false;
		player->offers_ns = 0; /* a search may wait for it */
	}
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
	conductor_tell(conductor, &(struct engine_input){.kind = INPUT_HOST_GONE, .text = host});
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
	player->afresh = player->lost = true;
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

	player->polling = false;
	player->poll_ns = answer->answered_ns + POLL_NS;
	control_hosts_view(conductor->hosts, answer->host, NULL, &host);
	if (answer->status == STATUS_END || !host.session[0] || player->creating) {
		return; /* another helper will tell, or another check */
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
		player->poll_ns = answer->answered_ns + NS_PER_S;
	}
}

/* Looks whether our session is still there, at both of its ends. */
static void check_session(struct conductor *conductor, int at, const struct control_host *host,
		uint64_t now_ns)
{
	struct player *player = &conductor->players[at];

	if (player->creating || player->polling || conductor->playing.on ||
			now_ns < player->poll_ns) {
		return;
	}
	if (now_ns >= player->created_ns + LISTED_NS &&
			conductor->setup.sources.is_lost(conductor->setup.sources.context,
					host->name, host->session)) {
		lose_session(conductor, at,
				"the relay daemon does not have it; was it started anew?");
		return;
	}
	player->polling = control_ask_sessions(conductor->hosts, at, POLL_LIMIT_NS, on_sessions,
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

void conductor_tend_host(struct conductor *conductor, int at, uint64_t now_ns)
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
			conductor_tell(conductor,
					&(struct engine_input){.kind = INPUT_CALIBRATE,
							.calibrate = {host.name, host.event_ns}});
		}
	}
	if (host.session[0]) {
		check_session(conductor, at, &host, now_ns);
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
