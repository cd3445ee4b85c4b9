/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Reads the documents of `--batch=json` from standard input, until one says what is wrong:
 * check_variation TYPE CONTEXT SHARE SEGMENTS
 *
 * The group that varies most is of type TYPE and flagged, CONTEXT is its first segment, and its
 * SEGMENTS first ones hold at least SHARE of its variance. Exit: 0 as soon as a document says so; 1
 * if none did. Whatever a document says must add up, or the exit is 2: the shares of each group's
 * segments to 1, their means to the mean of its requests.
 */
#include <jansson.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct wanted {
	const char *type, *context;
	double share;
	size_t segments;
};

static double number(json_t *object, const char *name)
{
	json_t *value = json_object_get(object, name);

	return json_is_number(value) ? json_number_value(value) : NAN;
}

static const char *text(json_t *object, const char *name)
{
	const char *value = json_string_value(json_object_get(object, name));

	return value ? value : "";
}

static double sum(json_t *segments, const char *name, size_t most)
{
	json_t *segment;
	double total = 0;
	size_t i;

	json_array_foreach(segments, i, segment)
	{
		total += i < most ? number(segment, name) : 0;
	}
	return total;
}

/* False also where there are no numbers. */
static bool near(double value, double expected)
{
	return fabs(value - expected) <= 1e-6 * fabs(expected);
}

/* Groups that were located, or -1 where something does not add up. */
static int check_sums(json_t *document)
{
	json_t *group;
	int located = 0;
	size_t i;

	json_array_foreach(json_object_get(document, "groups"), i, group)
	{
		json_t *segments = json_object_get(group, "segments");
		double phi = sum(segments, "phi", SIZE_MAX),
		       mean = sum(segments, "mean_ns", SIZE_MAX);
		/* Of requests that were left out the segments do not tell. */
		bool all = number(json_object_get(group, "location"), "requests") ==
			   number(group, "count");

		if (!json_is_array(segments)) {
			continue;
		}
		located++;
		if (!near(phi, 1) || (all && !near(mean, number(group, "mean_ns")))) {
			fprintf(stderr, "%s %s: shares add up to %.9f, means to %.3f ns of %.3f\n",
					text(group, "type"), text(group, "path"), phi, mean,
					number(group, "mean_ns"));
			return -1;
		}
	}
	return located;
}

/* The context itself; or a wait in a system call of it, as kernel events tell it. */
static bool is_of(json_t *segment, const char *context)
{
	const char *where = text(segment, "where"), *at = strstr(where, context);

	return strcmp(text(segment, "context"), context) == 0 ||
	       (text(segment, "context")[0] == '(' && at &&
			       strncmp(at + strlen(context), "\u203asyscall_", 11) == 0);
}

static bool says(json_t *document, const struct wanted *wanted)
{
	json_t *group = json_array_get(json_object_get(document, "groups"), 0);
	json_t *segments = json_object_get(group, "segments");
	json_t *flags = json_object_get(json_object_get(group, "detection"), "flags");
	json_t *first = json_array_get(segments, 0);
	double share = sum(segments, "phi", wanted->segments);

	fprintf(stderr,
			"%s %s: %.0f requests, %zu flags, %s %.3f [%.3f, %.3f], %zu segments "
			"%.3f\n",
			text(group, "type"), text(group, "path"), number(group, "count"),
			json_array_size(flags), text(first, "context"), number(first, "phi"),
			number(first, "phi_low"), number(first, "phi_high"), wanted->segments,
			share);
	return strcmp(text(group, "type"), wanted->type) == 0 && json_array_size(flags) > 0 &&
	       is_of(first, wanted->context) && share >= wanted->share;
}

int main(int argc, char **argv)
{
	struct wanted wanted;
	json_t *document;
	bool said = false;
	int sums = 0;

	if (argc != 5) {
		fprintf(stderr, "usage: check_variation TYPE CONTEXT SHARE SEGMENTS\n");
		return 2;
	}
	wanted = (struct wanted){argv[1], argv[2], atof(argv[3]), strtoul(argv[4], NULL, 10)};
	while (!said && sums >= 0 &&
			(document = json_loadf(stdin, JSON_DISABLE_EOF_CHECK, NULL)) != NULL) {
		sums = check_sums(document);
		said = sums > 0 && says(document, &wanted);
		json_decref(document);
	}
	return sums < 0 ? 2 : said ? 0 : 1;
}
