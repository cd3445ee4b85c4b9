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
#include "probe/hooks.h"
#include "probe/program.h"

#define INSPECT_NS 1000000000u /* between two checks at a program's file */

__attribute__((format(printf, 2, 3))) void functions_say(
		const struct functions *functions, const char *format, ...)
{
	char text[1024];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	functions->setup.say(functions->setup.context, text);
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
		functions_say(functions,
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
static enum status inspect(struct functions *functions, uint32_t at, struct kernel_fault *fault)
{
	struct program *program = &functions->programs[at];
	struct identity now;
	char path[PATH_MAX];
	uint32_t before = functions->types.n;
	enum status status;

	if (!program_find(program->name, functions->setup.pid, path) || !identify(path, &now)) {
		if (!program->binary && !program->waited_for) {
			functions_say(functions, "%s is not there so far; it is waited for", program->name);
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
	if (binary_unwinds(program->binary)) {
		binary_close(program->binary);
		program->binary = NULL;
		return kernel_refuse(fault, STATUS_INVALID,
				"%s is written in C++, Rust or Go, whose exceptions and stacks do not "
				"survive that a function's return is probed: it would be ended, so its "
				"functions are not recorded",
				program->name);
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
	functions->inspect_ns = 0;
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
	if (!program->binary && inspect(functions, (uint32_t)(program - functions->programs),
						fault) != STATUS_OK) {
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

void functions_step(struct functions *functions, uint64_t now_ns)
{
	struct kernel_fault fault = {.text = ""};
	bool changed = false;

	if (now_ns >= functions->inspect_ns) {
		functions->inspect_ns = now_ns + INSPECT_NS;
		for (uint32_t i = 0; i < functions->n_programs; i++) {
			const struct binary *before = functions->programs[i].binary;
			enum status status = inspect(functions, i, &fault);

			changed = changed || functions->programs[i].binary != before;
			if (status != STATUS_OK && status != STATUS_NOT_FOUND &&
					!functions->programs[i].waited_for) {
				functions_say(functions, "%s", fault.text);
				functions->programs[i].waited_for = true;
			}
		}
		if (changed && functions_apply(functions, &fault) != STATUS_OK) {
			functions_say(functions, "%s", fault.text);
		}
	}
	hooks_step(functions, now_ns);
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
	hooks_init(functions);
	functions_say(functions, "on this machine a call takes %.1f to %.1f us to record",
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
