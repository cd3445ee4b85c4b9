/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "output/event_text.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "output/tree_text.h"
#include "pythiatop/ids.h"
#include "pythiatop/text.h"

#define SECOND_NS UINT64_C(1000000000)

void event_text_init(struct event_text *text, FILE *out)
{
	*text = (struct event_text){.out = out};
}

void event_text_release(struct event_text *text)
{
	free(text->value);
	text->value = NULL;
}

static void write_clean(FILE *out, const char *dirty)
{
	char step[TEXT_ESCAPE_BYTES];
	uint32_t code;

	while (text_escape_next(&dirty, step, &code)) {
		fputs(step, out);
	}
}

static void write_time(struct event_text *text, uint64_t ts_ns)
{
	time_t seconds = (time_t)(ts_ns / SECOND_NS);
	struct tm local = {.tm_hour = 0};
	uint64_t since_ns = ts_ns - text->last_ns;

	localtime_r(&seconds, &local);
	fprintf(text->out, "[%02d:%02d:%02d.%09" PRIu64 "] ", local.tm_hour, local.tm_min,
			local.tm_sec, ts_ns % SECOND_NS);
	if (text->last_ns) {
		fprintf(text->out, "(+%" PRIu64 ".%09" PRIu64 ") ", since_ns / SECOND_NS,
				since_ns % SECOND_NS);
	} else {
		fprintf(text->out, "(+?.%s) ", "?????????");
	}
	text->last_ns = ts_ns;
}

static bool has_label(const struct field *field, uint32_t label, uint64_t value)
{
	const struct field_label *range = &field->labels[label];

	if (field->kind == FIELD_INT) {
		return (int64_t)value >= (int64_t)range->lower &&
		       (int64_t)value <= (int64_t)range->upper;
	}
	return value >= range->lower && value <= range->upper;
}

static void write_labels(FILE *out, const struct field *field, uint64_t value)
{
	const char *between = "";

	for (uint32_t i = 0; i < field->n_labels; i++) {
		if (has_label(field, i, value)) {
			fprintf(out, "%s\"", between);
			write_clean(out, field->labels[i].name);
			fputs("\"", out);
			between = ", ";
		}
	}
	if (!between[0]) {
		fputs("<unknown>", out);
	}
}

static void write_binary(FILE *out, uint64_t value)
{
	int bit = 63;

	fputs("0b", out);
	while (bit > 0 && !(value >> bit & 1)) {
		bit--;
	}
	for (; bit >= 0; bit--) {
		fputc(value >> bit & 1 ? '1' : '0', out);
	}
}

static void write_integer(FILE *out, const struct field *field, uint64_t value)
{
	switch (field->base) {
	case 2:
		write_binary(out, value);
		break;
	case 8:
		fprintf(out, "0%" PRIo64, value);
		break;
	case 16:
		fprintf(out, "0x%" PRIX64, value);
		break;
	default:
		if (field->kind == FIELD_INT) {
			fprintf(out, "%" PRId64, (int64_t)value);
		} else {
			fprintf(out, "%" PRIu64, value);
		}
		break;
	}
}

static void write_number(FILE *out, const struct field *field, uint64_t value)
{
	if (field->n_labels == 0) {
		write_integer(out, field, value);
		return;
	}
	fputs("( ", out);
	write_labels(out, field, value);
	fputs(" : container = ", out);
	write_integer(out, field, value);
	fputs(" )", out);
}

static size_t print_bytes(char *out, size_t size, const struct field *field, const char *bytes,
		uint32_t length)
{
	return field->kind == FIELD_TREE ? tree_text(out, size, bytes, length, field->base)
					 : quoted_text(out, size, bytes);
}

/* Strings and trees: the first try tells how much room it takes. */
static bool write_bytes(struct event_text *text, const struct event *event, uint32_t index,
		const struct field *field)
{
	uint32_t length;
	const char *bytes = event_bytes(event, index, &length);
	size_t size;

	if (!bytes) {
		return true;
	}
	size = print_bytes(text->value, text->value_size, field, bytes, length) + 1;
	if (size > text->value_size) {
		char *value = realloc(text->value, size * 2);

		if (!value) {
			errno = ENOMEM;
			return false;
		}
		text->value = value;
		text->value_size = size * 2;
		print_bytes(value, size * 2, field, bytes, length);
	}
	fputs(text->value, text->out);
	return true;
}

struct walk {
	const struct event_type *type;
	const struct event *event;
	enum field_scope scope;
	uint32_t next; /* field */
};

/* The next field whose name begins with the first n letters of `prefix`; absent ones are not said.
 */
static const struct field *walk_next(struct walk *walk, const char *prefix, size_t n)
{
	for (; walk->next < walk->type->n_fields; walk->next++) {
		const struct field *field = &walk->type->fields[walk->next];
		bool is_text = field->kind == FIELD_STRING || field->kind == FIELD_TREE;
		uint32_t length;

		if (field->scope == walk->scope &&
				(!is_text || event_bytes(walk->event, walk->next, &length))) {
			return strncmp(field->name, prefix, n) == 0 ? field : NULL;
		}
	}
	return NULL;
}

/* "{ a = 1, b = { c = 2 } }": member c of b is the field b.c. */
static bool write_members(struct event_text *text, struct walk *walk, const char *prefix, size_t n)
{
	const char *between = " ";
	const struct field *field;
	bool done = true;

	fputs("{", text->out);
	while (done && (field = walk_next(walk, prefix, n))) {
		const char *rest = field->name + n, *dot = strchr(rest, '.');
		char name[256];

		snprintf(name, sizeof(name), "%.*s",
				(int)(dot ? (size_t)(dot - rest) : strlen(rest)), rest);
		fputs(between, text->out);
		write_clean(text->out, name);
		fputs(" = ", text->out);
		between = ", ";
		if (dot) {
			done = write_members(
					text, walk, field->name, (size_t)(dot + 1 - field->name));
		} else if (field->kind == FIELD_STRING || field->kind == FIELD_TREE) {
			done = write_bytes(text, walk->event, walk->next++, field);
		} else if (field->kind == FIELD_DOUBLE) {
			fprintf(text->out, "%g", event_double(walk->event, walk->next++));
		} else {
			write_number(text->out, field, walk->event->slots[walk->next]);
			walk->next++;
		}
	}
	fputs(" }", text->out);
	return done;
}

static bool has_context(const struct event_type *type)
{
	for (uint32_t i = 0; i < type->n_fields; i++) {
		if (type->fields[i].scope == SCOPE_CONTEXT) {
			return true;
		}
	}
	return false;
}

bool event_text_write(struct event_text *text, const struct event *event,
		const struct event_type *type, const char *host)
{
	struct walk context = {type, event, SCOPE_CONTEXT, 0};
	struct walk payload = {type, event, SCOPE_PAYLOAD, 0};
	bool done = true;

	write_time(text, event->ts_ns);
	write_clean(text->out, host);
	fputs(host[0] ? " " : "", text->out);
	write_clean(text->out, type->name);
	fputs(": ", text->out);
	if (event->cpu != CPU_NONE) {
		fprintf(text->out, "{ cpu_id = %" PRIu32 " }, ", event->cpu);
	}
	if (has_context(type)) {
		done = write_members(text, &context, "", 0);
		fputs(", ", text->out);
	}
	done = done && write_members(text, &payload, "", 0);
	fputs("\n", text->out);
	return done && !ferror(text->out);
}
