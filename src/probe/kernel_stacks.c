/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <errno.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <linux/perf_event.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "probe/kernel_parts.h"

/* Stacks of threads, now and then: by a timer of each CPU, and at system calls. */

#define FREQUENCY    999 /* a second; 1,000 would be in step with whatever happens each ms */
#define TASK_PT_REGS 175 /* enum bpf_func_id; since 5.15 */

struct sampling {
	void (*take)(void *context, const struct probe_stack *stack);
	void *context;
	struct ring_buffer *ring;
	struct bpf_link *calls;
	uint32_t n_timers;
	struct bpf_link *timers[]; /* of CPUs, each with its perf event */
};

static enum status add_timer(struct kernel *kernel, uint32_t cpu, struct kernel_fault *fault)
{
	struct sampling *sampling = kernel->sampling;
	struct perf_event_attr timer = {.type = PERF_TYPE_SOFTWARE,
			.size = sizeof(timer),
			.config = PERF_COUNT_SW_CPU_CLOCK,
			.sample_freq = FREQUENCY,
			.freq = 1,
			.exclude_idle = 1};
	int fd = (int)syscall(SYS_perf_event_open, &timer, -1, (int)cpu, -1, PERF_FLAG_FD_CLOEXEC);
	struct bpf_link *link;
	int error;

	if (fd < 0) {
		return errno == ENODEV /* the CPU has gone */
				       ? STATUS_OK
				       : kernel_explain(errno, "open a timer of perf", fault);
	}
	link = bpf_program__attach_perf_event(kernel->skeleton->progs.sample_cpu, fd);
	error = (int)-libbpf_get_error(link);
	if (error) {
		close(fd);
		return kernel_explain(error, "attach BPF programs", fault);
	}
	sampling->timers[sampling->n_timers++] = link;
	return STATUS_OK;
}

static int take_stack(void *context, void *stack, size_t bytes)
{
	const struct sampling *sampling = context;

	if (bytes >= sizeof(struct probe_stack)) {
		sampling->take(sampling->context, stack);
	}
	return 0;
}

static enum status begin(struct kernel *kernel, struct kernel_fault *fault)
{
	struct sampling *sampling = kernel->sampling;
	enum status status;

	sampling->ring = ring_buffer__new(
			bpf_map__fd(kernel->skeleton->maps.sampled), take_stack, sampling, NULL);
	if (!sampling->ring) {
		return kernel_explain(errno, "map a BPF ring buffer", fault);
	}
	status = kernel_attach(kernel->skeleton->progs.sample_call, &sampling->calls, fault);
	for (uint32_t i = 0; status == STATUS_OK && i < kernel->n_rings; i++) {
		status = add_timer(kernel, kernel->cpus[i], fault);
	}
	return status;
}

enum status kernel_sample(struct kernel *kernel,
		void (*take)(void *context, const struct probe_stack *stack), void *context,
		struct kernel_fault *fault)
{
	enum status status;

	if (libbpf_probe_bpf_helper(BPF_PROG_TYPE_PERF_EVENT, TASK_PT_REGS, NULL) != 1) {
		return kernel_refuse(fault, STATUS_NOT_FOUND,
				"this kernel does not tell the registers of a thread that a timer "
				"stops; Linux 5.15 and later do");
	}
	kernel_stop_sampling(kernel);
	kernel->sampling = calloc(
			1, sizeof(*kernel->sampling) + kernel->n_rings * sizeof(struct bpf_link *));
	if (!kernel->sampling) {
		return kernel_refuse(fault, STATUS_NO_MEMORY, "out of memory");
	}
	kernel->sampling->take = take;
	kernel->sampling->context = context;
	kernel_hear_anew();
	status = begin(kernel, fault);
	if (status != STATUS_OK) {
		kernel_stop_sampling(kernel);
	}
	return status;
}

void kernel_take_stacks(struct kernel *kernel)
{
	if (kernel->sampling) {
		ring_buffer__consume(kernel->sampling->ring);
	}
}

void kernel_stop_sampling(struct kernel *kernel)
{
	struct sampling *sampling = kernel->sampling;

	if (!sampling) {
		return;
	}
	for (uint32_t i = 0; i < sampling->n_timers; i++) {
		bpf_link__destroy(sampling->timers[i]);
	}
	bpf_link__destroy(sampling->calls);
	ring_buffer__free(sampling->ring);
	free(sampling);
	kernel->sampling = NULL;
}

bool kernel_samples(const struct kernel *kernel)
{
	return kernel->sampling != NULL;
}
