/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PT_GROUPS_METRIC_H
#define PT_GROUPS_METRIC_H

#include "pythiatop/focus.h"
#include "pythiatop/snapshot/groups.h"

/*
 * What groups are ordered by: how much each deserves a look, larger first.
 *
 *   variance  count x sd (in ns): rate x sd, times the horizon that all groups share
 *   cov       what the CoV is at least; 0 without a verdict
 *   modes     standard deviation of the modes' peaks, in octaves, weighted by their shares: how far
 *             latencies are apart for being of one mode or the other; 0 of a single mode
 *
 * A further metric is a function in metric.c's table and a name for it in focus.h.
 */
double metric_value(enum metric metric, const struct groups_row *row);

#endif
