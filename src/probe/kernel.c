/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "probe/kernel.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>

#include "probe/type.h"
#include "probe_bpf.skel.h"

#define ONLINE     "/sys/devices/system/cpu/online"
#define KERNEL_BTF "/sys/kernel/btf/vmlinux"

static struct kernel_event events[] = {
#define EVENT(event, point, kernel, fields) {#event, #point, kernel, false},
#include "probe/events.def"
#undef EVENT
		{"syscall_entry_*", "sys_enter", "5.8", false},
		{"syscall_exit_*", "sys_exit", "5.8", false},
};
#define N_EVENTS (sizeof(events) / sizeof(events[0]))

struct kernel {
	struct probe_bpf *skeleton;
	struct cpu_ring *rings;
	uint32_t *cpus;
	uint32_t n_rings;
	uint64_t elsewhere; /* dropped by CPUs without a ring, and by running programs */
};

/* What libbpf said last: it explains a failure better than a number. */
static char said[256];

__attribute__((format(printf, 2, 0))) static int hear(
		enum libbpf_print_level level, const char *format, va_list arguments)
{
	if (level == LIBBPF_WARN && said[0] == '\0' && !strstr(format, "MEMLOCK")) {
		vsnprintf(said, sizeof(said), format, arguments);
		said[strcspn(said, "\n")] = '\0';
	}
	return 0;
}

__attribute__((format(printf, 3, 4))) static enum status fail(
		struct kernel_fault *fault, enum status status, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(fault->text, sizeof(fault->text), format, arguments);
	va_end(arguments);
	return status;
}

/* --- What the kernel has ---------------------------------------------------------------------- */

const struct kernel_event *kernel_events(uint32_t *n)
{
	struct btf *btf;
	char name[128];

	libbpf_set_print(hear);
	btf = btf__load_vmlinux_btf();
	*n = N_EVENTS;
	if (!btf) {
		return NULL;
	}
	for (uint32_t i = 0; i < N_EVENTS; i++) {
		snprintf(name, sizeof(name), "btf_trace_%s", events[i].tracepoint);
		events[i].present = btf__find_by_name_kind(btf, name, BTF_KIND_TYPEDEF) > 0;
	}
	btf__free(btf);
	return events;
}

/* Programs of tracepoints that this kernel lacks are left out: loading would fail as a whole. */
static enum status choose(struct kernel *kernel, struct kernel_fault *fault)
{
	struct bpf_program *program;
	uint32_t n;

	if (!kernel_events(&n)) {
		return fail(fault, STATUS_NOT_FOUND,
				"this kernel does not describe itself (" KERNEL_BTF
				"): it has to be built with CONFIG_DEBUG_INFO_BTF");
	}
	bpf_object__for_each_program(program, kernel->skeleton->obj)
	{
		const char *section = strchr(bpf_program__section_name(program), '/');

		for (uint32_t i = 0; section && i < n; i++) {
			if (strcmp(section + 1, events[i].tracepoint) == 0) {
				bpf_program__set_autoload(program, events[i].present);
			}
		}
	}
	return STATUS_OK;
}

/* --- Rings ------------------------------------------------------------------------------------ */

/* Calls of "0-3,5" the numbers. Returns how many; stores at most `room`. */
static uint32_t parse_list(const char *text, uint32_t *numbers, uint32_t room)
{
	uint32_t n = 0;

	while (*text >= '0' && *text <= '9') {
		char *end;
		unsigned long first = strtoul(text, &end, 10), last = first;

		if (*end == '-') {
			last = strtoul(end + 1, &end, 10);
		}
		for (; first <= last && n < room; first++) {
			numbers[n++] = (uint32_t)first;
		}
		text = *end == ',' ? end + 1 : end;
	}
	return n;
}

static uint32_t online_cpus(uint32_t *cpus, uint32_t room)
{
	FILE *file = fopen(ONLINE, "re");
	char line[4096] = "";
	uint32_t n;

	if (!file || !fgets(line, sizeof(line), file)) {
		line[0] = '\0';
	}
	if (file) {
		fclose(file);
	}
	n = parse_list(line, cpus, room);
	if (n == 0) {
		cpus[n++] = 0;
	}
	return n;
}

static enum status make_ring(struct kernel *kernel, uint32_t at, size_t bytes)
{
	int fd = bpf_map_create(BPF_MAP_TYPE_RINGBUF, NULL, 0, 0, (uint32_t)bytes, NULL);
	int rings = bpf_map__fd(kernel->skeleton->maps.rings);
	enum status status = STATUS_IO;

	if (fd >= 0 && bpf_map_update_elem(rings, &kernel->cpus[at], &fd, BPF_ANY) == 0) {
		status = cpu_ring_init(&kernel->rings[at], fd, bytes);
	}
	if (fd >= 0) {
		int error = errno;

		close(fd); /* the map of rings keeps it */
		errno = error;
	}
	return status;
}

static enum status make_rings(struct kernel *kernel, size_t bytes, struct kernel_fault *fault)
{
	kernel->cpus = calloc(PROBE_CPUS, sizeof(*kernel->cpus));
	kernel->rings = calloc(PROBE_CPUS, sizeof(*kernel->rings));
	if (!kernel->cpus || !kernel->rings) {
		return fail(fault, STATUS_NO_MEMORY, "out of memory");
	}
	kernel->n_rings = online_cpus(kernel->cpus, PROBE_CPUS);
	for (uint32_t i = 0; i < kernel->n_rings; i++) {
		if (make_ring(kernel, i, bytes) != STATUS_OK) {
			return fail(fault, STATUS_IO, "no ring buffer of %zu bytes for CPU %u: %s",
					bytes, kernel->cpus[i], strerror(errno));
		}
	}
	return STATUS_OK;
}

/* --- Programs --------------------------------------------------------------------------------- */

static enum status explain(int error, const char *doing, struct kernel_fault *fault)
{
	if (error == EPERM || error == EACCES) {
		return fail(fault, STATUS_BUSY,
				"this user may not %s: run it as root, or give the program the "
				"capabilities: setcap cap_bpf,cap_perfmon,cap_sys_ptrace,"
				"cap_dac_read_search+ep pythiatop-probe",
				doing);
	}
	return fail(fault, STATUS_IO, "cannot %s: %s%s%s", doing, strerror(error),
			said[0] ? ": " : "", said);
}

static enum status tell_copies(struct kernel *kernel, struct kernel_fault *fault)
{
	int map = bpf_map__fd(kernel->skeleton->maps.copies);

	for (uint32_t i = 0; i < PROBE_SYSCALLS; i++) {
		const struct probe_copies copies = type_copies((uint16_t)i);

		if (bpf_map_update_elem(map, &i, &copies, BPF_ANY) != 0) {
			return explain(errno, "fill a BPF map", fault);
		}
	}
	return STATUS_OK;
}

/* A program that runs here and now tells who this process is; before 5.10 that cannot be. */
static void find_own(struct kernel *kernel)
{
	struct bpf_test_run_opts options = {.sz = sizeof(options)};
	int program = bpf_program__fd(kernel->skeleton->progs.tell_own);

	if (bpf_prog_test_run_opts(program, &options) != 0) {
		kernel->skeleton->bss->own_tgid = getpid();
	}
}

static enum status load(struct kernel *kernel, struct kernel_fault *fault)
{
	enum status status;
	int error;

	said[0] = '\0';
	kernel->skeleton = probe_bpf__open();
	if (!kernel->skeleton) {
		return explain(errno, "open the BPF programs", fault);
	}
	status = choose(kernel, fault);
	if (status != STATUS_OK) {
		return status;
	}
	bpf_program__set_autoattach(kernel->skeleton->progs.tell_own, false);
	error = probe_bpf__load(kernel->skeleton);
	return error ? explain(-error, "load BPF programs", fault) : STATUS_OK;
}

enum status kernel_open(struct kernel **out, size_t ring_bytes, struct kernel_fault *fault)
{
	struct kernel *kernel = calloc(1, sizeof(*kernel));
	enum status status;
	int error;

	*out = NULL;
	if (!kernel) {
		return fail(fault, STATUS_NO_MEMORY, "out of memory");
	}
	status = load(kernel, fault);
	if (status == STATUS_OK) {
		status = make_rings(kernel, ring_bytes, fault);
	}
	if (status == STATUS_OK) {
		status = tell_copies(kernel, fault);
	}
	if (status == STATUS_OK) {
		find_own(kernel);
		error = probe_bpf__attach(kernel->skeleton);
		status = error ? explain(-error, "attach BPF programs", fault) : STATUS_OK;
	}
	if (status != STATUS_OK) {
		kernel_close(kernel);
		return status;
	}
	*out = kernel;
	return STATUS_OK;
}

void kernel_close(struct kernel *kernel)
{
	if (!kernel) {
		return;
	}
	for (uint32_t i = 0; i < kernel->n_rings; i++) {
		cpu_ring_release(&kernel->rings[i]);
	}
	probe_bpf__destroy(kernel->skeleton);
	free(kernel->rings);
	free(kernel->cpus);
	free(kernel);
}

static void set_state(struct kernel *kernel, enum probe_state state)
{
	__atomic_store_n(&kernel->skeleton->bss->state, state, __ATOMIC_RELEASE);
}

void kernel_record(struct kernel *kernel, bool on)
{
	set_state(kernel, on ? PROBE_RECORD : PROBE_DROP);
}

void kernel_detach(struct kernel *kernel)
{
	set_state(kernel, PROBE_ENDED); /* all at once: they are detached one after the other */
	probe_bpf__detach(kernel->skeleton);
}

uint32_t kernel_n_rings(const struct kernel *kernel)
{
	return kernel->n_rings;
}

const uint32_t *kernel_cpus(const struct kernel *kernel)
{
	return kernel->cpus;
}

struct cpu_ring *kernel_ring(struct kernel *kernel, uint32_t at)
{
	return &kernel->rings[at];
}

int kernel_own_pid(const struct kernel *kernel)
{
	return kernel->skeleton->bss->own_tgid;
}

/* --- Loss ------------------------------------------------------------------------------------- */

/* Events of a program that came while it ran on that CPU: the kernel leaves them out. */
static uint64_t missed(const struct kernel *kernel)
{
	struct bpf_program *program;
	uint64_t n = 0;

	bpf_object__for_each_program(program, kernel->skeleton->obj)
	{
		struct bpf_prog_info info;
		uint32_t size = sizeof(info);

		memset(&info, 0, sizeof(info));
		if (bpf_program__fd(program) >= 0 &&
				bpf_obj_get_info_by_fd(bpf_program__fd(program), &info, &size) ==
						0) {
			n += info.recursion_misses;
		}
	}
	return n;
}

void kernel_count_lost(struct kernel *kernel)
{
	uint64_t n = missed(kernel);
	uint32_t next = 0;

	for (uint32_t cpu = 0; cpu < PROBE_CPUS; cpu++) {
		if (next < kernel->n_rings && kernel->cpus[next] == cpu) {
			next++;
		} else {
			n += kernel->skeleton->bss->lost[cpu];
		}
	}
	/* Counts of several CPUs are not read at one instant: it never goes back. */
	kernel->elsewhere = n > kernel->elsewhere ? n : kernel->elsewhere;
}

uint64_t kernel_lost(const struct kernel *kernel, uint32_t at)
{
	uint64_t n = __atomic_load_n(
			&kernel->skeleton->bss->lost[kernel->cpus[at]], __ATOMIC_ACQUIRE);

	return at == 0 ? n + kernel->elsewhere : n;
}
