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
	length = s[0] >= 0xf0 && s[0] < 0xf8   ? 4
		 : s[0] >= 0xe0 && s[0] < 0xf0 ? 3
		 : s[0] >= 0xc0 && s[0] < 0xe0 ? 2
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
	static const struct {
		uint32_t first, last;
	} ranges[] = {
			{0x00ad, 0x00ad},   /* soft hyphen */
			{0x034f, 0x034f},   /* grapheme joiner */
			{0x061c, 0x061c},   /* Arabic letter mark */
			{0x115f, 0x1160},   /* Hangul fillers */
			{0x17b4, 0x17b5},   /* Khmer inherent vowels */
			{0x180b, 0x180f},   /* Mongolian selectors */
			{0x200b, 0x200f},   /* zero width, direction marks */
			{0x2028, 0x202e},   /* line ends, bidirectional embeddings and overrides */
			{0x2060, 0x206f},   /* joiners, bidirectional isolates */
			{0x3164, 0x3164},   /* Hangul filler */
			{0xfe00, 0xfe0f},   /* variation selectors */
			{0xfeff, 0xfeff},   /* byte order mark */
			{0xffa0, 0xffa0},   /* Hangul filler */
			{0xfff0, 0xfffb},   /* annotations */
			{0xe0000, 0xe0fff}, /* tags, more selectors */
	};
	size_t i;

	for (i = 0; i < sizeof(ranges) / sizeof(ranges[0]); i++) {
		if (code >= ranges[i].first && code <= ranges[i].last) {
			return true;
		}
	}
	return false;
}

size_t text_escape_next(const char **text, char out[TEXT_ESCAPE_BYTES], uint32_t *code)
{
	const unsigned char *s = (const unsigned char *)*text;
	uint32_t c = 0;
	size_t length;

	*code = 0;
	out[0] = '\0';
	if (*s == 0) {
		return 0;
	}
	length = decode(s, &c);
	*text += length ? length : 1;
	if (length == 0) {
		snprintf(out, TEXT_ESCAPE_BYTES, "\\x%02x", *s);
	} else if (c == '\n' || c == '\t') {
		snprintf(out, TEXT_ESCAPE_BYTES, "\\%c", c == '\n' ? 'n' : 't');
	} else if (c < 0x20 || (c >= 0x7f && c < 0xa0)) {
		snprintf(out, TEXT_ESCAPE_BYTES, "\\x%02x", (unsigned int)c);
	} else if (reorders_or_hides(c)) {
		snprintf(out, TEXT_ESCAPE_BYTES, "\\u{%04x}", (unsigned int)c);
	} else {
		memcpy(out, s, length);
		out[length] = '\0';
		*code = c;
	}
	return strlen(out);
}

size_t text_escape(char *out, size_t size, const char *text)
{
	char piece[TEXT_ESCAPE_BYTES];
	size_t used = 0, n;
	uint32_t code;

	if (size == 0) {
		return 0;
	}
	/* Nearly every text is plain as a whole. */
	while (used + 1 < size && *text >= 0x20 && *text < 0x7f) {
		out[used++] = *text++;
	}
	while ((n = text_escape_next(&text, piece, &code)) > 0 && used + n < size) {
		memcpy(out + used, piece, n);
		used += n;
	}
	out[used] = '\0';
	return used;
}
