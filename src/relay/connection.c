/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "relay/connection.h"

#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

static uint64_t now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

void connection_expect(struct connection *connection)
{
	connection->deadline_ms = now_ms() + (uint64_t)connection->timeout_ms;
}

/* STATUS_OK once the socket is ready, STATUS_TIMEOUT at the deadline. */
static enum status wait_ready(const struct connection *connection, short events)
{
	struct pollfd ready = {.fd = connection->fd, .events = events};

	for (;;) {
		uint64_t now = now_ms();
		int n = now >= connection->deadline_ms
					? 0
					: poll(&ready, 1, (int)(connection->deadline_ms - now));

		if (n > 0) {
			return STATUS_OK;
		}
		if (n == 0) {
			return STATUS_TIMEOUT;
		}
		if (errno != EINTR) {
			return STATUS_IO;
		}
	}
}

enum status connection_send(struct connection *connection, const void *bytes, size_t size)
{
	const char *at = bytes;

	while (size > 0) {
		ssize_t n = send(connection->fd, at, size, MSG_NOSIGNAL);

		if (n > 0) {
			at += n;
			size -= (size_t)n;
		} else if (n < 0 && (errno == EAGAIN || errno == EINTR)) {
			enum status status = wait_ready(connection, POLLOUT);

			if (status != STATUS_OK) {
				return status;
			}
		} else {
			return STATUS_IO;
		}
	}
	return STATUS_OK;
}

enum status connection_receive(struct connection *connection, void *bytes, size_t size)
{
	char *at = bytes;

	while (size > 0) {
		ssize_t n = recv(connection->fd, at, size, 0);

		if (n > 0) {
			at += n;
			size -= (size_t)n;
		} else if (n == 0) {
			return STATUS_END;
		} else if (errno == EAGAIN || errno == EINTR) {
			enum status status = wait_ready(connection, POLLIN);

			if (status != STATUS_OK) {
				return status;
			}
		} else {
			return STATUS_IO;
		}
	}
	return STATUS_OK;
}

/* Tries one address; errno says why not. */
static enum status connect_address(struct connection *connection, const struct addrinfo *address)
{
	int one = 1, error = 0;
	socklen_t size = sizeof(error);

	connection->fd = socket(address->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (connection->fd < 0) {
		return STATUS_IO;
	}
	connection_expect(connection);
	if (connect(connection->fd, address->ai_addr, address->ai_addrlen) != 0) {
		enum status status;

		if (errno != EINPROGRESS) {
			return STATUS_IO;
		}
		status = wait_ready(connection, POLLOUT);
		if (status != STATUS_OK) {
			errno = ETIMEDOUT;
			return status;
		}
		if (getsockopt(connection->fd, SOL_SOCKET, SO_ERROR, &error, &size) != 0 ||
				error != 0) {
			errno = error ? error : errno;
			return STATUS_IO;
		}
	}
	setsockopt(connection->fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
	return STATUS_OK;
}

enum status connection_open(struct connection *connection, const char *host, uint16_t port,
		int timeout_ms, int *resolve_error)
{
	struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_NUMERICSERV};
	struct addrinfo *addresses = NULL;
	enum status status = STATUS_NOT_FOUND;
	char service[8];

	*connection = (struct connection){.fd = -1, .timeout_ms = timeout_ms};
	snprintf(service, sizeof(service), "%u", port);
	*resolve_error = getaddrinfo(host, service, &hints, &addresses);
	if (*resolve_error != 0) {
		return status;
	}
	for (const struct addrinfo *at = addresses; at; at = at->ai_next) {
		status = connect_address(connection, at);
		if (status == STATUS_OK) {
			break;
		}
		connection_close(connection);
	}
	freeaddrinfo(addresses);
	return status;
}

/* Keeps errno, which says what went wrong before. */
void connection_close(struct connection *connection)
{
	int error = errno;

	if (connection->fd >= 0) {
		close(connection->fd);
		connection->fd = -1;
	}
	errno = error;
}
