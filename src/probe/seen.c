/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "probe/seen.h"

#include <stdlib.h>

#include "probe/binary.h"

struct seen {
	struct binary *binary;
	uint64_t code_offset, code_bytes;
	const struct binary_function *functions;
	uint32_t n, n_seen, n_stacks, n_added;
	struct {
		uint32_t times, last; /* the number of the last stack that it was on, from 1 on */
	} * counts;                   /* of each function */
};

enum status seen_open(struct seen **out, const char *path)
{
	struct seen *seen = calloc(1, sizeof(*seen));
	enum status status = seen ? binary_open(&seen->binary, path) : STATUS_NO_MEMORY;

	*out = NULL;
	if (status == STATUS_OK) {
		binary_code(seen->binary, &seen->code_offset, &seen->code_bytes);
		seen->functions = binary_functions(seen->binary, &seen->n);
		seen->counts = calloc(seen->n ? seen->n : 1, sizeof(*seen->counts));
		status = seen->counts ? STATUS_OK : STATUS_NO_MEMORY;
	}
	if (status != STATUS_OK) {
		seen_close(seen);
		return status;
	}
	*out = seen;
	return STATUS_OK;
}

void seen_close(struct seen *seen)
{
	if (!seen) {
		return;
	}
	binary_close(seen->binary);
	free(seen->counts);
	free(seen);
}

/* The last one that begins at `offset` or before; n: none. */
static uint32_t find(const struct seen *seen, uint64_t offset)
{
	uint32_t low = 0, high = seen->n;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (seen->functions[middle].offset <= offset) {
			low = middle + 1;
		} else {
			high = middle;
		}
	}
	return low > 0 ? low - 1 : seen->n;
}

static bool mark(struct seen *seen, uint64_t offset)
{
	uint32_t at = offset - seen->code_offset < seen->code_bytes ? find(seen, offset) : seen->n;

	if (at == seen->n) {
		return false; /* not in the code, or before the first function */
	}
	seen->n_seen += seen->counts[at].times == 0;
	seen->counts[at].times += seen->counts[at].last != seen->n_added;
	seen->counts[at].last = seen->n_added;
	return true;
}

void seen_add(struct seen *seen, const struct probe_stack *stack)
{
	uint64_t base = seen->code_offset - stack->text_begins; /* may wrap: the sums do, too */
	bool found;

	if (stack->text_ends - stack->text_begins != seen->code_bytes) {
		return;
	}
	seen->n_added++;
	found = stack->at && mark(seen, stack->at + base);
	for (uint32_t i = 0; i < stack->n && i < PROBE_STACK_RETURN; i++) {
		uint64_t offset = stack->returns[i] + base;

		/* A call may be the last of its function: what it returns to is behind. */
		found |= binary_is_return(seen->binary, offset) && mark(seen, offset - 1);
	}
	seen->n_stacks += found;
}

uint32_t seen_stacks(const struct seen *seen)
{
	return seen->n_stacks;
}

uint32_t seen_functions(const struct seen *seen)
{
	return seen->n_seen;
}

static int by_times(const void *x, const void *y)
{
	uint32_t a = *(const uint32_t *)x, b = *(const uint32_t *)y;

	return (a < b) - (a > b);
}

uint32_t seen_least(const struct seen *seen, uint32_t most)
{
	uint32_t *times = calloc(seen->n ? seen->n : 1, sizeof(*times)), least = 1;

	for (uint32_t i = 0; times && i < seen->n; i++) {
		times[i] = seen->counts[i].times;
	}
	if (times && most > 0 && most < seen->n_seen) {
		qsort(times, seen->n, sizeof(*times), by_times);
		least = times[most - 1];
		/* Of those that are on as many none, where there are others. */
		least += times[most] == least && times[0] > least;
	}
	free(times);
	return least;
}

uint32_t seen_times(const struct seen *seen, uint64_t offset)
{
	uint32_t at = find(seen, offset);

	return at < seen->n && seen->functions[at].offset == offset ? seen->counts[at].times : 0;
}
