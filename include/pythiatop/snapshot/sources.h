/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PYTHIATOP_SNAPSHOT_SOURCES_H
#define PYTHIATOP_SNAPSHOT_SOURCES_H

#include <stdbool.h>
#include <stdint.h>

enum source_state {
	SOURCE_STARTING = 0, /* its process is being started */
	SOURCE_CONNECTING,   /* no answer from the relay daemon so far */
	SOURCE_WAITING,  /* connected; no session (of that name), or not live, or watched by another
			  */
	SOURCE_ATTACHED, /* attached; no event so far */
	SOURCE_ACTIVE,
	SOURCE_STALLED, /* silent for longer than the merge waits; what comes counts as late */
	SOURCE_BROKEN,  /* its process or its relay daemon died: tried again at retry_ns */
	SOURCE_ENDED,   /* recording read to its end, or session destroyed */
	SOURCE_REFUSED, /* cannot be read, and trying again will not help */
	SOURCE_OFFERED, /* listed for the person to pick; not attached */
};

const char *source_state_name(enum source_state state); /* "active" */

struct source_stream {
	const char *channel;
	const char *domain; /* "kernel", "ust" */
	uint32_t cpu;
	uint64_t events, discarded;
};

struct source_row {
	uint32_t id;
	const char *url;     /* as given, or as the relay daemon names it; a path for a recording */
	const char *host;    /* "" until known */
	const char *session; /* "" until known */
	enum source_state state;
	const char *detail; /* why, and what to do about it; "" if all is well */
	bool live;
	bool is_relay;          /* a relay daemon itself: its sessions have rows of their own */
	uint64_t live_timer_us; /* 0: not known */
	uint32_t viewers, n_streams;
	uint64_t events, discarded, discarded_packets, late;
	uint64_t misdated;         /* put aside, as their times cannot be true */
	uint64_t duplicates;       /* of its events another session of the host told, too */
	const char *duplicates_of; /* that session, of the latest; "" if none */
	double events_per_s;
	uint64_t lag_ns;      /* wall clock minus the last event (or beacon) analysed; live only */
	uint32_t gaps;        /* times it was lost and found again */
	uint64_t retry_in_ns; /* valid if BROKEN */
	uint32_t n_stream_rows;
	const struct source_stream *streams;
};

struct sources_view {
	uint32_t n;
	const struct source_row *rows;
};

#endif
