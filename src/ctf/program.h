/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PT_CTF_PROGRAM_H
#define PT_CTF_PROGRAM_H

#include "walk.h"

/*
 * The fields of an event as straight steps, compiled once and run for every event: numbers that lie
 * at a known distance from each other are checked against the packet's end together, and copied to
 * their slots; what nobody shows is passed over.
 *
 * A text or a tree (an array, a variant, and what is in them) is put off: the run notes where it
 * lies, for the caller to copy in an order of its own.
 *
 * Memory: CTF_STEPS_MAX steps.
 */
#define CTF_STEPS_MAX (1u << 16)
#define CTF_NO_SLOT   UINT16_MAX

struct ctf_program;

/* Where something that was put off lies. */
struct ctf_late {
	const unsigned char *text; /* NULL: a tree */
	uint64_t length;
	uint64_t at; /* bits */
};

struct ctf_program *ctf_program_create(void);
void ctf_program_destroy(struct ctf_program *program);

/* Begins a scope: the structure's alignment. */
void ctf_program_scope(struct ctf_program *program, const struct ctf_field *root);

/*
 * The next field, in the order of the packet. A number goes to the slot (or CTF_NO_SLOT), anything
 * else to late[slot] of the run. Structures are entered by the caller.
 */
void ctf_program_add(struct ctf_program *program, const struct ctf_field *field, uint16_t slot);

/* The next field and all in it, none of which has a slot. */
void ctf_program_pass(struct ctf_program *program, const struct ctf_field *field);

/* False if memory was short or there are too many steps: not to be run. */
bool ctf_program_is_whole(const struct ctf_program *program);

/* Runs at place->at. `slots` and `late` have room for all slots. False with a fault. */
bool ctf_program_run(const struct ctf_program *program, struct ctf_place *place, uint64_t *slots,
		struct ctf_late *late);

#endif
