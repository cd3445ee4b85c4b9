/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "values.h"

#define MAX_TREE_DEPTH 64

const char *value_label(const struct field *field, uint64_t value)
{
	uint32_t i;

	for (i = 0; i < field->n_labels; i++) {
		const struct field_label *label = &field->labels[i];

		if (field->kind == FIELD_INT ? (int64_t)value >= (int64_t)label->lower &&
								(int64_t)value <=
										(int64_t)label->upper
					     : value >= label->lower && value <= label->upper) {
			return label->name;
		}
	}
	return NULL;
}

static void binary(char *text, size_t size, uint64_t value)
{
	char digits[67];
	size_t at = sizeof(digits) - 1;

	digits[at] = '\0';
	do {
		digits[--at] = (char)('0' + (value & 1));
		value >>= 1;
	} while (value);
	snprintf(text, size, "0b%s", digits + at);
}

void value_scalar(char *text, size_t size, const struct field *field, uint64_t slot)
{
	const char *label = value_label(field, slot);
	double number;

	if (label) {
		snprintf(text, size, "%s", label);
	} else if (field->kind == FIELD_DOUBLE) {
		memcpy(&number, &slot, sizeof(number));
		snprintf(text, size, "%.9g", number);
	} else if (field->base == 16) {
		snprintf(text, size, "0x%" PRIx64, slot);
	} else if (field->base == 8) {
		snprintf(text, size, "0%" PRIo64, slot);
	} else if (field->base == 2) {
		binary(text, size, slot);
	} else if (field->kind == FIELD_INT) {
		snprintf(text, size, "%" PRId64, (int64_t)slot);
	} else {
		snprintf(text, size, "%" PRIu64, slot);
	}
}

/* A tree being printed: `at` moves over its bytes, `out` stays at its end when it is full. */
struct printer {
	const unsigned char *at, *end;
	char *out;
	size_t used, size;
};

static void put(struct printer *p, const char *text, size_t length)
{
	size_t room = p->size - 1 - p->used;

	length = length > room ? room : length;
	memcpy(p->out + p->used, text, length);
	p->used += length;
	p->out[p->used] = '\0';
}

static bool take(struct printer *p, void *to, size_t size)
{
	if ((size_t)(p->end - p->at) < size) {
		return false;
	}
	memcpy(to, p->at, size);
	p->at += size;
	return true;
}

static bool put_node(struct printer *p, int depth);

static bool put_string(struct printer *p, uint32_t n)
{
	size_t padded = ((size_t)n + 7) / 8 * 8;

	if ((size_t)(p->end - p->at) < n) {
		return false;
	}
	put(p, (const char *)p->at, strnlen((const char *)p->at, n));
	p->at += (size_t)(p->end - p->at) < padded ? (size_t)(p->end - p->at) : padded;
	return true;
}

static bool put_list(struct printer *p, uint32_t kind, uint32_t n, int depth)
{
	uint32_t i;

	put(p, kind == TREE_ARRAY ? "[" : "{", 1);
	for (i = 0; i < n; i++) {
		if (i > 0) {
			put(p, ", ", 2);
		}
		if (kind != TREE_ARRAY) {
			if (!put_node(p, depth)) {
				return false;
			}
			put(p, "=", 1);
		}
		if (!put_node(p, depth)) {
			return false;
		}
	}
	put(p, kind == TREE_ARRAY ? "]" : "}", 1);
	return true;
}

static bool put_node(struct printer *p, int depth)
{
	uint32_t kind, n;
	uint64_t bits;
	double number;
	char text[64];

	if (depth > MAX_TREE_DEPTH || p->used + 1 >= p->size || !take(p, &kind, 4) ||
			!take(p, &n, 4)) {
		return false;
	}
	switch (kind) {
	case TREE_STRING:
		return put_string(p, n);
	case TREE_ARRAY:
	case TREE_STRUCT:
		return put_list(p, kind, n, depth + 1);
	case TREE_VARIANT:
		return put_list(p, TREE_STRUCT, 1, depth + 1);
	default:
		break;
	}
	if (!take(p, &bits, 8)) {
		return false;
	}
	if (kind == TREE_DOUBLE) {
		memcpy(&number, &bits, sizeof(number));
		snprintf(text, sizeof(text), "%.9g", number);
	} else if (kind == TREE_INT) {
		snprintf(text, sizeof(text), "%" PRId64, (int64_t)bits);
	} else {
		snprintf(text, sizeof(text), "%" PRIu64, bits);
	}
	put(p, text, strlen(text));
	return true;
}

static const char *tree_text(struct snapshot *snapshot, const char *bytes, uint32_t length)
{
	struct printer printer = {
			.at = (const unsigned char *)bytes,
			.end = (const unsigned char *)bytes + length,
			.size = (size_t)length * 4 + 64,
	};
	const char *text;

	printer.size = printer.size > VALUE_MAX_BYTES ? VALUE_MAX_BYTES : printer.size;
	printer.out = malloc(printer.size);
	if (!printer.out) {
		return "";
	}
	printer.out[0] = '\0';
	if (!put_node(&printer, 0)) {
		put(&printer, "...", 3); /* cut, or damaged */
	}
	text = snapshot_text(snapshot, printer.out);
	free(printer.out);
	return text;
}

const char *value_text(struct snapshot *snapshot, const struct field *field,
		const struct event *event, uint32_t at)
{
	char text[128];
	const char *bytes;
	uint32_t length;

	if (field->kind == FIELD_STRING || field->kind == FIELD_TREE) {
		bytes = event_bytes(event, at, &length);
		if (!bytes) {
			return "";
		}
		if (field->kind == FIELD_TREE) {
			return tree_text(snapshot, bytes, length);
		}
		length = length > VALUE_MAX_BYTES ? VALUE_MAX_BYTES : length;
		return snapshot_printf(snapshot, "%.*s", (int)strnlen(bytes, length), bytes);
	}
	value_scalar(text, sizeof(text), field, event->slots[at]);
	return snapshot_text(snapshot, text);
}
