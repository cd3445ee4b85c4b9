/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The set of hosts, and the life of each one's helper. */
#include "control/hosts.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "control/ask.h"
#include "helper/answer.h"
#include "helper/check.h"
#include "pythiatop/text.h"

#define SECOND_NS      1000000000u
#define RENEW_NS       SECOND_NS
#define SILENCE_NS     (8ull * SECOND_NS)
#define HELLO_NS       (15ull * SECOND_NS) /* an ssh has to connect first, and may ask around */
#define STALL_NS       (2ull * SECOND_NS)
#define FIRST_RETRY_NS SECOND_NS
#define LAST_RETRY_NS  (30ull * SECOND_NS)
#define STEADY_NS      (30ull * SECOND_NS) /* who lived so long begins with a short wait again */
#define READS_A_STEP   16

/* --- the set --- */

struct control_hosts *control_hosts_create(const struct control_setup *setup)
{
	struct control_hosts *hosts = calloc(1, sizeof(*hosts));

	if (!hosts) {
		return NULL;
	}
	hosts->local = setup->local;
	hosts->program = strdup(setup->program);
	hosts->ssh = strdup(setup->ssh ? setup->ssh : "ssh");
	hosts->console = strdup(setup->console ? setup->console : "");
	if (!hosts->program || !hosts->ssh || !hosts->console) {
		control_hosts_destroy(hosts);
		return NULL;
	}
	return hosts;
}

void control_hosts_destroy(struct control_hosts *hosts)
{
	uint32_t i;

	if (!hosts) {
		return;
	}
	for (i = 0; i < hosts->n_hosts; i++) {
		ask_answer_all(hosts, (int)i, STATUS_END, "the console ends");
	}
	ask_refusals(hosts);
	for (i = 0; i < hosts->n_hosts; i++) {
		peer_let_go(&hosts->hosts[i]->peer);
		rows_clear(&hosts->hosts[i]->rows);
		free(hosts->hosts[i]);
	}
	free(hosts->program);
	free(hosts->ssh);
	free(hosts->console);
	free(hosts);
}

int control_hosts_find(const struct control_hosts *hosts, const char *name)
{
	uint32_t i;

	for (i = 0; i < hosts->n_hosts; i++) {
		if (strcmp(hosts->hosts[i]->target.name, name) == 0) {
			return (int)i;
		}
	}
	return -1;
}

static int add(struct control_hosts *hosts, const struct target *target, char *error, size_t size)
{
	struct host *host;

	if (control_hosts_find(hosts, target->name) >= 0) {
		snprintf(error, size, "%s is controlled already", target->name);
		return -1;
	}
	if (hosts->n_hosts == CONTROL_MAX_HOSTS) {
		snprintf(error, size, "more than %u hosts cannot be controlled", CONTROL_MAX_HOSTS);
		return -1;
	}
	host = calloc(1, sizeof(*host));
	if (!host) {
		snprintf(error, size, "out of memory");
		return -1;
	}
	host->target = *target;
	peer_init(&host->peer);
	host->state = CONTROL_STARTING;
	snprintf(host->sentence, sizeof(host->sentence), "Control of %s is being started",
			target->name);
	hosts->hosts[hosts->n_hosts] = host;
	return (int)hosts->n_hosts++;
}

int control_hosts_add(struct control_hosts *hosts, const char *name, const char *url, char *error,
		size_t size)
{
	struct target target;

	return target_set(&target, name, url, error, size) ? add(hosts, &target, error, size) : -1;
}

int control_hosts_add_option(
		struct control_hosts *hosts, const char *option, char *error, size_t size)
{
	struct target target;

	return target_parse(&target, option, error, size) ? add(hosts, &target, error, size) : -1;
}

bool control_option_check(const char *option, char *error, size_t size)
{
	struct target target;

	return target_parse(&target, option, error, size);
}

uint32_t control_hosts_count(const struct control_hosts *hosts)
{
	return hosts->n_hosts;
}

bool control_hosts_notice(struct control_hosts *hosts, char *out, size_t size)
{
	if (hosts->n_notices == 0) {
		return false;
	}
	snprintf(out, size, "%s", hosts->notices[0]);
	hosts->n_notices--;
	memmove(hosts->notices[0], hosts->notices[1], hosts->n_notices * sizeof(hosts->notices[0]));
	return true;
}

static void take_notice(struct control_hosts *hosts, const struct host *host, const char *text)
{
	char shown[CONTROL_SENTENCE_BYTES / 2];

	if (hosts->n_notices == CONTROL_MAX_NOTICES) {
		char oldest[CONTROL_SENTENCE_BYTES];

		control_hosts_notice(hosts, oldest, sizeof(oldest));
	}
	text_escape(shown, sizeof(shown), text);
	snprintf(hosts->notices[hosts->n_notices++], CONTROL_SENTENCE_BYTES, "%.200s: %s",
			host->target.name, shown);
	hosts->changed = true;
}

/* --- the life of a helper --- */

/* What a person types to see for themselves whether the helper can be reached. */
static void tell_try(const struct target *target, char *out, size_t size)
{
	snprintf(out, size, "%s%s%s%s%.64s%s%.80s%spythiatop-control --version",
			target->local ? "" : "ssh -o BatchMode=yes ", target->port[0] ? "-p " : "",
			target->port, target->port[0] ? " " : "", target->user,
			target->user[0] ? "@" : "", target->host, target->local ? "" : " ");
}

/* `why`: a clause. `ended`: the process has gone, and may say better why. */
static void host_fail(struct control_hosts *hosts, int index, const char *why, bool ended)
{
	struct host *host = hosts->hosts[index];
	uint64_t now_ns = clock_monotonic_ns();
	char how[CONTROL_SENTENCE_BYTES / 2], shown[CONTROL_SENTENCE_BYTES / 2];
	char message[CONTROL_SENTENCE_BYTES], attempt[256];

	peer_kill(&host->peer, &host->target, ended, how, sizeof(how));
	text_escape(shown, sizeof(shown), how[0] ? how : why);
	if (host->state == CONTROL_READY && now_ns - host->ready_ns >= STEADY_NS) {
		host->backoff_ns = 0;
	}
	host->backoff_ns = host->backoff_ns == 0                  ? FIRST_RETRY_NS
			   : host->backoff_ns < LAST_RETRY_NS / 2 ? 2 * host->backoff_ns
								  : LAST_RETRY_NS;
	host->retry_ns = now_ns + host->backoff_ns;
	host->state = CONTROL_FAILED;
	host->session[0] = host->probe[0] = '\0';
	tell_try(&host->target, attempt, sizeof(attempt));
	snprintf(host->sentence, sizeof(host->sentence), "No control of %.80s: %.160s. Try: %.230s",
			host->target.name, shown, attempt);
	snprintf(message, sizeof(message), "%.240s; it may have been done or not", shown);
	rows_clear(&host->rows);
	host->collecting = 0;
	hosts->changed = true;
	ask_answer_all(hosts, index, STATUS_END, message);
}

static void host_start(struct control_hosts *hosts, int index, uint64_t now_ns)
{
	struct host *host = hosts->hosts[index];
	char why[CONTROL_SENTENCE_BYTES / 2];

	host->start_ns = host->heard_ns = host->renew_ns = now_ns;
	if (!peer_start(&host->peer, &host->target, hosts->program, hosts->local,
			    hosts->ssh)) {
		snprintf(why, sizeof(why), "cannot start %s: %s",
				host->target.local ? hosts->program : hosts->ssh, strerror(errno));
		host_fail(hosts, index, why, false);
		return;
	}
	host->hello = ask_send(hosts, host, "hello",
			json_pack("{si so}", "protocol", CONTROL_PROTOCOL, "console",
					json_string(hosts->console)));
	if (!host->hello) {
		host_fail(hosts, index, "out of memory", false);
	}
}

/* --- its lines --- */

static bool copy_name(char *out, const json_t *line, const char *key)
{
	const char *text = json_string_value(json_object_get(line, key));

	if (!text || strlen(text) >= CONTROL_NAME_BYTES) {
		return false;
	}
	memcpy(out, text, strlen(text) + 1);
	return true;
}

/* "error: help" of a last line that is not ok. */
static void read_failure(const json_t *line, char *message, size_t size)
{
	const char *error = json_string_value(json_object_get(line, "error"));
	const char *help = json_string_value(json_object_get(line, "help"));

	snprintf(message, size, "%s%s%s", error ? error : "failed, and does not say why",
			help && help[0] ? ": " : "", help ? help : "");
}

/* False: what is wrong is in `why`. */
static bool take_hello(struct control_hosts *hosts, struct host *host, const json_t *line,
		char *why, size_t size)
{
	if (!json_is_true(json_object_get(line, "ok"))) {
		read_failure(line, why, size);
		return false;
	}
	if (json_integer_value(json_object_get(line, "protocol")) != CONTROL_PROTOCOL) {
		snprintf(why, size,
				"its pythiatop-control speaks another version of the protocol; "
				"install the same version here and there");
		return false;
	}
	if (!copy_name(host->hostname, line, "host") ||
			!json_is_boolean(json_object_get(line, "read_only"))) {
		snprintf(why, size, "its hello is not the protocol");
		return false;
	}
	host->read_only = json_is_true(json_object_get(line, "read_only"));
	/* What a peer says is checked: no CPU writes a record in less, or takes that long. */
	host->event_ns = json_number_value(json_object_get(line, "event_ns"));
	if (!(host->event_ns >= 1 && host->event_ns <= 1e6)) {
		host->event_ns = 0;
	}
	host->state = CONTROL_READY;
	host->generation++;
	host->ready_ns = clock_monotonic_ns();
	host->sentence[0] = '\0';
	host->hello = 0;
	hosts->changed = true;
	return true;
}

/* What an answer changes here, before anybody hears of it. */
static void note_done(struct control_hosts *hosts, struct host *host, const struct ask *ask,
		const json_t *last)
{
	const char *session = json_string_value(json_object_get(last, "session"));
	const char *probe = json_string_value(json_object_get(last, "probe"));
	size_t length = session ? strlen(session) : 0;

	if (ask->verb == CONTROL_ASK_DESTROY) {
		host->session[0] = host->probe[0] = '\0';
	} else if (ask->verb == CONTROL_ASK_CREATE && length > 7 && length < CONTROL_NAME_BYTES &&
			strcmp(session + length - 7, "-flight") != 0) {
		memcpy(host->session, session, length + 1);
		snprintf(host->probe, sizeof(host->probe), "%s", probe ? probe : "");
	}
	hosts->changed = true;
}

static void take_failure(struct control_hosts *hosts, struct ask *ask, const json_t *line)
{
	char message[CONTROL_SENTENCE_BYTES];

	read_failure(line, message, sizeof(message));
	ask_answer(hosts, ask, STATUS_INVALID, message, NULL, line);
}

static bool take_last(
		struct control_hosts *hosts, struct host *host, struct ask *ask, const json_t *line)
{
	bool changes = ask->verb == CONTROL_ASK_ENABLE || ask->verb == CONTROL_ASK_DISABLE ||
		       ask->verb == CONTROL_ASK_CHECK;
	struct rows rows = host->rows;
	bool sane = true;

	memset(&host->rows, 0, sizeof(host->rows));
	host->collecting = 0;
	if (json_is_true(json_object_get(line, "ok"))) {
		sane = !changes || ask->answered || rows.n_changes == ask->n_rules;
		if (sane) {
			note_done(hosts, host, ask, line);
			ask_answer(hosts, ask, STATUS_OK, "", &rows, line);
		}
	} else {
		take_failure(hosts, ask, line);
	}
	rows_clear(&rows);
	return sane;
}

/* A row or the last line of what was asked. False: it is not the protocol. */
static bool take_answer(
		struct control_hosts *hosts, struct host *host, uint64_t number, const json_t *line)
{
	bool last = json_is_boolean(json_object_get(line, "ok"));
	struct ask *ask = ask_find(hosts, number);
	enum status status;

	if (!ask || hosts->hosts[ask->host] != host) {
		return last && number <= hosts->last; /* of a renewal, of a giving up */
	}
	if (host->collecting != 0 && host->collecting != number) {
		/* What waits behind it may have been given up meanwhile. */
		if (last && !json_is_true(json_object_get(line, "ok"))) {
			take_failure(hosts, ask, line);
			return true;
		}
		return false;
	}
	if (last) {
		return take_last(hosts, host, ask, line);
	}
	host->collecting = number;
	if (ask->answered) {
		return true; /* nobody wants it any more */
	}
	status = rows_take(&host->rows, ask->verb, line);
	if (status == STATUS_FULL || status == STATUS_NO_MEMORY) {
		ask_abandon(hosts, ask, clock_monotonic_ns(), status,
				status == STATUS_FULL
						? "the answer is larger than there is room for"
						: "out of memory");
		return true;
	}
	return status == STATUS_OK;
}

/* False: `why` says what is wrong with it. */
static bool take_line(struct control_hosts *hosts, struct host *host, const char *text,
		size_t length, char *why, size_t size)
{
	json_t *line = json_loadb(text, length, 0, NULL);
	json_int_t id = json_integer_value(json_object_get(line, "id"));
	const char *notice = json_string_value(json_object_get(line, "notice"));
	const char *error = json_string_value(json_object_get(line, "error"));
	bool taken;

	snprintf(why, size, "it answered with what is not the protocol of pythiatop-control");
	if (!json_is_object(line) || !json_is_integer(json_object_get(line, "id")) || id < 0) {
		taken = false;
	} else if (id == 0) {
		taken = notice || error;
		if (taken) {
			take_notice(hosts, host, notice ? notice : error);
		}
	} else if (host->hello) {
		taken = (uint64_t)id == host->hello && take_hello(hosts, host, line, why, size);
	} else {
		taken = take_answer(hosts, host, (uint64_t)id, line);
	}
	json_decref(line);
	return taken;
}

/* False: the helper failed, and is gone. */
static bool take_lines(struct control_hosts *hosts, int index, uint64_t now_ns)
{
	struct host *host = hosts->hosts[index];
	char why[CONTROL_SENTENCE_BYTES / 2];
	char *text;
	size_t length;
	enum line line;

	while ((line = line_in_next(&host->peer.in, &text, &length)) != LINE_NONE) {
		host->heard_ns = now_ns;
		if (line == LINE_TOO_LONG) {
			host_fail(hosts, index, "it sent a line of more than 4 MiB", false);
			return false;
		}
		if (!take_line(hosts, host, text, length, why, sizeof(why))) {
			host_fail(hosts, index, why, false);
			return false;
		}
	}
	return true;
}

static bool host_read(struct control_hosts *hosts, int index, uint64_t now_ns)
{
	struct host *host = hosts->hosts[index];
	int reads;

	peer_listen(&host->peer);
	for (reads = 0; reads < READS_A_STEP; reads++) {
		enum status status = line_in_read(&host->peer.in, host->peer.socket);

		if (status == STATUS_NOT_YET) {
			break;
		}
		if (!take_lines(hosts, index, now_ns)) {
			return false;
		}
		if (status != STATUS_OK) {
			host_fail(hosts, index, "its helper ended", true);
			return false;
		}
	}
	return true;
}

/* --- the step --- */

static void host_tend(struct control_hosts *hosts, int index, uint64_t now_ns)
{
	struct host *host = hosts->hosts[index];

	if (host->hello && now_ns - host->start_ns >= HELLO_NS) {
		host_fail(hosts, index, "no hello from it within 15 s", false);
		return;
	}
	if (!host->hello && now_ns - host->heard_ns >= SILENCE_NS) {
		host_fail(hosts, index,
				"it said nothing for 8 s: the helper, or the way to it, hangs",
				false);
		return;
	}
	if (!ask_deadlines(hosts, index, now_ns)) {
		host_fail(hosts, index, "its helper does not even give up a call", false);
		return;
	}
	if (!host->hello && now_ns >= host->renew_ns) {
		host->renew_ns = now_ns + RENEW_NS;
		/* Room is there unless the helper reads nothing, which the silence will tell. */
		ask_send(hosts, host, "renew", json_object());
	}
	if (line_out_write(&host->peer.out, host->peer.socket, true) == STATUS_IO) {
		host_fail(hosts, index, "its helper ended", true);
	}
}

static void host_step(struct control_hosts *hosts, int index, uint64_t now_ns)
{
	struct host *host = hosts->hosts[index];

	if (host->peer.pid == 0 && now_ns >= host->retry_ns) {
		host_start(hosts, index, now_ns);
	}
	if (host->peer.pid > 0 && host_read(hosts, index, now_ns)) {
		host_tend(hosts, index, now_ns);
	}
}

bool control_hosts_step(struct control_hosts *hosts, uint64_t now_ns)
{
	uint32_t i;

	/* If we ourselves were stopped, silence proves nothing about others. */
	for (i = 0; now_ns - hosts->stepped_ns >= STALL_NS && i < hosts->n_hosts; i++) {
		hosts->hosts[i]->heard_ns = now_ns;
	}
	hosts->stepped_ns = now_ns;
	hosts->changed = false;
	ask_refusals(hosts);
	for (i = 0; i < hosts->n_hosts; i++) {
		host_step(hosts, (int)i, now_ns);
	}
	return hosts->changed;
}

uint32_t control_hosts_poll_fds(const struct control_hosts *hosts, struct pollfd *fds, uint32_t max)
{
	uint32_t n = 0, i;

	for (i = 0; i < hosts->n_hosts; i++) {
		const struct peer *peer = &hosts->hosts[i]->peer;

		if (peer->socket >= 0 && n < max) {
			short out = line_out_pending(&peer->out) > 0 ? POLLOUT : 0;

			fds[n++] = (struct pollfd){
					.fd = peer->socket, .events = (short)(POLLIN | out)};
		}
		if (peer->error_fd >= 0 && n < max) {
			fds[n++] = (struct pollfd){.fd = peer->error_fd, .events = POLLIN};
		}
	}
	return n;
}

uint64_t control_hosts_due_ns(const struct control_hosts *hosts)
{
	uint64_t due_ns = ask_due_ns(hosts);
	uint32_t i;

	for (i = 0; i < hosts->n_hosts; i++) {
		const struct host *host = hosts->hosts[i];
		uint64_t ns = host->peer.pid == 0 ? host->retry_ns
			      : host->hello       ? host->start_ns + HELLO_NS
						  : host->renew_ns;

		due_ns = ns < due_ns ? ns : due_ns;
	}
	return due_ns;
}
