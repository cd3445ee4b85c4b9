/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Any bytes as records of a ring, as a source process gone wild would write them: what reaches the
 * analysis is sound (every slot and text lies inside the event, times never go back), and
 * everything else ends in INPUT_QUEUE_BROKEN with a word why.
 *
 * The input is read as steps: a byte says whether the next record is raw (its header, too, is
 * fuzz) or well framed, with a kind and a body of the given length.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "intake/input_queue.h"
#include "pythiatop/engine.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct fuzz_sink {
	struct engine *engine;
	uint64_t last_ns;
	uint32_t n_fields[4096]; /* by type id */
	uint8_t kinds[4096][EVENT_MAX_FIELDS];
};

static uint32_t add_type(void *context, const struct event_type *type)
{
	struct fuzz_sink *sink = context;
	uint32_t id = engine_add_type(sink->engine, type);
	uint32_t i;

	if (type->n_fields > EVENT_MAX_FIELDS) {
		abort();
	}
	for (i = 0; id < 4096 && i < type->n_fields; i++) {
		sink->kinds[id][i] = type->fields[i].kind;
		if (strlen(type->fields[i].name) > RING_MAX_RECORD) {
			abort();
		}
	}
	if (id < 4096) {
		sink->n_fields[id] = type->n_fields;
	}
	return id;
}

static uint32_t add_session(void *context, const struct session_desc *session)
{
	return engine_add_session(((struct fuzz_sink *)context)->engine, session);
}

static uint32_t add_stream(void *context, const struct stream_desc *stream)
{
	return engine_add_stream(((struct fuzz_sink *)context)->engine, stream);
}

static void end_session(void *context, uint32_t session)
{
	engine_end_session(((struct fuzz_sink *)context)->engine, session);
}

static void feed(void *context, const struct event *event)
{
	struct fuzz_sink *sink = context;
	uint32_t i, length;

	if (event->ts_ns < sink->last_ns) {
		abort();
	}
	sink->last_ns = event->ts_ns;
	if (event->type < 4096) {
		if (event->bytes < 8 * sink->n_fields[event->type]) {
			abort();
		}
		for (i = 0; i < sink->n_fields[event->type]; i++) {
			uint8_t kind = sink->kinds[event->type][i];

			if (kind == FIELD_STRING || kind == FIELD_TREE) {
				const char *bytes = event_bytes(event, i, &length);

				if (bytes && bytes[length] != '\0') {
					abort();
				}
			}
		}
	}
	engine_feed(sink->engine, event);
}

static void lose(void *context, const struct loss *loss)
{
	engine_lose(((struct fuzz_sink *)context)->engine, loss);
}

static void late(void *context, uint32_t session, uint64_t count)
{
	engine_late(((struct fuzz_sink *)context)->engine, session, count);
}

static void advance(void *context, uint64_t ts_ns)
{
	engine_advance(((struct fuzz_sink *)context)->engine, ts_ns);
}

static void note(void *context, const struct record *record)
{
	(void)context;
	(void)record;
}

/* Writes the next step of the input; false at its end. */
static bool write_step(struct ring *writer, const uint8_t **data, size_t *size)
{
	size_t length, body;
	uint8_t *to;
	bool raw;

	if (*size < 3) {
		return false;
	}
	raw = ((*data)[0] & 0x80) != 0;
	length = (size_t)(*data)[1] * 8 + sizeof(struct record);
	to = ring_reserve(writer, length);
	if (!to) {
		return false;
	}
	memset(to, 0, length);
	body = *size - 2 < length ? *size - 2 : length;
	memcpy(to, *data + 2, body);
	if (!raw) {
		struct record *record = (struct record *)to;

		record->size = (uint32_t)length;
		record->kind = (*data)[0] % (RECORD_END + 2u);
	}
	*data += 2 + body;
	*size -= 2 + body;
	return true;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct intake_sink sink = {.add_type = add_type,
			.add_session = add_session,
			.add_stream = add_stream,
			.end_session = end_session,
			.feed = feed,
			.lose = lose,
			.late = late,
			.advance = advance};
	struct ring *reader = ring_create(64u << 10);
	struct fuzz_sink *context = calloc(1, sizeof(*context));
	uint64_t now_ns = 0;
	uint32_t budget = 100000;
	struct ring *writer;
	struct ring_fds fds;
	struct input_queue queue;

	if (!reader || !context || size > 4096) {
		abort();
	}
	fds = ring_fds(reader);
	writer = ring_attach(&fds);
	context->engine = engine_create(NULL);
	sink.context = context;
	input_queue_init(&queue, &sink, "fuzz");
	queue.note = note;
	queue.host_asked = "host";
	queue.session_asked = "session";
	input_queue_open(&queue, reader);
	while (write_step(writer, &data, &size)) {
		ring_publish(writer, ring_position(writer));
		if (input_queue_run(&queue, UINT64_MAX, &now_ns, &budget) == INPUT_QUEUE_BROKEN) {
			if (!queue.fault || !queue.fault[0]) {
				abort();
			}
			break;
		}
	}
	input_queue_close(&queue);
	input_queue_release(&queue);
	engine_finish(context->engine);
	engine_destroy(context->engine);
	ring_destroy(writer);
	ring_destroy(reader);
	free(context);
	return 0;
}
