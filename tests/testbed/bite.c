/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "bite.h"

#include <math.h>
#include <pthread.h>

#include "library.h"
#include "work.h"

atomic_uint bite_kinds[POINT_COUNT];
static struct bite bites[N_BITES][POINT_COUNT];
static pthread_mutex_t bites_mutex = PTHREAD_MUTEX_INITIALIZER;

void bite_set(enum bite_kind kind, enum point_id point, const struct bite *bite)
{
	pthread_mutex_lock(&bites_mutex);
	bites[kind][point] = *bite;
	pthread_mutex_unlock(&bites_mutex);
	atomic_fetch_or(&bite_kinds[point], 1U << kind);
}

void bite_clear_all(void)
{
	for (size_t i = 0; i < POINT_COUNT; i++) {
		atomic_store(&bite_kinds[i], 0);
	}
}

static struct bite get(enum bite_kind kind, enum point_id point)
{
	struct bite bite;

	pthread_mutex_lock(&bites_mutex);
	bite = bites[kind][point];
	pthread_mutex_unlock(&bites_mutex);
	return bite;
}

/* How long it bites this time; 0: not now. */
static uint64_t draw_ns(const struct bite *bite)
{
	return random_unit() < bite->probability ? dist_draw_ns(&bite->time) : 0;
}

void bite_begin_slow(enum point_id point, unsigned int kinds)
{
	static _Thread_local uint64_t rest_ns;
	struct bite bite;

	if (kinds & 1U << BITE_WAIT) {
		bite = get(BITE_WAIT, point);
		sleep_ns(draw_ns(&bite));
	}
	if (kinds & 1U << BITE_SHARE) {
		uint64_t all_ns, share_ns;

		bite = get(BITE_SHARE, point);
		all_ns = draw_ns(&bite);
		share_ns = (uint64_t)((double)all_ns * random_unit());
		rest_ns = all_ns - share_ns;
		sleep_ns(share_ns);
	}
	if (kinds & 1U << BITE_REST) {
		sleep_ns(rest_ns);
		rest_ns = 0;
	}
}

void bite_end_slow(enum point_id point, unsigned int kinds, uint64_t size_bytes)
{
	struct bite bite;

	if (kinds & 1U << BITE_LIBRARY) {
		bite = get(BITE_LIBRARY, point);
		library_convert(draw_ns(&bite));
	}
	if (kinds & 1U << BITE_SIZE) {
		bite = get(BITE_SIZE, point);
		sleep_ns((uint64_t)fmin(bite.time.a * (double)size_bytes, DIST_LONGEST_NS));
	}
}

void bite_hold_slow(enum point_id point)
{
	struct bite bite = get(BITE_HOLD, point);

	sleep_ns(draw_ns(&bite));
}

bool bite_lookup_slow(enum point_id point)
{
	struct bite bite = get(BITE_MISS, point);

	if (random_unit() >= bite.probability) {
		return true;
	}
	sleep_ns(dist_draw_ns(&bite.time));
	return false;
}

static _Thread_local int pending_error;

int bite_status_slow(enum point_id point)
{
	struct bite bite = get(BITE_ERROR, point);

	if (random_unit() >= bite.probability) {
		return 0;
	}
	pending_error = pending_error ? pending_error : bite.error;
	return bite.error;
}

int bite_take_error(void)
{
	int error = pending_error;

	pending_error = 0;
	return error;
}
