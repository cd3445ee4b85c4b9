/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PT_REQUESTS_VALUE_TEXT_H
#define PT_REQUESTS_VALUE_TEXT_H

#include "requests/plan.h"
#include "requests/requests.h"

/* Values as text. */

/* Onto the text in the scratch, of which `used` bytes are. False if out of memory. */
bool text_append(struct requests *r, uint32_t *used, const char *text, size_t length);
/* The value of a field, of a string at most `max` bytes; of a tree nothing. */
bool text_append_value(struct requests *r, uint32_t *used, const struct event_type *type,
		const struct event *event, uint16_t at, uint32_t max);
uint32_t plan_text_make(struct requests *r, const struct plan_text *text,
		const struct event_type *type, const struct event *event);

#endif
