/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PT_CONFIG_BASELINE_FILE_H
#define PT_CONFIG_BASELINE_FILE_H

#include <stdio.h>

#include "pythiatop/baseline.h"
#include "pythiatop/status.h"

/*
 * Baselines as JSON files: "how the groups performed at a time that a person found right".
 *
 * The reader is strict: a wrong version, a key that is unknown, missing or of another kind, a group
 * that is there twice, and a histogram of which the engine could make nothing are errors that name
 * the file, the group and what is wrong. Bounds: 64 MiB of file, 100,000 groups
 * and types, 1,000,000 contexts.
 */
#define BASELINE_MAX_BYTES     (64u << 20)
#define BASELINE_MAX_GROUPS    100000u
#define BASELINE_MAX_CONTEXTS  1000000u
#define BASELINE_MAX_INFLATION 1000.0
/* Bins of a histogram from 1 ns to 2^64 ns, 16 to the octave. */
#define BASELINE_MAX_BINS 1024u

struct baseline_file; /* owns a baseline */

/* NULL on failure; `error` (of `size` bytes) says what is wrong, and where. */
struct baseline_file *baseline_file_read(const char *path, char *error, size_t size);
const struct baseline *baseline_file_baseline(const struct baseline_file *file);
void baseline_file_destroy(struct baseline_file *file);

/* Writes it so that baseline_file_read() gives it back. STATUS_NO_MEMORY, STATUS_IO with errno. */
enum status baseline_file_write(FILE *out, const struct baseline *baseline);

#endif
