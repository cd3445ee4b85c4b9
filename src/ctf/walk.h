/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PT_CTF_WALK_H
#define PT_CTF_WALK_H

#include "bits.h"
#include "field.h"

/*
 * Reading the fields of a packet one after the other, wherever they may lie: what numbers mean, set
 * or tell others is noted on the way. Every step checks what is left of the packet.
 *
 * Work: each step costs one of `steps`, which grow with the packet's bytes, so that fields without
 * any bits cannot keep a reader busy for ever.
 * Errors: false, and `fault` says why.
 */
struct ctf_place {
	const unsigned char *bytes;
	uint64_t at, end; /* bits */
	uint64_t clock;   /* cycles, as of the last number that sets it */
	uint64_t steps;   /* left */
	const char *fault;
	uint32_t known; /* bit of each meaning that was told */
	uint64_t told[CTF_MEANINGS];
	uint64_t kept[CTF_KEPT_MAX];
};

bool ctf_fault(struct ctf_place *place, const char *why);

static inline uint64_t ctf_round_up(uint64_t at, uint32_t align)
{
	return (at + align - 1) & ~((uint64_t)align - 1);
}

/* The clock after a number of so many of its lowest bits: they have wrapped once at most. */
static inline void ctf_set_clock(struct ctf_place *place, uint64_t value, uint32_t bits)
{
	uint64_t mask;

	if (bits == 64) {
		place->clock = value;
		return;
	}
	mask = (UINT64_C(1) << bits) - 1;
	if (value < (place->clock & mask)) {
		place->clock += mask + 1;
	}
	place->clock = (place->clock & ~mask) | value;
}

/* What follows from the value of a number of so many bits; false if it cannot be. */
bool ctf_note(struct ctf_place *place, const struct ctf_field *field, uint64_t value,
		uint32_t bits);

static inline bool ctf_align(struct ctf_place *place, uint32_t align)
{
	uint64_t at = ctf_round_up(place->at, align);

	if (at > place->end || at < place->at) {
		return ctf_fault(place, "a field beyond the end of its packet");
	}
	place->at = at;
	return true;
}

/* CTF_INTEGER, CTF_ENUM, CTF_FLOAT: the value, sign extended; of the latter the bits of its type.
 */
bool ctf_take_number(struct ctf_place *place, const struct ctf_field *field, uint64_t *value);

/* CTF_STRING, and arrays that are texts: without the 0. */
bool ctf_take_text(struct ctf_place *place, const struct ctf_field *field,
		const unsigned char **text, uint64_t *length);

/* CTF_ARRAY, CTF_SEQUENCE: how many elements come now. */
bool ctf_take_length(struct ctf_place *place, const struct ctf_field *field, uint64_t *length);

/* CTF_VARIANT: the option that comes now. NULL with a fault, or without where it is optional. */
const struct ctf_field *ctf_take_option(struct ctf_place *place, const struct ctf_field *field);

/* Behind the field, with all that it notes. */
bool ctf_skip(struct ctf_place *place, const struct ctf_field *field);

#endif
