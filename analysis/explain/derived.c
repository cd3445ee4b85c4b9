/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "explain/explaining.h"
#include "field_words.h"

#define GROWS_RHO    0.98 /* with the order of rows, or with when they began */
#define ID_SHARE     0.9  /* of the rows have a value of their own */
#define NAMED_SHARE  0.5  /* enough where the name says that it is an id, or for a clock */
#define SAME_SHARE   0.9  /* of the rows, in which it is the duration but for its unit */
#define SAME_NEARLY  0.02
#define PART_SHARE                                                                                 \
	0.25 /* of how durations vary: less of it is in a part, which follows from them */
/* Bytes, rows or nanoseconds that are waited for are fewer: 2^40 ns are 18 minutes. */
#define ADDRESS_FROM 0x1p40
#define GROWS_VALUES 4u /* a quarter of the rows: what is set now and then does not grow */

const char *derived_by_name(const struct key *key)
{
	struct field_words words;

	if (!key->numeric || key->source == EXPLANATION_HOST || key->source == EXPLANATION_COUNT) {
		return NULL;
	}
	words = field_words(key->name);
	if (key->source == EXPLANATION_RESOURCE) {
		return words.unit && !words.resource ? "is a part of the duration" : NULL;
	}
	return (words.time || words.unit) && !words.setting ? "derived from time" : NULL;
}

static int by_value(const void *left, const void *right)
{
	double a = *(const double *)left, b = *(const double *)right;

	return a < b ? -1 : a > b;
}

/* How many values a key has, and in how many rows there is any. False if out of memory. */
static bool count_values(const struct explain *explain, const struct key *key, uint32_t *distinct,
		uint32_t *rows)
{
	double *sorted = malloc((explain->n + 1) * sizeof(*sorted));

	*distinct = *rows = 0;
	if (!sorted) {
		return false;
	}
	for (uint32_t i = 0; i < explain->n; i++) {
		if (!isnan(key->values[i])) {
			sorted[(*rows)++] = key->values[i];
		}
	}
	qsort(sorted, *rows, sizeof(*sorted), by_value);
	for (uint32_t i = 0; i < *rows; i++) {
		*distinct += i == 0 || sorted[i] > sorted[i - 1];
	}
	free(sorted);
	return true;
}

/* In nearly all rows it is the duration, in ns, us, ms or s. */
static bool is_duration(const struct explain *explain, const struct key *key, uint32_t rows)
{
	for (double unit = 1; unit < 1e10; unit *= 1e3) {
		uint32_t same = 0;

		for (uint32_t i = 0; i < explain->n; i++) {
			double whole = explain->durations[i];

			same += !isnan(key->values[i]) &&
				fabs(key->values[i] * unit - whole) <= SAME_NEARLY * whole;
		}
		if (same >= SAME_SHARE * rows) {
			return true;
		}
	}
	return false;
}

static bool grows(const struct explain *explain, const struct key *key, bool *does)
{
	double by_order, by_start;

	*does = false;
	if (!key_rho(explain, key, &explain->positions, &by_order) ||
			!key_rho(explain, key, &explain->starts, &by_start)) {
		return false;
	}
	*does = fabs(by_order) > GROWS_RHO || fabs(by_start) > GROWS_RHO;
	return true;
}

/* Half of the values are that far from 0, on either side: as of pointers, and of hashes of 64 bits. */
static bool looks_like_addresses(
		const struct explain *explain, const struct key *key, uint32_t rows)
{
	uint32_t far = 0;

	for (uint32_t i = 0; i < explain->n; i++) {
		far += key->source == EXPLANATION_FIELD && fabs(key->values[i]) >= ADDRESS_FROM;
	}
	return rows > 0 && 2 * far >= rows;
}

bool key_is_part(const struct key *key)
{
	size_t length = strlen(key->name);

	return key->source == EXPLANATION_RESOURCE && length > 3 &&
	       strcmp(key->name + length - 3, "_ns") == 0;
}

/*
 * The share of the durations' variance that lies in a part of them, Cov(part, whole) / Var(whole):
 * the shares of all parts add up to one. Where it is small, whoever takes long has only more of it.
 */
static double share_of_part(const struct explain *explain, const struct key *key)
{
	double mean = 0, part_mean = 0, both = 0, variance = 0;
	uint32_t n = 0;

	for (uint32_t i = 0; i < explain->n; i++) {
		double part = key->values[i], whole = explain->durations[i], off;

		if (isnan(part)) {
			continue;
		}
		off = whole - mean;
		mean += off / ++n;
		part_mean += (part - part_mean) / n;
		variance += off * (whole - mean);
		both += off * (part - part_mean);
	}
	return variance > 0 ? both / variance : 0;
}

bool derived_judge(const struct explain *explain, const struct key *key, const char **why)
{
	uint32_t distinct, rows;
	bool does = false, is_named_id;

	*why = NULL;
	if (!count_values(explain, key, &distinct, &rows)) {
		return false;
	}
	if (rows == 0 || (distinct < 2 && rows == explain->n)) {
		*why = "does not vary";
		return true;
	}
	*why = derived_by_name(key);
	if (*why || key->source == EXPLANATION_HOST || key->source == EXPLANATION_COUNT) {
		return true;
	}
	is_named_id = field_words(key->name).id;
	if (rows > 1 && distinct >= (is_named_id ? NAMED_SHARE : ID_SHARE) * rows &&
			(is_named_id || !key->numeric)) {
		*why = "says which request it is";
		return true;
	}
	if (!key->numeric) {
		return true;
	}
	if (key_is_part(key) && share_of_part(explain, key) < PART_SHARE) {
		*why = "a small part of the duration";
		return true;
	}
	if (distinct * GROWS_VALUES >= rows && rows * 2 >= explain->n) {
		if (!grows(explain, key, &does)) {
			return false;
		}
		*why = does ? "grows with time" : NULL;
	}
	if (!*why && looks_like_addresses(explain, key, rows)) {
		*why = "an address, a hash or a clock, by its size";
	}
	/* Few values, as of a queue that costs a millisecond each, are no clock's. */
	if (!*why && distinct >= NAMED_SHARE * rows && is_duration(explain, key, rows)) {
		*why = "is the duration";
	}
	return true;
}
