/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PT_CONFIG_SETTINGS_H
#define PT_CONFIG_SETTINGS_H

#include <stddef.h>

#include "pythiatop/settings.h"
#include "pythiatop/status.h"

/*
 * The one reader of `name = value` files: configuration, key bindings, themes.
 *
 * A line is empty, a comment (first character #), or `name = value`. Blanks around both are
 * dropped; the value is the rest of the line. Names: letters, digits, `.`, `_`, `-`.
 */
#define SETTINGS_MAX_BYTES (256u << 10)

struct settings_file {
	struct settings settings; /* points into the memory below */
	char *text;
	struct setting *items;
	char *file;
};

/*
 * Reads a file. STATUS_NOT_FOUND: there is none. Otherwise on failure `error` says which line is
 * wrong, or why it cannot be read. Free with settings_release(), in every case.
 */
enum status settings_read(
		struct settings_file *out, const char *path, char *error, size_t error_size);
void settings_release(struct settings_file *file);

#endif
