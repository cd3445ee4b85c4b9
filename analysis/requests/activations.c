/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "requests/activations.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/hash.h"
#include "base/pool.h"
#include "requests/waits.h"

#define BUCKETS 4096u /* a power of two */

/* What a type of events tells here. */
enum what {
	WHAT_NOTHING = 0,
	WHAT_ENTRY, /* of a system call */
	WHAT_EXIT,
	WHAT_WOKEN,
	WHAT_SWITCH,
	WHAT_FORK,
	WHAT_EXEC,
	WHAT_GONE,
};

struct type_of {
	uint8_t what, class;       /* class: enum wait_class of the call */
	uint16_t tid, state, next; /* fields; UINT16_MAX: none */
};

/* What a thread is in; of what is not known it may be idle. */
enum call {
	CALL_UNKNOWN = 0, /* no event of a call was seen */
	CALL_NONE,
	CALL_WAIT,
	CALL_OTHER,
};

enum phase {
	PHASE_UNKNOWN = 0,
	PHASE_IDLE,
	PHASE_ACTIVE,
};

struct actor {
	struct actor *chained;
	uint64_t thread;   /* key */
	uint64_t woken_ns; /* while it is not active; 0: it was not */
	uint32_t host, program;
	uint8_t call, phase;
	bool sure; /* it was seen to become idle before, or is new */
};

struct activations {
	struct activations_config config;
	struct pool pool;
	struct type_of *types;
	uint32_t n_types, type_room;
	struct actor *actors[BUCKETS];
	uint32_t n_actors;
	uint32_t derived[2]; /* types */
	bool wakes, switches, adding, added, off, asked;
};

static const char *const event_names[2] = {"activation_entry", "activation_exit"};
static const struct field activation_fields[1] = {{.name = "program", .kind = FIELD_STRING}};

bool activation_event(const char *event, bool *exit)
{
	*exit = strcmp(event, event_names[1]) == 0;
	return *exit || strcmp(event, event_names[0]) == 0;
}

struct activations *activations_create(const struct activations_config *config)
{
	struct activations *a = calloc(1, sizeof(*a));

	if (a) {
		a->config = *config;
		pool_init(&a->pool);
	}
	return a;
}

void activations_destroy(struct activations *a)
{
	if (a) {
		pool_release(&a->pool);
		free(a->types);
		free(a);
	}
}

/* --- Types ------------------------------------------------------------------------------------ */

static uint16_t number_field(const struct event_type *type, const char *name)
{
	for (uint32_t i = 0; i < type->n_fields; i++) {
		if (strcmp(type->fields[i].name, name) == 0 &&
				type->fields[i].scope == SCOPE_PAYLOAD &&
				(type->fields[i].kind == FIELD_UINT ||
						type->fields[i].kind == FIELD_INT)) {
			return (uint16_t)i;
		}
	}
	return UINT16_MAX;
}

static void read_type(struct activations *a, const struct event_type *type, struct type_of *out)
{
	static const struct {
		const char *name, *tid;
		uint8_t what;
	} events[] = {
			{"sched_switch", "prev_tid", WHAT_SWITCH},
			{"sched_waking", "tid", WHAT_WOKEN},
			{"sched_wakeup", "tid", WHAT_WOKEN},
			{"sched_wakeup_new", "tid", WHAT_WOKEN},
			{"sched_process_fork", "child_tid", WHAT_FORK},
			{"sched_process_exec", "tid", WHAT_EXEC},
			{"sched_process_free", "tid", WHAT_GONE},
	};
	const char *call;
	bool exit;

	*out = (struct type_of){.tid = UINT16_MAX, .state = UINT16_MAX, .next = UINT16_MAX};
	for (size_t i = 0; i < sizeof(events) / sizeof(events[0]); i++) {
		if (strcmp(type->name, events[i].name) == 0) {
			out->tid = number_field(type, events[i].tid);
			out->what = out->tid == UINT16_MAX ? WHAT_NOTHING : events[i].what;
		}
	}
	if (out->what == WHAT_SWITCH) {
		out->state = number_field(type, "prev_state");
		out->next = number_field(type, "next_tid");
		out->what = out->state == UINT16_MAX || out->next == UINT16_MAX ? WHAT_NOTHING
										: WHAT_SWITCH;
	}
	call = out->what == WHAT_NOTHING ? wait_call(type->name, &exit) : NULL;
	if (call) {
		out->what = exit ? WHAT_EXIT : WHAT_ENTRY;
		out->class = (uint8_t)wait_class(call);
		/* Of a call that the tracer did not know by name, or does not say. */
		if (strcmp(call, "unknown") == 0 || *call == '\0') {
			out->class = WAITS_INPUT;
		}
	}
	a->switches |= out->what == WHAT_SWITCH;
	a->wakes |= out->what == WHAT_WOKEN;
}

bool activations_add_type(struct activations *a)
{
	uint32_t at = a->config.registry->n_types - 1;

	if (!array_reserve_zeroed(&a->types, &a->type_room, at + 1)) {
		return false;
	}
	a->n_types = at + 1;
	read_type(a, &a->config.registry->types[at], &a->types[at]);
	a->asked &= a->adding; /* what else is traced may say what requests are */
	return true;
}

/* Nothing else may be a request, and a kernel must tell of wake-ups. */
static void ask(struct activations *a)
{
	a->asked = true;
	if (!a->switches || !a->wakes || !model_takes_activations(a->config.model)) {
		a->off = true;
		return;
	}
	a->off = false;
	a->adding = true;
	for (uint32_t exit = 0; exit < 2 && !a->added; exit++) {
		const struct event_type type = {.name = event_names[exit],
				.n_fields = 1,
				.fields = activation_fields};

		a->derived[exit] = a->config.add_type(a->config.context, &type);
		a->off |= a->derived[exit] == ID_NONE;
	}
	a->adding = false;
	a->added = !a->off;
}

/* Are activations requests here? Asked at each event. */
static inline bool in_force(struct activations *a)
{
	if (!a->asked) {
		ask(a);
	}
	return a->added && !a->off;
}

/* --- Threads ---------------------------------------------------------------------------------- */

static struct actor *actor_of(struct activations *a, uint32_t host, uint64_t thread)
{
	uint32_t bucket = (uint32_t)hash_pair(host, thread) & (BUCKETS - 1);
	struct actor *actor = a->actors[bucket];

	while (actor && (actor->thread != thread || actor->host != host)) {
		actor = actor->chained;
	}
	if (actor || (thread & THREAD_IDLE) || a->n_actors == ACTIVATIONS_MAX_THREADS) {
		return actor;
	}
	actor = pool_alloc(&a->pool, sizeof(*actor));
	if (actor) {
		*actor = (struct actor){
				.thread = thread, .host = host, .chained = a->actors[bucket]};
		a->actors[bucket] = actor;
		a->n_actors++;
	}
	return actor;
}

static void forget(struct activations *a, uint32_t host, uint64_t thread)
{
	struct actor **at = &a->actors[(uint32_t)hash_pair(host, thread) & (BUCKETS - 1)];

	for (; *at; at = &(*at)->chained) {
		if ((*at)->thread == thread && (*at)->host == host) {
			struct actor *gone = *at;

			*at = gone->chained;
			pool_free(&a->pool, gone, sizeof(*gone));
			a->n_actors--;
			return;
		}
	}
}

/* A kernel's threads are called by what they do and their CPU: "kworker/0:1". */
static uint32_t without_cpu(struct activations *a, uint32_t name)
{
	const char *text = names_text(a->config.names, name), *slash = strchr(text, '/');

	if (!slash || strncmp(text, "irq/", 4) == 0 ||
			!strchr("0123456789u", slash[1] ? slash[1] : 'x')) {
		return name;
	}
	return names_add(a->config.names, text, (size_t)(slash - text));
}

static uint32_t program_of(struct activations *a, const struct actor *actor)
{
	const struct thread *thread = threads_find(a->config.threads, actor->host, actor->thread);
	uint32_t name = threads_program(a->config.threads, actor->host, actor->thread);

	if (name && thread && actor->call == CALL_UNKNOWN) {
		name = without_cpu(a, name);
	}
	return name ? name : names_add(a->config.names, "(unknown)", strlen("(unknown)"));
}

/* --- Activations ------------------------------------------------------------------------------ */

#define PROGRAM_BYTES 64u

static void tell(struct activations *a, const struct actor *actor, bool exit,
		const struct event *near, uint64_t at_ns, bool cut)
{
	const char *name = names_text(a->config.names, actor->program);
	uint32_t length = (uint32_t)strnlen(name, PROGRAM_BYTES - 1);
	uint64_t slots[1 + PROGRAM_BYTES / 8] = {UINT64_C(8) << 32 | length};
	const struct event event = {.ts_ns = near->ts_ns,
			.type = a->derived[exit],
			.stream = near->stream,
			.cpu = near->cpu,
			.bytes = 8 + length + 1,
			.slots = slots};
	const struct requests_derived derived = {.at_ns = at_ns,
			.host = actor->host,
			.thread = actor->thread,
			.cut = cut,
			.leaves = exit};

	memcpy(slots + 1, name, length);
	requests_feed_derived(a->config.requests, &event, &derived);
}

/* Who records this works because it is recorded: nobody asks for that. */
static bool records(const struct activations *a, const struct actor *actor)
{
	return strcmp(names_text(a->config.names, actor->program), "pythiatop-probe") == 0;
}

static void begin(struct activations *a, struct actor *actor, const struct event *event)
{
	actor->program = program_of(a, actor);
	if (records(a, actor)) {
		actor->phase = PHASE_UNKNOWN;
		actor->woken_ns = 0;
		return;
	}
	actor->phase = PHASE_ACTIVE;
	tell(a, actor, false, event, actor->woken_ns, false);
	actor->woken_ns = 0;
}

static void end(struct activations *a, struct actor *actor, const struct event *event, bool cut)
{
	if (actor->phase == PHASE_ACTIVE) {
		tell(a, actor, true, event, 0, cut);
	}
	actor->phase = PHASE_UNKNOWN;
	actor->woken_ns = 0;
}

/* --- Events ----------------------------------------------------------------------------------- */

/*
 * Bits of prev_state: 1 is interruptible sleep, 0x80 that of a kernel's idle thread since Linux
 * 4.14, before that 0x402. Ends: 0x10 to 0x40 (zombie, dead, parked). Above, alone or with others:
 * preempted while it went to sleep, which it therefore does not. (include/linux/sched.h)
 */
static bool is_preempted(uint64_t state)
{
	return state == 0 || (state >= 0x100 && state != 0x402);
}

static bool sleeps(uint64_t state)
{
	return !is_preempted(state) && ((state & 1) || state == 0x80 || state == 0x402);
}

static bool ends(uint64_t state)
{
	return !is_preempted(state) && (state & 0x70);
}

static void switch_out(struct activations *a, struct actor *actor, const struct event *event,
		uint64_t state)
{
	if (ends(state)) {
		end(a, actor, event, false);
		actor->call = CALL_UNKNOWN; /* a parked thread of the kernel may come back */
	} else if (sleeps(state) && (actor->call == CALL_UNKNOWN || actor->call == CALL_WAIT)) {
		end(a, actor, event, false);
		actor->phase = PHASE_IDLE;
		actor->sure = actor->call != CALL_UNKNOWN;
	}
}

static void leave_call(struct activations *a, struct actor *actor, const struct event *event,
		const struct type_of *type)
{
	uint8_t was = actor->call;

	actor->call = CALL_NONE;
	if (actor->phase == PHASE_ACTIVE) {
		/* It was in a call already when it seemed to begin: nobody knows what it did. */
		if (was == CALL_UNKNOWN && !actor->sure && type->class == WAITS_NOT) {
			end(a, actor, event, true);
		}
		return;
	}
	if (actor->phase == PHASE_IDLE ||
			(was == CALL_UNKNOWN && actor->woken_ns && type->class == WAITS_WORK)) {
		begin(a, actor, event);
	}
}

static void thread_event(struct activations *a, const struct event *event,
		const struct type_of *type, struct actor *actor)
{
	switch ((enum what)type->what) {
	case WHAT_ENTRY:
		if (actor->phase == PHASE_IDLE) {
			begin(a, actor, event); /* the exit of its call was not seen */
		}
		actor->call = type->class == WAITS_NOT ? CALL_OTHER : CALL_WAIT;
		break;
	case WHAT_EXIT:
		leave_call(a, actor, event, type);
		break;
	case WHAT_WOKEN:
		if (actor->phase != PHASE_ACTIVE && !actor->woken_ns) {
			actor->woken_ns = event->ts_ns;
		}
		break;
	case WHAT_FORK:
		*actor = (struct actor){.chained = actor->chained,
				.thread = actor->thread,
				.host = actor->host,
				.phase = PHASE_IDLE,
				.woken_ns = event->ts_ns,
				.sure = true};
		break;
	case WHAT_EXEC:
		end(a, actor, event, false);
		actor->phase = PHASE_IDLE; /* until it returns from the call */
		actor->woken_ns = event->ts_ns;
		actor->call = CALL_OTHER;
		break;
	default:
		break;
	}
}

/* So that no event is taken otherwise before the first activation. */
void activations_before(struct activations *a)
{
	(void)in_force(a);
}

/* Of a switch: both threads. Of calls: who runs. Of the others: whom they are about. */
void activations_after(struct activations *a, const struct event *event)
{
	const struct type_of *type = &a->types[event->type];
	uint32_t host = a->config.registry->streams[event->stream].host;
	struct actor *actor;
	uint64_t key;

	if (type->what == WHAT_NOTHING || !in_force(a)) {
		return;
	}
	type = &a->types[event->type]; /* types may have been added */
	if (type->what == WHAT_ENTRY || type->what == WHAT_EXIT) {
		if (!threads_current(a->config.threads, host, event->cpu, &key)) {
			return;
		}
	} else {
		key = thread_host_key(event->slots[type->tid], event->cpu);
	}
	if (type->what == WHAT_GONE) {
		forget(a, host, key);
		return;
	}
	actor = actor_of(a, host, key);
	if (actor && type->what == WHAT_SWITCH) {
		switch_out(a, actor, event, event->slots[type->state]);
	} else if (actor) {
		thread_event(a, event, type, actor);
	}
	if (type->what == WHAT_SWITCH) {
		key = thread_host_key(event->slots[type->next], event->cpu);
		actor = actor_of(a, host, key);
		/*
		 * One that may be in a call is in it until it returns. One whose wake-up nobody told is
		 * not recorded: others had the processor before and after.
		 */
		if (actor && actor->phase == PHASE_IDLE && actor->call == CALL_UNKNOWN &&
				actor->woken_ns) {
			begin(a, actor, event);
		}
	}
}

void activations_lose(struct activations *a, uint32_t stream, uint64_t now_ns)
{
	const struct event near = {.ts_ns = now_ns, .stream = stream};
	uint32_t host = a->config.registry->streams[stream].host;

	for (uint32_t i = 0; i < BUCKETS; i++) {
		for (struct actor *actor = a->actors[i]; actor; actor = actor->chained) {
			if (actor->host == host) {
				if (a->added && !a->off) {
					end(a, actor, &near, true);
				}
				*actor = (struct actor){.chained = actor->chained,
						.thread = actor->thread,
						.host = actor->host};
			}
		}
	}
}
