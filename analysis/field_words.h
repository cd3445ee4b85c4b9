/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PT_FIELD_WORDS_H
#define PT_FIELD_WORDS_H

#include <stdbool.h>

/*
 * What the name of a field says of its value, by the words that it is made of: "rpc.waited_ms" is a
 * time, "timeoutSeconds" a setting, "peer_addr" and "callbackHandle" say which one is meant. Words
 * end at what is no letter or digit and before a capital; the part after the last dot counts.
 */
struct field_words {
	bool time;     /* any word is one of time: when, elapsed, latency */
	bool unit;     /* the last is a unit of time */
	bool setting;  /* any is one of a limit that somebody set */
	bool identity; /* the last is one of a number that is only a name: an address, a hash, a
			  handle, a process; more of it is not more of anything */
	bool id; /* the last is one of a number that says which request it is, or an identity */
	bool resource; /* any is one of a resource that is waited for */
};

/* Pure. */
struct field_words field_words(const char *name);

/*
 * Of an event's name, or that of a span: what the kernel does to a thread that is at work, or has
 * it do. The longer a request takes, the more of it falls into its time. Who had the processor is
 * told by the state of the systems.
 */
bool is_interruption(const char *event);

/* Likewise: a system call, by the name that its span has. */
bool is_system_call(const char *event);

#endif
