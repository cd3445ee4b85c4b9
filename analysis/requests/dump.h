/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PT_REQUESTS_DUMP_H
#define PT_REQUESTS_DUMP_H

#include <stdbool.h>
#include <stdint.h>

#include "pythiatop/event.h"
#include "pythiatop/status.h"
#include "requests/request.h"

/*
 * Tells the original events of kept requests in the order they were fed, those of several requests
 * among each other, and each once. Stops when `take` returns false. STATUS_NO_MEMORY: none was
 * told. Memory: 8 bytes an event, until it returns.
 */
enum status requests_dump(const struct request *const *requests, uint32_t n,
		bool (*take)(void *context, const struct event *event), void *context);

#endif
