/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PT_CONFIG_SCHEMA_FILE_H
#define PT_CONFIG_SCHEMA_FILE_H

#include <stddef.h>
#include <stdio.h>

#include "pythiatop/schema.h"
#include "pythiatop/status.h"

/*
 * Schemas as YAML files. The reader is strict: an unknown key, a missing one, a wrong type or a
 * duration without unit is an error that names file and line.
 */
struct schema_file; /* owns a schema */

/* NULL on failure; `error` says what is wrong, where, and what would be right. */
struct schema_file *schema_file_read(const char *path, char *error, size_t size);

/* The same of a text; `origin` names it in errors. */
struct schema_file *schema_file_parse(
		const char *origin, const char *text, size_t length, char *error, size_t size);
const struct schema *schema_file_schema(const struct schema_file *file);
void schema_file_destroy(struct schema_file *file);

/* Writes a schema so that schema_file_read() gives it back; notes become comments. */
enum status schema_file_write(FILE *out, const struct schema *schema);

#endif
