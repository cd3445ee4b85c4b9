/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PT_PYTHIA_STRETCH_H
#define PT_PYTHIA_STRETCH_H

#include "pythia/location.h"
#include "pythia/space.h"

/* Where in an edge's time it varies, in ns from its begin, by the profile. */
struct stretch {
	double from_ns, to_ns; /* from_ns < to_ns */
};

struct pythia;

/*
 * Where nearly all of the edge's variation can be. Kept requests tell between which of its children
 * that are on its own time varies, and the profile when these begin; as not all requests have all
 * children, it is what lies in all of the gaps that hold it. False: there is no such stretch, or it
 * is not known.
 */
bool stretch_find(const struct pythia *pythia, const struct pythia_detail *detail,
		const struct pythia_round *round, const struct edge *edge, struct stretch *out);

/* How much of a node's time, in ns a request, lies within the stretch; all, if that is not known. */
double stretch_overlap(const struct space *space, uint32_t node, uint32_t edge,
		const struct stretch *stretch);
/* Some of the node may lie within the stretch. */
bool stretch_has(const struct space *space, uint32_t node, uint32_t edge,
		const struct stretch *stretch);

#endif
