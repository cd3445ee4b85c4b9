/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PT_CTF_TSDL_H
#define PT_CTF_TSDL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * What the metadata of a trace declares, in the language of CTF 1.8 (TSDL), as a tree.
 *
 * The text is not trusted: types nest at most TSDL_MAX_DEPTH deep, also through names, and the
 * memory that the result takes grows with the length of the text alone. Types that are used by name
 * are shared. Everything lives as long as the result.
 */
#define TSDL_MAX_DEPTH 32
#define TSDL_MAX_NAMES 4096        /* of types, in the blocks around one place */
#define TSDL_MAX_BYTES (16u << 20) /* of text */

enum ctf_kind {
	CTF_INTEGER = 1,
	CTF_FLOAT,
	CTF_STRING,
	CTF_ENUM,
	CTF_STRUCT,
	CTF_ARRAY,
	CTF_SEQUENCE,
	CTF_VARIANT,
};

enum ctf_order {
	CTF_ORDER_TRACE = 0, /* as the trace block says */
	CTF_ORDER_LITTLE,
	CTF_ORDER_BIG,
};

#define CTF_PIECE '\x1f'

/* Both ends included; two's complement where the enumeration is of a signed integer. */
struct ctf_label {
	struct ctf_label *next;
	const char *name;
	uint64_t lower, upper;
};

struct ctf_member {
	struct ctf_member *next;
	const char *name; /* as declared, with a leading underscore if it has one */
	struct ctf_type *type;
	struct ctf_label *ranges; /* CTF 2, an option: of the tags that select it */
};

struct ctf_type {
	uint8_t kind;  /* enum ctf_kind */
	uint8_t order; /* enum ctf_order */
	uint8_t base;
	uint8_t depth; /* 1 for one without others inside */
	bool is_signed;
	bool is_text;      /* an integer with an encoding: arrays of it are strings */
	bool is_bool;      /* an integer that is shown as 0 or 1 */
	bool is_variable;  /* an integer of 7 bits a byte, up to 64 (LEB128) */
	bool is_optional;  /* CTF_VARIANT of one option, or of nothing */
	uint8_t meaning;   /* CTF 2: enum ctf_meaning, by its role */
	uint8_t origin;    /* CTF 2: the scope where `path` begins; CTF_SCOPES: around the field */
	char separator;    /* of the pieces of `path`: '.', or CTF_PIECE; a piece "" goes up */
	uint32_t bits;     /* CTF_INTEGER 1 to 64; CTF_FLOAT: 32 or 64 */
	uint32_t align;    /* bits, a power of two; of a structure at least its members' */
	uint32_t n;        /* members, options or labels */
	uint64_t length;   /* CTF_ARRAY: elements */
	const char *path;  /* CTF_SEQUENCE: of the length; CTF_VARIANT: of the tag, NULL if not said
			    */
	const char *clock; /* CTF_INTEGER that a clock is mapped to: its name; else NULL */
	struct ctf_type *of; /* element; of an enumeration its integer */
	struct ctf_member *members;
	struct ctf_label *labels;
};

struct ctf_clock {
	struct ctf_clock *next;
	const char *name, *uuid; /* "" if not said */
	uint64_t hz;             /* 1,000,000,000 unless said otherwise; never 0 */
	int64_t offset_s;
	uint64_t offset_cycles;
	bool absolute;
};

struct ctf_stream_class {
	struct ctf_stream_class *next;
	uint64_t id;
	struct ctf_type *packet_context, *event_header, *event_context; /* NULL if not declared */
	const char *clock; /* CTF 2: the name of its clock; else NULL */
};

struct ctf_event_class {
	struct ctf_event_class *next;
	uint64_t id, stream_id;
	bool has_stream_id;
	const char *name;
	struct ctf_type *context, *fields; /* NULL if not declared */
};

struct ctf_variable { /* of the environment */
	struct ctf_variable *next;
	const char *name;
	const char *text; /* "" if it is a number */
};

struct ctf_metadata {
	uint32_t version; /* of CTF: 1, or 2 */
	enum ctf_order order;
	const char *uuid; /* "" if not said */
	struct ctf_type *packet_header;
	struct ctf_clock *clocks;
	struct ctf_stream_class *streams;
	struct ctf_event_class *events; /* in the order of the text */
	struct ctf_variable *environment;
};

/* NULL if the text is not TSDL or memory is short; `error` then says what, and in which line. */
struct ctf_metadata *tsdl_parse(const char *text, size_t length, char *error, size_t error_room);
void tsdl_release(struct ctf_metadata *metadata);

/*
 * The same piece by piece, for metadata that grows: what was declared stays where it is. A piece
 * has to be of whole statements, of which tsdl_whole() tells the bytes at the start of a text.
 * After a failure nothing more can be appended.
 */
struct ctf_metadata *tsdl_create(void);
bool tsdl_append(struct ctf_metadata *metadata, const char *text, size_t length, char *error,
		size_t error_room);
size_t tsdl_whole(const char *text, size_t length);

/*
 * The text in a metadata stream that is cut into packets, in either byte order, as a copy to
 * free(); a stream without packets is a text already. NULL if a packet's sizes contradict each
 * other or the stream, or memory is short.
 */
char *tsdl_text(const unsigned char *bytes, size_t size, size_t *length);

#endif
