/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "json.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "json_parts.h"

bool fragment_fail(struct fragment *fragment, const char *what, const char *name)
{
	if (!fragment->failed) {
		snprintf(fragment->error, fragment->error_room, "metadata fragment %u: %s%s%s",
				fragment->number, what, name[0] ? ": " : "", name);
	}
	fragment->failed = true;
	return false;
}

void *fragment_alloc(struct fragment *fragment, size_t size)
{
	void *memory = arena_alloc(&fragment->document->arena, size);

	if (!memory) {
		fragment_fail(fragment, "out of memory", "");
	}
	return memory;
}

const char *fragment_copy(struct fragment *fragment, const char *text)
{
	const char *copy = arena_text(&fragment->document->arena, text);

	if (!copy) {
		fragment_fail(fragment, "out of memory", "");
	}
	return copy ? copy : "";
}

bool fragment_number(const json_t *value, uint64_t *number)
{
	char *end;

	if (json_is_integer(value)) {
		*number = (uint64_t)json_integer_value(value);
		return true;
	}
	if (!json_is_string(value) || !isdigit((unsigned char)json_string_value(value)[0])) {
		return false;
	}
	*number = strtoull(json_string_value(value), &end, 10);
	return *end == '\0';
}

uint64_t fragment_count(
		struct fragment *fragment, const json_t *of, const char *name, uint64_t otherwise)
{
	const json_t *value = json_object_get(of, name);
	uint64_t number;

	if (!value) {
		return otherwise;
	}
	if (!fragment_number(value, &number) ||
			(json_is_integer(value) && json_integer_value(value) < 0)) {
		fragment_fail(fragment, "not a number from 0 on", name);
		return otherwise;
	}
	return number;
}

const char *fragment_text(const json_t *of, const char *name, const char *otherwise)
{
	const char *text = json_string_value(json_object_get(of, name));

	return text ? text : otherwise;
}

/* --- Fragments ----------------------------------------------------------------------------------
 */

static bool take_preamble(struct fragment *fragment, const json_t *object)
{
	if (fragment_count(fragment, object, "version", 0) != 2) {
		return fragment_fail(fragment, "a version of CTF other than 2", "");
	}
	fragment->document->has_preamble = true;
	fragment->document->metadata.version = 2;
	return true;
}

static bool take_alias(struct fragment *fragment, const json_t *object)
{
	struct document *document = fragment->document;
	const char *name = fragment_text(object, "name", "");
	struct ctf_type *type = fragment_type(fragment, json_object_get(object, "field-class"));

	if (!type) {
		return false;
	}
	if (!name[0] || strlen(name) >= NAME_BYTES || document->n_aliases == TSDL_MAX_NAMES) {
		return fragment_fail(fragment, "an alias without a name, or too many", name);
	}
	if (!array_reserve(&document->aliases, &document->aliases_room, document->n_aliases + 1)) {
		return fragment_fail(fragment, "out of memory", "");
	}
	snprintf(document->aliases[document->n_aliases].name, NAME_BYTES, "%s", name);
	document->aliases[document->n_aliases++].type = type;
	return true;
}

/* A structure that the fragment may have. */
static struct ctf_type *scope_of(struct fragment *fragment, const json_t *object, const char *name)
{
	const json_t *class = json_object_get(object, name);
	struct ctf_type *type = class ? fragment_type(fragment, class) : NULL;

	if (type && type->kind != CTF_STRUCT) {
		fragment_fail(fragment, "not a structure", name);
	}
	return type;
}

static bool take_environment(struct fragment *fragment, json_t *environment)
{
	const char *name;
	json_t *value;

	json_object_foreach(environment, name, value)
	{
		struct ctf_variable *variable = fragment_alloc(fragment, sizeof(*variable));

		if (!variable) {
			return false;
		}
		variable->name = fragment_copy(fragment, name);
		variable->text = json_is_string(value)
						 ? fragment_copy(fragment, json_string_value(value))
						 : "";
		*fragment->document->last_variable = variable;
		fragment->document->last_variable = &variable->next;
	}
	return true;
}

static bool take_trace(struct fragment *fragment, json_t *object)
{
	struct ctf_metadata *metadata = &fragment->document->metadata;

	metadata->packet_header = scope_of(fragment, object, "packet-header-field-class");
	return take_environment(fragment, json_object_get(object, "environment")) &&
	       !fragment->failed;
}

static bool take_clock(struct fragment *fragment, const json_t *object)
{
	const json_t *offset = json_object_get(object, "offset-from-origin");
	struct ctf_clock *clock = fragment_alloc(fragment, sizeof(*clock));

	if (!clock) {
		return false;
	}
	/* Before version 2.0 of the specification a clock's name was what it was found by. */
	clock->name = fragment_copy(
			fragment, fragment_text(object, "id", fragment_text(object, "name", "")));
	clock->uuid = fragment_copy(fragment, fragment_text(object, "uid", ""));
	clock->hz = fragment_count(fragment, object, "frequency", 0);
	clock->offset_s = json_integer_value(json_object_get(offset, "seconds"));
	clock->offset_cycles = fragment_count(fragment, offset, "cycles", 0);
	if (clock->hz == 0) {
		return fragment_fail(fragment, "a clock that stands still", clock->name);
	}
	*fragment->document->last_clock = clock;
	fragment->document->last_clock = &clock->next;
	return !fragment->failed;
}

static bool take_stream(struct fragment *fragment, const json_t *object)
{
	struct ctf_stream_class *stream = fragment_alloc(fragment, sizeof(*stream));

	if (!stream) {
		return false;
	}
	stream->id = fragment_count(fragment, object, "id", 0);
	fragment->clock = fragment_text(object, "default-clock-class-id",
			fragment_text(object, "default-clock-class-name", NULL));
	stream->clock = fragment->clock ? fragment_copy(fragment, fragment->clock) : NULL;
	stream->packet_context = scope_of(fragment, object, "packet-context-field-class");
	stream->event_header = scope_of(fragment, object, "event-record-header-field-class");
	stream->event_context =
			scope_of(fragment, object, "event-record-common-context-field-class");
	*fragment->document->last_stream = stream;
	fragment->document->last_stream = &stream->next;
	return !fragment->failed;
}

static bool take_event(struct fragment *fragment, const json_t *object)
{
	struct ctf_event_class *event = fragment_alloc(fragment, sizeof(*event));

	if (!event) {
		return false;
	}
	event->id = fragment_count(fragment, object, "id", 0);
	event->stream_id = fragment_count(fragment, object, "data-stream-class-id", 0);
	event->has_stream_id = true;
	event->name = fragment_copy(fragment, fragment_text(object, "name", ""));
	event->context = scope_of(fragment, object, "specific-context-field-class");
	event->fields = scope_of(fragment, object, "payload-field-class");
	*fragment->document->last_event = event;
	fragment->document->last_event = &event->next;
	return !fragment->failed;
}

static bool take_fragment(struct fragment *fragment, json_t *object)
{
	const char *type = fragment_text(object, "type", "");

	if (!strcmp(type, "preamble")) {
		return take_preamble(fragment, object);
	}
	if (!fragment->document->has_preamble) {
		return fragment_fail(fragment, "no preamble before it", type);
	}
	if (json_object_get(object, "extensions")) {
		return fragment_fail(fragment, "an extension of CTF 2", type);
	}
	if (!strcmp(type, "field-class-alias")) {
		return take_alias(fragment, object);
	}
	if (!strcmp(type, "trace-class")) {
		return take_trace(fragment, object);
	}
	if (!strcmp(type, "clock-class")) {
		return take_clock(fragment, object);
	}
	if (!strcmp(type, "data-stream-class")) {
		return take_stream(fragment, object);
	}
	if (!strcmp(type, "event-record-class")) {
		return take_event(fragment, object);
	}
	return fragment_fail(fragment, "of no known type", type);
}

/* --- Texts --------------------------------------------------------------------------------------
 */

#define DIGITS 19 /* of the largest number that jansson takes, which has a sign bit */

/* A copy with quotes around the numbers that may be too large. NULL if out of memory. */
static char *quote_numbers(const char *text, size_t length, size_t *quoted)
{
	char *copy = malloc(length + length / 8 + 3);
	size_t to = 0;
	bool in_text = false;

	for (size_t i = 0; copy && i < length; i++) {
		size_t n = 0;

		while (!in_text && i + n < length && isdigit((unsigned char)text[i + n])) {
			n++;
		}
		if (n > 0) {
			bool is_large = n >= DIGITS && (i == 0 || !strchr("-.", text[i - 1]));

			/* Two quotes for at least 19 digits: there is room. */
			if (is_large) {
				copy[to++] = '"';
			}
			memcpy(copy + to, text + i, n);
			to += n;
			if (is_large) {
				copy[to++] = '"';
			}
			i += n - 1;
			continue;
		}
		if (in_text && text[i] == '\\' && i + 1 < length) {
			copy[to++] = text[i++];
		} else if (text[i] == '"') {
			in_text = !in_text;
		}
		copy[to++] = text[i];
	}
	*quoted = to;
	return copy;
}

static bool read_fragment(struct fragment *fragment, const char *text, size_t length)
{
	json_error_t why;
	size_t quoted;
	char *copy = quote_numbers(text, length, &quoted);
	json_t *object;
	bool done;

	if (!copy) {
		return fragment_fail(fragment, "out of memory", "");
	}
	object = json_loadb(copy, quoted, JSON_REJECT_DUPLICATES, &why);
	free(copy);
	if (!object) {
		return fragment_fail(fragment, "not JSON", why.text);
	}
	done = json_is_object(object) ? take_fragment(fragment, object)
				      : fragment_fail(fragment, "not an object", "");
	json_decref(object);
	return done;
}

static bool is_blank(const char *text, size_t length)
{
	while (length > 0 && isspace((unsigned char)text[length - 1])) {
		length--;
	}
	return length == 0;
}

bool json_append(struct ctf_metadata *metadata, const char *text, size_t length, char *error,
		size_t error_room)
{
	struct document *document = (struct document *)metadata; /* its first member */
	const char *end = text + length;

	document->bytes += length;
	while (text < end) {
		struct fragment fragment = {.document = document,
				.number = document->lines,
				.error = error,
				.error_room = error_room};
		const char *next = memchr(text, CTF_JSON_BEGIN, (size_t)(end - text));
		size_t size = (size_t)((next ? next : end) - text);

		if (document->bytes > TSDL_MAX_BYTES) {
			return fragment_fail(&fragment, "too long", "");
		}
		if (!is_blank(text, size)) {
			if (!read_fragment(&fragment, text, size)) {
				return false;
			}
			document->lines++;
		}
		text += size + (next != NULL);
	}
	return true;
}

size_t json_whole(const char *text, size_t length)
{
	const char *last;

	if (length == 0 || text[length - 1] == '\n') {
		return length;
	}
	last = memrchr(text, CTF_JSON_BEGIN, length);
	return last ? (size_t)(last - text) : 0;
}
