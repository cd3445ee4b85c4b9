/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PYTHIATOP_SNAPSHOT_UNMATCHED_H
#define PYTHIATOP_SNAPSHOT_UNMATCHED_H

#include <stdint.h>

/* Event names of which some events belong to no request: how many, why, and what was guessed. */
struct unmatched_row {
	const char *event;
	uint64_t total;     /* events of this name seen */
	uint64_t unmatched; /* of these, joined to nothing or in a fragment that expired */
	double rate_per_s;  /* of unmatched ones, over the window */
	const char *why;    /* the commonest reason, a short sentence */
	const char *role;   /* "entry of server_create", "point", "exit without entry", ... */
};

struct unmatched_view {
	uint32_t n; /* most unmatched first */
	const struct unmatched_row *rows;
	uint32_t event_names; /* known, seen or not */
};

#endif
