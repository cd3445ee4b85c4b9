/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PYTHIATOP_SETTINGS_H
#define PYTHIATOP_SETTINGS_H

#include <stdint.h>

/* A `name = value` line of a configuration, key or theme file, read by src/config. */
struct setting {
	const char *name;
	const char *value;
	uint32_t line;
};

struct settings {
	const char *file; /* for messages */
	uint32_t n;
	const struct setting *items; /* in the order of the file; a later one of a name wins */
};

#endif
