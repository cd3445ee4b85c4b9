/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "fault.h"

#include <babeltrace2/babeltrace.h>
#include <stdio.h>
#include <string.h>

/*
 * What people cannot use in a message of the library: "..., msg-it-addr=0x5650, packet-size=1840".
 * Returns the length without it.
 */
static int length_for_people(const char *message)
{
	const char *detail = strstr(message, "-addr=");

	if (detail) {
		while (detail > message && !(detail[-1] == ' ' && strchr(":,", detail[-2]))) {
			detail--;
		}
		if (detail > message + 2) {
			return (int)(detail - message) - 2;
		}
	}
	return (int)strlen(message);
}

#define METADATA_DAMAGED "its metadata is damaged, or describes what is not CTF 1.8"

/* What the library says, and what it means to who has the file. */
static const struct {
	const char *begins, *means;
} known[] = {
		{"Cannot create trace for", METADATA_DAMAGED},
		{"At line ", METADATA_DAMAGED},
		{"Failed to index CTF stream file", "it is cut off, or a packet's size is wrong"},
		{"User function returned EOF", "it ends in the middle of a packet"},
		{"Invalid CTF magic number", "a packet does not begin as CTF packets do"},
		{"Invalid packet or content size", "a packet has an impossible size"},
		{"No stream class with ID", "a packet's stream class is not in the metadata"},
		{"No event class with ID", "an event's class is not in the metadata"},
};

static void explain(char *out, size_t size, const char *message)
{
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		if (strncmp(message, known[i].begins, strlen(known[i].begins)) == 0) {
			snprintf(out, size, "%s", known[i].means);
			return;
		}
	}
	snprintf(out, size, "%.*s", length_for_people(message), message);
}

/* The path that the message quotes, 'PATH' or `PATH`; its length is 0 if there is none. */
static const char *quoted_path(const char *message, int *length)
{
	const char *path = message + strcspn(message, "'`");

	while (*path && path[1] != '/') {
		path += 1 + strcspn(path + 1, "'`");
	}
	*length = *path ? (int)strcspn(path + 1, "'`") : 0;
	if (*length > FAULT_TEXT_MAX / 2) {
		*length = FAULT_TEXT_MAX / 2;
	}
	return *path ? path + 1 : path;
}

/* The innermost cause says what happened; the first that names a file says where. */
static void describe(struct fault *fault, const bt_error *error)
{
	uint64_t n = bt_error_get_cause_count(error);
	char what[FAULT_TEXT_MAX / 3];

	explain(what, sizeof(what),
			bt_error_cause_get_message(bt_error_borrow_cause_by_index(error, 0)));
	fault->is_metadata = strcmp(what, METADATA_DAMAGED) == 0;
	for (uint64_t i = 0; i < n; i++) {
		int length;
		const char *path = quoted_path(
				bt_error_cause_get_message(
						bt_error_borrow_cause_by_index(error, i)),
				&length);

		if (length > 0) {
			snprintf(fault->text, sizeof(fault->text), "%.*s: %s", length, path, what);
			return;
		}
	}
	snprintf(fault->text, sizeof(fault->text), "%s", what);
}

void fault_take(struct fault *fault, const char *otherwise)
{
	const bt_error *error = bt_current_thread_take_error();

	snprintf(fault->text, sizeof(fault->text), "%s", otherwise);
	fault->is_metadata = false;
	if (!error) {
		return;
	}
	if (bt_error_get_cause_count(error) > 0) {
		describe(fault, error);
	}
	bt_error_release(error);
}
