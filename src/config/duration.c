/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config/duration.h"

#define LONGEST_S (10.0 * 366 * 24 * 3600)

static const struct unit {
	const char *name;
	uint64_t ns;
} units[] = {
		{"h", 3600000000000u},
		{"m", 60000000000u},
		{"s", 1000000000u},
		{"ms", 1000000u},
		{"us", 1000u},
		{"ns", 1u},
};

#define N_UNITS (sizeof(units) / sizeof(units[0]))

/* The number that `text` begins with; *rest is what follows it. */
static bool parse_number(const char *text, double *number, char **rest)
{
	/* strtod() would also take blanks, signs, "nan", "inf" and hexadecimal. */
	if (!isdigit((unsigned char)text[0]) || text[1] == 'x' || text[1] == 'X') {
		return false;
	}
	errno = 0;
	*number = strtod(text, rest);
	return errno == 0;
}

static bool to_ns(double number, uint64_t unit_ns, uint64_t *ns)
{
	double value = number * (double)unit_ns;

	if (!(value <= LONGEST_S * 1e9)) {
		return false;
	}
	*ns = (uint64_t)llround(value);
	return true;
}

bool duration_parse(const char *text, uint64_t *ns)
{
	double number;
	char *rest;
	size_t i;

	if (!parse_number(text, &number, &rest)) {
		return false;
	}
	for (i = 0; i < N_UNITS; i++) {
		if (strcmp(rest, units[i].name) == 0) {
			return to_ns(number, units[i].ns, ns);
		}
	}
	return false;
}

bool duration_parse_seconds(const char *text, uint64_t *ns)
{
	double number;
	char *rest;

	return parse_number(text, &number, &rest) && *rest == '\0' &&
	       to_ns(number, 1000000000u, ns);
}

void duration_format(char *out, size_t size, uint64_t ns)
{
	size_t i;

	for (i = 0; i < N_UNITS - 1; i++) {
		if (ns >= units[i].ns && ns % units[i].ns == 0) {
			break;
		}
	}
	snprintf(out, size, "%llu%s", (unsigned long long)(ns / units[i].ns), units[i].name);
}
