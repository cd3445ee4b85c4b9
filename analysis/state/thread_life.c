/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "state/thread_life.h"

#include "state/tenths.h"

#define FEW 64u /* values: so few are walked */

struct thread_lives {
	uint64_t tenths[TENTHS];
	struct thread_life lives[TENTHS];
};

static bool is_running(enum thread_status status)
{
	return status == THREAD_RUN_USER || status == THREAD_RUN_SYSCALL ||
	       status == THREAD_INTERRUPTED;
}

static void add_latency(struct thread_life *life, uint64_t waited_ns)
{
	life->latencies++;
	life->latency_ns += waited_ns;
	life->latency_max_ns = waited_ns > life->latency_max_ns ? waited_ns : life->latency_max_ns;
	life->latency_min_ns = life->latencies == 1 || waited_ns < life->latency_min_ns
					       ? waited_ns
					       : life->latency_min_ns;
}

/* It became so at an instant; `before` is what it was, since before_ns. */
static void add_change(struct thread_life *life, struct thread_what what, struct thread_what before,
		uint64_t before_ns, uint64_t at_ns)
{
	if (is_running(what.status) && !is_running(before.status)) {
		life->switches++;
		if (before.status == THREAD_WAIT_CPU) {
			uint64_t waited_ns = at_ns - before_ns;

			life->max_runqueue_ns = waited_ns > life->max_runqueue_ns
								? waited_ns
								: life->max_runqueue_ns;
			if (before.woken) {
				add_latency(life, waited_ns);
			}
		}
	}
	life->wakeups += what.status == THREAD_WAIT_CPU && what.woken;
}

/* Adds what was from begin_ns on until end_ns; changes at begin_ns count, too. */
static void walk(const struct attribute *status, uint64_t begin_ns, uint64_t end_ns,
		struct thread_life *life)
{
	struct attribute_walk walk = {.next = 0};
	uint64_t before_ns = 0;
	struct thread_what before = {.status = THREAD_UNKNOWN};

	while (attribute_step(status, begin_ns, end_ns, &walk)) {
		struct thread_what what = what_unpack(walk.value);

		life->ns[what.status] += walk.end_ns - walk.begin_ns;
		if (walk.since_ns >= begin_ns) {
			if (walk.since_ns == begin_ns) {
				before = what_unpack(
						attribute_since(status, begin_ns - 1, &before_ns));
			}
			add_change(life, what, before, before_ns, walk.begin_ns);
		}
		before = what;
		before_ns = walk.since_ns;
	}
}

static void add(struct thread_life *to, const struct thread_life *from)
{
	for (uint32_t i = 0; i < LIFE_STATUSES; i++) {
		to->ns[i] += from->ns[i];
	}
	to->switches += from->switches;
	to->wakeups += from->wakeups;
	if (from->max_runqueue_ns > to->max_runqueue_ns) {
		to->max_runqueue_ns = from->max_runqueue_ns;
	}
	if (from->latencies == 0) {
		return;
	}
	if (to->latencies == 0 || from->latency_min_ns < to->latency_min_ns) {
		to->latency_min_ns = from->latency_min_ns;
	}
	if (from->latency_max_ns > to->latency_max_ns) {
		to->latency_max_ns = from->latency_max_ns;
	}
	to->latencies += from->latencies;
	to->latency_ns += from->latency_ns;
}

static struct thread_lives *lives_of(struct state_cx *cx, struct thread_state *thread)
{
	if (!thread->lives && thread->status.past.n > FEW) {
		thread->lives = pool_alloc(&cx->store.pool, sizeof(*thread->lives));
		if (thread->lives) {
			*thread->lives = (struct thread_lives){.tenths = {0}};
		}
	}
	return thread->lives;
}

static const struct thread_life *life_of(struct thread_lives *lives, const struct attribute *status,
		const struct tenths *tenth)
{
	uint64_t place = tenth->number % TENTHS;

	if (lives->tenths[place] != tenth->number + 1) {
		lives->lives[place] = (struct thread_life){.switches = 0};
		walk(status, tenth->begin_ns, tenth->end_ns, &lives->lives[place]);
		lives->tenths[place] = tenth->number + 1;
	}
	return &lives->lives[place];
}

void thread_life(struct state_cx *cx, struct thread_state *thread, uint64_t from_ns, uint64_t to_ns,
		struct thread_life *out)
{
	struct tenths tenths = tenths_within(cx, from_ns, to_ns);
	struct thread_lives *lives = lives_of(cx, thread);

	*out = (struct thread_life){.switches = 0};
	if (from_ns >= to_ns) {
		return;
	}
	/* What it became at from_ns is no change within, but the first ns of it is. */
	out->ns[what_unpack(attribute_at(&thread->status, from_ns++)).status] = 1;
	while (lives && tenths_next(&tenths)) {
		walk(&thread->status, from_ns, tenths.begin_ns, out);
		add(out, life_of(lives, &thread->status, &tenths));
		from_ns = tenths.end_ns;
	}
	walk(&thread->status, from_ns, to_ns, out);
}

void thread_life_forget(struct state_cx *cx, struct thread_state *thread)
{
	pool_free(&cx->store.pool, thread->lives, sizeof(*thread->lives));
	thread->lives = NULL;
}
