/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "requests/keys.h"

#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "field_words.h"
#include "requests/engine.h"
#include "requests/failure.h"
#include "requests/span_values.h"
#include "values.h"

#define FIRST_ROOM 64u

/* A value before those of one key are united. */
struct key_item {
	struct request_key key;
	const struct field *field; /* of a category without a text so far */
	uint64_t slot;
	uint64_t ns;          /* the span took */
	bool failed;          /* it did */
	uint32_t span, order; /* order: by span, its exit after its entry */
};

/* --- which fields of a type are keys --------------------------------------------------------- */

/* Of what more is more. A number that is only a name is a category, and never summed. */
static bool is_number(const struct field *field)
{
	if (field_words(field->name).identity) {
		return false;
	}
	return field->kind == FIELD_DOUBLE ||
	       ((field->kind == FIELD_INT || field->kind == FIELD_UINT) && field->base == 10 &&
			       field->n_labels == 0);
}

/*
 * Where something of the kernel's stands in its memory: a timer, a buffer of a packet. It tells
 * nobody anything. Addresses of sockets say who asked.
 */
static bool is_kernel_address(const struct event_type *type, const struct field *field)
{
	return !strchr(type->name, ':') && field->base == 16 && field->kind == FIELD_UINT &&
	       strncmp(type->name, "socket_", 7) != 0;
}

/* How long a message lay in the socket is a part of how long its request takes: it explains
 * nothing. */
static bool is_time_itself(const struct event_type *type, const struct field *field)
{
	return strcmp(type->name, "socket_recv") == 0 && strcmp(field->name, "queued") == 0;
}

static bool is_id(const struct keys_reader *reader, uint32_t name)
{
	for (uint32_t i = 0; i < reader->n_ids; i++) {
		if (reader->ids[i] == name) {
			return true;
		}
	}
	return false;
}

static void list_id(struct requests *r, const struct event_type *type, const struct plan_bind *bind)
{
	struct keys_reader *reader = &r->keys_reader;
	const struct plan_key *key = &bind->keys[0];
	const char *text;
	uint32_t name;

	if (bind->kind == NS_EXECUTION || bind->n_keys != 1 ||
			(key->kind != KEY_FIELD_NUMBER && key->kind != KEY_FIELD_BYTES)) {
		return;
	}
	text = type->fields[key->field].name;
	name = names_add(r->names, text, strlen(text));
	if (reader->n_ids < KEY_IDS && !is_id(reader, name)) {
		reader->ids[reader->n_ids++] = name;
	}
}

/* What any event names requests or messages by, that tells nothing else in one that does not. */
static void list_ids(struct requests *r)
{
	for (uint32_t i = 0; i < r->registry->n_types; i++) {
		for (uint32_t k = 0; k < r->plans[i].n_bind; k++) {
			list_id(r, &r->registry->types[i], &r->plans[i].bind[k]);
		}
	}
	r->keys_reader.ids_known = true;
}

static bool list_fields(struct requests *r, uint32_t type, struct keys_of_type *of)
{
	const struct event_type *about = &r->registry->types[type];
	uint32_t n = 0;

	if (!r->keys_reader.ids_known) {
		list_ids(r);
	}
	of->fields = malloc((about->n_fields + 1) * sizeof(*of->fields));
	if (!of->fields) {
		return false;
	}
	for (uint32_t i = 0; i < about->n_fields && !is_interruption(about->name); i++) {
		const struct field *field = &about->fields[i];
		uint32_t name;

		if (field->kind == FIELD_TREE || is_kernel_address(about, field) ||
				is_time_itself(about, field) ||
				!value_is_told(r, type, i, VALUES_COMPARED)) {
			continue;
		}
		name = names_add(r->names, field->name, strlen(field->name));
		if (name && !is_id(&r->keys_reader, name)) {
			of->fields[n++] = (struct key_field){
					.at = i, .name = name, .numeric = is_number(field)};
		}
	}
	of->n = n;
	return true;
}

/* Looked up once a type, until plans change. NULL if out of memory. */
static const struct keys_of_type *fields_of(struct requests *r, uint32_t type)
{
	struct keys_reader *reader = &r->keys_reader;
	uint32_t n = r->registry->n_types;
	struct keys_of_type *types;

	if (!array_extend(&reader->types, &reader->n_types, n)) {
		return NULL;
	}
	types = &reader->types[type];
	return types->fields || list_fields(r, type, types) ? types : NULL;
}

/* --- values ---------------------------------------------------------------------------------- */

static struct key_item *item_add(struct keys_reader *reader)
{
	if (!array_reserve(&reader->items, &reader->room, reader->n + 1)) {
		return NULL;
	}
	reader->items[reader->n] = (struct key_item){.order = reader->n};
	return &reader->items[reader->n++];
}

static double number_of(const struct event *event, const struct field *field, uint32_t at)
{
	if (field->kind == FIELD_DOUBLE) {
		return event_double(event, at);
	}
	return field->kind == FIELD_INT ? (double)(int64_t)event->slots[at]
					: (double)event->slots[at];
}

/* False: there is no value, or it is no number. */
static bool read_value(const struct event *event, const struct field *field,
		const struct key_field *from, struct key_item *item)
{
	struct request_key *key = &item->key;

	if (from->numeric) {
		key->number = number_of(event, field, from->at);
		return isfinite(key->number);
	}
	if (field->kind == FIELD_STRING) {
		key->is_text = true;
		key->text = event_bytes(event, from->at, &key->length);
		key->length = key->length < KEY_TEXT_BYTES ? key->length : KEY_TEXT_BYTES;
		key->length = key->text ? (uint32_t)strnlen(key->text, key->length) : 0;
		return key->text != NULL;
	}
	key->text = value_label(field, event->slots[from->at]);
	if (key->text) {
		key->length = (uint32_t)strnlen(key->text, KEY_TEXT_BYTES);
	} else {
		item->field = field;
		item->slot = event->slots[from->at];
	}
	return true;
}

static uint64_t span_ns(const struct span *span)
{
	return span->end_ns > span->start_ns ? span->end_ns - span->start_ns : 0;
}

static void take_span(const struct requests *r, struct key_item *item, uint32_t index)
{
	const struct span *span = &r->spans.items[index];

	item->span = index;
	item->ns = span_ns(span);
	item->failed = failure_of_span(span) != NULL;
}

static bool receives(const struct requests *r, const struct event_copy *copy)
{
	return copy && strcmp(r->registry->types[copy->type].name, "socket_recv") == 0;
}

/* The first one: what came later are answers to what the request itself asked. NULL: none. */
static const struct event_copy *find_received(const struct requests *r)
{
	const struct event_copy *first = NULL;

	for (uint32_t i = 0; i < r->spans.n; i++) {
		const struct event_copy *copy = r->spans.items[i].entry;

		if (receives(r, copy) && (!first || copy->ts_ns < first->ts_ns)) {
			first = copy;
		}
	}
	return first;
}

/* The message that a request begins with was there before it was read. */
static uint64_t after_ns(const struct requests *r, const struct event_copy *copy)
{
	uint64_t start_ns = r->spans.items[r->spans.root].start_ns;

	if (copy->ts_ns == r->keys_reader.received_ns && receives(r, copy)) {
		return 0;
	}
	return copy->ts_ns > start_ns ? copy->ts_ns - start_ns : 0;
}

static bool read_event(struct requests *r, uint32_t index, const struct event_copy *copy)
{
	const struct span *span = &r->spans.items[index];
	const struct event event = copy_event(copy);
	const struct keys_of_type *of = fields_of(r, copy->type);
	uint64_t after = after_ns(r, copy);

	for (uint32_t i = 0; of && i < of->n; i++) {
		const struct key_field *from = &of->fields[i];
		struct key_item *item;

		if ((from->at + 1) * 8 > copy->bytes) {
			break;
		}
		item = item_add(&r->keys_reader);
		if (!item) {
			return false;
		}
		item->key.source = EXPLANATION_FIELD;
		item->key.context = span->context;
		item->key.name = from->name;
		item->key.numeric = from->numeric;
		item->key.after_ns = after;
		take_span(r, item, index);
		if (!read_value(&event, &r->registry->types[copy->type].fields[from->at], from,
				    item)) {
			r->keys_reader.n--;
		}
	}
	return of != NULL;
}

static bool read_host(struct requests *r, uint32_t index)
{
	const struct span *span = &r->spans.items[index];
	const char *name = r->registry->hosts[span->host].name;
	struct key_item *item = item_add(&r->keys_reader);

	if (!item) {
		return false;
	}
	item->key.source = EXPLANATION_HOST;
	item->key.context = span->context;
	item->key.text = name;
	item->key.length = (uint32_t)strnlen(name, KEY_TEXT_BYTES);
	take_span(r, item, index);
	return true;
}

/* The whole tree of spans is there, with contexts. */
static bool read_spans(struct requests *r)
{
	for (uint32_t i = 0; i < r->spans.n; i++) {
		const struct span *span = &r->spans.items[i];
		bool seen = span->entry || span->exit;
		bool nested = i != r->spans.root && span->below == span->parent;

		if (is_of_nobody(r, span_name(r, span))) {
			continue;
		}
		if ((span->entry && !read_event(r, i, span->entry)) ||
				(span->exit && !read_event(r, i, span->exit)) ||
				(seen && !nested && !read_host(r, i))) {
			return false;
		}
	}
	return true;
}

static bool read_resources(struct requests *r, const struct state_resources *resources)
{
	uint32_t *names = r->keys_reader.resources;
#define MEMBER(name)                                                                               \
	{                                                                                          \
#name, offsetof(struct state_resources, name)                                      \
	}
	static const struct {
		const char *name;
		size_t at;
	} members[] = {MEMBER(cpu_ns), MEMBER(runqueue_ns), MEMBER(blocked_ns), MEMBER(irq_ns),
			MEMBER(unknown_ns), MEMBER(blocked_disk_ns), MEMBER(blocked_net_ns),
			MEMBER(blocked_lock_ns), MEMBER(blocked_timer_ns), MEMBER(blocked_other_ns),
			MEMBER(disk_read_bytes), MEMBER(disk_write_bytes), MEMBER(net_read_bytes),
			MEMBER(net_write_bytes)};
#undef MEMBER

	_Static_assert(sizeof(members) / sizeof(*members) == KEY_RESOURCES, "one name each");

	for (uint32_t i = 0; resources && i < KEY_RESOURCES; i++) {
		struct key_item *item = item_add(&r->keys_reader);
		uint64_t value;

		if (!item) {
			return false;
		}
		memcpy(&value, (const char *)resources + members[i].at, sizeof(value));
		item->key.source = EXPLANATION_RESOURCE;
		if (!names[i]) {
			names[i] = names_add(r->names, members[i].name, strlen(members[i].name));
		}
		item->key.name = names[i];
		item->key.numeric = true;
		item->key.number = (double)value;
	}
	return true;
}

/* --- one value a key ------------------------------------------------------------------------- */

static int compare_keys(const struct request_key *a, const struct request_key *b)
{
	if (a->source != b->source) {
		return a->source < b->source ? -1 : 1;
	}
	if (a->context != b->context) {
		return a->context < b->context ? -1 : 1;
	}
	return a->name < b->name ? -1 : a->name > b->name;
}

static int compare_items(const void *left, const void *right)
{
	const struct key_item *a = left, *b = right;
	int keys = compare_keys(&a->key, &b->key);

	return keys ? keys : a->order < b->order ? -1 : 1;
}

/* Unites those from `first` on that are of one key, into the first; returns how many. */
static uint32_t unite(struct key_item *first, const struct key_item *end)
{
	struct key_item sum = *first;
	const struct key_item *at;
	bool begun = false;

	for (at = first; at < end && compare_keys(&first->key, &at->key) == 0; at++) {
		bool replaced = at + 1 < end && at[1].span == at->span &&
				compare_keys(&first->key, &at[1].key) == 0;

		if (replaced) {
			continue;
		}
		if (!begun) {
			sum = *at;
			begun = true;
		} else if (at->key.numeric != sum.key.numeric) {
			continue;
		} else if (at->key.numeric) {
			sum.key.number += at->key.number;
			if (at->key.after_ns > sum.key.after_ns) {
				sum.key.after_ns = at->key.after_ns;
			}
		} else if (at->failed != sum.failed ? at->failed : at->ns > sum.ns) {
			sum = *at;
		}
	}
	*first = sum;
	return (uint32_t)(at - first);
}

static bool reserve_keys(struct keys_reader *reader)
{
	if (reader->n <= reader->key_room) {
		return true;
	}
	if (!array_resize(&reader->keys, reader->room) ||
			!array_resize(&reader->digits, reader->room)) {
		return false;
	}
	reader->key_room = reader->room;
	return true;
}

static bool unite_all(struct keys_reader *reader, struct request_keys *out)
{
	uint32_t n = 0;

	if (!reserve_keys(reader)) {
		return false;
	}
	qsort(reader->items, reader->n, sizeof(*reader->items), compare_items);
	for (uint32_t i = 0; i < reader->n;) {
		struct key_item *item = &reader->items[i];

		i += unite(item, reader->items + reader->n);
		if (item->field) {
			value_scalar(reader->digits[n], KEY_DIGITS, item->field, item->slot);
			item->key.text = reader->digits[n];
			item->key.length = (uint32_t)strlen(item->key.text);
		}
		reader->keys[n] = item->key;
		n += !item->key.numeric || isfinite(item->key.number);
	}
	*out = (struct request_keys){.n = n, .items = reader->keys};
	return true;
}

bool requests_read_keys(struct requests *r, const struct request *request, struct request_keys *out)
{
	struct kept_request *kept = (struct kept_request *)(uintptr_t)request;
	const struct event_copy *received;

	if (!measuring_build(r, request)) {
		return false;
	}
	r->keys_reader.n = 0;
	measuring_name(r, request);
	received = find_received(r);
	r->keys_reader.received_ns = received ? received->ts_ns : UINT64_MAX;
	return read_spans(r) && read_resources(r, requests_resources(r, kept)) &&
	       unite_all(&r->keys_reader, out);
}

bool requests_read_asked(struct requests *r, const struct request *request, uint64_t *bytes)
{
	const struct event_copy *copy = measuring_build(r, request) ? find_received(r) : NULL;
	const struct event_type *type = copy ? &r->registry->types[copy->type] : NULL;

	for (uint32_t i = 0; type && i < type->n_fields && (i + 1) * 8 <= copy->bytes; i++) {
		if (strcmp(type->fields[i].name, "length") == 0) {
			*bytes = copy_event(copy).slots[i];
			return true;
		}
	}
	return false;
}

static uint32_t told_by(struct requests *r, uint32_t index, const struct event_copy *copy,
		struct request_key *out, uint32_t max)
{
	const struct event event = copy_event(copy);
	const struct keys_of_type *of = fields_of(r, copy->type);
	uint32_t n = 0;

	for (uint32_t i = 0; of && i < of->n && n < max; i++) {
		const struct key_field *from = &of->fields[i];
		struct key_item item = {.span = index};

		if ((from->at + 1) * 8 > copy->bytes) {
			break;
		}
		if (!from->numeric &&
				read_value(&event, &r->registry->types[copy->type].fields[from->at],
						from, &item) &&
				item.key.text) {
			item.key.source = EXPLANATION_FIELD;
			item.key.context = r->spans.items[index].context;
			item.key.name = from->name;
			out[n++] = item.key;
		}
	}
	return n;
}

uint32_t requests_told(struct requests *r, uint32_t index, struct request_key *out, uint32_t max)
{
	const struct span *span = index < r->spans.n ? &r->spans.items[index] : NULL;
	uint32_t n = 0;

	if (span && span->entry) {
		n = told_by(r, index, span->entry, out, max);
	}
	if (span && span->exit) {
		n += told_by(r, index, span->exit, out + n, max - n);
	}
	return n;
}
