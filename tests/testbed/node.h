/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TESTBED_NODE_H
#define TESTBED_NODE_H

#include <stdint.h>

#include "wire.h"

/*
 * One process of the testbed: its name, its life, its control socket.
 *
 * Every process ends, and takes its files away, on SIGTERM, SIGINT and SIGHUP, and when its
 * parent is gone for whatever reason.
 */

struct service {
	uint32_t workers;
	/* Prepares what the service needs, before its first request; may be NULL. 0, or -1 (errno).
	 */
	int (*start)(const char *dir);
	/* Handles one request in a worker thread: *message becomes the reply. */
	void (*handle)(struct message *message);
};

/* main() of a service: --name NAME --dir DIR --seed N. Returns the exit status. */
int node_main(int argc, char **argv, const struct service *service);

#endif
