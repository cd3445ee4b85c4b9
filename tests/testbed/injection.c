/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "injection.h"

#include <math.h>
#include <pthread.h>

#include "library.h"
#include "work.h"

atomic_uint injection_kinds[POINT_COUNT];
static struct injection injections[N_INJECTIONS][POINT_COUNT];
static pthread_mutex_t bites_mutex = PTHREAD_MUTEX_INITIALIZER;

void injection_set(enum injection_kind kind, enum point_id point, const struct injection *injection)
{
	pthread_mutex_lock(&bites_mutex);
	injections[kind][point] = *injection;
	pthread_mutex_unlock(&bites_mutex);
	atomic_fetch_or(&injection_kinds[point], 1U << kind);
}

void injection_clear_all(void)
{
	for (size_t i = 0; i < POINT_COUNT; i++) {
		atomic_store(&injection_kinds[i], 0);
	}
}

static struct injection get(enum injection_kind kind, enum point_id point)
{
	struct injection injection;

	pthread_mutex_lock(&bites_mutex);
	injection = injections[kind][point];
	pthread_mutex_unlock(&bites_mutex);
	return injection;
}

/* How long it lasts this time; 0: not now. */
static uint64_t draw_ns(const struct injection *injection)
{
	return random_unit() < injection->probability ? dist_draw_ns(&injection->time) : 0;
}

void injection_begin_slow(enum point_id point, unsigned int kinds)
{
	static _Thread_local uint64_t rest_ns;
	struct injection injection;

	if (kinds & 1U << INJECTION_WAIT) {
		injection = get(INJECTION_WAIT, point);
		sleep_ns(draw_ns(&injection));
	}
	if (kinds & 1U << INJECTION_SHARE) {
		uint64_t all_ns, share_ns;

		injection = get(INJECTION_SHARE, point);
		all_ns = draw_ns(&injection);
		share_ns = (uint64_t)((double)all_ns * random_unit());
		rest_ns = all_ns - share_ns;
		sleep_ns(share_ns);
	}
	if (kinds & 1U << INJECTION_REST) {
		sleep_ns(rest_ns);
		rest_ns = 0;
	}
}

void injection_end_slow(enum point_id point, unsigned int kinds, uint64_t size_bytes)
{
	struct injection injection;

	if (kinds & 1U << INJECTION_LIBRARY) {
		injection = get(INJECTION_LIBRARY, point);
		library_convert(draw_ns(&injection));
	}
	if (kinds & 1U << INJECTION_SIZE) {
		injection = get(INJECTION_SIZE, point);
		sleep_ns((uint64_t)fmin(injection.time.a * (double)size_bytes, DIST_LONGEST_NS));
	}
}

void injection_hold_slow(enum point_id point)
{
	struct injection injection = get(INJECTION_HOLD, point);

	sleep_ns(draw_ns(&injection));
}

bool injection_lookup_slow(enum point_id point)
{
	struct injection injection = get(INJECTION_MISS, point);

	if (random_unit() >= injection.probability) {
		return true;
	}
	sleep_ns(dist_draw_ns(&injection.time));
	return false;
}

static _Thread_local int pending_error;

int injection_status_slow(enum point_id point)
{
	struct injection injection = get(INJECTION_ERROR, point);

	if (random_unit() >= injection.probability) {
		return 0;
	}
	pending_error = pending_error ? pending_error : injection.error;
	return injection.error;
}

int injection_take_error(void)
{
	int error = pending_error;

	pending_error = 0;
	return error;
}
