/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "run/conductor_parts.h"

#include <stdio.h>

#include "run/decisions.h"

/* Watching a step, and undoing one whose events do not come. */

/* Events that came through sessions of ours, and their bytes. */
static struct watch_counts conductor_own_counts(const struct conductor *conductor)
{
	const struct session_desc *session;
	struct watch_counts sum = {0, 0};

	for (uint32_t i = 0; (session = engine_session(conductor->setup.engine, i)); i++) {
		struct session_counts counts;

		if (session->ours) {
			engine_session_counts(conductor->setup.engine, i, &counts);
			sum.events += counts.events;
			sum.bytes += counts.bytes;
		}
	}
	return sum;
}

static void on_discarded(void *context, const struct control_answer *answer)
{
	struct conductor *conductor = context;
	struct watching *watching = &conductor->watching;

	for (uint32_t i = 0; i < answer->n_channels; i++) {
		watching->discarded_now += answer->channels[i].discarded_events +
					   answer->channels[i].lost_packets;
	}
	if (watching->open > 0) {
		watching->open--;
	}
}

/* Asks all hosts what was lost so far. */
static void ask_discarded(struct conductor *conductor)
{
	struct watching *watching = &conductor->watching;

	watching->discarded_now = 0;
	watching->open = 0;
	for (uint32_t i = 0; i < control_hosts_count(conductor->hosts); i++) {
		struct control_host host;

		control_hosts_view(conductor->hosts, (int)i, NULL, &host);
		if (host.state == CONTROL_READY && host.session[0] &&
				control_ask_channels(conductor->hosts, (int)i, host.session,
						POLL_LIMIT_NS, on_discarded, conductor)) {
			watching->open++;
		}
	}
}

void conductor_begin_watch(struct conductor *conductor, uint64_t now_ns)
{
	const struct playing *playing = &conductor->playing;

	conductor->watching = (struct watching){
			.on = true, .discarded = conductor->watching.discarded_now};
	watch_begin(&conductor->watching.watch, playing->step, playing->kind == STEP_LEARN,
			playing->watch_s, now_ns, conductor_own_counts(conductor));
}

static void watch(struct conductor *conductor, uint64_t now_ns)
{
	struct watching *watching = &conductor->watching;
	struct engine_input input = {.kind = INPUT_WATCH};

	if (watching->on && now_ns >= watch_due_ns(&watching->watch)) {
		watch_check(&watching->watch, now_ns, conductor_own_counts(conductor).events,
				engine_budget(conductor->setup.engine));
	}
	if (!watching->on || now_ns < watching->watch.end_ns) {
		return;
	}
	if (!watching->asked) {
		watching->asked = true;
		ask_discarded(conductor);
	}
	if (watching->open > 0) {
		return;
	}
	input.watch = watch_end(&watching->watch, now_ns, conductor_own_counts(conductor),
			watching->discarded_now > watching->discarded
					? watching->discarded_now - watching->discarded
					: 0);
	watching->on = false;
	conductor->changed = true;
	conductor_tell(conductor, &input);
	if (watching->watch.learning) {
		conductor->setup.sources.learned(conductor->setup.sources.context);
	}
}

/* A step that costs nobody knows what must not stay. */
static void undo_unseen(struct conductor *conductor)
{
	uint32_t step = conductor->coverage.step;
	char text[TEXT_BYTES];

	snprintf(text, sizeof(text),
			"step %u is undone: its events did not come for %u s; is the relay daemon, "
			"or a session daemon, stopped or cut off?",
			step, COVERAGE_LOW_S);
	conductor->watching.on = false;
	if (conductor_tell(conductor,
			    &(struct engine_input){.kind = INPUT_DECIDE,
					    .decide = {step, STEP_UNDO, STEP_BY_WATCH}})) {
		conductor->setup.sources.say(conductor->setup.sources.context, text);
	}
	conductor->changed = true;
}

static bool is_silent(const struct conductor *conductor)
{
	for (uint32_t i = 0; i < MAX_HOSTS; i++) {
		if (conductor->players[i].silent) {
			return true;
		}
	}
	return false;
}

/*
 * What was kept is judged by each second of it: the mean of a moving window is over the budget long
 * after the load has grown. Where no step was ever ordered there is nothing to take back.
 */
static void tend_load(struct conductor *conductor, uint64_t now_ns, uint64_t time_ns)
{
	struct engine_input input = {
			.kind = INPUT_WATCH, .watch = {.step = 0, .actual = {-1, -1, -1}}};
	uint64_t events = conductor_own_counts(conductor).events;

	if (conductor->playing.on || !conductor->ordered_ns || !conductor->load.check_ns) {
		load_begin(&conductor->load, now_ns, time_ns, events);
	} else if (load_check(&conductor->load, now_ns, time_ns, events,
				   engine_budget(conductor->setup.engine))) {
		input.watch.actual.events_per_s = conductor->load.rate;
		conductor_tell(conductor, &input);
		conductor->changed = true;
	}
}

/* Watches by what is seen. */
void conductor_tend_watch(struct conductor *conductor, uint64_t now_ns)
{
	struct coverage *coverage = &conductor->coverage;
	uint64_t time_ns = engine_time(conductor->setup.engine);

	if (!conductor->watching.on) {
		tend_load(conductor, now_ns, time_ns);
		return;
	}
	load_begin(&conductor->load, now_ns, time_ns, conductor_own_counts(conductor).events);
	coverage_update(coverage, now_ns, time_ns, is_silent(conductor));
	if (coverage_is_lost(coverage, now_ns, time_ns)) {
		undo_unseen(conductor);
	} else if (!coverage_is_low(coverage, now_ns, time_ns)) {
		watch(conductor, coverage_clock(coverage, now_ns, time_ns));
	}
}
