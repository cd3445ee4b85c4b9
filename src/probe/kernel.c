/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "probe/kernel.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>

#include "base/array.h"
#include "probe/closer.h"
#include "probe/kernel_parts.h"
#include "probe/type.h"

#define ONLINE     "/sys/devices/system/cpu/online"
#define KERNEL_BTF "/sys/kernel/btf/vmlinux"
#define NO_BTF                                                                                     \
	"this kernel does not describe itself (" KERNEL_BTF                                        \
	"): it has to be built with CONFIG_DEBUG_INFO_BTF"

static struct kernel_event events[N_EVENTS] = {
#define EVENT(event, point, kernel, fields) {#event, #point, kernel, false},
#include "probe/events.def"
#undef EVENT
		{"syscall_entry_*", "sys_enter", "5.8", false},
		{"syscall_exit_*", "sys_exit", "5.8", false},
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

void kernel_hear_anew(void)
{
	said[0] = '\0';
}

enum status kernel_refuse(struct kernel_fault *fault, enum status status, const char *format, ...)
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
		return kernel_refuse(fault, STATUS_NOT_FOUND, NO_BTF);
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
		return kernel_refuse(fault, STATUS_NO_MEMORY, "out of memory");
	}
	kernel->n_rings = online_cpus(kernel->cpus, PROBE_CPUS);
	for (uint32_t i = 0; i < kernel->n_rings; i++) {
		if (make_ring(kernel, i, bytes) != STATUS_OK) {
			return kernel_refuse(fault, STATUS_IO,
					"no ring buffer of %zu bytes for CPU %u: %s", bytes,
					kernel->cpus[i], strerror(errno));
		}
	}
	return STATUS_OK;
}

/* --- Programs --------------------------------------------------------------------------------- */

enum status kernel_explain(int error, const char *doing, struct kernel_fault *fault)
{
	if (error == EPERM || error == EACCES) {
		return kernel_refuse(fault, STATUS_BUSY,
				"this user may not %s: run it as root, or give the program the "
				"capabilities: setcap cap_bpf,cap_perfmon,cap_sys_ptrace,"
				"cap_dac_read_search+ep pythiatop-probe",
				doing);
	}
	return kernel_refuse(fault, STATUS_IO, "cannot %s: %s%s%s", doing, strerror(error),
			said[0] ? ": " : "", said);
}

enum status kernel_may(struct kernel_fault *fault)
{
	int map;

	if (access(KERNEL_BTF, R_OK) != 0) {
		return kernel_refuse(fault, STATUS_NOT_FOUND, NO_BTF);
	}
	kernel_hear_anew();
	map = bpf_map_create(BPF_MAP_TYPE_RINGBUF, NULL, 0, 0, 4096, NULL);
	if (map < 0) {
		return kernel_explain(-map, "load BPF programs", fault);
	}
	close(map);
	return STATUS_OK;
}

static enum status tell_copies(struct kernel *kernel, struct kernel_fault *fault)
{
	int map = bpf_map__fd(kernel->skeleton->maps.copies);

	for (uint32_t i = 0; i < PROBE_SYSCALLS; i++) {
		const struct probe_copies copies = type_copies((uint16_t)i);

		if (bpf_map_update_elem(map, &i, &copies, BPF_ANY) != 0) {
			return kernel_explain(errno, "fill a BPF map", fault);
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

/* Many functions in one go: since Linux 6.6; libbpf 1.1 does not know it yet. */

static bool knows_many(void)
{
	struct utsname host;
	int major, minor;

	return uname(&host) == 0 && sscanf(host.release, "%d.%d", &major, &minor) == 2 &&
	       (major > 6 || (major == 6 && minor >= 6));
}

static enum status load(
		struct kernel *kernel, const struct kernel_setup *setup, struct kernel_fault *fault)
{
	struct probe_bpf *skeleton;
	enum status status;
	int error;

	kernel_hear_anew();
	kernel->skeleton = probe_bpf__open();
	if (!kernel->skeleton) {
		return kernel_explain(errno, "open the BPF programs", fault);
	}
	status = choose(kernel, fault);
	if (status != STATUS_OK) {
		return status;
	}
	skeleton = kernel->skeleton;
	if (kernel->takes_many) {
		bpf_program__set_expected_attach_type(
				skeleton->progs.on_function_entry, UPROBE_MULTI);
		bpf_program__set_expected_attach_type(
				skeleton->progs.on_function_exit, UPROBE_MULTI);
	}
	skeleton->rodata->some_only = setup->some;
	error = probe_bpf__load(skeleton);
	return error ? kernel_explain(-error, "load BPF programs", fault) : STATUS_OK;
}

/* The program of an event is called after it. NULL: it comes with another one. */
static struct bpf_program *program_of(const struct kernel *kernel, uint32_t event)
{
	char name[64];

	snprintf(name, sizeof(name), "on_%s",
			event < SYS_ENTER ? events[event].name : events[event].tracepoint);
	return bpf_object__find_program_by_name(kernel->skeleton->obj, name);
}

enum status kernel_attach(
		struct bpf_program *program, struct bpf_link **out, struct kernel_fault *fault)
{
	struct bpf_link *link;
	int error;

	kernel_hear_anew();
	link = bpf_program__attach(program);
	error = (int)-libbpf_get_error(link);
	if (error) {
		return kernel_explain(error, "attach BPF programs", fault);
	}
	*out = link;
	return STATUS_OK;
}

/*
 * Programs of one tracepoint run in the order in which they were attached. So a process that ends
 * is forgotten behind whoever records that.
 */
static enum status follow_last(struct kernel *kernel, struct kernel_fault *fault)
{
	bpf_link__destroy(kernel->follow_free);
	kernel->follow_free = NULL;
	return kernel_attach(kernel->skeleton->progs.follow_free, &kernel->follow_free, fault);
}

/*
 * A second program that an event needs: datagrams are sent elsewhere than streams; how long what is
 * received was there is told before the call. NULL: it needs none.
 */
static struct bpf_program *program_beside(struct kernel *kernel, uint32_t event)
{
	return event == PROBE_socket_send   ? kernel->skeleton->progs.on_datagram
	       : event == PROBE_socket_recv ? kernel->skeleton->progs.on_reading
					    : NULL;
}

static enum status attach_beside(struct kernel *kernel, uint32_t event, struct kernel_fault *fault)
{
	struct bpf_program *program = program_beside(kernel, event);

	return !program || kernel->beside[event] || bpf_program__fd(program) < 0
			       ? STATUS_OK
			       : kernel_attach(program, &kernel->beside[event], fault);
}

static enum status attach(struct kernel *kernel, uint32_t event, struct kernel_fault *fault)
{
	enum status status;

	if (kernel->links[event]) {
		return STATUS_OK;
	}
	if (!program_of(kernel, event)) {
		return kernel_refuse(fault, STATUS_NOT_FOUND, "%s is none that can be chosen",
				events[event].name);
	}
	status = kernel_attach(program_of(kernel, event), &kernel->links[event], fault);
	if (status == STATUS_OK) {
		status = attach_beside(kernel, event, fault);
	}
	return status == STATUS_OK && kernel->follow_free && event == PROBE_sched_process_free
			       ? follow_last(kernel, fault)
			       : status;
}

static void detach(struct kernel *kernel, uint32_t event)
{
	bpf_link__destroy(kernel->links[event]);
	kernel->links[event] = NULL;
	bpf_link__destroy(kernel->beside[event]);
	kernel->beside[event] = NULL;
}

void kernel_detach_all(struct kernel *kernel)
{
	for (uint32_t i = 0; i < N_EVENTS; i++) {
		detach(kernel, i);
	}
}

bool kernel_event_is_beside(uint32_t event)
{
	return event == PROBE_pythiatop_cpu_left || event == PROBE_pythiatop_cpu_taken ||
	       event == PROBE_pythiatop_waker;
}

/* Is it told at system calls? */
static bool is_call(uint32_t event)
{
	return strncmp(events[event].tracepoint, "sys_", 4) == 0;
}

/* Of what is told at system calls one program at either end does all. */
enum status kernel_attach_all(struct kernel *kernel, struct kernel_fault *fault)
{
	enum status status = STATUS_OK;

	for (uint32_t event = 0; status == STATUS_OK && event < N_EVENTS; event++) {
		if (events[event].present && !is_call(event) && !kernel_event_is_beside(event)) {
			status = attach(kernel, event, fault);
		}
	}
	if (status == STATUS_OK) {
		status = kernel_attach(kernel->skeleton->progs.on_all_enter,
				&kernel->links[SYS_ENTER], fault);
	}
	if (status == STATUS_OK) {
		status = attach_beside(kernel, PROBE_socket_send, fault);
	}
	return status == STATUS_OK ? kernel_attach(kernel->skeleton->progs.on_all_exit,
						     &kernel->links[SYS_EXIT], fault)
				   : status;
}

static enum status follow(struct kernel *kernel, struct kernel_fault *fault)
{
	enum status status = kernel_attach(
			kernel->skeleton->progs.follow_fork, &kernel->follow_fork, fault);

	return status == STATUS_OK ? follow_last(kernel, fault) : status;
}

enum status kernel_open(
		struct kernel **out, const struct kernel_setup *setup, struct kernel_fault *fault)
{
	struct kernel *kernel = calloc(1, sizeof(*kernel));
	enum status status;

	*out = NULL;
	if (!kernel) {
		return kernel_refuse(fault, STATUS_NO_MEMORY, "out of memory");
	}
	kernel->takes_many = !setup->one_by_one && knows_many();
	kernel->statistics = -1;
	status = load(kernel, setup, fault);
	if (status == STATUS_OK) {
		status = make_rings(kernel, setup->ring_bytes, fault);
	}
	if (status == STATUS_OK) {
		status = tell_copies(kernel, fault);
	}
	if (status == STATUS_OK) {
		find_own(kernel);
		kernel->skeleton->bss->choosy = !setup->events;
		kernel->skeleton->bss->summing = setup->summing;
		status = setup->some ? follow(kernel, fault) : STATUS_OK;
	}
	if (status == STATUS_OK && setup->events) {
		status = kernel_attach_all(kernel, fault);
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
	closer_wait();
	for (uint32_t i = 0; i < kernel->n_rings; i++) {
		cpu_ring_release(&kernel->rings[i]);
	}
	kernel_detach_all(kernel);
	kernel_stop_sampling(kernel);
	kernel_stop_measuring(kernel);
	bpf_link__destroy(kernel->follow_fork);
	bpf_link__destroy(kernel->follow_free);
	probe_bpf__destroy(kernel->skeleton);
	free(kernel->rings);
	free(kernel->cpus);
	free(kernel);
}

enum status kernel_join(struct kernel *kernel, int pid)
{
	unsigned char how = PROBE_PROCESS_UNTOLD;

	if (kernel_has_process(kernel, pid)) {
		return STATUS_OK; /* those of a control group are joined again and again */
	}
	if (bpf_map_update_elem(bpf_map__fd(kernel->skeleton->maps.processes), &pid, &how,
			    BPF_ANY) != 0) {
		return STATUS_NO_MEMORY;
	}
	__atomic_fetch_add(&kernel->skeleton->bss->n_untold, 1, __ATOMIC_RELAXED);
	return STATUS_OK;
}

bool kernel_has_process(const struct kernel *kernel, int pid)
{
	unsigned char how;

	return !kernel->follow_fork ||
	       bpf_map_lookup_elem(bpf_map__fd(kernel->skeleton->maps.processes), &pid, &how) == 0;
}

bool kernel_take_untold(struct kernel *kernel)
{
	return __atomic_exchange_n(&kernel->skeleton->bss->n_untold, 0, __ATOMIC_RELAXED) > 0;
}

bool kernel_take_process(struct kernel *kernel, int pid)
{
	int map = bpf_map__fd(kernel->skeleton->maps.processes);
	unsigned char how, told = PROBE_PROCESS_TOLD;

	/* Of one that ends meanwhile nothing comes back. */
	return bpf_map_lookup_elem(map, &pid, &how) == 0 && how == PROBE_PROCESS_UNTOLD &&
	       bpf_map_update_elem(map, &pid, &told, BPF_EXIST) == 0;
}

void kernel_set_state(struct kernel *kernel, enum probe_state state)
{
	__atomic_store_n(&kernel->skeleton->bss->state, state, __ATOMIC_RELEASE);
}

void kernel_record(struct kernel *kernel, bool on)
{
	kernel_set_state(kernel, on ? PROBE_RECORD : PROBE_DROP);
}

void kernel_detach(struct kernel *kernel)
{
	kernel_set_state(kernel, PROBE_ENDED); /* all at once: they are detached one after the other */
	kernel_detach_all(kernel);
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

/* --- Single events ---------------------------------------------------------------------------- */

/* Of the threads that the filters of the event name, these. */
static enum status set_threads(struct kernel *kernel, uint32_t event, const uint64_t *keys,
		uint32_t n, struct kernel_fault *fault)
{
	int map = bpf_map__fd(kernel->skeleton->maps.threads);
	uint64_t key, next, *before = NULL;
	uint32_t n_before = 0, room = 0;
	unsigned char one = 1;
	bool more = bpf_map_get_next_key(map, NULL, &key) == 0;

	for (; more; key = next) {
		more = bpf_map_get_next_key(map, &key, &next) == 0;
		if (key >> 33 == event) {
			if (!array_reserve(&before, &room, n_before + 1)) {
				free(before);
				return kernel_refuse(fault, STATUS_NO_MEMORY, "out of memory");
			}
			before[n_before++] = key;
		}
	}
	/* Those that stay are not missed in between. */
	for (uint32_t i = 0; i < n; i++) {
		if (bpf_map_update_elem(map, &keys[i], &one, BPF_ANY) != 0) {
			free(before);
			return kernel_explain(errno, "name another thread in a filter", fault);
		}
	}
	for (uint32_t i = 0; i < n_before; i++) {
		bool stays = false;

		for (uint32_t k = 0; k < n && !stays; k++) {
			stays = keys[k] == before[i];
		}
		if (!stays) {
			bpf_map_delete_elem(map, &before[i]);
		}
	}
	free(before);
	return STATUS_OK;
}

enum status kernel_choose(struct kernel *kernel, uint32_t event, enum probe_choice choice,
		const uint64_t *keys, uint32_t n_keys, struct kernel_fault *fault)
{
	enum status status;

	if (!events[event].present) {
		return kernel_refuse(fault, STATUS_NOT_FOUND,
				"this kernel does not have the tracepoint %s",
				events[event].tracepoint);
	}
	status = set_threads(kernel, event, keys, choice == PROBE_FILTERED ? n_keys : 0, fault);
	if (status != STATUS_OK) {
		return status;
	}
	kernel->skeleton->bss->choices[event] = (__u8)choice;
	if (choice == PROBE_NONE) {
		detach(kernel, event);
		return STATUS_OK;
	}
	return attach(kernel, event, fault);
}

enum status kernel_choose_syscall(
		struct kernel *kernel, uint16_t number, bool on, struct kernel_fault *fault)
{
	__u8 *chosen = &kernel->skeleton->bss->chosen_syscalls[number];
	enum status status;

	if (*chosen == on) {
		return STATUS_OK;
	}
	*chosen = on;
	kernel->n_syscalls += on ? 1 : -1u;
	if (kernel->n_syscalls == 0) {
		detach(kernel, SYS_ENTER);
		detach(kernel, SYS_EXIT);
		return STATUS_OK;
	}
	status = attach(kernel, SYS_ENTER, fault);
	return status == STATUS_OK ? attach(kernel, SYS_EXIT, fault) : status;
}

/* --- Loss ------------------------------------------------------------------------------------- */

uint64_t kernel_sum(const struct kernel *kernel, uint64_t (*read)(const struct bpf_prog_info *info))
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
			n += read(&info);
		}
	}
	return n;
}

/* Events that came while the program ran on that CPU: the kernel leaves them out. */
static uint64_t missed(const struct bpf_prog_info *info)
{
	return info->recursion_misses;
}

void kernel_count_lost(struct kernel *kernel)
{
	uint64_t n = kernel_sum(kernel, missed);
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

uint64_t kernel_lost_functions(const struct kernel *kernel, uint32_t at)
{
	return __atomic_load_n(
			&kernel->skeleton->bss->lost_functions[kernel->cpus[at]], __ATOMIC_ACQUIRE);
}
