/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "output/json_out.h"

#include <float.h>
#include <jansson.h>
#include <string.h>

#include "pythiatop/text.h"

#define TEXT_MAX 4096 /* bytes of an escaped text; the rest is left out */

/*
 * Significant digits of a real number: more than any statistic here is worth, few enough that the
 * last bits of a sum do not show.
 */
#define DIGITS     12
#define FORMAT     (JSON_COMPACT | JSON_REAL_PRECISION(DIGITS))
#define DIGITS_LOW 1e11L /* the least number of so many digits */

/*
 * A number is written without the C library's help where it is between these, and so is not written
 * with an exponent: what scales it then is an exact power of ten, and DOUBT more than the error of
 * the product, which is in the last place of its digits.
 */
#define PLAIN_LOW  1e-4
#define PLAIN_HIGH 1e12
#define DOUBT      1e-4L

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
static char *quote(char *at, const char *text, size_t n)
{
	*at++ = '"';
	for (size_t i = 0; i < n; i++) {
		if (text[i] == '"' || text[i] == '\\') {
			*at++ = '\\';
		}
		*at++ = text[i];
	}
	*at++ = '"';
	return at;
}

/* Room for so many bytes in a row. */
static char *reserve(struct json_out *json, size_t n)
{
	if (n > JSON_OUT_BYTES - json->used) {
		json_out_flush(json);
	}
	return json->bytes + json->used;
}

static void advance(struct json_out *json, const char *at)
{
	json->used = (size_t)(at - json->bytes);
}

_Static_assert(2 * TEXT_MAX + 8 <= JSON_OUT_BYTES, "a name or a text fits, whatever is escaped");

/* What stands before a value: a comma, and the value's name. */
static void put_name(struct json_out *json, const char *name)
{
	size_t n = name ? strnlen(name, TEXT_MAX) : 0;
	char *at = reserve(json, 2 * n + 4);

	if (json->more) {
		*at++ = ',';
	}
	json->more = true;
	if (name) {
		at = quote(at, name, n);
		*at++ = ':';
	}
	advance(json, at);
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

/*
 * DIGITS digits of a number, as an integer, and how many of them stand behind the point (*behind).
 * 0: it is not of those that are easy, or so near to the middle of two that rounding is for who
 * does it exactly.
 */
static uint64_t digits_of(double real, int *behind)
{
	long double scaled = real, rest, power = 1;
	uint64_t digits;
	int shift = 0;

	if (LDBL_MANT_DIG < 64 || !(real >= PLAIN_LOW && real < PLAIN_HIGH)) {
		return 0;
	}
	while (scaled < DIGITS_LOW) {
		power *= 10; /* up to 10^15: exact */
		scaled = real * power;
		shift++;
	}
	digits = (uint64_t)scaled;
	rest = scaled - (long double)digits;
	if (rest > 0.5L - DOUBT && rest < 0.5L + DOUBT) {
		return 0;
	}
	digits += rest > 0.5L;
	*behind = shift > 0 ? shift : 1;
	return digits >= (uint64_t)PLAIN_HIGH ? 0 : shift > 0 ? digits : digits * 10;
}

/* Backwards from `end`, as printf's %.12g, but never without a digit behind the point. */
static char *write_real(char *end, uint64_t digits, int behind)
{
	char *at = end;

	for (; behind > 1 && digits % 10 == 0; behind--) {
		digits /= 10;
	}
	for (; behind > 0; behind--) {
		*--at = (char)('0' + digits % 10);
		digits /= 10;
	}
	*--at = '.';
	do {
		*--at = (char)('0' + digits % 10);
		digits /= 10;
	} while (digits > 0);
	return at;
}

/* How a real number looks is jansson's choice: "1.0", "1e-7". */
static void put_real(struct json_out *json, double real)
{
	char text[64], *end = text + sizeof(text), *at;
	int behind = 1;
	bool zero = real == 0 && !signbit(real);
	uint64_t digits = zero ? 0 : digits_of(fabs(real), &behind);
	json_t *value;

	if (digits || zero) {
		at = write_real(end, digits, behind);
		if (real < 0) {
			*--at = '-';
		}
		put(json, at, (size_t)(end - at));
		return;
	}
	value = json_real(real);
	put(json, text, json_dumpb(value, text, sizeof(text), FORMAT | JSON_ENCODE_ANY));
	json_decref(value);
}

static void put_text(struct json_out *json, const char *text)
{
	char safe[TEXT_MAX];
	size_t n = text_escape(safe, sizeof(safe), text);

	advance(json, quote(reserve(json, 2 * n + 2), safe, n));
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

static struct value value_of(struct row_value value)
{
	if (!value.known) {
		return value_null();
	}
	switch (value.kind) {
	case ROW_IS_FLAG:
		return value_flag(value.flag);
	case ROW_IS_COUNT:
		return value_count(value.count);
	case ROW_IS_NUMBER:
		return value_number(value.number);
	case ROW_IS_REAL:
		return value_real_if(true, value.real);
	case ROW_IS_TEXT:
		break;
	}
	return value_text(value.text);
}

void json_out_fields(struct json_out *json, const struct row_field *fields, int first, int last,
		const void *row)
{
	for (int i = first; i <= last; i++) {
		if (fields[i].name) {
			json_out_value(json, fields[i].name, value_of(row_read(&fields[i], row)));
		}
	}
}

static bool is_set(const struct value *value)
{
	switch (value->kind) {
	case VALUE_FLAG:
		return value->flag;
	case VALUE_NUMBER:
		return value->number != 0;
	case VALUE_REAL:
		return fpclassify(value->real) != FP_ZERO;
	case VALUE_TEXT:
		return value->text[0] != '\0';
	case VALUE_NULL:
	default:
		return false;
	}
}

void json_out_set_fields(
		struct json_out *json, const struct row_field *fields, int n, const void *row)
{
	for (int i = 0; i < n; i++) {
		struct value value = value_of(row_read(&fields[i], row));

		if (is_set(&value)) {
			json_out_value(json, fields[i].name, value);
		}
	}
}

void json_out_row(struct json_out *json, const struct row_field *fields, int n, const void *row)
{
	json_out_open(json, NULL, '{');
	json_out_fields(json, fields, 0, n - 1, row);
	json_out_close(json, '}');
}
