/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "requests/served.h"

#include <string.h>

static const struct served_rule rules[SERVED_COUNT] = {
		[SERVED_REQUEST] = {"served_request", true, true, true, false, false},
		[SERVED_WORK] = {"served_work", false, false, false, true, false},
		[SERVED_CALL] = {"served_call", true, false, true, false, false},
		[SERVED_QUEUED] = {"served_queued", true, false, false, false, true},
		[SERVED_UNACKED] = {"served_unacked", true, false, false, false, true},
};

static const char *const event_names[SERVED_COUNT][2] = {
		[SERVED_REQUEST] = {"served_request_entry", "served_request_exit"},
		[SERVED_WORK] = {"served_work_entry", "served_work_exit"},
		[SERVED_CALL] = {"served_call_entry", "served_call_exit"},
		[SERVED_QUEUED] = {"served_queued_entry", "served_queued_exit"},
		[SERVED_UNACKED] = {"served_unacked_entry", "served_unacked_exit"},
};

const struct served_rule *served_rule(const char *event, bool *exit)
{
	for (uint32_t i = 0; i < SERVED_COUNT; i++) {
		*exit = strcmp(event, event_names[i][1]) == 0;
		if (*exit || strcmp(event, event_names[i][0]) == 0) {
			return &rules[i];
		}
	}
	return NULL;
}

const char *served_name(enum served what, bool exit)
{
	return event_names[what][exit];
}

const struct field *served_fields(void)
{
	static const struct field fields[SERVED_FIELDS] = {
			{.name = "request_id", .kind = FIELD_UINT, .base = 10, .width = 8},
			{.name = "msg_id", .kind = FIELD_UINT, .base = 10, .width = 8},
			{.name = "span_id", .kind = FIELD_UINT, .base = 10, .width = 8},
			{.name = "server", .kind = FIELD_STRING},
	};

	return fields;
}

uint32_t served_write(uint64_t *slots, const struct served_ids *ids, const char *name)
{
	uint32_t length = (uint32_t)strnlen(name, SERVED_NAME - 1);

	slots[0] = ids->request;
	/* What no call led to is the first to have its message. */
	slots[1] = ids->message ? ids->message : ids->id;
	slots[2] = ids->id;
	slots[3] = (uint64_t)(SERVED_FIELDS * 8) << 32 | length;
	memcpy(slots + SERVED_FIELDS, name, length);
	((char *)(slots + SERVED_FIELDS))[length] = '\0';
	return SERVED_FIELDS * 8 + length + 1;
}
