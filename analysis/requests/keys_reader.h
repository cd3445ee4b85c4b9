/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PT_REQUESTS_KEYS_READER_H
#define PT_REQUESTS_KEYS_READER_H

#include <stdbool.h>
#include <stdint.h>

/* Reading key-values of one request after the other; see keys.c. */

#define KEY_DIGITS 72u /* of a number as text, in whatever base */

#define KEY_RESOURCES 14u /* of struct state_resources that are key-values */

#define KEY_IDS 32u /* further names of ids are taken for values */

struct key_item;
struct request_key;

/* A field that is a key of its type's events. */
struct key_field {
	uint32_t at, name;
	bool numeric;
};

struct keys_of_type {
	uint32_t n;
	struct key_field *fields; /* NULL: not looked at so far */
};

/* What that works on, used again. */
struct keys_reader {
	struct keys_of_type *types;
	struct key_item *items;
	struct request_key *keys;
	char (*digits)[KEY_DIGITS];
	uint32_t n_types, n, room, key_room;
	uint32_t n_ids, ids[KEY_IDS]; /* interned names of fields that name requests or messages */
	bool ids_known;
	uint32_t resources[KEY_RESOURCES]; /* interned names; 0: not so far */
	uint64_t received_ns; /* when the request's message was received; UINT64_MAX: none was */
};

/* Plans may be other ones than before. */
void keys_reader_refresh(struct keys_reader *reader);
void keys_reader_release(struct keys_reader *reader);

#endif
