/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "support_source.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define ARGUMENTS_MAX 16

static uint64_t now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

static void keep_open(int fd)
{
	fcntl(fd, F_SETFD, 0);
}

static void run_child(const struct ring_fds *fds, int error_fd, const char *const *arguments)
{
	char text[64];
	const char *argv[ARGUMENTS_MAX + 4] = {"pythiatop-source", "--ring", text};
	int n = 3;

	snprintf(text, sizeof(text), "%d,%d,%d", fds->memory, fds->data_event, fds->space_event);
	while (*arguments && n < ARGUMENTS_MAX) {
		argv[n++] = *arguments++;
	}
	keep_open(fds->memory);
	keep_open(fds->data_event);
	keep_open(fds->space_event);
	dup2(error_fd, STDERR_FILENO);
	execv(PT_BUILD_DIR "/pythiatop-source", (char *const *)argv);
	_exit(127);
}

void source_probe_start(struct source_probe *probe, const char *const *arguments)
{
	struct ring_fds fds;
	int channel[2];

	probe->ring = ring_create(0);
	if (!probe->ring || pipe2(channel, O_CLOEXEC) != 0) {
		abort();
	}
	fds = ring_fds(probe->ring);
	probe->pid = fork();
	if (probe->pid == 0) {
		run_child(&fds, channel[1], arguments);
	}
	close(channel[1]);
	probe->stderr_fd = channel[0];
	fcntl(channel[0], F_SETFL, O_NONBLOCK);
}

static void complain(struct source_probe *probe, const char *why)
{
	if (!probe->broken) {
		probe->broken = true;
		snprintf(probe->why, sizeof(probe->why), "%s", why);
	}
}

static void *copy_of(const struct record *record)
{
	void *copy = malloc(record->size);

	return memcpy(copy, record, record->size);
}

const struct record_field *source_probe_fields(const struct record_type *type)
{
	return (const struct record_field *)(type + 1);
}

const struct record_label *source_probe_labels(const struct record_type *type)
{
	return (const struct record_label *)(source_probe_fields(type) + type->n_fields);
}

int source_probe_field(const struct source_probe *probe, uint32_t number, const char *name)
{
	const struct record_type *type = probe->types[number];

	for (uint32_t i = 0; i < type->n_fields; i++) {
		if (strcmp(record_text(&type->record, source_probe_fields(type)[i].name), name) ==
				0) {
			return (int)i;
		}
	}
	return -1;
}

static void take_type(struct source_probe *probe, const struct record_type *type)
{
	uint64_t need = sizeof(*type) + (uint64_t)type->n_fields * sizeof(struct record_field) +
			(uint64_t)type->n_labels * sizeof(struct record_label);

	if (type->type != probe->n_types || need > type->record.size ||
			!record_text(&type->record, type->name)) {
		complain(probe, "a type record is wrong");
		return;
	}
	for (uint32_t i = 0; i < type->n_fields; i++) {
		const struct record_field *field = &source_probe_fields(type)[i];

		if (!record_text(&type->record, field->name) || field->kind < FIELD_UINT ||
				field->kind > FIELD_TREE ||
				field->first_label + field->n_labels > type->n_labels) {
			complain(probe, "a field of a type record is wrong");
		}
	}
	probe->types = realloc(probe->types, (probe->n_types + 1) * sizeof(*probe->types));
	probe->types[probe->n_types++] = copy_of(&type->record);
}

static void take_stream(struct source_probe *probe, const struct record_stream *stream)
{
	if (stream->stream != probe->n_streams || !record_text(&stream->record, stream->host) ||
			!record_text(&stream->record, stream->session) ||
			!record_text(&stream->record, stream->channel) ||
			!record_text(&stream->record, stream->kernel_release)) {
		complain(probe, "a stream record is wrong");
		return;
	}
	probe->streams = realloc(probe->streams, (probe->n_streams + 1) * sizeof(*probe->streams));
	probe->streams[probe->n_streams++] = copy_of(&stream->record);
}

static void take_time(struct source_probe *probe, uint64_t ts_ns, const char *what)
{
	if (ts_ns < probe->last_ts_ns) {
		complain(probe, what);
	}
	probe->last_ts_ns = ts_ns;
}

static void take_event(struct source_probe *probe, const struct record_event *record)
{
	struct event event = {.ts_ns = record->ts_ns,
			.type = record->type,
			.bytes = record->bytes,
			.slots = record->slots};

	if (record->type >= probe->n_types || record->stream >= probe->n_streams ||
			record->bytes > EVENT_MAX_BYTES ||
			record->bytes + sizeof(*record) > record->record.size ||
			record->bytes < probe->types[record->type]->n_fields * 8) {
		complain(probe, "an event names what was not announced, or is too short");
		return;
	}
	take_time(probe, record->ts_ns, "an event goes back in time");
	if (probe->n_events > 0 && record->ts_ns == probe->last_event_ns &&
			record->cpu < probe->last_cpu) {
		complain(probe, "events of one instant are not ordered by CPU");
	}
	probe->last_event_ns = record->ts_ns;
	probe->last_cpu = record->cpu;
	for (uint32_t i = 0; i < probe->types[record->type]->n_fields; i++) {
		uint8_t kind = source_probe_fields(probe->types[record->type])[i].kind;
		uint32_t length;

		if ((kind == FIELD_STRING || kind == FIELD_TREE) &&
				event.slots[i] != EVENT_ABSENT) {
			const char *bytes = event_bytes(&event, i, &length);

			if (!bytes || bytes[length] != '\0') {
				complain(probe, "bytes of a field lie outside its event");
			}
		}
	}
	probe->n_events++;
}

static void take_loss(struct source_probe *probe, const struct record_loss *loss)
{
	if (loss->stream >= probe->n_streams) {
		complain(probe, "a loss names a stream that was not announced");
	}
	take_time(probe, loss->begin_ns, "a loss goes back in time");
	probe->n_losses++;
	if (!loss->packets) {
		probe->lost_events += loss->count;
	}
}

static void take(struct source_probe *probe, const struct record *record)
{
	const struct record_state *state = (const struct record_state *)record;
	const struct record_progress *progress = (const struct record_progress *)record;

	switch (record->kind) {
	case RECORD_EVENT:
		take_event(probe, (const struct record_event *)record);
		break;
	case RECORD_TYPE:
		take_type(probe, (const struct record_type *)record);
		break;
	case RECORD_STREAM:
		take_stream(probe, (const struct record_stream *)record);
		break;
	case RECORD_WATERMARK:
		take_time(probe, ((const struct record_watermark *)record)->ts_ns,
				"a watermark goes back in time");
		probe->n_watermarks++;
		break;
	case RECORD_LOSS:
		take_loss(probe, (const struct record_loss *)record);
		break;
	case RECORD_MISDATED:
		probe->n_misdated++;
		break;
	case RECORD_STATE:
		probe->state = state->state;
		snprintf(probe->text, sizeof(probe->text), "%s", state->text);
		break;
	case RECORD_PROGRESS:
		if (progress->done < probe->last_done || progress->done > progress->total) {
			complain(probe, "progress goes back, or over its end");
		}
		probe->last_done = progress->done;
		probe->total = progress->total;
		break;
	case RECORD_LISTED:
		probe->n_listed++;
		break;
	case RECORD_LIST_END:
		probe->n_lists++;
		break;
	case RECORD_END:
		probe->ended = true;
		break;
	default:
		complain(probe, "a record is of no known kind");
		break;
	}
	if (probe->on_record && !probe->broken) {
		probe->on_record(probe, record);
	}
}

static bool drain(struct source_probe *probe)
{
	bool any = false, broken = false;
	const struct record *record;

	while (!probe->broken && (record = ring_peek(probe->ring, &broken))) {
		take(probe, record);
		ring_next(probe->ring);
		any = true;
	}
	if (broken) {
		complain(probe, "the ring itself is broken");
	}
	return any;
}

bool source_probe_step(struct source_probe *probe, int timeout_ms)
{
	struct pollfd ready[] = {
			{.fd = ring_wait_fd(probe->ring), .events = POLLIN},
			{.fd = probe->stderr_fd, .events = 0}, /* POLLHUP: the process is gone */
	};

	if (drain(probe)) {
		return true;
	}
	if (ring_arm(probe->ring)) {
		poll(ready, 2, timeout_ms);
	}
	return drain(probe);
}

bool source_probe_run(struct source_probe *probe, int timeout_ms)
{
	uint64_t deadline = now_ms() + (uint64_t)timeout_ms;

	while (!probe->ended && !probe->broken && now_ms() < deadline) {
		siginfo_t info = {0};
		bool gone = waitid(P_PID, (id_t)probe->pid, &info, WEXITED | WNOHANG | WNOWAIT) ==
					    0 &&
			    info.si_pid == probe->pid;

		if (!source_probe_step(probe, 200) && gone) {
			return false;
		}
	}
	return probe->ended;
}

int source_probe_stop(struct source_probe *probe)
{
	int status = -1;

	if (probe->pid > 0) {
		if (!probe->ended) {
			kill(probe->pid, SIGKILL);
		}
		waitpid(probe->pid, &status, 0);
	}
	close(probe->stderr_fd);
	for (uint64_t i = 0; i < probe->n_types; i++) {
		free(probe->types[i]);
	}
	for (uint64_t i = 0; i < probe->n_streams; i++) {
		free(probe->streams[i]);
	}
	free(probe->types);
	free(probe->streams);
	probe->types = NULL;
	probe->streams = NULL;
	ring_destroy(probe->ring);
	probe->ring = NULL;
	return status;
}

void source_probe_read(struct source_probe *probe, const char *directory)
{
	const char *arguments[] = {"--trace", directory, NULL};

	source_probe_start(probe, arguments);
	/* The library compares all labels with all: 40 s and more with TSan's strcmp(). */
	source_probe_run(probe, 300000);
}
