/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "probe/calibrate.h"

#include <inttypes.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"

#define ROUNDS 5
#define CALLS  500
#define OWN    "/proc/self/exe"
#define SET    (PROBE_SETS - 1u)      /* nobody else's: nothing is attached so far */
#define NUMBER (PROBE_FUNCTIONS - 1u) /* as well */

/*
 * What a probe costs depends on the instruction that it replaces: a push is emulated, most others
 * are stepped through, which traps twice.
 */
#define OWN_FUNCTION(name, first)                                                                  \
	void name(void);                                                                           \
	__asm__(".pushsection .text\n"                                                             \
		".type " #name ", @function\n" #name ":\n"                                         \
		"	" first "\n"                                                               \
		"	mov %rsp, %rbp\n"                                                                \
		"	pop %rbp\n"                                                                      \
		"	ret\n"                                                                           \
		".size " #name ", . - " #name "\n"                                                 \
		".popsection\n")

OWN_FUNCTION(own_pushing, "push %rbp");
OWN_FUNCTION(own_stepped, "lea -8(%rsp), %rsp\n	mov %rbp, (%rsp)");

/* Where the function stands in our file. */
static bool own_offset(void (*function)(void), uint64_t *offset)
{
	uint64_t address = (uint64_t)(uintptr_t)function, begin, end, from;
	FILE *file = fopen("/proc/self/maps", "re");
	bool found = false;
	char line[512];

	while (file && !found && fgets(line, sizeof(line), file)) {
		found = sscanf(line, "%" SCNx64 "-%" SCNx64 " %*s %" SCNx64, &begin, &end, &from) ==
					3 &&
			address >= begin && address < end;
	}
	if (file) {
		fclose(file);
	}
	*offset = found ? address - begin + from : 0;
	return found;
}

/* The shortest of a few rounds, a call. */
static double call_ns(void (*function)(void))
{
	double least_ns = 0;

	for (int round = 0; round < ROUNDS; round++) {
		uint64_t begin_ns = clock_monotonic_ns();
		double ns;

		for (int i = 0; i < CALLS; i++) {
			function();
		}
		ns = (double)(clock_monotonic_ns() - begin_ns) / CALLS;
		least_ns = round == 0 || ns < least_ns ? ns : least_ns;
	}
	return least_ns;
}

static bool hook(struct kernel *kernel, uint64_t offset, bool exit, struct kernel_hooks **hooks)
{
	uint64_t cookie = PROBE_COOKIE(2 * NUMBER + exit, SET, PROBE_COOKIE_OWN);
	struct kernel_fault fault;

	return kernel_hook(kernel, OWN, &offset, &cookie, 1, exit, getpid(), hooks, &fault) ==
	       STATUS_OK;
}

static void measure(struct kernel *kernel, void (*function)(void), struct calibrate_cost *cost)
{
	struct kernel_hooks *entry = NULL, *exit = NULL;
	double without_ns = call_ns(function), ns;
	uint64_t offset;

	*cost = (struct calibrate_cost){0, 0};
	if (!own_offset(function, &offset)) {
		return;
	}
	if (hook(kernel, offset, false, &entry)) {
		ns = call_ns(function) - without_ns;
		cost->entry_ns = ns > 0 ? ns : 0;
		if (hook(kernel, offset, true, &exit)) {
			ns = call_ns(function) - without_ns - cost->entry_ns;
			cost->exit_ns = ns > 0 ? ns : 0;
		}
	}
	kernel_unhook(exit);
	kernel_unhook(entry);
}

void calibrate(struct kernel *kernel, struct calibrate_cost costs[2])
{
	kernel_use_set(kernel, SET, PROBE_SET_RECORDS);
	measure(kernel, own_pushing, &costs[0]);
	measure(kernel, own_stepped, &costs[1]);
	kernel_use_set(kernel, SET, PROBE_SET_OFF);
}
