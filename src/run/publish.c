/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "run/publish.h"

#include <stdlib.h>
#include <urcu/urcu-memb.h>
#include <urcu/compiler.h>
#include <urcu/ref.h>

/*
 * liburcu 0.13 orders memory by inline assembly, which ThreadSanitizer cannot see: the two places
 * where a snapshot changes hands are told to it.
 */
#if defined(__SANITIZE_THREAD__)
#define HAS_TSAN 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define HAS_TSAN 1
#endif
#endif
#ifdef HAS_TSAN
#include <sanitizer/tsan_interface.h>
#define HAND_OVER(address) __tsan_release(address)
#define TAKE_OVER(address) __tsan_acquire(address)
#else
#define HAND_OVER(address) ((void)(address))
#define TAKE_OVER(address) ((void)(address))
#endif

struct published {
	struct urcu_ref ref;
	struct snapshot *snapshot;
};

struct publisher {
	struct published *newest;                /* under RCU */
	struct published *held[PUBLISHER_HOLDS]; /* the reader's own */
};

struct publisher *publisher_create(void)
{
	return calloc(1, sizeof(struct publisher));
}

static void published_free(struct urcu_ref *ref)
{
	struct published *published = caa_container_of(ref, struct published, ref);

	TAKE_OVER(published);
	snapshot_destroy(published->snapshot);
	free(published);
}

static void published_put(struct published *published)
{
	HAND_OVER(published);
	urcu_ref_put(&published->ref, published_free);
}

void publisher_destroy(struct publisher *publisher)
{
	size_t i;

	if (!publisher) {
		return;
	}
	for (i = 0; i < PUBLISHER_HOLDS; i++) {
		if (publisher->held[i]) {
			published_put(publisher->held[i]);
		}
	}
	if (publisher->newest) {
		published_put(publisher->newest);
	}
	free(publisher);
}

void publisher_put(struct publisher *publisher, struct snapshot *snapshot)
{
	struct published *published = calloc(1, sizeof(*published)), *old;

	if (!published) {
		snapshot_destroy(snapshot);
		return;
	}
	published->snapshot = snapshot;
	urcu_ref_init(&published->ref);
	HAND_OVER(published);
	old = rcu_xchg_pointer(&publisher->newest, published);
	if (old) {
		/* After this no reader is between finding the old one and holding it. */
		urcu_memb_synchronize_rcu();
		published_put(old);
	}
}

const struct snapshot *publisher_acquire(struct publisher *publisher)
{
	struct published *published;
	size_t slot;

	for (slot = 0; slot < PUBLISHER_HOLDS && publisher->held[slot]; slot++) {
	}
	if (slot == PUBLISHER_HOLDS) {
		return NULL;
	}
	urcu_memb_read_lock();
	published = rcu_dereference(publisher->newest);
	if (published) {
		TAKE_OVER(published);
		urcu_ref_get(&published->ref);
	}
	urcu_memb_read_unlock();
	publisher->held[slot] = published;
	return published ? published->snapshot : NULL;
}

void publisher_release(struct publisher *publisher, const struct snapshot *snapshot)
{
	size_t slot;

	for (slot = 0; slot < PUBLISHER_HOLDS; slot++) {
		struct published *published = publisher->held[slot];

		if (published && published->snapshot == snapshot) {
			publisher->held[slot] = NULL;
			published_put(published);
			return;
		}
	}
}
