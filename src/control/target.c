/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "control/target.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LETTERS "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"

static bool is_word(const char *text, size_t length, const char *more)
{
	char allowed[96];

	snprintf(allowed, sizeof(allowed), LETTERS "%s", more);
	return length > 0 && text[0] != '-' && strspn(text, allowed) >= length;
}

static bool copy(char *out, size_t size, const char *text, size_t length)
{
	if (length >= size) {
		return false;
	}
	memcpy(out, text, length);
	out[length] = '\0';
	return true;
}

static bool take_port(struct target *target, const char *text)
{
	char *end;
	long port;

	if (!isdigit((unsigned char)text[0])) {
		return false;
	}
	port = strtol(text, &end, 10);
	return *end == '\0' && port > 0 && port < 65536 &&
	       copy(target->port, sizeof(target->port), text, strlen(text));
}

/* "host", "host:port", "[address]:port" */
static bool take_host(struct target *target, const char *text)
{
	const char *end;
	size_t length;

	if (text[0] == '[') {
		end = strchr(++text, ']');
		length = end ? (size_t)(end - text) : 0;
		if (!is_word(text, length, ":.%")) {
			return false;
		}
		end++;
	} else {
		length = strcspn(text, ":");
		end = text + length;
		if (!is_word(text, length, "._-")) {
			return false;
		}
	}
	return copy(target->host, sizeof(target->host), text, length) &&
	       (*end == '\0' || (*end == ':' && take_port(target, end + 1)));
}

static bool take_ssh(struct target *target, const char *text)
{
	const char *at = strchr(text, '@');

	if (at) {
		if (!is_word(text, (size_t)(at - text), "._-") ||
				!copy(target->user, sizeof(target->user), text,
						(size_t)(at - text))) {
			return false;
		}
		text = at + 1;
	}
	return take_host(target, text);
}

bool target_set(struct target *target, const char *name, const char *url, char *error, size_t size)
{
	memset(target, 0, sizeof(*target));
	if (name[0] == '\0' || !copy(target->name, sizeof(target->name), name, strlen(name)) ||
			strcspn(name, " \t\r\n/=") != strlen(name)) {
		snprintf(error, size,
				"a host's name is 1 to 255 characters, without blanks, / and "
				"=, as traces call it");
		return false;
	}
	target->local = strcmp(url, "local") == 0;
	if (!copy(target->url, sizeof(target->url), url, strlen(url)) ||
			(!target->local && (strncmp(url, "ssh://", 6) != 0 ||
							   !take_ssh(target, url + 6)))) {
		snprintf(error, size, "%s is reached by \"local\" or \"ssh://[user@]host[:port]\"",
				target->name);
		return false;
	}
	return true;
}

bool target_parse(struct target *target, const char *option, char *error, size_t size)
{
	const char *equals = strchr(option, '=');
	char name[TARGET_BYTES];

	if (!equals || !copy(name, sizeof(name), option, (size_t)(equals - option))) {
		snprintf(error, size, "HOST=ssh://[user@]host[:port], or HOST=local");
		return false;
	}
	return target_set(target, name, equals + 1, error, size);
}
