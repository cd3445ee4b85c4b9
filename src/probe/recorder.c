/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "probe/recorder.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "probe/describe.h"
#include "probe/pacing.h"
#include "probe/processes.h"
#include "probe/session.h"
#include "probe/statedump.h"
#include "probe/type.h"

#define DRAIN_MS       20
#define HURRY_MS       1 /* while much comes, or the state is being dumped */
#define MS             UINT64_C(1000000)
#define LINGER_MS      500 /* at most: viewers come for the last packets; with the session they go */
#define RETRY_NS       (1000 * MS)
#define DUMP_NS        (10 * MS) /* of the state's dump, between two readings of the rings */
#define SECOND_DUMP_NS (UINT64_C(3000) * MS)
#define EACH_DUMP_NS   (60000 * MS)
#define SUMS_NS        (1000 * MS)

struct recorder {
	struct recorder_setup wish;
	struct session_setup setup;
	struct kernel *kernel;
	struct functions *functions; /* NULL: none are asked for */
	struct processes *processes; /* NULL: of all */
	struct pacing pacing;        /* without a kernel: there is no limit to the cost */
	struct session *session;     /* NULL: the relay daemon is away */
	struct statedump *dump;      /* under way */
	/* By part and ring: what was lost before this session; in it, up to the last reading. */
	uint64_t *lost_before[SESSION_PARTS], *discarded[SESSION_PARTS];
	uint32_t n_dumps; /* in this session */
	uint64_t next_flush_ns, next_try_ns, next_dump_ns, next_sums_ns;
	bool ending;
	bool wants_state; /* a dump of it makes sense: kernel events follow */
	bool hurry;        /* a ring was more than an eighth full */
	bool foreign_pids; /* of another pid namespace than the kernel's first */
};

__attribute__((format(printf, 2, 3))) static void say(
		const struct recorder_setup *setup, const char *format, ...)
{
	char text[1024];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	setup->say(setup->context, text);
}

/* What the ring's CPU lost of that part since the beginning. */
static uint64_t lost(const struct recorder *recorder, int part, uint32_t at)
{
	return part == SESSION_KERNEL ? kernel_lost(recorder->kernel, at)
				      : kernel_lost_functions(recorder->kernel, at);
}

/* --- Sessions --------------------------------------------------------------------------------- */

static bool is_recorded(void *context, int pid)
{
	const struct recorder *recorder = context;

	kernel_take_process(recorder->kernel, pid);
	return processes_has(recorder->processes, pid);
}

/* Of which the trace tells no beginning. */
static bool is_untold(void *context, int pid)
{
	return kernel_take_process(context, pid);
}

/* Of those that have begun in a pause, or that were found later, there are names and files as well.
 */
static void dump_untold(struct recorder *recorder)
{
	if (recorder->wants_state && !recorder->foreign_pids && recorder->processes &&
			!recorder->pacing.paused && kernel_take_untold(recorder->kernel)) {
		recorder->dump = statedump_begin(is_untold, recorder->kernel);
	}
}

/*
 * A viewer that comes later sees nothing of what was dumped before: the state is dumped once more
 * when those have come that waited for the session, after twice that time for those that a busy
 * machine held up, and so on until it is each minute.
 */
static void begin_dump(struct recorder *recorder)
{
	uint64_t now_ns = describe_now_ns();
	uint64_t wait_ns = recorder->n_dumps < 5 ? SECOND_DUMP_NS << recorder->n_dumps
						 : EACH_DUMP_NS;

	if (recorder->wants_state && !recorder->foreign_pids) {
		if (recorder->processes) {
			kernel_take_untold(recorder->kernel); /* this one is of them, too */
		}
		recorder->dump =
				statedump_begin(recorder->processes ? is_recorded : NULL, recorder);
		recorder->next_dump_ns = now_ns + wait_ns;
		recorder->n_dumps++;
	}
}

static void end_dump(struct recorder *recorder)
{
	statedump_end(recorder->dump);
	recorder->dump = NULL;
}

static enum status open_session(struct recorder *recorder, struct producer_fault *fault)
{
	uint64_t begin_ns;
	enum status status;

	for (uint32_t i = 0; i < recorder->setup.n_cpus; i++) {
		cpu_ring_clear(kernel_ring(recorder->kernel, i));
	}
	begin_ns = describe_now_ns(); /* nothing is recorded before this */
	recorder->setup.functions =
			recorder->functions ? functions_types(recorder->functions) : NULL;
	status = session_open(&recorder->session, &recorder->setup, begin_ns, fault);
	if (status != STATUS_OK) {
		return status;
	}
	kernel_record(recorder->kernel, true);
	if (recorder->pacing.kernel) {
		pacing_restart(&recorder->pacing, begin_ns);
	}
	kernel_count_lost(recorder->kernel);
	for (uint32_t i = 0; i < SESSION_PARTS * recorder->setup.n_cpus; i++) {
		uint32_t part = i / recorder->setup.n_cpus, at = i % recorder->setup.n_cpus;

		recorder->lost_before[part][at] = lost(recorder, (int)part, at);
		recorder->discarded[part][at] = 0;
	}
	recorder->next_flush_ns = begin_ns;
	recorder->n_dumps = 0;
	recorder->next_dump_ns = UINT64_MAX;
	begin_dump(recorder);
	return STATUS_OK;
}

/* Events are dropped and counted until there is a session again. */
static void lose_session(struct recorder *recorder, const struct producer_fault *fault)
{
	struct kernel_fault unable;

	say(&recorder->wish, "%s; events are dropped until it is there again", fault->text);
	if (recorder->pacing.kernel && pacing_stop(&recorder->pacing, &unable) != STATUS_OK) {
		say(&recorder->wish, "%s", unable.text);
	}
	kernel_record(recorder->kernel, false);
	end_dump(recorder);
	session_close(recorder->session, false);
	recorder->session = NULL;
	recorder->next_try_ns = describe_now_ns() + RETRY_NS;
}

/* Dropped by all CPUs, up to the last reading or up to the begin of this session. */
static uint64_t dropped(const struct recorder *recorder, bool with_this)
{
	uint64_t n = 0;

	for (int part = 0; part < SESSION_PARTS; part++) {
		for (uint32_t i = 0; i < recorder->setup.n_cpus; i++) {
			n += recorder->lost_before[part][i];
			n += with_this ? recorder->discarded[part][i] : 0;
		}
	}
	return n;
}

static void try_again(struct recorder *recorder)
{
	struct producer_fault fault;
	uint64_t before = dropped(recorder, true), now;

	if (describe_now_ns() < recorder->next_try_ns) {
		return;
	}
	if (open_session(recorder, &fault) != STATUS_OK) {
		recorder->next_try_ns = describe_now_ns() + RETRY_NS;
		return;
	}
	now = dropped(recorder, false);
	say(&recorder->wish,
			"connected again, as a new session; %llu events were dropped meanwhile",
			(unsigned long long)(now > before ? now - before : 0));
}

/* --- Events ----------------------------------------------------------------------------------- */

static enum status drain_ring(struct recorder *recorder, uint32_t at, struct producer_fault *fault)
{
	struct cpu_ring *ring = kernel_ring(recorder->kernel, at);
	uint64_t lost_now[SESSION_PARTS];
	const struct probe_head *head;
	enum status status;

	for (int part = 0; part < SESSION_PARTS; part++) {
		lost_now[part] = lost(recorder, part, at) - recorder->lost_before[part][at];
	}
	status = cpu_ring_begin(ring, describe_now_ns());
	if (status == STATUS_NOT_YET) {
		return STATUS_OK;
	}
	recorder->hurry = recorder->hurry ||
			  cpu_ring_read_bytes(ring) > recorder->wish.ring_bytes / 8;
	while (status == STATUS_OK && (head = cpu_ring_next(ring))) {
		status = session_put(recorder->session, at, head,
				recorder->discarded[session_part(head)][at], fault);
	}
	if (status == STATUS_OK) {
		status = cpu_ring_end(ring);
	}
	if (status == STATUS_NO_MEMORY) {
		snprintf(fault->text, sizeof(fault->text), "out of memory");
	}
	for (int part = 0; part < SESSION_PARTS; part++) {
		recorder->discarded[part][at] = lost_now[part];
	}
	return status;
}

static enum status flush(struct recorder *recorder, struct producer_fault *fault)
{
	enum status status = STATUS_OK;

	for (uint32_t i = 0; status == STATUS_OK && i < SESSION_PARTS * recorder->setup.n_cpus;
			i++) {
		uint32_t part = i / recorder->setup.n_cpus, at = i % recorder->setup.n_cpus;

		status = session_flush(recorder->session, (enum session_part)part, at,
				kernel_ring(recorder->kernel, at)->limit_ns,
				recorder->discarded[part][at], fault);
	}
	kernel_count_lost(recorder->kernel);
	return status;
}

struct summing {
	struct cpu_ring *ring;
	enum status status;
};

static void drop_summary(void *context, const struct body_summary *body)
{
	(void)context;
	(void)body;
}

static void put_summary(void *context, const struct body_summary *body)
{
	struct summing *summing = context;
	struct {
		struct probe_head head;
		struct body_summary body;
	} record = {.head = {.ts_ns = describe_now_ns(),
				    .event = PROBE_FUNCTION_SUMMARY,
				    .bytes = sizeof(record.body)},
			.body = *body};

	if (summing->status == STATUS_OK) {
		summing->status = cpu_ring_put(summing->ring, &record.head);
	}
}

/* What was summed up in the kernel becomes events, once a second and at the end. */
static enum status take_sums(struct recorder *recorder, struct producer_fault *fault)
{
	struct summing summing = {.ring = kernel_ring(recorder->kernel, 0), .status = STATUS_OK};

	if (!kernel_take_sums(recorder->kernel, put_summary, &summing) ||
			(recorder->ending &&
					!kernel_take_sums(recorder->kernel, put_summary, &summing))) {
		summing.status = STATUS_NO_MEMORY;
	}
	if (summing.status != STATUS_OK) {
		snprintf(fault->text, sizeof(fault->text), "out of memory");
	}
	recorder->next_sums_ns = describe_now_ns() + SUMS_NS;
	return summing.status;
}

static enum status drain(struct recorder *recorder, struct producer_fault *fault)
{
	enum status status = STATUS_OK;

	recorder->hurry = recorder->dump != NULL;
	if (recorder->functions) {
		status = session_declare(recorder->session, fault);
	}
	if (status == STATUS_OK && recorder->wish.summing &&
			(recorder->ending || describe_now_ns() >= recorder->next_sums_ns)) {
		status = take_sums(recorder, fault);
	}
	for (uint32_t i = 0; status == STATUS_OK && i < recorder->setup.n_cpus; i++) {
		status = drain_ring(recorder, i, fault);
	}
	return status;
}

static enum status dump_more(struct recorder *recorder, struct producer_fault *fault)
{
	enum status status =
			statedump_step(recorder->dump, kernel_ring(recorder->kernel, 0), DUMP_NS);

	if (status == STATUS_END) {
		end_dump(recorder);
		return STATUS_OK;
	}
	if (status != STATUS_OK) {
		snprintf(fault->text, sizeof(fault->text), "out of memory");
	}
	return status;
}

static enum status pace(struct recorder *recorder, struct producer_fault *fault)
{
	struct kernel_fault unable;
	enum status status = pacing_step(&recorder->pacing, describe_now_ns(), &unable);

	if (status != STATUS_OK) {
		snprintf(fault->text, sizeof(fault->text), "%s", unable.text);
	}
	return status;
}

static void step(struct recorder *recorder)
{
	struct producer_fault fault;
	enum status status = drain(recorder, &fault);
	uint64_t now_ns = describe_now_ns();

	if (status == STATUS_OK && recorder->pacing.kernel) {
		status = pace(recorder, &fault);
	}
	if (!recorder->dump && now_ns >= recorder->next_dump_ns) {
		begin_dump(recorder);
	}
	if (!recorder->dump) {
		dump_untold(recorder);
	}
	if (status == STATUS_OK && recorder->dump) {
		status = dump_more(recorder, &fault);
	}
	if (status == STATUS_OK && now_ns >= recorder->next_flush_ns) {
		status = flush(recorder, &fault);
		recorder->next_flush_ns = now_ns + recorder->setup.live_timer_us * UINT64_C(1000);
	}
	if (status != STATUS_OK) {
		lose_session(recorder, &fault);
	}
}

/* A viewer asks a few times in a live timer. */
static void wait_for_viewers(const struct recorder *recorder)
{
	uint64_t ms = recorder->setup.live_timer_us * UINT64_C(2) / 1000;
	const struct timespec pause = {
			.tv_nsec = (ms < LINGER_MS ? (long)ms : LINGER_MS) * 1000000L};

	nanosleep(&pause, NULL);
}

/* What the programs recorded last is sent, and the session is ended. */
static void finish(struct recorder *recorder, bool linger)
{
	struct producer_fault fault;
	enum status status;

	kernel_detach(recorder->kernel);
	end_dump(recorder);
	recorder->ending = true;
	if (!recorder->session) {
		return;
	}
	status = drain(recorder, &fault);
	if (status == STATUS_OK) {
		status = flush(recorder, &fault);
	}
	if (status != STATUS_OK) {
		say(&recorder->wish, "%s", fault.text);
	}
	if (linger) {
		wait_for_viewers(recorder);
	}
	session_close(recorder->session, status == STATUS_OK);
	recorder->session = NULL;
}

/* --- For others ------------------------------------------------------------------------------- */

static bool prepare(struct recorder *recorder)
{
	const struct recorder_setup *wish = &recorder->wish;
	struct kernel_fault fault;

	if (kernel_open(&recorder->kernel,
			    &(struct kernel_setup){.ring_bytes = wish->ring_bytes,
					    .events = wish->all_events,
					    .some = wish->n_trees > 0,
					    .summing = wish->summing,
					    .one_by_one = wish->one_by_one},
			    &fault) != STATUS_OK) {
		say(wish, "%s", fault.text);
		return false;
	}
	recorder->setup = (struct session_setup){.target = wish->target,
			.host = wish->host,
			.name = wish->name,
			.live_timer_us = wish->live_timer_us,
			.keep_bytes = wish->keep_bytes,
			.cpus = kernel_cpus(recorder->kernel),
			.n_cpus = kernel_n_rings(recorder->kernel),
			.kernel = wish->kernel};
	for (int part = 0; part < SESSION_PARTS; part++) {
		recorder->lost_before[part] = calloc(recorder->setup.n_cpus, sizeof(uint64_t));
		recorder->discarded[part] = calloc(recorder->setup.n_cpus, sizeof(uint64_t));
		if (!recorder->lost_before[part] || !recorder->discarded[part]) {
			say(wish, "out of memory");
			return false;
		}
	}
	if (wish->n_trees > 0) {
		recorder->processes = processes_create(
				recorder->kernel, wish->trees, wish->n_trees, &fault);
		if (!recorder->processes) {
			say(wish, "%s", fault.text);
			return false;
		}
	}
	if (wish->cost > 0) {
		recorder->pacing = (struct pacing){.kernel = recorder->kernel,
				.processes = recorder->processes,
				.beside = wish->beside,
				.say = wish->say,
				.context = wish->context};
		pacing_begin(&recorder->pacing, wish->cost);
	}
	recorder->foreign_pids = kernel_own_pid(recorder->kernel) != getpid();
	if (recorder->foreign_pids && wish->kernel) {
		say(wish, "this pid namespace numbers processes otherwise than the kernel: there "
			  "is "
			  "no dump of the state at the beginning; run it in the host's");
	}
	if (wish->functions) {
		recorder->functions = functions_create(
				&(struct functions_setup){.kernel = recorder->kernel,
						.pid = wish->pid,
						.limit = wish->limit,
						.one_in = wish->one_in,
						.say = wish->say,
						.context = wish->context});
		/* What measuring the cost of a call has left there goes. */
		if (!recorder->functions ||
				!kernel_take_sums(recorder->kernel, drop_summary, NULL) ||
				!kernel_take_sums(recorder->kernel, drop_summary, NULL)) {
			say(wish, "out of memory");
			return false;
		}
	}
	return true;
}

struct recorder *recorder_begin(const struct recorder_setup *setup)
{
	struct recorder *recorder = calloc(1, sizeof(*recorder));
	struct producer_fault fault;

	if (!recorder) {
		return NULL;
	}
	recorder->wish = *setup;
	recorder->wants_state = setup->all_events;
	types_init();
	if (!prepare(recorder)) {
		recorder_end(recorder, false);
		return NULL;
	}
	if (open_session(recorder, &fault) != STATUS_OK) {
		say(setup, "%s", fault.text);
		recorder_end(recorder, false);
		return NULL;
	}
	return recorder;
}

int recorder_step(struct recorder *recorder)
{
	if (recorder->functions) {
		functions_step(recorder->functions, describe_now_ns());
	}
	if (recorder->processes) {
		processes_step(recorder->processes, describe_now_ns());
	}
	if (recorder->session) {
		step(recorder);
	} else {
		try_again(recorder);
	}
	return recorder->hurry ? HURRY_MS : DRAIN_MS;
}

void recorder_end(struct recorder *recorder, bool linger)
{
	if (!recorder) {
		return;
	}
	if (recorder->kernel) {
		finish(recorder, linger);
	}
	functions_destroy(recorder->functions);
	processes_destroy(recorder->processes);
	kernel_close(recorder->kernel);
	for (int part = 0; part < SESSION_PARTS; part++) {
		free(recorder->lost_before[part]);
		free(recorder->discarded[part]);
	}
	free(recorder);
}

void recorder_dump_state(struct recorder *recorder)
{
	if (!recorder->wants_state) {
		recorder->wants_state = true;
		begin_dump(recorder);
	}
}

void recorder_tell(struct recorder *recorder, void (*tell)(void *context, const char *sentence),
		void *context)
{
	recorder->wish.say = recorder->pacing.say = tell;
	recorder->wish.context = recorder->pacing.context = context;
	if (recorder->functions) {
		functions_tell(recorder->functions, tell, context);
	}
}

struct kernel *recorder_kernel(const struct recorder *recorder)
{
	return recorder->kernel;
}

struct functions *recorder_functions(const struct recorder *recorder)
{
	return recorder->functions;
}
