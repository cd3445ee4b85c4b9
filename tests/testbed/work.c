/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "work.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

uint64_t clock_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

void sleep_ns(uint64_t ns)
{
	struct timespec left;

	if (ns == 0) {
		return;
	}
	left = (struct timespec){(time_t)(ns / 1000000000), (long)(ns % 1000000000)};

	while (nanosleep(&left, &left) != 0 && errno == EINTR) {
	}
}

static _Thread_local uint64_t random_state = 1;

void random_seed(uint64_t seed)
{
	random_state = seed;
}

/* splitmix64 (Steele, Lea, Flood: Fast splittable pseudorandom number generators, 2014). */
uint64_t random_u64(void)
{
	uint64_t z = (random_state += 0x9e3779b97f4a7c15);

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
	z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
	return z ^ (z >> 31);
}

uint32_t random_below(uint32_t limit)
{
	return (uint32_t)(((random_u64() >> 32) * limit) >> 32);
}

double random_unit(void)
{
	return ((double)(random_u64() >> 12) + 0.5) / 4503599627370496.0;
}

double random_exponential(double mean)
{
	return -mean * log(random_unit());
}

double random_normal(void)
{
	return sqrt(-2 * log(random_unit())) * cos(6.283185307179586 * random_unit());
}

static _Atomic double slowness = 1;

void work_slow_down(double factor)
{
	atomic_store(&slowness, factor);
}

static double slow(double amount)
{
	return amount * atomic_load_explicit(&slowness, memory_order_relaxed);
}

/* After something that began then: makes it as slow as all else. */
static void linger(uint64_t start_ns)
{
	double factor = slow(1);

	if (factor > 1) {
		sleep_ns((uint64_t)((factor - 1) * (double)(clock_ns() - start_ns)));
	}
}

uint64_t work_cpu(uint32_t kib)
{
	static const uint8_t text[1024] = "a page of what there is to compute";
	volatile uint64_t result = 0;
	uint64_t hash = 0xcbf29ce484222325;
	uint32_t rounds = (uint32_t)slow(kib);

	for (uint32_t i = 0; i < rounds; i++) {
		for (size_t j = 0; j < sizeof(text); j += 8) {
			uint64_t word;

			memcpy(&word, text + j, sizeof(word));
			hash = (hash ^ word) * 0x100000001b3;
			hash ^= hash >> 29;
		}
	}
	result = hash; /* volatile: the loop must not be optimised away */
	return result;
}

void work_device(uint32_t mean_us)
{
	sleep_ns((uint64_t)(slow(mean_us * 1000.0) * (0.96 + 0.08 * random_unit())));
}

uint32_t lock_waiting(struct lock *lock)
{
	return atomic_load_explicit(&lock->waiting, memory_order_relaxed);
}

void lock_take(struct lock *lock)
{
	atomic_fetch_add_explicit(&lock->waiting, 1, memory_order_relaxed);
	pthread_mutex_lock(&lock->mutex);
	atomic_fetch_sub_explicit(&lock->waiting, 1, memory_order_relaxed);
}

void lock_give(struct lock *lock)
{
	pthread_mutex_unlock(&lock->mutex);
}

uint32_t semaphore_queue_len(struct semaphore *semaphore)
{
	uint32_t len;

	pthread_mutex_lock(&semaphore->mutex);
	len = semaphore->held + (uint32_t)(semaphore->next_ticket - semaphore->now_serving);
	pthread_mutex_unlock(&semaphore->mutex);
	return len;
}

void semaphore_take(struct semaphore *semaphore, const atomic_uint *limit)
{
	uint64_t ticket;

	pthread_mutex_lock(&semaphore->mutex);
	ticket = semaphore->next_ticket++;
	while (ticket != semaphore->now_serving || semaphore->held >= atomic_load(limit)) {
		struct timespec until;

		/* The timeout is for a limit raised meanwhile: its writer does not know us. */
		clock_gettime(CLOCK_REALTIME, &until);
		until.tv_nsec += 50000000;
		until.tv_sec += until.tv_nsec / 1000000000;
		until.tv_nsec %= 1000000000;
		pthread_cond_timedwait(&semaphore->changed, &semaphore->mutex, &until);
	}
	semaphore->now_serving++;
	semaphore->held++;
	pthread_cond_broadcast(&semaphore->changed);
	pthread_mutex_unlock(&semaphore->mutex);
}

void semaphore_give(struct semaphore *semaphore)
{
	pthread_mutex_lock(&semaphore->mutex);
	semaphore->held--;
	pthread_cond_broadcast(&semaphore->changed);
	pthread_mutex_unlock(&semaphore->mutex);
}

bool cache_has(struct cache *cache, uint64_t key)
{
	size_t slot = (key * 0x9e3779b97f4a7c15) >> 56;
	bool found;

	pthread_mutex_lock(&cache->mutex);
	found = cache->slots[slot].key == key &&
		(cache->ttl_ns == 0 || clock_ns() < cache->slots[slot].expires_ns);
	pthread_mutex_unlock(&cache->mutex);
	return found;
}

void cache_put(struct cache *cache, uint64_t key)
{
	size_t slot = (key * 0x9e3779b97f4a7c15) >> 56;

	pthread_mutex_lock(&cache->mutex);
	cache->slots[slot].key = key;
	cache->slots[slot].expires_ns = clock_ns() + cache->ttl_ns;
	pthread_mutex_unlock(&cache->mutex);
}

void cache_drop(struct cache *cache, uint64_t key)
{
	size_t slot = (key * 0x9e3779b97f4a7c15) >> 56;

	pthread_mutex_lock(&cache->mutex);
	if (cache->slots[slot].key == key) {
		cache->slots[slot].key = 0;
	}
	pthread_mutex_unlock(&cache->mutex);
}

int journal_open(struct journal *journal, const char *dir, const char *name)
{
	char path[512];

	snprintf(path, sizeof(path), "%s/%s.journal", dir, name);
	journal->fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (journal->fd < 0) {
		return -1;
	}
	unlink(path);
	return 0;
}

void journal_write(struct journal *journal, uint32_t bytes)
{
	static const char record[4096];
	uint64_t start_ns = clock_ns();

	if (bytes > sizeof(record)) {
		bytes = sizeof(record);
	}
	if (journal->offset + bytes > JOURNAL_BYTES) {
		journal->offset = 0;
	}
	if (pwrite(journal->fd, record, bytes, (off_t)journal->offset) < 0) {
		perror("testbed: cannot write a journal");
	}
	journal->offset += bytes;
	linger(start_ns);
}

void journal_sync(struct journal *journal)
{
	uint64_t start_ns = clock_ns();

	if (fdatasync(journal->fd) != 0) {
		perror("testbed: cannot sync a journal");
	}
	linger(start_ns);
}

uint64_t table_add(struct table *table, uint64_t value0, uint64_t value1)
{
	uint64_t number;
	size_t slot;

	pthread_mutex_lock(&table->mutex);
	number = ++table->next;
	slot = number % TABLE_SLOTS;
	if (table->slots[slot].number == 0) {
		table->count++;
	}
	table->slots[slot].number = number;
	table->slots[slot].value[0] = value0;
	table->slots[slot].value[1] = value1;
	pthread_mutex_unlock(&table->mutex);
	return number;
}

bool table_take(struct table *table, uint64_t number, uint64_t value[2])
{
	size_t slot = number % TABLE_SLOTS;
	bool found;

	pthread_mutex_lock(&table->mutex);
	found = number != 0 && table->slots[slot].number == number;
	if (found) {
		memcpy(value, table->slots[slot].value, sizeof(table->slots[slot].value));
		table->slots[slot].number = 0;
		table->count--;
	}
	pthread_mutex_unlock(&table->mutex);
	return found;
}

uint32_t table_count(struct table *table)
{
	uint32_t count;

	pthread_mutex_lock(&table->mutex);
	count = table->count;
	pthread_mutex_unlock(&table->mutex);
	return count;
}
