/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "probe/statedump.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <dirent.h>
#include <fcntl.h>
#include <ifaddrs.h>
#include <limits.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

#include "probe/describe.h"
#include "probe/record.h"

#define LINE     4096
#define KTHREADD 0x200000u /* PF_KTHREAD */
#define LISTENS  10u       /* TCP_LISTEN */
#define UNCONNECTED 7         /* likewise: of a socket of UDP */
#define BLOCKS   "/sys/class/block"

/* LTTng's numbers (lttng-modules, lttng-statedump-impl.c). */
enum { THREAD_USER, THREAD_KERNEL };
enum { MODE_UNKNOWN = 5, SUBMODE_NONE = 0 };
enum {
	STATUS_UNNAMED = 0,
	STATUS_WAIT_CPU = 2,
	STATUS_ZOMBIE = 4,
	STATUS_WAIT = 5,
	STATUS_DEAD = 7
};

struct statedump {
	DIR *processes;
	bool begun;
	bool (*wants)(void *context, int pid); /* NULL: all */
	void *context;
};

/* A record under way: head, numbers, strings. */
struct entry {
	struct probe_head head;
	unsigned char bytes[256 + LINE];
} __attribute__((aligned(8)));

static void begin(struct entry *entry, enum probe_event event, const void *numbers, size_t n)
{
	entry->head = (struct probe_head){
			.ts_ns = describe_now_ns(), .event = (__u16)event, .bytes = (__u16)n};
	memcpy(entry->bytes, numbers, n);
}

static void add_text(struct entry *entry, const char *text)
{
	size_t n = strlen(text);

	n = n < LINE ? n : LINE - 1;
	memcpy(entry->bytes + entry->head.bytes, text, n);
	entry->bytes[entry->head.bytes + n] = '\0';
	entry->head.bytes = (__u16)(entry->head.bytes + n + 1);
}

/* --- Threads ---------------------------------------------------------------------------------- */

static bool read_file(int directory, const char *path, char *text, size_t size)
{
	int fd = openat(directory, path, O_RDONLY | O_CLOEXEC);
	ssize_t n;

	if (fd < 0) {
		return false;
	}
	n = read(fd, text, size - 1);
	close(fd);
	text[n > 0 ? n : 0] = '\0';
	return n > 0;
}

/* Numbers of a line "NSpid:	1 2 3": the innermost one, and how many levels below the first. */
static int32_t innermost(const char *status, const char *key, int32_t *level)
{
	const char *at = strstr(status, key);
	long value = 0;
	char *end;

	*level = -1;
	for (at = at ? at + strlen(key) : ""; *at == '\t' || *at == ' '; at = end) {
		value = strtol(at, &end, 10);
		if (end == at) {
			break;
		}
		++*level;
	}
	*level = *level < 0 ? 0 : *level;
	return (int32_t)value;
}

static uint32_t namespace_of(int directory, const char *path)
{
	char link[64];
	ssize_t n = readlinkat(directory, path, link, sizeof(link) - 1);
	unsigned int inode = 0;

	link[n > 0 ? n : 0] = '\0';
	return sscanf(link, "pid:[%u]", &inode) == 1 ? inode : 0;
}

/* The parent as its child's pid namespace numbers it; 0: it is outside. */
static int32_t parent_within(int32_t parent, int32_t level)
{
	char path[64], status[LINE];
	int32_t number, parents_level;

	if (level == 0 || parent == 0) {
		return parent;
	}
	snprintf(path, sizeof(path), "/proc/%d/status", parent);
	if (!read_file(AT_FDCWD, path, status, sizeof(status))) {
		return 0;
	}
	number = innermost(status, "\nNSpid:", &parents_level);
	return parents_level == level ? number : 0;
}

static int32_t status_of(char letter)
{
	switch (letter) {
	case 'R':
		return STATUS_WAIT_CPU; /* it runs, or waits for that: LTTng does not tell either */
	case 'Z':
		return STATUS_ZOMBIE;
	case 'X':
		return STATUS_DEAD;
	case 'S':
	case 'D':
	case 'I':
		return STATUS_WAIT;
	default:
		return STATUS_UNNAMED;
	}
}

/* What /proc/PID/stat tells (proc(5)); the name is in parentheses, and may hold some itself. */
static bool parse_stat(const char *stat, struct body_lttng_statedump_process_state *body)
{
	const char *name = strchr(stat, '('), *end = strrchr(stat, ')');
	unsigned int flags = 0, cpu = 0;
	int parent = 0;
	char letter = '?';
	size_t n;

	if (!name || !end || end < name ||
			sscanf(end + 1,
					" %c %d %*s %*s %*s %*s %u %*s %*s %*s %*s %*s %*s %*s %*s "
					"%*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s "
					"%*s %*s %*s %*s %*s %*s %*s %u",
					&letter, &parent, &flags, &cpu) < 3) {
		return false;
	}
	n = (size_t)(end - name - 1);
	memset(body->name, 0, sizeof(body->name));
	memcpy(body->name, name + 1, n < sizeof(body->name) ? n : sizeof(body->name) - 1);
	body->ppid = parent;
	body->type = flags & KTHREADD ? THREAD_KERNEL : THREAD_USER;
	body->status = status_of(letter);
	body->cpu = cpu;
	return true;
}

static enum status dump_thread(struct cpu_ring *ring, int tasks, int32_t pid, const char *tid)
{
	struct body_lttng_statedump_process_state body = {
			.pid = pid, .mode = MODE_UNKNOWN, .submode = SUBMODE_NONE};
	char path[64], text[LINE];
	struct entry entry;
	int32_t level;

	body.tid = (int32_t)strtol(tid, NULL, 10);
	snprintf(path, sizeof(path), "%s/stat", tid);
	if (!read_file(tasks, path, text, sizeof(text)) || !parse_stat(text, &body)) {
		return STATUS_OK; /* it is gone */
	}
	snprintf(path, sizeof(path), "%s/status", tid);
	if (!read_file(tasks, path, text, sizeof(text))) {
		return STATUS_OK;
	}
	body.vtid = innermost(text, "\nNSpid:", &level);
	body.vpid = innermost(text, "\nNStgid:", &level);
	body.ns_level = level;
	body.vppid = parent_within(body.ppid, level);
	snprintf(path, sizeof(path), "%s/ns/pid", tid);
	body.ns_inum = namespace_of(tasks, path);
	begin(&entry, PROBE_lttng_statedump_process_state, &body, sizeof(body));
	return cpu_ring_put(ring, &entry.head);
}

static enum status dump_threads(struct cpu_ring *ring, int process, int32_t pid)
{
	int fd = openat(process, "task", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *tasks = fd >= 0 ? fdopendir(fd) : NULL;
	enum status status = STATUS_OK;
	struct dirent *task;

	if (!tasks) {
		return STATUS_OK;
	}
	while (status == STATUS_OK && (task = readdir(tasks))) {
		if (isdigit((unsigned char)task->d_name[0])) {
			status = dump_thread(ring, dirfd(tasks), pid, task->d_name);
		}
	}
	closedir(tasks);
	return status;
}

/* --- Files ------------------------------------------------------------------------------------ */

static enum status dump_file(
		struct cpu_ring *ring, int process, int fds, int32_t pid, const char *number)
{
	struct body_lttng_statedump_file_descriptor body = {.pid = pid};
	char path[64], target[LINE], info[512];
	ssize_t n = readlinkat(fds, number, target, sizeof(target) - 1);
	const char *flags;
	struct entry entry;

	snprintf(path, sizeof(path), "fdinfo/%s", number);
	if (n <= 0 || !read_file(process, path, info, sizeof(info))) {
		return STATUS_OK;
	}
	target[n] = '\0';
	flags = strstr(info, "flags:");
	body.fd = (int32_t)strtol(number, NULL, 10);
	body.flags = flags ? (uint32_t)strtoul(flags + strlen("flags:"), NULL, 8) : 0;
	/* FMODE_READ and FMODE_WRITE; /proc does not tell the others. */
	body.fmode = (body.flags & O_ACCMODE) + 1;
	begin(&entry, PROBE_lttng_statedump_file_descriptor, &body, sizeof(body));
	add_text(&entry, target);
	return cpu_ring_put(ring, &entry.head);
}

static enum status dump_files(struct cpu_ring *ring, int process, int32_t pid)
{
	int fd = openat(process, "fd", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *files = fd >= 0 ? fdopendir(fd) : NULL;
	enum status status = STATUS_OK;
	struct dirent *file;

	if (!files) {
		return STATUS_OK; /* it is gone, or another user's */
	}
	while (status == STATUS_OK && (file = readdir(files))) {
		if (isdigit((unsigned char)file->d_name[0])) {
			status = dump_file(ring, process, dirfd(files), pid, file->d_name);
		}
	}
	closedir(files);
	return status;
}

static enum status dump_process(struct cpu_ring *ring, int processes, const char *name)
{
	int process = openat(processes, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int32_t pid = (int32_t)strtol(name, NULL, 10);
	enum status status;

	if (process < 0) {
		return STATUS_OK;
	}
	status = dump_threads(ring, process, pid);
	if (status == STATUS_OK) {
		status = dump_files(ring, process, pid);
	}
	close(process);
	return status;
}

/* --- Devices ---------------------------------------------------------------------------------- */

static enum status dump_interfaces(struct cpu_ring *ring)
{
	struct ifaddrs *list = NULL;
	enum status status = STATUS_OK;

	if (getifaddrs(&list) != 0) {
		return STATUS_OK;
	}
	for (const struct ifaddrs *at = list; at && status == STATUS_OK; at = at->ifa_next) {
		struct sockaddr_in address;
		struct entry entry;

		if (!at->ifa_addr || at->ifa_addr->sa_family != AF_INET) {
			continue;
		}
		memcpy(&address, at->ifa_addr, sizeof(address));
		begin(&entry, PROBE_lttng_statedump_network_interface, &address.sin_addr, 4);
		add_text(&entry, at->ifa_name);
		status = cpu_ring_put(ring, &entry.head);
	}
	freeifaddrs(list);
	return status;
}

/* The first of the ports that the kernel gives to sockets which asked for none. */
static unsigned int first_given_port(void)
{
	FILE *range = fopen("/proc/sys/net/ipv4/ip_local_port_range", "re");
	unsigned int first = 32768;

	if (range) {
		(void)!fscanf(range, "%u", &first);
		fclose(range);
	}
	return first;
}

/*
 * Ports that are listened on, in the network namespace of the probe; of UDP those that are bound,
 * but for the ones of clients.
 */
static enum status dump_listeners(struct cpu_ring *ring)
{
	static const struct {
		const char *path;
		unsigned int state, type;
	} tables[] = {{"/proc/net/tcp", LISTENS, SOCK_STREAM},
			{"/proc/net/tcp6", LISTENS, SOCK_STREAM},
			{"/proc/net/udp", UNCONNECTED, SOCK_DGRAM},
			{"/proc/net/udp6", UNCONNECTED, SOCK_DGRAM}};
	unsigned int first_given = first_given_port();
	enum status status = STATUS_OK;
	struct stat space;
	char line[512];

	for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]) && status == STATUS_OK &&
			   stat("/proc/self/ns/net", &space) == 0;
			i++) {
		FILE *table = fopen(tables[i].path, "re");

		while (table && status == STATUS_OK && fgets(line, sizeof(line), table)) {
			struct body_pythiatop_statedump_listener body = {
					.netns = (uint32_t)space.st_ino, .type = tables[i].type};
			unsigned int port, state;
			struct entry entry;

			if (sscanf(line, " %*u: %*[0-9A-F]:%x %*[0-9A-F]:%*x %x", &port, &state) !=
							2 ||
					state != tables[i].state ||
					(body.type == SOCK_DGRAM && port >= first_given)) {
				continue;
			}
			body.sport = port;
			begin(&entry, PROBE_pythiatop_statedump_listener, &body, sizeof(body));
			status = cpu_ring_put(ring, &entry.head);
		}
		if (table) {
			fclose(table);
		}
	}
	return status;
}

static enum status dump_disks(struct cpu_ring *ring)
{
	DIR *blocks = opendir(BLOCKS);
	enum status status = STATUS_OK;
	struct dirent *block;

	while (blocks && status == STATUS_OK && (block = readdir(blocks))) {
		char path[NAME_MAX + 8], text[64];
		unsigned int major, minor;
		struct entry entry;
		uint32_t device;

		snprintf(path, sizeof(path), "%s/dev", block->d_name);
		if (block->d_name[0] == '.' ||
				!read_file(dirfd(blocks), path, text, sizeof(text)) ||
				sscanf(text, "%u:%u", &major, &minor) != 2) {
			continue;
		}
		device = major << 20 | minor; /* the kernel's own form */
		begin(&entry, PROBE_lttng_statedump_block_device, &device, sizeof(device));
		add_text(&entry, block->d_name);
		status = cpu_ring_put(ring, &entry.head);
	}
	if (blocks) {
		closedir(blocks);
	}
	return status;
}

/* --- Steps ------------------------------------------------------------------------------------ */

struct statedump *statedump_begin(bool (*wants)(void *context, int pid), void *context)
{
	struct statedump *dump = calloc(1, sizeof(*dump));

	if (dump) {
		dump->wants = wants;
		dump->context = context;
		dump->processes = opendir("/proc");
		if (!dump->processes) {
			free(dump);
			dump = NULL;
		}
	}
	return dump;
}

static enum status mark(struct cpu_ring *ring, enum probe_event event)
{
	struct entry entry;

	begin(&entry, event, "", 0);
	return cpu_ring_put(ring, &entry.head);
}

static enum status finish(struct cpu_ring *ring)
{
	enum status status = dump_interfaces(ring);

	if (status == STATUS_OK) {
		status = dump_listeners(ring);
	}
	if (status == STATUS_OK) {
		status = dump_disks(ring);
	}
	if (status == STATUS_OK) {
		status = mark(ring, PROBE_lttng_statedump_end);
	}
	return status == STATUS_OK ? STATUS_END : status;
}

enum status statedump_step(struct statedump *dump, struct cpu_ring *ring, uint64_t for_ns)
{
	uint64_t until_ns = describe_now_ns() + for_ns;
	enum status status = STATUS_OK;

	if (!dump->begun) {
		dump->begun = true;
		status = mark(ring, PROBE_lttng_statedump_start);
	}
	while (status == STATUS_OK && describe_now_ns() < until_ns) {
		struct dirent *entry = readdir(dump->processes);

		if (!entry) {
			return finish(ring);
		}
		if (isdigit((unsigned char)entry->d_name[0]) &&
				(!dump->wants || dump->wants(dump->context, atoi(entry->d_name)))) {
			status = dump_process(ring, dirfd(dump->processes), entry->d_name);
		}
	}
	return status;
}

void statedump_end(struct statedump *dump)
{
	if (dump) {
		closedir(dump->processes);
		free(dump);
	}
}
