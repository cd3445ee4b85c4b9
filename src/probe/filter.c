/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "probe/filter.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

static const char *const names[] = {
#define EVENT(name, tracepoint, since, fields) #name,
#include "probe/events.def"
#undef EVENT
};
#define N_EVENTS (sizeof(names) / sizeof(names[0]))

/* The fields that name a thread, in the order in which the BPF programs ask for them. */
static const struct {
	uint32_t event;
	const char *fields[2];
} threads[] = {
		{PROBE_sched_switch, {"prev_tid", "next_tid"}},
		{PROBE_sched_waking, {"tid", NULL}},
		{PROBE_sched_wakeup_new, {"tid", NULL}},
		{PROBE_sched_migrate_task, {"tid", NULL}},
		{PROBE_sched_pi_setprio, {"tid", NULL}},
		{PROBE_sched_process_exit, {"tid", NULL}},
		{PROBE_sched_process_free, {"tid", NULL}},
		{PROBE_block_rq_issue, {"tid", NULL}},
};

uint32_t filter_event(const char *name)
{
	for (uint32_t i = 0; i < N_EVENTS; i++) {
		if (strcmp(names[i], name) == 0) {
			return i;
		}
	}
	return PROBE_TYPED;
}

static const char *blanks(const char *text)
{
	return text + strspn(text, " \t");
}

/* Which field it is, 0 or 1; -1: none that names a thread. */
static int field_of(uint32_t event, const char *name, size_t length)
{
	for (size_t i = 0; i < sizeof(threads) / sizeof(threads[0]); i++) {
		for (int f = 0; f < 2 && threads[i].event == event && threads[i].fields[f]; f++) {
			if (strlen(threads[i].fields[f]) == length &&
					memcmp(threads[i].fields[f], name, length) == 0) {
				return f;
			}
		}
	}
	return -1;
}

const char *filter_parse(uint32_t event, const char *text, uint64_t keys[FILTER_KEYS], uint32_t *n)
{
	*n = 0;
	for (;;) {
		const char *name = blanks(text);
		size_t length = 0;
		unsigned long tid;
		int field;
		char *end;

		while (isalnum((unsigned char)name[length]) || name[length] == '_') {
			length++;
		}
		field = field_of(event, name, length);
		if (field < 0) {
			return "speaks of something that is no thread of the event";
		}
		text = blanks(name + length);
		if (text[0] != '=' || text[1] != '=') {
			return "may compare threads by == only";
		}
		text = blanks(text + 2);
		errno = 0;
		tid = strtoul(text, &end, 10);
		if (!isdigit((unsigned char)*text) || errno || tid > INT_MAX) {
			return "compares with something that is no number of a thread";
		}
		if (*n == FILTER_KEYS) {
			return "names more than 1,024 threads";
		}
		keys[(*n)++] = (uint64_t)(event * 2 + (uint32_t)field) << 32 | tid;
		text = blanks(end);
		if (*text == '\0') {
			return NULL;
		}
		if (text[0] != '|' || text[1] != '|') {
			return "may join comparisons by || only";
		}
		text += 2;
	}
}
