/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PT_PROBE_CPU_RING_H
#define PT_PROBE_CPU_RING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <linux/types.h>

#include "probe/record.h"
#include "pythiatop/status.h"

/*
 * The records of one CPU, from its BPF ring buffer, in the order of their times and all of them up
 * to an instant. (The ring's own order is that of reserving: where an interrupt came between
 * reserving and taking the time, its records follow with earlier times.)
 *
 * Threads: one. Memory: the ring, mapped, and references to the records that are being read.
 */
struct cpu_ring {
	unsigned long *consumer;       /* position; written by this side alone */
	const unsigned char *producer; /* its page, and then the data, twice */
	size_t size, page;
	struct cpu_ring_ref *refs; /* of the records being read, by time */
	uint32_t n_refs, room, next;
	unsigned long read_to;
	/* Records later than the instant, and what was put in by this side: copies, by time. */
	unsigned char *kept;
	size_t n_kept, kept_room;
	uint64_t limit_ns; /* all records up to here have been read */
};

/*
 * So many bytes on up to 4 CPUs, half of it on up to 8, else a quarter: whoever empties the buffers
 * waits for a processor like anybody else, and a server at its limit brings some 40 MB a second on
 * one.
 */
size_t cpu_ring_usual_bytes(size_t most);
/* Maps the ring buffer behind `fd`, of `size` bytes. STATUS_IO: errno says why. */
enum status cpu_ring_init(struct cpu_ring *ring, int fd, size_t size);
void cpu_ring_release(struct cpu_ring *ring);

/*
 * Begins to read what is there up to `now_ns`, which is to be the time before this call.
 * STATUS_NOT_YET: a record is still being written, so nothing can be said to be complete; try again
 * later.
 */
enum status cpu_ring_begin(struct cpu_ring *ring, uint64_t now_ns);

/* Bytes that cpu_ring_begin() found in the ring buffer. */
size_t cpu_ring_read_bytes(const struct cpu_ring *ring);

/* Bytes that were ever written into it. */
size_t cpu_ring_written(const struct cpu_ring *ring);

/* The next record, valid until cpu_ring_end(); NULL: that was the last one up to the instant. */
const struct probe_head *cpu_ring_next(struct cpu_ring *ring);

/* The records that were read make room. */
enum status cpu_ring_end(struct cpu_ring *ring);

/*
 * Puts in a record of this side's own, `head` with what follows it; it is read once its time has
 * come, which is not before limit_ns.
 */
enum status cpu_ring_put(struct cpu_ring *ring, const struct probe_head *head);

/* Drops all that is there. */
void cpu_ring_clear(struct cpu_ring *ring);

#endif
