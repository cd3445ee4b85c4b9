/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tsdl.h"

#include <byteswap.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "parser.h"

static struct ctf_type *parse_type(struct parser *p);

static void name_type(struct parser *p, const char *prefix, const char *name, struct ctf_type *type)
{
	bool is_full = p->n_aliases == TSDL_MAX_NAMES;

	if (p->failed || is_full ||
			!array_reserve(&p->aliases, &p->aliases_room, p->n_aliases + 1)) {
		parser_fail(p, is_full ? "too many names of types" : "out of memory");
		return;
	}
	snprintf(p->aliases[p->n_aliases].name, NAME_BYTES, "%s%s", prefix, name);
	p->aliases[p->n_aliases++].type = type;
}

static struct ctf_type *find_type(struct parser *p, const char *prefix, const char *name)
{
	char full[NAME_BYTES];
	uint32_t i;

	snprintf(full, sizeof(full), "%s%s", prefix, name);
	for (i = p->n_aliases; i > 0; i--) {
		if (!strcmp(p->aliases[i - 1].name, full)) {
			return p->aliases[i - 1].type;
		}
	}
	parser_fail(p, "a type that is not declared");
	return NULL;
}

/* Words up to something else, one space between them: "unsigned long". */
static void take_type_name(struct parser *p, char name[NAME_BYTES])
{
	name[0] = '\0';
	while (p->token == WORD) {
		/* Of "uint32_t len;" the last word is what is declared. */
		struct parser ahead = *p;
		char quiet[1];

		ahead.error = quiet;
		ahead.error_room = sizeof(quiet);
		parser_next(&ahead);
		if (name[0] && (parser_is(&ahead, ";") || parser_is(&ahead, "[") ||
					       ahead.token == END)) {
			return;
		}
		if (name[0]) {
			parser_add_piece(p, name, " ", 1);
		}
		parser_add_piece(p, name, p->start, p->length);
		parser_next(p);
	}
}

static uint32_t checked_align(struct parser *p, uint64_t align)
{
	if (align == 0 || align > 1u << 16 || (align & (align - 1)) != 0) {
		parser_fail(p, "an alignment has to be a power of two");
		return 1;
	}
	return (uint32_t)align;
}

static struct ctf_type *new_type(struct parser *p, enum ctf_kind kind)
{
	struct ctf_type *type = parser_alloc(p, sizeof(*type));

	if (type) {
		type->kind = (uint8_t)kind;
		type->separator = '.';
		type->align = 1;
		type->base = 10;
		type->depth = 1;
	}
	return type;
}

/* Types are shared by name, so a short text can nest deeper than its braces do. */
static void holds(struct parser *p, struct ctf_type *type, const struct ctf_type *inner)
{
	if (inner && inner->depth >= type->depth) {
		type->depth = (uint8_t)(inner->depth + 1);
	}
	if (type->depth > TSDL_MAX_DEPTH) {
		parser_fail(p, "nested too deep");
	}
}

static uint8_t take_base(struct parser *p)
{
	static const struct {
		const char *word;
		uint8_t base;
	} bases[] = {{"decimal", 10}, {"dec", 10}, {"d", 10}, {"i", 10}, {"u", 10},
			{"hexadecimal", 16}, {"hex", 16}, {"x", 16}, {"X", 16}, {"p", 16},
			{"octal", 8}, {"oct", 8}, {"o", 8}, {"binary", 2}, {"b", 2}};
	size_t i;

	if (p->token == NUMBER) {
		return (uint8_t)parser_number(p);
	}
	for (i = 0; i < sizeof(bases) / sizeof(*bases); i++) {
		if (parser_accept(p, bases[i].word)) {
			return bases[i].base;
		}
	}
	parser_fail(p, "a base that is not known");
	return 10;
}

static enum ctf_order take_order(struct parser *p)
{
	if (parser_accept(p, "native")) {
		return CTF_ORDER_TRACE;
	}
	if (parser_accept(p, "le")) {
		return CTF_ORDER_LITTLE;
	}
	if (parser_accept(p, "be") || parser_accept(p, "network")) {
		return CTF_ORDER_BIG;
	}
	parser_fail(p, "a byte order that is not known");
	return CTF_ORDER_TRACE;
}

static void skip_value(struct parser *p)
{
	while (!p->failed && p->token != END && !parser_is(p, ";") && !parser_is(p, "}")) {
		parser_next(p);
	}
}

/* clock.NAME.value */
static const char *clock_of(struct parser *p, const char *path)
{
	size_t length = path ? strlen(path) : 0;

	if (length <= 12 || strncmp(path, "clock.", 6) || strcmp(path + length - 6, ".value")) {
		return NULL;
	}
	return arena_text_n(&p->document->arena, path + 6, length - 12);
}

/* The attributes of integers, floating point numbers and strings, braces included. */
static void parse_attributes(struct parser *p, struct ctf_type *type)
{
	uint64_t bits = 0, align = 0, exponent = 8, mantissa = 24;
	char name[NAME_BYTES];

	parser_expect(p, "{");
	while (!p->failed && !parser_is(p, "}")) {
		parser_path(p, name);
		parser_expect(p, "=");
		if (!strcmp(name, "size")) {
			bits = parser_number(p);
		} else if (!strcmp(name, "align")) {
			align = checked_align(p, parser_number(p));
		} else if (!strcmp(name, "exp_dig")) {
			exponent = parser_number(p);
		} else if (!strcmp(name, "mant_dig")) {
			mantissa = parser_number(p);
		} else if (!strcmp(name, "signed")) {
			type->is_signed = p->token == NUMBER ? p->number != 0
							     : parser_is(p, "true") ||
									       parser_is(p, "TRUE");
			skip_value(p);
		} else if (!strcmp(name, "base")) {
			type->base = take_base(p);
		} else if (!strcmp(name, "byte_order")) {
			type->order = (uint8_t)take_order(p);
		} else if (!strcmp(name, "encoding")) {
			type->is_text = !parser_is(p, "none");
			skip_value(p);
		} else if (!strcmp(name, "map")) {
			type->clock = clock_of(p, parser_keep_path(p));
		} else {
			skip_value(p);
		}
		parser_expect(p, ";");
	}
	parser_expect(p, "}");
	if (type->kind == CTF_FLOAT) {
		bits = exponent == 8 && mantissa == 24    ? 32
		       : exponent == 11 && mantissa == 53 ? 64
							  : 0;
	}
	if (!p->failed && type->kind != CTF_STRING && (bits == 0 || bits > 64)) {
		parser_fail(p, "a size that numbers cannot have");
		return;
	}
	type->bits = (uint32_t)bits;
	type->align = align ? (uint32_t)align : bits % 8 == 0 ? 8 : 1;
}

/* The arrays of a declared name: what is next to it is the outermost. */
static struct ctf_type *parse_lengths(struct parser *p, struct ctf_type *element)
{
	struct ctf_type *type;

	if (!element || !parser_accept(p, "[")) {
		return element;
	}
	if (++p->depth > TSDL_MAX_DEPTH) {
		parser_fail(p, "nested too deep");
		return NULL;
	}
	type = new_type(p, p->token == NUMBER ? CTF_ARRAY : CTF_SEQUENCE);
	if (!type) {
		return NULL;
	}
	if (type->kind == CTF_ARRAY) {
		if (p->negative) {
			parser_fail(p, "a negative length");
		}
		type->length = parser_number(p);
	} else {
		type->path = parser_keep_path(p);
	}
	parser_expect(p, "]");
	type->of = parse_lengths(p, element);
	type->align = type->of ? type->of->align : 1;
	holds(p, type, type->of);
	p->depth--;
	return type;
}

static void parse_alias(struct parser *p, bool is_typedef)
{
	char name[NAME_BYTES];
	struct ctf_type *type = parse_type(p);

	if (!is_typedef) {
		parser_expect(p, ":=");
	}
	if (p->token == WORD) {
		take_type_name(p, name);
		if (p->token == WORD) { /* the word before ";" belongs to the name here */
			parser_add_piece(p, name, " ", name[0] ? 1 : 0);
			parser_add_piece(p, name, p->start, p->length);
			parser_next(p);
		}
		type = parse_lengths(p, type);
		name_type(p, "", name, type);
	} else {
		parser_fail(p, "a name expected");
	}
	parser_expect(p, ";");
}

/* The members of a structure, or the options of a variant, braces included. */
static void parse_members(struct parser *p, struct ctf_type *type)
{
	struct ctf_member **last = &type->members;
	uint32_t outer = p->n_aliases;

	parser_expect(p, "{");
	while (!p->failed && !parser_is(p, "}")) {
		struct ctf_member *member;
		struct ctf_type *declared;

		if (parser_is(p, "typealias") || parser_is(p, "typedef")) {
			bool is_typedef = parser_is(p, "typedef");

			parser_next(p);
			parse_alias(p, is_typedef);
			continue;
		}
		declared = parse_type(p);
		member = parser_alloc(p, sizeof(*member));
		if (!member || !declared || p->token != WORD) {
			parser_fail(p, "the name of a field expected");
			return;
		}
		member->name = parser_text(p);
		member->type = parse_lengths(p, declared);
		parser_expect(p, ";");
		holds(p, type, member->type);
		if (member->type && type->kind == CTF_STRUCT && member->type->align > type->align) {
			type->align = member->type->align;
		}
		*last = member;
		last = &member->next;
		type->n++;
	}
	parser_expect(p, "}");
	p->n_aliases = outer;
}

static void parse_labels(struct parser *p, struct ctf_type *type)
{
	struct ctf_label **last = &type->labels;
	uint64_t value = 0;

	parser_expect(p, "{");
	while (!p->failed && !parser_is(p, "}")) {
		struct ctf_label *label = parser_alloc(p, sizeof(*label));

		if (!label || (p->token != WORD && p->token != TEXT)) {
			parser_fail(p, "a label expected");
			return;
		}
		label->name = parser_text(p);
		if (parser_accept(p, "=")) {
			value = parser_number(p);
		}
		label->lower = label->upper = value;
		if (parser_accept(p, "...")) {
			label->upper = parser_number(p);
		}
		value = label->upper + 1;
		*last = label;
		last = &label->next;
		type->n++;
		if (!parser_accept(p, ",")) {
			break;
		}
	}
	parser_expect(p, "}");
}

/* struct, variant and enum: a name, a body, or both. */
static struct ctf_type *parse_compound(struct parser *p, enum ctf_kind kind, const char *prefix)
{
	struct ctf_type *type = new_type(p, kind);
	char name[NAME_BYTES] = "";

	if (!type) {
		return NULL;
	}
	if (p->token == WORD) {
		parser_add_piece(p, name, p->start, p->length);
		parser_next(p);
	}
	if (kind == CTF_VARIANT && parser_accept(p, "<")) {
		type->path = parser_keep_path(p);
		parser_expect(p, ">");
	}
	if (kind == CTF_ENUM && parser_accept(p, ":")) {
		type->of = parse_type(p);
	}
	if (!parser_is(p, "{")) {
		struct ctf_type *known = name[0] ? find_type(p, prefix, name) : NULL;

		if (!known) {
			parser_fail(p, "a body expected");
			return NULL;
		}
		if (type->path) { /* a variant that is declared elsewhere gets its tag here */
			const char *path = type->path;

			*type = *known;
			type->path = path;
			return type;
		}
		return known;
	}
	if (kind == CTF_ENUM) {
		type->of = type->of ? type->of : p->failed ? NULL : find_type(p, "", "int");
		parse_labels(p, type);
		if (p->failed || !type->of || type->of->kind != CTF_INTEGER) {
			parser_fail(p, "an enumeration has to be of an integer");
			return NULL;
		}
		type->align = type->of->align;
	} else {
		parse_members(p, type);
	}
	if (kind == CTF_STRUCT && parser_accept(p, "align")) {
		uint32_t align;

		parser_expect(p, "(");
		align = checked_align(p, parser_number(p));
		parser_expect(p, ")");
		type->align = align > type->align ? align : type->align;
	}
	if (name[0]) {
		name_type(p, prefix, name, type);
	}
	return p->failed ? NULL : type;
}

static struct ctf_type *parse_type(struct parser *p)
{
	struct ctf_type *type = NULL;
	char name[NAME_BYTES];

	if (++p->depth > TSDL_MAX_DEPTH) {
		parser_fail(p, "nested too deep");
		return NULL;
	}
	if (parser_accept(p, "integer")) {
		type = new_type(p, CTF_INTEGER);
	} else if (parser_accept(p, "floating_point")) {
		type = new_type(p, CTF_FLOAT);
	} else if (parser_accept(p, "string")) {
		type = new_type(p, CTF_STRING);
	} else if (parser_accept(p, "struct")) {
		type = parse_compound(p, CTF_STRUCT, "struct ");
	} else if (parser_accept(p, "variant")) {
		type = parse_compound(p, CTF_VARIANT, "variant ");
	} else if (parser_accept(p, "enum")) {
		type = parse_compound(p, CTF_ENUM, "enum ");
	} else {
		take_type_name(p, name);
		type = p->failed ? NULL : find_type(p, "", name);
		p->depth--;
		return type;
	}
	if (type && type->kind == CTF_STRING && !parser_is(p, "{")) {
		type->align = 8;
	} else if (type && type->kind <= CTF_STRING) {
		parse_attributes(p, type);
	}
	p->depth--;
	return p->failed ? NULL : type;
}

enum block { TRACE, STREAM, EVENT, CLOCK, OTHER };

struct target { /* what a block's assignments go to */
	struct ctf_metadata *trace;
	struct ctf_stream_class *stream;
	struct ctf_event_class *event;
	struct ctf_clock *clock;
	bool is_environment;
};

static void add_variable(struct parser *p, const char *name)
{
	struct ctf_variable *variable = parser_alloc(p, sizeof(*variable));

	if (variable) {
		variable->name = arena_text(&p->document->arena, name);
		variable->text = p->token == TEXT ? parser_text(p) : "";
		if (!variable->name) {
			parser_fail(p, "out of memory");
			return;
		}
		*p->document->last_variable = variable;
		p->document->last_variable = &variable->next;
	}
}

static void assign_type(struct parser *p, const struct target *to, const char *name)
{
	struct {
		const char *name;
		struct ctf_type **place;
	} places[] = {
			{"packet.header", to->trace ? &to->trace->packet_header : NULL},
			{"packet.context", to->stream ? &to->stream->packet_context : NULL},
			{"event.header", to->stream ? &to->stream->event_header : NULL},
			{"event.context", to->stream ? &to->stream->event_context : NULL},
			{"context", to->event ? &to->event->context : NULL},
			{"fields", to->event ? &to->event->fields : NULL},
	};
	struct ctf_type *type = parse_type(p);
	size_t i;

	if (type && type->kind != CTF_STRUCT) {
		parser_fail(p, "a structure expected");
	}
	for (i = 0; i < sizeof(places) / sizeof(*places); i++) {
		if (places[i].place && !strcmp(name, places[i].name)) {
			*places[i].place = type;
		}
	}
}

static void assign_value(struct parser *p, const struct target *to, const char *name)
{
	bool is_number = p->token == NUMBER;

	if (to->trace && !strcmp(name, "byte_order")) {
		to->trace->order = take_order(p);
	} else if (to->trace && !strcmp(name, "uuid")) {
		to->trace->uuid = parser_text(p);
	} else if (to->stream && !strcmp(name, "id")) {
		to->stream->id = parser_number(p);
	} else if (to->event && !strcmp(name, "id")) {
		to->event->id = parser_number(p);
	} else if (to->event && !strcmp(name, "stream_id")) {
		to->event->stream_id = parser_number(p);
		to->event->has_stream_id = true;
	} else if (to->event && !strcmp(name, "name")) {
		to->event->name = parser_text(p);
	} else if (to->clock && !strcmp(name, "name")) {
		to->clock->name = parser_text(p);
	} else if (to->clock && !strcmp(name, "uuid")) {
		to->clock->uuid = parser_text(p);
	} else if (to->clock && is_number && !strcmp(name, "freq")) {
		to->clock->hz = parser_number(p);
	} else if (to->clock && is_number && !strcmp(name, "offset_s")) {
		to->clock->offset_s = (int64_t)parser_number(p);
	} else if (to->clock && is_number && !strcmp(name, "offset")) {
		to->clock->offset_cycles = parser_number(p);
	} else if (to->clock && !strcmp(name, "absolute")) {
		to->clock->absolute =
				p->token == NUMBER ? p->number != 0
						   : parser_is(p, "true") || parser_is(p, "TRUE");
	} else if (to->is_environment) {
		add_variable(p, name);
	}
	skip_value(p);
}

static void parse_body(struct parser *p, const struct target *to)
{
	uint32_t outer = p->n_aliases;
	char name[NAME_BYTES];

	parser_expect(p, "{");
	while (!p->failed && !parser_is(p, "}")) {
		if (parser_is(p, "typealias") || parser_is(p, "typedef")) {
			bool is_typedef = parser_is(p, "typedef");

			parser_next(p);
			parse_alias(p, is_typedef);
			continue;
		}
		parser_path(p, name);
		if (parser_accept(p, ":=")) {
			assign_type(p, to, name);
		} else {
			parser_expect(p, "=");
			assign_value(p, to, name);
		}
		parser_expect(p, ";");
	}
	parser_expect(p, "}");
	parser_expect(p, ";");
	p->n_aliases = outer;
}

static void parse_event(struct parser *p)
{
	struct ctf_event_class *event = parser_alloc(p, sizeof(*event));

	if (event) {
		event->name = "";
		parse_body(p, &(struct target){.event = event});
		*p->document->last_event = event;
		p->document->last_event = &event->next;
	}
}

static void parse_stream(struct parser *p)
{
	struct ctf_stream_class *stream = parser_alloc(p, sizeof(*stream));

	if (stream) {
		parse_body(p, &(struct target){.stream = stream});
		*p->document->last_stream = stream;
		p->document->last_stream = &stream->next;
	}
}

static void parse_clock(struct parser *p)
{
	struct ctf_clock *clock = parser_alloc(p, sizeof(*clock));

	if (!clock) {
		return;
	}
	clock->name = clock->uuid = "";
	clock->hz = 1000000000;
	parse_body(p, &(struct target){.clock = clock});
	if (clock->hz == 0) {
		parser_fail(p, "a clock that stands still");
	}
	*p->document->last_clock = clock;
	p->document->last_clock = &clock->next;
}

static void parse_statement(struct parser *p)
{
	if (parser_accept(p, "typealias")) {
		parse_alias(p, false);
	} else if (parser_accept(p, "typedef")) {
		parse_alias(p, true);
	} else if (parser_accept(p, "trace")) {
		parse_body(p, &(struct target){.trace = &p->document->metadata});
	} else if (parser_accept(p, "stream")) {
		parse_stream(p);
	} else if (parser_accept(p, "event")) {
		parse_event(p);
	} else if (parser_accept(p, "clock")) {
		parse_clock(p);
	} else if (parser_accept(p, "env")) {
		parse_body(p, &(struct target){.is_environment = true});
	} else if (parser_accept(p, "callsite")) {
		parse_body(p, &(struct target){0});
	} else if (parser_is(p, "struct") || parser_is(p, "variant") || parser_is(p, "enum")) {
		parse_type(p);
		parser_expect(p, ";");
	} else if (!parser_accept(p, ";")) {
		parser_fail(p, "a block expected");
	}
}

struct ctf_metadata *tsdl_create(void)
{
	struct document *document = calloc(1, sizeof(*document));

	if (!document) {
		return NULL;
	}
	document->metadata.uuid = "";
	document->metadata.version = 1;
	document->lines = 1;
	document->last_event = &document->metadata.events;
	document->last_stream = &document->metadata.streams;
	document->last_clock = &document->metadata.clocks;
	document->last_variable = &document->metadata.environment;
	return &document->metadata;
}

bool tsdl_append(struct ctf_metadata *metadata, const char *text, size_t length, char *error,
		size_t error_room)
{
	struct document *document = (struct document *)metadata; /* its first member */
	struct parser p = {.at = text,
			.end = text + length,
			.line = document->lines,
			.error = error,
			.error_room = error_room,
			.aliases = document->aliases,
			.n_aliases = document->n_aliases,
			.aliases_room = document->aliases_room,
			.document = document};

	document->bytes += length;
	if (length > TSDL_MAX_BYTES || document->bytes > TSDL_MAX_BYTES) {
		parser_fail(&p, "too long");
		return false;
	}
	parser_next(&p);
	while (!p.failed && p.token != END) {
		parse_statement(&p);
	}
	document->aliases = p.aliases;
	document->n_aliases = p.n_aliases;
	document->aliases_room = p.aliases_room;
	document->lines = p.line;
	return !p.failed;
}

struct ctf_metadata *tsdl_parse(const char *text, size_t length, char *error, size_t error_room)
{
	struct ctf_metadata *metadata = tsdl_create();

	if (!metadata) {
		snprintf(error, error_room, "out of memory");
		return NULL;
	}
	if (!tsdl_append(metadata, text, length, error, error_room)) {
		tsdl_release(metadata);
		return NULL;
	}
	return metadata;
}

/* Behind a comment or a text that begins at text[at]; `at` if none does. */
static size_t skip_quiet(const char *text, size_t length, size_t at)
{
	const char *end = NULL;

	if (text[at] == '"') {
		for (at++; at < length && text[at] != '"'; at++) {
			at += text[at] == '\\';
		}
		return at < length ? at + 1 : length;
	}
	if (text[at] == '/' && at + 1 < length && text[at + 1] == '/') {
		end = memchr(text + at, '\n', length - at);
	} else if (text[at] == '/' && at + 1 < length && text[at + 1] == '*') {
		end = at + 2 < length ? memmem(text + at + 2, length - at - 2, "*/", 2) : NULL;
		end = end ? end + 1 : NULL;
	} else {
		return at;
	}
	return end ? (size_t)(end - text) + 1 : length;
}

size_t tsdl_whole(const char *text, size_t length)
{
	size_t whole = 0, at = 0, depth = 0;

	while (at < length) {
		size_t behind = skip_quiet(text, length, at);

		if (behind != at) {
			at = behind;
			continue;
		}
		depth += text[at] == '{';
		depth -= text[at] == '}' && depth > 0;
		if (text[at++] == ';' && depth == 0) {
			whole = at;
		}
	}
	return whole;
}

void tsdl_release(struct ctf_metadata *metadata)
{
	struct document *document = (struct document *)metadata; /* its first member */

	if (document) {
		arena_release(&document->arena);
		free(document->aliases);
		free(document);
	}
}

#define PACKET_HEADER_BYTES 37 /* CTF 1.8, section 7.1 */
#define PACKET_MAGIC        0x75d11d57u

static uint32_t number_at(const unsigned char *bytes, bool swapped)
{
	uint32_t number;

	memcpy(&number, bytes, sizeof(number));
	return swapped ? bswap_32(number) : number;
}

char *tsdl_text(const unsigned char *bytes, size_t size, size_t *length)
{
	char *text = malloc(size + 1);
	size_t at = 0;

	*length = 0;
	if (!text) {
		return NULL;
	}
	if (size < 4 || (number_at(bytes, false) != PACKET_MAGIC &&
					number_at(bytes, true) != PACKET_MAGIC)) {
		memcpy(text, bytes, size);
		*length = size;
	} else {
		while (at < size) {
			const unsigned char *packet = bytes + at;
			bool swapped = size - at >= 4 && number_at(packet, false) != PACKET_MAGIC;
			size_t content, whole;

			if (size - at < PACKET_HEADER_BYTES ||
					number_at(packet, swapped) != PACKET_MAGIC) {
				free(text);
				return NULL;
			}
			content = number_at(packet + 24, swapped) / 8;
			whole = number_at(packet + 28, swapped) / 8;
			if (content < PACKET_HEADER_BYTES || whole < content ||
					content > size - at) {
				free(text);
				return NULL;
			}
			memcpy(text + *length, packet + PACKET_HEADER_BYTES,
					content - PACKET_HEADER_BYTES);
			*length += content - PACKET_HEADER_BYTES;
			at = whole < size - at ? at + whole : size; /* padding may be missing */
		}
	}
	text[*length] = '\0';
	return text;
}
