/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "probe/functions.h"

#include <errno.h>
#include <fnmatch.h>
#include <inttypes.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/array.h"
#include "base/clock.h"
#include "probe/calibrate.h"
#include "probe/program.h"

#define LOOK_NS      1000000000u /* between two looks at a program's file */
#define FEW          64u         /* functions that are attached without a trial */
#define MOST_AT_ONCE 2048u
#define ATTACH_NS    20000000.0  /* that attaching some of many should take */
#define TRIAL_NS     20000000u
#define WINDOW_NS    100000000u  /* in which hits are counted, to see what fires too often */
#define URGENT       0.25        /* of the limit, by one function alone */
#define AFTERWARDS   0.5         /* of the limit, that is left once something had to go */
#define TIDY_NS      1000000000u
#define USUAL_NS     2000.0      /* a hit's cost, where it cannot be measured */
#define MAX_PATTERNS 64u

struct pattern {
	char *text;
	bool root;
};

/* What a file was when it was read: another build is another one. */
struct identity {
	dev_t device;
	ino_t inode;
	struct timespec changed;
};

struct program {
	char *name; /* as it was asked for */
	char provider[BINARY_NAME];
	char path[PATH_MAX];
	struct identity identity;
	struct binary *binary; /* NULL: it is not there */
	uint32_t n_patterns;
	struct pattern patterns[MAX_PATTERNS];
	bool waited_for; /* that was said */
};

/* By the number of its type. */
struct target {
	uint32_t program;
	const struct binary_function *function; /* NULL: of a build that is no more there */
	uint64_t offset;
	bool root, stepped;
	bool wanted[2];   /* its entry, its exit */
	int32_t set[2];   /* -1: not attached */
	uint64_t hits[2]; /* when the window began */
};

struct set {
	bool used, exits;
	bool trial; /* entries that are only counted so far, to see what fires too often */
	uint32_t program;
	struct kernel_hooks *hooks;
};

struct functions {
	struct functions_setup setup;
	struct function_types types;
	uint32_t n_programs;
	struct program programs[FUNCTIONS_PROGRAMS];
	uint32_t room; /* of targets; their number is that of types */
	struct target *targets;
	uint32_t *numbers; /* room for as many */
	uint32_t numbers_room;
	struct set sets[PROBE_SETS];
	bool roots;
	struct calibrate_cost
			costs[2]; /* of those that are not stepped through, and those that are */
	uint64_t window_ns, look_ns;
	bool more;         /* is to be attached */
	uint32_t at_once;  /* so many of them */
	uint64_t trial_ns; /* when those on trial have proved themselves; 0: there are none */
	uint64_t tidy_ns; /* when what is not wanted any more is detached; 0: there is nothing */
};

__attribute__((format(printf, 2, 3))) static void say(
		const struct functions *functions, const char *format, ...)
{
	char text[1024];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	functions->setup.say(functions->setup.context, text);
}

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

/* Attaches numbers[0 .. n-1] of a program as a new set, in place of `before`, which it is like, or of
 * none. */
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
		target->hits[exits] = kernel_hits(
				functions->setup.kernel, 2 * numbers[i] + exits);
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
	status = attach_most(functions, program, exits, numbers, n / 2, trial, unfit,
			fault);
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
		say(functions,
				"%u of %u functions of %s are left out: the kernel puts no probe on "
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

	functions->at_once = next < FEW            ? FEW
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
		uint32_t n = choose_missing(functions, i, false, functions->at_once);
		bool trial = n > FEW && kernel_takes_many(functions->setup.kernel);
		uint64_t begin_ns;

		if (n > KERNEL_ONE_BY_ONE && !trial) {
			return kernel_refuse(fault, STATUS_FULL,
					"%u functions are too many for this kernel: before Linux "
					"6.6 each takes a tenth of a second to let go of, so at "
					"most %u are taken",
					n, KERNEL_ONE_BY_ONE);
		}
		functions->more = functions->more || n > functions->at_once;
		n = least(n, functions->at_once);
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
	kernel_forget_calls(functions->setup.kernel);
	return status;
}

enum status functions_apply(struct functions *functions, struct kernel_fault *fault)
{
	enum status status = shrink_sets(functions, fault);

	functions->tidy_ns = 0;
	return status == STATUS_OK ? grow(functions, fault) : status;
}

/* --- Programs --------------------------------------------------------------------------------- */

static enum status add_target(struct functions *functions, uint32_t at,
		const struct binary_function *function, const char *name, bool with_arguments,
		uint32_t *number)
{
	struct program *program = &functions->programs[at];
	struct binary_arguments arguments = {.known = false};
	char clean[1024];
	enum status status;

	if (with_arguments) {
		binary_arguments(program->binary, function, &arguments);
	}
	if (!array_reserve(&functions->targets, &functions->room, functions->types.n + 1) ||
			!array_reserve(&functions->numbers, &functions->numbers_room,
					functions->types.n + 1)) {
		return STATUS_NO_MEMORY;
	}
	function_type_clean(clean, sizeof(clean), name);
	status = function_types_add(
			&functions->types, program->provider, clean, &arguments, number);
	if (status == STATUS_OK) {
		functions->targets[*number] = (struct target){.program = at,
				.function = function,
				.offset = function->offset,
				.stepped = function->stepped,
				.set = {-1, -1}};
	}
	return status;
}

static bool is_offset(const char *pattern)
{
	return strncmp(pattern, "0x", 2) == 0;
}

/* Whether the pattern takes the function, by its name or by where it stands. */
static bool takes(const struct pattern *pattern, const struct binary_function *function)
{
	return is_offset(pattern->text) ? strtoull(pattern->text, NULL, 16) == function->offset
					: fnmatch(pattern->text, function->name, 0) == 0;
}

static const struct pattern *taken_by(
		const struct program *program, const struct binary_function *function)
{
	const struct pattern *found = NULL;

	for (uint32_t i = 0; i < program->n_patterns; i++) {
		if (takes(&program->patterns[i], function) &&
				(!found || program->patterns[i].root)) {
			found = &program->patterns[i];
		}
	}
	return found;
}

/* A place in the file that no symbol names: it gets its number as name. */
static enum status add_offsets(struct functions *functions, uint32_t at)
{
	struct program *program = &functions->programs[at];
	enum status status = STATUS_OK;
	uint32_t n, number;

	for (uint32_t i = 0; i < program->n_patterns && status == STATUS_OK; i++) {
		const struct pattern *pattern = &program->patterns[i];
		const struct binary_function *list = binary_functions(program->binary, &n);
		static const struct binary_function nameless = {.name = ""};
		bool known = !is_offset(pattern->text);

		for (uint32_t k = 0; k < n && !known; k++) {
			known = takes(pattern, &list[k]);
		}
		if (!known) {
			status = add_target(
					functions, at, &nameless, pattern->text, false, &number);
		}
		if (!known && status == STATUS_OK) {
			functions->targets[number].offset = strtoull(pattern->text, NULL, 16);
			functions->targets[number].stepped = binary_is_stepped(
					program->binary, functions->targets[number].offset);
			functions->targets[number].wanted[0] = true;
			functions->targets[number].wanted[1] = true;
			functions->targets[number].root = pattern->root;
		}
	}
	return status;
}

static enum status match(struct functions *functions, uint32_t at)
{
	struct program *program = &functions->programs[at];
	uint32_t n, number, n_taken = 0, before = functions->types.n;
	const struct binary_function *list = binary_functions(program->binary, &n);
	enum status status = STATUS_OK;

	for (uint32_t i = 0; i < n; i++) {
		n_taken += taken_by(program, &list[i]) != NULL;
	}
	for (uint32_t i = 0; i < n && status == STATUS_OK; i++) {
		const struct pattern *pattern = taken_by(program, &list[i]);

		if (!pattern) {
			continue;
		}
		status = add_target(functions, at, &list[i], list[i].name,
				n_taken <= FUNCTIONS_ARGUMENTS, &number);
		if (status == STATUS_OK) {
			functions->targets[number].wanted[0] = true;
			functions->targets[number].wanted[1] = true;
			functions->targets[number].root = pattern->root;
		}
	}
	if (status == STATUS_OK) {
		status = add_offsets(functions, at);
	}
	if (status == STATUS_OK && program->n_patterns > 0 && functions->types.n == before) {
		say(functions,
				"%s (%s) has %s that is asked for; pythiatop-probe --list %s says "
				"what it has",
				program->name, program->path,
				n == 0 ? "no symbols: no function" : "no function", program->name);
	}
	return status;
}

static bool identify(const char *path, struct identity *identity)
{
	struct stat info;

	if (stat(path, &info) != 0) {
		return false;
	}
	*identity = (struct identity){info.st_dev, info.st_ino, info.st_mtim};
	return true;
}

static bool same(const struct identity *a, const struct identity *b)
{
	return a->device == b->device && a->inode == b->inode &&
	       a->changed.tv_sec == b->changed.tv_sec && a->changed.tv_nsec == b->changed.tv_nsec;
}

/* The single functions that were chosen by name are chosen of the new build, too. */
static void carry_over(struct functions *functions, uint32_t at, uint32_t n_before)
{
	struct kernel_fault fault;

	for (uint32_t i = 0; i < n_before; i++) {
		struct target *target = &functions->targets[i];
		bool wanted[2] = {target->wanted[0], target->wanted[1]};

		if (target->program != at || target->function) {
			continue;
		}
		target->wanted[0] = target->wanted[1] = false;
		for (int exit = 0; exit < 2; exit++) {
			if (wanted[exit]) {
				functions_choose(functions, functions->programs[at].name,
						functions->types.list[i].name, exit, true, &fault);
			}
		}
	}
}

static void forget_build(struct functions *functions, uint32_t at)
{
	struct program *program = &functions->programs[at];

	for (uint32_t i = 0; i < functions->types.n; i++) {
		if (functions->targets[i].program == at) {
			functions->targets[i].function = NULL;
		}
	}
	binary_close(program->binary);
	program->binary = NULL;
}

/* Reads the program's file, if there is one and it is another than before. */
static enum status look(struct functions *functions, uint32_t at, struct kernel_fault *fault)
{
	struct program *program = &functions->programs[at];
	struct identity now;
	char path[PATH_MAX];
	uint32_t before = functions->types.n;
	enum status status;

	if (!program_find(program->name, functions->setup.pid, path) || !identify(path, &now)) {
		if (!program->binary && !program->waited_for) {
			say(functions, "%s is not there so far; it is waited for", program->name);
			program->waited_for = true;
		}
		return STATUS_NOT_FOUND;
	}
	if (program->binary && same(&now, &program->identity)) {
		return STATUS_OK;
	}
	forget_build(functions, at);
	status = binary_open(&program->binary, path);
	if (status != STATUS_OK) {
		return kernel_refuse(fault, status, "%s: %s", path,
				status == STATUS_NOT_FOUND ? strerror(errno)
							   : "is no program of this machine");
	}
	snprintf(program->path, sizeof(program->path), "%s", path);
	program->identity = now;
	status = match(functions, at);
	if (status != STATUS_OK) {
		return kernel_refuse(fault, status, "%s: %s", program->name,
				status == STATUS_FULL ? "these are more functions than can be "
							"recorded at once"
						      : "out of memory");
	}
	carry_over(functions, at, before);
	return STATUS_OK;
}

static struct program *add_program(struct functions *functions, const char *name)
{
	struct program *program;

	for (uint32_t i = 0; i < functions->n_programs; i++) {
		if (strcmp(functions->programs[i].name, name) == 0) {
			return &functions->programs[i];
		}
	}
	if (functions->n_programs == FUNCTIONS_PROGRAMS) {
		return NULL;
	}
	program = &functions->programs[functions->n_programs];
	program->name = strdup(name);
	if (!program->name) {
		return NULL;
	}
	functions->n_programs++;
	program_provider(name, program->provider, sizeof(program->provider));
	return program;
}

/* A pattern, or 0x and nothing but digits. */
static bool is_pattern(const char *text)
{
	return text[0] &&
	       (!is_offset(text) || (text[2] && strspn(text + 2, "0123456789abcdefABCDEF") ==
								    strlen(text + 2)));
}

static enum status add_patterns(
		struct program *program, const char *list, bool root, struct kernel_fault *fault)
{
	char *copy = strdup(list), *rest = copy, *word;
	enum status status = copy ? STATUS_OK : STATUS_NO_MEMORY;

	while (status == STATUS_OK && (word = strsep(&rest, ","))) {
		if (!is_pattern(word)) {
			status = kernel_refuse(fault, STATUS_INVALID,
					"\"%s\" is no pattern of functions", word);
		} else if (program->n_patterns == MAX_PATTERNS) {
			status = kernel_refuse(fault, STATUS_INVALID, "more than %u patterns",
					MAX_PATTERNS);
		} else {
			program->patterns[program->n_patterns].text = strdup(word);
			program->patterns[program->n_patterns].root = root;
			program->n_patterns += program->patterns[program->n_patterns].text != NULL;
		}
	}
	free(copy);
	return status;
}

enum status functions_add(struct functions *functions, const char *what, bool root,
		struct kernel_fault *fault)
{
	const char *colon = strchr(what, ':');
	struct program *program;
	char name[PATH_MAX];
	enum status status;

	if (!colon || colon == what || (size_t)(colon - what) >= sizeof(name)) {
		return kernel_refuse(fault, STATUS_INVALID,
				"\"%s\" is not PROGRAM:FUNCTION[,FUNCTION...]", what);
	}
	snprintf(name, sizeof(name), "%.*s", (int)(colon - what), what);
	program = add_program(functions, name);
	if (!program) {
		return kernel_refuse(
				fault, STATUS_INVALID, "more than %u programs", FUNCTIONS_PROGRAMS);
	}
	status = add_patterns(program, colon + 1, root, fault);
	if (root && status == STATUS_OK) {
		functions->roots = true;
		kernel_within(functions->setup.kernel,
				functions->setup.one_in ? functions->setup.one_in : 1);
	}
	functions->look_ns = 0;
	return status;
}

/* --- Single functions ------------------------------------------------------------------------- */

static bool find_target(const struct functions *functions, const char *program,
		const char *function, uint32_t *number)
{
	for (uint32_t i = functions->types.n; i > 0; i--) {
		const struct target *target = &functions->targets[i - 1];

		if (target->function && strcmp(functions->types.list[i - 1].name, function) == 0 &&
				strcmp(functions->programs[target->program].name, program) == 0) {
			*number = i - 1;
			return true;
		}
	}
	return false;
}

static enum status find_or_add(struct functions *functions, uint32_t at, const char *name,
		uint32_t *number, struct kernel_fault *fault)
{
	const struct program *program = &functions->programs[at];
	const struct binary_function *list;
	char clean[1024];
	uint32_t n;

	if (find_target(functions, program->name, name, number)) {
		return STATUS_OK;
	}
	list = binary_functions(program->binary, &n);
	for (uint32_t i = 0; i < n; i++) {
		function_type_clean(clean, sizeof(clean), list[i].name);
		if (strcmp(clean, name) == 0) {
			return add_target(functions, at, &list[i], list[i].name, true, number);
		}
	}
	return kernel_refuse(fault, STATUS_NOT_FOUND, "%s has no function %s", program->name, name);
}

enum status functions_choose(struct functions *functions, const char *name, const char *function,
		bool exit, bool on, struct kernel_fault *fault)
{
	struct program *program = add_program(functions, name);
	uint32_t number = 0;
	enum status status;

	if (!program) {
		return kernel_refuse(
				fault, STATUS_FULL, "more than %u programs", FUNCTIONS_PROGRAMS);
	}
	if (!program->binary && look(functions, (uint32_t)(program - functions->programs), fault) !=
						STATUS_OK) {
		return kernel_refuse(fault, STATUS_NOT_FOUND, "there is no program %s here", name);
	}
	status = find_or_add(functions, (uint32_t)(program - functions->programs), function,
			&number, fault);
	if (status == STATUS_OK) {
		functions->targets[number].wanted[exit] = on;
	}
	return status;
}

bool functions_grows(const struct functions *functions)
{
	return functions->more || functions->trial_ns;
}

bool functions_is_on(const struct functions *functions, const char *program, const char *function,
		bool exit)
{
	uint32_t number;

	return find_target(functions, program, function, &number) &&
	       functions->targets[number].wanted[exit];
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
static int64_t dearest(const struct functions *functions, uint32_t program, double *total_ns)
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
	say(functions,
			"%s:%s is let go of: it was called %.0f times a second, which took the "
			"program %.0f ms of CPU within %.0f ms; its functions may take %.0f %% of "
			"a CPU together (--limit)",
			type->provider, type->name,
			(double)(hits[0] ? hits[0] : hits[1]) * 1e9 / elapsed_ns, ns / 1e6,
			elapsed_ns / 1e6, functions->setup.limit * 100);
	return ns > URGENT * functions->setup.limit * elapsed_ns;
}

static void look_for_excess(struct functions *functions, uint64_t now_ns)
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

		while ((number = dearest(functions, i, &total_ns)) >= 0 && total_ns > bound_ns) {
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
		say(functions, "%s", fault.text);
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
		say(functions, "%s", fault.text);
	}
}

void functions_step(struct functions *functions, uint64_t now_ns)
{
	struct kernel_fault fault = {.text = ""};
	bool changed = false;

	if (now_ns >= functions->look_ns) {
		functions->look_ns = now_ns + LOOK_NS;
		for (uint32_t i = 0; i < functions->n_programs; i++) {
			const struct binary *before = functions->programs[i].binary;
			enum status status = look(functions, i, &fault);

			changed = changed || functions->programs[i].binary != before;
			if (status != STATUS_OK && status != STATUS_NOT_FOUND &&
					!functions->programs[i].waited_for) {
				say(functions, "%s", fault.text);
				functions->programs[i].waited_for = true;
			}
		}
		if (changed && functions_apply(functions, &fault) != STATUS_OK) {
			say(functions, "%s", fault.text);
		}
	}
	look_for_excess(functions, now_ns);
	go_on(functions, now_ns);
}

/* --- The beginning and the end ---------------------------------------------------------------- */

struct functions *functions_create(const struct functions_setup *setup)
{
	struct functions *functions = calloc(1, sizeof(*functions));

	if (!functions) {
		return NULL;
	}
	functions->setup = *setup;
	calibrate(setup->kernel, functions->costs);
	functions->window_ns = clock_monotonic_ns();
	functions->at_once = 2 * FEW;
	say(functions, "on this machine a call takes %.1f to %.1f us to record",
			(functions->costs[0].entry_ns + functions->costs[0].exit_ns) / 1e3,
			(functions->costs[1].entry_ns + functions->costs[1].exit_ns) / 1e3);
	return functions;
}

void functions_destroy(struct functions *functions)
{
	if (!functions) {
		return;
	}
	for (uint32_t i = 0; i < PROBE_SETS; i++) {
		kernel_unhook(functions->sets[i].hooks);
	}
	for (uint32_t i = 0; i < functions->n_programs; i++) {
		struct program *program = &functions->programs[i];

		binary_close(program->binary);
		free(program->name);
		for (uint32_t k = 0; k < program->n_patterns; k++) {
			free(program->patterns[k].text);
		}
	}
	function_types_release(&functions->types);
	free(functions->targets);
	free(functions->numbers);
	free(functions);
}

void functions_tell(struct functions *functions, void (*tell)(void *context, const char *sentence),
		void *context)
{
	functions->setup.say = tell;
	functions->setup.context = context;
}

const struct function_types *functions_types(const struct functions *functions)
{
	return &functions->types;
}
