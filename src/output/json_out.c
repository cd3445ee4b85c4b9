/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "output/json_out.h"

#include <jansson.h>
#include <string.h>

#include "pythiatop/text.h"

#define TEXT_MAX 4096 /* bytes of an escaped text; the rest is left out */

/*
 * Significant digits of a real number: more than any statistic here is worth, few enough that the
 * last bits of a sum do not show.
 */
#define FORMAT (JSON_COMPACT | JSON_REAL_PRECISION(12))

void json_out_texts(struct json_out *json, const char *name, const char *const *texts, uint32_t n)
{
	json_out_open(json, name, '[');
	for (uint32_t i = 0; i < n; i++) {
		json_out_value(json, NULL, value_text(texts[i]));
	}
	json_out_close(json, ']');
}

void json_out_flush(struct json_out *json)
{
	fwrite(json->bytes, 1, json->used, json->file);
	json->used = 0;
}

static void put(struct json_out *json, const char *bytes, size_t n)
{
	if (n > JSON_OUT_BYTES - json->used) {
		json_out_flush(json);
	}
	if (n > JSON_OUT_BYTES) {
		fwrite(bytes, 1, n, json->file);
		return;
	}
	memcpy(json->bytes + json->used, bytes, n);
	json->used += n;
}

static void put_byte(struct json_out *json, char byte)
{
	put(json, &byte, 1);
}

/* Two characters are left that JSON escapes where there are no control characters. */
static void put_quoted(struct json_out *json, const char *text, size_t n)
{
	size_t from = 0, i;

	put_byte(json, '"');
	for (i = 0; i < n; i++) {
		if (text[i] == '"' || text[i] == '\\') {
			put(json, text + from, i - from);
			put_byte(json, '\\');
			from = i;
		}
	}
	put(json, text + from, n - from);
	put_byte(json, '"');
}

/* What stands before a value: a comma, and the value's name. */
static void put_name(struct json_out *json, const char *name)
{
	if (json->more) {
		put_byte(json, ',');
	}
	json->more = true;
	if (name) {
		put_quoted(json, name, strlen(name));
		put_byte(json, ':');
	}
}

static void put_number(struct json_out *json, int64_t number)
{
	uint64_t left = number < 0 ? 0 - (uint64_t)number : (uint64_t)number;
	char digits[24], *at = digits + sizeof(digits);

	do {
		*--at = (char)('0' + left % 10);
		left /= 10;
	} while (left > 0);
	if (number < 0) {
		*--at = '-';
	}
	put(json, at, (size_t)(digits + sizeof(digits) - at));
}

/* How a real number looks is jansson's choice: "1.0", "1e-7". */
static void put_real(struct json_out *json, double real)
{
	json_t *value = json_real(real);
	char text[64];

	put(json, text, json_dumpb(value, text, sizeof(text), FORMAT | JSON_ENCODE_ANY));
	json_decref(value);
}

static void put_text(struct json_out *json, const char *text)
{
	char safe[TEXT_MAX];
	size_t n = text_escape(safe, sizeof(safe), text);

	put_quoted(json, safe, n);
}

void json_out_open(struct json_out *json, const char *name, char bracket)
{
	put_name(json, name);
	put_byte(json, bracket);
	json->more = false;
}

void json_out_close(struct json_out *json, char bracket)
{
	put_byte(json, bracket);
	json->more = true;
}

void json_out_value(struct json_out *json, const char *name, struct value value)
{
	put_name(json, name);
	switch (value.kind) {
	case VALUE_FLAG:
		put(json, value.flag ? "true" : "false", value.flag ? 4 : 5);
		break;
	case VALUE_NUMBER:
		put_number(json, value.number);
		break;
	case VALUE_REAL:
		put_real(json, value.real);
		break;
	case VALUE_TEXT:
		put_text(json, value.text);
		break;
	default:
		put(json, "null", 4);
		break;
	}
}

void json_out_members(struct json_out *json, const struct member *members, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++) {
		json_out_value(json, members[i].name, members[i].value);
	}
}
