/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "requests/extract.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/expression.h"
#include "requests/compile.h"

#define NUMBER_BYTES 64

struct search {
	struct expression expression;
	uint32_t from; /* field of the type */
	bool made;
};

/* One alternative of one type. */
struct rule {
	uint32_t of, as, next;  /* next: rule plus 1 of the same type; 0: none */
	struct event_type type; /* of which the name is borrowed, too */
	const struct schema_event *event;
	uint32_t n_added;
	struct search searches[EXTRACT_MAX];
};

struct extractor {
	struct rule *rules;
	uint32_t n, room;
	uint32_t *first, *made_by; /* by type: rule plus 1 */
	uint32_t n_first, n_made_by;
	struct event event; /* the last one that was widened, or narrowed */
	unsigned char *buffer;
	uint32_t buffer_room;
};

/* A value of an alternative: a number, or a piece of a text. */
struct piece {
	uint64_t slot;
	const char *text;
	uint32_t length;
	bool is_text;
};

struct extractor *extractor_create(void)
{
	return calloc(1, sizeof(struct extractor));
}

void extractor_destroy(struct extractor *x)
{
	if (!x) {
		return;
	}
	for (uint32_t i = 0; i < x->n; i++) {
		for (uint32_t k = 0; k < EXTRACT_MAX; k++) {
			if (x->rules[i].searches[k].made) {
				expression_release(&x->rules[i].searches[k].expression);
			}
		}
	}
	free(x->rules);
	free(x->first);
	free(x->made_by);
	free(x->buffer);
	free(x);
}

/* --- expressions ----------------------------------------------------------------------------- */

static bool check_expression(const struct schema_extract *extract, char *wrong, size_t size)
{
	struct expression expression;
	char said[128];
	bool right;

	if (!expression_make(&expression, extract->match, said, sizeof(said))) {
		snprintf(wrong, size, "the regular expression \"%.80s\" cannot be used: %s",
				extract->match, said);
		return false;
	}
	right = expression.n_groups == extract->n_fields;
	if (!right) {
		snprintf(wrong, size,
				"the regular expression \"%.80s\" has %u group%s in parentheses, "
				"for %u "
				"field%s",
				extract->match, expression.n_groups,
				expression.n_groups == 1 ? "" : "s", extract->n_fields,
				extract->n_fields == 1 ? "" : "s");
	}
	expression_release(&expression);
	return right;
}

bool extract_check(const struct schema_event *event, uint32_t at, char *wrong, size_t size)
{
	const struct schema_extract *extract = &event->extract[at];
	uint32_t n = 0;

	for (uint32_t i = 0; i <= at; i++) {
		n += event->extract[i].n_fields;
	}
	if (event->n_extract > EXTRACT_MAX || n > EXTRACT_MAX_FIELDS) {
		snprintf(wrong, size, "at most %d expressions and %d fields of them", EXTRACT_MAX,
				EXTRACT_MAX_FIELDS);
		return false;
	}
	if (!extract->from || !*extract->from || !extract->match || !*extract->match) {
		snprintf(wrong, size, "an `extract` needs `from` and `match`");
		return false;
	}
	if (extract->n_as > extract->n_fields) {
		snprintf(wrong, size, "%u kinds in `as`, for %u field%s", extract->n_as,
				extract->n_fields, extract->n_fields == 1 ? "" : "s");
		return false;
	}
	for (uint32_t i = 0; i < extract->n_fields; i++) {
		if (!extract->fields[i][0] || extract->fields[i][0] == '$') {
			snprintf(wrong, size, "\"%.80s\" cannot be a field's name",
					extract->fields[i]);
			return false;
		}
	}
	return check_expression(extract, wrong, size);
}

/* --- types ----------------------------------------------------------------------------------- */

static uint8_t kind_of(const struct schema_extract *extract, uint32_t at)
{
	static const uint8_t kinds[] = {[EXTRACT_TEXT] = FIELD_STRING,
			[EXTRACT_INTEGER] = FIELD_INT,
			[EXTRACT_REAL] = FIELD_DOUBLE};

	return kinds[at < extract->n_as ? extract->as[at] : EXTRACT_TEXT];
}

/* PLAN_NO_FIELD: the type has no such text. */
static uint16_t text_field(const struct event_type *type, const char *from)
{
	uint16_t field = compile_field(type, from);

	return field != PLAN_NO_FIELD && type->fields[field].kind == FIELD_STRING ? field
										  : PLAN_NO_FIELD;
}

uint32_t extract_fields(const struct event_type *type, const struct schema_event *event,
		struct field *fields, const char **lack)
{
	uint32_t n = type->n_fields;

	if (lack) {
		*lack = NULL;
	}
	if (n > EVENT_MAX_FIELDS - EXTRACT_MAX_FIELDS) {
		return 0;
	}
	memcpy(fields, type->fields, n * sizeof(*fields));
	for (uint32_t i = 0; i < event->n_extract; i++) {
		const struct schema_extract *extract = &event->extract[i];

		if (text_field(type, extract->from) == PLAN_NO_FIELD) {
			if (lack) {
				*lack = extract->from;
			}
			return 0;
		}
		for (uint32_t k = 0; k < extract->n_fields; k++) {
			fields[n++] = (struct field){.name = extract->fields[k],
					.kind = kind_of(extract, k),
					.scope = SCOPE_PAYLOAD,
					.base = 10};
		}
	}
	return n;
}

static void link_rule(struct extractor *x, uint32_t rule)
{
	uint32_t *at = &x->first[x->rules[rule].of];

	while (*at) {
		at = &x->rules[*at - 1].next;
	}
	*at = rule + 1;
	x->made_by[x->rules[rule].as] = rule + 1;
}

bool extractor_add(struct extractor *x, uint32_t of, uint32_t as, const struct event_type *type,
		const struct schema_event *event)
{
	struct rule *rule;
	char wrong[128];

	if (!array_reserve(&x->rules, &x->room, x->n + 1) ||
			!array_extend(&x->first, &x->n_first, of + 1) ||
			!array_extend(&x->made_by, &x->n_made_by, as + 1)) {
		return false;
	}
	rule = &x->rules[x->n++];
	*rule = (struct rule){.of = of, .as = as, .event = event};
	for (uint32_t i = 0; i < event->n_extract; i++) {
		struct search *search = &rule->searches[i];

		search->from = text_field(type, event->extract[i].from);
		search->made = expression_make(
				&search->expression, event->extract[i].match, wrong, sizeof(wrong));
		if (!search->made) {
			return false; /* it was sound when the schema was given: out of memory */
		}
		rule->n_added += event->extract[i].n_fields;
	}
	rule->type = *type;
	link_rule(x, x->n - 1);
	return true;
}

/* --- events ---------------------------------------------------------------------------------- */

/* False: it is no number of this kind, all of it. */
static bool read_number(uint8_t kind, const char *text, uint32_t length, uint64_t *slot)
{
	char copy[NUMBER_BYTES], *end = copy;
	const char *first;
	double real = 0;
	long long integer = 0;

	if (length == 0 || length >= sizeof(copy)) {
		return false;
	}
	memcpy(copy, text, length);
	copy[length] = '\0';
	first = copy + (copy[0] == '-' || copy[0] == '+');
	if (!isdigit((unsigned char)first[0]) && first[0] != '.') {
		return false; /* neither white space nor "inf" */
	}
	if (kind == FIELD_DOUBLE) {
		real = strtod(copy, &end);
		memcpy(slot, &real, sizeof(real));
	} else if (length < 19) { /* so many digits fit */
		integer = strtoll(copy, &end, 10);
		*slot = (uint64_t)integer;
	}
	return end == copy + length && isfinite(real);
}

/* The values of one expression; false: it does not match, or a number is none. */
static bool match_one(const struct search *search, const struct schema_extract *extract,
		const struct event *event, struct piece *pieces)
{
	regmatch_t groups[EXTRACT_MAX_FIELDS + 1];
	uint32_t length, i;
	const char *text = event_bytes(event, search->from, &length);

	if (!text) {
		return false;
	}
	length = length < EXTRACT_MAX_TEXT ? length : EXTRACT_MAX_TEXT;
	if (!expression_find(&search->expression, text, length, groups, extract->n_fields + 1)) {
		return false;
	}
	for (i = 0; i < extract->n_fields; i++) {
		const regmatch_t *group = &groups[i + 1];
		bool there = group->rm_so >= 0 && group->rm_eo >= group->rm_so;
		uint8_t kind = kind_of(extract, i);

		pieces[i] = (struct piece){.slot = EVENT_ABSENT, .is_text = kind == FIELD_STRING};
		if (there) {
			pieces[i].text = text + group->rm_so;
			pieces[i].length = (uint32_t)(group->rm_eo - group->rm_so);
		}
		if (kind != FIELD_STRING &&
				(!there || !read_number(kind, pieces[i].text, pieces[i].length,
							   &pieces[i].slot))) {
			return false;
		}
	}
	return true;
}

static bool is_bytes(const struct field *field)
{
	return field->kind == FIELD_STRING || field->kind == FIELD_TREE;
}

/* The event's own slots and bytes, with `by` bytes more or less between the two. */
static void move_slots(struct extractor *x, const struct event_type *type,
		const struct event *event, uint32_t first_byte, int64_t by)
{
	uint64_t *slots = (uint64_t *)(void *)x->buffer;

	for (uint32_t i = 0; i < type->n_fields; i++) {
		uint32_t length;
		const char *bytes =
				is_bytes(&type->fields[i]) ? event_bytes(event, i, &length) : NULL;

		if (bytes) {
			uint64_t offset = (uint64_t)(bytes - (const char *)event->slots);

			slots[i] = (uint64_t)((int64_t)offset + by) << 32 | length;
		} else {
			slots[i] = is_bytes(&type->fields[i]) ? EVENT_ABSENT : event->slots[i];
		}
	}
	/* The event may lie in the buffer itself. */
	memmove(x->buffer + (int64_t)first_byte + by, (const char *)event->slots + first_byte,
			event->bytes - first_byte);
	x->event = *event;
	x->event.bytes = (uint32_t)((int64_t)event->bytes + by);
	x->event.slots = slots;
}

/* False: no room for it. */
static bool widen(struct extractor *x, const struct rule *rule, const struct event *event,
		const struct piece *pieces)
{
	uint32_t n = rule->type.n_fields, more = rule->n_added * 8, used, bytes;

	used = bytes = event->bytes + more;
	for (uint32_t i = 0; i < rule->n_added; i++) {
		bytes += pieces[i].is_text && pieces[i].text ? pieces[i].length + 1 : 0;
	}
	if (bytes > EVENT_MAX_BYTES || !array_reserve(&x->buffer, &x->buffer_room, bytes)) {
		return false;
	}
	move_slots(x, &rule->type, event, n * 8, more);
	for (uint32_t i = 0; i < rule->n_added; i++) {
		uint64_t slot = pieces[i].slot;

		if (pieces[i].is_text && pieces[i].text) {
			slot = (uint64_t)used << 32 | pieces[i].length;
			memcpy(x->buffer + used, pieces[i].text, pieces[i].length);
			x->buffer[used + pieces[i].length] = '\0';
			used += pieces[i].length + 1;
		}
		memcpy(x->buffer + (n + i) * 8u, &slot, sizeof(slot));
	}
	x->event.type = rule->as;
	x->event.bytes = used;
	return true;
}

static bool matches(const struct rule *rule, const struct event *event, struct piece *pieces)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < rule->event->n_extract; i++) {
		const struct schema_extract *extract = &rule->event->extract[i];

		if (!match_one(&rule->searches[i], extract, event, pieces + n)) {
			return false;
		}
		n += extract->n_fields;
	}
	return true;
}

const struct event *extractor_feed(struct extractor *x, const struct event *event)
{
	struct piece pieces[EXTRACT_MAX_FIELDS];
	uint32_t at = event->type < x->n_first ? x->first[event->type] : 0;

	for (; at; at = x->rules[at - 1].next) {
		const struct rule *rule = &x->rules[at - 1];

		if (matches(rule, event, pieces) && widen(x, rule, event, pieces)) {
			return &x->event;
		}
	}
	return event;
}

const struct event *extractor_original(struct extractor *x, const struct event *event)
{
	uint32_t at = event->type < x->n_made_by ? x->made_by[event->type] : 0;
	const struct rule *rule = at ? &x->rules[at - 1] : NULL;

	if (!rule || !array_reserve(&x->buffer, &x->buffer_room, event->bytes)) {
		return event;
	}
	move_slots(x, &rule->type, event, (rule->type.n_fields + rule->n_added) * 8,
			-(int64_t)(rule->n_added * 8));
	x->event.type = rule->of;
	return &x->event;
}
