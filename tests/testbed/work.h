/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TESTBED_WORK_H
#define TESTBED_WORK_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * What the services spend their time with: computing, waiting for a device, locks, semaphores,
 * caches, files. All of it is real; only the devices themselves (a hypervisor, a switch, a disk
 * array) are waits.
 *
 * Threads: everything may be used by any thread, unless said otherwise.
 * Memory: fixed by the sizes below, however long it runs.
 */

/* CLOCK_MONOTONIC, ns. */
uint64_t clock_ns(void);
void sleep_ns(uint64_t ns);

/* Random numbers of the calling thread; reproducible for a seed if threads start in order. */
void random_seed(uint64_t seed);
uint64_t random_u64(void);
uint32_t random_below(uint32_t limit); /* 0 if limit is 0 */
double random_unit(void);              /* in (0, 1) */
double random_exponential(double mean);
double random_normal(void);

/* Makes all that follows take so many times as long as it should, in this whole process; 1: as long
 * as it should. */
void work_slow_down(double factor);

/* Computes a checksum over that many KiB (some 1 us each), and returns it. */
uint64_t work_cpu(uint32_t kib);

/* Waits for a device: mean_us, plus or minus 4 %. */
void work_device(uint32_t mean_us);

/* A mutex that knows how many wait for it. */
struct lock {
	pthread_mutex_t mutex;
	atomic_uint waiting;
};
#define LOCK_INIT                                                                                  \
	{                                                                                          \
		.mutex = PTHREAD_MUTEX_INITIALIZER                                                 \
	}

uint32_t lock_waiting(struct lock *lock);
void lock_take(struct lock *lock);
void lock_give(struct lock *lock);

/*
 * A counting semaphore, served in the order of arrival, whose limit can change while it is used:
 * *limit is read under the semaphore's own lock, at least every 50 ms.
 */
struct semaphore {
	pthread_mutex_t mutex;
	pthread_cond_t changed;
	uint64_t next_ticket, now_serving;
	uint32_t held;
};
#define SEMAPHORE_INIT                                                                             \
	{                                                                                          \
		.mutex = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER            \
	}

/* How many hold it or wait for it. */
uint32_t semaphore_queue_len(struct semaphore *semaphore);
void semaphore_take(struct semaphore *semaphore, const atomic_uint *limit);
void semaphore_give(struct semaphore *semaphore);

/* A direct-mapped cache of keys; entries live ttl_ns (0: until another takes their place). */
#define CACHE_SLOTS 256
struct cache {
	pthread_mutex_t mutex;
	uint64_t ttl_ns;
	struct {
		uint64_t key, expires_ns;
	} slots[CACHE_SLOTS];
};

bool cache_has(struct cache *cache, uint64_t key);
void cache_put(struct cache *cache, uint64_t key);
void cache_drop(struct cache *cache, uint64_t key);

/* A file of small records, written in place again after JOURNAL_BYTES. */
#define JOURNAL_BYTES (256U * 1024)
struct journal {
	struct lock lock;
	int fd;
	uint32_t offset;
};

/* Creates an unlinked file in dir, so that nothing can be left of it. 0, or -1 (errno). */
int journal_open(struct journal *journal, const char *dir, const char *name);
/* Call these with journal->lock held. */
void journal_write(struct journal *journal, uint32_t bytes);
void journal_sync(struct journal *journal);

/* Objects that exist: number -> two values. When full, the oldest in its place is forgotten. */
#define TABLE_SLOTS 4096
struct table {
	pthread_mutex_t mutex;
	uint64_t next;
	uint32_t count;
	struct {
		uint64_t number, value[2];
	} slots[TABLE_SLOTS];
};

uint64_t table_add(struct table *table, uint64_t value0, uint64_t value1); /* never 0 */
bool table_take(struct table *table, uint64_t number, uint64_t value[2]);  /* removes it */
uint32_t table_count(struct table *table);

#endif
