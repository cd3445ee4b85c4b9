/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "run/replay.h"

#include <ctype.h>
#include <errno.h>
#include <jansson.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/array.h"
#include "config/instant.h"
#include "config/json_file.h"
#include "run/decisions.h"
#include "run/words.h"

#define MAX_BYTES (256u << 20)
#define MAX_LINE  (16u << 20)

struct input;

/* A kind of line: how it is read, and how the engine is told. */
struct verb {
	const char *name;
	/* The object without what all lines have. False: the complaint is written. */
	bool (*take)(const struct complaint *complaint, json_t *line, struct input *input);
	void (*give)(struct replay *replay, struct engine *engine, const struct input *input);
};

struct input {
	const struct verb *verb;
	uint32_t line;
	uint64_t event_ns;
	json_t *document; /* owns the texts */
	union {
		enum step_mode mode;
		struct step_budget budget;
		uint32_t group_id;
		const char *text; /* a strategy, host or profile */
		struct {
			uint32_t step;
			enum step_decision decision;
			enum step_by by;
		} decide;
		struct {
			uint32_t context;
			bool enable;
		} propose;
		struct {
			uint32_t step, part;
			bool keep;
		} edit;
		struct step_outcome outcome;
		struct step_watch watch;
		struct {
			const char *host;
			bool is;
		} silent;
		struct {
			const char *host;
			uint32_t n;
		} offer;
		struct {
			const char *host;
			uint32_t n;
		} named;
		struct step_order order;
		struct {
			const char *host;
			double event_ns;
		} calibrate;
		struct {
			uint8_t uuid[DECISIONS_UUID];
			int64_t offset_ns;
		} clock;
	};
	struct step_offer *offers; /* of an offer */
	const char **fields;       /* of all of them */
	struct step_process *processes;
	struct step_event *events; /* of an order */
};

struct replay {
	char *path;
	struct input *inputs;
	uint32_t n, room, next;
	uint64_t first_ns; /* event time of the live run's begin; 0: it does not say */
	bool any, over;
	char departure[1024]; /* "": none so far */
};

/* --- departures ------------------------------------------------------------------------------ */

static void depart(struct replay *replay, const struct input *input, const char *format, ...)
		__attribute__((format(printf, 3, 4)));

static void depart(struct replay *replay, const struct input *input, const char *format, ...)
{
	char at[INSTANT_BYTES], what[768];
	va_list args;

	if (replay->departure[0]) {
		return;
	}
	va_start(args, format);
	vsnprintf(what, sizeof(what), format, args);
	va_end(args);
	if (input->event_ns) {
		instant_format(at, input->event_ns);
	} else {
		snprintf(at, sizeof(at), "at the start");
	}
	snprintf(replay->departure, sizeof(replay->departure), "%s:%u: not as then (%s): %s",
			replay->path, input->line, at, what);
}

const char *replay_departure(const struct replay *replay)
{
	return replay->departure[0] ? replay->departure : NULL;
}

/* --- the kinds of lines ---------------------------------------------------------------------- */

static bool number(const struct complaint *complaint, json_int_t value, uint32_t *out)
{
	*out = (uint32_t)value;
	return (value >= 0 && value <= UINT32_MAX) ||
	       complain(complaint, "a number that is none of a step: %lld", (long long)value);
}

static bool take_none(const struct complaint *complaint, json_t *line, struct input *input)
{
	json_error_t error;

	(void)input;
	return json_unpack_ex(line, &error, JSON_STRICT, "{}") == 0 ||
	       complain(complaint, "%s", error.text);
}

static bool take_name(const struct complaint *complaint, const char *text, const char *const *names,
		uint32_t n, uint32_t *which)
{
	for (*which = 0; *which < n; (*which)++) {
		if (strcmp(text, names[*which]) == 0) {
			return true;
		}
	}
	return complain(complaint, "\"%s\" is not known here", text);
}

static bool take_mode(const struct complaint *complaint, json_t *line, struct input *input)
{
	json_error_t error;
	const char *text;

	if (json_unpack_ex(line, &error, JSON_STRICT, "{s:s}", "mode", &text) != 0) {
		return complain(complaint, "%s", error.text);
	}
	return words_mode(text, &input->mode) ||
	       complain(complaint, "there is no mode \"%s\"", text);
}

static void give_mode(struct replay *replay, struct engine *engine, const struct input *input)
{
	(void)replay;
	engine_set_mode(engine, input->mode);
}

static bool take_strategy(const struct complaint *complaint, json_t *line, struct input *input)
{
#define X(id, name, help) name,
	static const char *const names[] = {PYTHIATOP_STRATEGIES(X)};
#undef X
	json_error_t error;
	uint32_t which;

	if (json_unpack_ex(line, &error, JSON_STRICT, "{s:s}", "strategy", &input->text) != 0) {
		return complain(complaint, "%s", error.text);
	}
	return take_name(complaint, input->text, names, sizeof(names) / sizeof(names[0]), &which);
}

static void give_strategy(struct replay *replay, struct engine *engine, const struct input *input)
{
	(void)replay;
	engine_set_strategy(engine, input->text);
}

static bool take_budget(const struct complaint *complaint, json_t *line, struct input *input)
{
	struct step_budget *budget = &input->budget;
	json_error_t error;
	json_int_t points;

	if (json_unpack_ex(line, &error, JSON_STRICT, "{s:F, s:F, s:F, s:F, s:I}", "events_per_s",
			    &budget->events_per_s, "bytes_per_s", &budget->bytes_per_s, "cpu_share",
			    &budget->cpu_share, "learn_events_per_s", &budget->learn_events_per_s,
			    "points", &points) != 0) {
		return complain(complaint, "%s", error.text);
	}
	if (budget->events_per_s < 0 || budget->bytes_per_s < 0 || budget->cpu_share < 0 ||
			budget->learn_events_per_s < 0) {
		return complain(complaint, "a negative bound");
	}
	return number(complaint, points, &budget->points);
}

static void give_budget(struct replay *replay, struct engine *engine, const struct input *input)
{
	(void)replay;
	engine_set_budget(engine, &input->budget);
}

/* The texts of an array; how many were taken. False: one is none. */
static bool take_fields(json_t *array, const char **fields, uint32_t *n)
{
	json_t *field;
	size_t i;

	json_array_foreach(array, i, field)
	{
		fields[i] = json_string_value(field);
		if (!fields[i]) {
			return false;
		}
	}
	*n = (uint32_t)i;
	return true;
}

static bool take_offered(const struct complaint *complaint, json_t *array, struct input *input)
{
	size_t at = 0, i;
	json_t *event;

	json_array_foreach(array, i, event)
	{
		struct step_offer *offer = &input->offers[i];
		json_error_t error;
		json_t *fields;
		int kernel;

		if (json_unpack_ex(event, &error, JSON_STRICT, "{s:s, s:b, s:o}", "name",
				    &offer->name, "kernel", &kernel, "fields", &fields) != 0) {
			return complain(complaint, "event %zu: %s", i, error.text);
		}
		if (!json_is_array(fields) ||
				!take_fields(fields, input->fields + at, &offer->n_fields)) {
			return complain(complaint,
					"event %zu: expected an array of names of fields", i);
		}
		offer->host = input->offer.host;
		offer->kernel = kernel;
		offer->fields = input->fields + at;
		at += offer->n_fields;
	}
	return true;
}

static bool take_offer(const struct complaint *complaint, json_t *line, struct input *input)
{
	size_t n_fields = 0, i;
	json_error_t error;
	json_t *array, *event;

	if (json_unpack_ex(line, &error, JSON_STRICT, "{s:s, s:o}", "host", &input->offer.host,
			    "events", &array) != 0) {
		return complain(complaint, "%s", error.text);
	}
	if (!json_is_array(array)) {
		return complain(complaint, "expected an array of events");
	}
	json_array_foreach(array, i, event)
	{
		n_fields += json_array_size(json_object_get(event, "fields"));
	}
	input->offer.n = (uint32_t)i;
	input->offers = calloc(i + 1, sizeof(*input->offers));
	input->fields = calloc(n_fields + 1, sizeof(*input->fields));
	if (!input->offers || !input->fields) {
		return complain(complaint, "out of memory");
	}
	return take_offered(complaint, array, input);
}

static void give_offer(struct replay *replay, struct engine *engine, const struct input *input)
{
	if (engine_offer(engine, input->offer.host, input->offers, input->offer.n) != STATUS_OK) {
		depart(replay, input, "out of memory");
	}
}

static bool take_processes(const struct complaint *complaint, json_t *line, struct input *input)
{
	json_error_t error;
	json_t *array, *process;
	json_int_t pid;
	size_t i;

	if (json_unpack_ex(line, &error, JSON_STRICT, "{s:s, s:o}", "host", &input->named.host,
			    "processes", &array) != 0) {
		return complain(complaint, "%s", error.text);
	}
	input->processes = calloc(json_array_size(array) + 1, sizeof(*input->processes));
	if (!input->processes) {
		return complain(complaint, "out of memory");
	}
	json_array_foreach(array, i, process)
	{
		if (json_unpack_ex(process, &error, JSON_STRICT, "{s:I, s:s}", "pid", &pid, "name",
				    &input->processes[i].name) != 0) {
			return complain(complaint, "process %zu: %s", i, error.text);
		}
		input->processes[i].pid = pid;
	}
	input->named.n = (uint32_t)i;
	return true;
}

static void give_processes(struct replay *replay, struct engine *engine, const struct input *input)
{
	(void)replay;
	engine_name_processes(engine, input->named.host, input->processes, input->named.n);
}

static bool take_decide(const struct complaint *complaint, json_t *line, struct input *input)
{
	const char *decision, *by;
	json_error_t error;
	json_int_t step;
	uint32_t which;

	if (json_unpack_ex(line, &error, JSON_STRICT, "{s:I, s:s, s:s}", "step", &step, "decision",
			    &decision, "by", &by) != 0) {
		return complain(complaint, "%s", error.text);
	}
	if (!take_name(complaint, decision, decisions_names, DECISIONS_NAMES, &which)) {
		return false;
	}
	input->decide.decision = (enum step_decision)which;
	input->decide.by = strcmp(by, "watch") == 0 ? STEP_BY_WATCH : STEP_BY_PERSON;
	return number(complaint, step, &input->decide.step);
}

static void give_decide(struct replay *replay, struct engine *engine, const struct input *input)
{
	char error[256];

	if (engine_decide(engine, input->decide.step, input->decide.decision, input->decide.by,
			    error, sizeof(error)) != STATUS_OK) {
		depart(replay, input, "step %u was decided: %s", input->decide.step, error);
	}
}

static bool take_propose(const struct complaint *complaint, json_t *line, struct input *input)
{
	json_error_t error;
	json_int_t context;
	int enable;

	if (json_unpack_ex(line, &error, JSON_STRICT, "{s:I, s:b}", "context", &context, "enable",
			    &enable) != 0) {
		return complain(complaint, "%s", error.text);
	}
	input->propose.enable = enable;
	return number(complaint, context, &input->propose.context);
}

static void give_propose(struct replay *replay, struct engine *engine, const struct input *input)
{
	char error[256];

	if (engine_propose(engine, input->propose.context, input->propose.enable, error,
			    sizeof(error)) != STATUS_OK) {
		depart(replay, input, "a point was proposed by hand: %s", error);
	}
}

static bool take_explain(const struct complaint *complaint, json_t *line, struct input *input)
{
	json_error_t error;
	json_int_t group;

	if (json_unpack_ex(line, &error, JSON_STRICT, "{s:I}", "group", &group) != 0) {
		return complain(complaint, "%s", error.text);
	}
	input->group_id = (uint32_t)group;
	return (group > 0 && group <= UINT32_MAX) ||
	       complain(complaint, "a number that is none of a group: %lld", (long long)group);
}

static void give_explain(struct replay *replay, struct engine *engine, const struct input *input)
{
	if (engine_explain(engine, input->group_id) != STATUS_OK) {
		depart(replay, input, "group %u was asked to be explained: there is none",
				input->group_id);
	}
}

static bool take_edit(const struct complaint *complaint, json_t *line, struct input *input)
{
	json_error_t error;
	json_int_t step, part;
	int keep;

	if (json_unpack_ex(line, &error, JSON_STRICT, "{s:I, s:I, s:b}", "step", &step, "part",
			    &part, "keep", &keep) != 0) {
		return complain(complaint, "%s", error.text);
	}
	input->edit.keep = keep;
	return number(complaint, step, &input->edit.step) &&
	       number(complaint, part, &input->edit.part);
}

static void give_edit(struct replay *replay, struct engine *engine, const struct input *input)
{
	char error[256];

	if (engine_edit(engine, input->edit.step, input->edit.part, input->edit.keep, error,
			    sizeof(error)) != STATUS_OK) {
		depart(replay, input, "a step was edited: %s", error);
	}
}

static bool take_host(const struct complaint *complaint, json_t *line, struct input *input)
{
	json_error_t error;

	return json_unpack_ex(line, &error, JSON_STRICT, "{s:s}", "host", &input->text) == 0 ||
	       complain(complaint, "%s", error.text);
}

static bool take_calibrate(const struct complaint *complaint, json_t *line, struct input *input)
{
	json_error_t error;

	return json_unpack_ex(line, &error, JSON_STRICT, "{s:s, s:F}", "host",
			       &input->calibrate.host, "cpu_ns", &input->calibrate.event_ns) == 0 ||
	       complain(complaint, "%s", error.text);
}

static void give_calibrate(struct replay *replay, struct engine *engine, const struct input *input)
{
	(void)replay;
	engine_calibrate(engine, input->calibrate.host, input->calibrate.event_ns);
}

static void give_host_gone(struct replay *replay, struct engine *engine, const struct input *input)
{
	(void)replay;
	engine_host_gone(engine, input->text);
}

static bool take_silent(const struct complaint *complaint, json_t *line, struct input *input)
{
	json_error_t error;
	int is = 0;

	if (json_unpack_ex(line, &error, JSON_STRICT, "{s:s, s:b}", "host", &input->silent.host,
			    "is", &is) != 0) {
		return complain(complaint, "%s", error.text);
	}
	input->silent.is = is;
	return true;
}

static void give_silent(struct replay *replay, struct engine *engine, const struct input *input)
{
	(void)replay;
	engine_silent(engine, input->silent.host, input->silent.is);
}

static void give_undo_all(struct replay *replay, struct engine *engine, const struct input *input)
{
	(void)replay;
	(void)input;
	engine_undo_all(engine, STEP_BY_PERSON);
}

static bool take_order(const struct complaint *complaint, json_t *line, struct input *input)
{
	json_error_t error;
	json_t *array, *item;
	json_int_t step;
	int undo;
	size_t i;

	if (json_unpack_ex(line, &error, JSON_STRICT, "{s:I, s:b, s:o}", "step", &step, "undo",
			    &undo, "events", &array) != 0) {
		return complain(complaint, "%s", error.text);
	}
	input->events = calloc(json_array_size(array) + 1, sizeof(*input->events));
	if (!json_is_array(array) || !input->events) {
		return complain(complaint, "expected an array of events");
	}
	json_array_foreach(array, i, item)
	{
		struct step_event *event = &input->events[i];
		int kernel, enable;

		event->filter = NULL; /* most have none */
		if (json_unpack_ex(item, &error, JSON_STRICT, "{s:s, s:s, s:b, s:b, s?s}", "host",
				    &event->host, "name", &event->name, "kernel", &kernel, "enable",
				    &enable, "filter", &event->filter) != 0) {
			return complain(complaint, "event %zu: %s", i, error.text);
		}
		event->kernel = kernel;
		event->enable = enable;
	}
	input->order.undo = undo;
	input->order.n = (uint32_t)i;
	input->order.events = input->events;
	return number(complaint, step, &input->order.step);
}

static bool is_same(const struct step_order *a, const struct step_order *b)
{
	if (a->step != b->step || a->undo != b->undo || a->n != b->n) {
		return false;
	}
	for (uint32_t i = 0; i < a->n; i++) {
		const struct step_event *x = &a->events[i], *y = &b->events[i];

		if (strcmp(x->host, y->host) != 0 || strcmp(x->name, y->name) != 0 ||
				x->kernel != y->kernel || x->enable != y->enable ||
				strcmp(x->filter ? x->filter : "", y->filter ? y->filter : "") !=
						0) {
			return false;
		}
	}
	return true;
}

/* The engine gives its order out when the live one did, since what it does next depends on that. */
static void give_order(struct replay *replay, struct engine *engine, const struct input *input)
{
	const struct step_order *order = engine_next_order(engine), *then = &input->order;

	if (!order) {
		depart(replay, input, "step %u was %s then, and is not now", then->step,
				then->undo ? "undone" : "carried out");
	} else if (!is_same(order, then)) {
		depart(replay, input,
				"step %u was %s then, with %u events, the first %s; now step %u is "
				"%s, "
				"with %u events, the first %s",
				then->step, then->undo ? "undone" : "carried out", then->n,
				then->n ? then->events[0].name : "none", order->step,
				order->undo ? "undone" : "carried out", order->n,
				order->n ? order->events[0].name : "none");
	}
}

static bool take_outcome(const struct complaint *complaint, json_t *line, struct input *input)
{
	json_int_t step, answered_ns = 0; /* logs of before have none */
	json_error_t error;
	int undo, ok;

	if (json_unpack_ex(line, &error, JSON_STRICT, "{s:I, s:b, s:b, s:s, s?I}", "step", &step,
			    "undo", &undo, "ok", &ok, "error", &input->outcome.error, "answered_ns",
			    &answered_ns) != 0) {
		return complain(complaint, "%s", error.text);
	}
	input->outcome.undo = undo;
	input->outcome.ok = ok;
	input->outcome.answered_ns = answered_ns > 0 ? (uint64_t)answered_ns : 0;
	return number(complaint, step, &input->outcome.step);
}

static void give_outcome(struct replay *replay, struct engine *engine, const struct input *input)
{
	(void)replay;
	engine_order_done(engine, &input->outcome);
}

static bool take_watch(const struct complaint *complaint, json_t *line, struct input *input)
{
	struct step_watch *watch = &input->watch;
	json_int_t step, discarded;
	json_error_t error;

	watch->actual = (struct step_cost){.bytes_per_s = -1, .cpu_share = -1};
	if (json_unpack_ex(line, &error, JSON_STRICT, "{s:I, s:I, s:F, s?F}", "step", &step,
			    "discarded", &discarded, "events_per_s", &watch->actual.events_per_s,
			    "bytes_per_s", &watch->actual.bytes_per_s) != 0) {
		return complain(complaint, "%s", error.text);
	}
	if (discarded < 0 || watch->actual.events_per_s < 0) {
		return complain(complaint, "a negative number of events");
	}
	watch->discarded = (uint64_t)discarded;
	return number(complaint, step, &watch->step);
}

static void give_watch(struct replay *replay, struct engine *engine, const struct input *input)
{
	(void)replay;
	engine_watch_over(engine, &input->watch);
}

static void give_epoch(struct replay *replay, struct engine *engine, const struct input *input)
{
	(void)replay;
	(void)input;
	engine_begin_epoch(engine);
}

static bool take_profile(const struct complaint *complaint, json_t *line, struct input *input)
{
	json_error_t error;

	return json_unpack_ex(line, &error, JSON_STRICT, "{s:s}", "file", &input->text) == 0 ||
	       complain(complaint, "%s", error.text);
}

/* The file may have been written anew since, so only the person knows where that profile is. */
static void give_profile(struct replay *replay, struct engine *engine, const struct input *input)
{
	if (input->event_ns) {
		depart(replay, input, "the profile %s was read while the run went on", input->text);
	} else if (!engine_has_learned(engine)) {
		depart(replay, input,
				"the profile %s was read at the start; give it, as it was, "
				"with --learn=FILE",
				input->text);
	}
}

static void give_begin(struct replay *replay, struct engine *engine, const struct input *input)
{
	(void)replay;
	(void)engine;
	(void)input;
}

static bool take_clock(const struct complaint *complaint, json_t *line, struct input *input)
{
	json_int_t offset_ns;
	json_error_t error;
	const char *uuid;
	uint32_t i;

	if (json_unpack_ex(line, &error, JSON_STRICT, "{s:s, s:I}", "uuid", &uuid, "offset_ns",
			    &offset_ns) != 0) {
		return complain(complaint, "%s", error.text);
	}
	input->clock.offset_ns = offset_ns;
	for (i = 0; i < DECISIONS_UUID && isxdigit((unsigned char)uuid[2 * i]) &&
			isxdigit((unsigned char)uuid[2 * i + 1]);
			i++) {
		const char digits[] = {uuid[2 * i], uuid[2 * i + 1], '\0'};

		input->clock.uuid[i] = (uint8_t)strtoul(digits, NULL, 16);
	}
	return (i == DECISIONS_UUID && uuid[2 * i] == '\0') ||
	       complain(complaint, "\"%s\" is no UUID of 32 hex digits", uuid);
}

/* Known from the start: see replay_clock(). */
static void give_clock(struct replay *replay, struct engine *engine, const struct input *input)
{
	(void)replay;
	(void)engine;
	(void)input;
}

/* Known from the start: see take_lines(). */
static void give_first(struct replay *replay, struct engine *engine, const struct input *input)
{
	(void)replay;
	(void)engine;
	(void)input;
}

static void give_end(struct replay *replay, struct engine *engine, const struct input *input)
{
	(void)engine;
	(void)input;
	replay->over = true;
}

static const struct verb verbs[] = {
		{"begin", take_none, give_begin},
		{"first", take_none, give_first},
		{"clock", take_clock, give_clock},
		{"mode", take_mode, give_mode},
		{"strategy", take_strategy, give_strategy},
		{"budget", take_budget, give_budget},
		{"profile", take_profile, give_profile},
		{"offer", take_offer, give_offer},
		{"processes", take_processes, give_processes},
		{"decide", take_decide, give_decide},
		{"propose", take_propose, give_propose},
		{"edit", take_edit, give_edit},
		{"explain", take_explain, give_explain},
		{"calibrate", take_calibrate, give_calibrate},
		{"host_gone", take_host, give_host_gone},
		{"silent", take_silent, give_silent},
		{"undo_all", take_none, give_undo_all},
		{"epoch", take_none, give_epoch},
		{"order", take_order, give_order},
		{"outcome", take_outcome, give_outcome},
		{"watch", take_watch, give_watch},
		{"end", take_none, give_end},
};

/* --- reading --------------------------------------------------------------------------------- */

static void release(struct input *input)
{
	free(input->processes);
	free(input->offers);
	free(input->fields);
	free(input->events);
	json_decref(input->document);
}

static void forget(struct replay *replay)
{
	while (replay->n) {
		release(&replay->inputs[--replay->n]);
	}
	replay->first_ns = 0;
}

static struct input *add(struct replay *replay)
{
	if (!array_reserve(&replay->inputs, &replay->room, replay->n + 1)) {
		return NULL;
	}
	replay->inputs[replay->n] = (struct input){.verb = NULL};
	return &replay->inputs[replay->n++];
}

/* What all lines have; taken off, so that the rest is read strictly. */
static bool take_head(const struct complaint *complaint, json_t *line, struct input *input)
{
	const char *log, *what;
	json_error_t error;
	json_int_t event;
	double at;

	if (json_unpack_ex(line, &error, 0, "{s:s, s:F, s:I, s:s}", "log", &log, "at", &at,
			    "event_ns", &event, "do", &what) != 0) {
		return complain(complaint, "no line of a decision log: %s", error.text);
	}
	if (strcmp(log, DECISIONS_FORMAT) != 0) {
		return complain(complaint, "of another kind, \"%s\": expected \"%s\"", log,
				DECISIONS_FORMAT);
	}
	for (size_t i = 0; i < sizeof(verbs) / sizeof(verbs[0]); i++) {
		if (strcmp(verbs[i].name, what) == 0) {
			input->verb = &verbs[i];
		}
	}
	if (event < 0 || !input->verb) {
		return complain(complaint, event < 0 ? "a negative time" : "\"%s\" is not known",
				what);
	}
	input->event_ns = (uint64_t)event;
	json_object_del(line, "log");
	json_object_del(line, "at");
	json_object_del(line, "event_ns");
	json_object_del(line, "do");
	return true;
}

/* A wrong line: where, and what. */
static bool complain_line(const struct complaint *complaint, uint32_t line, const char *what)
{
	return complain(complaint, "line %u: %s", line, what);
}

static bool take_line(const struct complaint *complaint, const char *text, size_t length,
		struct input *input)
{
	char wrong[512] = "", *what;
	const struct complaint inner = {.path = "", .text = wrong, .size = sizeof(wrong)};
	json_error_t error;

	input->document = json_loadb(text, length, JSON_REJECT_DUPLICATES, &error);
	if (!input->document) {
		return complain_line(complaint, input->line, error.text);
	}
	if (take_head(&inner, input->document, input) &&
			input->verb->take(&inner, input->document, input)) {
		return true;
	}
	what = wrong + strspn(wrong, ": "); /* the complaint of no file */
	return complain_line(complaint, input->line, what);
}

/* Where another run begins, the ones before it are forgotten. */
static bool take_lines(const struct complaint *complaint, FILE *in, struct replay *replay)
{
	char *text = NULL;
	size_t size = 0;
	ssize_t length;
	uint32_t line = 0;
	uint64_t last_ns = 0;
	bool good = true;

	while (good && (length = getline(&text, &size, in)) >= 0) {
		struct input *input = add(replay);

		if (!input || length > (ssize_t)MAX_LINE) {
			good = complain_line(
					complaint, line + 1, input ? "too long" : "out of memory");
			break;
		}
		input->line = ++line;
		good = take_line(complaint, text, (size_t)length, input);
		if (good && input->verb->give == give_begin) {
			struct input begin = *input;

			replay->n--;
			forget(replay);
			*add(replay) = begin;
			last_ns = 0;
		} else if (good && replay->n == 1) {
			good = complain_line(complaint, line, "no run begins before it");
		}
		input = &replay->inputs[replay->n - 1];
		if (good && input->verb->give == give_first) {
			replay->first_ns = input->event_ns;
		} else if (good && input->event_ns < last_ns) {
			good = complain_line(complaint, line, "earlier than the line before");
		} else if (good) {
			last_ns = input->event_ns;
		}
	}
	free(text);
	return good && (replay->n > 0 || complain(complaint, "empty: expected a decision log"));
}

struct replay *replay_read(const char *path, char *error, size_t size)
{
	const struct complaint complaint = {.path = path, .text = error, .size = size};
	struct replay *replay = calloc(1, sizeof(*replay));
	FILE *in = fopen(path, "re");
	struct stat info;
	bool good = false;

	if (!in) {
		complain(&complaint, "cannot open it: %s", strerror(errno));
	} else if (!replay || !(replay->path = strdup(path))) {
		complain(&complaint, "out of memory");
	} else if (fstat(fileno(in), &info) != 0 || !S_ISREG(info.st_mode)) {
		complain(&complaint, "not a file");
	} else if (info.st_size > (off_t)MAX_BYTES) {
		complain(&complaint, "larger than %u MiB", MAX_BYTES >> 20);
	} else {
		good = take_lines(&complaint, in, replay);
	}
	if (in) {
		fclose(in);
	}
	if (!good) {
		replay_destroy(replay);
		replay = NULL;
	}
	return replay;
}

void replay_destroy(struct replay *replay)
{
	if (replay) {
		forget(replay);
		free(replay->inputs);
		free(replay->path);
		free(replay);
	}
}

bool replay_clock(const struct replay *replay, uint32_t index, uint8_t uuid[16], int64_t *offset_ns)
{
	for (uint32_t i = 0; i < replay->n; i++) {
		const struct input *input = &replay->inputs[i];

		if (input->verb->give == give_clock && index-- == 0) {
			memcpy(uuid, input->clock.uuid, sizeof(input->clock.uuid));
			*offset_ns = input->clock.offset_ns;
			return true;
		}
	}
	return false;
}

/* --- telling the engine ---------------------------------------------------------------------- */

static void give(struct replay *replay, struct engine *engine)
{
	const struct input *input = &replay->inputs[replay->next++];

	/* No event need be of that time: the live run knew it from the sources. */
	if (input->event_ns > engine_time(engine)) {
		engine_advance(engine, input->event_ns);
	}
	input->verb->give(replay, engine, input);
}

/* What was told before that time. */
static void give_until(struct replay *replay, struct engine *engine, uint64_t ts_ns)
{
	while (!replay->over && replay->next < replay->n &&
			replay->inputs[replay->next].event_ns < ts_ns) {
		give(replay, engine);
	}
}

bool replay_see(struct replay *replay, struct engine *engine, uint64_t ts_ns)
{
	if (!replay->any && replay->first_ns && ts_ns >= replay->first_ns) {
		give_until(replay, engine, replay->first_ns);
		engine_advance(engine, replay->first_ns);
	}
	give_until(replay, engine, ts_ns);
	if (replay->over || ts_ns < replay->first_ns) {
		return false;
	}
	replay->any = true;
	return true;
}

bool replay_runs(const struct replay *replay)
{
	return replay->any && !replay->over;
}

bool replay_is_over(const struct replay *replay)
{
	return replay->over;
}

void replay_finish(struct replay *replay, struct engine *engine)
{
	const struct input *last = &replay->inputs[replay->n - 1];

	if (!replay->any) {
		depart(replay, last, "no event of the recording is of the time of that run");
	}
	while (!replay->over && replay->next < replay->n) {
		give(replay, engine);
	}
}
