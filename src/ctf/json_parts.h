/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PT_CTF_JSON_PARTS_H
#define PT_CTF_JSON_PARTS_H

#include <jansson.h>

#include "parser.h"

/* What json.c (fragments) and json_type.c (field classes) share. */

struct fragment {
	struct document *document;
	uint32_t number, depth;
	const char *clock; /* of the stream class at hand; NULL: none */
	char *error;
	size_t error_room;
	bool failed;
};

/* Always false. `what` names the fault. */
bool fragment_fail(struct fragment *fragment, const char *what, const char *name);
void *fragment_alloc(struct fragment *fragment, size_t size);
const char *fragment_copy(struct fragment *fragment, const char *text);

/* Numbers too large for JSON's integers come as texts. */
bool fragment_number(const json_t *value, uint64_t *number);

/* A property, or `otherwise` where there is none. */
uint64_t fragment_count(
		struct fragment *fragment, const json_t *of, const char *name, uint64_t otherwise);
const char *fragment_text(const json_t *of, const char *name, const char *otherwise);

/* A field class, or the name of an alias. NULL with the fragment failed. */
struct ctf_type *fragment_type(struct fragment *fragment, const json_t *class);

#endif
