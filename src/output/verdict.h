/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PT_OUTPUT_VERDICT_H
#define PT_OUTPUT_VERDICT_H

#include "pythiatop/snapshot/snapshot.h"

/*
 * The verdict of a snapshot: what was found of the group that comes first among those flagged, by
 * the metric in focus. NULL: its search goes on, or has not begun. Where no group is flagged (any
 * more) it is the first finding whose search ended, unless because the group was healthy.
 */
const struct steps_finding *output_verdict(const struct snapshot *snapshot);

#endif
