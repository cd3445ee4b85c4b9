/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PT_REQUESTS_GLOB_H
#define PT_REQUESTS_GLOB_H

#include <stdbool.h>
#include <stdint.h>

/* `*` stands for any text, `?` for one character, everything else for itself; the whole matches. */
bool glob_match(const char *glob, const char *text);

/* The same of types of requests: "server_create" is shown as "server create", and means it. */
bool glob_match_type(const char *glob, const char *type);

/* How specific a glob is: without a wildcard most, else the more literal characters the more. */
uint32_t glob_weight(const char *glob);

#endif
