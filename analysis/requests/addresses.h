/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PT_REQUESTS_ADDRESSES_H
#define PT_REQUESTS_ADDRESSES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/names.h"
#include "pythiatop/engine.h"

/*
 * What an address in a traced process is called: "libfoo.so+0x1b23", by what events tell of where
 * its binaries are mapped (lttng_ust_statedump, lttng_ust_dl, lttng_ust_lib), or the symbol that an
 * application registered for it (ros2:rclcpp_callback_register).
 *
 * A place in a binary is the same one in every process and run, wherever it was mapped: so it is
 * what spans are told apart by. Which function is there, only the binary tells, and files are not
 * for here: the engine asks (addresses_next()), and what it is told becomes the text shown of that
 * name, whenever it comes. Two binaries of one name but different builds are told apart:
 * "libfoo.so@1b2c3d+0x1b23".
 *
 * Memory: 16,384 processes (beyond, one that was not asked about lately is forgotten) of at most
 * 1,024 mappings; 65,536 binaries; 262,144 registered symbols (beyond, all are learned anew);
 * 65,536 questions not taken (beyond, a place keeps its number).
 */
struct addresses;

#define ADDRESSES_MAX_PROCESSES 16384u
#define ADDRESSES_MAX_MAPPINGS  1024u
#define ADDRESSES_MAX_MODULES   65536u
#define ADDRESSES_MAX_SYMBOLS   262144u
#define ADDRESSES_MAX_QUESTIONS 65536u

/* A process: of a host, in a pid namespace. pid < 0: not known, then nothing is known of it. */
struct address_space {
	uint32_t host, pid_ns;
	int32_t pid;
};

struct addresses *addresses_create(struct names *names);
void addresses_destroy(struct addresses *addresses);

/* Types are numbered from 0 in the order they are added. False if out of memory. */
bool addresses_add_type(struct addresses *addresses, const struct event_type *type);
/* Do events of that type tell something here? */
bool addresses_uses(const struct addresses *addresses, uint32_t type);
void addresses_learn(struct addresses *addresses, const struct address_space *space,
		const struct event *event);

/* The interned name of an address; 0: nothing is known of it. */
uint32_t addresses_name(
		struct addresses *addresses, const struct address_space *space, uint64_t address);

/* The next place whose symbol is not known; see engine_next_symbol(). */
bool addresses_next(struct addresses *addresses, struct symbol_query *query);

#endif
