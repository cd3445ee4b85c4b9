/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "engine/parts.h"

/* Original events, of the window or of requests. */

struct dump {
	bool (*take)(void *context, const struct event *event);
	void *context;
};

static bool dump_one(void *context, uint64_t number, const struct event *event, bool older)
{
	const struct dump *dump = context;

	(void)number;
	(void)older;
	return dump->take(dump->context, event);
}

enum status engine_dump(struct engine *engine, const struct focus *focus,
		bool (*take)(void *context, const struct event *event), void *context)
{
	struct dump dump = {.take = take, .context = context};
	uint64_t at_ns = engine_follow_pin(engine, focus);

	if (!engine->config.keep_events) {
		return STATUS_NOT_FOUND;
	}
	at_ns = focus->state_at_ns ? focus->state_at_ns : at_ns;
	log_each(engine->log, engine_window_begin(engine, at_ns), at_ns, dump_one, &dump);
	return STATUS_OK;
}

void engine_dump_losses(struct engine *engine, const struct focus *focus,
		bool (*take)(void *context, const struct loss *loss), void *context)
{
	uint64_t at_ns = focus->state_at_ns ? focus->state_at_ns : engine_follow_pin(engine, focus);
	uint64_t from_ns = engine_dump_span(engine, focus).kept_from_ns, n = engine->n_losses;

	for (uint64_t i = n > ENGINE_LOSSES ? n - ENGINE_LOSSES : 0; i < n; i++) {
		const struct loss *loss = &engine->losses[i % ENGINE_LOSSES];

		if (loss->end_ns >= from_ns && loss->begin_ns <= at_ns && !take(context, loss)) {
			return;
		}
	}
}

struct original_dump {
	struct extractor *extractor;
	struct dump dump;
};

/* What was extracted is not in the trace. */
static bool dump_original(void *context, const struct event *event)
{
	const struct original_dump *to = context;

	return to->dump.take(to->dump.context, extractor_original(to->extractor, event));
}

enum status engine_dump_requests(struct engine *engine, const uint64_t *ids, uint32_t n,
		bool (*take)(void *context, const struct event *event), void *context)
{
	const struct request *requests[ENGINE_DUMP_REQUESTS];
	struct original_dump to = {
			.extractor = engine->extractor, .dump = {.take = take, .context = context}};
	uint32_t found = 0;

	for (uint32_t i = 0; i < n && found < ENGINE_DUMP_REQUESTS; i++) {
		requests[found] = groups_find_request(engine->groups, ids[i]);
		found += requests[found] != NULL;
	}
	return requests_dump(requests, found, dump_original, &to);
}

struct dump_span engine_dump_span(struct engine *engine, const struct focus *focus)
{
	uint64_t at_ns = engine_follow_pin(engine, focus), begin_ns = log_begin(engine->log);
	struct dump_span span;

	at_ns = focus->state_at_ns ? focus->state_at_ns : at_ns;
	span = (struct dump_span){.window_from_ns = engine_window_begin(engine, at_ns)};
	span.kept_from_ns = begin_ns > span.window_from_ns ? begin_ns : span.window_from_ns;
	span.trimmed = log_trimmed(engine->log) > span.window_from_ns;
	return span;
}
