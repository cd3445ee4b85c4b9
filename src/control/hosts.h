/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PT_CONTROL_HOSTS_H
#define PT_CONTROL_HOSTS_H

#include <poll.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "pythiatop/status.h"

/*
 * The hosts whose tracers can be controlled, each through a pythiatop-control process of its own: a
 * child here, or one at the other end of an ssh. (helper/answer.h is what the two speak.)
 *
 * Nothing here waits. What is asked is written, and answered by a callback that runs inside a later
 * control_hosts_step(), always, exactly once: with the answer, or with why there is none. Every ask
 * has a deadline, and can be given up; the helper then kills the call that it was in.
 *
 * A helper that ends, says what is not the protocol, or says nothing for eight seconds is killed
 * and started again, after 1, 2, 4 ... 30 s. With it goes its session (`generation` counts up,
 * `session` is empty): its host undoes it, by itself. The lease is renewed each second, by the
 * step.
 *
 * What a helper sends is not trusted: lines are bounded, types, names and counts are checked.
 * Names, processes and messages may hold any character: escape them where they are shown.
 *
 * Units: ns of CLOCK_MONOTONIC, given by the caller. Threads: one at a time, no locks.
 * Memory: at most CONTROL_MAX_HOSTS hosts, CONTROL_MAX_ASKS open asks each, and per host one answer
 * being collected, of at most CONTROL_MAX_ROWS rows and CONTROL_MAX_BYTES bytes; beyond: an error.
 */
#define CONTROL_MAX_HOSTS      256u
#define CONTROL_MAX_ASKS       32u
#define CONTROL_MAX_ROWS       65536u
#define CONTROL_MAX_BYTES      (64u << 20)
#define CONTROL_NAME_BYTES     256 /* names of hosts, sessions, points: with the final 0 */
#define CONTROL_FILTER_BYTES   4096
#define CONTROL_SENTENCE_BYTES 512

struct control_hosts; /* opaque */

struct control_setup {
	const char *program; /* path of the pythiatop-control that is started here */
	const char *const *local; /* its argv; NULL: it is given nothing. Borrowed */
	const char *ssh;     /* the program that reaches other hosts; NULL: "ssh" */
	const char *console; /* who controls, told to the helper: "user@host pid" */
};

/* NULL: out of memory. The texts are copied. */
struct control_hosts *control_hosts_create(const struct control_setup *setup);

/*
 * Lets every helper go, at once: the end of its input makes it undo what it did, whether or not we
 * still live. Open asks are answered with STATUS_END first.
 */
void control_hosts_destroy(struct control_hosts *hosts);

/*
 * Adds a host and starts its helper in the next step. `name`: as traces call the host (LTTng's
 * hostname). `url`: "local" or "ssh://[user@]host[:port]". Returns its index, from 0 in the order
 * of adding, or -1: `error` says what is wrong (a name that is there, more than CONTROL_MAX_HOSTS,
 * ...). Hosts are never taken away.
 */
int control_hosts_add(struct control_hosts *hosts, const char *name, const char *url, char *error,
		size_t size);

/* "NAME=URL", as an option says it. */
int control_hosts_add_option(
		struct control_hosts *hosts, const char *option, char *error, size_t size);

/* Is that such an option? False: `error` says what would be one. For checking before all starts. */
bool control_option_check(const char *option, char *error, size_t size);

enum control_state {
	CONTROL_OFF = 0,  /* nobody said how to reach it */
	CONTROL_STARTING, /* no hello so far */
	CONTROL_READY,
	CONTROL_FAILED, /* will be tried again, see the sentence */
};

struct control_host {
	const char *name, *url; /* "" for CONTROL_OFF */
	enum control_state state;
	bool local;
	bool read_only;       /* its own configuration forbids changes; valid if READY */
	uint32_t generation;  /* counts the helpers that said hello */
	const char *session;  /* ours there, "" if none; as the relay daemon lists it */
	const char *probe;    /* that of pythiatop-probe beside it, "" if none */
	const char *hostname; /* what the host calls itself; "" before hello */
	double event_ns;      /* of CPU, that recording an event takes there; 0: not known */
	/* Why it is not ready and what to do; "" if it is. Ends without a full stop. */
	char sentence[CONTROL_SENTENCE_BYTES];
};

uint32_t control_hosts_count(const struct control_hosts *hosts);
int control_hosts_find(const struct control_hosts *hosts, const char *name); /* -1: not there */

/* Index -1: a host named `name` that nobody added: CONTROL_OFF, with the sentence that says how. */
void control_hosts_view(const struct control_hosts *hosts, int host, const char *name,
		struct control_host *view);

/* --- the caller's loop --- */

/*
 * What to wait for. Writes at most `max` entries and returns how many there are (at most two a
 * host).
 */
uint32_t control_hosts_poll_fds(
		const struct control_hosts *hosts, struct pollfd *fds, uint32_t max);

/* When a step is due even if none of them is ready; UINT64_MAX: never. */
uint64_t control_hosts_due_ns(const struct control_hosts *hosts);

/*
 * Reads, writes, renews leases, starts, kills, answers. To be called when something above is ready
 * or due; harmless more often. Takes as long as the callbacks and the parsing of what came, at most
 * 1 MiB a host. True: something changed that a screen would show.
 */
bool control_hosts_step(struct control_hosts *hosts, uint64_t now_ns);

/*
 * What helpers had to say unasked, such as "compute-2: undid pythiatop-root-12, whose owner is
 * gone": takes the oldest. At most 16 are kept, the oldest goes first. False: there is none.
 */
bool control_hosts_notice(struct control_hosts *hosts, char *out, size_t size);

/* --- asking --- */

enum control_domain {
	CONTROL_UST = 0,
	CONTROL_KERNEL,
};

enum control_type {
	CONTROL_TRACEPOINT = 0,
	CONTROL_SYSCALL, /* kernel only; one name is its entry and its exit */
};

/* What a session of ours is for. Each helper has at most one of each. */
enum control_kind {
	CONTROL_LIVE = 0, /* pythiatop-USER-PID: streamed to the relay daemon */
	CONTROL_FLIGHT,   /* pythiatop-USER-PID-flight: kept in memory, written by a snapshot */
};

/* A point by its exact name; patterns are refused. */
struct control_rule {
	enum control_domain domain;
	enum control_type type;
	const char *name;
	const char *filter; /* LTTng's syntax; NULL: none. A disable takes all filters of the name.
			     */
};

/* Which of our channels: what is always on, or what is tried. Filtered rules have channels apart.
 */
enum control_slot {
	CONTROL_SKELETON = 0,
	CONTROL_EXPLORE,
};

enum control_field_type {
	CONTROL_FIELD_OTHER = 0,
	CONTROL_FIELD_INTEGER,
	CONTROL_FIELD_ENUM,
	CONTROL_FIELD_FLOAT,
	CONTROL_FIELD_STRING,
};

struct control_field {
	const char *name;
	enum control_field_type type;
};

struct control_process {
	int32_t pid; /* in the host's initial pid namespace */
	const char *name;
};

/* A session in which a point is recorded now. */
struct control_use {
	const char *session;
	bool ours;      /* this helper's */
	bool pythiatop; /* another console's */
	bool partial;   /* by a filter, an exclusion or a log level: not each of its events */
};

struct control_point {
	enum control_domain domain;
	enum control_type type;
	const char *name;
	int32_t loglevel;     /* -1: none */
	bool bounded;         /* the host itself lets go of it where it fires too often */
	uint32_t n_processes; /* that offer it; of them at most 32 are listed */
	uint32_t n_listed;
	const struct control_process *processes;
	uint32_t n_fields;
	const struct control_field *fields;
	uint32_t n_uses;
	const struct control_use *uses;
};

struct control_session {
	const char *name;
	bool active, ours, pythiatop, snapshot;
	uint64_t live_timer_us; /* 0: not live */
	const char *output;
};

/* A channel of a session, and what it lost since it was made: sums over its CPUs and users. */
struct control_channel {
	const char *session;
	enum control_domain domain;
	const char *name;
	bool enabled;
	uint64_t subbuf_bytes, n_subbuf;
	uint64_t tracefile_bytes, n_tracefiles; /* 0: without bound */
	uint64_t discarded_events, lost_packets;
};

/* A rule of a session's channel, as the session daemon has it. */
struct control_rule_row {
	const char *session;
	enum control_domain domain;
	enum control_type type;
	const char *channel, *name;
	bool enabled, partial;
	const char *filter; /* "" if none */
};

enum control_done {
	CONTROL_DONE = 0,
	CONTROL_WAS_SO,     /* nothing had to be done */
	CONTROL_USED_THERE, /* recorded in `session` already, so not enabled again */
	CONTROL_REFUSED,    /* see `message` */
	CONTROL_WOULD,      /* of a check: it would be done */
};

/* What became of one rule of an enable or a disable, in the order asked. */
struct control_change {
	const char *name;
	enum control_done done;
	const char *channel; /* where it is; "" if it is not */
	const char *session; /* CONTROL_USED_THERE: whose; else "" */
	const char *message; /* CONTROL_REFUSED: what is wrong, and what to do; else "" */
};

/* Something that was asked for and this host does not have: a domain, a context, a channel. */
struct control_lack {
	const char *what, *message;
};

enum control_verb {
	CONTROL_ASK_SESSIONS = 0,
	CONTROL_ASK_POINTS,
	CONTROL_ASK_CHANNELS,
	CONTROL_ASK_CREATE,
	CONTROL_ASK_ENABLE,
	CONTROL_ASK_DISABLE,
	CONTROL_ASK_SNAPSHOT,
	CONTROL_ASK_DESTROY,
	CONTROL_ASK_LEARN,
	CONTROL_ASK_LEARNED,
	CONTROL_ASK_CHECK,
	CONTROL_ASK_CHECK_LEARN,
};

/*
 * Borrowed for the time of the callback, which may ask for more, and give up, but neither step nor
 * destroy. Only the rows of what was asked are there.
 */
struct control_answer {
	uint64_t ask; /* as control_ask_...() returned it */
	int host;
	enum control_verb verb;
	/*
	 * STATUS_OK; STATUS_INVALID: refused, or failed there; STATUS_TIMEOUT: not in time;
	 * STATUS_END: given up, or the helper ended, so it may have been done or not;
	 * STATUS_PROTOCOL: the helper answered nonsense; STATUS_BUSY: CONTROL_MAX_ASKS are open;
	 * STATUS_NOT_YET: the host is not ready; STATUS_FULL, STATUS_NO_MEMORY.
	 */
	enum status status;
	const char *message; /* what went wrong and what to do; "" if STATUS_OK */
	uint64_t asked_ns, answered_ns;
	/*
	 * When the first call of lttng-ctl for it began, on the clock of that host: comparable with
	 * asked_ns for a local one. 0: none was made.
	 */
	uint64_t began_ns;

	uint32_t n_sessions, n_points, n_channels, n_rules, n_changes, n_lacks;
	const struct control_session *sessions;
	const struct control_point *points;
	const struct control_channel *channels;
	const struct control_rule_row *rules;
	const struct control_change *changes;
	const struct control_lack *lacks; /* of POINTS, CREATE: the kernel tracer, a context, ... */
	const char *session;              /* CREATE: its name, else "" */
	const char *probe;                /* CREATE: of the probe's beside it, "" if none */
};

typedef void (*control_done_fn)(void *context, const struct control_answer *answer);

struct control_create {
	enum control_kind kind;
	/* The relay daemon as THAT host sees it, see control_relay_url(). */
	const char *relay_url;
	uint32_t live_timer_us; /* 10 ms to 10 s; 0: 200 ms */
	bool kernel;            /* with channels of the kernel domain, if it can be had */
};

/*
 * Each returns the number of the ask; 0: out of memory, and `done` will not be called. Arguments
 * are copied. timeout_ns 0: 20 s, for a stopped application holds a call up for 5 s.
 */
uint64_t control_ask_sessions(struct control_hosts *hosts, int host, uint64_t timeout_ns,
		control_done_fn done, void *context);

/* Of running applications and of the kernel; what there is of the two, lacks say the rest. */
uint64_t control_ask_points(struct control_hosts *hosts, int host, uint64_t timeout_ns,
		control_done_fn done, void *context);

/* Channels, with what they lost, and rules. `session` NULL: of all our sessions. */
uint64_t control_ask_channels(struct control_hosts *hosts, int host, const char *session,
		uint64_t timeout_ns, control_done_fn done, void *context);

/*
 * Creates our session with its slots and starts it. One that is there already is an error: after an
 * ask that was given up or came too late, destroy first.
 */
uint64_t control_ask_create(struct control_hosts *hosts, int host,
		const struct control_create *create, uint64_t timeout_ns, control_done_fn done,
		void *context);

/*
 * Enables rules in our session; at most 1,000 at once. `attached`: sessions of that host that this
 * console reads: what one of them records whole, or another console's session records at all, is
 * not enabled again (CONTROL_USED_THERE). STATUS_OK: each rule has its change, see there.
 */
uint64_t control_ask_enable(struct control_hosts *hosts, int host, enum control_kind kind,
		enum control_slot slot, const struct control_rule *rules, uint32_t n_rules,
		const char *const *attached, uint32_t n_attached, uint64_t timeout_ns,
		control_done_fn done, void *context);

/* What that would do: CONTROL_WOULD in place of CONTROL_DONE, and nothing is changed. */
uint64_t control_ask_check(struct control_hosts *hosts, int host, enum control_kind kind,
		enum control_slot slot, const struct control_rule *rules, uint32_t n_rules,
		const char *const *attached, uint32_t n_attached, uint64_t timeout_ns,
		control_done_fn done, void *context);

/* Disables them in all channels of our session; filters are not looked at. */
uint64_t control_ask_disable(struct control_hosts *hosts, int host, enum control_kind kind,
		const struct control_rule *rules, uint32_t n_rules, uint64_t timeout_ns,
		control_done_fn done, void *context);

/*
 * Enables all points of these providers in our live session, by one rule each, until
 * control_ask_learned(). Hosts that let single points be enabled only refuse.
 */
uint64_t control_ask_learn(struct control_hosts *hosts, int host, const char *const *providers,
		uint32_t n_providers, uint64_t timeout_ns, control_done_fn done, void *context);
uint64_t control_ask_learned(struct control_hosts *hosts, int host, uint64_t timeout_ns,
		control_done_fn done, void *context);

/* Whether the host lets these be learned from; nothing is changed. */
uint64_t control_ask_check_learn(struct control_hosts *hosts, int host,
		const char *const *providers, uint32_t n_providers, uint64_t timeout_ns,
		control_done_fn done, void *context);

/* Has our CONTROL_FLIGHT session written to its relay daemon, as a recording. */
uint64_t control_ask_snapshot(struct control_hosts *hosts, int host, uint64_t timeout_ns,
		control_done_fn done, void *context);

/* Ends our sessions there, both kinds: undo of everything. */
uint64_t control_ask_destroy(struct control_hosts *hosts, int host, uint64_t timeout_ns,
		control_done_fn done, void *context);

/* The answer is STATUS_END, in the next step. An ask that is answered already: nothing happens. */
void control_give_up(struct control_hosts *hosts, uint64_t ask);

/* --- the relay daemon as a traced host sees it --- */

/*
 * The URL to give to control_ask_create(), or false: `error` says which option must say it.
 * `given`: control.relay_url, may be NULL. `source`: the relay daemon as this console reaches it.
 * Taken from the source only where that is certain: its port is the usual 5344, so LTTng's others
 * are 5342 and 5343, and it is not a loopback address seen from another host.
 */
bool control_relay_url(const char *explicit_url, const char *source, bool local, char *out,
		size_t size, char *error, size_t error_size);

#endif
