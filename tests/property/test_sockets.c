/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The same requests from LTTng's kernel events as from the probe's: clients, a front end with an
 * event loop, a back end whose threads accept by themselves, a database that forks for each
 * connection; over TCP and Unix sockets, with descriptors that are duplicated, inherited, closed
 * and given anew, in random order. Each thing that happens is told twice: in system calls and
 * packets, and in system calls and socket_* events. Where the first tell all, requests are the
 * same, span by span; where they do not (no packets, connections made before, events lost), none
 * has what is another one's.
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
#include "requests/walked.h"

#define T0        UINT64_C(1700000000000000000)
#define CLIENTS   5u
#define BACKS     3u
#define MAX_FDS   64u
#define MAX_FOUND 20000u
#define MAX_SPANS 400000u

enum { FRONT_PORT = 80, BACK_PORT = 9000, DATA_PORT = 5432 };

/* Threads have a CPU each. A child of the database takes the one of its place. */
enum {
	FRONT = 1,
	BACK = 10,
	DATA = 20,
	CHILD = 21,
	CLIENT = 30,
	CPUS = 40,
	FIRST_CHILD_TID = 1000
};

/* --- what was found --------------------------------------------------------------------------- */

struct found_span {
	const char *name;
	uint64_t start_ns, own_ns;
	uint32_t parent;
};

struct found_request {
	const char *type;
	uint64_t start_ns, end_ns;
	uint32_t n_spans, first;
	bool whole;
};

/* One of the two ways to be told. */
struct side {
	struct lab lab;
	uint32_t stream;
	struct found_request requests[MAX_FOUND];
	struct found_span spans[MAX_SPANS];
	uint32_t n_requests, n_spans;
};

/* What one side alone is told, and what goes with it, is not compared: it has no spans in it. */
static bool is_theirs(const char *name)
{
	return strncmp(name, "socket_", 7) == 0 || strncmp(name, "net_", 4) == 0 ||
	       strncmp(name, "softirq_", 8) == 0;
}

static void take(void *context, struct request *request)
{
	struct side *side = context;
	const char *type = names_text(side->lab.names, request->type);
	struct found_request *found = &side->requests[side->n_requests];
	static uint32_t kept[MAX_SPANS]; /* which of those kept a span is */
	struct walked walked;

	if (!servers_serve(side->lab.servers, request->type)) {
		return;
	}
	assert_true(side->n_requests < MAX_FOUND);
	*found = (struct found_request){.type = type,
			.start_ns = request->start_ns,
			.end_ns = request->end_ns,
			.first = side->n_spans,
			.whole = request->state == REQUEST_COMPLETE && !request->tainted};
	assert_true(requests_walk(side->lab.requests, request, &walked));
	for (uint32_t i = 0; i < walked.n_spans; i++) {
		const struct walked_span *span = &walked.spans[i];
		const char *name = names_text(side->lab.names,
				contexts_get(side->lab.contexts, span->context)->name);

		assert_true(side->n_spans < MAX_SPANS && i < MAX_SPANS);
		kept[i] = is_theirs(name) ? WALKED_NONE : found->n_spans++;
		if (kept[i] != WALKED_NONE) {
			side->spans[side->n_spans++] = (struct found_span){.name = name,
					.start_ns = span->start_ns,
					.parent = span->parent == WALKED_NONE ? WALKED_NONE
									      : kept[span->parent]};
		}
	}
	for (uint32_t i = 0; i < walked.n_pieces; i++) {
		uint32_t span = kept[walked.pieces[i].span];

		if (span != WALKED_NONE) {
			side->spans[found->first + span].own_ns += walked.pieces[i].ns;
		}
	}
	side->n_requests++;
}

/* --- the world -------------------------------------------------------------------------------- */

struct process {
	int32_t pid;
	uint64_t fds; /* a bit for each that is open */
};

/* A connection; [0]: its client's end, [1]: its server's. */
struct wire {
	bool connected, accepted, is_unix, known;
	uint32_t cpu[2];
	int32_t fd[2];
	uint32_t port, client_port;
	uint64_t inode[2];
	uint32_t position[2]; /* of the next byte that the end sends */
	uint32_t unread[2];   /* bytes that the end has not read */
	uint64_t came_ns[2];  /* when bytes last came there */
	uint32_t caller;      /* of the front end: which client's wire it asks for */
	bool asked, taken;
};

/* What may go on. */
struct manner {
	bool headers;    /* packets are told */
	bool one_by_one; /* a connection is accepted before the next one is made */
	bool hides_peer; /* some accept without asking who it is */
	bool late;       /* connections are there before the recording */
	bool lossy;
	bool slow; /* it takes many seconds */
};

struct world {
	struct side *probe, *lttng;
	struct manner manner;
	uint32_t random;
	uint64_t now_ns, next_inode;
	uint32_t next_port;
	int32_t tid[CPUS], pid[CPUS], next_tid;
	bool in_call[CPUS];
	struct process processes[CPUS]; /* of the thread of that CPU, by its first thread's */
	int32_t listen_fd[CPUS][2];     /* of TCP, of a Unix socket */
	struct wire front[CLIENTS], back[BACKS], data[BACKS];
	bool quiet; /* before the recording */
	bool dropping;
};

static uint32_t draw(struct world *world, uint32_t below)
{
	world->random = world->random * 1664525u + 1013904223u;
	return (world->random >> 8) % below;
}

static uint32_t process_of(uint32_t cpu)
{
	return cpu >= BACK && cpu < BACK + BACKS ? BACK : cpu;
}

static int32_t new_fd(struct world *world, uint32_t cpu)
{
	struct process *process = &world->processes[process_of(cpu)];
	int32_t fd = 3;

	while (process->fds >> fd & 1) {
		fd++;
	}
	assert_true(fd < (int32_t)MAX_FDS);
	process->fds |= UINT64_C(1) << fd;
	return fd;
}

static void free_fd(struct world *world, uint32_t cpu, int32_t fd)
{
	world->processes[process_of(cpu)].fds &= ~(UINT64_C(1) << fd);
}

/* --- events ----------------------------------------------------------------------------------- */

static void feed_one(
		struct side *side, uint64_t ts_ns, uint32_t cpu, const struct kernel_words *words)
{
	uint32_t id = lab_add_type(&side->lab, &words->type);

	lab_feed(&side->lab, &(struct event){.ts_ns = ts_ns,
					     .type = id,
					     .stream = side->stream,
					     .cpu = cpu,
					     .bytes = words->used ? words->used : 8,
					     .slots = words->slots});
}

enum whom { TO_PROBE = 1, TO_LTTNG = 2, TO_BOTH = 3 };

static void __attribute__((format(printf, 4, 5)))
tell(struct world *world, enum whom whom, uint32_t cpu, const char *format, ...)
{
	static struct kernel_words words;
	char text[1024];
	va_list list;

	if (world->quiet) {
		return;
	}
	va_start(list, format);
	vsnprintf(text, sizeof(text), format, list);
	va_end(list);
	kernel_parse(&words, text);
	if (whom & TO_PROBE) {
		feed_one(world->probe, world->now_ns, cpu, &words);
	}
	if (whom & TO_LTTNG && !world->dropping) {
		feed_one(world->lttng, world->now_ns, cpu, &words);
	}
}

static void pass_time(struct world *world)
{
	world->now_ns += 1 + draw(world, 2000);
}

static void __attribute__((format(printf, 4, 5)))
enter(struct world *world, uint32_t cpu, const char *call, const char *format, ...)
{
	char fields[512];
	va_list list;

	va_start(list, format);
	vsnprintf(fields, sizeof(fields), format, list);
	va_end(list);
	pass_time(world);
	world->in_call[cpu] = true;
	tell(world, TO_BOTH, cpu, "syscall_entry_%s %s", call, fields);
}

static void leave_with(struct world *world, uint32_t cpu, const char *call, int64_t ret,
		const char *fields)
{
	pass_time(world);
	world->in_call[cpu] = false;
	tell(world, TO_BOTH, cpu, "syscall_exit_%s ret:i=%ld%s", call, (long)ret, fields);
}

static void leave(struct world *world, uint32_t cpu, const char *call, int64_t ret)
{
	leave_with(world, cpu, call, ret, "");
}

/* As pythiatop-probe has it, at the time of the call's event. */
static void socket_event(struct world *world, const char *what, const struct wire *wire,
		uint32_t end, uint32_t position, uint32_t length, uint64_t queued_ns)
{
	uint32_t ports[2] = {wire->client_port, wire->port};

	if (wire->is_unix) {
		tell(world, TO_PROBE, wire->cpu[end],
				"socket_%s family:u=1 netns:u=1 sport:u=0 dport:u=0 saddr_high:u=0 "
				"saddr_low:u=%lu daddr_high:u=0 daddr_low:u=%lu named:u=%u "
				"position:u=0 tid:i=%d length:u=%u queued:u=0",
				what, (unsigned long)wire->inode[end],
				(unsigned long)wire->inode[!end], end, world->tid[wire->cpu[end]],
				length);
		return;
	}
	tell(world, TO_PROBE, wire->cpu[end],
			"socket_%s family:u=2 netns:u=1 sport:u=%u dport:u=%u saddr_high:u=0 "
			"saddr_low:u=0xffff7f000001 daddr_high:u=0 daddr_low:u=0xffff7f000001 "
			"named:u=0 position:u=%u tid:i=%d length:u=%u queued:u=%lu",
			what, ports[end], ports[!end], position, world->tid[wire->cpu[end]], length,
			(unsigned long)queued_ns);
}

/* --- packets ---------------------------------------------------------------------------------- */

static void packet(struct world *world, const struct wire *wire, uint32_t cpu, uint32_t end,
		uint32_t seq, uint32_t ack, uint32_t flags, uint32_t payload)
{
	static const struct field fields[] = {
			{.name = "len", .kind = FIELD_UINT, .base = 10},
			{.name = "name", .kind = FIELD_STRING},
			{.name = "network_header_type", .kind = FIELD_UINT, .base = 10},
			{.name = "network_header", .kind = FIELD_TREE},
	};
	static struct kernel_words words;
	static struct packet_tree tree;
	uint32_t ports[2] = {
			end ? wire->port : wire->client_port, end ? wire->client_port : wire->port};

	if (!world->manner.headers || wire->is_unix || world->quiet || world->dropping) {
		return;
	}
	memset(&words, 0, sizeof(words));
	packet_headers(&tree, &(struct packet_header){.from_port = ports[0],
					      .to_port = ports[1],
					      .seq = seq,
					      .ack = ack,
					      .flags = flags,
					      .payload = payload});
	for (uint32_t received = 0; received < 2; received++) {
		words.type = (struct event_type){
				.name = received ? "net_if_receive_skb" : "net_dev_queue",
				.n_fields = 4,
				.fields = fields};
		words.used = 4 * 8;
		words.slots[0] = 52 + payload;
		words.slots[1] = kernel_bytes(&words, "lo", 2);
		words.slots[2] = 1;
		words.slots[3] = kernel_bytes(&words, tree.words, tree.used);
		feed_one(world->lttng, world->now_ns, cpu, &words);
		if (!received) { /* what follows is done by a softirq on the same CPU */
			tell(world, TO_LTTNG, cpu, "irq_softirq_entry vec:u=3");
		}
	}
	tell(world, TO_LTTNG, cpu, "irq_softirq_exit vec:u=3");
}

/* --- what programs do with sockets ------------------------------------------------------------ */

static void close_fd(struct world *world, uint32_t cpu, int32_t fd)
{
	enter(world, cpu, "close", "fd:u=%d", fd);
	leave(world, cpu, "close", 0);
	free_fd(world, cpu, fd);
}

static void open_wire(struct world *world, struct wire *wire)
{
	uint32_t cpu = wire->cpu[0];
	bool waits = draw(world, 2);
	uint32_t isn = UINT32_MAX - draw(world, 3000), answer = draw(world, 1u << 30);

	wire->fd[0] = new_fd(world, cpu);
	wire->client_port = 40000 + world->next_port++ % 20000;
	wire->inode[0] = ++world->next_inode;
	wire->inode[1] = ++world->next_inode;
	wire->connected = true;
	wire->accepted = wire->asked = wire->taken = false;
	wire->unread[0] = wire->unread[1] = 0;
	wire->position[0] = isn + 1;
	wire->position[1] = answer + 1;
	enter(world, cpu, "socket", "family:i=%d type:i=%d", wire->is_unix ? 1 : 2,
			1 | (waits ? 0 : 2048));
	leave(world, cpu, "socket", wire->fd[0]);
	if (wire->is_unix) {
		enter(world, cpu, "connect",
				"fd:i=%d family:u=1 dport:u=0 v4addr:a= v6addr:a=", wire->fd[0]);
	} else {
		enter(world, cpu, "connect",
				"fd:i=%d family:u=2 dport:u=%u v4addr:a=127,0,0,1 v6addr:a=",
				wire->fd[0], wire->port);
	}
	packet(world, wire, cpu, 0, isn, 0, PACKET_SYN, 0);
	packet(world, wire, cpu, 1, answer, isn + 1, PACKET_SYN | PACKET_ACK, 0);
	packet(world, wire, cpu, 0, isn + 1, answer + 1, PACKET_ACK, 0);
	leave(world, cpu, "connect", waits || wire->is_unix ? 0 : -115);
	socket_event(world, "connect", wire, 0, 0, 0, 0);
}

/* Somebody asks for a port that nobody listens on. */
static void fail_to_connect(struct world *world, uint32_t cpu)
{
	int32_t fd = new_fd(world, cpu);

	enter(world, cpu, "socket", "family:i=2 type:i=1");
	leave(world, cpu, "socket", fd);
	enter(world, cpu, "connect",
			"fd:i=%d family:u=2 dport:u=9 v4addr:a=127,0,0,1 v6addr:a=", fd);
	leave(world, cpu, "connect", -111);
	close_fd(world, cpu, fd);
}

/* It goes on under another number. */
static void duplicate(struct world *world, struct wire *wire, uint32_t end)
{
	uint32_t cpu = wire->cpu[end];
	int32_t fd = new_fd(world, cpu);

	if (draw(world, 2)) {
		enter(world, cpu, "dup2", "oldfd:u=%d newfd:u=%d", wire->fd[end], fd);
		leave(world, cpu, "dup2", fd);
	} else {
		enter(world, cpu, "fcntl", "fd:u=%d cmd:u=1030 arg:u=3", wire->fd[end]);
		leave(world, cpu, "fcntl", fd);
	}
	close_fd(world, cpu, wire->fd[end]);
	wire->fd[end] = fd;
}

static bool is_waiting(const struct wire *wire, const struct wire *like)
{
	return wire->connected && !wire->accepted && wire->port == like->port &&
	       wire->is_unix == like->is_unix;
}

/* Is another connection waiting where this one came? */
static bool more_are_waiting(const struct world *world, const struct wire *like)
{
	bool waiting = false;

	for (uint32_t i = 0; i < CLIENTS; i++) {
		waiting |= is_waiting(&world->front[i], like);
	}
	for (uint32_t i = 0; i < BACKS; i++) {
		waiting |= is_waiting(&world->back[i], like) || is_waiting(&world->data[i], like);
	}
	return waiting;
}

static void accept_wire(struct world *world, struct wire *wire, uint32_t cpu)
{
	bool hides = world->manner.hides_peer && draw(world, 2), four = draw(world, 2);
	const char *call = four ? "accept4" : "accept";
	char peer[128];

	int32_t listening = world->listen_fd[process_of(cpu)][wire->is_unix];

	wire->fd[1] = new_fd(world, cpu);
	wire->accepted = true;
	if (draw(world, 3) == 0) { /* it is interrupted */
		enter(world, cpu, call, "fd:i=%d%s", listening, four ? " flags:i=2048" : "");
		leave(world, cpu, call, -4);
	}
	if (hides) {
		snprintf(peer, sizeof(peer), " family:u=0 sport:u=0 v4addr:a= v6addr:a=");
	} else if (wire->is_unix) {
		snprintf(peer, sizeof(peer), " family:u=1 sport:u=0 v4addr:a= v6addr:a=");
	} else if (draw(world, 3) == 0) { /* a socket for both, which writes IPv4 this way */
		snprintf(peer, sizeof(peer),
				" family:u=10 sport:u=%u v4addr:a= "
				"v6addr:a=0,0,0,0,0,65535,32512,1",
				wire->client_port);
	} else {
		snprintf(peer, sizeof(peer), " family:u=2 sport:u=%u v4addr:a=127,0,0,1 v6addr:a=",
				wire->client_port);
	}
	enter(world, cpu, call, "fd:i=%d%s", listening, four ? " flags:i=0" : "");
	leave_with(world, cpu, call, wire->fd[1], peer);
	if (!more_are_waiting(world, wire) && draw(world, 3) == 0) {
		enter(world, cpu, call, "fd:i=%d%s", listening, four ? " flags:i=0" : "");
		leave(world, cpu, call, -11);
	}
}

/* The database's: a child has the connection, and is the only one. */
static void accept_and_fork(struct world *world, struct wire *wire)
{
	uint32_t place = wire->cpu[1];
	int32_t before = world->tid[place], child = world->next_tid++;

	accept_wire(world, wire, DATA);
	enter(world, DATA, "clone", "flags:u=0x1200011");
	tell(world, TO_BOTH, DATA,
			"sched_process_fork parent_comm:s=data parent_tid:i=%d parent_pid:i=%d "
			"child_comm:s=data child_tid:i=%d child_pid:i=%d",
			DATA, DATA, child, child);
	leave(world, DATA, "clone", child);
	world->processes[place] = world->processes[DATA];
	world->tid[place] = child;
	tell(world, TO_BOTH, place,
			"sched_switch prev_comm:s=data prev_tid:i=%d prev_state:i=%d "
			"next_comm:s=data "
			"next_tid:i=%d",
			before, before ? 64 : 0, child);
	leave(world, place, "clone", 0);
	if (before) {
		tell(world, TO_BOTH, place, "sched_process_free comm:s=data tid:i=%d", before);
	}
	close_fd(world, DATA, wire->fd[1]);
	close_fd(world, place, world->listen_fd[DATA][0]);
}

static void accept_of(struct world *world, struct wire *wire)
{
	if (wire->port == DATA_PORT) {
		accept_and_fork(world, wire);
	} else {
		accept_wire(world, wire, wire->cpu[1]);
		if (draw(world, 4) == 0) {
			duplicate(world, wire, 1);
		}
	}
}

static void transmit(struct world *world, struct wire *wire, uint32_t end, uint32_t length)
{
	static const char *const calls[] = {"write", "sendto", "sendmsg", "writev", "sendfile64"};
	uint32_t cpu = wire->cpu[end], which = draw(world, 5);
	bool tells = which < 2;

	pass_time(world);
	/* The probe tells of a send before the call, at its time. */
	socket_event(world, "send", wire, end, wire->position[end], tells ? length : 0, 0);
	world->in_call[cpu] = true;
	wire->came_ns[!end] = world->now_ns;
	if (which == 4) {
		tell(world, TO_BOTH, cpu,
				"syscall_entry_sendfile64 out_fd:i=%d in_fd:i=60 count:u=%u",
				wire->fd[end], length);
	} else {
		tell(world, TO_BOTH, cpu, "syscall_entry_%s fd:i=%d%s%u", calls[which],
				wire->fd[end],
				which == 0   ? " count:u="
				: which == 1 ? " len:u="
					     : " vlen:u=",
				length);
	}
	packet(world, wire, cpu, end, wire->position[end], wire->position[!end] - wire->unread[end],
			PACKET_ACK, length);
	if (draw(world, 3) == 0) { /* of another connection, by the softirq; and an empty one */
		packet(world, wire, cpu, !end, wire->position[!end], wire->position[end],
				PACKET_ACK, 0);
	}
	wire->position[end] += length;
	wire->unread[!end] += length;
	leave(world, cpu, calls[which], length);
}

static void receive(struct world *world, struct wire *wire, uint32_t end, uint32_t length)
{
	static const char *const calls[] = {"read", "recvfrom", "recvmsg", "readv"};
	uint32_t cpu = wire->cpu[end], which = draw(world, 4);
	const char *flags = which == 1 || which == 2 ? " flags:u=0" : "";
	bool was_there; /* as far as packets tell it, too */

	if (draw(world, 6) == 0) { /* looks first, without taking it */
		enter(world, cpu, "recvfrom", "fd:i=%d size:u=1 flags:u=2", wire->fd[end]);
		leave(world, cpu, "recvfrom", length ? 1 : 0);
	}
	enter(world, cpu, calls[which], "fd:i=%d%s", wire->fd[end], flags);
	was_there = world->manner.headers && wire->came_ns[end] < world->now_ns;
	wire->unread[end] -= length;
	leave(world, cpu, calls[which], length);
	socket_event(world, "recv", wire, end, wire->position[!end] - wire->unread[end], length,
			was_there ? world->now_ns - wire->came_ns[end] : 0);
	if (draw(world, 6) == 0) {
		enter(world, cpu, calls[which], "fd:i=%d%s", wire->fd[end], flags);
		leave(world, cpu, calls[which], -11);
	}
}

/* In one piece or two. */
static void receive_all(struct world *world, struct wire *wire, uint32_t end)
{
	uint32_t n = wire->unread[end];

	if (n > 5 && draw(world, 3) == 0) {
		receive(world, wire, end, 5);
		n -= 5;
	}
	receive(world, wire, end, n);
}

static void close_wire(struct world *world, struct wire *wire)
{
	close_fd(world, wire->cpu[0], wire->fd[0]);
	receive(world, wire, 1, 0); /* the end of the stream */
	close_fd(world, wire->cpu[1], wire->fd[1]);
	wire->connected = false;
}

static void ask(struct world *world, struct wire *wire)
{
	transmit(world, wire, 0, 10 + draw(world, 50));
	if (draw(world, 4) == 0) {
		transmit(world, wire, 0, 5);
	}
	wire->asked = true;
	wire->taken = false;
}

static void answer(struct world *world, struct wire *wire)
{
	transmit(world, wire, 1, 30);
	if (draw(world, 3) == 0) {
		transmit(world, wire, 1, 7);
	}
	wire->taken = true;
}

static void wait_for_more(struct world *world, uint32_t cpu)
{
	enter(world, cpu, "epoll_wait", "epfd:i=50");
	leave(world, cpu, "epoll_wait", 1);
}

/* --- what programs do ------------------------------------------------------------------------- */

/* A connection that is used again, or a new one. */
static void ask_by(struct world *world, struct wire *wire)
{
	if (!wire->connected) {
		wire->is_unix = wire->port == DATA_PORT && draw(world, 2);
		open_wire(world, wire);
		if (world->manner.one_by_one) {
			accept_of(world, wire);
		}
		if (draw(world, 4) == 0) {
			duplicate(world, wire, 0);
		}
	}
	ask(world, wire);
}

static bool has_question(struct world *world, struct wire *wire)
{
	if (!wire->connected || !wire->asked || wire->taken) {
		return false;
	}
	if (!wire->accepted) {
		accept_of(world, wire);
	}
	return wire->unread[1] > 0;
}

static void step_client(struct world *world)
{
	struct wire *wire = &world->front[draw(world, CLIENTS)];

	if (wire->connected && wire->asked) {
		if (wire->taken && wire->unread[0] > 0) {
			receive_all(world, wire, 0);
			wire->asked = false;
		}
	} else if (wire->connected && draw(world, 4) == 0) {
		close_wire(world, wire);
	} else if (draw(world, 30) == 0) {
		fail_to_connect(world, wire->cpu[0]);
	} else {
		ask_by(world, wire);
	}
}

static void step_front(struct world *world)
{
	uint32_t i = draw(world, CLIENTS), k = draw(world, BACKS);
	struct wire *wire = &world->front[i], *up = &world->back[k];

	if (up->connected && up->asked && up->taken && up->unread[0] > 0) {
		receive_all(world, up, 0);
		up->asked = false;
		if (draw(world, 3) == 0) {
			ask(world, up); /* one more question */
			return;
		}
		if (draw(world, 3) == 0) {
			close_wire(world, up);
		}
		answer(world, &world->front[up->caller]);
	} else if (has_question(world, wire)) {
		receive_all(world, wire, 1);
		if (!up->asked && draw(world, 4) != 0) {
			up->caller = i;
			wire->taken = true; /* by somebody: it is not looked at again */
			ask_by(world, up);
			wire->taken = false;
			wire->asked = true;
			wire->unread[1] = 0;
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

	if (down->connected && down->asked) {
		if (down->taken && down->unread[0] > 0) {
			receive_all(world, down, 0);
			down->asked = false;
			if (draw(world, 3) == 0) {
				close_wire(world, down);
			}
			answer(world, wire);
		}
	} else if (has_question(world, wire)) {
		receive_all(world, wire, 1);
		if (draw(world, 2) == 0) {
			ask_by(world, down);
		} else {
			answer(world, wire);
		}
	}
}

static void step_data(struct world *world)
{
	struct wire *wire = &world->data[draw(world, BACKS)];

	if (has_question(world, wire)) {
		receive_all(world, wire, 1);
		answer(world, wire);
	}
}

static void step(struct world *world)
{
	static void (*const steps[])(struct world *) = {
			step_front, step_back, step_data, step_client};

	steps[draw(world, 4)](world);
}

/* --- begin and end ---------------------------------------------------------------------------- */

static void start_side(struct side *side)
{
	uint32_t session;

	lab_start(&side->lab, take, side);
	side->n_requests = side->n_spans = 0;
	session = lab_add_session(
			&side->lab, &(struct session_desc){.host = "alpha", .name = "test"});
	side->stream = lab_add_stream(&side->lab, &(struct stream_desc){.session = session,
								  .domain = DOMAIN_KERNEL,
								  .channel = "channel0",
								  .kernel_release = "6.2.0"});
}

static const char *program_of(uint32_t cpu)
{
	return cpu == FRONT                        ? "front"
	       : cpu >= CLIENT                     ? "client"
	       : cpu >= DATA                       ? "data"
	       : cpu >= BACK && cpu < BACK + BACKS ? "back"
						   : "other";
}

/* The CPU runs its thread: nobody knew it so far, or any more. */
static void run_on(struct world *world, uint32_t cpu)
{
	if (world->tid[cpu]) {
		tell(world, TO_BOTH, cpu,
				"sched_switch prev_comm:s=idle prev_tid:i=0 prev_state:i=0 "
				"next_comm:s=%s next_tid:i=%d",
				program_of(cpu), world->tid[cpu]);
	}
}

/* What was there before the recording. */
static void dump_state(struct world *world)
{
	for (uint32_t cpu = 1; cpu < CPUS; cpu++) {
		bool child = cpu >= CHILD && cpu < CHILD + BACKS;
		int32_t tid = world->tid[cpu];

		if (tid) {
			tell(world, TO_BOTH, cpu,
					"lttng_statedump_process_state tid:i=%d pid:i=%d name:s=%s",
					tid, child ? tid : (int32_t)process_of(cpu),
					program_of(cpu));
			run_on(world, cpu);
		}
	}
	for (uint32_t cpu = 1; cpu < CPUS; cpu++) {
		int32_t pid = world->tid[process_of(cpu)];

		for (int32_t fd = 3; pid && fd < (int32_t)MAX_FDS; fd++) {
			if (world->processes[cpu].fds >> fd & 1) {
				tell(world, TO_BOTH, cpu,
						"lttng_statedump_file_descriptor pid:i=%d fd:i=%d "
						"flags:u=0 fmode:u=3 filename:s=socket:[%d]",
						pid, fd, 1000 + fd);
			}
		}
	}
}

static void listen_at(struct world *world, uint32_t cpu, uint32_t port)
{
	int32_t fd = world->listen_fd[cpu][port == 0] = new_fd(world, cpu);

	enter(world, cpu, "socket", "family:i=%u type:i=1", port ? 10 : 1);
	leave(world, cpu, "socket", fd);
	enter(world, cpu, "listen", "fd:i=%d backlog:i=128", fd);
	leave(world, cpu, "listen", 0);
	if (port && world->quiet) {
		world->quiet = false;
		tell(world, TO_PROBE, cpu, "pythiatop_statedump_listener netns:u=1 sport:u=%u",
				port);
		world->quiet = true;
	} else if (port) {
		tell(world, TO_PROBE, cpu,
				"socket_listen family:u=2 netns:u=1 sport:u=%u dport:u=0 "
				"saddr_high:u=0 saddr_low:u=0 daddr_high:u=0 daddr_low:u=0 "
				"named:u=0 "
				"position:u=0 tid:i=%u length:u=0",
				port, cpu);
	}
}

static void start(struct world *world, const struct manner *manner, uint32_t seed)
{
	static struct side probe, lttng;

	memset(world, 0, sizeof(*world));
	world->probe = &probe;
	world->lttng = &lttng;
	world->manner = *manner;
	world->random = seed;
	world->now_ns = T0;
	world->next_tid = FIRST_CHILD_TID;
	start_side(world->probe);
	start_side(world->lttng);
	for (uint32_t cpu = 1; cpu < CPUS; cpu++) {
		world->tid[cpu] = cpu >= CHILD && cpu < CHILD + BACKS ? 0 : (int32_t)cpu;
	}
	for (uint32_t i = 0; i < CLIENTS; i++) {
		world->front[i].cpu[0] = CLIENT + i;
		world->front[i].cpu[1] = FRONT;
		world->front[i].port = FRONT_PORT;
	}
	for (uint32_t i = 0; i < BACKS; i++) {
		world->back[i].cpu[0] = FRONT;
		world->back[i].cpu[1] = BACK + i;
		world->back[i].port = BACK_PORT;
		world->data[i].cpu[0] = BACK + i;
		world->data[i].cpu[1] = CHILD + i;
		world->data[i].port = DATA_PORT;
	}
	if (!manner->late) {
		dump_state(world);
	}
	world->quiet = manner->late;
	listen_at(world, FRONT, FRONT_PORT);
	listen_at(world, BACK, BACK_PORT);
	listen_at(world, DATA, DATA_PORT);
	listen_at(world, DATA, 0);
	if (manner->late) {
		for (uint32_t i = 0; i < 100; i++) {
			step(world);
		}
		world->quiet = false;
		dump_state(world);
	}
}

static void finish_side(struct side *side)
{
	servers_finish(side->lab.servers);
	requests_finish(side->lab.requests);
}

static void stop(struct world *world)
{
	lab_stop(&world->probe->lab);
	lab_stop(&world->lttng->lab);
}

/* --- comparisons ------------------------------------------------------------------------------ */

static int compare_found(const void *a, const void *b)
{
	const struct found_request *x = a, *y = b;

	return x->start_ns != y->start_ns ? (x->start_ns < y->start_ns ? -1 : 1)
					  : strcmp(x->type, y->type);
}

static void sort(struct side *side)
{
	qsort(side->requests, side->n_requests, sizeof(*side->requests), compare_found);
}

static void print(const struct side *side, const struct found_request *request)
{
	print_error("%s %lu + %lu, %s\n", request->type, (unsigned long)(request->start_ns - T0),
			(unsigned long)(request->end_ns - request->start_ns),
			request->whole ? "whole" : "cut");
	for (uint32_t i = 0; i < request->n_spans; i++) {
		const struct found_span *span = &side->spans[request->first + i];

		print_error("  %u: %s %lu + %lu in %d\n", i, span->name,
				(unsigned long)(span->start_ns - T0), (unsigned long)span->own_ns,
				(int)span->parent);
	}
}

static bool is_same(const struct side *a, const struct found_request *x, const struct side *b,
		const struct found_request *y)
{
	if (strcmp(x->type, y->type) != 0 || x->start_ns != y->start_ns || x->end_ns != y->end_ns ||
			x->whole != y->whole || x->n_spans != y->n_spans) {
		return false;
	}
	for (uint32_t i = 0; i < x->n_spans; i++) {
		const struct found_span *s = &a->spans[x->first + i], *t = &b->spans[y->first + i];

		if (strcmp(s->name, t->name) != 0 || s->start_ns != t->start_ns ||
				s->own_ns != t->own_ns || s->parent != t->parent) {
			return false;
		}
	}
	return true;
}

/* Requests are the same, span by span. Returns how many. */
static uint32_t check_same(struct world *world, uint32_t seed)
{
	const struct side *p = world->probe, *l = world->lttng;

	for (uint32_t i = 0; i < p->n_requests && i < l->n_requests; i++) {
		if (!is_same(p, &p->requests[i], l, &l->requests[i])) {
			print_error("seed %u, request %u: by the probe, and by LTTng\n", seed, i);
			print(p, &p->requests[i]);
			print(l, &l->requests[i]);
			fail();
		}
	}
	assert_int_equal(p->n_requests, l->n_requests);
	return l->n_requests;
}

/* Is it a request, and not what that consists of? Those over Unix sockets are called as what works.
 */
static bool is_served(const struct found_span *spans, uint32_t i)
{
	uint32_t above = spans[i].parent;

	return strncmp(spans[i].name, "call", 4) != 0 &&
	       (strchr(spans[i].name, ':') || above == WALKED_NONE ||
			       strncmp(spans[above].name, "call", 4) == 0);
}

/*
 * Since when it was worked for: its own begin is told later where its client is not known. By that,
 * which is told alike, a request is known.
 */
static uint64_t read_at(const struct side *side, const struct found_request *request, uint32_t i)
{
	const struct found_span *spans = &side->spans[request->first];
	size_t n = strcspn(spans[i].name, ":");

	for (uint32_t j = i + 1; j < request->n_spans; j++) {
		if (spans[j].parent == i && strlen(spans[j].name) == n &&
				strncmp(spans[j].name, spans[i].name, n) == 0) {
			return spans[j].start_ns;
		}
	}
	return 0;
}

/* The request that encloses one, by when it was read; 0: none. */
static uint64_t above_of(const struct side *side, const struct found_request *request, uint32_t i)
{
	const struct found_span *spans = &side->spans[request->first];

	for (i = spans[i].parent; i != WALKED_NONE; i = spans[i].parent) {
		if (is_served(spans, i)) {
			return read_at(side, request, i);
		}
	}
	return 0;
}

/* What the probe says of a request: which one asked for it. */
struct truth {
	uint64_t read_ns, above_ns;
};

static int compare_truth(const void *a, const void *b)
{
	const struct truth *x = a, *y = b;

	return x->read_ns < y->read_ns ? -1 : x->read_ns > y->read_ns;
}

static struct truth truths[MAX_SPANS];

static uint32_t learn_truths(const struct side *side)
{
	uint32_t n = 0;

	for (uint32_t r = 0; r < side->n_requests; r++) {
		const struct found_request *request = &side->requests[r];

		for (uint32_t i = 0; i < request->n_spans; i++) {
			uint64_t read_ns = is_served(&side->spans[request->first], i)
							   ? read_at(side, request, i)
							   : 0;

			if (read_ns) {
				truths[n++] = (struct truth){read_ns, above_of(side, request, i)};
			}
		}
	}
	qsort(truths, n, sizeof(*truths), compare_truth);
	return n;
}

struct score {
	uint32_t joined, true_joined, wrong, whole, n;
};

static void judge(const struct side *l, const struct found_request *request, uint32_t i,
		uint32_t n_truths, struct score *score)
{
	uint64_t read_ns = read_at(l, request, i), above_ns = above_of(l, request, i);
	const struct truth key = {.read_ns = read_ns};
	const struct truth *truth = bsearch(&key, truths, n_truths, sizeof(*truths), compare_truth);

	if (!read_ns || !above_ns) {
		return;
	}
	score->joined++;
	if (!truth || truth->above_ns != above_ns) {
		print_error("%s read at %lu is in that of %lu, not of %lu\n",
				l->spans[request->first + i].name, (unsigned long)(read_ns - T0),
				(unsigned long)(above_ns - T0),
				truth ? (unsigned long)(truth->above_ns - T0) : 0);
		print(l, request);
		score->wrong++;
	}
}

/* No request has what is another one's. */
static struct score check_not_wrong(struct world *world)
{
	uint32_t n = learn_truths(world->probe);
	const struct side *l = world->lttng;
	struct score score = {.n = n};

	for (uint32_t i = 0; i < n; i++) {
		score.true_joined += truths[i].above_ns != 0;
	}
	for (uint32_t r = 0; r < l->n_requests; r++) {
		const struct found_request *request = &l->requests[r];

		score.whole += request->whole;
		for (uint32_t i = 0; request->whole && i < request->n_spans; i++) {
			if (is_served(&l->spans[request->first], i)) {
				judge(l, request, i, n, &score);
			}
		}
	}
	return score;
}

static void run(struct world *world, uint32_t steps)
{
	for (uint32_t i = 0; i < steps; i++) {
		uint64_t begin_ns = world->now_ns;

		if (world->manner.slow) {
			world->now_ns += draw(world, 20000000);
		}
		if (world->manner.lossy && draw(world, 500) == 0) {
			world->dropping = true;
			for (uint32_t n = 1 + draw(world, 20); n > 0; n--) {
				step(world);
			}
			world->dropping = false;
			lab_lose(&world->lttng->lab, &(struct loss){.stream = world->lttng->stream,
								     .cpu = CPU_NONE,
								     .begin_ns = begin_ns,
								     .end_ns = world->now_ns,
								     .count = 1});
			for (uint32_t cpu = 1; cpu < CPUS; cpu++) {
				run_on(world, cpu);
			}
		}
		step(world);
	}
	finish_side(world->probe);
	finish_side(world->lttng);
	sort(world->probe);
	sort(world->lttng);
}

static void test_with_headers(void **state)
{
	static struct world world;
	const struct manner manner = {.headers = true, .one_by_one = true};

	(void)state;
	for (uint32_t seed = 1; seed <= 6; seed++) {
		start(&world, &manner, seed);
		run(&world, 3000);
		assert_true(check_same(&world, seed) > 100);
		stop(&world);
	}
}

static void test_by_order(void **state)
{
	static struct world world;
	const struct manner manner = {.one_by_one = true};

	(void)state;
	for (uint32_t seed = 1; seed <= 6; seed++) {
		start(&world, &manner, seed);
		run(&world, 3000);
		assert_true(check_same(&world, seed) > 100);
		stop(&world);
	}
}

static void check_all(const char *what, const struct manner *manner, uint32_t least_percent)
{
	static struct world world;
	struct score sum = {.n = 0};

	for (uint32_t seed = 1; seed <= 5; seed++) {
		struct score score;

		start(&world, manner, seed);
		run(&world, 3000);
		score = check_not_wrong(&world);
		sum.joined += score.joined;
		sum.true_joined += score.true_joined;
		sum.wrong += score.wrong;
		stop(&world);
	}
	print_message("%s: %u of %u joined, %u wrong\n", what, sum.joined, sum.true_joined,
			sum.wrong);
	assert_int_equal(sum.wrong, 0);
	assert_true(sum.joined * 100 >= sum.true_joined * least_percent);
}

static void test_in_any_order(void **state)
{
	(void)state;
	check_all("headers, connections at once", &(struct manner){.headers = true}, 70);
	check_all("no headers, connections at once", &(struct manner){.headers = false}, 5);
}

static void test_hidden_peers(void **state)
{
	(void)state;
	check_all("headers, half of the peers hidden",
			&(struct manner){.headers = true, .hides_peer = true}, 20);
	check_all("no headers, half of the peers hidden", &(struct manner){.hides_peer = true}, 2);
}

static void test_lossy(void **state)
{
	(void)state;
	check_all("headers, losses", &(struct manner){.headers = true, .lossy = true}, 30);
	check_all("no headers, losses",
			&(struct manner){.lossy = true, .one_by_one = true, .slow = true}, 10);
	check_all("no headers, losses, connections at once",
			&(struct manner){.lossy = true, .slow = true}, 5);
}

static void test_late(void **state)
{
	(void)state;
	check_all("headers, who listens was there before",
			&(struct manner){.headers = true, .late = true}, 50);
	check_all("no headers, who listens was there before",
			&(struct manner){.late = true, .one_by_one = true, .slow = true}, 40);
	check_all("no headers, who listens was there before, connections at once",
			&(struct manner){.late = true, .slow = true}, 30);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
			cmocka_unit_test(test_with_headers),
			cmocka_unit_test(test_by_order),
			cmocka_unit_test(test_in_any_order),
			cmocka_unit_test(test_hidden_peers),
			cmocka_unit_test(test_lossy),
			cmocka_unit_test(test_late),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
