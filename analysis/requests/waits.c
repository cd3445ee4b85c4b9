/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "requests/waits.h"

#include <stddef.h>
#include <string.h>

static const struct {
	const char *call;
	enum wait_class class;
} calls[] = {
		{"accept", WAITS_WORK},
		{"accept4", WAITS_WORK},
		{"clock_nanosleep", WAITS_WORK},
		{"epoll_pwait", WAITS_WORK},
		{"epoll_pwait2", WAITS_WORK},
		{"epoll_wait", WAITS_WORK},
		{"futex", WAITS_WORK},
		{"futex_waitv", WAITS_WORK},
		{"io_getevents", WAITS_WORK},
		{"io_uring_enter", WAITS_INPUT},
		{"mq_timedreceive", WAITS_WORK},
		{"msgrcv", WAITS_WORK},
		{"nanosleep", WAITS_WORK},
		{"pause", WAITS_WORK},
		{"poll", WAITS_WORK},
		{"ppoll", WAITS_WORK},
		{"pselect6", WAITS_WORK},
		{"rt_sigsuspend", WAITS_WORK},
		{"rt_sigtimedwait", WAITS_WORK},
		{"select", WAITS_WORK},
		{"wait4", WAITS_WORK},
		{"waitid", WAITS_WORK},
		{"waitpid", WAITS_WORK},
		{"read", WAITS_INPUT},
		{"readv", WAITS_INPUT},
		{"recvfrom", WAITS_INPUT},
		{"recvmmsg", WAITS_INPUT},
		{"recvmsg", WAITS_INPUT},
		{"exit", WAITS_END},
		{"exit_group", WAITS_END},
};

enum wait_class wait_class(const char *call)
{
	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
		size_t length = strlen(calls[i].call);
		const char *tail = call + length;

		if (strncmp(call, calls[i].call, length) == 0 &&
				(*tail == '\0' || strcmp(tail, "_time32") == 0 ||
						strcmp(tail, "_time64") == 0)) {
			return calls[i].class;
		}
	}
	return WAITS_NOT;
}

bool wait_multiplexes(const char *call)
{
	return wait_class(call) == WAITS_WORK && (strstr(call, "poll") || strstr(call, "select"));
}

static const char *behind(const char *text, const char *prefix)
{
	size_t length = strlen(prefix);

	return strncmp(text, prefix, length) == 0 ? text + length : NULL;
}

const char *wait_call(const char *event, bool *exit)
{
	const char *rest = behind(event, "compat_"), *call;

	rest = rest ? rest : event;
	*exit = strcmp(event, "exit_syscall") == 0;
	if (*exit) {
		return "";
	}
	call = behind(rest, "syscall_exit_");
	*exit = call != NULL;
	call = call ? call : behind(rest, "syscall_entry_");
	return call ? call : behind(rest, "sys_");
}
