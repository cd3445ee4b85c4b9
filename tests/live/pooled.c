/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A server whose first thread reads requests and hands them to a pool, for tests of hand-overs; and
 * its clients. What comes on its first port asks a Redis server one thing, what comes on its second
 * port asks nothing; whichever thread of the pool has it answers.
 *
 * Usage: pt-pooled serve PORT PORT REDIS_PORT THREADS
 *        pt-pooled load PORT PORT CLIENTS N      each client sends N to either port, in turn
 */
#include <arpa/inet.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#define MOST    64
#define MESSAGE 8u

struct job {
	int fd;
	bool asks;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t there = PTHREAD_COND_INITIALIZER;
static struct job queue[MOST];
static unsigned int queued;
static uint16_t redis_port;

static _Noreturn void fail(const char *what)
{
	perror(what);
	exit(1);
}

static struct sockaddr_in local(uint16_t port)
{
	struct sockaddr_in at = {.sin_family = AF_INET, .sin_port = htons(port)};

	at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	return at;
}

static int connect_to(uint16_t port)
{
	const struct sockaddr_in at = local(port);
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	if (fd < 0 || connect(fd, (const struct sockaddr *)&at, sizeof(at)) < 0) {
		fail("connect");
	}
	return fd;
}

static int listen_on(uint16_t port)
{
	const struct sockaddr_in at = local(port);
	int fd = socket(AF_INET, SOCK_STREAM, 0), on = 1;

	if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) < 0 ||
			bind(fd, (const struct sockaddr *)&at, sizeof(at)) < 0 ||
			listen(fd, MOST) < 0) {
		fail("listen");
	}
	return fd;
}

static void *work(void *unused)
{
	static const char question[] = "PING\r\n";
	char answer[64] = "done....";
	int redis = connect_to(redis_port);

	(void)unused;
	for (;;) {
		struct job job;

		pthread_mutex_lock(&lock);
		while (queued == 0) {
			pthread_cond_wait(&there, &lock);
		}
		job = queue[0];
		memmove(queue, queue + 1, --queued * sizeof(*queue));
		pthread_mutex_unlock(&lock);
		if (job.asks && (send(redis, question, strlen(question), 0) < 0 ||
						recv(redis, answer, sizeof(answer), 0) <= 0)) {
			fail("redis");
		}
		if (send(job.fd, answer, MESSAGE, MSG_NOSIGNAL) < 0) {
			fail("send");
		}
	}
	return NULL;
}

static void add(int poll, int fd, uint64_t is)
{
	struct epoll_event event = {.events = EPOLLIN, .data.u64 = is << 32 | (uint32_t)fd};

	if (epoll_ctl(poll, EPOLL_CTL_ADD, fd, &event) < 0) {
		fail("epoll");
	}
}

/* What an event is about: its low bits are the descriptor. */
enum { LISTENS = 2, ASKS = 1 };

static void take(int poll, const struct epoll_event *event)
{
	int fd = (int)(uint32_t)event->data.u64;
	uint64_t is = event->data.u64 >> 32;
	char message[MESSAGE];

	if (is & LISTENS) {
		add(poll, accept(fd, NULL, NULL), is & ASKS);
		return;
	}
	if (recv(fd, message, sizeof(message), 0) <= 0) {
		close(fd);
		return;
	}
	pthread_mutex_lock(&lock);
	queue[queued++] = (struct job){.fd = fd, .asks = is & ASKS};
	pthread_cond_signal(&there);
	pthread_mutex_unlock(&lock);
}

static void serve(uint16_t asking, uint16_t other, unsigned int threads)
{
	int poll = epoll_create1(0);

	add(poll, listen_on(asking), LISTENS | ASKS);
	add(poll, listen_on(other), LISTENS);
	for (unsigned int i = 0; i < threads; i++) {
		pthread_t thread;

		if (pthread_create(&thread, NULL, work, NULL) != 0) {
			fail("pthread_create");
		}
	}
	puts("ready");
	fflush(stdout);
	for (;;) {
		struct epoll_event event;

		if (epoll_wait(poll, &event, 1, -1) == 1) {
			take(poll, &event);
		}
	}
}

static uint16_t to[2];
static unsigned int rounds;

static void *client(void *unused)
{
	int fds[2] = {connect_to(to[0]), connect_to(to[1])};
	char message[MESSAGE] = "request";

	(void)unused;
	for (unsigned int i = 0; i < 2 * rounds; i++) {
		if (send(fds[i % 2], message, sizeof(message), 0) < 0 ||
				recv(fds[i % 2], message, sizeof(message), 0) <= 0) {
			fail("client");
		}
	}
	close(fds[0]);
	close(fds[1]);
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t threads[MOST];
	unsigned int n;

	if (argc != 6) {
		fputs("usage: pt-pooled serve|load PORT PORT REDIS_PORT|CLIENTS THREADS|N\n",
				stderr);
		return 2;
	}
	to[0] = (uint16_t)atoi(argv[2]);
	to[1] = (uint16_t)atoi(argv[3]);
	n = (unsigned int)atoi(argv[4]);
	rounds = (unsigned int)atoi(argv[5]);
	if (strcmp(argv[1], "serve") == 0) {
		redis_port = (uint16_t)n;
		serve(to[0], to[1], rounds);
	}
	for (unsigned int i = 0; i < n && i < MOST; i++) {
		if (pthread_create(&threads[i], NULL, client, NULL) != 0) {
			fail("pthread_create");
		}
	}
	for (unsigned int i = 0; i < n && i < MOST; i++) {
		pthread_join(threads[i], NULL);
	}
	return 0;
}
