/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Any bytes as a schema: read or refused with a message; what is read is accepted or refused by the
 * engine, and can be written and read again. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "config/schema_file.h"
#include "pythiatop/engine.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_round_trip(const struct schema *schema)
{
	char error[512] = "";
	char *text = NULL;
	size_t length = 0;
	FILE *out = open_memstream(&text, &length);
	struct schema_file *again;

	if (schema_file_write(out, schema) != STATUS_OK) {
		abort();
	}
	fclose(out);
	again = schema_file_parse("again", text, length, error, sizeof(error));
	if (!again) {
		fprintf(stderr, "not read again: %s\n%s\n", error, text);
		abort();
	}
	schema_file_destroy(again);
	free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char error[512] = "";
	struct schema_file *file =
			schema_file_parse("fuzz", (const char *)data, size, error, sizeof(error));
	struct engine *engine;

	if (!file) {
		if (!error[0]) {
			abort();
		}
		return 0;
	}
	engine = engine_create(NULL);
	if (engine && engine_add_schema(engine, schema_file_schema(file), error, sizeof(error)) ==
					STATUS_OK) {
		check_round_trip(schema_file_schema(file));
	}
	engine_destroy(engine);
	schema_file_destroy(file);
	return 0;
}
