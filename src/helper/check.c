/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "helper/check.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LETTERS "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
#define DIGITS  "0123456789"

const char *check_point(const char *name)
{
	size_t length = strnlen(name, CHECK_NAME_BYTES);

	if (length == 0) {
		return "is empty";
	}
	if (length == CHECK_NAME_BYTES) {
		return "is longer than 255 bytes";
	}
	if (strchr(name, '*')) {
		return "is a pattern: give exact names";
	}
	if (strspn(name, LETTERS DIGITS "_:.+-@/<>~") != length || name[0] == '-') {
		return "has a character that no tracepoint's name has";
	}
	return NULL;
}

const char *check_session(const char *name)
{
	size_t length = strnlen(name, CHECK_NAME_BYTES);
	size_t i;

	if (length == 0) {
		return "is empty";
	}
	if (length == CHECK_NAME_BYTES) {
		return "is longer than 255 bytes";
	}
	for (i = 0; i < length; i++) {
		if ((unsigned char)name[i] < ' ' || name[i] == '/' || name[i] == 0x7f) {
			return "has a character that no session's name has";
		}
	}
	return NULL;
}

/* Takes ":PORT" off, if there is one. False: there is one that is wrong. */
static bool take_port(const char **text)
{
	char *end;
	long port;

	if (**text != ':') {
		return true;
	}
	if (!isdigit((unsigned char)(*text)[1])) {
		return false;
	}
	port = strtol(*text + 1, &end, 10);
	*text = end;
	return port > 0 && port < 65536;
}

const char *check_relay(const char *url)
{
	static const char *const form = "is not of the form net://HOST[:CONTROL[:DATA]]";
	const char *at = url;
	size_t host;

	if (strnlen(url, CHECK_URL_BYTES) == CHECK_URL_BYTES) {
		return "is too long";
	}
	if (strncmp(url, "net6://[", 8) == 0) {
		at += 8;
		host = strspn(at, "0123456789abcdefABCDEF:.");
		if (host == 0 || at[host] != ']') {
			return form;
		}
		at += host + 1;
	} else if (strncmp(url, "net://", 6) == 0) {
		at += 6;
		host = strspn(at, LETTERS DIGITS ".-_");
		if (host == 0 || *at == '-' || *at == '.') {
			return form;
		}
		at += host;
	} else {
		return form;
	}
	return take_port(&at) && take_port(&at) && *at == '\0' ? NULL : form;
}

/* Of LTTng 2.13, user space and kernel. */
static const char *const contexts[] = {"pid", "procname", "prio", "nice", "vpid", "tid", "vtid",
		"ppid", "vppid", "pthread_id", "hostname", "ip", "interruptible", "preemptible",
		"need_reschedule", "migratable", "cgroup_ns", "ipc_ns", "mnt_ns", "net_ns",
		"pid_ns", "user_ns", "uts_ns", "time_ns", "uid", "euid", "suid", "gid", "egid",
		"sgid", "vuid", "veuid", "vsuid", "vgid", "vegid", "vsgid", "cpu_id"};

static bool is_context(const char *name)
{
	size_t i;

	for (i = 0; i < sizeof(contexts) / sizeof(contexts[0]); i++) {
		if (strcmp(contexts[i], name) == 0) {
			return true;
		}
	}
	return false;
}

/* The end of a string literal, behind its closing quote; NULL: it has none. */
static const char *skip_literal(const char *at)
{
	char quote = *at++;

	while (*at && *at != quote) {
		at += at[0] == '\\' && at[1] ? 2 : 1;
	}
	return *at ? at + 1 : NULL;
}

/* A name, and whatever belongs to it: `a.b`, `$ctx.vtid`, `$app.provider:name`. */
static const char *take_name(const char *at, char *name, size_t size)
{
	size_t length = *at == '$';

	length += strspn(at + length, LETTERS DIGITS "_.");
	if (strncmp(at, "$app.", 5) == 0) {
		length += strspn(at + length, LETTERS DIGITS "_.:");
	}
	snprintf(name, size, "%.*s", (int)length, at);
	return at + length;
}

static bool is_known(char *name, bool (*has)(void *context, const char *field), void *context)
{
	char *dot;

	if (name[0] == '$') {
		return strncmp(name, "$app.", 5) == 0 ||
		       (strncmp(name, "$ctx.", 5) == 0 && is_context(name + 5));
	}
	dot = strchr(name, '.');
	if (dot) {
		*dot = '\0'; /* a part of a structure: the structure is what is listed */
	}
	return has(context, name);
}

const char *check_filter(const char *filter, bool (*has)(void *context, const char *field),
		void *context, char *wrong, size_t size)
{
	const char *at;

	wrong[0] = '\0';
	if (strnlen(filter, CHECK_FILTER_BYTES) == CHECK_FILTER_BYTES) {
		return "is longer than 4095 bytes";
	}
	for (at = filter; *at; at++) {
		if ((unsigned char)*at < ' ' || (unsigned char)*at >= 0x7f) {
			return "has a character that is not printable ASCII";
		}
	}
	for (at = filter; *at;) {
		if (*at == '"' || *at == '\'') {
			at = skip_literal(at);
			if (!at) {
				return "has a text without its closing quote";
			}
		} else if (isalpha((unsigned char)*at) || *at == '_' || *at == '$') {
			at = take_name(at, wrong, size);
			if (!is_known(wrong, has, context)) {
				return "speaks of what the point does not have";
			}
		} else if (isdigit((unsigned char)*at)) {
			at += strspn(at, LETTERS DIGITS "."); /* 0x1f, 10L, 1e3 */
		} else {
			at++;
		}
	}
	return filter[strspn(filter, " ")] ? NULL : "is empty";
}

bool check_kernel_field(const char *event, const char *field)
{
	static const char *const fields[][2] = {
			{"sched_switch", "prev_tid"},
			{"sched_switch", "next_tid"},
			{"sched_waking", "tid"},
			{"sched_wakeup", "tid"},
			{"sched_wakeup_new", "tid"},
			{"block_rq_issue", "tid"},
			{"block_rq_insert", "tid"},
	};

	for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++) {
		if (strcmp(fields[i][0], event) == 0 && strcmp(fields[i][1], field) == 0) {
			return true;
		}
	}
	return false;
}
