/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "control/hosts.h"
#include "helper/check.h"

#define VIEWER_PORT 5344 /* LTTng's usual one; then sessions are sent to 5342 and 5343 */

/* The host of net://HOST[:PORT][/...], with brackets if it has them; false: it is none. */
static bool split(const char *source, char *host, size_t size, long *port)
{
	const char *text, *end;

	if (strncmp(source, "net://", 6) == 0) {
		text = source + 6;
	} else if (strncmp(source, "net6://", 7) == 0) {
		text = source + 7;
	} else {
		return false;
	}
	end = text[0] == '[' ? strchr(text, ']') : text;
	if (!end) {
		return false;
	}
	end += strcspn(end, ":/");
	snprintf(host, size, "%.*s", (int)(end - text), text);
	*port = *end == ':' ? strtol(end + 1, NULL, 10) : VIEWER_PORT;
	return host[0] != '\0';
}

static bool is_loopback(const char *host)
{
	return strcmp(host, "localhost") == 0 || strncmp(host, "127.", 4) == 0 ||
	       strcmp(host, "[::1]") == 0;
}

bool control_relay_url(const char *explicit_url, const char *source, bool local, char *out,
		size_t size, char *error, size_t error_size)
{
	static const char *const say = "give --control.relay_url=net://HOST[:CONTROL[:DATA]], the "
				       "relay daemon as the traced host sees it";
	char host[256];
	const char *wrong;
	long port = 0;

	if (explicit_url) {
		wrong = check_relay(explicit_url);
		if (wrong) {
			snprintf(error, error_size, "the URL %s %s", explicit_url, wrong);
			return false;
		}
		snprintf(out, size, "%s", explicit_url);
		return true;
	}
	if (!source || !split(source, host, sizeof(host), &port)) {
		snprintf(error, error_size, "no relay daemon is attached; %s", say);
	} else if (port != VIEWER_PORT) {
		snprintf(error, error_size,
				"the relay daemon is at port %ld, so where hosts send to is not "
				"known; %s",
				port, say);
	} else if (!local && is_loopback(host)) {
		snprintf(error, error_size, "%s is another machine seen from the traced host; %s",
				host, say);
	} else {
		snprintf(out, size, "%s://%s", host[0] == '[' ? "net6" : "net", host);
		return true;
	}
	return false;
}
