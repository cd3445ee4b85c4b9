/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * pythiatop-probe, as far as it needs no kernel: types of events against LTTng's own descriptions
 * in recorded traces, field by field; payloads of records, whole and cut short; and the order of a
 * ring's records, against sorting all of them.
 */
#include <fcntl.h>
#include <netinet/in.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#include "probe/cpu_ring.h"
#include "probe/type.h"

/* --- Types against LTTng's descriptions ------------------------------------------------------- */

#define TRACES PT_TRACES_DIR
#define FIELDS 32

/* The description of a recording, without blanks; NULL: there is none. */
static char *description_of(const char *trace)
{
	char command[1024], *text = NULL;
	size_t size = 0, n = 0;
	FILE *pipe, *file;
	int c;

	snprintf(command, sizeof(command), "babeltrace2 -o ctf-metadata %s/%s 2>/dev/null", TRACES,
			trace);
	pipe = popen(command, "re");
	file = open_memstream(&text, &size);
	assert_non_null(file);
	while (pipe && (c = fgetc(pipe)) != EOF) {
		if (c != ' ' && c != '\t' && c != '\n') {
			fputc(c, file);
			n++;
		}
	}
	fclose(file);
	if (pipe) {
		pclose(pipe);
	}
	if (n == 0) {
		free(text);
		return NULL;
	}
	return text;
}

/* Cuts the fields of "...fields:=struct{A;B;};..." apart, in place. Returns how many. */
static uint32_t cut_fields(char *event, char **fields)
{
	char *at = strstr(event, "fields:=struct{");
	uint32_t n = 0, depth = 0;

	assert_non_null(at);
	at += strlen("fields:=struct{");
	for (fields[0] = at; *at && !(*at == '}' && depth == 0); at++) {
		depth += *at == '{';
		depth -= *at == '}';
		if (*at == ';' && depth == 0) {
			*at = '\0';
			assert_true(n + 1 < FIELDS);
			fields[++n] = at + 1;
		}
	}
	return n;
}

/* What LTTng tells besides, and the probe does not: lists, and what is read from structures. */
static bool may_be_left_out(const char *event, const char *field)
{
	static const char *const names[] = {"fds_length", "overflow", "_fds[", "fds_length]", "set",
			"upeer_addrlen", "_event", "network_header", "u_omqstat", NULL};
	bool is_syscall = strncmp(event, "syscall_", 8) == 0;

	for (uint32_t i = 0; names[i]; i++) {
		if (strstr(field, names[i]) && (is_syscall || i == 7)) {
			return true;
		}
	}
	return false;
}

struct comparing {
	const char *description;
	bool is_newer; /* LTTng 2.13 is followed, but for the dump of the state, which is 2.10's */
	uint32_t n, n_fields;
};

static char *declared(const struct type *type)
{
	char *text = NULL, *to;
	size_t size = 0;
	FILE *file = open_memstream(&text, &size);

	assert_non_null(file);
	type_declare(type, file);
	assert_int_equal(fclose(file), 0);
	to = text;
	for (const char *from = text; *from; from++) {
		if (*from != ' ' && *from != '\t' && *from != '\n') {
			*to++ = *from;
		}
	}
	*to = '\0';
	return text;
}

static bool is_compared(const char *name, bool is_newer)
{
	bool of_older = strcmp(name, "lttng_statedump_process_state") == 0 ||
			strcmp(name, "lttng_statedump_file_descriptor") == 0 ||
			strcmp(name, "sched_process_exec") ==
					0; /* missing in the newer recording */

	return of_older != is_newer;
}

static void compare_type(void *context, const struct type *type)
{
	struct comparing *comparing = context;
	char name[128], key[160], *ours[FIELDS], *theirs[FIELDS], *text = declared(type), *copy;
	uint32_t n_ours, n_theirs, at = 0;
	const char *found;

	snprintf(name, sizeof(name), "%s%s", type->prefix, type->name);
	snprintf(key, sizeof(key), "event{name=\"%s\";", name);
	assert_true(strncmp(text, key, strlen(key)) == 0);
	found = strstr(comparing->description, key);
	if (found && is_compared(name, comparing->is_newer)) {
		copy = strndup(found, 16384);
		assert_non_null(copy);
		n_ours = cut_fields(text, ours);
		n_theirs = cut_fields(copy, theirs);
		for (uint32_t i = 0; i < n_theirs; i++) {
			if (at < n_ours && strcmp(ours[at], theirs[i]) == 0) {
				at++;
			} else if (!may_be_left_out(name, theirs[i])) {
				fail_msg("%s: LTTng has %s, the probe %s", name, theirs[i],
						at < n_ours ? ours[at] : "nothing");
			}
		}
		if (at < n_ours) {
			fail_msg("%s: LTTng has no %s", name, ours[at]);
		}
		comparing->n++;
		comparing->n_fields += n_ours;
		free(copy);
	}
	free(text);
}

/* Some are enumerations there: the same numbers, without names. */
static void forget_enumerations(char *text)
{
	static const char op[] = "enum:integer{size=32;align=8;signed=1;encoding=none;base=10;}{";
	char *at;

	while ((at = strstr(text, op))) {
		char *end = strchr(at + strlen(op), '}');

		assert_non_null(end);
		memmove(at, at + strlen("enum:"), strlen(op) - strlen("enum:{"));
		memmove(at + strlen(op) - strlen("enum:{"), end + 1, strlen(end + 1) + 1);
	}
}

static void test_types(void **state)
{
	static const struct {
		const char *trace;
		uint32_t least;
	} traces[] = {{"kernel-6.2-2cpu", 500}, {"kernel-4.4-basic", 3}};

	(void)state;
	for (uint32_t i = 0; i < 2; i++) {
		struct comparing comparing = {.is_newer = i == 0};
		char *text = description_of(traces[i].trace);

		if (!text) {
			print_message("skipped: no %s, or no babeltrace2\n", traces[i].trace);
			skip();
		}
		forget_enumerations(text);
		comparing.description = text;
		types_each(compare_type, &comparing);
		print_message("%s: %u types, %u fields as LTTng's\n", traces[i].trace, comparing.n,
				comparing.n_fields);
		assert_true(comparing.n >= traces[i].least);
		free(text);
	}
}

/* --- Payloads --------------------------------------------------------------------------------- */

struct record {
	struct probe_head head;
	unsigned char bytes[1024];
} __attribute__((aligned(8)));

static void add(struct record *record, const void *bytes, size_t n)
{
	memcpy(record->bytes + record->head.bytes, bytes, n);
	record->head.bytes = (__u16)(record->head.bytes + n);
}

/* rename("a", "bc"), with both texts and without the second. */
static void test_texts(void **state)
{
	const struct body_syscall_entry body = {.arguments = {1, 2}};
	struct probe_copied copied = {.text_bytes = {2, 3}};
	struct record record = {.head = {.event = PROBE_SYSCALL_ENTRY, .syscall = 82}};
	unsigned char out[TYPE_ROOM(1024)];
	size_t n;

	(void)state;
	assert_string_equal(type_of(&record.head)->name, "rename");
	add(&record, &body, sizeof(body));
	add(&record, &copied, sizeof(copied));
	add(&record, "a\0bc", 5);
	assert_true(type_payload(type_of(&record.head), &record.head, out, &n));
	assert_int_equal(n, 5);
	assert_memory_equal(out, "a\0bc", 5);
	copied.text_bytes[0] = 0;
	record.head.bytes = sizeof(body);
	add(&record, &copied, sizeof(copied));
	add(&record, "bc", 3);
	assert_true(type_payload(type_of(&record.head), &record.head, out, &n));
	assert_int_equal(n, 4);
	assert_memory_equal(out, "\0bc", 4);
}

static void test_address(void **state)
{
	const struct body_syscall_entry body = {.arguments = {3, 0x1000, 16}};
	const struct sockaddr_in to = {.sin_family = AF_INET,
			.sin_port = htons(80),
			.sin_addr.s_addr = htonl(0x0a000001)};
	const struct probe_copied copied = {.address_bytes = sizeof(to)};
	/* fd, uservaddr, addrlen, family, dport, v4addr_length, v4addr, v6addr_length */
	static const unsigned char wanted[] = {3, 0, 0, 0, 0, 0x10, 0, 0, 0, 0, 0, 0, 16, 0, 0, 0,
			2, 0, 0, 80, 4, 0, 0, 0, 10, 0, 0, 1, 0, 0, 0, 0};
	struct record record = {.head = {.event = PROBE_SYSCALL_ENTRY, .syscall = 42}};
	unsigned char out[TYPE_ROOM(1024)];
	size_t n;

	(void)state;
	add(&record, &body, sizeof(body));
	add(&record, &copied, sizeof(copied));
	add(&record, &to, sizeof(to));
	assert_true(type_payload(type_of(&record.head), &record.head, out, &n));
	assert_int_equal(n, sizeof(wanted));
	assert_memory_equal(out, wanted, sizeof(wanted));
}

static void read_as_any(struct probe_head *head)
{
	unsigned char *out = malloc(TYPE_ROOM(head->bytes));

	assert_non_null(out);
	for (head->event = 0; head->event <= PROBE_COMPAT_EXIT + 1; head->event++) {
		int step = head->event < PROBE_TYPED ? PROBE_SYSCALLS + 2 : 1;

		for (head->syscall = -1; head->syscall <= PROBE_SYSCALLS; head->syscall += step) {
			const struct type *type = type_of(head);
			size_t n = 0;

			if (!type) {
				assert_true(head->event > PROBE_COMPAT_EXIT);
			} else if (type_payload(type, head, out, &n)) {
				assert_true(n <= TYPE_ROOM(head->bytes));
				assert_true(head->bytes >= type->bytes);
			}
		}
	}
	free(out);
}

/* Whatever a record says of itself: nothing is read or written beyond it (a matter for ASan). */
static void test_nonsense(void **state)
{
	unsigned int seed = 1;

	(void)state;
	for (size_t bytes = 0; bytes < 200; bytes += 7) {
		const struct probe_head head = {.bytes = (__u16)bytes};
		unsigned char *memory = malloc(sizeof(head) + bytes);

		assert_non_null(memory);
		memcpy(memory, &head, sizeof(head));
		for (size_t i = 0; i < bytes; i++) {
			memory[sizeof(head) + i] = (unsigned char)(rand_r(&seed) >> 8);
		}
		read_as_any((struct probe_head *)(void *)memory);
		free(memory);
	}
}

/* --- The order of a ring ---------------------------------------------------------------------- */

#define RING_BYTES 4096u
#define BUSY       (1u << 31)

/* A ring buffer as the kernel lays it out: its data stands there twice. */
struct fake {
	struct cpu_ring ring;
	int fd;
	unsigned char *pages;
	size_t page;
};

static void fake_init(struct fake *fake)
{
	fake->page = (size_t)sysconf(_SC_PAGESIZE);
	fake->fd = memfd_create("ring", MFD_CLOEXEC);
	assert_true(fake->fd >= 0);
	assert_int_equal(ftruncate(fake->fd, (off_t)(2 * fake->page + 2 * RING_BYTES)), 0);
	fake->pages = mmap(NULL, 2 * fake->page + 2 * RING_BYTES, PROT_READ | PROT_WRITE,
			MAP_SHARED, fake->fd, 0);
	assert_true(fake->pages != MAP_FAILED);
	assert_int_equal(cpu_ring_init(&fake->ring, fake->fd, RING_BYTES), STATUS_OK);
}

static void fake_release(struct fake *fake)
{
	cpu_ring_release(&fake->ring);
	munmap(fake->pages, 2 * fake->page + 2 * RING_BYTES);
	close(fake->fd);
}

static unsigned long *produced(struct fake *fake)
{
	return (unsigned long *)(void *)(fake->pages + fake->page);
}

static void store(struct fake *fake, unsigned long at, const void *bytes, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		size_t to = (at + i) % RING_BYTES;
		unsigned char *data = fake->pages + 2 * fake->page;

		data[to] = data[to + RING_BYTES] = ((const unsigned char *)bytes)[i];
	}
}

/* Reserves a record; false: the ring is full. */
static bool reserve(struct fake *fake, unsigned long *at)
{
	const uint32_t length[2] = {BUSY | sizeof(struct probe_head), 0};
	unsigned long *end = produced(fake);

	*at = *end;
	if (*end + 8 + sizeof(struct probe_head) - *fake->ring.consumer > RING_BYTES) {
		return false;
	}
	store(fake, *at, length, sizeof(length));
	*end += 8 + sizeof(struct probe_head);
	return true;
}

static void commit(struct fake *fake, unsigned long at, uint64_t ts_ns)
{
	const struct probe_head head = {.ts_ns = ts_ns};
	const uint32_t length[2] = {sizeof(head), 0};

	store(fake, at + 8, &head, sizeof(head));
	store(fake, at, length, sizeof(length));
}

struct played {
	struct fake fake;
	uint64_t clock_ns, last_ns, n_written, n_read;
	unsigned int seed;
};

static void read_all(struct played *played, bool busy)
{
	const struct probe_head *head;
	uint64_t instant_ns = played->clock_ns++;
	enum status status = cpu_ring_begin(&played->fake.ring, instant_ns);

	assert_int_equal(status, busy ? STATUS_NOT_YET : STATUS_OK);
	if (busy) {
		return;
	}
	while ((head = cpu_ring_next(&played->fake.ring))) {
		assert_true(head->ts_ns > played->last_ns && head->ts_ns <= instant_ns);
		played->last_ns = head->ts_ns;
		played->n_read++;
	}
	/* What comes later has a later time. */
	played->last_ns = instant_ns;
	assert_int_equal(cpu_ring_end(&played->fake.ring), STATUS_OK);
}

/* A record, with interrupts of its own before it has its time, in which there may be a reading. */
static void play(struct played *played, int depth)
{
	unsigned long at;

	if (!reserve(&played->fake, &at)) {
		return;
	}
	while (depth < 4 && rand_r(&played->seed) % 3 == 0) {
		play(played, depth + 1);
	}
	if (depth == 0 && rand_r(&played->seed) % 64 == 0) {
		read_all(played, true);
	}
	commit(&played->fake, at, played->clock_ns++);
	played->n_written++;
}

static void test_ring(void **state)
{
	struct played played = {.clock_ns = 1, .seed = 7};

	(void)state;
	fake_init(&played.fake);
	for (int i = 0; i < 20000; i++) {
		play(&played, 0);
		if (rand_r(&played.seed) % 50 == 0) {
			/* One of this side's own, of now. */
			const struct probe_head own = {.ts_ns = played.clock_ns++};

			assert_int_equal(cpu_ring_put(&played.fake.ring, &own), STATUS_OK);
			played.n_written++;
		}
		if (rand_r(&played.seed) % 20 == 0) {
			read_all(&played, false);
		}
	}
	read_all(&played, false);
	assert_true(played.n_written > 20000);
	assert_int_equal(played.n_read, played.n_written);
	fake_release(&played.fake);
}

/* A record of after the instant is kept for the next reading. */
static void test_later(void **state)
{
	const struct probe_head *head;
	struct fake fake;
	unsigned long at;

	(void)state;
	fake_init(&fake);
	assert_true(reserve(&fake, &at));
	commit(&fake, at, 10);
	assert_true(reserve(&fake, &at));
	commit(&fake, at, 30);
	assert_int_equal(cpu_ring_begin(&fake.ring, 20), STATUS_OK);
	head = cpu_ring_next(&fake.ring);
	assert_true(head && head->ts_ns == 10);
	assert_null(cpu_ring_next(&fake.ring));
	assert_int_equal(cpu_ring_end(&fake.ring), STATUS_OK);
	assert_int_equal(*fake.ring.consumer, *produced(&fake));
	assert_int_equal(cpu_ring_begin(&fake.ring, 40), STATUS_OK);
	head = cpu_ring_next(&fake.ring);
	assert_true(head && head->ts_ns == 30);
	assert_int_equal(cpu_ring_end(&fake.ring), STATUS_OK);
	fake_release(&fake);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
			cmocka_unit_test(test_types),
			cmocka_unit_test(test_texts),
			cmocka_unit_test(test_address),
			cmocka_unit_test(test_nonsense),
			cmocka_unit_test(test_ring),
			cmocka_unit_test(test_later),
	};

	types_init();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
