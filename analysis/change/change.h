/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PT_CHANGE_CHANGE_H
#define PT_CHANGE_CHANGE_H

#include "base/arena.h"
#include "pythiatop/baseline.h"
#include "pythiatop/snapshot/changes.h"

/*
 * What has changed from one baseline to another, a pure function of the two: wherever it is,
 * whether the requests also vary for other reasons, and however few of a type there are.
 *
 * The own time of each place is compared by Welch's t, of each context and of all contexts of the
 * place together (stratified: each context is compared with itself, weighted by the harmonic mean
 * of the requests on both sides, with a common variance where they are few). Calls per span of the
 * caller are compared as counts. Of all differences looked at, chance makes one significant in one
 * comparison of a hundred (Bonferroni). See docs/changes.md.
 *
 * Texts point into the baselines and the arena. False if out of memory.
 */
#define CHANGE_MAX_ROWS 64u
#define CHANGE_LEVEL    0.01 /* of all differences together */

bool changes_find(const struct baseline *before, const struct baseline *after, struct arena *arena,
		struct changes_view *out);

#endif
