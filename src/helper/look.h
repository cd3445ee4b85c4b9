/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PT_HELPER_LOOK_H
#define PT_HELPER_LOOK_H

#include <stdbool.h>

#include <jansson.h>

/*
 * What this host's session daemon has: sessions, and the tracepoints of running applications. Each
 * call sends its whole answer, errors of the daemon included. False: nobody reads any more.
 *
 * Rules of channels are not listed: with an exclusion among them that crashes the session daemon
 * of LTTng 2.13.9.
 */
bool look_sessions(json_int_t id);
bool look_points(json_int_t id);

#endif
