/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PT_INTAKE_URL_H
#define PT_INTAKE_URL_H

#include <stddef.h>
#include <stdint.h>

#include "pythiatop/status.h"

/*
 * What a person named as a source: a relay daemon, one session of it, or a directory.
 * Plain values, no memory of their own.
 */
#define URL_MAX          512   /* bytes of a URL, with its end */
#define URL_DEFAULT_PORT 5344u /* of the viewers, not of those that trace */

enum url_kind {
	URL_RELAY = 0, /* net://RELAY[:PORT] */
	URL_SESSION,   /* net://RELAY[:PORT]/host/HOST/SESSION */
	URL_DIRECTORY, /* anything else: a path */
};

struct url {
	enum url_kind kind;
	uint16_t port;
	char relay[256]; /* without the brackets of an IPv6 address */
	char host[256];
	char session[256];
};

/*
 * Parses `text`. Without "net://" (or "net4://", "net6://") it is a directory and nothing more is
 * looked at. STATUS_INVALID: `error` says what is wrong and what would be right.
 */
enum status url_parse(struct url *url, const char *text, char *error, size_t error_size);

/*
 * What a person means by a bare word: an existing path as it is, anything else is the host of a
 * relay daemon ("relay1" becomes "net://relay1"). URLs and texts with a '/' stay as they are.
 */
void url_complete(const char *text, char *out, size_t size);

/* Writes the URL of the relay daemon, or of one of its sessions, in one form for each. */
void url_format_relay(const struct url *url, char *out, size_t size);
void url_format_session(const struct url *relay, const char *host, const char *session, char *out,
		size_t size);

#endif
