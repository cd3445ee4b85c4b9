/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PT_SOURCE_FILES_H
#define PT_SOURCE_FILES_H

#include <limits.h>

#include "packets.h"

/*
 * The stream files of a recorded trace as packets, in the order of libbabeltrace2: files of one
 * stream are one after the other by when they begin, streams by the path of their first file.
 *
 * Memory: a file's name and a packet of each stream.
 */
struct files;

struct files_fault {
	char text[PATH_MAX + 256]; /* "" if only the console is gone, or memory */
};

/* Opens the trace in the directory. NULL with the fault. */
struct files *files_open(struct packets *packets, const char *directory, struct files_fault *fault);
void files_close(struct files *files);

/* Gives packets to the streams that want some. False with the fault: a file cannot be read. */
bool files_give(struct files *files, struct files_fault *fault);

#endif
