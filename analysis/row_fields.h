/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PT_ROW_FIELDS_H
#define PT_ROW_FIELDS_H

#include "pythiatop/snapshot/row_field.h"

/* What the tables of fields are made of. */

/* When a field of a `type` is known. */
#define KNOWN(name, type, condition)                                                               \
	static bool name(const void *of)                                                           \
	{                                                                                          \
		const struct type *row = of;                                                       \
                                                                                                   \
		return condition;                                                                  \
	}

/* What is derived from a `type`. */
#define DERIVED(name, type, value)                                                                 \
	static struct row_value name(const void *of)                                               \
	{                                                                                          \
		const struct type *row = of;                                                       \
                                                                                                   \
		return value;                                                                      \
	}

static inline struct row_value row_text(const char *text)
{
	return (struct row_value){.kind = ROW_IS_TEXT, .known = true, .text = text};
}

static inline struct row_value row_count(uint64_t count)
{
	return (struct row_value){.kind = ROW_IS_COUNT, .known = true, .count = count};
}

/* Not known where `of` is 0. */
static inline struct row_value row_ratio(uint64_t part, uint64_t of)
{
	return (struct row_value){.kind = ROW_IS_REAL,
			.known = of > 0,
			.real = of > 0 ? (double)part / (double)of : 0};
}

#define MEMBER_TEXT(row, member) ROW_TEXT, offsetof(struct row, member), NULL
#define MEMBER_NAME(row, member) ROW_NAME, offsetof(struct row, member), NULL
#define MEMBER_FLAG(row, member) ROW_FLAG, offsetof(struct row, member), NULL
#define MEMBER_U64(row, member)  ROW_U64, offsetof(struct row, member), NULL
#define MEMBER_U32(row, member)  ROW_U32, offsetof(struct row, member), NULL
#define MEMBER_I32(row, member)  ROW_I32, offsetof(struct row, member), NULL
#define MEMBER_ID(row, member)   ROW_ID, offsetof(struct row, member), NULL
#define MEMBER_ID32(row, member) ROW_ID32, offsetof(struct row, member), NULL
#define MEMBER_REAL(row, member) ROW_REAL, offsetof(struct row, member), NULL
#define MEMBER_READ(row, reader) ROW_READ, 0, reader

#define FIELD_OF(row, id, name, type, member, unit, known)                                         \
	[FIELD_##id] = {name, UNIT_##unit, known, MEMBER_##type(row, member)},

#endif
