/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "metadata.h"

#include <ctype.h>
#include <string.h>

#define PACKET_HEADER_BYTES 37   /* CTF 1.8, section 7.1: magic, uuid, checksum, sizes, versions */
#define RECORD_SEPARATOR    0x1e /* RFC 7464: starts each JSON text of a sequence */

static int is_packet(const unsigned char *bytes, size_t size)
{
	static const unsigned char magic[4] = {0x75, 0xd1, 0x1d, 0x57};
	static const unsigned char swapped[4] = {0x57, 0x1d, 0xd1, 0x75};

	return size > PACKET_HEADER_BYTES &&
	       (memcmp(bytes, magic, 4) == 0 || memcmp(bytes, swapped, 4) == 0);
}

enum metadata_format metadata_format_of(const unsigned char *bytes, size_t size)
{
	if (is_packet(bytes, size)) {
		bytes += PACKET_HEADER_BYTES;
		size -= PACKET_HEADER_BYTES;
	}
	if (size == 0) {
		return METADATA_EMPTY;
	}
	if (bytes[0] == RECORD_SEPARATOR) {
		return METADATA_CTF_2;
	}
	/* TSDL begins with a comment or a word; the comment "CTF 1.8" is a should, not a must. */
	return bytes[0] == '/' || isspace(bytes[0]) || isalpha(bytes[0]) ? METADATA_CTF_1
									 : METADATA_OTHER;
}
