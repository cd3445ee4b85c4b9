/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <string.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "base/clock.h"
#include "probe/kernel_parts.h"

/* Pauses of all kernel events, and what they cost meanwhile. */

void kernel_measure(struct kernel *kernel)
{
	kernel->statistics = bpf_enable_stats(BPF_STATS_RUN_TIME);
	kernel->skeleton->bss->counts_busy = true;
}

void kernel_stop_measuring(struct kernel *kernel)
{
	if (kernel->statistics >= 0) {
		close(kernel->statistics);
		kernel->statistics = -1;
	}
}

void kernel_pause(struct kernel *kernel)
{
	kernel_set_state(kernel, PROBE_PAUSED); /* all at once */
	kernel_detach_all(kernel);
}

enum status kernel_resume(struct kernel *kernel, struct kernel_fault *fault)
{
	struct probe_bpf__bss *bss = kernel->skeleton->bss;
	enum status status;

	/* Who runs now is not known, nor who waits for it. */
	memset(bss->runs, 0, sizeof(bss->runs));
	memset(bss->n_queued, 0, sizeof(bss->n_queued));
	memset(bss->told_other, 0, sizeof(bss->told_other));
	bss->pauses++;
	for (uint32_t cpu = 0; cpu < PROBE_CPUS; cpu++) {
		bss->busy[cpu].since_ns = 0;
	}
	status = kernel_attach_all(kernel, fault);
	if (status != STATUS_OK) {
		kernel_detach_all(kernel);
	}
	return status;
}

uint64_t kernel_busy_ns(const struct kernel *kernel)
{
	const struct probe_busy *busy = kernel->skeleton->bss->busy;
	uint64_t now_ns = clock_monotonic_ns(), sum = 0;

	for (uint32_t cpu = 0; cpu < PROBE_CPUS; cpu++) {
		uint64_t since_ns = __atomic_load_n(&busy[cpu].since_ns, __ATOMIC_RELAXED);

		sum += __atomic_load_n(&busy[cpu].ns, __ATOMIC_RELAXED);
		sum += since_ns && now_ns > since_ns ? now_ns - since_ns : 0;
	}
	return sum;
}

/* Where it is not measured: what was recorded costs by the byte, as it was measured elsewhere. */
#define NS_PER_BYTE 5u

static uint64_t guess_run_ns(const struct kernel *kernel)
{
	uint64_t bytes = 0;

	for (uint32_t i = 0; i < kernel->n_rings; i++) {
		bytes += cpu_ring_written(&kernel->rings[i]);
	}
	return bytes * NS_PER_BYTE;
}

static uint64_t run_ns(const struct bpf_prog_info *info)
{
	return info->run_time_ns;
}

uint64_t kernel_run_ns(const struct kernel *kernel)
{
	return kernel->statistics < 0 ? guess_run_ns(kernel) : kernel_sum(kernel, run_ns);
}
