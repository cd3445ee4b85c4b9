/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdlib.h>
#include <string.h>

#include "state/calls.h"
#include "state/disks.h"
#include "state/events.h"
#include "state/files.h"
#include "state/irqs.h"
#include "state/net.h"
#include "state/state_snapshot.h"
#include "state/tenths.h"
#include "state/thread_life.h"

#define MAX_GONE 256u /* of threads that are gone, so many are looked at to find one */

/* --- CPUs and hosts -------------------------------------------------------------------------- */

struct times {
	uint64_t by_mode[CPU_SOFTIRQ + 1];
};

static const uint64_t *times_of(struct cpu_state *cpu, const struct tenths *tenth)
{
	uint64_t place = tenth->number % TENTHS;

	if (cpu->mode_tenths[place] != tenth->number + 1) {
		memset(cpu->mode_ns[place], 0, sizeof(cpu->mode_ns[place]));
		attribute_times(&cpu->mode, tenth->begin_ns, tenth->end_ns, cpu->mode_ns[place]);
		cpu->mode_tenths[place] = tenth->number + 1;
	}
	return cpu->mode_ns[place];
}

static struct times cpu_times(
		const struct state_cx *cx, struct cpu_state *cpu, uint64_t from_ns, uint64_t to_ns)
{
	struct tenths tenths = tenths_within(cx, from_ns, to_ns);
	struct times times = {.by_mode = {0}};

	while (tenths_next(&tenths)) {
		const uint64_t *ns = times_of(cpu, &tenths);

		attribute_times(&cpu->mode, from_ns, tenths.begin_ns, times.by_mode);
		for (uint32_t mode = 0; mode <= CPU_SOFTIRQ; mode++) {
			times.by_mode[mode] += ns[mode];
		}
		from_ns = tenths.end_ns;
	}
	attribute_times(&cpu->mode, from_ns, to_ns, times.by_mode);
	return times;
}

static bool is_there(const struct cpu_state *cpu, uint64_t at_ns)
{
	return cpu->first_ns != 0 && cpu->first_ns <= at_ns;
}

/* The name of the thread of a tid at an instant: the one of several generations that lived then. */
static const char *name_at(const struct state_cx *cx, uint32_t host, int64_t tid, uint64_t at_ns)
{
	const struct thread_state *thread;

	for (thread = cx->newest; thread; thread = thread->prev) {
		if (thread->host == host && thread->tid == tid && thread->first_ns <= at_ns) {
			return names_text(cx->names, (uint32_t)attribute_at(&thread->comm, at_ns));
		}
	}
	return "";
}

static void add_to_host(struct state_host *host, const struct times *times, uint64_t out_ns)
{
	host->cpus++;
	host->has_kernel = true;
	host->capacity_ns += host->window_ns;
	host->threads_ns += times->by_mode[CPU_USER] + times->by_mode[CPU_SYSCALL];
	host->idle_ns += times->by_mode[CPU_IDLE];
	host->irq_ns += times->by_mode[CPU_IRQ] + times->by_mode[CPU_SOFTIRQ];
	/* What lies before and after the recording is no part of it. */
	host->unknown_ns += times->by_mode[CPU_UNKNOWN] - out_ns;
}

static void show_cpu(struct state_cx *cx, uint32_t host, uint32_t number, uint64_t from_ns,
		uint64_t at_ns, struct snapshot *snapshot, struct state_cpu *out)
{
	struct cpu_state *cpu = &cx->hosts[host].cpus[number];
	const struct times times = cpu_times(cx, cpu, from_ns, at_ns);
	uint64_t running = attribute_at(&cpu->running, at_ns);
	struct state_host *on = (struct state_host *)&snapshot->state.hosts[host];
	const char *name = "";

	*out = (struct state_cpu){.host = snapshot_text(snapshot, cx->registry->hosts[host].name),
			.cpu = number,
			.known_ns = at_ns - from_ns - times.by_mode[CPU_UNKNOWN],
			.user_ns = times.by_mode[CPU_USER],
			.syscall_ns = times.by_mode[CPU_SYSCALL],
			.irq_ns = times.by_mode[CPU_IRQ],
			.softirq_ns = times.by_mode[CPU_SOFTIRQ],
			.idle_ns = times.by_mode[CPU_IDLE],
			.tid = (int64_t)running - 1,
			.frequency_khz = attribute_at(&cpu->frequency_khz, at_ns)};
	if (out->known_ns > 0) {
		out->busy_percent = 100.0 * (double)(out->known_ns - out->idle_ns) /
				    (double)out->known_ns;
	}
	if (out->tid > 0) {
		name = name_at(cx, host, out->tid, at_ns);
	} else if (out->tid == 0) {
		name = "idle";
	}
	out->name = snapshot_text(snapshot, name);
	add_to_host(on, &times, at_ns - from_ns - on->window_ns);
}

/* After the hosts, to which it adds their CPUs. */
static enum status fill_cpus(
		struct state_cx *cx, uint64_t from_ns, uint64_t at_ns, struct snapshot *snapshot)
{
	struct state_view *view = &snapshot->state;
	struct state_cpu *out;
	uint32_t host, i, n = 0;

	for (host = 0; host < cx->n_hosts; host++) {
		for (i = 0; i < cx->hosts[host].n_cpus; i++) {
			n += is_there(&cx->hosts[host].cpus[i], at_ns);
		}
	}
	out = snapshot_alloc(snapshot, (n + 1) * sizeof(*out));
	if (!out) {
		return STATUS_NO_MEMORY;
	}
	view->cpus = out;
	for (host = 0; host < cx->n_hosts; host++) {
		for (i = 0; i < cx->hosts[host].n_cpus; i++) {
			if (is_there(&cx->hosts[host].cpus[i], at_ns)) {
				show_cpu(cx, host, i, from_ns, at_ns, snapshot,
						&out[view->n_cpus++]);
			}
		}
	}
	view->measured = n > 0;
	return STATUS_OK;
}

static const char *kernel_of(const struct registry *registry, uint32_t host)
{
	uint32_t i;

	for (i = 0; i < registry->n_streams; i++) {
		const struct stream *stream = &registry->streams[i];

		if (stream->host == host && stream->desc.domain == DOMAIN_KERNEL) {
			return stream->desc.kernel_release;
		}
	}
	return "";
}

/* How much of the window was recorded of a host: since its first event, until its recording ended.
 */
static uint64_t recorded_ns(const struct host *host, uint64_t from_ns, uint64_t at_ns)
{
	uint64_t end_ns = host->n_attached > 0 || host->last_ns > at_ns ? at_ns : host->last_ns;

	if (host->first_ns > from_ns) {
		from_ns = host->first_ns;
	}
	return host->first_ns && end_ns > from_ns ? end_ns - from_ns : 0;
}

/* Their number is sampled now and then; as of now it is known. */
static uint64_t events_in(
		const struct state_cx *cx, uint32_t host, uint64_t from_ns, uint64_t at_ns)
{
	uint64_t sum = 0;

	if (at_ns < cx->now_ns) {
		return host < cx->n_hosts ? attribute_gain(&cx->hosts[host].events, from_ns, at_ns)
					  : 0;
	}
	for (uint32_t i = 0; i < cx->registry->n_sessions; i++) {
		const struct session *session = &cx->registry->sessions[i];

		sum += session->host == host ? session->counts.events : 0;
	}
	return sum - (host < cx->n_hosts ? attribute_at(&cx->hosts[host].events, from_ns) : 0);
}

static enum status fill_hosts(
		struct state_cx *cx, uint64_t from_ns, uint64_t at_ns, struct snapshot *snapshot)
{
	struct state_view *view = &snapshot->state;
	struct state_host *out =
			snapshot_alloc(snapshot, (cx->registry->n_hosts + 1) * sizeof(*out));
	uint32_t i, s;

	if (!out) {
		return STATUS_NO_MEMORY;
	}
	for (i = 0; i < cx->registry->n_hosts; i++) {
		out[i].host = snapshot_text(snapshot, cx->registry->hosts[i].name);
		out[i].kernel = snapshot_text(snapshot, kernel_of(cx->registry, i));
		for (s = 0; s < cx->registry->n_sessions; s++) {
			if (cx->registry->sessions[s].host == i) {
				out[i].discarded += cx->registry->sessions[s].counts.discarded;
			}
		}
		if (i < cx->n_hosts) {
			out[i].statedump = cx->hosts[i].statedump;
			out[i].open_fds = files_count_open(cx, i, at_ns);
		}
		out[i].window_ns = recorded_ns(&cx->registry->hosts[i], from_ns, at_ns);
		if (out[i].window_ns > 0) {
			out[i].events_per_s = (double)events_in(cx, i, from_ns, at_ns) * 1e9 /
					      (double)out[i].window_ns;
		}
	}
	view->n_hosts = cx->registry->n_hosts;
	view->hosts = out;
	return STATUS_OK;
}

/* --- threads --------------------------------------------------------------------------------- */

static bool lived(const struct thread_state *thread, uint64_t from_ns, uint64_t at_ns)
{
	return thread->first_ns <= at_ns && (thread->dead_ns == 0 || thread->dead_ns > from_ns);
}

static void show_life(const struct thread_life *life, struct state_thread *out)
{
	out->user_ns = life->ns[THREAD_RUN_USER];
	out->syscall_ns = life->ns[THREAD_RUN_SYSCALL];
	out->cpu_ns = out->user_ns + out->syscall_ns;
	out->irq_ns = life->ns[THREAD_INTERRUPTED];
	out->runqueue_ns = life->ns[THREAD_WAIT_CPU];
	out->blocked_ns = life->ns[THREAD_BLOCKED];
	out->switches = life->switches;
	out->wakeups = life->wakeups;
	out->max_runqueue_ns = life->max_runqueue_ns;
	out->latencies = life->latencies;
	out->latency_ns = life->latency_ns;
	out->latency_min_ns = life->latency_min_ns;
	out->latency_max_ns = life->latency_max_ns;
}

/* By enum wait_kind. */
static const char *const wait_kinds[] = {"", "disk", "net", "lock", "timer"};

static const char *waits_for(const struct state_cx *cx, struct thread_what what)
{
	if (what.status != THREAD_BLOCKED) {
		return "";
	}
	return what.wait != WAIT_OTHER ? wait_kinds[what.wait]
				       : names_text(cx->names, what.syscall);
}

static enum status show_perf(struct state_cx *cx, const struct thread_state *thread,
		uint64_t from_ns, uint64_t at_ns, struct snapshot *snapshot,
		struct state_thread *out)
{
	struct state_perf *perf;
	uint32_t i;

	if (thread->n_perf == 0) {
		return STATUS_OK;
	}
	perf = snapshot_alloc(snapshot, thread->n_perf * sizeof(*perf));
	if (!perf) {
		return STATUS_NO_MEMORY;
	}
	for (i = 0; i < thread->n_perf; i++) {
		perf[i].name = snapshot_text(snapshot, names_text(cx->names, cx->perf_names[i]));
		perf[i].value = attribute_gain(&thread->perf[i], from_ns, at_ns);
	}
	out->perf = perf;
	out->n_perf = thread->n_perf;
	return STATUS_OK;
}

static enum status show_thread(struct state_cx *cx, struct thread_state *thread, uint64_t from_ns,
		uint64_t at_ns, struct snapshot *snapshot, struct state_thread *out)
{
	uint64_t since_ns, prio = attribute_at(&thread->prio, at_ns);
	struct thread_what what = what_unpack(attribute_since(&thread->status, at_ns, &since_ns));
	struct thread_life life;

	*out = (struct state_thread){.id = thread->id,
			.host = snapshot->state.hosts[thread->host].host,
			.tid = thread->tid,
			.pid = thread->pid,
			.ppid = thread->ppid,
			.vtid = thread->vtid,
			.vpid = thread->vpid,
			.status = what.status,
			.since_ns = what.status == THREAD_UNKNOWN ? 0 : since_ns,
			.waker_tid = waker_tid(attribute_at(&thread->waker, at_ns)),
			.uncertain = thread->uncertain,
			.measured = true,
			.window_ns = snapshot->state.hosts[thread->host].window_ns,
			.has_prio = prio != 0,
			.prio = (int32_t)(uint32_t)prio,
			.migrations = attribute_gain(&thread->migrations, from_ns, at_ns),
			.context = ""};
	out->name = snapshot_text(snapshot,
			names_text(cx->names, (uint32_t)attribute_at(&thread->comm, at_ns)));
	out->syscall = snapshot_text(snapshot, names_text(cx->names, what.syscall));
	out->waits_for = snapshot_text(snapshot, waits_for(cx, what));
	thread_life(cx, thread, from_ns, at_ns, &life);
	show_life(&life, out);
	files_fill_thread(cx, thread, from_ns, at_ns, out);
	if (thread->thread) {
		fill_stack(cx, thread->thread, at_ns, snapshot, out);
	}
	return show_perf(cx, thread, from_ns, at_ns, snapshot, out);
}

static int compare_threads(const void *a, const void *b)
{
	const struct state_thread *x = a, *y = b;

	if (x->cpu_ns != y->cpu_ns) {
		return x->cpu_ns < y->cpu_ns ? 1 : -1;
	}
	return x->id < y->id ? -1 : x->id > y->id;
}

static enum status fill_threads(
		struct state_cx *cx, uint64_t from_ns, uint64_t at_ns, struct snapshot *snapshot)
{
	struct state_view *view = &snapshot->state;
	struct thread_state *thread;
	enum status status = STATUS_OK;
	struct state_thread *out;
	uint32_t n = 0;

	for (thread = cx->oldest; thread; thread = thread->next) {
		n += lived(thread, from_ns, at_ns);
	}
	n += threads_count(cx->threads);
	out = snapshot_alloc(snapshot, (n + 1) * sizeof(*out));
	if (!out) {
		return STATUS_NO_MEMORY;
	}
	view->threads = out;
	for (thread = cx->oldest; thread && status == STATUS_OK; thread = thread->next) {
		if (lived(thread, from_ns, at_ns)) {
			status = show_thread(cx, thread, from_ns, at_ns, snapshot,
					&out[view->n_threads++]);
		}
		if (lived(thread, at_ns, at_ns)) {
			((struct state_host *)view->hosts)[thread->host].threads++;
		}
	}
	view->n_threads += fill_users(cx, at_ns, snapshot, &out[view->n_threads]);
	qsort(out, view->n_threads, sizeof(*out), compare_threads);
	return status;
}

/* The window begins with the first event of all. */
static uint64_t window_begin(const struct registry *registry, uint64_t from_ns, uint64_t at_ns)
{
	uint64_t first_ns = at_ns;

	for (uint32_t i = 0; i < registry->n_hosts; i++) {
		if (registry->hosts[i].first_ns && registry->hosts[i].first_ns < first_ns) {
			first_ns = registry->hosts[i].first_ns;
		}
	}
	return first_ns > from_ns ? first_ns : from_ns;
}

/* --- all of it ------------------------------------------------------------------------------- */

enum status fill_state(struct state_cx *cx, const struct focus *focus, uint64_t at_ns,
		struct snapshot *snapshot)
{
	struct state_view *view = &snapshot->state;
	uint64_t from_ns = at_ns > cx->window_ns ? at_ns - cx->window_ns : 0;
	enum status status;

	*view = (struct state_view){.at_ns = at_ns, .window_ns = at_ns - from_ns};
	view->trimmed = cx->store.trimmed_ns > from_ns;
	status = fill_hosts(cx, from_ns, at_ns, snapshot);
	if (status == STATUS_OK) {
		view->window_ns = at_ns - window_begin(cx->registry, from_ns, at_ns);
	}
	if (status == STATUS_OK) {
		status = fill_cpus(cx, from_ns, at_ns, snapshot);
	}
	if (status == STATUS_OK) {
		status = fill_threads(cx, from_ns, at_ns, snapshot);
	}
	if (focus->parts & FOCUS_BRIEF) {
		return status;
	}
	if (status == STATUS_OK) {
		status = calls_fill(cx, focus, from_ns, at_ns, snapshot);
	}
	if (status == STATUS_OK) {
		status = irqs_fill(cx, from_ns, at_ns, snapshot);
	}
	if (status == STATUS_OK) {
		status = files_fill(cx, focus, from_ns, at_ns, snapshot);
	}
	if (status == STATUS_OK) {
		status = disks_fill(cx, from_ns, at_ns, snapshot);
	}
	if (status == STATUS_OK) {
		status = nets_fill(cx, from_ns, at_ns, snapshot);
	}
	if (status == STATUS_OK) {
		status = events_fill(cx, focus, from_ns, at_ns, snapshot);
	}
	return status;
}

/* --- resources of requests ------------------------------------------------------------------- */

/* The thread that had that key then; NULL: no kernel event was about it. */
static const struct thread_state *thread_then(
		struct state_cx *cx, uint32_t host, uint64_t key, uint64_t from_ns)
{
	struct thread *shared =
			threads_find(cx->threads, host, threads_resolve(cx->threads, host, key));
	const struct thread_state *thread = shared ? shared->state : NULL;

	if (thread && thread->first_ns <= from_ns) {
		return thread;
	}
	for (thread = cx->newest; thread; thread = thread->prev) {
		if (thread->host == host && (uint64_t)thread->tid == key &&
				thread->first_ns <= from_ns) {
			return thread;
		}
	}
	return shared ? shared->state : NULL;
}

static uint32_t blocked_on(struct state_cx *cx, struct thread_what what)
{
	const char *kind = wait_kinds[what.wait];

	return what.status != THREAD_BLOCKED ? 0
	       : what.syscall                ? what.syscall
					     : names_add(cx->names, kind, strlen(kind));
}

/* The last thread of that tid, be it gone: for requests that have just ended. */
static struct thread_state *latest_thread(struct state_cx *cx, uint32_t host, int32_t tid)
{
	uint64_t key = thread_host_key((uint64_t)tid, 0);
	const struct thread *shared =
			threads_find(cx->threads, host, threads_resolve(cx->threads, host, key));
	struct thread_state *thread = cx->newest;
	uint32_t i;

	if (shared) {
		return shared->state;
	}
	for (i = 0; thread && i < MAX_GONE; i++, thread = thread->prev) {
		if (thread->host == host && thread->tid == tid) {
			return thread;
		}
	}
	return NULL;
}

bool fill_doing(struct state_cx *cx, uint32_t host, int32_t tid, int32_t pid, uint64_t before_ns,
		struct state_doing *out)
{
	struct thread_state *thread;
	struct thread_what what;
	uint64_t woken = 0, since_ns;
	uint32_t next;

	if (host >= cx->n_hosts || cx->hosts[host].n_cpus == 0 || tid < 0 || before_ns == 0) {
		return false;
	}
	thread = latest_thread(cx, host, tid);
	/* A tid of another pid namespace may be that of another process here. */
	if (!thread || (pid >= 0 && thread->pid >= 0 && pid != thread->pid)) {
		return false;
	}
	what = what_unpack(attribute_since_near(
			&thread->status, before_ns - 1, &out->since_ns, &thread->status_near));
	if (out->since_ns == 0) {
		return false; /* before the first event about it, or longer ago than is kept */
	}
	out->status = what.status;
	out->blocked_on = blocked_on(cx, what);
	/* A wake-up without sched_waking may be told by the CPU where the thread will run. */
	next = thread->status_near + 1;
	if (what.status == THREAD_BLOCKED && cx->has_waking &&
			what_unpack(attribute_since_near(
						    &thread->status, before_ns, &since_ns, &next))
							.status == THREAD_WAIT_CPU) {
		woken = attribute_since_near(
				&thread->waker, before_ns, &since_ns, &thread->waker_near);
	}
	out->waker_tid = waker_tid(woken);
	out->woken_by = waker_interrupt(woken);
	return true;
}

static void add_blocked(struct state_resources *out, enum wait_kind wait, uint64_t ns)
{
	out->blocked_ns += ns;
	switch (wait) {
	case WAIT_DISK:
		out->blocked_disk_ns += ns;
		break;
	case WAIT_NET:
		out->blocked_net_ns += ns;
		break;
	case WAIT_LOCK:
		out->blocked_lock_ns += ns;
		break;
	case WAIT_TIMER:
		out->blocked_timer_ns += ns;
		break;
	default:
		out->blocked_other_ns += ns;
		break;
	}
}

/* What a thread did between two instants. */
static void add_slice(struct state_cx *cx, const struct thread_state *thread, uint64_t from_ns,
		uint64_t to_ns, struct state_resources *out)
{
	struct attribute_walk walk = {.next = 0};

	files_add_resources(cx, thread, from_ns, to_ns, out);
	while (attribute_step(&thread->status, from_ns, to_ns, &walk)) {
		struct thread_what what = what_unpack(walk.value);
		uint64_t ns = walk.end_ns - walk.begin_ns;

		switch (what.status) {
		case THREAD_RUN_USER:
		case THREAD_RUN_SYSCALL:
			out->cpu_ns += ns;
			break;
		case THREAD_INTERRUPTED:
			out->irq_ns += ns;
			break;
		case THREAD_WAIT_CPU:
		case THREAD_WAIT_FORK:
			out->runqueue_ns += ns;
			break;
		case THREAD_BLOCKED:
			add_blocked(out, what.wait, ns);
			break;
		default:
			out->unknown_ns += ns;
			break;
		}
	}
}

static bool is_owner(const struct resources_of *of, uint64_t owner)
{
	uint32_t i;

	for (i = 0; i < of->n_owners; i++) {
		if (of->owners[i] == owner) {
			return true;
		}
	}
	return false;
}

void fill_resources(struct state_cx *cx, const struct resources_of *of, struct state_resources *out)
{
	struct attribute_walk walk = {.next = 0};
	const struct thread_state *thread;

	if (of->host >= cx->n_hosts || cx->hosts[of->host].n_cpus == 0) {
		return;
	}
	thread = thread_then(cx, of->host, of->key, of->from_ns);
	if (!thread) {
		return;
	}
	out->measured = true;
	while (attribute_step(&thread->owner, of->from_ns, of->to_ns, &walk)) {
		if (is_owner(of, walk.value)) {
			add_slice(cx, thread, walk.begin_ns, walk.end_ns, out);
		}
	}
}
