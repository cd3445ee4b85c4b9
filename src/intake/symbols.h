/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PT_INTAKE_SYMBOLS_H
#define PT_INTAKE_SYMBOLS_H

#include <stdbool.h>
#include <stdint.h>

#include "pythiatop/engine.h"

/*
 * Which function is at a place in a binary: by the symbol tables of the file, where this host has
 * it, or of the debug file that distributions put under /usr/lib/debug/.build-id.
 *
 * A path from a trace is another host's word: a file is looked into only if it is a regular one,
 * and believed only if it has the very build id that the trace tells; nothing is ever fetched.
 *
 * Threads: a thread of its own opens and reads files, which may take long or hang; none of these
 * calls waits for it, but for symbols_settle(). One thread at a time may call them.
 * Memory: 256 files and 4 million symbols at once (the oldest file goes first), files of at most
 * 2 GiB; 4,096 questions on the way.
 */
struct symbols;

/* NULL if out of memory or threads: then places go by their numbers. */
struct symbols *symbols_create(void);
/* Returns at once: a thread that hangs in a file is left to itself. */
void symbols_destroy(struct symbols *symbols);

/* Asks what the engine wants to know, and tells it what has been found. True: something was. */
bool symbols_exchange(struct symbols *symbols, struct engine *engine);
/* The same, until all is answered or `timeout_ns` have passed. */
void symbols_settle(struct symbols *symbols, struct engine *engine, uint64_t timeout_ns);

/* --- for the thread, and for tests --- */

/*
 * The function at `offset` from where the file's first byte is mapped, "main", or "main+0x12" where
 * a function of the same name is elsewhere in the file, too. False: not known.
 */
struct symbol_files;
struct symbol_files *symbol_files_create(void);
void symbol_files_destroy(struct symbol_files *files);
bool symbol_files_find(struct symbol_files *files, const char *path, const uint8_t *build_id,
		uint32_t build_id_bytes, uint64_t offset, char *name, size_t size);

#endif
