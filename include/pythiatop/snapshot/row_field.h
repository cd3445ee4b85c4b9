/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PYTHIATOP_SNAPSHOT_ROW_FIELD_H
#define PYTHIATOP_SNAPSHOT_ROW_FIELD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * A field of a row of a snapshot: what it is called in documents, its unit, and when it is known.
 * Each is listed once, in fields.h or state_fields.h: the cells of the screen, the order of its
 * rows, and documents read rows by these tables.
 *
 * Pure: any thread may read.
 */
enum row_type {
	ROW_TEXT, /* const char * */
	ROW_NAME, /* const char *, "" is not known */
	ROW_FLAG, /* bool */
	ROW_U64,  /* uint64_t */
	ROW_U32,  /* uint32_t */
	ROW_I32,  /* int32_t */
	ROW_ID,   /* int64_t, negative is not known */
	ROW_ID32, /* int32_t, negative is not known */
	ROW_REAL, /* double */
	ROW_READ, /* what a function says */
};

enum row_unit {
	UNIT_NONE,
	UNIT_COUNT,
	UNIT_BYTES,
	UNIT_NS,
	UNIT_CLOCK, /* ns since 1970 */
	UNIT_ID,
	UNIT_SHARE, /* of 1 */
	UNIT_RATIO, /* a number without unit */
	UNIT_PER_S,
};

enum row_kind { ROW_IS_TEXT, ROW_IS_FLAG, ROW_IS_COUNT, ROW_IS_NUMBER, ROW_IS_REAL };

/* What a row says of a field. `kind` tells which of the members is valid; none if not known. */
struct row_value {
	enum row_kind kind;
	bool known;
	union {
		const char *text;
		bool flag;
		uint64_t count;
		int64_t number;
		double real;
	};
};

struct row_field {
	const char *name; /* in documents; NULL: shown on the screen only */
	enum row_unit unit;
	bool (*known)(const void *row); /* NULL: always */
	enum row_type type;
	size_t offset;
	struct row_value (*read)(const void *row); /* of ROW_READ */
};

struct row_value row_read(const struct row_field *field, const void *row);

/*
 * A table of fields is a macro X(ID, name in documents, TYPE, member, UNIT, known). The order is
 * that of documents; those without a name are derived for the screen.
 */
#define ROW_FIELD_ID(id, name, type, member, unit, known) FIELD_##id,

#endif
