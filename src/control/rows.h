/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PT_CONTROL_ROWS_H
#define PT_CONTROL_ROWS_H

#include <jansson.h>

#include "control/hosts.h"

/*
 * The rows of one answer, collected as they come and checked: what has a wrong type, no name, or
 * too much of something makes the whole answer one that is not the protocol.
 *
 * Memory: CONTROL_MAX_ROWS rows, CONTROL_MAX_BYTES of what they hold.
 */
struct rows {
	struct control_session *sessions;
	struct control_point *points;
	struct control_channel *channels;
	struct control_rule_row *rules;
	struct control_change *changes;
	struct control_lack *lacks;
	uint32_t n_sessions, n_points, n_channels, n_rules, n_changes, n_lacks, n;
	struct rows_block *blocks; /* where texts and lists are */
	size_t bytes;
};

/* A row of an answer to `verb`. STATUS_OK, STATUS_PROTOCOL, STATUS_FULL, STATUS_NO_MEMORY. */
enum status rows_take(struct rows *rows, enum control_verb verb, const json_t *line);

/* Lends them to an answer. */
void rows_lend(const struct rows *rows, struct control_answer *answer);
void rows_clear(struct rows *rows);

#endif
