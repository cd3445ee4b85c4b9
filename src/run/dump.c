/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "run/dump.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/text_add.h"
#include "intake/child.h"
#include "output/event_text.h"
#include "pythiatop/ids.h"
#include "run/new_file.h"
#include "run/temporary.h"
#include "source/outlet.h"
#include "source/type_record.h"

#define END_WAIT_MS  60000 /* for the last packets to reach the disk */
#define WATCH_EVENTS 65536

/* What all events of a dump go through. */
struct dump {
	struct engine *engine;
	const struct dump_watch *watch; /* NULL: nobody */
	uint64_t n, first_ns, last_ns;
	struct dump_span span; /* of the window that was asked for */
	uint64_t n_older;      /* from before what is kept of it, for what was open then */
	uint64_t n_lost;
	bool lost_unknown; /* more than n_lost, nobody knows how many */
	struct event_text text;

	struct outlet *outlet;
	uint32_t *types, *streams; /* by number of the engine: number in the ring */
	uint32_t types_room, streams_room, n_types, n_streams;
	bool failed;
};

static void count(struct dump *dump, const struct event *event)
{
	if (event->ts_ns < dump->span.kept_from_ns) {
		dump->n_older++;
	} else if (dump->n == dump->n_older) {
		dump->first_ns = event->ts_ns;
	}
	dump->n++;
	dump->last_ns = event->ts_ns;
	if (dump->watch && dump->n % WATCH_EVENTS == 0) {
		dump->watch->progress(dump->watch->context, dump->n);
	}
}

/* Of what was written: how many events, of how long, and what is not there. */
static void say_written(const struct dump *dump, const char *path, char *said, size_t size)
{
	const struct dump_span *span = &dump->span;
	char words[512];

	snprintf(words, sizeof(words), "%" PRIu64 " events of %.3f s", dump->n - dump->n_older,
			dump->n > dump->n_older ? (double)(dump->last_ns - dump->first_ns) / 1e9
						: 0.0);
	if (dump->n_older) {
		text_add(words, sizeof(words),
				", and %" PRIu64 " older ones, of what was open then",
				dump->n_older);
	}
	if (dump->n_lost || dump->lost_unknown) {
		text_add(words, sizeof(words), "; %s%" PRIu64 " were lost",
				dump->lost_unknown ? "more than " : "", dump->n_lost);
	}
	if (span->kept_from_ns > span->window_from_ns) {
		text_add(words, sizeof(words), "; of the window, what is older than %.3f s %s",
				span->kept_from_ns < dump->last_ns
						? (double)(dump->last_ns - span->kept_from_ns) / 1e9
						: 0.0,
				span->trimmed ? "had to go for memory" : "is not kept any more");
	}
	snprintf(said, size, "Written: %s, %s", path, words);
}

static void count_loss(struct dump *dump, const struct loss *loss)
{
	if (loss->packets || loss->count == 0) {
		dump->lost_unknown = true;
	} else {
		dump->n_lost += loss->count;
	}
}

static bool say_failed(const char *path, const char *why, char *said, size_t size)
{
	snprintf(said, size, "Cannot write %s: %s", path, why);
	return false;
}

/* --- Text --------------------------------------------------------------------------------------
 */

static const char *host_of(const struct engine *engine, uint32_t stream)
{
	return engine_session(engine, engine_stream(engine, stream)->session)->host;
}

static bool take_text(void *context, const struct event *event)
{
	struct dump *dump = context;

	count(dump, event);
	dump->failed = !event_text_write(&dump->text, event, engine_type(dump->engine, event->type),
			host_of(dump->engine, event->stream));
	return !dump->failed;
}

static bool take_counted_loss(void *context, const struct loss *loss)
{
	count_loss(context, loss);
	return true;
}

bool dump_text(struct pipeline *pipeline, const struct focus *focus, const char *path,
		const struct dump_watch *watch, char *said, size_t size)
{
	struct dump dump = {.engine = pipeline_engine(pipeline), .watch = watch};
	struct new_file file;
	bool written;

	if (!new_file_open(&file, path)) {
		return say_failed(path, strerror(errno), said, size);
	}
	event_text_init(&dump.text, file.out);
	dump.span = engine_dump_span(dump.engine, focus);
	engine_dump_losses(dump.engine, focus, take_counted_loss, &dump);
	written = engine_dump(pipeline_engine(pipeline), focus, take_text, &dump) == STATUS_OK &&
		  !dump.failed;
	event_text_release(&dump.text);
	if (!new_file_finish(&file, written)) {
		return say_failed(path, strerror(errno), said, size);
	}
	say_written(&dump, path, said, size);
	return true;
}

/* --- Traces ------------------------------------------------------------------------------------
 */

/* Makes room for number `index` in a table, filled with ID_NONE. */
static bool reach(uint32_t **table, uint32_t *room, uint32_t index)
{
	uint32_t wanted = index < 16 ? 32 : index * 2;
	uint32_t *grown;

	if (index < *room) {
		return true;
	}
	grown = realloc(*table, wanted * sizeof(*grown));
	if (!grown) {
		return false;
	}
	memset(grown + *room, 0xff, (wanted - *room) * sizeof(*grown));
	*table = grown;
	*room = wanted;
	return true;
}

static bool send_type(struct dump *dump, const struct event_type *type)
{
	struct type_record *record = malloc(sizeof(*record));
	bool sent;

	if (!record) {
		return false;
	}
	type_record_init(record, dump->n_types++, type->name);
	for (uint32_t i = 0; i < type->n_fields; i++) {
		const struct field *field = &type->fields[i];

		type_record_add_field(record, field->name, (enum field_kind)field->kind,
				(enum field_scope)field->scope, field->base, field->width);
		for (uint32_t j = 0; j < field->n_labels; j++) {
			type_record_add_label(record, field->labels[j].name, field->labels[j].lower,
					field->labels[j].upper);
		}
	}
	sent = type_record_write(record, dump->outlet);
	type_record_release(record);
	free(record);
	return sent;
}

static uint32_t add_text(struct outlet *outlet, const char *text)
{
	size_t n = strnlen(text, TYPE_MAX_NAME);
	uint32_t at = 0;
	char *to = outlet_extend(outlet, n + 1, &at);

	if (to) {
		memcpy(to, text, n);
		to[n] = '\0';
	}
	return at;
}

static bool send_stream(struct dump *dump, const struct stream_desc *stream)
{
	const struct session_desc *session = engine_session(dump->engine, stream->session);
	struct record_stream *record = outlet_begin(dump->outlet, sizeof(*record), RECORD_STREAM);

	if (!record) {
		return false;
	}
	*record = (struct record_stream){.record = record->record,
			.stream = dump->n_streams++,
			.domain = stream->domain,
			.cpu = CPU_NONE};
	record->host = add_text(dump->outlet, session->host);
	record->session = add_text(dump->outlet, session->name);
	record->channel = add_text(dump->outlet, stream->channel);
	record->kernel_release = add_text(dump->outlet, stream->kernel_release);
	return record->host && record->session && record->channel && record->kernel_release &&
	       outlet_commit(dump->outlet);
}

static bool introduce_stream(struct dump *dump, uint32_t stream)
{
	if (!reach(&dump->streams, &dump->streams_room, stream)) {
		return false;
	}
	if (dump->streams[stream] == ID_NONE) {
		dump->streams[stream] = dump->n_streams;
		return send_stream(dump, engine_stream(dump->engine, stream));
	}
	return true;
}

/* What the event names is sent before it. */
static bool introduce(struct dump *dump, const struct event *event)
{
	if (!reach(&dump->types, &dump->types_room, event->type)) {
		return false;
	}
	if (dump->types[event->type] == ID_NONE) {
		dump->types[event->type] = dump->n_types;
		if (!send_type(dump, engine_type(dump->engine, event->type))) {
			return false;
		}
	}
	return introduce_stream(dump, event->stream);
}

/* Before all events: a loss lies at no time of its own. */
static bool take_loss(void *context, const struct loss *loss)
{
	struct dump *dump = context;
	struct record_loss *record = NULL;

	count_loss(dump, loss);
	if (introduce_stream(dump, loss->stream)) {
		record = outlet_begin(dump->outlet, sizeof(*record), RECORD_LOSS);
	}
	if (record) {
		record->stream = dump->streams[loss->stream];
		record->packets = loss->packets;
		record->begin_ns = loss->begin_ns;
		record->end_ns = loss->end_ns;
		record->count = loss->count;
		record->cpu = loss->cpu;
	}
	dump->failed = !record || !outlet_commit(dump->outlet);
	return !dump->failed;
}

static bool send_event(struct dump *dump, const struct event *event)
{
	struct record_event *record =
			outlet_begin(dump->outlet, sizeof(*record) + event->bytes, RECORD_EVENT);

	if (!record) {
		return false;
	}
	record->ts_ns = event->ts_ns;
	record->type = dump->types[event->type];
	record->stream = dump->streams[event->stream];
	record->cpu = event->cpu;
	record->bytes = event->bytes;
	memcpy(record->slots, event->slots, event->bytes);
	return outlet_commit_at(dump->outlet, event->ts_ns, 0);
}

static bool take_event(void *context, const struct event *event)
{
	struct dump *dump = context;

	count(dump, event);
	dump->failed = !introduce(dump, event) || !send_event(dump, event);
	return !dump->failed;
}

/* Waits for the writing process to end. True: it did all. */
static bool finish_child(struct child *child)
{
	struct pollfd fds[2] = {{.fd = child->pid_fd, .events = POLLIN},
			{.fd = child->error_fd, .events = POLLIN}};
	uint64_t until_ns = clock_monotonic_ns() + END_WAIT_MS * UINT64_C(1000000);

	child_poll(child);
	while (!child->exited && clock_monotonic_ns() < until_ns) {
		poll(fds, 2, 1000);
		child_poll(child);
	}
	return child->exited && child->signal == 0 && child->exit_code == 0;
}

static void say_child_failed(const struct child *child, const char *path, char *said, size_t size)
{
	char words[512];

	child_last_line(child, words, sizeof(words));
	if (!child->exited) {
		snprintf(words, sizeof(words), "the disk did not take it within a minute");
	} else if (child->signal) {
		child_describe_end(child, words, sizeof(words));
		say_failed(path, "", said, size);
		text_add(said, size, "the writing process %s; is there room on the disk?", words);
		return;
	}
	say_failed(path, words[0] ? words : "the writing process gave no reason", said, size);
}

/* Which events: all of the window of a focus, or those of some requests. */
struct selection {
	const struct focus *focus; /* NULL: of the requests */
	const uint64_t *ids;
	uint32_t n_ids;
};

static enum status each_event(struct dump *dump, const struct selection *selection)
{
	if (selection->focus) {
		dump->span = engine_dump_span(dump->engine, selection->focus);
		engine_dump_losses(dump->engine, selection->focus, take_loss, dump);
		if (dump->failed) {
			return STATUS_IO;
		}
		return engine_dump(dump->engine, selection->focus, take_event, dump);
	}
	return engine_dump_requests(
			dump->engine, selection->ids, selection->n_ids, take_event, dump);
}

/* Writes into a directory that exists. False: `said` says why. */
static bool write_traces(struct pipeline *pipeline, const struct selection *selection,
		const char *temporary, const char *path, const struct dump_watch *watch,
		uint64_t *n_events, char *said, size_t size)
{
	struct dump dump = {.engine = pipeline_engine(pipeline), .watch = watch};
	struct child child;
	bool written;

	if (child_start(&child, pipeline_program(pipeline), CHILD_WRITE, temporary, 0, NULL, said,
			    size) != STATUS_OK) {
		return false;
	}
	dump.outlet = outlet_create(child.ring);
	written = dump.outlet && each_event(&dump, selection) == STATUS_OK && !dump.failed &&
		  outlet_end(dump.outlet);
	/* Where the ring came to its end early, the child knows why. */
	written = finish_child(&child) && written;
	*n_events = dump.n;
	if (written) {
		say_written(&dump, path, said, size);
	} else {
		say_child_failed(&child, path, said, size);
	}
	child_stop(&child);
	outlet_destroy(dump.outlet);
	free(dump.types);
	free(dump.streams);
	return written;
}

void dump_trim(char *out, size_t size, const char *path)
{
	size_t length;

	snprintf(out, size, "%s", path);
	for (length = strlen(out); length > 1 && out[length - 1] == '/'; length--) {
		out[length - 1] = '\0';
	}
}

bool dump_requests(struct pipeline *pipeline, const uint64_t *ids, uint32_t n,
		const char *directory, const char *path, uint64_t *n_events, char *said,
		size_t size)
{
	const struct selection selection = {.ids = ids, .n_ids = n};

	if (mkdir(directory, 0777) != 0) {
		return say_failed(path, strerror(errno), said, size);
	}
	return write_traces(pipeline, &selection, directory, path, NULL, n_events, said, size);
}

bool dump_traces(struct pipeline *pipeline, const struct focus *focus, const char *directory,
		const struct dump_watch *watch, char *said, size_t size)
{
	const struct selection selection = {.focus = focus};
	char temporary[PATH_MAX];
	struct stat info;
	uint64_t n_events;
	bool written;

	if (lstat(directory, &info) == 0) {
		return say_failed(directory, "it exists already; name a new directory", said, size);
	}
	if (!temporary_name(temporary, sizeof(temporary), directory, getpid())) {
		return say_failed(directory, strerror(ENAMETOOLONG), said, size);
	}
	if (mkdir(temporary, 0777) != 0) {
		return say_failed(directory, strerror(errno), said, size);
	}
	written = write_traces(
			pipeline, &selection, temporary, directory, watch, &n_events, said, size);
	if (written && rename(temporary, directory) != 0) {
		written = say_failed(directory, strerror(errno), said, size);
	}
	if (!written && !temporary_remove(temporary)) {
		text_add(said, size, "; what was written is left, incomplete, in %s", temporary);
	}
	return written;
}
