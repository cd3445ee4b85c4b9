/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PT_PROBE_KERNEL_PARTS_H
#define PT_PROBE_KERNEL_PARTS_H

#include "probe/kernel.h"
#include "probe_bpf.skel.h"

/*
 * What the files with libbpf share: kernel.c, kernel_functions.c, kernel_pace.c, kernel_stacks.c.
 */

/* Those of events.def, then those of system calls. */
enum kernel_event_index {
#define EVENT(event, point, kernel, fields) EVENT_##event,
#include "probe/events.def"
#undef EVENT
	SYS_ENTER,
	SYS_EXIT,
	N_EVENTS
};

#define UPROBE_MULTI 48 /* enum bpf_attach_type, of kernels since 6.6 */

struct kernel {
	struct probe_bpf *skeleton;
	struct bpf_link *links[N_EVENTS];           /* NULL: not attached */
	struct bpf_link *beside[N_EVENTS];          /* of the second program of some */
	struct bpf_link *follow_fork, *follow_free; /* where only some processes are recorded */
	struct sampling *sampling;                  /* NULL: stacks are not looked at */
	uint32_t n_syscalls;                        /* that are chosen */
	bool takes_many;
	struct cpu_ring *rings;
	uint32_t *cpus;
	uint32_t n_rings;
	int statistics; /* while it is open, the kernel measures how long programs run; -1: not */
	uint64_t elsewhere; /* dropped by CPUs without a ring, and by running programs */
};

/* One program, to where its section says. */
enum status kernel_attach(
		struct bpf_program *program, struct bpf_link **link, struct kernel_fault *fault);
/* All events; none of them is attached so far. */
enum status kernel_attach_all(struct kernel *kernel, struct kernel_fault *fault);
void kernel_detach_all(struct kernel *kernel);
void kernel_set_state(struct kernel *kernel, enum probe_state state);

/* What the kernel tells of the programs, summed up over all of them. */
uint64_t kernel_sum(
		const struct kernel *kernel, uint64_t (*read)(const struct bpf_prog_info *info));

/* What libbpf said before explains nothing from here on. */
void kernel_hear_anew(void);
/* Why something failed: by its error number, and by what libbpf said since. */
enum status kernel_explain(int error, const char *doing, struct kernel_fault *fault);

#endif
