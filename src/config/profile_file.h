/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PT_CONFIG_PROFILE_FILE_H
#define PT_CONFIG_PROFILE_FILE_H

#include <stddef.h>
#include <stdio.h>

#include "pythiatop/profile.h"
#include "pythiatop/status.h"

/*
 * The search space as a file: JSON with a version, so that what was learned once serves again.
 * What is read is not trusted: versions, types, numbers and the order of nodes are checked.
 */
struct profile_file; /* owns a profile */

/* NULL: `error` names the file, what is wrong, and where. */
struct profile_file *profile_file_read(const char *path, char *error, size_t size);
const struct profile *profile_file_profile(const struct profile_file *file);
void profile_file_destroy(struct profile_file *file);

/* STATUS_IO with errno, STATUS_NO_MEMORY. */
enum status profile_file_write(FILE *out, const struct profile *profile);

#endif
