/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "config/instant.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "config/duration.h"

#define SECOND 1000000000u
#define DAY_NS (86400ull * SECOND)

/* The least digits of a number of nanoseconds: as seconds it would be far beyond any clock. */
#define NS_DIGITS 16

/* ".25", or nothing: to the nanosecond, further digits must not be. */
static bool parse_fraction(const char *text, uint64_t *ns)
{
	uint64_t unit = SECOND / 10;

	*ns = 0;
	if (*text == '\0') {
		return true;
	}
	if (*text++ != '.' || *text == '\0') {
		return false;
	}
	for (; *text; text++, unit /= 10) {
		if (!isdigit((unsigned char)*text) || unit == 0) {
			return false;
		}
		*ns += (uint64_t)(*text - '0') * unit;
	}
	return true;
}

/* Two digits at *text, at most `most`, and the sign after them (0: none). */
static bool take_pair(const char **text, int most, char after, int *value)
{
	const char *at = *text;

	if (!isdigit((unsigned char)at[0]) || !isdigit((unsigned char)at[1])) {
		return false;
	}
	*value = (at[0] - '0') * 10 + (at[1] - '0');
	at += 2;
	if (*value > most || (after && *at++ != after)) {
		return false;
	}
	*text = at;
	return true;
}

static bool parse_time_of_day(const char *text, uint64_t *ns)
{
	int hour, minute, second;
	uint64_t fraction;

	if (!take_pair(&text, 23, ':', &hour) || !take_pair(&text, 59, ':', &minute) ||
			!take_pair(&text, 59, '\0', &second) || !parse_fraction(text, &fraction)) {
		return false;
	}
	*ns = ((uint64_t)hour * 3600 + (uint64_t)minute * 60 + (uint64_t)second) * SECOND +
	      fraction;
	return true;
}

static bool parse_date(const char *text, uint64_t *ns)
{
	struct tm tm = {.tm_isdst = 0}, back;
	int century, year, month, day;
	uint64_t of_day;
	time_t seconds;

	if (!take_pair(&text, 99, '\0', &century) || !take_pair(&text, 99, '-', &year) ||
			!take_pair(&text, 12, '-', &month) || !take_pair(&text, 31, '\0', &day) ||
			(*text != ' ' && *text != 'T') || !parse_time_of_day(text + 1, &of_day)) {
		return false;
	}
	tm.tm_year = century * 100 + year - 1900;
	tm.tm_mon = month - 1;
	tm.tm_mday = day;
	seconds = timegm(&tm);
	/* The 31st of February would become a day of March. */
	if (seconds < 0 || !gmtime_r(&seconds, &back) || back.tm_mday != day || month == 0) {
		return false;
	}
	*ns = (uint64_t)seconds * SECOND + of_day;
	return true;
}

static bool parse_number(const char *text, uint64_t *ns)
{
	size_t digits = strspn(text, "0123456789");
	uint64_t fraction;

	if (digits == 0 || digits > 19) {
		return false;
	}
	*ns = strtoull(text, NULL, 10);
	if (digits >= NS_DIGITS) {
		return text[digits] == '\0' && *ns <= INT64_MAX;
	}
	if (*ns > INT64_MAX / SECOND || !parse_fraction(text + digits, &fraction)) {
		return false;
	}
	*ns = *ns * SECOND + fraction;
	return true;
}

bool instant_parse(const char *text, struct instant *instant)
{
	if (text[0] == '-') {
		instant->kind = INSTANT_BACK;
		return duration_parse(text + 1, &instant->ns);
	}
	if (parse_date(text, &instant->ns) || parse_number(text, &instant->ns)) {
		instant->kind = INSTANT_ABSOLUTE;
		return true;
	}
	instant->kind = INSTANT_OF_DAY;
	return parse_time_of_day(text, &instant->ns);
}

uint64_t instant_resolve(const struct instant *instant, uint64_t first_ns)
{
	uint64_t at_ns = instant->ns;

	if (instant->kind == INSTANT_OF_DAY) {
		at_ns += first_ns - first_ns % DAY_NS;
		if (at_ns + DAY_NS / 2 < first_ns) {
			at_ns += DAY_NS;
		}
	}
	return at_ns;
}

bool instant_read(const char *text, uint64_t first_ns, uint64_t now_ns, uint64_t *at_ns)
{
	struct instant instant;

	if (!instant_parse(text, &instant)) {
		return false;
	}
	if (instant.kind == INSTANT_BACK) {
		*at_ns = now_ns > instant.ns ? now_ns - instant.ns : 0;
	} else {
		*at_ns = instant_resolve(&instant, first_ns);
	}
	return true;
}

char *instant_format(char out[INSTANT_BYTES], uint64_t ns)
{
	time_t seconds = (time_t)(ns / SECOND);
	char date[24] = "-";
	struct tm utc;

	if (gmtime_r(&seconds, &utc)) {
		strftime(date, sizeof(date), "%Y-%m-%d %H:%M:%S", &utc);
	}
	snprintf(out, INSTANT_BYTES, "%s.%09u UTC", date, (unsigned int)(ns % SECOND));
	return out;
}
