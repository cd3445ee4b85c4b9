/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "rpc.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "injection.h"
#include "fault.h"
#include "node.h"
#include "work.h"

#define MAX_PEERS  8
#define MAX_IDLE   64
#define QUEUE_SIZE 256 /* connections; more than all clients and workers of the testbed have */

/* A peer and its idle connections. */
struct peer {
	char name[16];
	int idle[MAX_IDLE];
	uint32_t n_idle;
};

static struct {
	char dir[400];
	pthread_mutex_t mutex;
	struct peer peers[MAX_PEERS];
	atomic_uint_fast64_t next_message;
} client = {.mutex = PTHREAD_MUTEX_INITIALIZER};

/* Connections with a message to read. EPOLLONESHOT: each is in here at most once. */
static struct {
	pthread_mutex_t mutex;
	pthread_cond_t filled;
	int fds[QUEUE_SIZE];
	uint32_t first, count;
	int listener, epoll;
	const struct service *service;
	uint64_t seed;
	atomic_uint started;
} server = {.mutex = PTHREAD_MUTEX_INITIALIZER, .filled = PTHREAD_COND_INITIALIZER};

void rpc_init(const char *dir)
{
	snprintf(client.dir, sizeof(client.dir), "%s", dir);
	atomic_store(&client.next_message, (uint64_t)getpid() << 32);
}

/* The peer of that name; call with the mutex held. Names are few and constant. */
static struct peer *find_peer(const char *name)
{
	size_t i = 0;

	while (i < MAX_PEERS - 1 && client.peers[i].name[0] != '\0' &&
			strcmp(client.peers[i].name, name) != 0) {
		i++;
	}
	snprintf(client.peers[i].name, sizeof(client.peers[i].name), "%s", name);
	return &client.peers[i];
}

static int take_connection(const char *name)
{
	struct peer *peer;
	int fd = -1;

	pthread_mutex_lock(&client.mutex);
	peer = find_peer(name);
	if (peer->n_idle > 0) {
		fd = peer->idle[--peer->n_idle];
	}
	pthread_mutex_unlock(&client.mutex);
	return fd >= 0 ? fd : wire_connect(client.dir, name, WIRE_SERVICE);
}

static void give_connection(const char *name, int fd)
{
	struct peer *peer;

	pthread_mutex_lock(&client.mutex);
	peer = find_peer(name);
	if (peer->n_idle < MAX_IDLE) {
		peer->idle[peer->n_idle++] = fd;
		fd = -1;
	}
	pthread_mutex_unlock(&client.mutex);
	if (fd >= 0) {
		close(fd);
	}
}

uint64_t rpc_next_message(void)
{
	return atomic_fetch_add(&client.next_message, 1);
}

int rpc_exchange(const char *peer, struct message *message)
{
	int fd = take_connection(peer);
	int status;

	if (fd < 0) {
		return errno;
	}
	status = wire_send(fd, message);
	if (status == 0) {
		status = wire_receive(fd, message);
	}
	if (status != 0) {
		close(fd);
		return status;
	}
	give_connection(peer, fd);
	return message->status;
}

void rpc_take_error(struct message *message)
{
	int error = injection_take_error();

	message->status = message->status ? message->status : error;
}

/* Its connection is closed instead, once in a while where that is the fault. */
static bool loses_answer(void)
{
	unsigned int share = atomic_load(fault_lost_answers());

	return share > 0 && random_unit() * FAULT_LOST_ALL < share;
}

/* Waits for a connection with a message; *queue_len is how many wait behind it. */
static int pop(uint32_t *queue_len)
{
	int fd;

	pthread_mutex_lock(&server.mutex);
	while (server.count == 0) {
		pthread_cond_wait(&server.filled, &server.mutex);
	}
	fd = server.fds[server.first];
	server.first = (server.first + 1) % QUEUE_SIZE;
	*queue_len = --server.count;
	pthread_mutex_unlock(&server.mutex);
	return fd;
}

static void push(int fd)
{
	pthread_mutex_lock(&server.mutex);
	if (server.count == QUEUE_SIZE) {
		pthread_mutex_unlock(&server.mutex);
		close(fd); /* its client sees a reset connection */
		return;
	}
	server.fds[(server.first + server.count++) % QUEUE_SIZE] = fd;
	pthread_cond_signal(&server.filled);
	pthread_mutex_unlock(&server.mutex);
}

static int watch(int fd, int operation)
{
	struct epoll_event event = {.events = EPOLLIN | EPOLLONESHOT, .data.fd = fd};

	return epoll_ctl(server.epoll, operation, fd, &event);
}

static void *worker_thread(void *unused)
{
	uint32_t number = atomic_fetch_add(&server.started, 1);

	(void)unused;
	random_seed(server.seed * 1000 + number);
	for (;;) {
		struct message message;
		uint32_t queue_len;
		int fd = pop(&queue_len);

		if (wire_receive(fd, &message) != 0) {
			close(fd);
			continue;
		}
		message.queue_len = queue_len;
		message.status = 0;
		message.received_bytes = message.payload_bytes;
		message.payload_bytes = 0;
		injection_take_error(); /* of what was no request's */
		server.service->handle(&message);
		rpc_take_error(&message); /* of the outermost span */
		if (loses_answer() || wire_send(fd, &message) != 0 ||
				watch(fd, EPOLL_CTL_MOD) != 0) {
			close(fd);
		}
	}
	return NULL;
}

static void *listen_thread(void *unused)
{
	struct epoll_event events[16];

	(void)unused;
	for (;;) {
		int n = epoll_wait(server.epoll, events, 16, -1);

		for (int i = 0; i < n; i++) {
			int fd = events[i].data.fd;

			if (fd != server.listener) {
				push(fd);
				continue;
			}
			fd = accept4(server.listener, NULL, NULL, SOCK_CLOEXEC);
			if (fd >= 0 && watch(fd, EPOLL_CTL_ADD) != 0) {
				close(fd);
			}
			watch(server.listener, EPOLL_CTL_MOD);
		}
	}
	return NULL;
}

int rpc_serve(int listener, const struct service *service, uint64_t seed)
{
	pthread_t thread;

	server.service = service;
	server.seed = seed;
	server.listener = listener;
	server.epoll = epoll_create1(EPOLL_CLOEXEC);
	if (server.epoll < 0 || watch(listener, EPOLL_CTL_ADD) != 0) {
		return -1;
	}
	for (uint32_t i = 0; i < service->workers; i++) {
		errno = pthread_create(&thread, NULL, worker_thread, NULL);
		if (errno != 0) {
			return -1;
		}
	}
	errno = pthread_create(&thread, NULL, listen_thread, NULL);
	return errno != 0 ? -1 : 0;
}
