/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "probe/pacing.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"

/* What is recorded is not what it costs to record. */
static bool is_recorded(void *context, int pid)
{
	const struct pacing *pacing = context;

	return pacing->processes && processes_has(pacing->processes, pid);
}

static uint64_t beside_ns(struct pacing *pacing)
{
	return pacing->beside ? usage_tree_ns(pacing->beside, is_recorded, pacing)
			      : clock_read_ns(CLOCK_PROCESS_CPUTIME_ID);
}

static void begin_span(struct pacing *pacing, uint64_t now_ns)
{
	pacing->span_began_ns = now_ns;
	pacing->ends_ns = now_ns + pace_span_ns(&pacing->pace);
	pacing->busy_ns = kernel_busy_ns(pacing->kernel);
	pacing->run_ns = kernel_run_ns(pacing->kernel);
}

static void begin_period(struct pacing *pacing)
{
	pacing->beside_ns = beside_ns(pacing);
	usage_read_idle(&pacing->idle);
}

void pacing_begin(struct pacing *pacing, double limit)
{
	pacing->pace = (struct pace){.limit = limit};
	kernel_measure(pacing->kernel);
}

static enum status put(struct pacing *pacing, enum probe_event event, uint64_t ns)
{
	struct {
		struct probe_head head;
		struct body_pythiatop_resumed body;
	} record = {.head = {.ts_ns = clock_monotonic_ns(),
				    .event = (uint16_t)event,
				    .bytes = event == PROBE_pythiatop_resumed ? sizeof(record.body)
									      : 0},
			.body = {.paused_ns = ns}};

	return cpu_ring_put(kernel_ring(pacing->kernel, 0), &record.head);
}

static enum status tell_resumed(struct pacing *pacing)
{
	return put(pacing, PROBE_pythiatop_resumed, clock_monotonic_ns() - pacing->paused_ns);
}

void pacing_restart(struct pacing *pacing, uint64_t now_ns)
{
	begin_period(pacing);
	begin_span(pacing, now_ns);
	if (pacing->paused) {
		pacing->ends_ns = now_ns; /* programs could not be attached: once more */
	} else if (pacing->untold) {
		pacing->untold = tell_resumed(pacing) != STATUS_OK;
	}
}

/* Whether all of the time is recorded, each time that changes. */
static void tell(struct pacing *pacing)
{
	bool partly = pacing->pace.duty < 1;
	char text[128];

	if (partly == pacing->partly) {
		return;
	}
	pacing->partly = partly;
	snprintf(text, sizeof(text),
			partly ? "spans of time are recorded: all of it would cost what is watched "
				 "more "
				 "than %.0f %%"
			       : "all of the time is recorded again: that costs less than %.0f %%",
			100 * pacing->pace.limit);
	pacing->say(pacing->context, text);
}

static void decide(struct pacing *pacing, uint64_t now_ns)
{
	struct pace_seen seen = {.span_ns = now_ns - pacing->span_began_ns,
			.busy_ns = (double)kernel_busy_ns(pacing->kernel) - (double)pacing->busy_ns,
			.kernel_ns = (double)kernel_run_ns(pacing->kernel) - (double)pacing->run_ns,
			.beside_ns = (double)beside_ns(pacing) - (double)pacing->beside_ns,
			.idle = 1,
			.processors = (double)sysconf(_SC_NPROCESSORS_ONLN)};
	struct usage_idle idle;

	if (usage_read_idle(&idle)) {
		seen.idle = usage_idle_share(&pacing->idle, &idle);
	}
	pace_decide(&pacing->pace, &seen);
	tell(pacing);
	begin_period(pacing);
}

static enum status pause_now(struct pacing *pacing)
{
	kernel_pause(pacing->kernel);
	pacing->paused = true;
	pacing->paused_ns = clock_monotonic_ns();
	pacing->ends_ns = pacing->paused_ns + pace_pause_ns(&pacing->pace);
	return put(pacing, PROBE_pythiatop_paused, 0);
}

static enum status go_on(struct pacing *pacing, struct kernel_fault *fault)
{
	enum status status = kernel_resume(pacing->kernel, fault);

	if (status == STATUS_OK) {
		status = tell_resumed(pacing);
		pacing->paused = pacing->untold = false;
		begin_span(pacing, clock_monotonic_ns());
		kernel_record(pacing->kernel, true);
	}
	return status;
}

enum status pacing_stop(struct pacing *pacing, struct kernel_fault *fault)
{
	enum status status = pacing->paused ? kernel_resume(pacing->kernel, fault) : STATUS_OK;

	pacing->untold = pacing->untold || pacing->paused;
	pacing->paused = pacing->paused && status != STATUS_OK;
	return status;
}

static bool load_begins(const struct pacing *pacing, uint64_t now_ns)
{
	double busy_ns = (double)kernel_busy_ns(pacing->kernel) - (double)pacing->busy_ns;

	return pace_load_begins(&pacing->pace, now_ns - pacing->span_began_ns, busy_ns);
}

enum status pacing_step(struct pacing *pacing, uint64_t now_ns, struct kernel_fault *fault)
{
	enum status status = STATUS_OK;

	if (now_ns < pacing->ends_ns && (pacing->paused || !load_begins(pacing, now_ns))) {
		return status;
	}
	if (pacing->paused) {
		status = go_on(pacing, fault);
	} else {
		decide(pacing, now_ns);
		if (pace_pause_ns(&pacing->pace) > 0) {
			status = pause_now(pacing);
		} else {
			begin_span(pacing, now_ns);
		}
	}
	if (status == STATUS_NO_MEMORY) {
		snprintf(fault->text, sizeof(fault->text), "out of memory");
	}
	return status;
}
