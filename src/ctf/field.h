/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PT_CTF_FIELD_H
#define PT_CTF_FIELD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "tsdl.h"

/*
 * The fields of one scope (a packet's header, an event's payload, ...) as a tree of their own:
 * types are shared by name, but which field tells the length of another, or what a field means,
 * belongs to a place. Byte orders, lengths, tags and clocks are resolved here, once.
 *
 * Memory: CTF_FIELDS_MAX fields in a scope, CTF_KEPT_MAX values that other fields depend on.
 */
#define CTF_FIELDS_MAX 16384
#define CTF_KEPT_MAX   128

/* In the order in which they lie in a packet. */
enum ctf_scope {
	CTF_PACKET_HEADER,
	CTF_PACKET_CONTEXT,
	CTF_EVENT_HEADER,
	CTF_COMMON_CONTEXT,
	CTF_SPECIFIC_CONTEXT,
	CTF_PAYLOAD,
	CTF_SCOPES,
};

/* What a number tells about the packet or event that it lies in. */
enum ctf_meaning {
	CTF_MEANS_NOTHING,
	CTF_MEANS_MAGIC,
	CTF_MEANS_UUID,
	CTF_MEANS_STREAM_CLASS,
	CTF_MEANS_STREAM,
	CTF_MEANS_BEGIN,
	CTF_MEANS_END,
	CTF_MEANS_CONTENT_SIZE, /* bits */
	CTF_MEANS_PACKET_SIZE,  /* bits */
	CTF_MEANS_DISCARDED,
	CTF_MEANS_SEQUENCE,
	CTF_MEANS_EVENT_CLASS,
	CTF_MEANINGS,
};

/* Values of a tag that select an option; both ends included, signed as the tag is. */
struct ctf_choice {
	uint64_t lower, upper;
	uint32_t option;
};

struct ctf_field {
	uint8_t kind; /* enum ctf_kind */
	uint8_t base;
	uint8_t meaning; /* enum ctf_meaning */
	bool is_big; /* the first byte has the highest bits, and a byte's first bit is its highest
		      */
	bool is_signed;
	bool is_clock;  /* sets the clock, or its lowest bits */
	bool is_text;   /* CTF_ARRAY, CTF_SEQUENCE of bytes up to the first 0 */
	bool is_shown;  /* to whoever reads the trace; others are there for the decoder alone */
	bool is_needed; /* something that is shown depends on it */
	bool is_bool, is_variable, is_optional; /* as of struct ctf_type */
	uint32_t bits, align;
	uint32_t n; /* CTF_STRUCT: members; CTF_VARIANT: options; CTF_ARRAY, CTF_SEQUENCE: 1 */
	struct ctf_field *inside;
	struct ctf_field *outside; /* NULL: the scope itself */
	uint64_t length;           /* CTF_ARRAY: elements */
	int64_t fixed;  /* bits, if they are always the same from where it is aligned; else -1 */
	int16_t kept;   /* where its value is kept for others; -1: nowhere */
	int16_t source; /* CTF_SEQUENCE, CTF_VARIANT: where length or tag are kept */
	struct ctf_field *teller; /* of length or tag */
	bool tag_is_signed;
	uint32_t n_choices;
	struct ctf_choice *choices;
	const char *declared; /* as in the metadata */
	const char *name;     /* without the underscore that keeps it apart from keywords */
	const struct ctf_type *type;
};

/* What the fields of a scope are made of. */
struct ctf_fields {
	struct arena *arena;
	const struct ctf_metadata *metadata;
	struct ctf_field *scopes[CTF_SCOPES]; /* NULL: there is none, or not yet */
	enum ctf_scope scope;                 /* that is being made */
	const struct ctf_clock *clock;        /* of the stream class, as far as is known */
	int16_t n_kept;                       /* values that are kept */
	int16_t n_kept_of_stream; /* up to the last one of a scope that all events have */
	uint32_t n_fields;        /* of this scope so far */
	char *error;
	size_t error_room;
	bool failed;
};

/* Puts the type's fields into the scope, with their meanings. False with an error. NULL is none. */
bool ctf_fields_add(struct ctf_fields *fields, enum ctf_scope scope, const struct ctf_type *type);

/* Finds out what is shown; scopes in reverse order, since what depends on others comes later. */
bool ctf_field_show(struct ctf_field *field);

/* Keeps the value of a number from now on. False if there are too many. */
bool ctf_fields_keep(struct ctf_fields *fields, struct ctf_field *field);

void ctf_fields_fail(struct ctf_fields *fields, const char *what, const char *name);

static inline bool ctf_field_is_number(const struct ctf_field *field)
{
	return field->kind == CTF_INTEGER || field->kind == CTF_ENUM;
}

#endif
