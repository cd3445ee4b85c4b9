/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "run/inputs.h"

#include <ctype.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* How a value lies in memory, and how JSON has it. */
enum field_type {
	FIELD_END = 0,
	NUMBER,  /* uint32_t */
	COUNT,   /* uint64_t, at most what JSON's integers hold */
	INTEGER, /* int64_t */
	REAL,
	AMOUNT, /* a real number that is not negative */
	FLAG,
	TEXT,
	NAME,  /* an enumeration, by its names */
	TEXTS, /* an array of text */
	ROWS,  /* an array of objects */
	UUID,  /* 32 hex digits */
};

struct field {
	const char *name;
	enum field_type type;
	size_t at;
	size_t n_at;              /* TEXTS, ROWS: of their number */
	const char *const *names; /* NAME: ends in NULL; a value without a name is never written */
	const struct field *row;  /* ROWS: of one of them */
	size_t row_bytes;
	bool optional; /* left out where there is none; kept as it was where it is missing */
};

#define NAMED_STRATEGY(id, name, help) name,
static const char *const modes[] = {STEP_MODE_NAMES, NULL};
static const char *const strategies[] = {PYTHIATOP_STRATEGIES(NAMED_STRATEGY) NULL};
static const char *const decisions[] = {"approve", "reject", "undo", NULL};
static const char *const deciders[] = {STEP_BY_NAMES, NULL};

static const struct field offered[] = {
		{"name", TEXT, offsetof(struct step_offer, name)},
		{"kernel", FLAG, offsetof(struct step_offer, kernel)},
		{"bounded", FLAG, offsetof(struct step_offer, bounded), .optional = true},
		{"fields", TEXTS, offsetof(struct step_offer, fields),
				.n_at = offsetof(struct step_offer, n_fields)},
		{NULL},
};
static const struct field process[] = {
		{"pid", INTEGER, offsetof(struct step_process, pid)},
		{"name", TEXT, offsetof(struct step_process, name)},
		{NULL},
};
static const struct field event[] = {
		{"host", TEXT, offsetof(struct step_event, host)},
		{"name", TEXT, offsetof(struct step_event, name)},
		{"kernel", FLAG, offsetof(struct step_event, kernel)},
		{"enable", FLAG, offsetof(struct step_event, enable)},
		{"filter", TEXT, offsetof(struct step_event, filter), .optional = true},
		{NULL},
};

#define AT(member) offsetof(struct engine_input, member)
#define ROWS_OF(member, number, rows, type)                                                        \
	ROWS, AT(member), .n_at = AT(number), .row = (rows), .row_bytes = sizeof(type)

static const struct {
	const char *name;
	struct field fields[6];
} kinds[INPUT_KINDS] = {
		[INPUT_MODE] = {"mode", {{"mode", NAME, AT(mode), .names = modes}}},
		[INPUT_STRATEGY] = {"strategy",
				{{"strategy", TEXT, AT(text), .names = strategies}}},
		[INPUT_BUDGET] = {"budget",
				{{"events_per_s", AMOUNT, AT(budget.events_per_s)},
						{"bytes_per_s", AMOUNT, AT(budget.bytes_per_s)},
						{"cpu_share", AMOUNT, AT(budget.cpu_share)},
						{"learn_events_per_s", AMOUNT,
								AT(budget.learn_events_per_s)},
						{"points", NUMBER, AT(budget.points)}}},
		[INPUT_OFFER] = {"offer",
				{{"host", TEXT, AT(offer.host)},
						{"events", ROWS_OF(offer.events, offer.n, offered,
									   struct step_offer)}}},
		[INPUT_PROCESSES] = {"processes",
				{{"host", TEXT, AT(processes.host)},
						{"processes", ROWS_OF(processes.list, processes.n,
									      process,
									      struct
									      step_process)}}},
		[INPUT_DECIDE] = {"decide",
				{{"step", NUMBER, AT(decide.step)},
						{"decision", NAME, AT(decide.decision),
								.names = decisions},
						{"by", NAME, AT(decide.by), .names = deciders}}},
		[INPUT_EDIT] = {"edit",
				{{"step", NUMBER, AT(edit.step)}, {"part", NUMBER, AT(edit.part)},
						{"keep", FLAG, AT(edit.keep)}}},
		[INPUT_PROPOSE] = {"propose",
				{{"context", NUMBER, AT(propose.context)},
						{"enable", FLAG, AT(propose.enable)}}},
		[INPUT_EXPLAIN] = {"explain", {{"group", NUMBER, AT(number)}}},
		[INPUT_UNDO_ALL] = {.name = "undo_all"},
		[INPUT_EPOCH] = {.name = "epoch"},
		[INPUT_CALIBRATE] = {"calibrate",
				{{"host", TEXT, AT(calibrate.host)},
						{"cpu_ns", REAL, AT(calibrate.cpu_ns)}}},
		[INPUT_HOST_GONE] = {"host_gone", {{"host", TEXT, AT(text)}}},
		[INPUT_SILENT] = {"silent",
				{{"host", TEXT, AT(silent.host)}, {"is", FLAG, AT(silent.is)}}},
		[INPUT_ENDED] = {"ended", {{"host", TEXT, AT(ended.host)},
							  {"session", TEXT, AT(ended.session)}}},
		[INPUT_OUTCOME] = {"outcome",
				{{"step", NUMBER, AT(outcome.step)},
						{"undo", FLAG, AT(outcome.undo)},
						{"ok", FLAG, AT(outcome.ok)},
						{"error", TEXT, AT(outcome.error)},
						{"answered_ns", COUNT, AT(outcome.answered_ns),
								.optional = true}}},
		[INPUT_WATCH] = {"watch",
				{{"step", NUMBER, AT(watch.step)},
						{"discarded", COUNT, AT(watch.discarded)},
						{"events_per_s", AMOUNT,
								AT(watch.actual.events_per_s)},
						{"bytes_per_s", REAL, AT(watch.actual.bytes_per_s),
								.optional = true}}},
		[INPUT_BEGIN] = {.name = "begin"},
		[INPUT_FIRST] = {.name = "first"},
		[INPUT_CLOCK] = {"clock",
				{{"uuid", UUID, AT(clock.uuid)},
						{"offset_ns", INTEGER, AT(clock.offset_ns)}}},
		[INPUT_PROFILE] = {"profile", {{"file", TEXT, AT(text)}}},
		[INPUT_ORDER] = {"order",
				{{"step", NUMBER, AT(order.step)}, {"undo", FLAG, AT(order.undo)},
						{"events", ROWS_OF(order.events, order.n, event,
									   struct step_event)}}},
		[INPUT_FINISH] = {.name = "finish"},
		[INPUT_END] = {.name = "end"},
};

const char *inputs_name(enum input_kind kind)
{
	return kinds[kind].name;
}

/* --- writing --------------------------------------------------------------------------------- */

static json_t *write_fields(const struct field *fields, const char *from);

static json_t *write_array(const struct field *field, const char *from)
{
	const char *const *texts = *(const char *const *const *)(from + field->at);
	const char *rows = *(const char *const *)(from + field->at);
	uint32_t n = *(const uint32_t *)(from + field->n_at);
	json_t *array = json_array();

	for (uint32_t i = 0; i < n; i++) {
		json_array_append_new(array,
				field->type == TEXTS
						? json_file_text(texts[i])
						: write_fields(field->row,
								  rows + i * field->row_bytes));
	}
	return array;
}

static json_t *write_uuid(const uint8_t *uuid)
{
	char text[2 * INPUT_UUID_BYTES + 1];

	for (uint32_t i = 0; i < INPUT_UUID_BYTES; i++) {
		snprintf(text + 2 * i, 3, "%02x", uuid[i]);
	}
	return json_string(text);
}

/* NULL: there is no value, which is left out. */
static json_t *write_value(const struct field *field, const char *from)
{
	const void *at = from + field->at;
	const char *text;

	switch (field->type) {
	case NUMBER:
		return json_integer(*(const uint32_t *)at);
	case COUNT:
		return json_integer((json_int_t) * (const uint64_t *)at);
	case INTEGER:
		return json_integer(*(const int64_t *)at);
	case REAL:
	case AMOUNT:
		return json_real(*(const double *)at);
	case FLAG:
		return *(const bool *)at || !field->optional ? json_boolean(*(const bool *)at)
							     : NULL;
	case NAME:
		return json_string(field->names[*(const int *)at]);
	case UUID:
		return write_uuid(at);
	case TEXT:
		text = *(const char *const *)at;
		return text || !field->optional ? json_file_text(text) : NULL;
	default:
		return write_array(field, from);
	}
}

static json_t *write_fields(const struct field *fields, const char *from)
{
	json_t *object = json_object();

	for (; fields->name; fields++) {
		json_t *value = write_value(fields, from);

		if (value) {
			json_object_set_new(object, fields->name, value);
		}
	}
	return object;
}

json_t *inputs_write(const struct engine_input *input)
{
	return write_fields(kinds[input->kind].fields, (const char *)input);
}

/* --- reading --------------------------------------------------------------------------------- */

/* Where something is wrong: "event 3: ", or "" in the line itself. */
struct place {
	const struct complaint *complaint;
	struct arena *memory;
	const char *row; /* "": none */
	size_t index;
};

static bool wrong(const struct place *place, const struct field *field, const char *what)
{
	if (place->row[0]) {
		return complain(place->complaint, "event %zu: %s: %s", place->index, field->name,
				what);
	}
	return complain(place->complaint, "%s: %s", field->name, what);
}

static bool read_fields(
		const struct place *place, const struct field *fields, json_t *object, char *to);

static bool read_text(const struct place *place, const struct field *field, json_t *value,
		const char **to)
{
	if (!json_is_string(value)) {
		return wrong(place, field, "expected text");
	}
	for (uint32_t i = 0; field->names; i++) {
		if (!field->names[i]) {
			return complain(place->complaint, "\"%s\" is not known here",
					json_string_value(value));
		}
		if (strcmp(field->names[i], json_string_value(value)) == 0) {
			break;
		}
	}
	*to = arena_text(place->memory, json_string_value(value));
	return *to || wrong(place, field, "out of memory");
}

static bool read_name(const struct place *place, const struct field *field, json_t *value, int *to)
{
	const char *text = json_is_string(value) ? json_string_value(value) : NULL;

	for (*to = 0; text && field->names[*to]; (*to)++) {
		if (strcmp(text, field->names[*to]) == 0) {
			return true;
		}
	}
	return text ? complain(place->complaint, "\"%s\" is not known here", text)
		    : wrong(place, field, "expected a name");
}

static bool read_uuid(
		const struct place *place, const struct field *field, json_t *value, uint8_t *to)
{
	const char *text = json_is_string(value) ? json_string_value(value) : "";
	uint32_t i;

	for (i = 0; i < INPUT_UUID_BYTES && isxdigit((unsigned char)text[2 * i]) &&
			isxdigit((unsigned char)text[2 * i + 1]);
			i++) {
		const char digits[] = {text[2 * i], text[2 * i + 1], '\0'};

		to[i] = (uint8_t)strtoul(digits, NULL, 16);
	}
	return (i == INPUT_UUID_BYTES && text[2 * i] == '\0') ||
	       wrong(place, field, "expected a UUID of 32 hex digits");
}

static bool read_texts(
		const struct place *place, const struct field *field, json_t *value, char *to)
{
	const char **texts =
			arena_alloc(place->memory, (json_array_size(value) + 1) * sizeof(*texts));
	json_t *item;
	size_t i;

	json_array_foreach(value, i, item)
	{
		if (!texts || !read_text(place, field, item, &texts[i])) {
			return wrong(place, field, "expected an array of names");
		}
	}
	*(const char ***)(to + field->at) = texts;
	*(uint32_t *)(to + field->n_at) = (uint32_t)i;
	return json_is_array(value) || wrong(place, field, "expected an array of names");
}

static bool read_rows(const struct place *place, const struct field *field, json_t *value, char *to)
{
	char *rows = arena_alloc(place->memory, (json_array_size(value) + 1) * field->row_bytes);
	struct place inner = *place;
	json_t *item;

	if (!json_is_array(value) || !rows) {
		return wrong(place, field, rows ? "expected an array" : "out of memory");
	}
	inner.row = field->name;
	json_array_foreach(value, inner.index, item)
	{
		if (!read_fields(&inner, field->row, item, rows + inner.index * field->row_bytes)) {
			return false;
		}
	}
	*(char **)(to + field->at) = rows;
	*(uint32_t *)(to + field->n_at) = (uint32_t)inner.index;
	return true;
}

static bool read_integer(const struct place *place, const struct field *field, json_t *value,
		json_int_t least, json_int_t most, json_int_t *to)
{
	char text[80];

	*to = json_integer_value(value);
	if (json_is_integer(value) && *to >= least && *to <= most) {
		return true;
	}
	snprintf(text, sizeof(text), "expected a whole number from %lld to %lld", (long long)least,
			(long long)most);
	return wrong(place, field, text);
}

static bool read_value(
		const struct place *place, const struct field *field, json_t *value, char *to)
{
	void *at = to + field->at;
	json_int_t integer;

	switch (field->type) {
	case NUMBER:
		if (!read_integer(place, field, value, 0, UINT32_MAX, &integer)) {
			return false;
		}
		*(uint32_t *)at = (uint32_t)integer;
		return true;
	case COUNT:
		if (!read_integer(place, field, value, 0, INT64_MAX, &integer)) {
			return false;
		}
		*(uint64_t *)at = (uint64_t)integer;
		return true;
	case INTEGER:
		*(int64_t *)at = json_integer_value(value);
		return json_is_integer(value) || wrong(place, field, "expected a whole number");
	case REAL:
	case AMOUNT:
		*(double *)at = json_number_value(value);
		return (json_is_number(value) && (field->type == REAL || *(double *)at >= 0)) ||
		       wrong(place, field,
				       field->type == REAL ? "expected a number"
							   : "expected a number that is not "
							     "negative");
	case FLAG:
		*(bool *)at = json_is_true(value);
		return json_is_boolean(value) || wrong(place, field, "expected true or false");
	case TEXT:
		return read_text(place, field, value, at);
	case NAME:
		return read_name(place, field, value, at);
	case TEXTS:
		return read_texts(place, field, value, to);
	case UUID:
		return read_uuid(place, field, value, at);
	default:
		return read_rows(place, field, value, to);
	}
}

static bool read_fields(
		const struct place *place, const struct field *fields, json_t *object, char *to)
{
	const struct field *field;
	size_t n = 0;

	for (field = fields; field->name; field++) {
		json_t *value = json_object_get(object, field->name);

		n += value != NULL;
		if (!value && !field->optional) {
			return wrong(place, field, "missing");
		}
		if (value && !read_value(place, field, value, to)) {
			return false;
		}
	}
	return n == json_object_size(object) ||
	       complain(place->complaint, "there are members that are not known here");
}

bool inputs_read(const struct complaint *complaint, const char *name, json_t *object,
		struct engine_input *input, struct arena *memory)
{
	const struct place place = {.complaint = complaint, .memory = memory, .row = ""};
	uint32_t kind;

	for (kind = 0; kind < INPUT_KINDS && strcmp(kinds[kind].name, name) != 0; kind++) {
	}
	if (kind == INPUT_KINDS) {
		return complain(complaint, "\"%s\" is not known", name);
	}
	*input = (struct engine_input){.kind = (enum input_kind)kind};
	if (kind == INPUT_WATCH) { /* logs of before tell no bytes */
		input->watch.actual = (struct step_cost){.bytes_per_s = -1, .cpu_share = -1};
	}
	if (!read_fields(&place, kinds[kind].fields, object, (char *)input)) {
		return false;
	}
	for (uint32_t i = 0; kind == INPUT_OFFER && i < input->offer.n; i++) {
		((struct step_offer *)(uintptr_t)input->offer.events)[i].host = input->offer.host;
	}
	return true;
}
