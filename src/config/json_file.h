/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PT_CONFIG_JSON_FILE_H
#define PT_CONFIG_JSON_FILE_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

/*
 * What the JSON files that the program keeps have in common: they say their format and version, a
 * complaint names the file, and text that JSON cannot hold is escaped.
 */
struct complaint {
	const char *path;
	char *text; /* of `size` bytes */
	size_t size;
};

/* Writes the complaint; always false. */
bool complain(const struct complaint *complaint, const char *format, ...)
		__attribute__((format(printf, 2, 3)));

/*
 * Reads a regular file of at most max_bytes that is an object with these "format" and "version".
 * NULL: the complaint is written.
 */
json_t *json_file_load(const struct complaint *complaint, const char *format, int version,
		size_t max_bytes);

/* As it is, since it is found again by it; escaped where JSON could not hold it. */
json_t *json_file_text(const char *value);

#endif
