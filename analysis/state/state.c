/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "state/socket_table.h"
#include "state/state_snapshot.h"
#include "state/thread_life.h"
#include "state/calls.h"
#include "state/cx.h"
#include "state/disks.h"
#include "state/files.h"
#include "state/net.h"
#include "state/perf.h"

#define TICKS  10 /* between samples of the number of events */
#define SWEEPS 8  /* of the collector, per window */
/* Switches that come so long after a step was undone are recorded by somebody else. */
#define LATE_NS UINT64_C(1000000000)
/* A view back at the window's beginning needs the window before it. */
#define KEPT_WINDOWS 2

struct state {
	struct state_cx cx;
	struct state_config config;
	uint64_t next_sample_ns, next_sweep_ns;
	uint64_t trim_above_bytes; /* no look at the bound below */
	bool pinned;
	uint64_t pinned_ns;
};

/* --- which events are wanted ----------------------------------------------------------------- */

static const struct state_rule *const rule_tables[] = {kernel_rules, lifecycle_rules, irqs_rules,
		users_rules, files_rules, pages_rules, disks_rules, nets_rules};

/* Is `name` among "a|b|c"? */
static bool is_among(const char *names, const char *name, size_t length)
{
	while (names) {
		const char *bar = strchr(names, '|');
		size_t n = bar ? (size_t)(bar - names) : strlen(names);

		if (n == length && strncmp(names, name, n) == 0) {
			return true;
		}
		names = bar ? bar + 1 : NULL;
	}
	return false;
}

static bool is_number(const struct field *field)
{
	return field->kind == FIELD_UINT || field->kind == FIELD_INT;
}

/* The field of that name, or of the first of its alternatives that the type has. */
static uint16_t find_field(const struct event_type *type, const char *names)
{
	while (names) {
		const char *bar = strchr(names, '|');
		size_t n = bar ? (size_t)(bar - names) : strlen(names);
		uint16_t i;

		for (i = 0; i < type->n_fields; i++) {
			const struct field *field = &type->fields[i];

			if (field->scope == SCOPE_PAYLOAD && strlen(field->name) == n &&
					strncmp(field->name, names, n) == 0) {
				return i;
			}
		}
		names = bar ? bar + 1 : NULL;
	}
	return STATE_NO_FIELD;
}

/* The same, if it is a number. */
static uint16_t find_number(const struct event_type *type, const char *names)
{
	uint16_t slot = find_field(type, names);

	return slot != STATE_NO_FIELD && is_number(&type->fields[slot]) ? slot : STATE_NO_FIELD;
}

static void find_fields(const struct event_type *type, const char *const *fields, uint16_t *slots)
{
	uint32_t i;

	for (i = 0; i < STATE_FIELDS; i++) {
		slots[i] = fields[i] ? find_field(type, fields[i]) : STATE_NO_FIELD;
	}
}

/* The type has what the rule insists on, and what must be numbers or texts are. */
static bool fits(const struct event_type *type, const struct state_rule *rule,
		const struct state_plan *plan)
{
	uint32_t i;

	for (i = 0; i < rule->required; i++) {
		if (plan->slots[i] == STATE_NO_FIELD || !is_number(&type->fields[plan->slots[i]])) {
			return false;
		}
	}
	return true;
}

static bool plan_rule(struct state_plan *plan, const struct event_type *type,
		const struct state_rule *rules)
{
	for (; rules->names; rules++) {
		if (is_among(rules->names, type->name, strlen(type->name))) {
			find_fields(type, rules->fields, plan->slots);
			if (fits(type, rules, plan)) {
				plan->handle = rules->handle;
				return true;
			}
		}
	}
	return false;
}

/* What follows one of the prefixes, NULL if the name begins with none. */
static const char *after_prefix(const char *name, const char *const *prefixes)
{
	for (; *prefixes; prefixes++) {
		size_t n = strlen(*prefixes);

		if (strncmp(name, *prefixes, n) == 0) {
			return name + n;
		}
	}
	return NULL;
}

static const struct call_rule *find_call_rule(const char *name)
{
	const struct call_rule *rule;

	for (rule = files_calls; rule->names; rule++) {
		if (is_among(rule->names, name, strlen(name))) {
			return rule;
		}
	}
	return NULL;
}

static void plan_call(struct state_cx *cx, struct state_plan *plan, const struct event_type *type)
{
	static const char *const entries[] = {
			"syscall_entry_", "compat_syscall_entry_", "compat_sys_", "sys_", NULL};
	static const char *const exits[] = {"syscall_exit_", "compat_syscall_exit_", NULL};
	const char *name = after_prefix(type->name, entries);
	const struct call_rule *rule;
	bool entry = name != NULL;

	if (!name) {
		name = after_prefix(type->name, exits);
	}
	if (!name && strcmp(type->name, "exit_syscall") == 0) {
		name = ""; /* of any */
	}
	if (!name) {
		return;
	}
	plan->call = names_add(cx->names, name, strlen(name));
	rule = find_call_rule(name);
	if (rule) {
		find_fields(type, entry ? rule->in : rule->out, plan->slots_call);
	}
	if (entry) {
		plan->handle = calls_entry;
		plan->call_rule = rule;
		plan->fd_slot = find_number(type, "fd|sockfd|s");
		plan->from_fd_slot = find_number(type, "fd_in|in_fd|fdin|oldfd|fildes");
		plan->to_fd_slot = find_number(type, "fd_out|out_fd|fdout|newfd|epfd");
	} else {
		plan->slots[0] = find_number(type, "ret");
		plan->handle = plan->slots[0] != STATE_NO_FIELD ? calls_exit : NULL;
	}
}

/* Only where there is a perf counter to be taken. */
static void only_perf(struct state_cx *cx, const struct state_plan *plan, const struct event *event)
{
	(void)cx;
	(void)plan;
	(void)event;
}

static void plan_perf(struct state_cx *cx, struct state_plan *plan, const struct field *field,
		uint16_t slot)
{
	uint32_t name = names_add(cx->names, field->name, strlen(field->name)), i = 0;

	while (i < cx->n_perf && cx->perf_names[i] != name) {
		i++;
	}
	if (i >= STATE_PERF || plan->n_perf >= STATE_PLAN_PERF) {
		return;
	}
	if (i == cx->n_perf) {
		cx->perf_names[cx->n_perf++] = name;
	}
	plan->perf_slots[plan->n_perf] = slot;
	plan->perf_index[plan->n_perf++] = (uint8_t)i;
}

static void plan_contexts(
		struct state_cx *cx, struct state_plan *plan, const struct event_type *type)
{
	uint16_t i;

	plan->ctx_tid = plan->vpid = plan->pid_ns = plan->procname = STATE_NO_FIELD;
	for (i = 0; i < type->n_fields; i++) {
		const struct field *field = &type->fields[i];

		if (field->scope != SCOPE_CONTEXT) {
			continue;
		}
		if (is_number(field) && strcmp(field->name, "tid") == 0) {
			plan->ctx_tid = i;
		} else if (is_number(field) && strcmp(field->name, "vpid") == 0) {
			plan->vpid = i;
		} else if (is_number(field) && strcmp(field->name, "pid_ns") == 0) {
			plan->pid_ns = i;
		} else if (field->kind == FIELD_STRING && strcmp(field->name, "procname") == 0) {
			plan->procname = i;
		} else if (is_number(field) && strncmp(field->name, "perf_", 5) == 0) {
			plan_perf(cx, plan, field, i);
		}
	}
}

bool state_add_type(struct state *state)
{
	struct state_cx *cx = &state->cx;

	if (!array_reserve(&cx->plans, &cx->plan_room, cx->registry->n_types)) {
		return false;
	}
	for (; cx->n_plans < cx->registry->n_types; cx->n_plans++) {
		const struct event_type *type = &cx->registry->types[cx->n_plans];
		struct state_plan *plan = &cx->plans[cx->n_plans];
		uint32_t i;
		bool done = false;

		*plan = (struct state_plan){.fd_slot = STATE_NO_FIELD,
				.from_fd_slot = STATE_NO_FIELD,
				.to_fd_slot = STATE_NO_FIELD};
		memset(plan->slots_call, 0xff, sizeof(plan->slots_call)); /* STATE_NO_FIELD */
		plan_contexts(cx, plan, type);
		for (i = 0; !done && i < sizeof(rule_tables) / sizeof(*rule_tables); i++) {
			done = plan_rule(plan, type, rule_tables[i]);
		}
		if (!done) {
			plan_call(cx, plan, type);
		}
		if (!plan->handle && plan->n_perf > 0) {
			plan->handle = only_perf;
		}
		cx->has_waking |= strcmp(type->name, "sched_waking") == 0;
	}
	return true;
}

static bool reserve_hosts(struct state_cx *cx)
{
	return array_extend(&cx->hosts, &cx->n_hosts, cx->registry->n_hosts);
}

bool state_release_thread(struct state *state, struct thread *thread, bool force)
{
	struct thread_state *kept = thread->state;

	if (!kept) {
		return true;
	}
	if (!force && (kept->on_cpu != CPU_NONE || kept->call.open)) {
		return false;
	}
	attribute_set(&state->cx.store, &kept->status, state->cx.now_ns, THREAD_UNKNOWN);
	thread_end(&state->cx, kept, state->cx.now_ns);
	return true;
}

/* --- the collector --------------------------------------------------------------------------- */

static void forget_thread(struct state_cx *cx, struct thread_state *thread)
{
	uint32_t i;

	*(thread->prev ? &thread->prev->next : &cx->oldest) = thread->next;
	*(thread->next ? &thread->next->prev : &cx->newest) = thread->prev;
	files_on_forget(cx, thread);
	thread_life_forget(cx, thread);
	attribute_release(&cx->store, &thread->status);
	attribute_release(&cx->store, &thread->comm);
	attribute_release(&cx->store, &thread->prio);
	attribute_release(&cx->store, &thread->waker);
	attribute_release(&cx->store, &thread->migrations);
	attribute_release(&cx->store, &thread->moved_from);
	attribute_release(&cx->store, &thread->owner);
	for (i = 0; i < thread->n_perf; i++) {
		attribute_release(&cx->store, &thread->perf[i]);
	}
	pool_free(&cx->store.pool, thread->perf, thread->n_perf * sizeof(*thread->perf));
	pool_free(&cx->store.pool, thread->call.slots, thread->call.room);
	pool_free(&cx->store.pool, thread, sizeof(*thread));
}

static void expire_thread(struct state_cx *cx, struct thread_state *thread)
{
	uint32_t i;

	attribute_expire(&cx->store, &thread->status);
	attribute_expire(&cx->store, &thread->comm);
	attribute_expire(&cx->store, &thread->prio);
	attribute_expire(&cx->store, &thread->waker);
	attribute_expire(&cx->store, &thread->migrations);
	attribute_expire(&cx->store, &thread->moved_from);
	attribute_expire(&cx->store, &thread->owner);
	for (i = 0; i < thread->n_perf; i++) {
		attribute_expire(&cx->store, &thread->perf[i]);
	}
}

static void expire_host(struct state_cx *cx, struct host_state *host)
{
	uint32_t i;

	attribute_expire(&cx->store, &host->events);
	for (i = 0; i < host->n_cpus; i++) {
		attribute_expire(&cx->store, &host->cpus[i].mode);
		attribute_expire(&cx->store, &host->cpus[i].running);
		attribute_expire(&cx->store, &host->cpus[i].taken_from);
		attribute_expire(&cx->store, &host->cpus[i].frequency_khz);
	}
}

static void sweep(struct state_cx *cx)
{
	struct thread_state *thread, *next;
	uint32_t i;

	for (i = 0; i < cx->n_hosts; i++) {
		expire_host(cx, &cx->hosts[i]);
	}
	for (thread = cx->oldest; thread; thread = next) {
		next = thread->next;
		if (thread->dead_ns && thread->dead_ns <= cx->store.horizon_ns) {
			forget_thread(cx, thread);
		} else {
			expire_thread(cx, thread);
		}
	}
	files_expire(cx);
	disks_expire(cx);
	nets_expire(cx);
	series_expire(&cx->store, &cx->calls);
	series_expire(&cx->store, &cx->irqs);
}

static void move_horizon(struct state *state)
{
	uint64_t kept_ns = KEPT_WINDOWS * state->cx.window_ns;
	uint64_t now_ns = state->pinned ? state->pinned_ns : state->cx.now_ns;

	if (now_ns > kept_ns && now_ns - kept_ns > state->cx.store.horizon_ns) {
		state->cx.store.horizon_ns = now_ns - kept_ns;
	}
}

/* Too much: the oldest detail goes, a quarter of what is left at a time. */
static void trim(struct state *state)
{
	struct store *store = &state->cx.store;
	uint64_t bound =
			state->config.max_bytes + (state->pinned ? state->config.max_pin_bytes : 0);

	move_horizon(state);
	sweep(&state->cx);
	while (store_bytes(store) > bound - bound / 8 && store->horizon_ns < state->cx.now_ns) {
		store->horizon_ns += (state->cx.now_ns - store->horizon_ns + 3) / 4;
		store->trimmed_ns = store->horizon_ns;
		sweep(&state->cx);
	}
	/* What is left is the present: looking again pays after a while only. */
	state->trim_above_bytes = bound;
	if (store_bytes(store) > bound - bound / 8) {
		state->trim_above_bytes = store_bytes(store) + bound / 8;
	}
}

/* At an instant that does not depend on when events come, so that a look back is exact. */
static void sample(struct state_cx *cx, uint64_t at_ns)
{
	uint32_t i;

	for (i = 0; i < cx->n_hosts; i++) {
		uint64_t events = 0;
		uint32_t s;

		for (s = 0; s < cx->registry->n_sessions; s++) {
			const struct session *session = &cx->registry->sessions[s];

			events += session->host == i ? session->counts.events : 0;
		}
		attribute_set(&cx->store, &cx->hosts[i].events, at_ns, events);
	}
}

/*
 * Steps alone recorded which threads run, and these are undone. Others who record that, too, have
 * told of a switch within the second before: no machine goes without one for that long.
 */
static bool is_recorded_no_more(const struct state_cx *cx, const struct host_state *host)
{
	return host->by_us_until_ns && cx->now_ns >= host->by_us_until_ns &&
	       host->switched_ns < host->by_us_until_ns + LATE_NS &&
	       host->theirs_ns + LATE_NS < host->by_us_until_ns;
}

static bool is_traced(const struct state_cx *cx, uint32_t host)
{
	const struct registry *registry = cx->registry;
	uint32_t i;

	for (i = 0; i < registry->n_streams; i++) {
		const struct stream *stream = &registry->streams[i];

		if (stream->host == host && stream->desc.domain != DOMAIN_UST &&
				registry->sessions[stream->desc.session].attached) {
			return true;
		}
	}
	return false;
}

/* From the last event of its kernel on nothing is known of a host. */
static void end_host(struct state_cx *cx, uint32_t number)
{
	struct host_state *host = &cx->hosts[number];
	struct thread_state *thread;

	for (uint32_t i = 0; i < host->n_cpus; i++) {
		cpu_forget(cx, &host->cpus[i], host->last_ns);
		memset(host->cpus[i].mode_tenths, 0, sizeof(host->cpus[i].mode_tenths));
	}
	for (thread = cx->oldest; thread; thread = thread->next) {
		if (thread->host == number && thread->dead_ns == 0) {
			thread->on_cpu = CPU_NONE;
			attribute_set(&cx->store, &thread->status, host->last_ns, THREAD_UNKNOWN);
			thread_life_forget(cx, thread);
		}
	}
}

/*
 * What CPUs and threads do whose kernel is no longer traced is not known, whatever they did last;
 * but where nothing is traced any more, time stands still, and the end is shown as it was.
 */
static void forget_ended(struct state_cx *cx)
{
	const struct registry *registry = cx->registry;
	bool goes_on = false;
	uint32_t i;

	for (i = 0; i < registry->n_hosts; i++) {
		goes_on |= registry->hosts[i].n_attached > 0;
	}
	for (i = 0; i < cx->n_hosts && goes_on; i++) {
		struct host_state *host = &cx->hosts[i];
		bool ended = host->n_cpus > 0 &&
			     (!is_traced(cx, i) || is_recorded_no_more(cx, host));

		if (ended && !host->ended) {
			end_host(cx, i);
		}
		host->ended = ended;
	}
}

void state_forget(struct state *state, uint64_t now_ns)
{
	state->cx.now_ns = now_ns;
	forget_ended(&state->cx);
}

bool state_record(struct state *state, uint32_t host, bool by_us, uint64_t at_ns)
{
	struct host_state *recorded;

	if (host >= state->cx.n_hosts && !reserve_hosts(&state->cx)) {
		return false;
	}
	recorded = &state->cx.hosts[host];
	if (by_us || recorded->by_us) {
		recorded->by_us_until_ns = by_us ? 0 : at_ns;
	}
	recorded->by_us = by_us;
	return recorded->by_us_until_ns == at_ns;
}

void state_advance(struct state *state, uint64_t now_ns)
{
	struct state_cx *cx = &state->cx;
	uint64_t step_ns = TICKS * state_tick_ns(cx->window_ns);

	cx->now_ns = now_ns;
	files_let_go(cx);
	if (now_ns < state->next_sample_ns) {
		return;
	}
	if (reserve_hosts(cx)) {
		sample(cx, now_ns / step_ns * step_ns);
	}
	forget_ended(cx);
	state->next_sample_ns = (now_ns / step_ns + 1) * step_ns;
	if (now_ns >= state->next_sweep_ns) {
		state->next_sweep_ns = now_ns + cx->window_ns / SWEEPS;
		move_horizon(state);
		sweep(cx);
	}
}

void state_pin(struct state *state, uint64_t now_ns)
{
	state->pinned = true;
	state->pinned_ns = now_ns;
	state->trim_above_bytes = state->config.max_bytes + state->config.max_pin_bytes;
}

void state_unpin(struct state *state)
{
	state->pinned = false;
	state->trim_above_bytes = state->config.max_bytes;
	state->next_sweep_ns = 0;
}

/* --- events ---------------------------------------------------------------------------------- */

bool state_uses(const struct state *state, uint32_t type)
{
	return state->cx.plans[type].handle != NULL;
}

uint32_t state_disk_name(const struct state *state, uint32_t host, uint64_t device)
{
	return disks_name(state->cx.disks, host, device);
}

bool state_enters_call(const struct state *state, uint32_t type)
{
	return state->cx.plans[type].handle == calls_entry;
}

bool state_feed(struct state *state, const struct event *event, uint64_t number)
{
	struct state_cx *cx = &state->cx;
	const struct state_plan *plan = &cx->plans[event->type];

	if (event_host(cx, event) >= cx->n_hosts && !reserve_hosts(cx)) {
		return false;
	}
	cx->now_ns = event->ts_ns;
	cx->number = number;
	cx->no_use = false;
	cx->sockets->calls.n = 0;
	if (cx->registry->streams[event->stream].desc.domain != DOMAIN_UST) {
		cx->hosts[event_host(cx, event)].last_ns = event->ts_ns;
	}
	if (plan->n_perf > 0) {
		perf_take(cx, plan, event);
	}
	plan->handle(cx, plan, event);
	if (store_bytes(&cx->store) > state->trim_above_bytes) {
		trim(state);
	}
	return !cx->no_use;
}

void state_lose(struct state *state, const struct loss *loss)
{
	struct state_cx *cx = &state->cx;
	const struct stream *stream = &cx->registry->streams[loss->stream];
	struct host_state *host;
	struct thread_state *thread;
	uint32_t i;

	if (stream->desc.domain == DOMAIN_UST || stream->host >= cx->n_hosts) {
		return;
	}
	host = &cx->hosts[stream->host];
	for (i = 0; i < host->n_cpus; i++) {
		if (loss->cpu == CPU_NONE || loss->cpu == i) {
			cpu_forget(cx, &host->cpus[i], cx->now_ns);
		}
	}
	files_on_loss(cx, stream->host, loss);
	sockets_lose(cx, stream->host);
	/* Calls may have ended, and threads have been woken, unseen. */
	for (thread = cx->oldest; thread; thread = thread->next) {
		if (thread->host == stream->host && thread->thread) {
			thread->uncertain = true;
		}
	}
}

/* --- creation -------------------------------------------------------------------------------- */

struct state *state_create(const struct state_config *config, struct registry *registry,
		struct names *names, struct threads *threads, struct event_log *log)
{
	struct state *state = calloc(1, sizeof(*state));

	if (!state) {
		return NULL;
	}
	state->config = *config;
	state->trim_above_bytes = config->max_bytes;
	state->cx.registry = registry;
	state->cx.names = names;
	state->cx.threads = threads;
	state->cx.log = log;
	state->cx.window_ns = config->window_ns;
	state->cx.innermost = config->innermost;
	store_init(&state->cx.store);
	if (!files_create(&state->cx) || !disks_create(&state->cx) || !nets_create(&state->cx) ||
			!sockets_create(&state->cx)) {
		state_destroy(state);
		return NULL;
	}
	return state;
}

void state_destroy(struct state *state)
{
	struct state_cx *cx;
	uint32_t i;

	if (!state) {
		return;
	}
	cx = &state->cx;
	while (cx->oldest) {
		if (cx->oldest->thread) {
			cx->oldest->thread->state = NULL;
		}
		forget_thread(cx, cx->oldest);
	}
	for (i = 0; i < cx->n_hosts; i++) {
		uint32_t c;

		for (c = 0; c < cx->hosts[i].n_cpus; c++) {
			attribute_release(&cx->store, &cx->hosts[i].cpus[c].mode);
			attribute_release(&cx->store, &cx->hosts[i].cpus[c].running);
			attribute_release(&cx->store, &cx->hosts[i].cpus[c].taken_from);
			attribute_release(&cx->store, &cx->hosts[i].cpus[c].frequency_khz);
		}
		attribute_release(&cx->store, &cx->hosts[i].events);
		free(cx->hosts[i].cpus);
	}
	series_release(&cx->store, &cx->calls);
	series_release(&cx->store, &cx->irqs);
	nets_destroy(cx);
	disks_destroy(cx);
	files_destroy(cx);
	sockets_destroy(cx);
	free(cx->hosts);
	free(cx->plans);
	store_release(&cx->store);
	free(state);
}

enum status state_fill(struct state *state, const struct focus *focus, uint64_t at_ns,
		struct snapshot *snapshot)
{
	return fill_state(&state->cx, focus, focus->state_at_ns ? focus->state_at_ns : at_ns,
			snapshot);
}

void state_set_owner(struct state *state, struct thread *thread, uint64_t owner, uint64_t now_ns)
{
	if (thread->state) {
		attribute_set(&state->cx.store, &thread->state->owner, now_ns, owner);
	}
}

void state_add_resources(struct state *state, uint32_t host, uint64_t thread_key, uint64_t from_ns,
		uint64_t to_ns, const uint64_t *owners, uint32_t n_owners,
		struct state_resources *out)
{
	fill_resources(&state->cx,
			&(struct resources_of){.host = host,
					.key = thread_key,
					.from_ns = from_ns,
					.to_ns = to_ns,
					.owners = owners,
					.n_owners = n_owners},
			out);
}

const struct socket_calls *state_socket_calls(const struct state *state)
{
	return &state->cx.sockets->calls;
}

const struct socket_counts *state_socket_counts(const struct state *state)
{
	return &state->cx.sockets->counts;
}

bool state_was_told(const struct state *state, uint32_t host, uint64_t from_ns, uint64_t to_ns)
{
	const struct host_state *told = host < state->cx.n_hosts ? &state->cx.hosts[host] : NULL;

	return told && told->switched_ns && to_ns > told->since_ns &&
	       (!told->ended || from_ns < told->switched_ns);
}

bool state_has_kernel(const struct state *state)
{
	uint32_t i;

	for (i = 0; i < state->cx.n_hosts; i++) {
		if (state->cx.hosts[i].n_cpus > 0) {
			return true;
		}
	}
	return false;
}

bool state_has_wakers(const struct state *state)
{
	return state->cx.has_waking;
}

/* Which CPU was told to run the thread just then; n_cpus: none. */
static uint32_t given_cpu(const struct host_state *host, int32_t tid, uint64_t at_ns)
{
	uint32_t cpu = 0;
	uint64_t since_ns;

	while (cpu < host->n_cpus && (attribute_since(&host->cpus[cpu].running, at_ns, &since_ns) !=
								     (uint64_t)tid + 1 ||
						     since_ns != at_ns)) {
		cpu++;
	}
	return cpu;
}

static void tell_who_ran(const struct cpu_state *cpu, uint64_t from_ns, uint64_t to_ns,
		state_ran *ran, void *context)
{
	struct attribute_walk walk = {.started = false};

	while (attribute_step(&cpu->running, from_ns, to_ns, &walk)) {
		uint64_t value = walk.value, since_ns;

		if (value == 0) {
			value = attribute_marked(&cpu->taken_from, walk.end_ns, &since_ns);
			value = since_ns == walk.end_ns ? value : 0;
		}
		if (value > 0) {
			ran(context, (int32_t)(value - 1), walk.begin_ns, walk.end_ns);
		}
	}
}

bool state_ran_instead(struct state *state, uint32_t host, int32_t tid, uint64_t from_ns,
		uint64_t to_ns, state_ran *ran, void *context)
{
	struct state_cx *cx = &state->cx;
	const struct thread_state *thread = state_find_thread(cx, host, tid);
	uint32_t cpu = thread ? given_cpu(&cx->hosts[host], tid, to_ns) : 0;
	bool known = thread && cpu < cx->hosts[host].n_cpus;

	while (known && cpu < cx->hosts[host].n_cpus && to_ns > from_ns) {
		uint64_t moved_ns, before = attribute_marked(&thread->moved_from, to_ns, &moved_ns);
		uint64_t begin_ns = before && moved_ns > from_ns ? moved_ns : from_ns;

		tell_who_ran(&cx->hosts[host].cpus[cpu], begin_ns, to_ns, ran, context);
		/* Of two moves at once the later is known. */
		to_ns = begin_ns - (begin_ns > from_ns);
		cpu = (uint32_t)before - 1;
	}
	return known;
}

bool state_doing(struct state *state, uint32_t host, int32_t tid, int32_t pid, uint64_t before_ns,
		struct state_doing *out)
{
	return fill_doing(&state->cx, host, tid, pid, before_ns, out);
}
