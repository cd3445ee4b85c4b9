/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PT_SOURCE_METADATA_H
#define PT_SOURCE_METADATA_H

#include <stddef.h>

/*
 * Which format a trace's metadata stream is in, told from its first bytes. The library's own words
 * about a format that it cannot read help nobody.
 */
enum metadata_format {
	METADATA_CTF_1, /* TSDL text, "CTF 1.8" */
	METADATA_CTF_2, /* a JSON text sequence, which babeltrace2 before 2.1 cannot read */
	METADATA_EMPTY,
	METADATA_OTHER,
};

/* As many bytes as metadata_format_of() looks at. */
#define METADATA_HEAD_BYTES 64

enum metadata_format metadata_format_of(const unsigned char *bytes, size_t size);

#endif
