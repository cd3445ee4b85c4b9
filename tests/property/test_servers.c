/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Requests of servers against what really happened: a front end with one event loop, back ends with
 * a thread for each connection, databases behind these, in random order. Every request is found
 * with exactly the calls that it led to, from when its message was sent until its answer was; where
 * events were lost, nothing is joined that does not belong together.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "lab.h"
#include "requests/walked.h"

#define T0      UINT64_C(1700000000000000000)
#define CLIENTS 6u
#define BACKS   3u
#define ROUNDS  3000u
#define MOST    (4 * ROUNDS)

enum { FRONT_PORT = 80, BACK_PORT = 9000, DATA_PORT = 5432 };

/* Threads, each on a CPU of its own. */
enum { FRONT = 1, BACK = 10, DATA = 20, CLIENT = 30, THREADS = 40 };

/* A request as it was. */
struct truth {
	uint64_t start_ns, end_ns;
	uint32_t parent; /* index; UINT32_MAX: a client sent it */
	uint32_t port;
	bool done, found;
};

/* A connection: bytes under way, and whose they are. */
struct wire {
	uint32_t client, server; /* threads */
	uint32_t port, client_port;
	uint32_t sent[2], received[2]; /* from the client, from the server */
	uint32_t request;              /* the one under way; UINT32_MAX: none */
	uint32_t caller;               /* of the client's side */
	bool taken;
	uint64_t asked_ns;
};

struct world {
	struct lab lab;
	uint32_t stream, random;
	uint64_t now_ns;
	uint32_t socket_type[3], enter, leave, switched;
	bool in_call[THREADS];
	uint32_t sending[THREADS]; /* request whose answer the thread sends */
	struct wire front[CLIENTS], back[BACKS], data[BACKS];
	bool data_asked[BACKS];
	struct truth truths[MOST];
	uint32_t n_truths;
	bool dropping, lossy;
	uint32_t roots, complete, wrong, missing, late;
};

static uint32_t draw(struct world *world, uint32_t below)
{
	world->random = world->random * 1664525u + 1013904223u;
	return (world->random >> 8) % below;
}

/* --- What the engine says --------------------------------------------------------------------- */

static struct truth *truth_of(struct world *world, uint64_t start_ns, uint32_t port)
{
	for (uint32_t i = world->n_truths; i > 0; i--) {
		struct truth *truth = &world->truths[i - 1];

		if (truth->start_ns == start_ns && truth->port == port) {
			return truth;
		}
	}
	return NULL;
}

static uint32_t port_of(struct world *world, uint32_t name)
{
	const char *text = names_text(world->lab.names, name), *colon = strrchr(text, ':');

	return colon && strncmp(text, "call", 4) != 0 ? (uint32_t)strtoul(colon + 1, NULL, 10) : 0;
}

static uint32_t root_of(const struct world *world, uint32_t at)
{
	while (world->truths[at].parent != UINT32_MAX) {
		at = world->truths[at].parent;
	}
	return at;
}

static void check(void *context, struct request *request)
{
	struct world *world = context;
	uint32_t n_inside = 0, n_true = 0, root;
	struct truth *truth;
	struct walked walked;

	if (!port_of(world, request->type)) {
		return; /* a system call from before the first message was seen */
	}
	truth = truth_of(world, request->start_ns, port_of(world, request->type));
	world->roots++;
	if (!truth) {
		world->wrong += !world->lossy; /* cut off at its start */
		return;
	}
	if (request->state != REQUEST_COMPLETE || request->tainted) {
		return;
	}
	root = (uint32_t)(truth - world->truths);
	world->complete++;
	truth->found = true;
	if (!world->lossy && (truth->parent != UINT32_MAX || request->end_ns != truth->end_ns)) {
		world->wrong++;
	}
	assert_true(requests_walk(world->lab.requests, request, &walked));
	for (uint32_t i = 0; i < walked.n_spans; i++) {
		const struct context *c =
				contexts_get(world->lab.contexts, walked.spans[i].context);
		uint32_t port = port_of(world, c->name);
		const struct truth *inner =
				port ? truth_of(world, walked.spans[i].start_ns, port) : NULL;
		uint32_t above = walked.spans[i].parent;

		if (!port) {
			continue;
		}
		n_inside++;
		if (!inner || root_of(world, (uint32_t)(inner - world->truths)) !=
						root_of(world, root)) {
			world->wrong++;
			continue;
		}
		/* And under the very request that asked for it. */
		while (above != WALKED_NONE &&
				!port_of(world, contexts_get(world->lab.contexts,
								walked.spans[above].context)
								->name)) {
			above = walked.spans[above].parent;
		}
		if (inner != truth && (above == WALKED_NONE ||
						      walked.spans[above].start_ns !=
								      world->truths[inner->parent]
										      .start_ns)) {
			world->wrong++;
		}
	}
	for (uint32_t i = 0; i < world->n_truths; i++) {
		n_true += root_of(world, i) == root;
	}
	if (!world->lossy && n_inside != n_true) {
		world->missing++;
	}
}

/* --- What the kernel says --------------------------------------------------------------------- */

static void feed(
		struct world *world, uint32_t type, uint32_t cpu, const uint64_t *slots, uint32_t n)
{
	world->now_ns += 1 + draw(world, 2000);
	if (!world->dropping) {
		lab_feed(&world->lab, &(struct event){.ts_ns = world->now_ns,
						      .type = type,
						      .stream = world->stream,
						      .cpu = cpu,
						      .bytes = n * 8,
						      .slots = slots});
	}
}

static void leave_call(struct world *world, uint32_t thread)
{
	const uint64_t ret[] = {0};

	if (!world->in_call[thread]) {
		return;
	}
	feed(world, world->leave, thread, ret, 1);
	world->in_call[thread] = false;
	if (world->sending[thread] != UINT32_MAX) {
		world->truths[world->sending[thread]].end_ns = world->now_ns;
		world->sending[thread] = UINT32_MAX;
	}
}

static void enter_call(struct world *world, uint32_t thread)
{
	const uint64_t fd[] = {3};

	feed(world, world->enter, thread, fd, 1);
	world->in_call[thread] = true;
}

static void socket_event(struct world *world, uint32_t what, const struct wire *wire, bool server,
		uint32_t position, uint32_t length)
{
	const uint64_t slots[] = {2, 1, server ? wire->port : wire->client_port,
			server ? wire->client_port : wire->port, 0, 0xffff7f000001, 0,
			0xffff7f000001, 0, position, length};

	feed(world, world->socket_type[what], server ? wire->server : wire->client, slots, 11);
}

static void transmit(struct world *world, struct wire *wire, bool server, uint32_t length)
{
	uint32_t thread = server ? wire->server : wire->client;

	leave_call(world, thread);
	/* Half of the programs do not tell how much. */
	socket_event(world, 1, wire, server, wire->sent[server], draw(world, 2) ? length : 0);
	if (!server && wire->sent[0] == wire->received[0] && !wire->asked_ns) {
		wire->asked_ns = world->now_ns;
	}
	enter_call(world, thread);
	wire->sent[server] += length;
	if (server) {
		world->sending[thread] = wire->request;
	}
}

static void take(struct world *world, struct wire *wire, bool server, uint32_t length)
{
	uint32_t thread = server ? wire->server : wire->client;

	leave_call(world, thread);
	enter_call(world, thread);
	leave_call(world, thread);
	wire->received[!server] += length;
	socket_event(world, 0, wire, server, wire->received[!server], length);
}

/* --- What programs do ------------------------------------------------------------------------- */

static void ask(struct world *world, struct wire *wire, uint32_t caller)
{
	wire->asked_ns = 0;
	wire->caller = caller;
	transmit(world, wire, false, 10 + draw(world, 50));
	if (draw(world, 4) == 0) {
		transmit(world, wire, false, 5); /* in two pieces */
	}
	wire->request = world->n_truths++;
	wire->taken = false;
	world->truths[wire->request] = (struct truth){
			.start_ns = wire->asked_ns, .parent = caller, .port = wire->port};
}

static void answer(struct world *world, struct wire *wire)
{
	world->truths[wire->request].done = true;
	transmit(world, wire, true, 30);
	if (draw(world, 3) == 0) {
		transmit(world, wire, true, 7);
	}
	leave_call(world, wire->server);
}

static bool has_message(const struct wire *wire, bool server)
{
	return wire->sent[!server] != wire->received[!server];
}

static void take_all(struct world *world, struct wire *wire, bool server)
{
	uint32_t n = wire->sent[!server] - wire->received[!server];

	if (n > 5 && draw(world, 3) == 0) {
		take(world, wire, server, 5);
		n -= 5;
	}
	take(world, wire, server, n);
}

static void wait_for_more(struct world *world, uint32_t thread)
{
	leave_call(world, thread);
	enter_call(world, thread);
}

static void step_front(struct world *world)
{
	uint32_t i = draw(world, CLIENTS), k = draw(world, BACKS);
	struct wire *wire = &world->front[i], *up = &world->back[k];

	if (up->request != UINT32_MAX && has_message(up, false)) {
		/* An answer from behind: that is whose client gets it, or one more question. */
		uint32_t request = up->caller;
		struct wire *to = NULL;

		take_all(world, up, false);
		up->request = UINT32_MAX;
		for (uint32_t c = 0; c < CLIENTS; c++) {
			to = world->front[c].request == request ? &world->front[c] : to;
		}
		assert_non_null(to);
		if (draw(world, 3) == 0) {
			ask(world, up, request);
		} else {
			answer(world, to);
		}
	} else if (wire->request != UINT32_MAX && !wire->taken && has_message(wire, true)) {
		take_all(world, wire, true);
		wire->taken = true;
		if (up->request == UINT32_MAX && draw(world, 4) != 0) {
			ask(world, up, wire->request);
		} else {
			answer(world, wire);
		}
	} else if (draw(world, 3) == 0) {
		wait_for_more(world, FRONT);
	}
}

static void step_back(struct world *world)
{
	uint32_t k = draw(world, BACKS);
	struct wire *wire = &world->back[k], *down = &world->data[k];

	if (world->data_asked[k]) {
		if (has_message(down, false)) {
			take_all(world, down, false);
			down->request = UINT32_MAX;
			world->data_asked[k] = false;
			answer(world, wire);
		}
	} else if (wire->request != UINT32_MAX && !wire->taken && has_message(wire, true)) {
		take_all(world, wire, true);
		wire->taken = true;
		if (draw(world, 2) == 0) {
			ask(world, down, wire->request);
			world->data_asked[k] = true;
		} else {
			answer(world, wire);
		}
	}
}

static void step_data(struct world *world)
{
	struct wire *wire = &world->data[draw(world, BACKS)];

	if (wire->request != UINT32_MAX && !wire->taken && has_message(wire, true)) {
		take_all(world, wire, true);
		wire->taken = true;
		answer(world, wire);
	}
}

static void step_client(struct world *world)
{
	struct wire *wire = &world->front[draw(world, CLIENTS)];

	if (wire->request == UINT32_MAX) {
		if (world->n_truths < MOST - 8) {
			ask(world, wire, UINT32_MAX);
		}
	} else if (world->truths[wire->request].done && has_message(wire, false)) {
		take_all(world, wire, false);
		wire->request = UINT32_MAX;
	}
}

static void step(struct world *world)
{
	static void (*const steps[])(struct world *) = {
			step_front, step_back, step_data, step_client};

	steps[draw(world, 4)](world);
}

/* --- Trials ----------------------------------------------------------------------------------- */

static uint32_t add_type(
		struct world *world, const char *name, const char *const *fields, uint32_t n)
{
	struct field list[12];
	struct event_type type = {.name = name, .n_fields = n, .fields = list};

	for (uint32_t i = 0; i < n; i++) {
		list[i] = (struct field){.name = fields[i], .kind = FIELD_UINT, .base = 10};
	}
	return lab_add_type(&world->lab, &type);
}

static void connect_wire(struct wire *wire, uint32_t client, uint32_t server, uint32_t port,
		uint32_t client_port, struct world *world)
{
	*wire = (struct wire){.client = client,
			.server = server,
			.port = port,
			.client_port = client_port,
			.request = UINT32_MAX};
	/* Streams begin anywhere, and their numbers come round. */
	wire->sent[0] = wire->received[0] = UINT32_MAX - draw(world, 2000);
	wire->sent[1] = wire->received[1] = draw(world, 1u << 20);
}

static void listen_all(struct world *world)
{
	static const uint32_t ports[] = {FRONT_PORT, BACK_PORT, DATA_PORT};

	for (uint32_t i = 0; i < 3; i++) {
		const uint64_t slots[] = {2, 1, ports[i], 0, 0, 0, 0, 0, 0, 0, 0};

		feed(world, world->socket_type[2], FRONT, slots, 11);
	}
}

static void start(struct world *world, uint32_t seed)
{
	static const char *const socket_fields[] = {"family", "netns", "sport", "dport",
			"saddr_high", "saddr_low", "daddr_high", "daddr_low", "named", "position",
			"length"};
	static const char *const one[] = {"fd"}, *const ret[] = {"ret"};
	static const char *const tids[] = {"prev_tid", "next_tid", "prev_state"};
	static const char *const names[] = {"socket_recv", "socket_send", "socket_listen"};
	uint32_t session;

	memset(world, 0, sizeof(*world));
	world->random = seed;
	world->now_ns = T0;
	lab_start(&world->lab, check, world);
	session = lab_add_session(
			&world->lab, &(struct session_desc){.host = "alpha", .name = "test"});
	world->stream = lab_add_stream(&world->lab,
			&(struct stream_desc){.session = session, .domain = DOMAIN_KERNEL});
	for (uint32_t i = 0; i < 3; i++) {
		world->socket_type[i] = add_type(world, names[i], socket_fields, 11);
	}
	world->enter = add_type(world, "syscall_entry_epoll_wait", one, 1);
	world->leave = add_type(world, "syscall_exit_epoll_wait", ret, 1);
	world->switched = add_type(world, "sched_switch", tids, 3);
	for (uint32_t t = 1; t < THREADS; t++) {
		const uint64_t slots[] = {0, t, 0};

		world->sending[t] = UINT32_MAX;
		feed(world, world->switched, t, slots, 3);
	}
	for (uint32_t i = 0; i < CLIENTS; i++) {
		connect_wire(&world->front[i], CLIENT + i, FRONT, FRONT_PORT, 40000 + i, world);
	}
	for (uint32_t i = 0; i < BACKS; i++) {
		connect_wire(&world->back[i], FRONT, BACK + i, BACK_PORT, 41000 + i, world);
		connect_wire(&world->data[i], BACK + i, DATA + i, DATA_PORT, 42000 + i, world);
	}
}

static void finish(struct world *world)
{
	servers_finish(world->lab.servers);
	requests_finish(world->lab.requests);
}

static void test_exact(void **state)
{
	static struct world world;

	(void)state;
	for (uint32_t seed = 1; seed <= 20; seed++) {
		uint32_t done = 0, found = 0;

		start(&world, seed);
		listen_all(&world);
		for (uint32_t i = 0; i < 4 * ROUNDS; i++) {
			step(&world);
		}
		finish(&world);
		for (uint32_t i = 0; i < world.n_truths; i++) {
			done += world.truths[i].parent == UINT32_MAX && world.truths[i].done;
			found += world.truths[i].found;
		}
		if (world.wrong || world.missing || found != done) {
			print_error("seed %u: %u of %u found, %u wrong, %u incomplete\n", seed,
					found, done, world.wrong, world.missing);
		}
		assert_int_equal(world.wrong, 0);
		assert_int_equal(world.missing, 0);
		assert_int_equal(found, done);
		assert_true(done > 200);
		lab_stop(&world.lab);
	}
}

static void test_lossy(void **state)
{
	static struct world world;

	(void)state;
	for (uint32_t seed = 100; seed < 120; seed++) {
		start(&world, seed);
		listen_all(&world);
		world.lossy = true;
		for (uint32_t i = 0; i < 4 * ROUNDS; i++) {
			uint64_t begin_ns = world.now_ns;

			if (draw(&world, 400) == 0) {
				world.dropping = true;
				for (uint32_t n = 1 + draw(&world, 30); n > 0; n--) {
					step(&world);
				}
				world.dropping = false;
				lab_lose(&world.lab, &(struct loss){.stream = world.stream,
								     .begin_ns = begin_ns,
								     .end_ns = world.now_ns,
								     .count = 1});
			}
			step(&world);
		}
		finish(&world);
		if (world.wrong) {
			print_error("seed %u: %u wrong of %u\n", seed, world.wrong, world.complete);
		}
		assert_int_equal(world.wrong, 0);
		assert_true(world.complete > 100);
		lab_stop(&world.lab);
	}
}

/* Nobody says who listens, or only when all is under way: requests are found, and none is wrong. */
static void check_ports(bool told, uint32_t seed)
{
	static struct world world;

	start(&world, seed);
	world.lossy = true;
	for (uint32_t i = 0; i < 4 * ROUNDS; i++) {
		if (told && i == ROUNDS) {
			listen_all(&world);
		}
		step(&world);
	}
	finish(&world);
	if (world.wrong || world.complete <= 200) {
		print_error("seed %u: %u wrong of %u\n", seed, world.wrong, world.complete);
	}
	assert_int_equal(world.wrong, 0);
	assert_true(world.complete > 200);
	lab_stop(&world.lab);
}

static void test_ports_are_told_late(void **state)
{
	(void)state;
	for (uint32_t seed = 200; seed < 210; seed++) {
		check_ports(true, seed);
		check_ports(false, seed);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
			cmocka_unit_test(test_ports_are_told_late),
			cmocka_unit_test(test_exact),
			cmocka_unit_test(test_lossy),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
