/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "run/decisions.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/array.h"
#include "config/json_file.h"

const char *const decisions_names[DECISIONS_NAMES] = {"approve", "reject", "undo"};

#define OFFERS_KNOWN 128 /* what hosts told last is known of: points, and processes */

struct decisions {
	int fd;     /* -1: in memory alone */
	int failed; /* errno of the last line that the file did not take; 0: it has all of them */
	char *path;
	bool ended;
	/* Lines that the file did not take so far, from the byte on that it lacks. */
	char *behind;
	size_t n_behind;
	uint32_t behind_room;
	uint64_t n_lost; /* lines that found no room there either */
	uint64_t event_ns;
	char *lines; /* of this run */
	size_t used, room;
	uint64_t n, left_out;
	uint32_t n_offers;
	struct {
		uint64_t host, offer; /* hashes */
	} offers[OFFERS_KNOWN];
};

bool decisions_trouble(const struct decisions *log, char *text, size_t size)
{
	uint64_t n = 0;

	if (!log || !log->failed) {
		return false;
	}
	for (size_t i = 0; i < log->n_behind; i++) {
		n += log->behind[i] == '\n';
	}
	snprintf(text, size, "the decision log %s lacks its last %" PRIu64 " lines: %s; %s",
			log->path ? log->path : "in memory", n + log->n_lost, strerror(log->failed),
			log->n_lost || log->ended ? "they are lost, and a replay ends before them"
						  : "they are written once it takes them");
	return true;
}

void decisions_at(struct decisions *log, uint64_t event_ns)
{
	if (log) {
		log->event_ns = event_ns;
	}
}

/* In memory, for decisions_copy(). After the first that has no room none is taken any more. */
static void keep(struct decisions *log, const char *line, size_t length)
{
	size_t room = log->room ? log->room : 4096;
	char *grown;

	log->n++;
	while (room < log->used + length) {
		room *= 2;
	}
	if (log->left_out == 0 && room > log->room && room <= DECISIONS_BYTES) {
		grown = realloc(log->lines, room);
		log->lines = grown ? grown : log->lines;
		log->room = grown ? room : log->room;
	}
	if (log->left_out > 0 || log->used + length > log->room) {
		log->left_out++;
		return;
	}
	memcpy(log->lines + log->used, line, length);
	log->used += length;
}

bool decisions_copy(const struct decisions *log, FILE *out)
{
	return !log || log->used == 0 || fwrite(log->lines, log->used, 1, out) == 1;
}

uint64_t decisions_lines(const struct decisions *log, uint64_t *left_out)
{
	*left_out = log ? log->left_out : 0;
	return log ? log->n : 0;
}

/* What the file did not take, if it does now. */
static void write_behind(struct decisions *log)
{
	size_t done = 0;
	ssize_t n = 1;

	while (done < log->n_behind && n > 0) {
		n = write(log->fd, log->behind + done, log->n_behind - done);
		done += n > 0 ? (size_t)n : 0;
	}
	if (done == log->n_behind && log->n_lost == 0) {
		log->failed = 0;
	} else if (n < 0 && errno != EINTR) {
		log->failed = errno;
	}
	log->n_behind -= done;
	memmove(log->behind, log->behind + done, log->n_behind);
}

/*
 * One write a line, so that lines of several programs never mix. A line that the file does not take
 * waits with all after it, so that what the file has is a log without holes.
 */
static void write_line(struct decisions *log, const char *line, size_t length)
{
	ssize_t n = 0;

	if (log->n_behind > 0) {
		write_behind(log);
	}
	if (log->n_behind == 0 && log->n_lost == 0) {
		n = write(log->fd, line, length);
		log->failed = n < 0 ? errno : n < (ssize_t)length ? ENOSPC : 0;
		n = n > 0 ? n : 0;
	}
	if (n == (ssize_t)length) {
		return;
	}
	length -= (size_t)n;
	if (log->n_lost > 0 || log->n_behind + length > DECISIONS_BYTES ||
			!array_reserve(&log->behind, &log->behind_room,
					(uint32_t)(log->n_behind + length))) {
		log->n_lost++;
		return;
	}
	memcpy(log->behind + log->n_behind, line + n, length);
	log->n_behind += length;
}

/* Takes the reference. */
static void put_line(struct decisions *log, const char *what, json_t *rest, bool kept)
{
	struct timespec now;
	json_t *line;
	char *flat;
	size_t length;

	if (!log) {
		json_decref(rest);
		return;
	}
	clock_gettime(CLOCK_REALTIME, &now);
	line = json_pack("{ss sf sI ss}", "log", DECISIONS_FORMAT, "at",
			(double)now.tv_sec + (double)now.tv_nsec * 1e-9, "event_ns",
			(json_int_t)log->event_ns, "do", what);
	if (line && rest) {
		json_object_update(line, rest);
	}
	json_decref(rest);
	flat = line ? json_dumps(line, JSON_COMPACT | JSON_REAL_PRECISION(17)) : NULL;
	json_decref(line);
	length = flat ? strlen(flat) : 0;
	if (flat) {
		flat[length++] = '\n'; /* in the place of the final 0 */
	}
	if (!flat) {
		log->failed = ENOMEM;
		log->n_lost++;
	} else if (log->fd >= 0) {
		write_line(log, flat, length);
	}
	if (flat && kept) {
		keep(log, flat, length);
	}
	free(flat);
}

static void put(struct decisions *log, const char *what, json_t *rest)
{
	put_line(log, what, rest, true);
}

/* FNV-1a. */
static uint64_t hash_of(const char *text)
{
	uint64_t hash = 0xcbf29ce484222325u;

	for (; text && *text; text++) {
		hash = (hash ^ (unsigned char)*text) * 0x100000001b3u;
	}
	return hash;
}

/* The host told the same last: hosts are asked again and again, and mostly nothing is new. */
static bool is_repeated(
		struct decisions *log, const char *what, const char *host, const json_t *rest)
{
	char *flat = json_dumps(rest, JSON_COMPACT);
	uint64_t of = hash_of(host) ^ hash_of(what) << 1, offer = hash_of(flat);
	uint32_t i;

	free(flat);
	for (i = 0; i < log->n_offers && log->offers[i].host != of; i++) {
	}
	if (i < log->n_offers && log->offers[i].offer == offer) {
		return true;
	}
	if (i < OFFERS_KNOWN) {
		log->offers[i].host = of;
		log->offers[i].offer = offer;
		log->n_offers = i == log->n_offers ? i + 1 : log->n_offers;
	}
	return false;
}

struct decisions *decisions_open(const char *path, char *error, size_t size)
{
	struct decisions *log = calloc(1, sizeof(*log));

	if (log) {
		log->path = path ? strdup(path) : NULL;
		log->fd = path ? open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600) : -1;
	}
	if (!log || (path && log->fd < 0)) {
		snprintf(error, size, "cannot write the decision log %s: %s", path ? path : "",
				strerror(log ? errno : ENOMEM));
		if (log) {
			free(log->path);
		}
		free(log);
		return NULL;
	}
	put(log, "begin", NULL);
	return log;
}

void decisions_end(struct decisions *log)
{
	if (log && !log->ended) {
		put(log, "end", NULL);
		log->ended = true;
	}
}

void decisions_close(struct decisions *log)
{
	if (log) {
		decisions_end(log);
		if (log->fd >= 0) {
			close(log->fd);
		}
		free(log->behind);
		free(log->lines);
		free(log->path);
		free(log);
	}
}

void decisions_mode(struct decisions *log, enum step_mode mode)
{
	static const char *const names[MODE_COUNT] = {"observe", "approve", "autopilot"};

	put(log, "mode", json_pack("{ss}", "mode", names[mode]));
}

void decisions_strategy(struct decisions *log, const char *name)
{
	put(log, "strategy", json_pack("{ss}", "strategy", name));
}

void decisions_budget(struct decisions *log, const struct step_budget *budget)
{
	put(log, "budget",
			json_pack("{sf sf sf sf sI}", "events_per_s", budget->events_per_s,
					"bytes_per_s", budget->bytes_per_s, "cpu_share",
					budget->cpu_share, "learn_events_per_s",
					budget->learn_events_per_s, "points",
					(json_int_t)budget->points));
}

void decisions_offer(struct decisions *log, const char *host, const struct step_offer *offers,
		uint32_t n)
{
	json_t *events = json_array(), *rest;

	for (uint32_t i = 0; log && i < n; i++) {
		json_t *fields = json_array();

		for (uint32_t f = 0; f < offers[i].n_fields; f++) {
			json_array_append_new(fields, json_file_text(offers[i].fields[f]));
		}
		json_array_append_new(events,
				json_pack("{so sb so}", "name", json_file_text(offers[i].name),
						"kernel", offers[i].kernel, "fields", fields));
	}
	rest = json_pack("{so so}", "host", json_file_text(host), "events", events);
	put_line(log, "offer", rest, log && !is_repeated(log, "offer", host, rest));
}

void decisions_processes(struct decisions *log, const char *host,
		const struct step_process *processes, uint32_t n)
{
	json_t *array = json_array(), *rest;

	for (uint32_t i = 0; log && i < n; i++) {
		json_array_append_new(
				array, json_pack("{sI so}", "pid", (json_int_t)processes[i].pid,
						       "name", json_file_text(processes[i].name)));
	}
	rest = json_pack("{so so}", "host", json_file_text(host), "processes", array);
	put_line(log, "processes", rest, log && !is_repeated(log, "processes", host, rest));
}

void decisions_decide(
		struct decisions *log, uint32_t step, enum step_decision decision, enum step_by by)
{
	put(log, "decide",
			json_pack("{sI ss ss}", "step", (json_int_t)step, "decision",
					decisions_names[decision], "by",
					by == STEP_BY_WATCH ? "watch" : "person"));
}

void decisions_edit(struct decisions *log, uint32_t step, uint32_t part, bool keep)
{
	put(log, "edit",
			json_pack("{sI sI sb}", "step", (json_int_t)step, "part", (json_int_t)part,
					"keep", keep));
}

void decisions_propose(struct decisions *log, uint32_t context, bool enable)
{
	put(log, "propose", json_pack("{sI sb}", "context", (json_int_t)context, "enable", enable));
}

void decisions_explain(struct decisions *log, uint32_t group_id)
{
	put(log, "explain", json_pack("{sI}", "group", (json_int_t)group_id));
}

void decisions_calibrate(struct decisions *log, const char *host, double event_ns)
{
	put(log, "calibrate",
			json_pack("{so sf}", "host", json_file_text(host), "cpu_ns", event_ns));
}

void decisions_host_gone(struct decisions *log, const char *host)
{
	put(log, "host_gone", json_pack("{so}", "host", json_file_text(host)));
}

void decisions_silent(struct decisions *log, const char *host, bool is)
{
	put(log, "silent", json_pack("{so sb}", "host", json_file_text(host), "is", is));
}

void decisions_undo_all(struct decisions *log)
{
	put(log, "undo_all", NULL);
}

void decisions_epoch(struct decisions *log)
{
	put(log, "epoch", NULL);
}

void decisions_profile(struct decisions *log, const char *file)
{
	put(log, "profile", json_pack("{so}", "file", json_file_text(file)));
}

void decisions_clock(struct decisions *log, const uint8_t *uuid, int64_t offset_ns)
{
	char text[2 * DECISIONS_UUID + 1];

	for (uint32_t i = 0; i < DECISIONS_UUID; i++) {
		snprintf(text + 2 * i, 3, "%02x", uuid[i]);
	}
	put(log, "clock", json_pack("{ss sI}", "uuid", text, "offset_ns", (json_int_t)offset_ns));
}

void decisions_first(struct decisions *log, uint64_t event_ns)
{
	decisions_at(log, event_ns);
	put(log, "first", NULL);
}

void decisions_order(struct decisions *log, const struct step_order *order)
{
	json_t *events = json_array();

	for (uint32_t i = 0; log && i < order->n; i++) {
		const struct step_event *event = &order->events[i];

		json_array_append_new(events,
				json_pack("{so so sb sb so*}", "host", json_file_text(event->host),
						"name", json_file_text(event->name), "kernel",
						event->kernel, "enable", event->enable, "filter",
						event->filter ? json_file_text(event->filter)
							      : NULL));
	}
	put(log, "order",
			json_pack("{sI sb so}", "step", (json_int_t)order->step, "undo",
					order->undo, "events", events));
}

void decisions_outcome(struct decisions *log, const struct step_outcome *outcome)
{
	put(log, "outcome",
			json_pack("{sI sb sb so sI}", "step", (json_int_t)outcome->step, "undo",
					outcome->undo, "ok", outcome->ok, "error",
					json_file_text(outcome->error), "answered_ns",
					(json_int_t)outcome->answered_ns));
}

void decisions_watch(struct decisions *log, const struct step_watch *watch)
{
	put(log, "watch",
			json_pack("{sI sI sf sf}", "step", (json_int_t)watch->step, "discarded",
					(json_int_t)watch->discarded, "events_per_s",
					watch->actual.events_per_s, "bytes_per_s",
					watch->actual.bytes_per_s));
}
