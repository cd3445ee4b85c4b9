/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/hash.h"
#include "requests/engine.h"
#include "requests/value_text.h"
#include "softirq.h"
#include "values.h"

bool text_append(struct requests *r, uint32_t *used, const char *text, size_t length)
{
	if (!array_reserve(&r->scratch, &r->scratch_room, *used + (uint32_t)length + 1)) {
		return false;
	}
	memcpy(r->scratch + *used, text, length);
	*used += (uint32_t)length;
	return true;
}

bool text_append_value(struct requests *r, uint32_t *used, const struct event_type *type,
		const struct event *event, uint16_t at, uint32_t max)
{
	const struct field *field = &type->fields[at];
	const char *bytes;
	uint32_t length;
	char number[64];

	if (field->kind != FIELD_STRING && field->kind != FIELD_TREE) {
		value_scalar(number, sizeof(number), field, event->slots[at]);
		return text_append(r, used, number, strlen(number));
	}
	bytes = event_bytes(event, at, &length);
	if (!bytes || field->kind == FIELD_TREE) {
		return true;
	}
	return text_append(r, used, bytes, strnlen(bytes, length > max ? max : length));
}

/* The name of the place at an address of the process that the event is of; 0: not known. */
static uint32_t symbol_of(
		struct requests *r, const struct event *event, const struct plan_piece *piece)
{
	return addresses_name(r->addresses, &r->space, event->slots[piece->field]);
}

/* Bits of `rwbs`, as LTTng and pythiatop-probe record them. */
static const char *rwbs_text(uint64_t rwbs)
{
	return rwbs & 2 ? "discard" : rwbs & 1 ? "write" : rwbs & 4 ? "read" : "flush";
}

/* By its number, by which it is always found; or as it is called, as soon as that is known. */
static bool append_disk(struct requests *r, uint32_t *used, uint64_t device, uint32_t name)
{
	const char *text;
	char number[32];

	/* The kernel's own number: 12 bits of the driver, 20 of the device. */
	snprintf(number, sizeof(number), "%u:%u", (uint32_t)device >> 20,
			(uint32_t)device & 0xfffff);
	text = name ? names_own_text(r->names, name) : number;
	return text_append(r, used, text, strlen(text));
}

/* Into the scratch; `disk`: what a disk is called in it, 0: by its number. Returns the name, or 0.
 */
static uint32_t make(struct requests *r, const struct plan_text *text,
		const struct event_type *type, const struct event *event, uint32_t disk,
		uint32_t *length)
{
	uint32_t i, symbol, used = 0;

	for (i = 0; i < text->n; i++) {
		const struct plan_piece *piece = &text->pieces[i];
		bool room;

		if (piece->field == PLAN_NO_FIELD) {
			room = text_append(r, &used, piece->text, piece->length);
		} else if (piece->reading == READ_SYMBOL &&
				(symbol = symbol_of(r, event, piece)) != 0) {
			const char *own = names_own_text(r->names, symbol);

			if (text->n == 1) {
				return symbol; /* itself, so that it goes by what is shown of it */
			}
			room = text_append(r, &used, own, strlen(own));
		} else if (piece->reading == READ_SOFTIRQ &&
				softirq_name(event->slots[piece->field])) {
			const char *own = softirq_name(event->slots[piece->field]);

			room = text_append(r, &used, own, strlen(own));
		} else if (piece->reading == READ_DISK) {
			room = append_disk(r, &used, event->slots[piece->field], disk);
		} else if (piece->reading == READ_RWBS) {
			const char *own = rwbs_text(event->slots[piece->field]);

			room = text_append(r, &used, own, strlen(own));
		} else {
			/* A name, not a document. */
			room = text_append_value(r, &used, type, event, piece->field, 256);
		}
		if (!room) {
			return 0;
		}
	}
	*length = used;
	return disk ? 1 : names_add(r->names, r->scratch, used);
}

/* A disk's name may become known at any time: it is shown of all that goes by its number. */
static uint32_t make_shown(struct requests *r, const struct plan_text *text,
		const struct event_type *type, const struct event *event)
{
	uint32_t length, name = make(r, text, type, event, 0, &length), disk = 0;

	for (uint32_t i = 0; i < text->n && r->config.state; i++) {
		if (text->pieces[i].reading == READ_DISK &&
				text->pieces[i].field != PLAN_NO_FIELD) {
			disk = state_disk_name(r->config.state,
					r->registry->streams[event->stream].host,
					event->slots[text->pieces[i].field]);
		}
	}
	if (name && disk && make(r, text, type, event, disk, &length)) {
		r->scratch[length] = '\0';
		if (strcmp(names_text(r->names, name), r->scratch) != 0) {
			r->renamed |= names_show(r->names, name, r->scratch);
		}
	}
	return name;
}

uint32_t plan_text_make(struct requests *r, const struct plan_text *text,
		const struct event_type *type, const struct event *event)
{
	uint64_t value = 0;
	uint32_t i, at, name;

	if (text->fixed || text->n == 0) {
		return text->fixed;
	}
	if (!text->memo) {
		return make_shown(r, text, type, event);
	}
	for (i = 0; i < text->n; i++) {
		if (text->pieces[i].field != PLAN_NO_FIELD) {
			value = event->slots[text->pieces[i].field];
		}
	}
	at = (uint32_t)hash_u64(value) & (PLAN_MEMO_SLOTS - 1);
	if (text->memo->slots[at].name && text->memo->slots[at].value == value) {
		return text->memo->slots[at].name;
	}
	name = make_shown(r, text, type, event);
	text->memo->slots[at].value = value;
	text->memo->slots[at].name = name;
	return name;
}
