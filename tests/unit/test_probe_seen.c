/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Functions that are seen on stacks: of this program, with its own stack, as the kernel tells one.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "probe/binary.h"
#include "probe/seen.h"

/* Functions with names in the symbol table, whatever a compiler thinks of them. */
#define KEPT __attribute__((noinline, no_sanitize("address", "undefined")))
KEPT int innermost(void);
KEPT int called_directly(int add);
KEPT int called_by_pointer(int (*call)(int), int add);
KEPT int never_called(int add);

static struct probe_stack stack;
static volatile int one = 1; /* that compilers do not know */

/* Where the code of this program begins and ends, as execve() has it. */
static void read_code(struct probe_stack *of)
{
	FILE *file = fopen("/proc/self/stat", "re");
	unsigned long begins = 0, ends = 0;
	char text[4096] = "", *rest;

	assert_non_null(file);
	assert_non_null(fgets(text, sizeof(text), file));
	fclose(file);
	rest = strrchr(text, ')');
	for (int field = 3; rest && field <= 26; field++) {
		rest = strchr(rest + 1, ' ');
	}
	assert_non_null(rest);
	assert_int_equal(sscanf(rest, "%lu %lu", &begins, &ends), 2);
	of->text_begins = begins;
	of->text_ends = ends;
}

/* Its callers, by the words on the stack from here on, as the kernel's program looks for them. */
int innermost(void)
{
	uintptr_t sp;

	__asm__ volatile("mov %%rsp, %0" : "=r"(sp));
	stack.n = 0;
	for (int i = 0; i < 128; i++) {
		uint64_t value = ((const volatile uint64_t *)sp)[i];

		if (value > stack.text_begins && value < stack.text_ends &&
				stack.n < PROBE_STACK_RETURN) {
			stack.returns[stack.n++] = value;
		}
	}
	stack.at = (uint64_t)(uintptr_t)innermost + 1;
	return one - 1;
}

int called_directly(int add)
{
	return innermost() + add;
}

int called_by_pointer(int (*call)(int), int add)
{
	return call(add) + 1;
}

int never_called(int add)
{
	return add + 2;
}

static uint64_t offset_of(const char *name)
{
	struct binary *binary;
	const struct binary_function *list;
	uint64_t offset = 0;
	uint32_t n;

	assert_int_equal(binary_open(&binary, "/proc/self/exe"), STATUS_OK);
	list = binary_functions(binary, &n);
	for (uint32_t i = 0; i < n; i++) {
		offset = strcmp(list[i].name, name) == 0 ? list[i].offset : offset;
	}
	binary_close(binary);
	assert_true(offset > 0);
	return offset;
}

static struct seen *look(void)
{
	struct seen *seen;

	assert_int_equal(seen_open(&seen, "/proc/self/exe"), STATUS_OK);
	read_code(&stack);
	assert_int_equal(called_by_pointer(called_directly, one), 2);
	return seen;
}

static void callers_are_seen(void **state)
{
	struct seen *seen = look();

	(void)state;
	seen_add(seen, &stack);
	assert_int_equal(seen_stacks(seen), 1);
	assert_int_equal(seen_times(seen, offset_of("innermost")), 1);
	assert_int_equal(seen_times(seen, offset_of("called_directly")), 1);
	assert_int_equal(seen_times(seen, offset_of("called_by_pointer")), 1);
	assert_int_equal(seen_times(seen, offset_of("never_called")), 0);
	/* Once a stack, however often it is on it. */
	for (uint32_t i = 0, n = stack.n; i < n && stack.n < PROBE_STACK_RETURN; i++) {
		stack.returns[stack.n++] = stack.returns[i];
	}
	seen_add(seen, &stack);
	assert_int_equal(seen_stacks(seen), 2);
	assert_int_equal(seen_times(seen, offset_of("called_directly")), 2);
	assert_int_equal(seen_least(seen, 1), 2);
	assert_int_equal(seen_least(seen, 2), 2);
	assert_int_equal(seen_least(seen, seen_functions(seen)), 1);
	/* What is within a function is none. */
	assert_int_equal(seen_times(seen, offset_of("innermost") + 1), 0);
	seen_close(seen);
}

/* A pointer to a function, as tables and callbacks leave them on stacks, is no place to return to.
 */
static void pointers_to_functions_are_none(void **state)
{
	struct seen *seen = look();

	(void)state;
	stack.at = 0;
	stack.n = 2;
	stack.returns[0] = (uint64_t)(uintptr_t)never_called;
	stack.returns[1] = (uint64_t)(uintptr_t)called_directly;
	seen_add(seen, &stack);
	assert_int_equal(seen_functions(seen), 0);
	assert_int_equal(seen_stacks(seen), 0);
	seen_close(seen);
}

static void other_programs_are_left_out(void **state)
{
	struct seen *seen = look();

	(void)state;
	stack.text_ends += 16;
	seen_add(seen, &stack);
	assert_int_equal(seen_functions(seen), 0);
	assert_int_equal(seen_stacks(seen), 0);
	seen_close(seen);
}

/* Whatever a stack holds, and how much it says it does. */
static void nothing_is_taken_for_granted(void **state)
{
	struct seen *seen = look();
	uint64_t code = stack.text_ends - stack.text_begins;

	(void)state;
	srand48(7);
	for (int i = 0; i < 100000; i++) {
		stack.at = stack.text_begins + (uint64_t)(drand48() * (double)code * 3) - code;
		stack.n = i % 3 == 0 ? UINT32_MAX : 5;
		for (uint32_t k = 0; k < PROBE_STACK_RETURN; k++) {
			stack.returns[k] = (uint64_t)mrand48() << (i % 48);
		}
		seen_add(seen, &stack);
	}
	/* A third of the places are in the code, and nearly all of these in a function. */
	assert_in_range(seen_stacks(seen), 30000, 40000);
	assert_in_range(seen_times(seen, offset_of("innermost")), 0, seen_stacks(seen));
	seen_close(seen);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
			cmocka_unit_test(callers_are_seen),
			cmocka_unit_test(pointers_to_functions_are_none),
			cmocka_unit_test(other_programs_are_left_out),
			cmocka_unit_test(nothing_is_taken_for_granted),
	};

	return cmocka_run_group_tests_name("seen", tests, NULL, NULL);
}
