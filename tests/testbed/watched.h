/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PT_TESTBED_WATCHED_H
#define PT_TESTBED_WATCHED_H

/*
 * Waits until a viewer has attached to a live session; what is sent before, it would not see.
 * `relay` is a URL (NULL: none was given). NULL, or what is wrong: after 30 s it is that nobody came.
 */
const char *wait_for_viewer(const char *relay, const char *host, const char *session);

#endif
