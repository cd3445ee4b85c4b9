/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PT_CHANGE_DIFFERENCE_H
#define PT_CHANGE_DIFFERENCE_H

#include "change/match.h"

/*
 * Differences between both sides, and whether they can be chance: of the time of a place, or of a
 * context of it, by Welch's t, and of how often something is called. Pure.
 */
/* A difference of means. */
struct difference {
	double value, variance; /* after less before, of one span or call */
	double before, after;
	double freedom;               /* degrees of it */
	double added, added_variance; /* ns of all requests, a second */
	uint64_t n[2];                /* requests */
};

/* OWN_TIME of a pair that calls another service is its part of the path: the rest is the wait. */
enum measure { OWN_TIME, ON_PATH };

/* Of a pair alone, or of all pairs of a place. False: there is nothing to compare. */
bool difference_of_pair(const struct matched *matched, uint32_t pair, enum measure measure,
		struct difference *out);
bool difference_of_place(const struct matched *matched, uint32_t place, enum measure measure,
		struct difference *out);
/* Spans of n pairs for one of their parents, which are on both sides; the first pair's index, and
 * bytes from one to the next. */
bool difference_of_calls(const struct matched *matched, const uint32_t *first, size_t stride,
		uint32_t n, struct difference *out);
/* How much more means of a side vary than those of independent requests would. */
double inflation_of_side(const struct matched_type *type, uint32_t side);
/* That chance makes such a difference, either way. */
double difference_p(const struct difference *difference);
/* That p as a distance from the mean of a normal distribution, 0 or more. */
double difference_z(const struct difference *difference);
/* Half of the interval that holds the value in 95 % of cases. */
double difference_half(double variance, double freedom);

#endif
