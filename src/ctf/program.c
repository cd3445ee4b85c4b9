/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "program.h"

#include <stdlib.h>

#include "base/array.h"

#define SEGMENT_MAX (1u << 24) /* bits of what is checked at once */

enum step_kind {
	STEP_SEGMENT, /* what follows lies at known offsets, up to the next segment */
	/* Into a slot, whole bytes: */
	STEP_8,
	STEP_16,
	STEP_32,
	STEP_64,
	STEP_SIGNED_8,
	STEP_SIGNED_16,
	STEP_SIGNED_32,
	STEP_SWAPPED_16,
	STEP_SWAPPED_32,
	STEP_SWAPPED_64,
	STEP_SWAPPED_SIGNED_16,
	STEP_SWAPPED_SIGNED_32,
	STEP_SINGLE,
	STEP_DOUBLE,
	STEP_BITS,       /* any bits */
	STEP_NOTED,      /* that it is noted, and perhaps a slot */
	STEP_CHARACTERS, /* an array that is a text */
	STEP_FIXED_TREE,
	/* Wherever the step before has ended: */
	STEP_TEXT,
	STEP_TREE,
	STEP_NUMBER, /* of variable length */
	STEP_SKIP,
	STEP_OPTION, /* of a variant that nobody shows: a program for each */
};

struct step {
	uint8_t kind;
	bool is_big;
	uint16_t slot;
	uint32_t offset; /* from the segment's start: bytes, where whole bytes are read, else bits
			  */
	uint32_t size;   /* STEP_SEGMENT: bits; STEP_CHARACTERS: of them */
	uint32_t align;
	const struct ctf_field *field;
	struct ctf_program **options;
};

struct ctf_program {
	struct step *steps;
	uint32_t n, room;
	uint32_t segment; /* the step that began it */
	bool in_segment;
	uint32_t align, offset; /* of the segment's start; of what comes next, bits from it */
	struct step spare;      /* taken where there is no room */
	bool failed;
};

struct ctf_program *ctf_program_create(void)
{
	return calloc(1, sizeof(struct ctf_program));
}

void ctf_program_destroy(struct ctf_program *program)
{
	if (!program) {
		return;
	}
	for (uint32_t i = 0; i < program->n; i++) {
		struct step *step = &program->steps[i];

		for (uint32_t j = 0; step->options && j < step->field->n; j++) {
			ctf_program_destroy(step->options[j]);
		}
		free(step->options);
	}
	free(program->steps);
	free(program);
}

bool ctf_program_is_whole(const struct ctf_program *program)
{
	return !program->failed;
}

static struct step *add_step(struct ctf_program *program, enum step_kind kind)
{
	if (program->failed || program->n == CTF_STEPS_MAX ||
			!array_reserve(&program->steps, &program->room, program->n + 1)) {
		program->failed = true;
		program->spare = (struct step){.kind = (uint8_t)kind};
		return &program->spare;
	}
	program->steps[program->n] = (struct step){.kind = (uint8_t)kind, .slot = CTF_NO_SLOT};
	return &program->steps[program->n++];
}

/* Gives something of known size its place; its offset in bits. */
static uint32_t place(struct ctf_program *program, uint32_t align, uint64_t bits)
{
	uint32_t offset;

	if (!program->in_segment || align > program->align || program->offset > SEGMENT_MAX / 2) {
		program->segment = program->n;
		add_step(program, STEP_SEGMENT)->align = align;
		program->in_segment = true;
		program->align = align;
		program->offset = 0;
	}
	offset = (uint32_t)ctf_round_up(program->offset, align);
	program->offset = offset + (uint32_t)bits;
	if (!program->failed) {
		program->steps[program->segment].size = program->offset;
	}
	return offset;
}

static enum step_kind kind_of_bytes(const struct ctf_field *field)
{
	bool swapped = field->is_big != CTF_HOST_IS_BIG;

	if (field->kind == CTF_FLOAT) {
		return field->bits == 32 ? STEP_SINGLE : STEP_DOUBLE;
	}
	switch (field->bits) {
	case 8:
		return field->is_signed ? STEP_SIGNED_8 : STEP_8;
	case 16:
		return field->is_signed ? (swapped ? STEP_SWAPPED_SIGNED_16 : STEP_SIGNED_16)
					: (swapped ? STEP_SWAPPED_16 : STEP_16);
	case 32:
		return field->is_signed ? (swapped ? STEP_SWAPPED_SIGNED_32 : STEP_SIGNED_32)
					: (swapped ? STEP_SWAPPED_32 : STEP_32);
	case 64:
		return swapped ? STEP_SWAPPED_64 : STEP_64;
	default:
		return STEP_BITS;
	}
}

static bool is_noted(const struct ctf_field *field)
{
	return field->kept >= 0 || field->meaning != CTF_MEANS_NOTHING ||
	       (field->is_clock && !field->is_signed);
}

static void add_number(struct ctf_program *program, const struct ctf_field *field, uint16_t slot)
{
	uint32_t offset = place(program, field->align, field->bits);
	bool whole = program->align >= 8 && offset % 8 == 0 && !field->is_bool;
	enum step_kind kind = is_noted(field) ? STEP_NOTED
			      : whole         ? kind_of_bytes(field)
					      : STEP_BITS;
	struct step *step;

	if (slot == CTF_NO_SLOT && kind != STEP_NOTED) {
		return;
	}
	step = add_step(program, kind);
	step->slot = slot;
	step->field = field;
	step->is_big = field->is_big;
	step->offset = kind == STEP_NOTED || kind == STEP_BITS ? offset : offset / 8;
}

/* Something whose size is not known before it is read. */
static struct step *add_open(struct ctf_program *program, enum step_kind kind,
		const struct ctf_field *field, uint16_t slot)
{
	struct step *step = add_step(program, kind);

	step->field = field;
	step->slot = slot;
	program->in_segment = false;
	return step;
}

static void add_characters(
		struct ctf_program *program, const struct ctf_field *field, uint16_t slot)
{
	uint32_t offset = place(program, 8, field->length * 8);
	struct step *step = add_step(program, STEP_CHARACTERS);

	step->field = field;
	step->slot = slot;
	step->offset = offset / 8;
	step->size = (uint32_t)field->length;
}

void ctf_program_scope(struct ctf_program *program, const struct ctf_field *root)
{
	place(program, root->align, 0);
}

void ctf_program_add(struct ctf_program *program, const struct ctf_field *field, uint16_t slot)
{
	bool is_text = field->kind == CTF_STRING || field->is_text;
	bool is_short = field->fixed >= 0 && field->fixed <= SEGMENT_MAX / 2;
	struct step *step;
	uint32_t offset;

	if (slot == CTF_NO_SLOT) {
		ctf_program_pass(program, field);
	} else if (field->is_variable) {
		add_open(program, STEP_NUMBER, field, slot);
	} else if (ctf_field_is_number(field) || field->kind == CTF_FLOAT) {
		add_number(program, field, slot);
	} else if (is_text && is_short) {
		add_characters(program, field, slot);
	} else if (!is_text && is_short) {
		offset = place(program, field->align, (uint64_t)field->fixed);
		step = add_step(program, STEP_FIXED_TREE);
		step->field = field;
		step->slot = slot;
		step->offset = offset;
	} else {
		add_open(program, is_text ? STEP_TEXT : STEP_TREE, field, slot);
	}
}

static void pass_variant(struct ctf_program *program, const struct ctf_field *field)
{
	struct step *step = add_open(program, STEP_OPTION, field, CTF_NO_SLOT);

	if (program->failed) {
		return;
	}
	step->options = calloc(field->n + 1, sizeof(*step->options));
	if (!step->options) {
		program->failed = true;
		return;
	}
	for (uint32_t i = 0; i < field->n; i++) {
		step->options[i] = ctf_program_create();
		if (!step->options[i]) {
			program->failed = true;
			return;
		}
		ctf_program_pass(step->options[i], &field->inside[i]);
		program->failed |= step->options[i]->failed;
	}
}

void ctf_program_pass(struct ctf_program *program, const struct ctf_field *field)
{
	if (field->is_variable) {
		add_open(program, STEP_SKIP, field, CTF_NO_SLOT);
	} else if (ctf_field_is_number(field) || field->kind == CTF_FLOAT) {
		add_number(program, field, CTF_NO_SLOT);
	} else if (field->fixed >= 0 && field->fixed <= SEGMENT_MAX / 2) {
		place(program, field->align, (uint64_t)field->fixed);
	} else if (field->kind == CTF_STRUCT) {
		place(program, field->align, 0);
		for (uint32_t i = 0; i < field->n; i++) {
			ctf_program_pass(program, &field->inside[i]);
		}
	} else if (field->kind == CTF_VARIANT) {
		pass_variant(program, field);
	} else {
		add_open(program, STEP_SKIP, field, CTF_NO_SLOT);
	}
}

/* --- Running ------------------------------------------------------------------------------------
 */

static uint64_t single_as_double(uint32_t bits)
{
	float single;
	double value;
	uint64_t wide;

	memcpy(&single, &bits, sizeof(single));
	value = (double)single;
	memcpy(&wide, &value, sizeof(wide));
	return wide;
}

static uint64_t odd_number(const struct step *step, const struct ctf_place *place, uint64_t start)
{
	const struct ctf_field *field = step->field;
	uint64_t value = ctf_load(place->bytes, start + step->offset, field->bits, field->is_big);

	if (field->is_signed) {
		value = ctf_extend_sign(value, field->bits);
	}
	if (field->is_bool) {
		return value != 0;
	}
	return field->kind == CTF_FLOAT && field->bits == 32 ? single_as_double((uint32_t)value)
							     : value;
}

static bool run_noted(
		const struct step *step, struct ctf_place *place, uint64_t start, uint64_t *slots)
{
	uint64_t value = odd_number(step, place, start);

	if (step->slot != CTF_NO_SLOT) {
		slots[step->slot] = value;
	}
	return ctf_note(place, step->field, value, step->field->bits);
}

static bool run_option(const struct step *step, struct ctf_place *place, uint64_t *slots,
		struct ctf_late *late)
{
	const struct ctf_field *option = ctf_take_option(place, step->field);

	return option &&
	       ctf_program_run(step->options[option - step->field->inside], place, slots, late);
}

static bool run_open(const struct step *step, struct ctf_place *place, uint64_t *slots,
		struct ctf_late *late)
{
	switch (step->kind) {
	case STEP_TEXT:
		return ctf_take_text(place, step->field, &late[step->slot].text,
				&late[step->slot].length);
	case STEP_TREE:
		late[step->slot].text = NULL;
		late[step->slot].at = place->at;
		return ctf_skip(place, step->field);
	case STEP_NUMBER:
		return ctf_take_number(place, step->field, &slots[step->slot]);
	case STEP_SKIP:
		return ctf_skip(place, step->field);
	default:
		return run_option(step, place, slots, late);
	}
}

/* Begins a segment, if the packet has all of it. */
static bool enter(const struct step *step, struct ctf_place *place, uint64_t *start)
{
	if (!ctf_align(place, step->align)) {
		return false;
	}
	if (step->size > place->end - place->at) {
		return ctf_fault(place, "a field goes beyond the end of its packet");
	}
	*start = place->at;
	place->at += step->size;
	return true;
}

bool ctf_program_run(const struct ctf_program *program, struct ctf_place *place, uint64_t *slots,
		struct ctf_late *late)
{
	const struct step *step = program->steps, *end = step ? step + program->n : NULL;
	const unsigned char *at = place->bytes;
	uint64_t start = 0;

	if (place->steps < program->n) {
		return ctf_fault(place, "more fields than its bytes are worth");
	}
	place->steps -= program->n;
	for (; step != end; step++) {
		switch (step->kind) {
		case STEP_SEGMENT:
			if (!enter(step, place, &start)) {
				return false;
			}
			at = place->bytes + start / 8;
			break;
		case STEP_8:
			slots[step->slot] = at[step->offset];
			break;
		case STEP_16:
			slots[step->slot] = ctf_load_16(at + step->offset, CTF_HOST_IS_BIG);
			break;
		case STEP_32:
			slots[step->slot] = ctf_load_32(at + step->offset, CTF_HOST_IS_BIG);
			break;
		case STEP_64:
			slots[step->slot] = ctf_load_64(at + step->offset, CTF_HOST_IS_BIG);
			break;
		case STEP_SIGNED_8:
			slots[step->slot] = (uint64_t)(int64_t)(int8_t)at[step->offset];
			break;
		case STEP_SIGNED_16:
			slots[step->slot] = (uint64_t)(int64_t)(int16_t)ctf_load_16(
					at + step->offset, CTF_HOST_IS_BIG);
			break;
		case STEP_SIGNED_32:
			slots[step->slot] = (uint64_t)(int64_t)(int32_t)ctf_load_32(
					at + step->offset, CTF_HOST_IS_BIG);
			break;
		case STEP_SWAPPED_16:
			slots[step->slot] = ctf_load_16(at + step->offset, !CTF_HOST_IS_BIG);
			break;
		case STEP_SWAPPED_32:
			slots[step->slot] = ctf_load_32(at + step->offset, !CTF_HOST_IS_BIG);
			break;
		case STEP_SWAPPED_64:
			slots[step->slot] = ctf_load_64(at + step->offset, !CTF_HOST_IS_BIG);
			break;
		case STEP_SWAPPED_SIGNED_16:
			slots[step->slot] = (uint64_t)(int64_t)(int16_t)ctf_load_16(
					at + step->offset, !CTF_HOST_IS_BIG);
			break;
		case STEP_SWAPPED_SIGNED_32:
			slots[step->slot] = (uint64_t)(int64_t)(int32_t)ctf_load_32(
					at + step->offset, !CTF_HOST_IS_BIG);
			break;
		case STEP_SINGLE:
			slots[step->slot] = single_as_double(
					ctf_load_32(at + step->offset, step->is_big));
			break;
		case STEP_DOUBLE:
			slots[step->slot] = ctf_load_64(at + step->offset, step->is_big);
			break;
		case STEP_BITS:
			slots[step->slot] = odd_number(step, place, start);
			break;
		case STEP_NOTED:
			if (!run_noted(step, place, start, slots)) {
				return false;
			}
			break;
		case STEP_CHARACTERS:
			late[step->slot].text = at + step->offset;
			late[step->slot].length =
					strnlen((const char *)at + step->offset, step->size);
			break;
		case STEP_FIXED_TREE:
			late[step->slot].text = NULL;
			late[step->slot].at = start + step->offset;
			break;
		default:
			if (!run_open(step, place, slots, late)) {
				return false;
			}
			break;
		}
	}
	return true;
}
