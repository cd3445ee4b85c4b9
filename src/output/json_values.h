/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PT_OUTPUT_JSON_VALUES_H
#define PT_OUTPUT_JSON_VALUES_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "pythiatop/snapshot/snapshot.h"

/* Values of a document. All return a new reference, NULL if out of memory. */
json_t *json_text(const char *value); /* escaped: what a trace holds need not be UTF-8 */
json_t *json_count(uint64_t value);
json_t *json_count_if(bool valid, uint64_t value); /* null if not */
json_t *json_real_if(bool valid, double value);

json_t *json_name(const char *value); /* as json_text(); null if empty */

struct json_member {
	const char *name;
	json_t *value;
};

/* Takes over the values. NULL if one of them could not be made. */
json_t *json_object_of(const struct json_member *members, size_t n);

#define OBJECT(...)                                                                                \
	json_object_of((const struct json_member[]){__VA_ARGS__},                                  \
			sizeof((const struct json_member[]){__VA_ARGS__}) /                        \
					sizeof(struct json_member))

/* The state of the systems: "state" of a document. */
json_t *output_json_state(const struct state_view *state);

/* Group i of the view, with what is said of its variation: a row of "groups" of a document. */
json_t *output_json_group(const struct groups_view *groups, uint32_t i);

/*
 * "contexts" of a document: the tree of all groups together, if it is there, then one a group. Each
 * has at most OUTPUT_TREE_ROWS rows and all together OUTPUT_ROWS, the largest totals first at every
 * level; `left_out` tells how many more there are.
 */
#define OUTPUT_TREE_ROWS 1000
#define OUTPUT_ROWS      20000
json_t *output_json_contexts(const struct snapshot *snapshot);

#endif
