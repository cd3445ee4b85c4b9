/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PT_HELPER_ANSWER_H
#define PT_HELPER_ANSWER_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

/*
 * The control protocol, version 2: JSON objects, one a line, both ways.
 *
 * A request has a number of the asker's, "id" > 0, and what to "do". It is answered by any number
 * of rows and one last line, which has "ok"; all with that id. Answers to different requests may
 * come between each other's last lines, never within a line.
 *
 *   -> {"id":1,"do":"hello","protocol":2,"console":"who and where, for people"}
 *   <- {"id":1,"ok":true,"protocol":2,"version":"...","host":"...","user":"...","pid":...,
 *       "session":"pythiatop-USER-PID","read_only":false,"lease_ms":10000,"event_ns":115.2}
 *       "event_ns": CPU that recording an event takes there, see calibrate.h; 0: not known
 *   -> {"id":2,"do":"renew"}              any request renews as well
 *   <- {"id":2,"ok":true}
 *   -> {"id":3,"do":"give_up","of":ID}    kills the call that it is in; both are answered
 *   <- {"id":3,"ok":true}
 *
 *   -> {"id":4,"do":"sessions"}
 *   <- {"id":4,"session":{"name","active","live_timer_us","snapshot","output","owner"}}
 *   -> {"id":5,"do":"points"}
 *   <- {"id":5,"point":{"domain":"ust|kernel","type":"tracepoint|syscall","name","loglevel",
 *       "n_processes","processes":[{"pid","name"}],"fields":[{"name","type"}],
 *       "uses":[{"session","owner","partial"}]}}
 *   <- {"id":5,"lack":{"what":"kernel","error","help"}}
 *   -> {"id":6,"do":"channels","session":NAME}            without: all of ours
 *   <- {"id":6,"channel":{"session","domain","name","enabled","subbuf_bytes","n_subbuf",
 *       "tracefile_bytes","n_tracefiles","discarded","lost"}}
 *   <- {"id":6,"rule":{"session","domain","type","channel","name","enabled","partial","filter"}}
 *
 *   -> {"id":7,"do":"create","kind":"live|flight","relay":"net://HOST[:CONTROL[:DATA]]",
 *       "live_timer_us":200000,"kernel":false}
 *   <- {"id":7,"lack":{"what","error","help"}}
 *   <- {"id":7,"ok":true,"session":"pythiatop-USER-PID","probe":"pythiatop-USER-PID-probe"}
 *       "probe" is there where pythiatop-probe has a session beside it: of kernel events without
 *       LTTng's modules, of functions; where there is no LTTng, "session" is that one
 *   -> {"id":8,"do":"enable","kind":"live","slot":"skeleton|explore","attached":[SESSION...],
 *       "points":[{"domain","type","name","filter"}]}     "type", "filter" may be left out
 *   <- {"id":8,"change":{"index":0,"name","done":"done|was_so|used_there|refused","channel",
 *       "session","error","help"}}                        one for each point, in their order
 *   -> {"id":14,"do":"check", as "enable"}            what an enable would do: "done" is "would"
 *                                                    in place of "done", and nothing is changed
 *   -> {"id":9,"do":"disable","kind":"live","points":[{"domain","name"}]}
 *   -> {"id":12,"do":"learn","providers":["nova",...]}     all their points, until
 *   -> {"id":13,"do":"learned"}
 *   -> {"id":15,"do":"check_learn","providers":[...]}   whether they may be learned from
 *   -> {"id":10,"do":"snapshot"}          of our flight recorder
 *   -> {"id":11,"do":"destroy"}           all that is ours
 *
 *   <- {"id":N,"ok":true, "count":ROWS, "began_ns":...}
 *   <- {"id":N,"ok":false,"error":"what went wrong","help":"what to do about it", "began_ns":...}
 *
 * "owner" is "us", "pythiatop" (another console's) or "other". "began_ns" is when the first call of
 * lttng-ctl for it began, CLOCK_MONOTONIC of that host.
 *
 * Whatever is no request gets an error with its id, or 0. An id of 0 may also bring
 * {"id":0,"notice":"a sentence"}: what a helper that is gone had left, and was undone.
 *
 * The lease: a helper that has not been asked anything for CONTROL_LEASE_MS, whose input has ended
 * (what was asked before is still answered, as long as the lease allows), or that gets SIGTERM,
 * SIGINT or SIGHUP, destroys its sessions and ends.
 *
 * Limits: a line has at most CONTROL_MAX_LINE bytes; CONTROL_MAX_QUEUE requests wait; the helper's
 * configuration has more (helper/rights.h).
 */
#define CONTROL_PROTOCOL  2
#define CONTROL_MAX_LINE  (1u << 20)
#define CONTROL_MAX_QUEUE 64
#define CONTROL_LEASE_MS  10000

/*
 * The worker's side of it (helper/worker.h): one answer, written to standard output. In front of
 * each line stands a letter for the guardian, which does not want to parse rows.
 */
#define ANSWER_ROW    '+'
#define ANSWER_OK     '.'
#define ANSWER_FAILED '!'

struct answer {
	json_int_t id;
	uint64_t began_ns; /* 0: lttng-ctl was not called so far */
	uint32_t rows;
	bool unread; /* nobody reads any more */
};

/* To be called before each call of lttng-ctl: notes when the first one began. */
void answer_calling(struct answer *answer);

/* A row {key: value}; takes the reference of `value`, NULL is "out of memory". */
void answer_row(struct answer *answer, const char *key, json_t *value);
/* The same of a text in JSON: for rows by the ten thousands. */
void answer_row_text(struct answer *answer, const char *key, const char *json);

/* The last line. `more` (may be NULL) is merged into it; its reference is taken. */
void answer_ok(struct answer *answer, json_t *more);
void answer_error(struct answer *answer, const char *error, const char *help);

/* An error of lttng-ctl, with what people do about it. */
void answer_lttng(struct answer *answer, int code);
const char *answer_help(int code); /* "" if there is nothing to say */

/* {"what","error","help"} of something that this host does not have. */
void answer_lack(struct answer *answer, const char *what, int code);

/* Text of other processes need not be UTF-8, but JSON is. */
json_t *answer_text(const char *text);

#endif
