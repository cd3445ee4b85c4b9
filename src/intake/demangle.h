/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PT_INTAKE_DEMANGLE_H
#define PT_INTAKE_DEMANGLE_H

#include <stdbool.h>
#include <stddef.h>

/*
 * The name of a function as its source has it: C++ as the Itanium ABI mangles it
 * ("_ZN4shop5orderEi": "shop::order(int)"), and Rust's first scheme, which is the same with a hash
 * behind and escapes within. By the C++ library, if it is on this host; it is not linked.
 *
 * Names may be hostile, and few bytes tell of many: those of 160 bytes or more stay as they are.
 *
 * False: the name is not mangled so, is too long, or there is no such library. Threads: any.
 */
bool demangle(const char *name, char *out, size_t size);

#endif
