/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "dist.h"

#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "work.h"

double dist_read_duration(const char **text)
{
	static const struct {
		const char *unit;
		double ns;
	} units[] = {{"ns", 1}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}};
	char *end;
	double number = strtod(*text, &end);

	if (end == *text || !(number >= 0)) {
		return -1;
	}
	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
		if (strncmp(end, units[i].unit, strlen(units[i].unit)) == 0) {
			*text = end + strlen(units[i].unit);
			number *= units[i].ns;
			return number <= DIST_LONGEST_NS ? number : -1;
		}
	}
	return -1;
}

bool dist_read(const char *text, struct dist *dist)
{
	static const struct {
		const char *prefix;
		bool two; /* a second parameter follows a comma */
	} shapes[] = {[DIST_CONST] = {"const:", false},
			[DIST_UNIFORM] = {"uniform:", true},
			[DIST_EXP] = {"exp:", false},
			[DIST_LOGNORMAL] = {"lognormal:", true}};
	size_t shape = 0;
	char *end;

	while (strncmp(text, shapes[shape].prefix, strlen(shapes[shape].prefix)) != 0) {
		if (++shape == sizeof(shapes) / sizeof(shapes[0])) {
			return false;
		}
	}
	text += strlen(shapes[shape].prefix);
	*dist = (struct dist){.shape = (enum dist_shape)shape, .a = dist_read_duration(&text)};
	if (dist->a < 0) {
		return false;
	}
	if (!shapes[shape].two) {
		return *text == '\0';
	}
	if (*text++ != ',') {
		return false;
	}
	if (dist->shape == DIST_LOGNORMAL) {
		dist->b = strtod(text, &end);
		return end != text && *end == '\0' && dist->b > 0 && dist->b < 10;
	}
	dist->b = dist_read_duration(&text);
	return *text == '\0' && dist->b >= dist->a;
}

uint64_t dist_draw_ns(const struct dist *dist)
{
	double ns = dist->a;

	switch (dist->shape) {
	case DIST_CONST:
		break;
	case DIST_UNIFORM:
		ns += (dist->b - dist->a) * random_unit();
		break;
	case DIST_EXP:
		ns = random_exponential(dist->a);
		break;
	case DIST_LOGNORMAL:
		ns *= exp(dist->b * random_normal());
		break;
	}
	return (uint64_t)fmin(ns, DIST_LONGEST_NS);
}
