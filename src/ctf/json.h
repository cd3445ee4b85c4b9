/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PT_CTF_JSON_H
#define PT_CTF_JSON_H

#include "tsdl.h"

/*
 * Metadata of CTF 2: a sequence of JSON texts, each a fragment (CTF2-SPEC-2.0, section 5), as the
 * tree that TSDL gives. What has no equal in it is refused by name: texts in UTF-16 and UTF-32,
 * floating point numbers but of 32 and 64 bits, bit orders other than a byte order's own.
 *
 * Bounds as tsdl_parse(): the text's length, and nesting also through aliases.
 */
#define CTF_JSON_BEGIN '\x1e' /* RFC 7464: starts each text */

/* Appends to what tsdl_create() made; as tsdl_append(). The piece has to be of whole fragments. */
bool json_append(struct ctf_metadata *metadata, const char *text, size_t length, char *error,
		size_t error_room);

/* The bytes at the start of a text that are whole fragments. */
size_t json_whole(const char *text, size_t length);

#endif
