/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "probe/hooks.h"

#include <stdlib.h>

#include "base/clock.h"

#define FEW          64u /* functions that are attached without a trial */
#define LEAST_AT_ONCE 8u
#define MOST_AT_ONCE 32u /* while one of these is called often, detaching each takes a while */
#define ATTACH_NS    20000000.0 /* that attaching some of many should take */
#define TRIAL_NS     20000000u
#define WINDOW_NS    100000000u /* in which hits are counted, to see what fires too often */
#define URGENT       0.25       /* of the limit, by one function alone */
#define AFTERWARDS   0.5        /* of the limit, that is left once something had to go */
#define TIDY_NS      1000000000u
#define USUAL_NS     2000.0 /* a hit's cost, where it cannot be measured */

/* --- Attaching -------------------------------------------------------------------------------- */

/* A number for a set; PROBE_SETS: there is none left. */
static uint32_t free_set(const struct functions *functions)
{
	uint32_t at = 0;

	while (at < PROBE_SETS && functions->sets[at].used) {
		at++;
	}
	return at;
}

static uint64_t cookie_of(
		const struct functions *functions, uint32_t number, uint32_t set, bool exit)
{
	const struct target *target = &functions->targets[number];
	uint32_t bits = exit ? 0 : function_type_bits(&functions->types.list[number]);

	return PROBE_COOKIE(2 * number + exit, set, bits | (target->root ? PROBE_COOKIE_ROOT : 0));
}

/* Attaches numbers[0 .. n-1] of a program as a new set, in place of `before`, which it is like, or
 * of none. */
static enum status attach(struct functions *functions, uint32_t program, bool exits,
		const uint32_t *numbers, uint32_t n, int32_t before, bool trial,
		struct kernel_fault *fault)
{
	uint32_t at = free_set(functions);
	uint64_t *offsets = calloc(2 * (size_t)n, sizeof(*offsets)), *cookies = offsets + n;
	enum status status;

	if (!offsets || at == PROBE_SETS) {
		free(offsets);
		return kernel_refuse(
				fault, STATUS_FULL, "too many functions were chosen one by one");
	}
	for (uint32_t i = 0; i < n; i++) {
		offsets[i] = functions->targets[numbers[i]].offset;
		cookies[i] = cookie_of(functions, numbers[i], at, exits);
	}
	status = kernel_hook(functions->setup.kernel, functions->programs[program].path, offsets,
			cookies, n, exits, functions->setup.pid, &functions->sets[at].hooks, fault);
	free(offsets);
	if (status != STATUS_OK) {
		return status;
	}
	functions->sets[at].used = true;
	functions->sets[at].exits = exits;
	functions->sets[at].program = program;
	/* Both are attached now: from one moment to the next the new one counts. */
	if (before >= 0) {
		kernel_use_set(functions->setup.kernel, (uint32_t)before, PROBE_SET_OFF);
	}
	functions->sets[at].trial = before >= 0 ? functions->sets[before].trial : trial;
	kernel_use_set(functions->setup.kernel, at,
			functions->sets[at].trial ? PROBE_SET_COUNTS : PROBE_SET_RECORDS);
	for (uint32_t i = 0; i < n; i++) {
		struct target *target = &functions->targets[numbers[i]];

		target->set[exits] = (int32_t)at;
		target->hits[exits] = kernel_hits(functions->setup.kernel, 2 * numbers[i] + exits);
	}
	return STATUS_OK;
}

static void detach(struct functions *functions, uint32_t at)
{
	struct set *set = &functions->sets[at];

	kernel_use_set(functions->setup.kernel, at, PROBE_SET_OFF);
	kernel_unhook(set->hooks);
	*set = (struct set){.used = false};
	for (uint32_t i = 0; i < functions->types.n; i++) {
		for (int exit = 0; exit < 2; exit++) {
			if (functions->targets[i].set[exit] == (int32_t)at) {
				functions->targets[i].set[exit] = -1;
			}
		}
	}
}

/* Leaves in functions->numbers those of the set that are still wanted. */
static uint32_t survivors(struct functions *functions, uint32_t at, uint32_t *gone)
{
	bool exits = functions->sets[at].exits;
	uint32_t n = 0;

	*gone = 0;
	for (uint32_t i = 0; i < functions->types.n; i++) {
		const struct target *target = &functions->targets[i];

		if (target->set[exits] != (int32_t)at) {
			continue;
		}
		if (target->wanted[exits] && target->function) {
			functions->numbers[n++] = i;
		} else {
			(*gone)++;
		}
	}
	return n;
}

/* An exit whose entry is no more recorded must not be, either. */
static void want_hooks(struct functions *functions)
{
	for (uint32_t i = 0; i < functions->types.n; i++) {
		for (uint32_t exit = 0; exit < 2; exit++) {
			kernel_want_hook(functions->setup.kernel, 2 * i + exit,
					functions->targets[i].wanted[exit]);
		}
	}
}

static enum status shrink_sets(struct functions *functions, struct kernel_fault *fault)
{
	enum status status = STATUS_OK;

	want_hooks(functions);

	for (uint32_t at = 0; at < PROBE_SETS && status == STATUS_OK; at++) {
		const struct set *set = &functions->sets[at];
		uint32_t n, gone;

		if (!set->used) {
			continue;
		}
		n = survivors(functions, at, &gone);
		if (gone > 0 && n > 0) {
			status = attach(functions, set->program, set->exits, functions->numbers, n,
					(int32_t)at, false, fault);
		}
		if (gone > 0) {
			detach(functions, at);
		}
	}
	return status;
}

/*
 * Those that the kernel takes: of many that it refuses as a whole the halves are tried, and so on.
 * Others are wanted no more; `unfit`: how many.
 */
static enum status attach_most(struct functions *functions, uint32_t program, bool exits,
		const uint32_t *numbers, uint32_t n, bool trial, uint32_t *unfit,
		struct kernel_fault *fault)
{
	enum status status = attach(functions, program, exits, numbers, n, -1, trial, fault);

	if (status != STATUS_INVALID) {
		return status;
	}
	if (n == 1) {
		struct target *target = &functions->targets[numbers[0]];

		target->wanted[0] = target->wanted[1] = false;
		(*unfit)++;
		return STATUS_OK;
	}
	status = attach_most(functions, program, exits, numbers, n / 2, trial, unfit, fault);
	return status != STATUS_OK ? status
				   : attach_most(functions, program, exits, numbers + n / 2,
						     n - n / 2, trial, unfit, fault);
}

/* Attaches `n` of functions->numbers, as far as the kernel takes them. */
static enum status attach_chosen(struct functions *functions, uint32_t program, bool exits,
		uint32_t n, bool trial, struct kernel_fault *fault)
{
	uint32_t unfit = 0;
	enum status status = n == 0 ? STATUS_OK
				    : attach_most(functions, program, exits, functions->numbers, n,
						      trial, &unfit, fault);

	if (status == STATUS_OK && unfit > 0 && unfit == n) {
		return STATUS_INVALID;
	}
	if (unfit > 0) {
		functions_say(functions,
				"%u of %u functions of %s are left out: the kernel puts no probe "
				"on "
				"their first instruction",
				unfit, n, functions->programs[program].name);
	}
	return status;
}

/*
 * Those of a program whose entries or exits are wanted and not attached, in functions->numbers, at
 * most `most`; of exits only those whose entries are, if these are wanted. Returns how many there
 * are.
 */
static uint32_t choose_missing(
		struct functions *functions, uint32_t program, bool exits, uint32_t most)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < functions->types.n; i++) {
		const struct target *target = &functions->targets[i];

		if (target->program != program || !target->function || !target->wanted[exits] ||
				target->set[exits] >= 0 ||
				(exits && target->wanted[0] && target->set[0] < 0)) {
			continue;
		}
		if (n < most) {
			functions->numbers[n] = i;
		}
		n++;
	}
	return n;
}

static uint32_t least(uint32_t a, uint32_t b)
{
	return a < b ? a : b;
}

/* It takes the kernel the longer the more processes there are. */
static void adapt(struct functions *functions, uint32_t n, double took_ns)
{
	double next = n * ATTACH_NS / (took_ns + 1);

	functions->at_once = next < LEAST_AT_ONCE  ? LEAST_AT_ONCE
			     : next > MOST_AT_ONCE ? MOST_AT_ONCE
						   : (uint32_t)next;
}

/*
 * A few are attached in one go. Of many the entries come first, some at a time, as it takes the
 * kernel a while in a server of many processes: what fires too often is seen, and gone, before the
 * exits are attached and calls are recorded (finish_trial()).
 */
static enum status grow(struct functions *functions, struct kernel_fault *fault)
{
	enum status status = STATUS_OK;

	functions->more = false;
	for (uint32_t i = 0; i < functions->n_programs && status == STATUS_OK; i++) {
		uint32_t n = choose_missing(functions, i, false, UINT32_MAX);
		bool trial = (n > FEW || (n > 0 && functions->many)) &&
			     kernel_takes_many(functions->setup.kernel);
		uint64_t begin_ns;

		if (n > KERNEL_ONE_BY_ONE && !trial) {
			return kernel_refuse(fault, STATUS_FULL,
					"%u functions are too many for this kernel: before Linux "
					"6.6 each takes a tenth of a second to let go of, so at "
					"most %u are taken",
					n, KERNEL_ONE_BY_ONE);
		}
		functions->many = functions->many || trial;
		functions->more = functions->more || (trial && n > functions->at_once);
		n = trial ? least(n, functions->at_once) : n;
		begin_ns = clock_monotonic_ns();
		status = attach_chosen(functions, i, false, n, trial, fault);
		if (trial) {
			functions->trial_ns = clock_monotonic_ns() + TRIAL_NS;
			adapt(functions, n, (double)(clock_monotonic_ns() - begin_ns));
		} else if (status == STATUS_OK) {
			n = choose_missing(functions, i, true, UINT32_MAX);
			status = attach_chosen(functions, i, true, n, false, fault);
		}
	}
	kernel_forget_calls(functions->setup.kernel);
	return status;
}

/* Nothing of those on trial fires too often, or what did is gone: their calls are recorded. */
static enum status finish_trial(struct functions *functions, struct kernel_fault *fault)
{
	enum status status = STATUS_OK;

	functions->trial_ns = 0;
	for (uint32_t i = 0; i < functions->n_programs && status == STATUS_OK; i++) {
		uint32_t n = choose_missing(functions, i, true, UINT32_MAX);

		status = attach_chosen(functions, i, true, n, false, fault);
	}
	for (uint32_t at = 0; at < PROBE_SETS; at++) {
		if (functions->sets[at].used && functions->sets[at].trial) {
			functions->sets[at].trial = false;
			kernel_use_set(functions->setup.kernel, at, PROBE_SET_RECORDS);
		}
	}
	functions->many = functions->more;
	kernel_forget_calls(functions->setup.kernel);
	return status;
}

enum status functions_apply(struct functions *functions, struct kernel_fault *fault)
{
	enum status status = shrink_sets(functions, fault);

	functions->tidy_ns = 0;
	return status == STATUS_OK ? grow(functions, fault) : status;
}

/* --- What fires too often --------------------------------------------------------------------- */

/* What a hit takes; an exit alone traps at the entry as well. */
static double hit_ns(const struct functions *functions, const struct target *target, bool exit)
{
	const struct calibrate_cost *cost = &functions->costs[target->stepped];
	double entry_ns = cost->entry_ns > 0 ? cost->entry_ns : USUAL_NS;
	double exit_ns = cost->exit_ns > 0 ? cost->exit_ns : USUAL_NS;

	return !exit ? entry_ns : exit_ns + (target->set[0] < 0 ? entry_ns : 0);
}

/* Hits of the window, in *hits, and what they took. */
static double spent_ns(const struct functions *functions, uint32_t number, uint64_t hits[2])
{
	const struct target *target = &functions->targets[number];
	double ns = 0;

	for (int exit = 0; exit < 2; exit++) {
		hits[exit] = target->set[exit] < 0 ? 0
						   : kernel_hits(functions->setup.kernel,
								     2 * number + (uint32_t)exit) -
								     target->hits[exit];
		ns += (double)hits[exit] * hit_ns(functions, target, exit);
	}
	return ns;
}

static void begin_window(struct functions *functions, uint64_t now_ns)
{
	functions->window_ns = now_ns;
	for (uint32_t i = 0; i < functions->types.n; i++) {
		for (uint32_t exit = 0; exit < 2; exit++) {
			functions->targets[i].hits[exit] =
					kernel_hits(functions->setup.kernel, 2 * i + exit);
		}
	}
}

/* The function of the program that took most; `total_ns`: what all of its took. -1: none did. */
static int64_t most_expensive(const struct functions *functions, uint32_t program, double *total_ns)
{
	double most_ns = 0;
	uint64_t hits[2];
	int64_t found = -1;

	*total_ns = 0;
	for (uint32_t i = 0; i < functions->types.n; i++) {
		const struct target *target = &functions->targets[i];
		double ns;

		if (target->program != program || (!target->wanted[0] && !target->wanted[1])) {
			continue;
		}
		ns = spent_ns(functions, i, hits);
		*total_ns += ns;
		if (ns > most_ns) {
			most_ns = ns;
			found = i;
		}
	}
	return found;
}

/* True: it alone takes so much that it has to be detached at once. */
static bool let_go(struct functions *functions, uint32_t number, double elapsed_ns)
{
	const struct function_type *type = &functions->types.list[number];
	uint64_t hits[2];
	double ns = spent_ns(functions, number, hits);

	functions->targets[number].wanted[0] = functions->targets[number].wanted[1] = false;
	functions_say(functions,
			"%s:%s is let go of: it was called %.0f times a second, which took the "
			"program %.0f ms of CPU within %.0f ms; its functions may take %.0f %% of "
			"a CPU together (--limit)",
			type->provider, type->name,
			(double)(hits[0] ? hits[0] : hits[1]) * 1e9 / elapsed_ns, ns / 1e6,
			elapsed_ns / 1e6, functions->setup.limit * 100);
	return ns > URGENT * functions->setup.limit * elapsed_ns;
}

static void find_excess(struct functions *functions, uint64_t now_ns)
{
	double elapsed_ns = (double)(now_ns - functions->window_ns), total_ns;
	struct kernel_fault fault;
	double most_ns = elapsed_ns > WINDOW_NS ? elapsed_ns : WINDOW_NS;
	bool any = false, urgent = false;

	if (now_ns <= functions->window_ns) {
		return;
	}
	/* What took too much for the whole window is not waited for until its end. */
	for (uint32_t i = 0; i < functions->n_programs; i++) {
		double bound_ns = functions->setup.limit * most_ns;
		int64_t number;

		while ((number = most_expensive(functions, i, &total_ns)) >= 0 &&
				total_ns > bound_ns) {
			urgent |= let_go(functions, (uint32_t)number, elapsed_ns);
			any = true;
			bound_ns = AFTERWARDS * functions->setup.limit * most_ns;
		}
	}
	/* To detach one of many takes the kernel a while: those that are no hurry go together. */
	if (any && !urgent) {
		want_hooks(functions);
		functions->tidy_ns = functions->tidy_ns ? functions->tidy_ns : now_ns + TIDY_NS;
	}
	if ((urgent || (functions->tidy_ns && now_ns >= functions->tidy_ns)) &&
			functions_apply(functions, &fault) != STATUS_OK) {
		functions_say(functions, "%s", fault.text);
	}
	if (any || elapsed_ns >= WINDOW_NS) {
		begin_window(functions, clock_monotonic_ns());
	}
}

static void go_on(struct functions *functions, uint64_t now_ns)
{
	struct kernel_fault fault;
	enum status status = STATUS_OK;

	if (functions->trial_ns) {
		status = now_ns >= functions->trial_ns ? finish_trial(functions, &fault)
						       : STATUS_OK;
	} else if (functions->more) {
		status = grow(functions, &fault);
	}
	if (status != STATUS_OK) {
		functions_say(functions, "%s", fault.text);
	}
}

void hooks_init(struct functions *functions)
{
	functions->window_ns = clock_monotonic_ns();
	functions->at_once = MOST_AT_ONCE;
}

void hooks_step(struct functions *functions, uint64_t now_ns)
{
	find_excess(functions, now_ns);
	go_on(functions, now_ns);
}
