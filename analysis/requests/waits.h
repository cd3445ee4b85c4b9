/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PT_REQUESTS_WAITS_H
#define PT_REQUESTS_WAITS_H

#include <stdbool.h>

/*
 * System calls by which a thread waits for something to do: the one table of them.
 *
 * Pure. Threads: any.
 */
enum wait_class {
	WAITS_NOT = 0,
	WAITS_INPUT, /* for data: it may be for work, may be for an answer, or nothing at all */
	WAITS_WORK,  /* for whatever comes; of many where its name says poll or select */
	WAITS_END,   /* it does not return */
};

/* By the name without "syscall_": "epoll_wait", "clock_nanosleep_time64". */
enum wait_class wait_class(const char *call);
/* Does it wait for whatever comes of many? */
bool wait_multiplexes(const char *call);

/*
 * The call that an event is the entry or the exit of, in the names of all versions of LTTng
 * ("compat_syscall_entry_read", "sys_read"), "" of an exit that does not say; NULL: of none.
 */
const char *wait_call(const char *event, bool *exit);

#endif
