/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PT_INTAKE_DEMANGLE_H
#define PT_INTAKE_DEMANGLE_H

#include <stdbool.h>
#include <stddef.h>

/*
 * The name of a function as its source has it: C++ as the Itanium ABI mangles it
 * ("_ZN4shop5orderEi": "shop::order(int)"), and both schemes of Rust, without their hashes. Names
 * may be hostile: what would take more than the room is left at once.
 *
 * False: the name is not mangled so, or longer than the room. Threads: any.
 */
bool demangle(const char *name, char *out, size_t size);

#endif
