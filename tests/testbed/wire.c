/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "wire.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static int send_all(int fd, const void *data, size_t bytes, int flags)
{
	const char *at = data;

	while (bytes > 0) {
		ssize_t sent = send(fd, at, bytes, MSG_NOSIGNAL | flags);

		if (sent < 0 && errno == EINTR) {
			continue;
		}
		if (sent < 0) {
			return errno;
		}
		at += sent;
		bytes -= (size_t)sent;
	}
	return 0;
}

static int receive_all(int fd, void *data, size_t bytes)
{
	char *at = data;

	while (bytes > 0) {
		ssize_t got = recv(fd, at, bytes, 0);

		if (got < 0 && errno == EINTR) {
			continue;
		}
		if (got <= 0) {
			return got == 0 ? ECONNRESET : errno;
		}
		at += got;
		bytes -= (size_t)got;
	}
	return 0;
}

int wire_send(int fd, const struct message *message)
{
	static const char payload[WIRE_PAYLOAD_BYTES];
	int more = message->payload_bytes > 0 ? MSG_MORE : 0;
	int status = send_all(fd, message, sizeof(*message), more);

	if (status == 0 && message->payload_bytes > 0) {
		status = send_all(fd, payload, message->payload_bytes, 0);
	}
	return status;
}

int wire_receive(int fd, struct message *message)
{
	static _Thread_local char payload[WIRE_PAYLOAD_BYTES];
	int status = receive_all(fd, message, sizeof(*message));

	if (status != 0) {
		return status;
	}
	if (message->method >= METHOD_COUNT || message->payload_bytes > sizeof(payload)) {
		return EBADMSG;
	}
	message->text[sizeof(message->text) - 1] = '\0';
	return receive_all(fd, payload, message->payload_bytes);
}

static int make_socket(struct sockaddr_in *address, uint16_t port)
{
	*address = (struct sockaddr_in){.sin_family = AF_INET, .sin_port = htons(port)};
	address->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	return socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
}

int wire_listen(uint16_t *port)
{
	struct sockaddr_in address;
	socklen_t size = sizeof(address);
	int fd = make_socket(&address, 0);

	if (fd < 0) {
		return -1;
	}
	if (bind(fd, (struct sockaddr *)&address, sizeof(address)) != 0 || listen(fd, 64) != 0 ||
			getsockname(fd, (struct sockaddr *)&address, &size) != 0) {
		close(fd);
		return -1;
	}
	*port = ntohs(address.sin_port);
	return fd;
}

int wire_connect(const char *dir, const char *name, enum wire_port which)
{
	struct sockaddr_in address;
	char path[512];
	unsigned int ports[2] = {0, 0};
	FILE *file;
	int fd, yes = 1;

	snprintf(path, sizeof(path), "%s/%s.port", dir, name);
	file = fopen(path, "re");
	if (file == NULL) {
		return -1;
	}
	if (fscanf(file, "%5u %5u", &ports[0], &ports[1]) != 2) {
		fclose(file);
		errno = EBADMSG;
		return -1;
	}
	fclose(file);
	fd = make_socket(&address, (uint16_t)ports[which]);
	if (fd < 0) {
		return -1;
	}
	if (connect(fd, (struct sockaddr *)&address, sizeof(address)) != 0) {
		close(fd);
		return -1;
	}
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof(yes));
	return fd;
}

int wire_announce(const char *dir, const char *name, uint16_t service, uint16_t control)
{
	char path[512], draft[520];
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s.port", dir, name);
	snprintf(draft, sizeof(draft), "%s.new", path);
	file = fopen(draft, "we");
	if (file == NULL) {
		return -1;
	}
	fprintf(file, "%u %u\n", service, control);
	if (fclose(file) != 0) {
		return -1;
	}
	return rename(draft, path);
}

void wire_retract(const char *dir, const char *name)
{
	char path[512];

	snprintf(path, sizeof(path), "%s/%s.port", dir, name);
	unlink(path);
}
