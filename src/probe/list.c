/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "probe/list.h"

#include <fnmatch.h>
#include <limits.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "probe/binary.h"
#include "probe/functions.h"
#include "probe/kernel.h"
#include "probe/program.h"
#include "probe/seen.h"

#define STEP_MS    20 /* between two readings of stacks */
#define RING_BYTES 4096

__attribute__((format(printf, 1, 2))) static void say(const char *format, ...)
{
	va_list arguments;

	fputs("pythiatop-probe: ", stderr);
	va_start(arguments, format);
	vfprintf(stderr, format, arguments);
	va_end(arguments);
	fputc('\n', stderr);
}

/* --- Which functions threads are in ----------------------------------------------------------- */

static void take_stack(void *context, const struct probe_stack *stack)
{
	seen_add(context, stack);
}

static enum status watch(struct seen *seen, int pid, uint32_t seconds)
{
	const struct kernel_setup setup = {.ring_bytes = RING_BYTES, .some = pid != 0};
	uint64_t until_ns = clock_monotonic_ns() + seconds * UINT64_C(1000000000);
	struct kernel *kernel = NULL;
	struct kernel_fault fault;
	enum status status = kernel_open(&kernel, &setup, &fault);

	if (status == STATUS_OK && pid) {
		status = kernel_join(kernel, pid);
		snprintf(fault.text, sizeof(fault.text), "out of memory");
	}
	if (status == STATUS_OK) {
		status = kernel_sample(kernel, take_stack, seen, &fault);
	}
	while (status == STATUS_OK && clock_monotonic_ns() < until_ns) {
		poll(NULL, 0, STEP_MS);
		kernel_take_stacks(kernel);
	}
	if (status != STATUS_OK) {
		say("%s", fault.text);
	}
	kernel_close(kernel);
	return status;
}

static struct seen *look(const char *path, int pid, uint32_t seconds)
{
	struct seen *seen;

	if (seen_open(&seen, path) != STATUS_OK) {
		say("out of memory");
		return NULL;
	}
	if (watch(seen, pid, seconds) != STATUS_OK) {
		seen_close(seen);
		return NULL;
	}
	say("%u stacks of %s had %u of its functions on them", seen_stacks(seen), path,
			seen_functions(seen));
	return seen;
}

/* --- The list --------------------------------------------------------------------------------- */

static void print_text(const char *text)
{
	for (; *text; text++) {
		putchar((unsigned char)*text < ' ' || *text == 0x7f ? '?' : *text);
	}
}

static void print_arguments(const struct binary *binary, const struct binary_function *function)
{
	static const char *const kinds[] = {
			[BINARY_SIGNED] = "int",
			[BINARY_UNSIGNED] = "unsigned",
			[BINARY_POINTER] = "pointer",
			[BINARY_TEXT] = "string",
	};
	struct binary_arguments arguments;

	binary_arguments(binary, function, &arguments);
	if (!arguments.known) {
		return;
	}
	fputs("  (", stdout);
	for (uint32_t i = 0; i < arguments.n; i++) {
		printf("%s%s %s", i ? ", " : "", kinds[arguments.list[i].kind],
				arguments.list[i].name);
	}
	printf(")%s%s", arguments.returns ? " -> " : "",
			arguments.returns ? kinds[arguments.result.kind] : "");
}

/* How many were listed. */
static uint32_t print_functions(
		const struct binary *binary, const char *pattern, const struct seen *seen)
{
	uint32_t n, n_listed = 0;
	const struct binary_function *list = binary_functions(binary, &n);

	for (uint32_t i = 0; i < n; i++) {
		uint32_t times = seen ? seen_times(seen, list[i].offset) : 0;

		if (fnmatch(pattern, list[i].name, 0) != 0 || (seen && times == 0)) {
			continue;
		}
		printf("0x%08llx ", (unsigned long long)list[i].offset);
		print_text(list[i].name);
		if (n_listed++ < FUNCTIONS_ARGUMENTS) {
			print_arguments(binary, &list[i]);
		}
		if (seen) {
			printf("  %u", times);
		}
		putchar('\n');
	}
	return n_listed;
}

static const char *why_none(const struct binary *binary, const struct seen *seen)
{
	uint32_t n;

	binary_functions(binary, &n);
	return n == 0 ? "has no symbols: it was stripped, and there is no separate debug file; "
			"functions can be given by their place in the file, as 0xOFFSET"
	       : seen ? "was in no function of that name: give it more time, or more to do"
		      : "has no function of that name";
}

int list_functions(const char *what, int pid, uint32_t seen_s)
{
	const char *colon = strchr(what, ':'), *pattern = colon ? colon + 1 : "*";
	char name[PATH_MAX], path[PATH_MAX];
	struct binary *binary = NULL;
	struct seen *seen = NULL;
	uint32_t n = 0;

	snprintf(name, sizeof(name), "%.*s", colon ? (int)(colon - what) : (int)strlen(what), what);
	if (!program_find(name, pid, path)) {
		say("there is no program %s: give its path, or the name of one that runs or is in "
		    "the PATH",
				name);
		return 1;
	}
	if (binary_open(&binary, path) != STATUS_OK) {
		say("%s is no program of this machine that can be read", path);
		return 1;
	}
	if (seen_s > 0) {
		seen = look(path, pid, seen_s);
	}
	if (seen_s == 0 || seen) {
		n = print_functions(binary, pattern, seen);
		if (n == 0) {
			say("%s %s", path, why_none(binary, seen));
		}
	}
	seen_close(seen);
	binary_close(binary);
	return n == 0;
}
