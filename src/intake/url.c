/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "intake/url.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *const schemes[] = {"net://", "net4://", "net6://"};

static const char *after_scheme(const char *text)
{
	size_t i;

	for (i = 0; i < sizeof(schemes) / sizeof(schemes[0]); i++) {
		size_t length = strlen(schemes[i]);

		if (strncmp(text, schemes[i], length) == 0) {
			return text + length;
		}
	}
	return NULL;
}

static enum status complain(char *error, size_t size, const char *text, const char *what)
{
	snprintf(error, size,
			"%s: %s; expected net://RELAY[:PORT] or "
			"net://RELAY[:PORT]/host/HOST/SESSION",
			text, what);
	return STATUS_INVALID;
}

/* Copies `length` bytes as a text; false if empty or too long. */
static bool take(char *out, size_t size, const char *from, size_t length)
{
	if (length == 0 || length >= size) {
		return false;
	}
	memcpy(out, from, length);
	out[length] = '\0';
	return true;
}

static bool parse_port(const char *text, size_t length, uint16_t *port)
{
	unsigned long value = 0;
	size_t i;

	if (length == 0 || length > 5) {
		return false;
	}
	for (i = 0; i < length; i++) {
		if (text[i] < '0' || text[i] > '9') {
			return false;
		}
		value = value * 10 + (unsigned long)(text[i] - '0');
	}
	if (value == 0 || value > UINT16_MAX) {
		return false;
	}
	*port = (uint16_t)value;
	return true;
}

/* "RELAY[:PORT]", of `length` bytes; an IPv6 address stands in brackets. NULL if right. */
static const char *parse_authority(struct url *url, const char *text, size_t length)
{
	const char *name = text, *end, *colon;

	if (length > 0 && text[0] == '[') {
		end = memchr(text, ']', length);
		if (!end) {
			return "the address has no closing bracket";
		}
		name = text + 1;
		colon = end + 1;
	} else {
		end = memchr(text, ':', length);
		if (!end) {
			end = text + length;
		}
		colon = end;
	}
	if (!take(url->relay, sizeof(url->relay), name, (size_t)(end - name))) {
		return "the name of the relay's host is missing or too long";
	}
	url->port = URL_DEFAULT_PORT;
	if (colon < text + length &&
			(*colon != ':' ||
					!parse_port(colon + 1, (size_t)(text + length - colon - 1),
							&url->port))) {
		return "the port is not a number from 1 to 65535";
	}
	return NULL;
}

enum status url_parse(struct url *url, const char *text, char *error, size_t error_size)
{
	const char *rest = after_scheme(text), *slash, *wrong;

	memset(url, 0, sizeof(*url));
	if (!rest) {
		url->kind = URL_DIRECTORY;
		return text[0] ? STATUS_OK : complain(error, error_size, "\"\"", "no source");
	}
	slash = rest + strcspn(rest, "/");
	wrong = parse_authority(url, rest, (size_t)(slash - rest));
	if (wrong) {
		return complain(error, error_size, text, wrong);
	}
	if (slash[0] == '\0' || slash[1] == '\0') {
		url->kind = URL_RELAY;
		return STATUS_OK;
	}
	if (strncmp(slash, "/host/", 6) != 0) {
		return complain(error, error_size, text, "the path does not begin with /host/");
	}
	rest = slash + 6;
	slash = strchr(rest, '/');
	if (!slash || !take(url->host, sizeof(url->host), rest, (size_t)(slash - rest)) ||
			!take(url->session, sizeof(url->session), slash + 1, strlen(slash + 1)) ||
			strchr(url->session, '/')) {
		return complain(error, error_size, text, "host or session is missing or too long");
	}
	url->kind = URL_SESSION;
	return STATUS_OK;
}

void url_complete(const char *text, char *out, size_t size)
{
	bool bare = !strchr(text, '/') && strcmp(text, ".") != 0 && strcmp(text, "..") != 0 &&
		    access(text, F_OK) != 0;

	snprintf(out, size, bare ? "net://%s" : "%s", text);
}

void url_format_relay(const struct url *url, char *out, size_t size)
{
	bool bracketed = strchr(url->relay, ':') != NULL;

	if (url->port == URL_DEFAULT_PORT) {
		snprintf(out, size, bracketed ? "net://[%s]" : "net://%s", url->relay);
	} else {
		snprintf(out, size, bracketed ? "net://[%s]:%u" : "net://%s:%u", url->relay,
				(unsigned int)url->port);
	}
}

void url_format_session(const struct url *relay, const char *host, const char *session, char *out,
		size_t size)
{
	size_t length;

	url_format_relay(relay, out, size);
	length = strlen(out);
	snprintf(out + length, size - length, "/host/%s/%s", host, session);
}
