/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PT_CONTROL_CLIENT_H
#define PT_CONTROL_CLIENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <jansson.h>

#include "pythiatop/status.h"

/*
 * The console's side of the control protocol (helper/answer.h): a pythiatop-control process and the
 * pipes to it. What it sends is not trusted: lines are bounded, and everything is checked.
 */
struct control_client;

/* Starts the helper at `path`. NULL: `error` says why. control_close() ends it, however it is. */
struct control_client *control_open(const char *path, char *error, size_t size);
void control_close(struct control_client *client);

/*
 * Asks `verb` and waits for the whole answer, at most timeout_ms. Each line before the last one is
 * given to `take` (borrowed). Not STATUS_OK: `error` says what and what to do.
 */
enum status control_ask(struct control_client *client, const char *verb, uint32_t timeout_ms,
		void (*take)(void *context, const json_t *line), void *context, char *error,
		size_t size);

#endif
