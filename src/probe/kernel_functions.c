/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <errno.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "base/array.h"
#include "probe/closer.h"
#include "probe/kernel_parts.h"

/* Functions of programs: their probes, and what the kernel summed up of their calls. */

#define UPROBE_MULTI_EXITS 1u
#define ENOTSUPP           524 /* of the kernel alone: no header for programs has it */

struct kernel_hooks {
	int fd;                  /* of all; -1: one by one */
	uint32_t n;              /* of those */
	struct bpf_link *list[]; /* each its own */
};

bool kernel_takes_many(const struct kernel *kernel)
{
	return kernel->takes_many;
}

/* What bpf(2) is given, as linux/bpf.h of 6.6 has it. */
struct many {
	__u32 program, target, attach_type, flags;
	__u64 path, offsets, counters, cookies;
	__u32 n, kind, pid, padding;
};

static int hook_many(const struct bpf_program *program, const char *path, const uint64_t *offsets,
		const uint64_t *cookies, uint32_t n, bool exits, int pid)
{
	struct many many = {.program = (__u32)bpf_program__fd(program),
			.attach_type = UPROBE_MULTI,
			.path = (__u64)(uintptr_t)path,
			.offsets = (__u64)(uintptr_t)offsets,
			.cookies = (__u64)(uintptr_t)cookies,
			.n = n,
			.kind = exits ? UPROBE_MULTI_EXITS : 0,
			.pid = (__u32)pid};

	return (int)syscall(SYS_bpf, BPF_LINK_CREATE, &many, sizeof(many));
}

static int hook_each(struct kernel_hooks *hooks, const struct bpf_program *program,
		const char *path, const uint64_t *offsets, const uint64_t *cookies, uint32_t n,
		bool exits, int pid)
{
	for (; hooks->n < n; hooks->n++) {
		const struct bpf_uprobe_opts options = {.sz = sizeof(options),
				.bpf_cookie = cookies[hooks->n],
				.retprobe = exits};
		struct bpf_link *link = bpf_program__attach_uprobe_opts(
				program, pid ? pid : -1, path, offsets[hooks->n], &options);

		if (libbpf_get_error(link)) {
			errno = (int)-libbpf_get_error(link);
			return -1;
		}
		hooks->list[hooks->n] = link;
	}
	return 0;
}

enum status kernel_hook(struct kernel *kernel, const char *path, const uint64_t *offsets,
		const uint64_t *cookies, uint32_t n, bool exits, int pid, struct kernel_hooks **out,
		struct kernel_fault *fault)
{
	const struct bpf_program *program = exits ? kernel->skeleton->progs.on_function_exit
						  : kernel->skeleton->progs.on_function_entry;
	size_t n_links = kernel->takes_many ? 0 : n;
	struct kernel_hooks *hooks;
	int failed;

	*out = NULL;
	hooks = calloc(1, sizeof(*hooks) + n_links * sizeof(struct bpf_link *));
	if (!hooks) {
		return kernel_refuse(fault, STATUS_NO_MEMORY, "out of memory");
	}
	hooks->fd = -1;
	kernel_hear_anew();
	if (kernel->takes_many) {
		failed = hooks->fd = hook_many(program, path, offsets, cookies, n, exits, pid);
	} else {
		failed = hook_each(hooks, program, path, offsets, cookies, n, exits, pid);
	}
	if (failed < 0) {
		int error = errno;

		kernel_unhook(hooks);
		if (error == ENOTSUPP) {
			return kernel_refuse(fault, STATUS_INVALID,
					"the kernel puts no probe on its first instruction");
		}
		return kernel_explain(error, "put probes into a program", fault);
	}
	*out = hooks;
	return STATUS_OK;
}

void kernel_unhook(struct kernel_hooks *hooks)
{
	if (!hooks) {
		return;
	}
	if (hooks->fd >= 0) {
		closer_close(hooks->fd);
	}
	for (uint32_t i = 0; i < hooks->n; i++) {
		bpf_link__destroy(hooks->list[i]);
	}
	free(hooks);
}

void kernel_use_set(struct kernel *kernel, uint32_t set, enum probe_set how)
{
	__atomic_store_n(&kernel->skeleton->bss->sets[set], (unsigned char)how, __ATOMIC_RELEASE);
}

void kernel_want_hook(struct kernel *kernel, uint32_t hook, bool on)
{
	__atomic_store_n(&kernel->skeleton->bss->unwanted[hook], !on, __ATOMIC_RELEASE);
}

uint64_t kernel_hits(const struct kernel *kernel, uint32_t hook)
{
	return __atomic_load_n(&kernel->skeleton->bss->hits[hook], __ATOMIC_RELAXED);
}

void kernel_within(struct kernel *kernel, uint32_t n)
{
	kernel->skeleton->bss->one_in = n;
}

void kernel_forget_calls(struct kernel *kernel)
{
	int map = bpf_map__fd(kernel->skeleton->maps.stacks);
	uint64_t thread;

	while (bpf_map_get_next_key(map, NULL, &thread) == 0 &&
			bpf_map_delete_elem(map, &thread) == 0) {
	}
}

static void add_sum(struct probe_sum *sum, const struct probe_sum *part)
{
	if (part->count == 0) {
		return;
	}
	sum->min_ns = sum->count == 0 || part->min_ns < sum->min_ns ? part->min_ns : sum->min_ns;
	sum->max_ns = part->max_ns > sum->max_ns ? part->max_ns : sum->max_ns;
	sum->count += part->count;
	sum->sum_ns += part->sum_ns;
	sum->squares += part->squares;
	for (int i = 0; i < PROBE_BUCKETS; i++) {
		sum->buckets[i] += part->buckets[i];
	}
}

bool kernel_take_sums(struct kernel *kernel,
		void (*take)(void *context, const struct body_summary *summary), void *context)
{
	const struct bpf_map *idle = kernel->skeleton->bss->adds_to_other
						     ? kernel->skeleton->maps.sums
						     : kernel->skeleton->maps.other_sums;
	int map = bpf_map__fd(idle), n_cpus = libbpf_num_possible_cpus();
	struct probe_sum *parts = calloc(n_cpus > 0 ? (size_t)n_cpus : 1, sizeof(*parts));
	struct probe_call *calls = NULL, call, *last = NULL;
	uint32_t n = 0, room = 0;
	bool fits = parts != NULL;

	while (fits && bpf_map_get_next_key(map, last, &call) == 0) {
		fits = array_reserve(&calls, &room, n + 1);
		if (fits) {
			calls[n++] = call;
			last = &calls[n - 1];
		}
	}
	for (uint32_t i = 0; fits && i < n; i++) {
		struct body_summary summary = {.call = calls[i]};

		if (bpf_map_lookup_elem(map, &calls[i], parts) != 0) {
			continue;
		}
		bpf_map_delete_elem(map, &calls[i]);
		for (int cpu = 0; cpu < n_cpus; cpu++) {
			add_sum(&summary.sum, &parts[cpu]);
		}
		if (summary.sum.count > 0) {
			take(context, &summary);
		}
	}
	free(calls);
	free(parts);
	kernel->skeleton->bss->adds_to_other = !kernel->skeleton->bss->adds_to_other;
	return fits;
}
