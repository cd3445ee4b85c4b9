/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PT_HELPER_CHECK_H
#define PT_HELPER_CHECK_H

#include <stdbool.h>
#include <stddef.h>

/*
 * What a console may say at all. Each returns NULL, or what is wrong with it, as a clause to stand
 * after a name ("has a character that no point has"). None keeps what it is given.
 */
#define CHECK_NAME_BYTES   256u /* with the final 0, as LTTng has it */
#define CHECK_FILTER_BYTES 4096u
#define CHECK_URL_BYTES    512u

/* The exact name of a tracepoint or system call: no patterns, no blanks, no quotes. */
const char *check_point(const char *name);

/* The name of anybody's session. */
const char *check_session(const char *name);

/* net://HOST[:CONTROL[:DATA]], also net6://[ADDRESS]...; nothing else LTTng would take. */
const char *check_relay(const char *url);

/*
 * A filter: printable, and of fields that `has` knows ($ctx.NAME: those that LTTng knows; $app.P:N
 * as they are). LTTng itself takes unknown fields, and then never matches. `wrong` is what was not
 * known, if the answer speaks of one.
 */
const char *check_filter(const char *filter, bool (*has)(void *context, const char *field),
		void *context, char *wrong, size_t size);

/*
 * The kernel point has that field, and it names a thread. LTTng lists no fields of the kernel's
 * points; these are those of its own descriptions of them.
 */
bool check_kernel_field(const char *event, const char *field);

#endif
