/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PT_OUTPUT_JSON_OUT_H
#define PT_OUTPUT_JSON_OUT_H

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "pythiatop/snapshot/row_field.h"

/*
 * A JSON document, written as it is made: there is never a tree of it in memory, so a document of
 * thousands of rows costs what its bytes cost. Numbers and texts look as jansson writes them.
 *
 *	struct json_out json = {.file = file};
 *
 *	json_out_open(&json, NULL, '{');
 *	json_out_open(&json, "rows", '[');
 *	JSON_OUT_ROW(&json, {"name", value_text(name)}, {"bytes", value_count(bytes)});
 *	json_out_close(&json, ']');
 *	json_out_close(&json, '}');
 *	json_out_flush(&json);
 *
 * In arrays names are NULL; else they are UTF-8 without control characters, of at most 4096 bytes.
 * Threads: one. Memory: JSON_OUT_BYTES. Errors: `failed`, and ferror() of the file after
 * json_out_flush().
 */
#define JSON_OUT_BYTES 16384

struct json_out {
	FILE *file;
	bool more; /* something stands before, on this level */
	size_t used;
	char bytes[JSON_OUT_BYTES];
};

enum value_kind {
	VALUE_NULL = 0,
	VALUE_FLAG,
	VALUE_NUMBER,
	VALUE_REAL,
	VALUE_TEXT,
};

struct value {
	enum value_kind kind;
	union {
		bool flag;
		int64_t number;
		double real;
		const char *text; /* borrowed; escaped as it is written: it need not be UTF-8 */
	};
};

struct member {
	const char *name;
	struct value value;
};

void json_out_open(struct json_out *json, const char *name, char bracket);
void json_out_close(struct json_out *json, char bracket);
void json_out_value(struct json_out *json, const char *name, struct value value);
void json_out_members(struct json_out *json, const struct member *members, size_t n);
void json_out_texts(struct json_out *json, const char *name, const char *const *texts, uint32_t n);
/* Those of the fields first .. last that documents have, in their order. */
void json_out_fields(struct json_out *json, const struct row_field *fields, int first, int last,
		const void *row);
/* Of all of them those that say something: no null, false, 0 or "". */
void json_out_set_fields(
		struct json_out *json, const struct row_field *fields, int n, const void *row);
/* An object in an array: all of them. */
void json_out_row(struct json_out *json, const struct row_field *fields, int n, const void *row);
void json_out_flush(struct json_out *json);

#define JSON_OUT_MEMBERS(json, ...)                                                                \
	json_out_members(json, (const struct member[]){__VA_ARGS__},                               \
			sizeof((const struct member[]){__VA_ARGS__}) / sizeof(struct member))

/* An object in an array. */
#define JSON_OUT_ROW(json, ...)                                                                    \
	do {                                                                                       \
		json_out_open(json, NULL, '{');                                                    \
		JSON_OUT_MEMBERS(json, __VA_ARGS__);                                               \
		json_out_close(json, '}');                                                         \
	} while (0)

static inline struct value value_null(void)
{
	return (struct value){.kind = VALUE_NULL};
}

static inline struct value value_flag(bool flag)
{
	return (struct value){.kind = VALUE_FLAG, .flag = flag};
}

static inline struct value value_number(int64_t number)
{
	return (struct value){.kind = VALUE_NUMBER, .number = number};
}

/* What readers of JSON take for an integer ends at INT64_MAX. */
static inline struct value value_count(uint64_t count)
{
	return value_number(count > INT64_MAX ? INT64_MAX : (int64_t)count);
}

static inline struct value value_count_if(bool valid, uint64_t count)
{
	return valid ? value_count(count) : value_null();
}

static inline struct value value_real_if(bool valid, double real)
{
	return valid && isfinite(real) ? (struct value){.kind = VALUE_REAL, .real = real}
				       : value_null();
}

/* NULL is "". */
static inline struct value value_text(const char *text)
{
	return (struct value){.kind = VALUE_TEXT, .text = text ? text : ""};
}

static inline struct value value_text_if(bool valid, const char *text)
{
	return valid ? value_text(text) : value_null();
}

/* Null if there is none. */
static inline struct value value_name(const char *text)
{
	return value_text_if(text && text[0], text);
}

#endif
