/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Connections by LTTng's kernel events, case by case: what a server is called while its port is
 * told by nothing, descriptors that were there before, IPv6, datagrams, recordings of some threads
 * only, Unix sockets on a desktop, a probe's host beside one of LTTng's, bounds, damaged headers.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "kernel_feed.h"
#include "lab.h"
#include "packet_headers.h"
#include "requests/found.h"
#include "requests/walked.h"
#include "state/socket_table.h"
#include "state/tcp_header.h"

#define T0   UINT64_C(1700000000000000000)
#define MS   UINT64_C(1000000)
#define MOST 2000u

/* Threads, each on the CPU of its number; their processes have one. */
enum { SERVER = 1, CLIENT = 2, OTHER = 3, CPUS = 4 };

struct scene {
	struct lab lab;
	uint32_t stream;
	uint64_t now_ns;
	const char *types[MOST]; /* of requests that are called as servers */
	uint64_t start_ns[MOST];
	uint32_t n, n_calls; /* in these */
};

static void note(void *context, struct request *request)
{
	struct scene *scene = context;
	struct walked walked;

	if (!servers_serve(scene->lab.servers, request->type) || scene->n == MOST) {
		return;
	}
	scene->start_ns[scene->n] = request->start_ns;
	scene->types[scene->n++] = names_text(scene->lab.names, request->type);
	assert_true(requests_walk(scene->lab.requests, request, &walked));
	for (uint32_t i = 0; i < walked.n_spans; i++) {
		const struct context *c =
				contexts_get(scene->lab.contexts, walked.spans[i].context);

		scene->n_calls += strncmp(names_text(scene->lab.names, c->name), "call", 4) == 0;
	}
}

static void feed(struct scene *scene, uint32_t cpu, const struct kernel_words *words)
{
	uint32_t id = lab_add_type(&scene->lab, &words->type);

	scene->now_ns += MS / 10;
	lab_feed(&scene->lab, &(struct event){.ts_ns = scene->now_ns,
					      .type = id,
					      .stream = scene->stream,
					      .cpu = cpu,
					      .bytes = words->used ? words->used : 8,
					      .slots = words->slots});
}

static void __attribute__((format(printf, 3, 4)))
tell(struct scene *scene, uint32_t cpu, const char *format, ...)
{
	static struct kernel_words words;
	char text[1024];
	va_list list;

	va_start(list, format);
	vsnprintf(text, sizeof(text), format, list);
	va_end(list);
	kernel_parse(&words, text);
	feed(scene, cpu, &words);
}

static void call(struct scene *scene, uint32_t cpu, const char *name, const char *arguments,
		int64_t ret, const char *results)
{
	tell(scene, cpu, "syscall_entry_%s %s", name, arguments);
	tell(scene, cpu, "syscall_exit_%s ret:i=%ld %s", name, (long)ret, results);
}

static void packet(struct scene *scene, uint32_t cpu, const struct packet_header *header)
{
	static const struct field fields[] = {
			{.name = "len", .kind = FIELD_UINT, .base = 10},
			{.name = "name", .kind = FIELD_STRING},
			{.name = "network_header", .kind = FIELD_TREE},
	};
	static struct kernel_words words;
	static struct packet_tree tree;

	memset(&words, 0, sizeof(words));
	packet_headers(&tree, header);
	words.type = (struct event_type){.name = "net_dev_queue", .n_fields = 3, .fields = fields};
	words.used = 3 * 8;
	words.slots[1] = kernel_bytes(&words, "lo", 2);
	words.slots[2] = kernel_bytes(&words, tree.words, tree.used);
	feed(scene, cpu, &words);
}

static uint32_t add_host(struct scene *scene, const char *host)
{
	return lab_add_stream(&scene->lab,
			&(struct stream_desc){.session = lab_add_session(&scene->lab,
							      &(struct session_desc){.host = host,
									      .name = "test"}),
					.domain = DOMAIN_KERNEL,
					.channel = "channel0",
					.kernel_release = "6.2.0"});
}

static void run_all(struct scene *scene)
{
	static const char *const names[CPUS] = {NULL, "server", "client", "other"};

	for (uint32_t cpu = 1; cpu < CPUS; cpu++) {
		tell(scene, cpu, "lttng_statedump_process_state tid:i=%u pid:i=%u name:s=%s", cpu,
				cpu, names[cpu]);
		tell(scene, cpu,
				"sched_switch prev_comm:s=idle prev_tid:i=0 prev_state:i=0 "
				"next_comm:s=%s next_tid:i=%u",
				names[cpu], cpu);
	}
}

static void start(struct scene *scene)
{
	memset(scene, 0, sizeof(*scene));
	scene->now_ns = T0;
	lab_start(&scene->lab, note, scene);
	scene->stream = add_host(scene, "alpha");
	run_all(scene);
}

static void finish(struct scene *scene)
{
	servers_finish(scene->lab.servers);
	requests_finish(scene->lab.requests);
}

static uint32_t count(const struct scene *scene, const char *type)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < scene->n; i++) {
		n += strcmp(scene->types[i], type) == 0;
	}
	return n;
}

static bool is_noted(struct scene *scene, const char *text)
{
	struct arena arena = {0};
	const char *notes[64];
	uint32_t n = servers_notes(scene->lab.servers, &arena, notes, 64);
	bool found = false;

	for (uint32_t i = 0; i < n; i++) {
		found |= strstr(notes[i], text) != NULL;
	}
	arena_release(&arena);
	return found;
}

#define NOBODY      " family:u=0 sport:u=0 v4addr:a= v6addr:a="
#define LOCAL(port) "family:u=2 sport:u=" #port " v4addr:a=127,0,0,1 v6addr:a="

static void listen_at(struct scene *scene, int family)
{
	char text[64];

	snprintf(text, sizeof(text), "family:i=%d type:i=1", family);
	call(scene, SERVER, "socket", text, 3, "");
	call(scene, SERVER, "listen", "fd:i=3 backlog:i=16", 0, "");
}

static void serve_one(struct scene *scene, const char *fd)
{
	char text[64];

	snprintf(text, sizeof(text), "fd:i=%s flags:u=0", fd);
	call(scene, SERVER, "recvfrom", text, 20, "");
	snprintf(text, sizeof(text), "fd:i=%s len:u=30 flags:u=0", fd);
	call(scene, SERVER, "sendto", text, 30, "");
}

/* Whoever connects is of another host: nothing tells which port it came to. */
static void test_unknown_port(void **state)
{
	static struct scene scene;

	(void)state;
	start(&scene);
	listen_at(&scene, 2);
	call(&scene, SERVER, "accept4", "fd:i=3 flags:i=0", 4,
			"family:u=2 sport:u=50000 v4addr:a=192,0,2,7 v6addr:a=");
	serve_one(&scene, "4");
	finish(&scene);
	assert_int_equal(count(&scene, "server:?"), 1);
	assert_true(is_noted(&scene, "of 1 connection that system calls accepted"));
	assert_true(is_noted(&scene, "record net_dev_queue and net_if_receive_skb"));
	lab_stop(&scene.lab);
}

/* A client of this host tells the port; the connection is theirs if nobody else asks for one. */
static void test_port_of_client(void **state)
{
	static struct scene scene;

	(void)state;
	start(&scene);
	listen_at(&scene, 2);
	call(&scene, CLIENT, "socket", "family:i=2 type:i=1", 7, "");
	call(&scene, CLIENT, "connect",
			"fd:i=7 family:u=2 dport:u=8080 v4addr:a=127,0,0,1 v6addr:a=", 0, "");
	call(&scene, SERVER, "accept", "fd:i=3", 4, LOCAL(50000));
	serve_one(&scene, "4");
	finish(&scene);
	assert_int_equal(count(&scene, "server:8080"), 1);
	assert_int_equal(state_socket_counts(scene.lab.state)->n_by_order, 1);
	lab_stop(&scene.lab);
}

/* The same, but somebody may have asked for one unseen. */
static void test_not_whole(void **state)
{
	for (uint32_t why = 0; why < 4; why++) {
		static struct scene scene;

		(void)state;
		start(&scene);
		if (why != 0) { /* 0: connections may have been waiting before the recording */
			listen_at(&scene, 2);
		}
		call(&scene, CLIENT, "socket", "family:i=2 type:i=1", 7, "");
		call(&scene, CLIENT, "connect",
				"fd:i=7 family:u=2 dport:u=8080 v4addr:a=127,0,0,1 v6addr:a=", 0,
				"");
		if (why == 1) { /* a thread ran that nothing is told of */
			tell(&scene, OTHER,
					"sched_switch prev_comm:s=x prev_tid:i=999 prev_state:i=0 "
					"next_comm:s=other next_tid:i=%d",
					OTHER);
		} else if (why == 2) {
			call(&scene, OTHER, "io_uring_enter", "fd:u=9", 1, "");
		} else if (why == 3) { /* two ask at the same time */
			call(&scene, OTHER, "socket", "family:i=2 type:i=1", 7, "");
			call(&scene, OTHER, "connect",
					"fd:i=7 family:u=2 dport:u=9090 v4addr:a=127,0,0,1 "
					"v6addr:a=",
					-115, "");
		}
		call(&scene, SERVER, "accept", "fd:i=3", 4, LOCAL(50000));
		serve_one(&scene, "4");
		finish(&scene);
		assert_int_equal(state_socket_counts(scene.lab.state)->n_by_order, 0);
		assert_int_equal(count(&scene, "server:?"), 1);
		lab_stop(&scene.lab);
	}
}

static void handshake(struct scene *scene, bool is_6)
{
	const struct packet_header syn = {.from_port = 50000,
			.to_port = 8080,
			.seq = 1000,
			.flags = PACKET_SYN,
			.is_6 = is_6};
	const struct packet_header answer = {.from_port = 8080,
			.to_port = 50000,
			.seq = 2000,
			.ack = 1001,
			.flags = PACKET_SYN | PACKET_ACK,
			.is_6 = is_6};

	call(scene, CLIENT, "socket", is_6 ? "family:i=10 type:i=1" : "family:i=2 type:i=1", 7, "");
	tell(scene, CLIENT, "syscall_entry_connect %s",
			is_6 ? "fd:i=7 family:u=10 dport:u=8080 v4addr:a= "
			       "v6addr:a=0,0,0,0,0,0,0,1"
			     : "fd:i=7 family:u=2 dport:u=8080 v4addr:a=127,0,0,1 v6addr:a=");
	packet(scene, CLIENT, &syn);
	packet(scene, CLIENT, &answer);
	tell(scene, CLIENT, "syscall_exit_connect ret:i=-115");
}

static void test_headers(void **state)
{
	for (uint32_t is_6 = 0; is_6 < 2; is_6++) {
		static struct scene scene;

		(void)state;
		start(&scene);
		handshake(&scene, is_6);
		/* That it listens was before the recording. */
		call(&scene, SERVER, "accept4", "fd:i=3 flags:i=0", 4,
				is_6 ? "family:u=10 sport:u=50000 v4addr:a= "
				       "v6addr:a=0,0,0,0,0,0,0,1"
				     : LOCAL(50000));
		serve_one(&scene, "4");
		finish(&scene);
		assert_int_equal(count(&scene, "server:8080"), 1);
		assert_int_equal(state_socket_counts(scene.lab.state)->n_by_headers, 1);
		assert_true(is_noted(&scene, "is known of 1 by TCP headers"));
		lab_stop(&scene.lab);
	}
}

/* Both ends are on hosts of their own: a request is from when it was sent on the other one. */
static void test_two_hosts(void **state)
{
	const uint32_t hosts[] = {0xc0000201, 0xc0000202};
	const struct packet_header syn = {.from = hosts[0],
			.to = hosts[1],
			.from_port = 50000,
			.to_port = 8080,
			.seq = 1000,
			.flags = PACKET_SYN};
	const struct packet_header answer = {.from = hosts[1],
			.to = hosts[0],
			.from_port = 8080,
			.to_port = 50000,
			.seq = 2000,
			.ack = 1001,
			.flags = PACKET_SYN | PACKET_ACK};
	static struct scene scene;
	uint32_t alpha, beta;
	uint64_t sent_ns;

	(void)state;
	start(&scene);
	alpha = scene.stream;
	beta = scene.stream = add_host(&scene, "beta");
	run_all(&scene);
	scene.stream = alpha;
	call(&scene, CLIENT, "socket", "family:i=2 type:i=1", 7, "");
	tell(&scene, CLIENT,
			"syscall_entry_connect fd:i=7 family:u=2 dport:u=8080 v4addr:a=192,0,2,2 "
			"v6addr:a=");
	packet(&scene, CLIENT, &syn);
	scene.stream = beta;
	packet(&scene, OTHER, &syn);
	packet(&scene, OTHER, &answer);
	scene.stream = alpha;
	packet(&scene, OTHER, &answer);
	tell(&scene, CLIENT, "syscall_exit_connect ret:i=0");
	tell(&scene, CLIENT, "syscall_entry_write fd:u=7 count:u=20");
	sent_ns = scene.now_ns;
	tell(&scene, CLIENT, "syscall_exit_write ret:i=20");
	scene.stream = beta;
	call(&scene, SERVER, "accept4", "fd:i=3 flags:i=0", 4,
			"family:u=2 sport:u=50000 v4addr:a=192,0,2,1 v6addr:a=");
	serve_one(&scene, "4");
	finish(&scene);
	assert_int_equal(count(&scene, "server:8080"), 1);
	assert_int_equal(scene.start_ns[0], sent_ns);
	lab_stop(&scene.lab);
}

static void send_late(struct scene *scene, uint32_t seq, uint32_t length)
{
	tell(scene, SERVER, "syscall_entry_write fd:u=9 count:u=%u", length);
	packet(scene, SERVER,
			&(struct packet_header){.from_port = 8080,
					.to_port = 50000,
					.seq = seq,
					.flags = PACKET_ACK,
					.payload = length});
	tell(scene, SERVER, "syscall_exit_write ret:i=%u", length);
}

/*
 * A descriptor that was there before: two sends tell whose it is, where the bytes go on; and its
 * port is a server's once another connection of it is accepted.
 */
static void test_before_recording(void **state)
{
	for (uint32_t fits = 0; fits < 2; fits++) {
		static struct scene scene;

		(void)state;
		start(&scene);
		tell(&scene, SERVER,
				"lttng_statedump_file_descriptor pid:i=%d fd:i=9 flags:u=2 "
				"fmode:u=3 "
				"filename:s=socket:[4711]",
				SERVER);
		handshake(&scene, false);
		call(&scene, SERVER, "accept4", "fd:i=3 flags:i=0", 4, LOCAL(50000));
		send_late(&scene, 500, 10);
		send_late(&scene, fits ? 510 : 517, 10);
		call(&scene, SERVER, "read", "fd:u=9 count:u=100", 5, "");
		send_late(&scene, 520, 10);
		finish(&scene);
		assert_int_equal(state_socket_counts(scene.lab.state)->n_late, fits);
		assert_int_equal(count(&scene, "server:8080"), fits);
		lab_stop(&scene.lab);
	}
}

static void test_datagrams(void **state)
{
	static struct scene scene;

	(void)state;
	start(&scene);
	call(&scene, CLIENT, "socket", "family:i=2 type:i=2", 7, "");
	call(&scene, CLIENT, "connect",
			"fd:i=7 family:u=2 dport:u=53 v4addr:a=127,0,0,53 v6addr:a=", 0, "");
	call(&scene, CLIENT, "sendto", "fd:i=7 len:u=30 flags:u=0", 30, "");
	call(&scene, CLIENT, "recvfrom", "fd:i=7 flags:u=0", 60, "");
	finish(&scene);
	assert_int_equal(scene.n, 0);
	assert_int_equal(state_socket_counts(scene.lab.state)->n_unknown, 0);
	lab_stop(&scene.lab);
}

/*
 * Who has received something from somebody unknown asks for nobody known: on a descriptor that was
 * there before, or a datagram; but for an answer.
 */
static void test_asked_for(void **state)
{
	static const struct {
		const char *call, *fd;
		uint32_t n_calls;
	} cases[] = {
			{NULL, NULL, 1}, {"read", "9", 0}, /* nothing is known of it */
			{"recvfrom", "5", 0},              /* datagrams */
			{"recvfrom", "6", 1}, /* likewise, connected: it asked for that */
	};

	(void)state;
	for (uint32_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		static struct scene scene;
		char text[64];

		start(&scene);
		call(&scene, SERVER, "socket", "family:i=2 type:i=2", 5, "");
		call(&scene, SERVER, "socket", "family:i=2 type:i=2", 6, "");
		call(&scene, SERVER, "connect",
				"fd:i=6 family:u=2 dport:u=53 v4addr:a=127,0,0,53 v6addr:a=", 0,
				"");
		handshake(&scene, false);
		call(&scene, SERVER, "accept4", "fd:i=3 flags:i=0", 4, LOCAL(50000));
		call(&scene, SERVER, "recvfrom", "fd:i=4 flags:u=0", 20, "");
		if (cases[i].call) {
			snprintf(text, sizeof(text), "fd:i=%s flags:u=0", cases[i].fd);
			call(&scene, SERVER, cases[i].call, text, 12, "");
		}
		call(&scene, SERVER, "socket", "family:i=1 type:i=1", 8, "");
		call(&scene, SERVER, "connect",
				"fd:i=8 family:u=1 dport:u=0 v4addr:a= v6addr:a=", 0, "");
		call(&scene, SERVER, "sendto", "fd:i=8 len:u=9 flags:u=0", 9, "");
		call(&scene, SERVER, "sendto", "fd:i=4 len:u=30 flags:u=0", 30, "");
		finish(&scene);
		assert_int_equal(count(&scene, "server:8080"), 1);
		assert_int_equal(scene.n_calls, cases[i].n_calls);
		lab_stop(&scene.lab);
	}
}

/* Below fifty requests a second, for three seconds, Unix sockets do not end activations. */
static void test_held(void **state)
{
	for (uint32_t rate = 40; rate <= 60; rate += 20) {
		static struct scene scene;
		uint64_t begin_ns;

		(void)state;
		start(&scene);
		listen_at(&scene, 1);
		call(&scene, CLIENT, "socket", "family:i=1 type:i=1", 7, "");
		call(&scene, CLIENT, "connect",
				"fd:i=7 family:u=1 dport:u=0 v4addr:a= v6addr:a=", 0, "");
		call(&scene, SERVER, "accept4", "fd:i=3 flags:i=0", 4, NOBODY);
		begin_ns = scene.now_ns;
		for (uint32_t i = 0; i < 4 * rate; i++) {
			scene.now_ns = begin_ns + i * (1000 * MS / rate);
			serve_one(&scene, "4");
		}
		finish(&scene);
		if (rate < FOUND_LEAST) {
			assert_int_equal(scene.n, 0);
			assert_true(is_noted(&scene, "server server (it accepts connections): 160 "
						     "requests over Unix sockets on 1 connection: "
						     "below 50 a second"));
		} else {
			assert_in_range(count(&scene, "server"), rate, 2 * rate);
		}
		lab_stop(&scene.lab);
	}
}

/* A probe's host beside one of LTTng's: each is told of by its own events, and once. */
static void test_beside_probe(void **state)
{
	static struct scene scene;
	uint32_t alpha;

	(void)state;
	start(&scene);
	alpha = scene.stream;
	for (uint32_t host = 0; host < 2; host++) {
		scene.stream = host ? add_host(&scene, "beta") : alpha;
		if (host) {
			run_all(&scene);
			tell(&scene, SERVER, "pythiatop_statedump_listener netns:u=1 sport:u=8080");
		} else { /* what the probe leaves out */
			tell(&scene, SERVER,
					"socket_send family:u=2 netns:u=1 sport:u=0 dport:u=0 "
					"saddr_high:u=0 "
					"saddr_low:u=0 daddr_high:u=0 daddr_low:u=0 named:u=0 "
					"position:u=0 "
					"tid:i=0 length:u=0");
		}
	}
	/* The declaration alone is of both; beta has had an event of the probe. */
	handshake(&scene, false);
	call(&scene, SERVER, "accept4", "fd:i=3 flags:i=0", 4, LOCAL(50000));
	serve_one(&scene, "4");
	finish(&scene);
	assert_int_equal(scene.n, 0); /* the probe would have told of a message */
	lab_stop(&scene.lab);
}

static void test_beside_lttng(void **state)
{
	static struct scene scene;
	static const char *const fields[] = {"family", "netns", "sport", "dport", "saddr_high",
			"saddr_low", "daddr_high", "daddr_low", "named", "position", "length"};
	struct field list[11];

	(void)state;
	start(&scene);
	for (uint32_t i = 0; i < 11; i++) {
		list[i] = (struct field){.name = fields[i], .kind = FIELD_UINT, .base = 10};
	}
	/* Somewhere a probe is read as well. Until it is known who records this host, nobody is
	 * believed. */
	lab_add_type(&scene.lab,
			&(struct event_type){
					.name = "socket_send", .n_fields = 11, .fields = list});
	listen_at(&scene, 2);
	call(&scene, SERVER, "accept4", "fd:i=3 flags:i=0", 4, LOCAL(50001));
	serve_one(&scene, "4");
	tell(&scene, SERVER, "sched_wakeup comm:s=x tid:i=77 prio:i=20 target_cpu:i=0");
	serve_one(&scene, "4");
	finish(&scene);
	assert_int_equal(count(&scene, "server:?"), 1);
	lab_stop(&scene.lab);
}

/* More connections than there is room for: the oldest go, and nothing is taken for certain. */
static void test_bounds(void **state)
{
	static struct scene scene;

	(void)state;
	start(&scene);
	listen_at(&scene, 2);
	for (uint32_t i = 0; i < SOCKETS_MAX_PENDING + 10; i++) {
		char text[128];

		snprintf(text, sizeof(text),
				"fd:i=%u family:u=2 dport:u=8080 v4addr:a=127,0,0,1 v6addr:a=",
				100 + i);
		call(&scene, CLIENT, "socket", "family:i=2 type:i=1", 100 + i, "");
		call(&scene, CLIENT, "connect", text, -115, "");
	}
	call(&scene, SERVER, "accept", "fd:i=3", 4, LOCAL(50000));
	assert_int_equal(state_socket_counts(scene.lab.state)->n_by_order, 0);
	for (uint32_t i = 0; i < TCP_FLOWS_MAX + 100; i++) {
		packet(&scene, OTHER,
				&(struct packet_header){.from_port = i % 60000,
						.to_port = 1 + i / 60000,
						.seq = i,
						.flags = PACKET_SYN});
	}
	finish(&scene);
	lab_stop(&scene.lab);
}

/* Whatever is cut off or changed of a header is no TCP, or is read within its bytes. */
static void test_damaged_headers(void **state)
{
	static struct packet_tree tree;
	const struct packet_header header = {
			.from_port = 50000, .to_port = 8080, .seq = 1, .payload = 100};
	struct tcp_header out;

	(void)state;
	packet_headers(&tree, &header);
	for (uint32_t used = tree.used;; used -= 4) {
		unsigned char *copy = malloc(8 + used + 8);
		uint64_t slot = (uint64_t)8 << 32 | used;
		struct event event = {.bytes = 8 + used + 1, .slots = (uint64_t *)(void *)copy};

		assert_non_null(copy);
		memcpy(copy, &slot, sizeof(slot));
		memcpy(copy + 8, tree.words, used);
		copy[8 + used] = '\0';
		assert_int_equal(tcp_header_read(&event, 0, &out), used == tree.used);
		for (uint32_t i = 0; i + 4 <= used; i += 4) {
			const uint32_t damage = UINT32_C(0x7fffffff);

			memcpy(copy + 8, tree.words, used);
			memcpy(copy + 8 + i, &damage, sizeof(damage));
			tcp_header_read(&event, 0, &out); /* sanitizers look on */
		}
		free(copy);
		if (used < 4) {
			break;
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
			cmocka_unit_test(test_unknown_port),
			cmocka_unit_test(test_port_of_client),
			cmocka_unit_test(test_not_whole),
			cmocka_unit_test(test_headers),
			cmocka_unit_test(test_two_hosts),
			cmocka_unit_test(test_before_recording),
			cmocka_unit_test(test_datagrams),
			cmocka_unit_test(test_asked_for),
			cmocka_unit_test(test_held),
			cmocka_unit_test(test_beside_probe),
			cmocka_unit_test(test_beside_lttng),
			cmocka_unit_test(test_bounds),
			cmocka_unit_test(test_damaged_headers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
