/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "intake/demangle.h"

#include <libiberty/demangle.h>
#include <setjmp.h>
#include <string.h>

struct told {
	char *out;
	size_t size, length;
	jmp_buf no_room;
};

/*
 * Leaves the library as soon as there is no more room, for few bytes of a name can tell of
 * gigabytes. It holds nothing then: what calls back allocates nothing but on the stack.
 */
static void add(const char *text, size_t length, void *context)
{
	struct told *told = context;

	if (length >= told->size - told->length) {
		longjmp(told->no_room, 1);
	}
	memcpy(told->out + told->length, text, length);
	told->length += length;
}

bool demangle(const char *name, char *out, size_t size)
{
	struct told told = {.out = out, .size = size};

	if (size == 0 || setjmp(told.no_room) != 0) {
		return false;
	}
	/* Rust's first scheme looks as C++ does. */
	if (!rust_demangle_callback(name, DMGL_NO_OPTS, add, &told)) {
		told.length = 0;
		if (strncmp(name, "_Z", 2) != 0 ||
				!cplus_demangle_v3_callback(
						name, DMGL_PARAMS | DMGL_ANSI, add, &told)) {
			return false;
		}
	}
	out[told.length] = '\0';
	return true;
}
