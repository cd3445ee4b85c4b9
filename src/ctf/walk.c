/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "walk.h"

#define PACKET_MAGIC 0xc1fc1fc1u

bool ctf_fault(struct ctf_place *place, const char *why)
{
	if (!place->fault) {
		place->fault = why;
	}
	return false;
}

bool ctf_note(struct ctf_place *place, const struct ctf_field *field, uint64_t value, uint32_t bits)
{
	if (field->kept >= 0) {
		place->kept[field->kept] = value;
	}
	if (field->is_signed) {
		return true;
	}
	if (field->meaning) {
		place->told[field->meaning] = value;
		place->known |= 1u << field->meaning;
		if (field->meaning == CTF_MEANS_MAGIC && value != PACKET_MAGIC) {
			return ctf_fault(place, "a packet does not begin as packets do");
		}
	}
	if (field->is_clock) {
		ctf_set_clock(place, value, bits);
		/* CTF 2: its lowest bits alone may be told. */
		if (field->type->meaning && field->meaning == CTF_MEANS_BEGIN) {
			place->told[CTF_MEANS_BEGIN] = place->clock;
		}
	}
	return true;
}

static bool has(struct ctf_place *place, uint64_t bits)
{
	if (bits > place->end - place->at) {
		return ctf_fault(place, "a field goes beyond the end of its packet");
	}
	return true;
}

static bool step(struct ctf_place *place)
{
	if (place->steps == 0) {
		return ctf_fault(place, "more fields than its bytes are worth");
	}
	place->steps--;
	return true;
}

/* Seven bits a byte, the lowest ones first; the highest bit of a byte says that more come. */
static bool take_variable(struct ctf_place *place, const struct ctf_field *field, uint64_t *value)
{
	uint32_t bits = 0;
	unsigned char byte;

	if (!ctf_align(place, 8)) {
		return false;
	}
	*value = 0;
	do {
		if (!has(place, 8)) {
			return false;
		}
		byte = place->bytes[place->at / 8];
		place->at += 8;
		if (bits > 63 || (bits == 63 && (byte & 0x7e) != 0 && (byte & 0x7f) != 0x7f)) {
			return ctf_fault(place, "a number of more than 64 bits");
		}
		*value |= (uint64_t)(byte & 0x7f) << bits;
		bits += 7;
	} while (byte & 0x80);
	bits = bits < 64 ? bits : 64;
	if (field->is_signed) {
		*value = ctf_extend_sign(*value, bits);
	}
	return ctf_note(place, field, *value, bits);
}

bool ctf_take_number(struct ctf_place *place, const struct ctf_field *field, uint64_t *value)
{
	if (!step(place)) {
		return false;
	}
	if (field->is_variable) {
		return take_variable(place, field, value);
	}
	if (!ctf_align(place, field->align) || !has(place, field->bits)) {
		return false;
	}
	*value = ctf_load(place->bytes, place->at, field->bits, field->is_big);
	if (field->is_signed) {
		*value = ctf_extend_sign(*value, field->bits);
	}
	if (field->is_bool) {
		*value = *value != 0;
	}
	place->at += field->bits;
	return ctf_note(place, field, *value, field->bits);
}

static bool take_string(struct ctf_place *place, const unsigned char **text, uint64_t *length)
{
	const unsigned char *start, *end;

	if (!ctf_align(place, 8)) {
		return false;
	}
	start = place->bytes + place->at / 8;
	end = memchr(start, 0, (place->end - place->at) / 8);
	if (!end) {
		return ctf_fault(place, "a text goes beyond the end of its packet");
	}
	*text = start;
	*length = (uint64_t)(end - start);
	place->at += (*length + 1) * 8;
	return true;
}

bool ctf_take_text(struct ctf_place *place, const struct ctf_field *field,
		const unsigned char **text, uint64_t *length)
{
	uint64_t n;

	if (!step(place)) {
		return false;
	}
	if (field->kind == CTF_STRING) {
		return take_string(place, text, length);
	}
	if (!ctf_take_length(place, field, &n)) {
		return false;
	}
	*text = place->bytes + place->at / 8;
	*length = strnlen((const char *)*text, n);
	place->at += n * 8;
	return true;
}

bool ctf_take_length(struct ctf_place *place, const struct ctf_field *field, uint64_t *length)
{
	uint32_t least = field->inside->is_variable ? 8 : field->inside->bits;

	*length = field->kind == CTF_ARRAY ? field->length : place->kept[field->source];
	if (!ctf_align(place, field->align)) {
		return false;
	}
	if (least > 0 && *length > (place->end - place->at) / least) {
		return ctf_fault(place, "an array goes beyond the end of its packet");
	}
	return true;
}

const struct ctf_field *ctf_take_option(struct ctf_place *place, const struct ctf_field *field)
{
	uint64_t tag = place->kept[field->source];
	/* As if signed values began at 0: then they compare as unsigned ones. */
	uint64_t lowest = field->tag_is_signed ? UINT64_C(1) << 63 : 0;

	for (uint32_t i = 0; i < field->n_choices; i++) {
		const struct ctf_choice *choice = &field->choices[i];

		if ((tag ^ lowest) >= (choice->lower ^ lowest) &&
				(tag ^ lowest) <= (choice->upper ^ lowest)) {
			return &field->inside[choice->option];
		}
	}
	if (!field->is_optional) {
		ctf_fault(place, "a tag that selects nothing");
	}
	return NULL;
}

/* Elements all of the same size, without anything to note. */
static bool skip_alike(struct ctf_place *place, const struct ctf_field *element, uint64_t n)
{
	uint64_t stride = ctf_round_up((uint64_t)element->fixed, element->align);

	if (n == 0 || stride == 0) {
		return true;
	}
	if (n - 1 > (place->end - place->at) / stride) {
		return ctf_fault(place, "an array goes beyond the end of its packet");
	}
	place->at += (n - 1) * stride;
	if (!has(place, (uint64_t)element->fixed)) {
		return false;
	}
	place->at += (uint64_t)element->fixed;
	return true;
}

static bool skip_array(struct ctf_place *place, const struct ctf_field *field)
{
	uint64_t n;

	if (!ctf_take_length(place, field, &n)) {
		return false;
	}
	if (field->inside->fixed >= 0) {
		return skip_alike(place, field->inside, n);
	}
	for (uint64_t i = 0; i < n; i++) {
		if (!ctf_skip(place, field->inside)) {
			return false;
		}
	}
	return true;
}

static bool skip_struct(struct ctf_place *place, const struct ctf_field *field)
{
	if (!ctf_align(place, field->align)) {
		return false;
	}
	if (field->fixed >= 0) {
		if (!has(place, (uint64_t)field->fixed)) {
			return false;
		}
		place->at += (uint64_t)field->fixed;
		return true;
	}
	for (uint32_t i = 0; i < field->n; i++) {
		if (!ctf_skip(place, &field->inside[i])) {
			return false;
		}
	}
	return true;
}

bool ctf_skip(struct ctf_place *place, const struct ctf_field *field)
{
	const unsigned char *text;
	const struct ctf_field *option;
	uint64_t value;

	if (!step(place)) {
		return false;
	}
	switch (field->kind) {
	case CTF_STRUCT:
		return skip_struct(place, field);
	case CTF_ARRAY:
	case CTF_SEQUENCE:
		return skip_array(place, field);
	case CTF_VARIANT:
		option = ctf_take_option(place, field);
		return option ? ctf_skip(place, option) : place->fault == NULL;
	case CTF_STRING:
		return ctf_take_text(place, field, &text, &value);
	default:
		return ctf_take_number(place, field, &value);
	}
}
