/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TESTBED_DIST_H
#define TESTBED_DIST_H

#include <stdbool.h>
#include <stdint.h>

/* How long something injected takes: a distribution, as text and as random numbers of the calling
 * thread (work.h). Times are in ns, at most DIST_LONGEST_NS. */

#define DIST_LONGEST_NS 60e9

enum dist_shape { DIST_CONST, DIST_UNIFORM, DIST_EXP, DIST_LOGNORMAL };

struct dist {
	enum dist_shape shape;
	double a, b; /* ns; lognormal: median in ns, sigma */
};

/* "20ms" -> 2e7; moves *text past it. -1 if it is no duration, or a longer one than the longest. */
double dist_read_duration(const char **text);

/* const:T, uniform:T,T, exp:T or lognormal:T,SIGMA. */
bool dist_read(const char *text, struct dist *dist);

uint64_t dist_draw_ns(const struct dist *dist);

#endif
