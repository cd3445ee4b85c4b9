/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PYTHIATOP_BASELINE_H
#define PYTHIATOP_BASELINE_H

#include <stdint.h>

/*
 * How the groups performed at a time that a person found right: saved, and compared with later.
 * A group is known by its type and its path as text, since numbers differ from run to run.
 */
struct baseline_group {
	const char *type, *path;
	uint64_t count; /* requests */
	double mean_ns, sd_ns;
	int32_t histogram_low; /* as in struct group_view: 16 bins to the octave */
	uint32_t histogram_bins;
	const uint64_t *histogram;
};

struct baseline {
	const char *origin; /* file it was read from, "" if made here */
	uint64_t time_ns;   /* event time that it was made at */
	uint32_t n;
	const struct baseline_group *groups;
};

#endif
