/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "explain/internal.h"

#define GROWS_RHO    0.98 /* with the order of rows, or with when they began */
#define ID_SHARE     0.9  /* of the rows have a value of their own */
#define NAMED_SHARE  0.5  /* enough where the name says that it is an id, or for a clock */
#define SAME_SHARE   0.9  /* of the rows, in which it is the duration but for its unit */
#define SAME_NEARLY  0.02
#define GROWS_VALUES 4u /* a quarter of the rows: what is set now and then does not grow */
#define MAX_TOKEN    24

/* Words of a name that make it a time or a part of one; but for those that are settings. */
static const char *const times[] = {"time", "timestamp", "datetime", "date", "clock", "deadline",
		"duration", "latency", "elapsed", "took", "ts", "uptime", "runtime", "walltime",
		"rtt", "age", "expiry", "expires", "expiration", "waited", "delay", "delayed",
		"slept", "when"};
static const char *const units[] = {"ns", "us", "ms", "s", "sec", "secs", "second", "seconds",
		"nsec", "usec", "msec", "nanos", "micros", "millis", "nanoseconds", "microseconds",
		"milliseconds", "jiffies", "ticks", "cycles"};
static const char *const settings[] = {
		"timeout", "interval", "period", "limit", "quota", "budget", "ttl", "max", "min"};
static const char *const ids[] = {"id", "ids", "uuid", "guid", "seq", "seqno", "sequence", "serial",
		"ptr", "pointer", "addr", "address", "cookie", "token", "handle", "nonce", "hash",
		"request", "req", "trace", "span", "tid", "pid", "vtid", "vpid", "pthread", "inode",
		"cid", "xid"};
/* Waiting for a resource is a part of the duration as well, but says for what. */
static const char *const resources[] = {
		"runqueue", "runnable", "disk", "net", "network", "irq", "softirq", "steal", "io"};

static bool is_one_of(const char *token, const char *const *words, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (strcmp(token, words[i]) == 0) {
			return true;
		}
	}
	return false;
}
#define IS_ONE_OF(token, words) is_one_of(token, words, sizeof(words) / sizeof((words)[0]))

/* The next word of a name, in lower case: ends at what is no letter, and before "Case". */
static const char *next_token(const char *at, char token[MAX_TOKEN])
{
	size_t n = 0;

	while (*at && !isalnum((unsigned char)*at)) {
		at++;
	}
	while (isalnum((unsigned char)*at)) {
		if (n < MAX_TOKEN - 1) {
			token[n++] = (char)tolower((unsigned char)*at);
		}
		at++;
		if (isupper((unsigned char)*at) && islower((unsigned char)at[-1])) {
			break;
		}
	}
	token[n] = '\0';
	return at;
}

struct words {
	bool time, unit, setting, id, resource;
};

static struct words words_of(const struct key *key)
{
	const char *dot = strrchr(key->name, '.');
	const char *at = dot ? dot + 1 : key->name;
	struct words words = {.time = false};
	char token[MAX_TOKEN];

	for (at = next_token(at, token); token[0]; at = next_token(at, token)) {
		words.time |= IS_ONE_OF(token, times);
		words.unit = IS_ONE_OF(token, units); /* the last word is what counts */
		words.setting |= IS_ONE_OF(token, settings);
		words.id = IS_ONE_OF(token, ids); /* "request_id", but not "request_bytes" */
		words.resource |= IS_ONE_OF(token, resources);
	}
	return words;
}

const char *derived_by_name(const struct key *key)
{
	struct words words;

	if (!key->numeric || key->source == EXPLANATION_HOST || key->source == EXPLANATION_COUNT) {
		return NULL;
	}
	words = words_of(key);
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

bool derived_judge(const struct explain *explain, const struct key *key, const char **why)
{
	uint32_t distinct, rows;
	bool does = false;

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
	if (!key->numeric) {
		*why = rows > 1 && distinct >= ID_SHARE * rows ? "says which request it is" : NULL;
		return true;
	}
	if (distinct >= NAMED_SHARE * rows && rows > 1 && words_of(key).id) {
		*why = "says which request it is";
		return true;
	}
	if (distinct * GROWS_VALUES >= rows && rows * 2 >= explain->n) {
		if (!grows(explain, key, &does)) {
			return false;
		}
		*why = does ? "grows with time" : NULL;
	}
	/* Few values, as of a queue that costs a millisecond each, are no clock's. */
	if (!*why && distinct >= NAMED_SHARE * rows && is_duration(explain, key, rows)) {
		*why = "is the duration";
	}
	return true;
}
