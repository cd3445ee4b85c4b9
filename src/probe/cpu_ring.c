/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "probe/cpu_ring.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

/* The head that the kernel puts before a record (linux/bpf.h). */
#define BUSY        (UINT32_C(1) << 31)
#define DISCARDED   (UINT32_C(1) << 30)
#define HEAD_BYTES  8u
#define PATIENCE_NS 200000u /* for a record that is being written */

struct cpu_ring_ref {
	uint64_t ts_ns;
	const struct probe_head *head;
};

static size_t padded(size_t bytes)
{
	return (bytes + 7) & ~(size_t)7;
}

static size_t bytes_of(const struct probe_head *head)
{
	return padded(sizeof(*head) + head->bytes);
}

size_t cpu_ring_usual_bytes(size_t most)
{
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);

	return cpus <= 4 ? most : cpus <= 8 ? most / 2 : most / 4;
}

enum status cpu_ring_init(struct cpu_ring *ring, int fd, size_t size)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	void *consumer, *producer;

	*ring = (struct cpu_ring){.size = size, .page = page};
	consumer = mmap(NULL, page, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	producer = mmap(NULL, page + 2 * size, PROT_READ, MAP_SHARED, fd, (off_t)page);
	ring->consumer = consumer == MAP_FAILED ? NULL : consumer;
	ring->producer = producer == MAP_FAILED ? NULL : producer;
	return ring->consumer && ring->producer ? STATUS_OK : STATUS_IO;
}

void cpu_ring_release(struct cpu_ring *ring)
{
	if (ring->consumer) {
		munmap(ring->consumer, ring->page);
	}
	if (ring->producer) {
		munmap((void *)(uintptr_t)ring->producer, ring->page + 2 * ring->size);
	}
	free(ring->refs);
	free(ring->kept);
	*ring = (struct cpu_ring){.size = 0};
}

static unsigned long written_to(const struct cpu_ring *ring)
{
	return __atomic_load_n(
			(const unsigned long *)(const void *)ring->producer, __ATOMIC_ACQUIRE);
}

static enum status add_ref(struct cpu_ring *ring, const struct probe_head *head)
{
	uint32_t at = ring->n_refs;

	if (ring->n_refs == ring->room) {
		uint32_t room = ring->room ? ring->room * 2 : 1024;
		struct cpu_ring_ref *refs = realloc(ring->refs, room * sizeof(*refs));

		if (!refs) {
			return STATUS_NO_MEMORY;
		}
		ring->refs = refs;
		ring->room = room;
	}
	/* Hardly ever more than a few places. */
	for (; at > 0 && ring->refs[at - 1].ts_ns > head->ts_ns; at--) {
		ring->refs[at] = ring->refs[at - 1];
	}
	ring->refs[at] = (struct cpu_ring_ref){.ts_ns = head->ts_ns, .head = head};
	ring->n_refs++;
	return STATUS_OK;
}

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * UINT64_C(1000000000) + (uint64_t)now.tv_nsec;
}

/* The length of a record once it is written; with BUSY: it is not within the time. */
static uint32_t await(const uint32_t *length)
{
	uint32_t now = __atomic_load_n(length, __ATOMIC_ACQUIRE);
	uint64_t until_ns;

	if (!(now & BUSY)) {
		return now;
	}
	until_ns = now_ns() + PATIENCE_NS;
	do {
		now = __atomic_load_n(length, __ATOMIC_ACQUIRE);
	} while ((now & BUSY) && now_ns() < until_ns);
	return now;
}

static enum status read_ring(struct cpu_ring *ring, unsigned long to)
{
	const unsigned char *data = ring->producer + ring->page;
	enum status status = STATUS_OK;

	while (status == STATUS_OK && ring->read_to < to) {
		const unsigned char *at = data + (ring->read_to & (ring->size - 1));
		uint32_t length = await((const uint32_t *)(const void *)at);

		if (length & BUSY) {
			return STATUS_NOT_YET;
		}
		if (!(length & DISCARDED)) {
			status = add_ref(ring,
					(const struct probe_head *)(const void *)(at + HEAD_BYTES));
		}
		ring->read_to += padded((length & ~DISCARDED) + HEAD_BYTES);
	}
	return status;
}

enum status cpu_ring_begin(struct cpu_ring *ring, uint64_t instant_ns)
{
	enum status status = STATUS_OK;

	ring->n_refs = ring->next = 0;
	ring->read_to = *ring->consumer;
	for (size_t at = 0; status == STATUS_OK && at < ring->n_kept;) {
		const struct probe_head *head =
				(const struct probe_head *)(const void *)(ring->kept + at);

		status = add_ref(ring, head);
		at += bytes_of(head);
	}
	if (status == STATUS_OK) {
		/* What is reserved after this takes its time after `instant_ns`. */
		status = read_ring(ring, written_to(ring));
	}
	if (status == STATUS_OK) {
		ring->limit_ns = instant_ns;
	}
	return status;
}

size_t cpu_ring_read_bytes(const struct cpu_ring *ring)
{
	return ring->read_to - *ring->consumer;
}

size_t cpu_ring_written(const struct cpu_ring *ring)
{
	return __atomic_load_n(
			(const unsigned long *)(const void *)ring->producer, __ATOMIC_ACQUIRE);
}

const struct probe_head *cpu_ring_next(struct cpu_ring *ring)
{
	if (ring->next == ring->n_refs || ring->refs[ring->next].ts_ns > ring->limit_ns) {
		return NULL;
	}
	return ring->refs[ring->next++].head;
}

static enum status keep(struct cpu_ring *ring, const struct probe_head *head)
{
	size_t n = bytes_of(head);

	if (ring->n_kept + n > ring->kept_room) {
		size_t room = (ring->n_kept + n) * 2;
		unsigned char *kept = realloc(ring->kept, room);

		if (!kept) {
			return STATUS_NO_MEMORY;
		}
		ring->kept = kept;
		ring->kept_room = room;
	}
	memcpy(ring->kept + ring->n_kept, head, sizeof(*head) + head->bytes);
	ring->n_kept += n;
	return STATUS_OK;
}

enum status cpu_ring_end(struct cpu_ring *ring)
{
	unsigned char *before = ring->kept;
	enum status status = STATUS_OK;

	/* What is left may be among the copies themselves. */
	ring->kept = NULL;
	ring->n_kept = ring->kept_room = 0;
	for (; status == STATUS_OK && ring->next < ring->n_refs; ring->next++) {
		status = keep(ring, ring->refs[ring->next].head);
	}
	free(before);
	__atomic_store_n(ring->consumer, ring->read_to, __ATOMIC_RELEASE);
	return status;
}

enum status cpu_ring_put(struct cpu_ring *ring, const struct probe_head *head)
{
	return keep(ring, head);
}

void cpu_ring_clear(struct cpu_ring *ring)
{
	ring->n_kept = 0;
	__atomic_store_n(ring->consumer, written_to(ring), __ATOMIC_RELEASE);
}
