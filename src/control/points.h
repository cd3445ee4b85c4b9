/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PT_CONTROL_POINTS_H
#define PT_CONTROL_POINTS_H

#include <stdint.h>
#include <stdio.h>

/*
 * --points: prints what the tracers of hosts offer: sessions, and the tracepoints of running
 * applications and of the kernel, with their fields, and in which session each is on, as one needs
 * them to write a schema or to enable them.
 *
 * `hosts`: as --control has them; none: this host. `ssh`: see struct control_setup. Waits for all
 * of them, at most about half a minute. Returns the exit code; what went wrong is said on `err`.
 */
int points_print(const char *const *hosts, uint32_t n_hosts, const char *ssh, FILE *out, FILE *err);

#endif
