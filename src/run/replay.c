/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "run/replay.h"

#include <errno.h>
#include <jansson.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/arena.h"
#include "base/array.h"
#include "config/instant.h"
#include "run/decisions.h"
#include "run/inputs.h"

#define MAX_BYTES (256u << 20)
#define MAX_LINE  (16u << 20)

struct line {
	struct engine_input input; /* what it names lies in the replay's arena */
	uint32_t number;
	uint64_t event_ns;
};

struct replay {
	char *path;
	struct arena texts;
	struct line *lines;
	uint32_t n, room, next;
	uint64_t first_ns; /* event time of the live run's begin; 0: it does not say */
	uint64_t last_ns;  /* of its last line */
	bool any, finished, over;
	char departure[1024]; /* "": none so far */
};

/* --- departures ------------------------------------------------------------------------------ */

static void depart(struct replay *replay, const struct line *line, const char *format, ...)
		__attribute__((format(printf, 3, 4)));

static void depart(struct replay *replay, const struct line *line, const char *format, ...)
{
	char at[INSTANT_BYTES], what[768];
	va_list args;

	if (replay->departure[0]) {
		return;
	}
	va_start(args, format);
	vsnprintf(what, sizeof(what), format, args);
	va_end(args);
	if (line->event_ns) {
		instant_format(at, line->event_ns);
	} else {
		snprintf(at, sizeof(at), "at the start");
	}
	snprintf(replay->departure, sizeof(replay->departure), "%s:%u: not as then (%s): %s",
			replay->path, line->number, at, what);
}

const char *replay_departure(const struct replay *replay)
{
	return replay->departure[0] ? replay->departure : NULL;
}

/* --- reading --------------------------------------------------------------------------------- */

static void forget(struct replay *replay)
{
	arena_release(&replay->texts);
	replay->n = 0;
	replay->first_ns = replay->last_ns = 0;
}

/* What all lines have; taken off, so that the rest is read strictly. */
static bool take_head(const struct complaint *complaint, json_t *object, uint64_t *event_ns,
		char *what, size_t size)
{
	const char *log, *kind;
	json_error_t error;
	json_int_t event;
	double at;

	if (json_unpack_ex(object, &error, 0, "{s:s, s:F, s:I, s:s}", "log", &log, "at", &at,
			    "event_ns", &event, "do", &kind) != 0) {
		return complain(complaint, "no line of a decision log: %s", error.text);
	}
	if (strcmp(log, DECISIONS_FORMAT) != 0) {
		return complain(complaint, "of another kind, \"%s\": expected \"%s\"", log,
				DECISIONS_FORMAT);
	}
	if (event < 0) {
		return complain(complaint, "a negative time");
	}
	snprintf(what, size, "%s", kind);
	*event_ns = (uint64_t)event;
	json_object_del(object, "log");
	json_object_del(object, "at");
	json_object_del(object, "event_ns");
	json_object_del(object, "do");
	return true;
}

/* A wrong line: where, and what. */
static bool complain_line(const struct complaint *complaint, uint32_t line, const char *what)
{
	return complain(complaint, "line %u: %s", line, what);
}

static bool take_line(const struct complaint *complaint, const char *text, size_t length,
		struct line *line, struct arena *memory)
{
	char wrong[512] = "", what[64];
	const struct complaint inner = {.path = "", .text = wrong, .size = sizeof(wrong)};
	json_error_t error;
	json_t *object = json_loadb(text, length, JSON_REJECT_DUPLICATES, &error);
	bool good;

	if (!object) {
		return complain_line(complaint, line->number, error.text);
	}
	good = take_head(&inner, object, &line->event_ns, what, sizeof(what)) &&
	       inputs_read(&inner, what, object, &line->input, memory);
	json_decref(object);
	/* The complaint begins with the name of no file. */
	return good || complain_line(complaint, line->number, wrong + strspn(wrong, ": "));
}

/* Where another run begins, the ones before it are forgotten. */
static bool add_line(
		const struct complaint *complaint, struct replay *replay, const struct line *line)
{
	if (replay->n == 0 && line->input.kind != INPUT_BEGIN) {
		return complain_line(complaint, line->number, "no run begins before it");
	}
	if (line->input.kind == INPUT_FIRST) {
		replay->first_ns = line->event_ns;
	} else if (line->event_ns < replay->last_ns) {
		return complain_line(complaint, line->number, "earlier than the line before");
	} else {
		replay->last_ns = line->event_ns;
	}
	if (!array_reserve(&replay->lines, &replay->room, replay->n + 1)) {
		return complain_line(complaint, line->number, "out of memory");
	}
	replay->lines[replay->n++] = *line;
	return true;
}

static bool take_lines(const struct complaint *complaint, FILE *in, struct replay *replay)
{
	struct line line = {.number = 0};
	char *text = NULL;
	size_t size = 0;
	ssize_t length;
	bool good = true;

	while (good && (length = getline(&text, &size, in)) >= 0) {
		line.number++;
		if (length > (ssize_t)MAX_LINE) {
			good = complain_line(complaint, line.number, "too long");
			break;
		}
		good = take_line(complaint, text, (size_t)length, &line, &replay->texts);
		if (good && line.input.kind == INPUT_BEGIN) {
			forget(replay);
		}
		good = good && add_line(complaint, replay, &line);
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
		free(replay->lines);
		free(replay->path);
		free(replay);
	}
}

bool replay_clock(const struct replay *replay, uint32_t index, uint8_t uuid[16], int64_t *offset_ns)
{
	for (uint32_t i = 0; i < replay->n; i++) {
		const struct engine_input *input = &replay->lines[i].input;

		if (input->kind == INPUT_CLOCK && index-- == 0) {
			memcpy(uuid, input->clock.uuid, sizeof(input->clock.uuid));
			*offset_ns = input->clock.offset_ns;
			return true;
		}
	}
	return false;
}

/* --- telling the engine ---------------------------------------------------------------------- */

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
static void give_order(struct replay *replay, struct engine *engine, const struct line *line)
{
	const struct step_order *order = engine_next_order(engine), *then = &line->input.order;

	if (!order) {
		depart(replay, line, "step %u was %s then, and is not now", then->step,
				then->undo ? "undone" : "carried out");
	} else if (!is_same(order, then)) {
		depart(replay, line,
				"step %u was %s then, with %u events, the first %s; now step %u is "
				"%s, with %u events, the first %s",
				then->step, then->undo ? "undone" : "carried out", then->n,
				then->n ? then->events[0].name : "none", order->step,
				order->undo ? "undone" : "carried out", order->n,
				order->n ? order->events[0].name : "none");
	}
}

/* The file may have been written anew since, so only the person knows where that profile is. */
static void give_profile(struct replay *replay, struct engine *engine, const struct line *line)
{
	const char *file = line->input.text;

	if (line->event_ns) {
		depart(replay, line, "the profile %s was read while the run went on", file);
	} else if (!engine_has_learned(engine)) {
		depart(replay, line,
				"the profile %s was read at the start; give it, as it was, with "
				"--learn=FILE",
				file);
	}
}

static void depart_refused(struct replay *replay, const struct line *line, const char *error)
{
	switch (line->input.kind) {
	case INPUT_DECIDE:
		depart(replay, line, "step %u was decided: %s", line->input.decide.step, error);
		break;
	case INPUT_PROPOSE:
		depart(replay, line, "a point was proposed by hand: %s", error);
		break;
	case INPUT_EDIT:
		depart(replay, line, "a step was edited: %s", error);
		break;
	case INPUT_EXPLAIN:
		depart(replay, line, "group %u was asked to be explained: there is none",
				line->input.number);
		break;
	default:
		depart(replay, line, "%s was told: %s", inputs_name(line->input.kind),
				error[0] ? error : "out of memory");
		break;
	}
}

static void give(struct replay *replay, struct engine *engine)
{
	const struct line *line = &replay->lines[replay->next++];
	char error[256] = "";

	/* No event need be of that time: the live run knew it from the sources. */
	if (line->event_ns > engine_time(engine)) {
		engine_advance(engine, line->event_ns);
	}
	switch (line->input.kind) {
	case INPUT_BEGIN:
	case INPUT_FIRST: /* both, and clocks, are known from the start */
	case INPUT_CLOCK:
		break;
	case INPUT_FINISH:
		replay->finished = true;
		engine_finish(engine);
		break;
	case INPUT_END:
		replay->over = true;
		break;
	case INPUT_ENDED:
		/* Of a session without events the recording may tell no name. */
		(void)engine_input(engine, &line->input, error, sizeof(error));
		break;
	case INPUT_ORDER:
		give_order(replay, engine, line);
		break;
	case INPUT_PROFILE:
		give_profile(replay, engine, line);
		break;
	default:
		if (engine_input(engine, &line->input, error, sizeof(error)) != STATUS_OK) {
			depart_refused(replay, line, error);
		}
		break;
	}
}

/* What was told before that time. */
static void give_until(struct replay *replay, struct engine *engine, uint64_t ts_ns)
{
	while (!replay->over && replay->next < replay->n &&
			replay->lines[replay->next].event_ns < ts_ns) {
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
	const struct line *last = &replay->lines[replay->n - 1];

	if (!replay->any) {
		depart(replay, last, "no event of the recording is of the time of that run");
	}
	while (!replay->over && replay->next < replay->n) {
		give(replay, engine);
	}
	/* A live run that was killed goes on to the end of the recording. */
	if (!replay->over && !replay->finished) {
		engine_finish(engine);
	}
}
