/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "listing.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "viewer.h"

#define ANSWER_TIMEOUT_MS 5000
#define BEAT_ROUNDS       3 /* of a second each: a sign of life at least this often */

static uint32_t append(unsigned char *record, uint32_t *at, const char *text)
{
	uint32_t start = *at;
	size_t size = strlen(text) + 1;

	memcpy(record + start, text, size);
	*at = start + (uint32_t)size;
	return start;
}

static bool write_session(struct outlet *outlet, const struct viewer_session *session)
{
	struct record_listed *record;
	uint32_t at = sizeof(*record);

	record = outlet_begin(outlet,
			sizeof(*record) + strlen(session->host) + strlen(session->name) + 2,
			RECORD_LISTED);
	if (!record) {
		return false;
	}
	record->id = session->id;
	record->live_timer_us = session->live_timer_us;
	record->viewers = session->viewers;
	record->streams = session->streams;
	record->host = append((unsigned char *)record, &at, session->host);
	record->session = append((unsigned char *)record, &at, session->name);
	record->reserved = 0;
	return outlet_commit(outlet);
}

static bool write_list(struct outlet *outlet, const struct viewer_list *list)
{
	for (uint32_t i = 0; i < list->n; i++) {
		if (!write_session(outlet, &list->sessions[i])) {
			return false;
		}
	}
	if (!outlet_begin(outlet, sizeof(struct record), RECORD_LIST_END) ||
			!outlet_commit(outlet)) {
		return false;
	}
	outlet_flush_all(outlet);
	return true;
}

static bool lists_equal(const struct viewer_list *a, const struct viewer_list *b)
{
	/* The entries are zeroed when made, so equal ones are equal byte for byte. */
	return a->n == b->n && memcmp(a->sessions, b->sessions, a->n * sizeof(*a->sessions)) == 0;
}

/* False when the console is gone; otherwise *fault says why it ended. */
static bool watch(struct outlet *outlet, struct viewer *viewer, struct viewer_fault *fault)
{
	struct viewer_list known = {0};
	const struct timespec second = {.tv_sec = 1};
	bool alive = true;

	for (uint32_t round = 0; alive; round++) {
		struct viewer_list list;

		if (viewer_list(viewer, &list, fault) != STATUS_OK) {
			viewer_list_release(&list);
			break;
		}
		if (round % BEAT_ROUNDS == 0 || !lists_equal(&list, &known)) {
			alive = write_list(outlet, &list);
		}
		viewer_list_release(&known);
		known = list;
		nanosleep(&second, NULL);
	}
	viewer_list_release(&known);
	return alive;
}

int listing_watch(struct outlet *outlet, const char *relay, uint16_t port)
{
	struct viewer_fault fault;
	struct viewer *viewer;

	if (!outlet_state(outlet, SOURCE_CONNECTING, "")) {
		return EXIT_FAILURE;
	}
	if (viewer_connect(&viewer, relay, port, ANSWER_TIMEOUT_MS, &fault) != STATUS_OK ||
			watch(outlet, viewer, &fault)) {
		outlet_state(outlet, SOURCE_BROKEN, fault.text);
	}
	viewer_close(viewer);
	return EXIT_FAILURE;
}
