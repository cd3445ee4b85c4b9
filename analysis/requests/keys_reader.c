/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdlib.h>

#include "requests/engine.h"
#include "requests/keys_reader.h"

void keys_reader_refresh(struct keys_reader *reader)
{
	for (uint32_t i = 0; i < reader->n_types; i++) {
		free(reader->types[i].fields);
	}
	free(reader->types);
	reader->types = NULL;
	reader->n_types = reader->n_ids = 0;
	reader->ids_known = false;
}

void keys_reader_release(struct keys_reader *reader)
{
	keys_reader_refresh(reader);
	free(reader->items);
	free(reader->keys);
	free(reader->digits);
	*reader = (struct keys_reader){.room = 0};
}
