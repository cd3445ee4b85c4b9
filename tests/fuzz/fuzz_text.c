/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Any bytes as text of a trace: what comes out is UTF-8 without a control character. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "pythiatop/text.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *in = malloc(size + 1);
	size_t room = size % 97 + 1;
	char *out = malloc(room);
	char *again = malloc(room);
	size_t i, length;

	if (!in || !out || !again) {
		abort();
	}
	memcpy(in, data, size);
	in[size] = '\0';
	length = text_escape(out, room, in);
	if (length >= room || strlen(out) != length) {
		abort();
	}
	for (i = 0; i < length; i++) {
		unsigned char c = (unsigned char)out[i];

		if (c < 0x20 || c == 0x7f || (c == 0xc2 && (unsigned char)out[i + 1] < 0xa0)) {
			abort();
		}
	}
	/* Escaping what is escaped changes nothing: it was all valid and plain. */
	if (text_escape(again, room, out) != length || memcmp(again, out, length + 1) != 0) {
		abort();
	}
	free(in);
	free(out);
	free(again);
	return 0;
}
