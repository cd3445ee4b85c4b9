/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TESTBED_RPC_H
#define TESTBED_RPC_H

#include "wire.h"

/*
 * Calls between services, with their tracepoints: the caller's rpc:call_* encloses the callee's
 * rpc:serve_*, and both carry the request's number and the message's own, so that a reader can
 * join the two ends.
 *
 * Threads: a fixed pool of workers serves; one thread waits for messages and queues them. A call
 * blocks its thread and uses one connection, taken from a pool per peer.
 */

struct service;

/* Starts the threads that serve. 0, or -1 (errno). */
int rpc_serve(int listener, const struct service *service, uint64_t seed);

/* Where to find peers; once, before the first call. */
void rpc_init(const char *dir);

/*
 * Calls a method of the process named peer, for request_id; *message is the argument and becomes
 * the reply. Returns its status: 0, or an errno.
 */
int rpc_call(const char *peer, enum method method, uint64_t request_id, struct message *message);

#endif
