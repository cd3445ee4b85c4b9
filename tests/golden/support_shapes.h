/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SUPPORT_SHAPES_H
#define SUPPORT_SHAPES_H

#include "pythiatop/snapshot/snapshot.h"

/* Shapes of the made-up cloud's requests. */
struct made_shapes {
	bool none;    /* no request of the type */
	bool usual;   /* none is unlike the others */
	bool hostile; /* names from a trace that mean no good */
	bool kernel;  /* what they used is known */
};

void made_shapes_fill(struct snapshot *snapshot, const struct made_shapes *made);

#endif
