/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "run/watch.h"

#define NS_PER_S  UINT64_C(1000000000)
#define OVER      2u /* seconds in a row, while a step is watched */
#define LOAD_OVER 3u /* and of what was kept */

void watch_begin(struct watch *watch, uint32_t step, bool learning, uint32_t seconds,
		uint64_t now_ns, struct watch_counts counts)
{
	*watch = (struct watch){.learning = learning,
			.step = step,
			.begin_ns = now_ns,
			.end_ns = now_ns + seconds * NS_PER_S,
			.counts = counts,
			.check_ns = now_ns,
			.check_events = counts.events};
}

uint64_t watch_due_ns(const struct watch *watch)
{
	uint64_t check_ns = watch->check_ns + NS_PER_S;

	return check_ns < watch->end_ns && !watch->learning ? check_ns : watch->end_ns;
}

static double rate_since(uint64_t events, uint64_t from_ns, uint64_t now_ns)
{
	return now_ns > from_ns ? (double)events * 1e9 / (double)(now_ns - from_ns) : 0;
}

void watch_check(struct watch *watch, uint64_t now_ns, uint64_t events,
		const struct step_budget *budget)
{
	if (watch->learning || now_ns < watch->check_ns + NS_PER_S) {
		return;
	}
	watch->rate = rate_since(events - watch->check_events, watch->check_ns, now_ns);
	watch->check_ns = now_ns;
	watch->check_events = events;
	watch->over = budget->events_per_s > 0 && watch->rate > budget->events_per_s
				      ? watch->over + 1
				      : 0;
	if (watch->over >= OVER && watch->end_ns > now_ns) {
		watch->end_ns = now_ns;
	}
}

struct step_watch watch_end(const struct watch *watch, uint64_t now_ns, struct watch_counts counts,
		uint64_t discarded)
{
	/* What went over the budget is told as it is now, not since the begin. */
	double rate = watch->over >= OVER ? watch->rate
					  : rate_since(counts.events - watch->counts.events,
							    watch->begin_ns, now_ns);
	double bytes = rate_since(counts.bytes - watch->counts.bytes, watch->begin_ns, now_ns);

	return (struct step_watch){.step = watch->step,
			.discarded = discarded,
			.actual = {.events_per_s = rate,
					.bytes_per_s = counts.bytes ? bytes : -1,
					.cpu_share = -1}};
}

void load_begin(struct load *load, uint64_t now_ns, uint64_t time_ns, uint64_t events)
{
	*load = (struct load){.check_ns = now_ns, .time_ns = time_ns, .events = events};
}

bool load_check(struct load *load, uint64_t now_ns, uint64_t time_ns, uint64_t events,
		const struct step_budget *budget)
{
	uint64_t passed_ns = now_ns - load->check_ns;
	uint64_t happened_ns = time_ns > load->time_ns ? time_ns - load->time_ns : 0;
	bool over;

	if (passed_ns < NS_PER_S) {
		return false;
	}
	passed_ns = happened_ns > passed_ns ? happened_ns : passed_ns;
	load->rate = rate_since(events - load->events, 0, passed_ns);
	load->over = budget->events_per_s > 0 && load->rate > budget->events_per_s ? load->over + 1
										   : 0;
	over = load->over >= LOAD_OVER;
	load->over = over ? 0 : load->over;
	load->check_ns = now_ns;
	load->time_ns = time_ns;
	load->events = events;
	return over;
}
