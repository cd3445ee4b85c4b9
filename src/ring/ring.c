/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/clock.h"
#include "ring/ring.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define MEMORY_MAGIC   0x70797269u
#define HEADER_BYTES   4096u
#define MIN_BYTES      (64u << 10)
#define GIVE_BACK_PART 8 /* room is given back in eighths of the ring: few writes, no stalls */
#define WAIT_STEP_MS   500

/*
 * The first page. Each side's position has a cache line of its own, beside the flag with which that
 * side says that it sleeps: the other side reads both together.
 */
struct ring_header {
	uint32_t magic, version;
	uint64_t bytes;
	int32_t reader_pid, maker_pid;
	_Atomic uint32_t reader_gone;
	_Alignas(64) _Atomic uint64_t head; /* of the writer: published up to here */
	_Atomic uint32_t writer_waits, writer_sleeps;
	_Alignas(64) _Atomic uint64_t tail; /* of the reader: read and given back up to here */
	_Atomic uint32_t reader_waits;
	_Atomic uint64_t rest_until_ns; /* of the reader: it will not look before */
};

_Static_assert(sizeof(struct ring_header) <= HEADER_BYTES, "the header is one page");
_Static_assert(sizeof(struct record_event) == 32, "slots start at a multiple of 8");

struct ring {
	struct ring_fds fds;
	struct ring_header *header;
	unsigned char *data;
	uint64_t bytes;
	bool is_reader, is_owner;

	/* Writer. `tail` is what was last seen of the reader's. */
	uint64_t reserved, published;

	/* Reader: `head` is what was last seen of the writer's. */
	uint64_t head;
	uint32_t peeked; /* size of the record that was peeked at; 0: none */
	unsigned char *copy; /* of that record, which the writer could still change */
	size_t copy_bytes;
	uint64_t given_back;
	bool armed;

	uint64_t tail;
};

static uint64_t round_up(uint64_t size)
{
	return (size + 7) & ~(uint64_t)7;
}

static uint32_t record_limit(const struct ring *ring)
{
	return ring->bytes / 4 < RING_MAX_RECORD ? (uint32_t)(ring->bytes / 4) : RING_MAX_RECORD;
}

/* One page of header, then the data twice in a row. */
static int ring_map(struct ring *ring)
{
	size_t whole = HEADER_BYTES + 2 * ring->bytes;
	unsigned char *base = mmap(NULL, whole, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (base == MAP_FAILED) {
		return -1;
	}
	if (mmap(base, HEADER_BYTES + ring->bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED,
			    ring->fds.memory, 0) == MAP_FAILED ||
			mmap(base + HEADER_BYTES + ring->bytes, ring->bytes, PROT_READ | PROT_WRITE,
					MAP_SHARED | MAP_FIXED, ring->fds.memory,
					HEADER_BYTES) == MAP_FAILED) {
		int error = errno;

		munmap(base, whole);
		errno = error;
		return -1;
	}
	ring->header = (struct ring_header *)base;
	ring->data = base + HEADER_BYTES;
	return 0;
}

/*
 * The memory is sealed against being made smaller: a reader that maps it could otherwise be killed
 * by the writer (SIGBUS).
 */
static int make_memory(uint64_t bytes)
{
	int fd = memfd_create("pythiatop-ring", MFD_CLOEXEC | MFD_ALLOW_SEALING);

	if (fd < 0) {
		return -1;
	}
	if (ftruncate(fd, (off_t)(HEADER_BYTES + bytes)) != 0 ||
			fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0) {
		int error = errno;

		close(fd);
		errno = error;
		return -1;
	}
	return fd;
}

struct ring *ring_create(size_t bytes)
{
	struct ring *ring;

	if (bytes == 0) {
		bytes = RING_DEFAULT_BYTES;
	}
	if (bytes < MIN_BYTES || (bytes & (bytes - 1)) != 0) {
		errno = EINVAL;
		return NULL;
	}
	ring = calloc(1, sizeof(*ring));
	if (!ring) {
		return NULL;
	}
	ring->bytes = bytes;
	ring->is_reader = ring->is_owner = true;
	ring->fds.memory = make_memory(bytes);
	ring->fds.data_event = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	ring->fds.space_event = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (ring->fds.memory < 0 || ring->fds.data_event < 0 || ring->fds.space_event < 0 ||
			ring_map(ring) != 0) {
		ring_destroy(ring);
		return NULL;
	}
	ring->header->magic = MEMORY_MAGIC;
	ring->header->version = RING_VERSION;
	ring->header->bytes = bytes;
	ring->header->reader_pid = ring->header->maker_pid = getpid();
	return ring;
}

struct ring *ring_attach(const struct ring_fds *fds)
{
	struct ring *ring = calloc(1, sizeof(*ring));
	struct stat info;

	if (!ring) {
		return NULL;
	}
	ring->fds = *fds;
	if (fstat(fds->memory, &info) != 0) {
		free(ring);
		return NULL;
	}
	ring->bytes = (uint64_t)info.st_size - HEADER_BYTES;
	if ((uint64_t)info.st_size < HEADER_BYTES + MIN_BYTES ||
			(ring->bytes & (ring->bytes - 1)) != 0) {
		free(ring);
		errno = EINVAL;
		return NULL;
	}
	if (ring_map(ring) != 0) {
		free(ring);
		return NULL;
	}
	if (ring->header->magic != MEMORY_MAGIC || ring->header->version != RING_VERSION ||
			ring->header->bytes != ring->bytes) {
		munmap(ring->header, HEADER_BYTES + 2 * ring->bytes);
		free(ring);
		errno = EPROTO;
		return NULL;
	}
	return ring;
}

void ring_turn(struct ring *ring, pid_t reader)
{
	ring->is_reader = false;
	ring->header->reader_pid = reader;
}

static void wake(int event_fd)
{
	uint64_t one = 1;

	/* The counter cannot overflow, and a full one would wake as well. */
	if (write(event_fd, &one, sizeof(one)) < 0) {
		return;
	}
}

static void drain(int event_fd)
{
	uint64_t count;

	if (read(event_fd, &count, sizeof(count)) < 0) {
		return; /* EAGAIN: nobody woke us */
	}
}

void ring_destroy(struct ring *ring)
{
	if (!ring) {
		return;
	}
	if (ring->header) {
		if (ring->is_reader) {
			atomic_store(&ring->header->reader_gone, 1);
			wake(ring->fds.space_event);
		}
		munmap(ring->header, HEADER_BYTES + 2 * ring->bytes);
	}
	if (ring->is_owner) {
		int fds[] = {ring->fds.memory, ring->fds.data_event, ring->fds.space_event};

		for (size_t i = 0; i < sizeof(fds) / sizeof(fds[0]); i++) {
			if (fds[i] >= 0) {
				close(fds[i]);
			}
		}
	}
	free(ring->copy);
	free(ring);
}

struct ring_fds ring_fds(const struct ring *ring)
{
	return ring->fds;
}

size_t ring_bytes(const struct ring *ring)
{
	return ring->bytes;
}

/* A child of ours that has ended stays known until its parent asks for its status. */
static bool has_ended(pid_t pid)
{
	siginfo_t info = {.si_pid = 0};

	if (waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG | WNOWAIT) == 0) {
		return info.si_pid != 0;
	}
	return kill(pid, 0) != 0 && errno == ESRCH;
}

pid_t ring_maker(const struct ring *ring)
{
	return ring->header->maker_pid;
}

static bool reader_is_gone(struct ring *ring)
{
	return atomic_load(&ring->header->reader_gone) != 0 || has_ended(ring->header->reader_pid);
}

/*
 * Sleeps until `end` fits. The flag goes up before the position is looked at again, and the reader
 * moves its position before it looks at the flag, so one of the two always sees the other.
 */
static bool wait_for_room(struct ring *ring, uint64_t end)
{
	for (;;) {
		struct pollfd space = {.fd = ring->fds.space_event, .events = POLLIN};

		atomic_store(&ring->header->writer_waits, 1);
		ring->tail = atomic_load(&ring->header->tail);
		if (end - ring->tail <= ring->bytes) {
			atomic_store(&ring->header->writer_waits, 0);
			return true;
		}
		if (reader_is_gone(ring)) {
			errno = ECANCELED;
			return false;
		}
		if (poll(&space, 1, WAIT_STEP_MS) > 0) {
			drain(ring->fds.space_event);
		}
	}
}

void *ring_reserve(struct ring *ring, size_t size)
{
	uint64_t start = ring->reserved;
	uint64_t end = start + round_up(size);

	if (end - ring->tail > ring->bytes) {
		/* What is not published cannot be read: waiting for that would never end. */
		if (end - ring->published > ring->bytes) {
			errno = EMSGSIZE;
			return NULL;
		}
		if (!wait_for_room(ring, end)) {
			return NULL;
		}
	}
	ring->reserved = end;
	return ring->data + (start & (ring->bytes - 1));
}

uint64_t ring_position(const struct ring *ring)
{
	return ring->reserved;
}

uint64_t ring_room(struct ring *ring)
{
	ring->tail = atomic_load(&ring->header->tail);
	return ring->bytes - (ring->reserved - ring->tail);
}

void *ring_at(const struct ring *ring, uint64_t position)
{
	return ring->data + (position & (ring->bytes - 1));
}

void ring_publish(struct ring *ring, uint64_t end)
{
	if (end == ring->published) {
		return;
	}
	ring->published = end;
	atomic_store(&ring->header->head, end);
	if (atomic_load(&ring->header->reader_waits) != 0 &&
			atomic_exchange(&ring->header->reader_waits, 0) != 0) {
		wake(ring->fds.data_event);
	}
}

void ring_wake(struct ring *ring)
{
	wake(ring->fds.data_event);
}

/* The flag and the instant as the flag and the position of wait_for_room(). */
uint64_t ring_sleep(struct ring *ring, uint64_t least_ns)
{
	uint64_t began_ns = clock_monotonic_ns(), at_ns = began_ns;

	atomic_store(&ring->header->writer_sleeps, 1);
	for (;;) {
		struct pollfd sooner = {.fd = ring->fds.space_event, .events = POLLIN};
		uint64_t until_ns = atomic_load(&ring->header->rest_until_ns), left_ns;
		uint64_t slept_ns = at_ns - began_ns;
		struct timespec timeout;

		left_ns = slept_ns < least_ns ? least_ns - slept_ns : 0;
		if (until_ns > at_ns && slept_ns < RING_MAX_REST_NS) {
			uint64_t rest_ns = RING_MAX_REST_NS - slept_ns;

			rest_ns = until_ns - at_ns < rest_ns ? until_ns - at_ns : rest_ns;
			left_ns = rest_ns > left_ns ? rest_ns : left_ns;
		}
		if (left_ns == 0) {
			break;
		}
		timeout = (struct timespec){.tv_sec = (time_t)(left_ns / 1000000000u),
				.tv_nsec = (long)(left_ns % 1000000000u)};
		if (ppoll(&sooner, 1, &timeout, NULL) > 0) {
			drain(ring->fds.space_event);
		}
		at_ns = clock_monotonic_ns();
	}
	atomic_store(&ring->header->writer_sleeps, 0);
	return at_ns - began_ns;
}

void ring_rest_until(struct ring *ring, uint64_t until_ns)
{
	uint64_t before_ns = atomic_exchange(&ring->header->rest_until_ns, until_ns);

	if (until_ns < before_ns && atomic_load(&ring->header->writer_sleeps) != 0) {
		wake(ring->fds.space_event);
	}
}

static void give_back(struct ring *ring)
{
	if (ring->given_back == ring->tail) {
		return;
	}
	ring->given_back = ring->tail;
	atomic_store(&ring->header->tail, ring->tail);
	if (atomic_load(&ring->header->writer_waits) != 0 &&
			atomic_exchange(&ring->header->writer_waits, 0) != 0) {
		wake(ring->fds.space_event);
	}
}

/* Looks at the writer's position again. False if it is impossible. */
static bool refresh_head(struct ring *ring)
{
	uint64_t head = atomic_load(&ring->header->head);

	if (head - ring->tail > ring->bytes || (head & 7) != 0) {
		return false;
	}
	ring->head = head;
	return true;
}

static void disarm(struct ring *ring)
{
	if (ring->armed) {
		ring->armed = false;
		atomic_store(&ring->header->reader_waits, 0);
		drain(ring->fds.data_event);
	}
}

/* Makes room for the next record's copy; twice what is needed, since some are long. */
static bool reserve_copy(struct ring *ring, uint32_t size)
{
	unsigned char *copy;

	if (size <= ring->copy_bytes) {
		return true;
	}
	copy = realloc(ring->copy, 2u * size);
	if (copy) {
		ring->copy = copy;
		ring->copy_bytes = 2u * size;
	}
	return copy != NULL;
}

const struct record *ring_peek(struct ring *ring, bool *broken)
{
	const struct record *record;
	uint32_t size;

	*broken = false;
	if (ring->head == ring->tail) {
		if (!refresh_head(ring)) {
			*broken = true;
			return NULL;
		}
		if (ring->head == ring->tail) {
			give_back(ring);
			/*
			 * Rung for nothing: the writer was between seeing that we wait and ringing
			 * when we took what it had. Unless acknowledged, the bell would ring until
			 * there is something again. (Who waits arms again, and that looks once
			 * more.)
			 */
			disarm(ring);
			return NULL;
		}
	}
	disarm(ring);
	record = (const struct record *)(ring->data + (ring->tail & (ring->bytes - 1)));
	/* Read once: the writer could change it between the check and its use. */
	size = *(const volatile uint32_t *)&record->size;
	if (size < sizeof(*record) || (size & 7) != 0 || size > record_limit(ring) ||
			size > ring->head - ring->tail || !reserve_copy(ring, size)) {
		*broken = true;
		return NULL;
	}
	memcpy(ring->copy, record, size);
	((struct record *)ring->copy)->size = size;
	ring->peeked = size;
	return (const struct record *)ring->copy;
}

void ring_next(struct ring *ring)
{
	ring->tail += ring->peeked;
	ring->peeked = 0;
	if (ring->tail - ring->given_back >= ring->bytes / GIVE_BACK_PART) {
		give_back(ring);
	}
}

int ring_wait_fd(const struct ring *ring)
{
	return ring->fds.data_event;
}

void ring_acknowledge(struct ring *ring)
{
	drain(ring->fds.data_event);
}

bool ring_arm(struct ring *ring)
{
	ring->armed = true;
	atomic_store(&ring->header->reader_waits, 1);
	/* A broken head counts as something that came: ring_peek() tells. */
	return atomic_load(&ring->header->head) == ring->tail;
}

uint64_t ring_used(const struct ring *ring)
{
	uint64_t used = atomic_load(&ring->header->head) - ring->tail;

	return used <= ring->bytes ? used : ring->bytes;
}

uint64_t ring_written(const struct ring *ring)
{
	return atomic_load(&ring->header->head);
}

const char *record_text(const struct record *record, uint32_t offset)
{
	uint32_t size = record->size < RING_MAX_RECORD ? record->size : RING_MAX_RECORD;
	const char *text = (const char *)record + offset;

	if (offset < sizeof(*record) || offset >= size || !memchr(text, 0, size - offset)) {
		return NULL;
	}
	return text;
}
