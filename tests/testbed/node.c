/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "node.h"

#include <errno.h>
#include <getopt.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "fault.h"
#include "hog.h"
#include "process.h"
#include "rpc.h"
#include "work.h"

/* Answers one command: "ok", or the error. */
static void control_answer(int fd)
{
	char command[FAULT_COMMAND_BYTES], error[256], reply[300];
	struct timeval patience = {.tv_sec = 2};
	ssize_t got;

	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
	got = recv(fd, command, sizeof(command) - 1, 0);
	if (got <= 0) {
		return;
	}
	command[got] = '\0';
	if (fault_apply(command, false, error, sizeof(error)) == 0) {
		snprintf(reply, sizeof(reply), "ok\n");
	} else {
		snprintf(reply, sizeof(reply), "%s\n", error);
	}
	send(fd, reply, strlen(reply), MSG_NOSIGNAL);
}

static void *control_thread(void *argument)
{
	int listener = *(const int *)argument;

	for (;;) {
		int fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC);

		if (fd >= 0) {
			control_answer(fd);
			close(fd);
		} else {
			sleep_ns(10000000); /* out of descriptors: no reason to spin */
		}
	}
	return NULL;
}

struct options {
	const char *name, *dir;
	uint64_t seed;
};

static int read_options(int argc, char **argv, struct options *options)
{
	static const struct option table[] = {{"name", required_argument, NULL, 'n'},
			{"dir", required_argument, NULL, 'd'},
			{"seed", required_argument, NULL, 's'}, {NULL, 0, NULL, 0}};
	int c;

	while ((c = getopt_long(argc, argv, "", table, NULL)) != -1) {
		switch (c) {
		case 'n':
			options->name = optarg;
			break;
		case 'd':
			options->dir = optarg;
			break;
		case 's':
			options->seed = strtoull(optarg, NULL, 10);
			break;
		default:
			return -1;
		}
	}
	return options->name != NULL && options->dir != NULL ? 0 : -1;
}

/* Listens, serves, announces; the threads run when it returns 0. */
static int start(const struct options *options, const struct service *service)
{
	static int control;
	uint16_t service_port, control_port;
	pthread_t thread;
	int listener;

	rpc_init(options->dir);
	if (service->start != NULL && service->start(options->dir) != 0) {
		return -1;
	}
	listener = wire_listen(&service_port);
	control = wire_listen(&control_port);
	if (listener < 0 || control < 0 || rpc_serve(listener, service, options->seed) != 0) {
		return -1;
	}
	errno = pthread_create(&thread, NULL, control_thread, &control);
	if (errno != 0) {
		return -1;
	}
	return wire_announce(options->dir, options->name, service_port, control_port);
}

int node_main(int argc, char **argv, const struct service *service)
{
	struct options options = {.seed = 1};
	sigset_t signals;
	int got;

	if (read_options(argc, argv, &options) != 0) {
		fprintf(stderr, "usage: %s --name NAME --dir DIR [--seed N]\n", argv[0]);
		return 2;
	}
	sigemptyset(&signals);
	sigaddset(&signals, SIGTERM);
	sigaddset(&signals, SIGINT);
	sigaddset(&signals, SIGHUP);
	pthread_sigmask(SIG_BLOCK, &signals, NULL);
	process_adopt(options.name);
	if (start(&options, service) != 0) {
		fprintf(stderr, "%s: cannot start in %s: %s\n", options.name, options.dir,
				strerror(errno));
		return 1;
	}
	while (sigwait(&signals, &got) != 0) {
	}
	hog_stop();
	wire_retract(options.dir, options.name);
	rmdir(options.dir); /* the last one to leave succeeds */
	_exit(0);           /* the workers have nothing to save */
}
