/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef UI_REQUEST_SCREEN_H
#define UI_REQUEST_SCREEN_H

#include "views/view.h"
#include "widgets/table.h"
#include "widgets/waterfall.h"

/* What the files of screen 4 share; the tables' data is the struct request_screen. */

enum pane { PANE_SPANS, PANE_PATH, PANE_VALUES, PANE_EVENTS, PANE_COUNT };

struct request_screen {
	enum pane pane;
	const struct request_view *request;
	uint32_t group_id; /* the group that it is, or was, wanted of */
	uint64_t shown_id; /* the request that the cursors are of */
	struct waterfall waterfall;
	struct table spans, path, values, events;
	/* The span that the person came for, until its request is there. */
	uint64_t chain;       /* 0: none in particular */
	uint64_t chain_of_id; /* 0: whichever request comes */
	bool chain_events;    /* its original events */
	bool chain_missed;    /* the request was not there */
};

/* request_tables.c: the panes' rows. Spans with their bars, with the critical path where it is
 * known. */
extern const struct table_source request_spans, request_spans_on_path, request_pieces,
		request_values, request_events;

/* The span under the cursor, or UINT32_MAX. */
uint32_t request_selected_span(const struct request_screen *screen);
/* Rows of the values of the span under the cursor. */
uint32_t request_value_rows(const struct request_screen *screen);

#endif
