/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef UI_FIRST_RUN_H
#define UI_FIRST_RUN_H

#include "pythiatop/snapshot/snapshot.h"
#include "role.h"

/*
 * What a person without any request on the screen must know: what is missing, and the exact command
 * that helps. What is wrong with a source it says itself, in `detail`.
 */
#define FIRST_RUN_LINES 12
#define FIRST_RUN_BYTES 512

struct first_run {
	int n;
	struct {
		enum role role;
		char text[FIRST_RUN_BYTES];
	} lines[FIRST_RUN_LINES];
	bool pick;      /* there is a source to pick on the sources screen */
	bool unmatched; /* events come, but start no request */
};

void first_run_compose(struct first_run *first_run, const struct snapshot *snapshot);

/* Why nothing can be said of some groups yet, or "" if all have enough requests. */
void first_run_need_more(char *out, size_t size, const struct groups_view *groups);

/* One source in a sentence; "" if all is well. */
void first_run_source(char *out, size_t size, const struct source_row *row);

#endif
