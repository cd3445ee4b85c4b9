/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SUPPORT_CHANGES_H
#define SUPPORT_CHANGES_H

#include "pythiatop/snapshot/snapshot.h"

/* What has changed in the made-up cloud since it was well: the same at every call. */
struct made_changes {
	bool compared; /* there is a baseline */
	bool unsure;   /* nothing is sure */
	bool none;     /* nothing is even likely */
	bool hostile;  /* names from a trace that mean no good */
};

void made_changes_fill(struct snapshot *snapshot, const struct made_changes *made);

#endif
