/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PT_OUTPUT_VERDICT_H
#define PT_OUTPUT_VERDICT_H

#include "pythiatop/snapshot/snapshot.h"

/*
 * The verdict of a snapshot: what was found of the group that comes first, by the metric in focus,
 * among those searched. NULL: its search goes on, or none was searched. What varies as it always
 * did is not searched, and what calmed down, or is about to, is no verdict, nor is what names
 * nothing beside something that costs much more and is, or will be, searched (outweighed). Where
 * none of the groups shown was, it is the first finding whose search ended.
 */
const struct steps_finding *output_verdict(const struct snapshot *snapshot);

#endif
