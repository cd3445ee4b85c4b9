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
#include "run/inputs.h"

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
	if (done > 0) {
		memmove(log->behind, log->behind + done, log->n_behind);
	}
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

/* Takes the reference. The line, ended by a newline in the place of the final 0; NULL: no memory. */
static char *line_of(const struct decisions *log, enum input_kind kind, json_t *fields, size_t *length)
{
	struct timespec now;
	json_t *line;
	char *text;

	clock_gettime(CLOCK_REALTIME, &now);
	line = json_pack("{ss sf sI ss}", "log", DECISIONS_FORMAT, "at",
			(double)now.tv_sec + (double)now.tv_nsec * 1e-9, "event_ns",
			(json_int_t)log->event_ns, "do", inputs_name(kind));
	if (line && fields) {
		json_object_update(line, fields);
	}
	json_decref(fields);
	text = line && fields ? json_dumps(line, JSON_COMPACT | JSON_REAL_PRECISION(17)) : NULL;
	json_decref(line);
	*length = text ? strlen(text) : 0;
	if (text) {
		text[(*length)++] = '\n';
	}
	return text;
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
		struct decisions *log, const struct engine_input *input, const json_t *fields)
{
	const char *host = input->kind == INPUT_OFFER ? input->offer.host : input->processes.host;
	char *flat = json_dumps(fields, JSON_COMPACT);
	uint64_t of = hash_of(host) ^ hash_of(inputs_name(input->kind)) << 1, offer = hash_of(flat);
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

void decisions_put(struct decisions *log, const struct engine_input *input)
{
	json_t *fields = log ? inputs_write(input) : NULL;
	bool repeated = (input->kind == INPUT_OFFER || input->kind == INPUT_PROCESSES) && fields &&
			is_repeated(log, input, fields);
	size_t length;
	char *line;

	if (!log) {
		return;
	}
	line = line_of(log, input->kind, fields, &length);
	if (!line) {
		log->failed = ENOMEM;
		log->n_lost++;
		return;
	}
	if (log->fd >= 0) {
		write_line(log, line, length);
	}
	if (!repeated) {
		keep(log, line, length);
	}
	free(line);
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
	decisions_put(log, &(struct engine_input){.kind = INPUT_BEGIN});
	return log;
}

void decisions_end(struct decisions *log)
{
	if (log && !log->ended) {
		decisions_put(log, &(struct engine_input){.kind = INPUT_END});
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
