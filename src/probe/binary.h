/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PT_PROBE_BINARY_H
#define PT_PROBE_BINARY_H

#include <stdbool.h>
#include <stdint.h>

#include "pythiatop/status.h"

/*
 * The functions of a program or library, as its file tells them: names from the symbol table, of
 * the file itself or of its separate debug file, else from what it exports; arguments from its
 * debugging information, where there is any. The only user of libdw in this folder.
 *
 * Threads: one per binary. Memory: the names, and what libdw keeps of the file.
 */
#define BINARY_ARGUMENTS 6u /* of a function: those that are passed in registers */
#define BINARY_NAME      64u

struct binary; /* opaque */

struct binary_function {
	const char *name; /* as it is linked; may hold any byte but 0 */
	uint64_t offset;  /* of its first instruction, in the file: where a probe is put */
	uint64_t address; /* as the file counts */
	bool stepped; /* its first instruction is none that the kernel emulates: a probe costs more
		       */
};

/* What an integer register holds. */
enum binary_kind {
	BINARY_SIGNED = 0,
	BINARY_UNSIGNED,
	BINARY_POINTER,
	BINARY_TEXT, /* a pointer to characters that end with a 0 */
};

struct binary_value {
	char name[BINARY_NAME];
	enum binary_kind kind;
	uint8_t bytes; /* 1, 2, 4 or 8 */
	uint8_t at;    /* the register: 0 to 5, as x86_64 passes arguments */
};

/*
 * Of a function: what is certain. Arguments in floating-point registers or in memory are left out,
 * so is what follows a structure passed by value.
 */
struct binary_arguments {
	bool known; /* there is debugging information */
	uint32_t n;
	struct binary_value list[BINARY_ARGUMENTS];
	bool returns; /* a value that an integer register holds; `result` says which kind */
	struct binary_value result;
};

/*
 * Does its code unwind its stack, as C++ and Rust do for exceptions and panics, or move it, as Go
 * does? A function whose return is probed has another return address meanwhile, which neither
 * survives: the program would be ended.
 */
bool binary_unwinds(const struct binary *binary);

/*
 * Reads the symbols of `path`, which may be /proc/PID/exe. STATUS_NOT_FOUND: no such file (errno).
 * STATUS_INVALID: no ELF file of this machine.
 */
enum status binary_open(struct binary **binary, const char *path);
void binary_close(struct binary *binary); /* NULL is allowed */

/* By address; of several names of one address the first one by the alphabet. */
const struct binary_function *binary_functions(const struct binary *binary, uint32_t *n);

/* As binary_function.stepped, of the instruction at `offset`. */
bool binary_is_stepped(const struct binary *binary, uint64_t offset);

/* The code of the file, all of it: where the first byte stands in the file, and its length in
 * memory. */
void binary_code(const struct binary *binary, uint64_t *offset, uint64_t *bytes);
/* Is it behind a call, so that it may be an address that a function returns to? */
bool binary_is_return(const struct binary *binary, uint64_t offset);

/* Takes time where a program is large: its debugging information is searched. */
void binary_arguments(const struct binary *binary, const struct binary_function *function,
		struct binary_arguments *arguments);

#endif
