/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TESTBED_WIRE_H
#define TESTBED_WIRE_H

#include <stdint.h>

/*
 * Messages between processes, and how they find each other: loopback TCP, ports chosen by the
 * kernel, announced in files of the run directory (DIR/NAME.port: "SERVICE-PORT CONTROL-PORT").
 *
 * Both ends are this same program on this same machine, so structs go over as they are.
 */

enum method {
#define PT_METHOD(callee, name) METHOD_##callee##_##name,
#include "methods.def"
#undef PT_METHOD
#define PT_TYPE(name, weight) METHOD_##name,
#include "types.def"
#undef PT_TYPE
	METHOD_COUNT
};

struct message {
	uint32_t method;     /* enum method */
	int32_t status;      /* of the reply: 0, or an errno */
	uint64_t request_id; /* 0 in a client's request; the api gives one, its reply tells it */
	uint64_t msg_id;
	uint64_t arg[3];
	char text[24];
	uint32_t payload_bytes; /* these follow, at most WIRE_PAYLOAD_BYTES */
	/* Filled by the receiver: */
	uint32_t received_bytes; /* payload that came */
	uint32_t queue_len;      /* messages waiting before this one */
};

#define WIRE_PAYLOAD_BYTES (64U * 1024)

/* 0, or an errno. */
int wire_send(int fd, const struct message *message);
int wire_receive(int fd, struct message *message);

/* Listens on 127.0.0.1; the port comes in *port. A file descriptor, or -1 (errno). */
int wire_listen(uint16_t *port);

enum wire_port { WIRE_SERVICE, WIRE_CONTROL };
/* Connects to the process of that name. A file descriptor, or -1 (errno). */
int wire_connect(const char *dir, const char *name, enum wire_port which);
/* Announces our ports, all at once. 0, or -1 (errno). */
int wire_announce(const char *dir, const char *name, uint16_t service, uint16_t control);
void wire_retract(const char *dir, const char *name);

#endif
