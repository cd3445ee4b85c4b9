/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "metadata.h"

#include <byteswap.h>
#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ctf/tsdl.h"

#define PACKET_HEADER_BYTES 37 /* CTF 1.8, section 7.1: magic, uuid, checksum, sizes, versions */
#define PACKET_MAGIC        0x75d11d57u
#define CONTENT_SIZE_AT     24   /* bits of header and text, 32-bit number */
#define PACKET_SIZE_AT      28   /* bits with padding */
#define RECORD_SEPARATOR    0x1e /* RFC 7464: starts each JSON text of a sequence */

static uint32_t number_at(const unsigned char *bytes, size_t at)
{
	uint32_t number;

	memcpy(&number, bytes + at, sizeof(number));
	return number;
}

static bool has_magic(const unsigned char *bytes)
{
	uint32_t magic = number_at(bytes, 0);

	return magic == PACKET_MAGIC || magic == bswap_32(PACKET_MAGIC);
}

static bool is_packet(const unsigned char *bytes, size_t size)
{
	return size > PACKET_HEADER_BYTES && has_magic(bytes);
}

/* A size in a packet's header, in its byte order: bits there, bytes here. */
static uint32_t size_at(const unsigned char *header, size_t at)
{
	uint32_t bits = number_at(header, at);

	bits = number_at(header, 0) == PACKET_MAGIC ? bits : bswap_32(bits);
	return bits / 8 + (bits % 8 != 0);
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

bool metadata_is_cut_off(int fd, uint32_t *have, uint32_t *need)
{
	unsigned char header[PACKET_HEADER_BYTES];
	off_t end = lseek(fd, 0, SEEK_END), at = 0;

	while (end - at >= PACKET_HEADER_BYTES) {
		uint32_t packet_bytes;

		if (pread(fd, header, sizeof(header), at) != sizeof(header) || !has_magic(header)) {
			return false; /* text without packets, or something else */
		}
		*have = end - at < UINT32_MAX ? (uint32_t)(end - at) : UINT32_MAX;
		*need = size_at(header, CONTENT_SIZE_AT);
		if (*have < *need) {
			return true;
		}
		packet_bytes = size_at(header, PACKET_SIZE_AT);
		if (packet_bytes < PACKET_HEADER_BYTES) {
			return false;
		}
		at += packet_bytes;
	}
	return false;
}

void metadata_find_fault(int fd, char *found, size_t room)
{
	off_t end = lseek(fd, 0, SEEK_END);
	unsigned char *bytes;
	size_t length = 0;
	char *text = NULL;

	found[0] = '\0';
	if (end <= 0 || end > TSDL_MAX_BYTES) {
		return;
	}
	bytes = malloc((size_t)end);
	if (bytes && pread(fd, bytes, (size_t)end, 0) == end) {
		text = tsdl_text(bytes, (size_t)end, &length);
	}
	if (text) {
		tsdl_release(tsdl_parse(text, length, found, room));
	}
	free(text);
	free(bytes);
}
