/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stddef.h>

#include "pythiatop/snapshot/sources.h"
#include "pythiatop/snapshot/state.h"

/* Names of values of enumerations: the same on the screen and in documents. */

#define NAME(names, value)                                                                         \
	((size_t)(value) < sizeof(names) / sizeof((names)[0]) ? (names)[value] : "?")

const char *interrupt_kind_name(enum interrupt_kind kind)
{
	static const char *const names[] = {
			[INTERRUPT_NONE] = "",
			[INTERRUPT_TIMER] = "timer",
			[INTERRUPT_DISK] = "disk",
			[INTERRUPT_NETWORK] = "network",
			[INTERRUPT_OTHER] = "interrupt",
	};

	return NAME(names, kind);
}

const char *thread_status_name(enum thread_status status)
{
	static const char *const names[] = {
			[THREAD_UNKNOWN] = "unknown",
			[THREAD_WAIT_FORK] = "wait_fork",
			[THREAD_WAIT_CPU] = "wait_cpu",
			[THREAD_BLOCKED] = "blocked",
			[THREAD_RUN_USER] = "run_user",
			[THREAD_RUN_SYSCALL] = "run_syscall",
			[THREAD_INTERRUPTED] = "interrupted",
			[THREAD_DEAD] = "dead",
	};

	return NAME(names, status);
}

const char *fd_kind_name(enum fd_kind kind)
{
	static const char *const names[] = {
			[FD_UNKNOWN] = "unknown",
			[FD_FILE] = "file",
			[FD_SOCKET] = "socket",
			[FD_PIPE] = "pipe",
			[FD_EVENT] = "event",
	};

	return NAME(names, kind);
}

const char *fd_confidence_name(enum fd_confidence confidence)
{
	static const char *const names[] = {
			[FD_OBSERVED] = "observed",
			[FD_STATEDUMP] = "statedump",
			[FD_GUESSED] = "guessed",
	};

	return NAME(names, confidence);
}

const char *source_state_name(enum source_state state)
{
	static const char *const names[] = {
			[SOURCE_STARTING] = "starting",
			[SOURCE_CONNECTING] = "connecting",
			[SOURCE_WAITING] = "waiting",
			[SOURCE_ATTACHED] = "attached",
			[SOURCE_ACTIVE] = "active",
			[SOURCE_STALLED] = "stalled",
			[SOURCE_BROKEN] = "broken",
			[SOURCE_ENDED] = "ended",
			[SOURCE_REFUSED] = "refused",
			[SOURCE_OFFERED] = "offered",
	};

	return NAME(names, state);
}
