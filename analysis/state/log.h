/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PT_STATE_LOG_H
#define PT_STATE_LOG_H

#include <stdbool.h>
#include <stdint.h>

#include "pythiatop/event.h"

/*
 * Compact copies of original events: those of the window, and older ones that something still open
 * refers to (the open of an fd, the entry of a running system call, the fork of a living thread).
 *
 * Events are numbered from 1 in the order they are fed; a number is how state refers to an event.
 * Every event has a number, kept or not. Only log_hold() makes an event outlive the window.
 *
 * Memory: at most max_bytes, with what is kept ready for more of them; when reached the oldest
 * events that nobody holds go, then log_trimmed() tells the time before which the window is
 * incomplete. Held ones are copied to an arena of their own when the window leaves them behind, at
 * most max_held_bytes; beyond, the oldest held goes and is counted. With `window` off only held
 * events are kept. Cost: one memcpy an event; holding is O(1) amortised.
 */
struct event_log;

struct event_log_config {
	uint64_t max_bytes, max_held_bytes;
	bool window; /* keep all events of the window, not only the held ones */
};

struct event_log *log_create(const struct event_log_config *config);
void log_destroy(struct event_log *log);

/* Takes the next event; returns its number. */
uint64_t log_add(struct event_log *log, const struct event *event);

/* One more, or one less, open thing that refers to the event of that number, if it is still there.
 * log_hold() must be called before the next log_add() for the newest event, or while it is kept. */
void log_hold(struct event_log *log, uint64_t number);
void log_release(struct event_log *log, uint64_t number);

/*
 * Events before this time go, unless held. A pin keeps what is in [from_ns, the newest event] as
 * well, and the older held ones of that moment; when memory is short, what came after the pin goes
 * first.
 */
void log_expire(struct event_log *log, uint64_t before_ns);
void log_pin(struct event_log *log, uint64_t from_ns);
void log_unpin(struct event_log *log);

/* The event of that number into *out (borrowed until the next call); false: it has gone. */
bool log_get(const struct event_log *log, uint64_t number, struct event *out);

/* All kept events up to `to_ns`, held older ones first, by number. Stops when `take` says false. */
void log_each(const struct event_log *log, uint64_t from_ns, uint64_t to_ns,
		bool (*take)(void *context, uint64_t number, const struct event *event, bool older),
		void *context);

/* Time before which events of the window had to go for memory; 0: none had to. */
uint64_t log_trimmed(const struct event_log *log);

/*
 * Time before which events may have gone, because the window (a pin's, while there is one) has left
 * them behind or for memory; 0: all are there. Later than where somebody's window begins who looks
 * back from the pin: of that one the rest is all there is.
 */
uint64_t log_begin(const struct event_log *log);

#endif
