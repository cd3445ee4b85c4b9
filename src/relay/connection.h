/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PT_RELAY_CONNECTION_H
#define PT_RELAY_CONNECTION_H

#include <stddef.h>
#include <stdint.h>

#include "pythiatop/status.h"

/*
 * A TCP connection to a relay daemon, of a viewer or of a producer, that never waits longer than it
 * was told: what is sent and what is answered must be through by a deadline.
 *
 * Threads: one per connection. Memory: the struct alone.
 */
struct connection {
	int fd; /* -1: none */
	int timeout_ms;
	uint64_t deadline_ms; /* CLOCK_MONOTONIC, of what is waited for now */
};

/*
 * Connects to the first address of `host` that takes it, each within `timeout_ms`.
 * STATUS_NOT_FOUND: no such host, *resolve_error is what getaddrinfo() said of it, otherwise 0.
 * STATUS_IO, STATUS_TIMEOUT: errno says why. The deadline of what comes next still has to be set.
 */
enum status connection_open(struct connection *connection, const char *host, uint16_t port,
		int timeout_ms, int *resolve_error);
void connection_close(struct connection *connection);

/* From now on `timeout_ms` are left for what is sent and received. */
void connection_expect(struct connection *connection);

/* STATUS_TIMEOUT: the deadline passed. STATUS_IO: errno says why. */
enum status connection_send(struct connection *connection, const void *bytes, size_t size);

/* As above; STATUS_END: the peer closed the connection. */
enum status connection_receive(struct connection *connection, void *bytes, size_t size);

#endif
