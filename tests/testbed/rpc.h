/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TESTBED_RPC_H
#define TESTBED_RPC_H

#include "wire.h"

/*
 * Calls between services; their tracepoints are made in points.h.
 *
 * Threads: a fixed pool of workers serves; one thread waits for messages and queues them. A call
 * blocks its thread and uses one connection, taken from a pool per peer.
 */

struct service;

/* Starts the threads that serve. 0, or -1 (errno). */
int rpc_serve(int listener, const struct service *service, uint64_t seed);

/* Where to find peers; once, before the first call. */
void rpc_init(const char *dir);

/* A number for a message, unique in the testbed. */
uint64_t rpc_next_message(void);

/* A point of this thread ended with an error (fault.h): so does the message. */
void rpc_take_error(struct message *message);

/*
 * Sends *message to the process named peer and waits for the reply, which takes its place. Returns
 * the reply's status: 0, or an errno.
 */
int rpc_exchange(const char *peer, struct message *message);

#endif
