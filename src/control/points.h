/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PT_CONTROL_POINTS_H
#define PT_CONTROL_POINTS_H

#include <stdio.h>

/*
 * --points: prints what the tracer of this host offers: its sessions, and the tracepoints of
 * running applications with their fields, as one needs them to write a schema or to enable them.
 * Returns the exit code; what went wrong is said on `err`.
 */
int points_print(FILE *out, FILE *err);

#endif
