/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PT_SOURCE_LISTING_H
#define PT_SOURCE_LISTING_H

#include <stdint.h>

#include "outlet.h"

/*
 * Watches what a relay daemon lists: once a second; all sessions are written when something has
 * changed, and as a sign of life every few seconds.
 *
 * Runs until the connection fails: then SOURCE_BROKEN with a sentence is the last record. Returns
 * the exit status of the process.
 */
int listing_watch(struct outlet *outlet, const char *relay, uint16_t port);

#endif
