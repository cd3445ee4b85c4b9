/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PT_SOURCE_METADATA_H
#define PT_SOURCE_METADATA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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

/*
 * Whether a metadata file of packets ends before the text in its last one does: libbabeltrace2 2.0
 * then reads for ever. `have` of `need` bytes of that packet's header and text are there. What else
 * may be wrong with packets is left to the library, which reads on where only padding is missing.
 */
bool metadata_is_cut_off(int fd, uint32_t *have, uint32_t *need);

/*
 * What is wrong in the metadata of that file, and in which line, where its text is not TSDL: empty
 * if nothing is found, or the file cannot be read. The library does not tell which line it means.
 */
void metadata_find_fault(int fd, char *found, size_t room);

#endif
