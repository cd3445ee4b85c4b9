/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "pythiatop/text.h"

/* Length of the UTF-8 sequence at `s` and its code point; 0 if there is none (RFC 3629). */
static size_t decode(const unsigned char *s, uint32_t *code)
{
	static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
	size_t length, i;

	if (s[0] < 0x80) {
		*code = s[0];
		return 1;
	}
	length = s[0] >= 0xf0 && s[0] < 0xf8 ? 4 : s[0] >= 0xe0 && s[0] < 0xf0 ? 3
			: s[0] >= 0xc0 && s[0] < 0xe0			       ? 2
									       : 0;
	if (length == 0) {
		return 0;
	}
	*code = s[0] & (0xffu >> (length + 1));
	for (i = 1; i < length; i++) {
		if ((s[i] & 0xc0) != 0x80) {
			return 0;
		}
		*code = *code << 6 | (s[i] & 0x3f);
	}
	if (*code < least[length] || *code > 0x10ffff || (*code >= 0xd800 && *code <= 0xdfff)) {
		return 0;
	}
	return length;
}

static bool reorders_or_hides(uint32_t code)
{
	return (code >= 0x200b && code <= 0x200f) || (code >= 0x202a && code <= 0x202e) ||
			(code >= 0x2060 && code <= 0x206f) || code == 0xfeff;
}

size_t text_escape(char *out, size_t size, const char *text)
{
	const unsigned char *s = (const unsigned char *)text;
	size_t used = 0;

	if (size == 0) {
		return 0;
	}
	while (*s) {
		char piece[16];
		uint32_t code = 0;
		size_t length = decode(s, &code);
		int n;

		if (length == 0) {
			n = snprintf(piece, sizeof(piece), "\\x%02x", *s);
			length = 1;
		} else if (code == '\n' || code == '\t') {
			n = snprintf(piece, sizeof(piece), "\\%c", code == '\n' ? 'n' : 't');
		} else if (code < 0x20 || (code >= 0x7f && code < 0xa0)) {
			n = snprintf(piece, sizeof(piece), "\\x%02x", (unsigned int)code);
		} else if (reorders_or_hides(code)) {
			n = snprintf(piece, sizeof(piece), "\\u{%04x}", (unsigned int)code);
		} else {
			memcpy(piece, s, length);
			n = (int)length;
		}
		if (used + (size_t)n >= size) {
			break;
		}
		memcpy(out + used, piece, (size_t)n);
		used += (size_t)n;
		s += length;
	}
	out[used] = '\0';
	return used;
}
