/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PT_HELPER_ANSWER_H
#define PT_HELPER_ANSWER_H

#include <jansson.h>
#include <stdbool.h>

/*
 * The helper's side of the control protocol, version 1: one JSON object a line, both ways.
 *
 *   -> {"id":1,"do":"hello"}
 *   <- {"id":1,"ok":true,"protocol":1,"version":"...","host":"...","user":"...","pid":...}
 *   -> {"id":2,"do":"sessions"}
 *   <- {"id":2,"session":{"name":...,"active":true,"live_timer_us":...,"output":...}}   each
 *   <- {"id":2,"ok":true,"count":1}
 *   -> {"id":3,"do":"points"}
 *   <- {"id":3,"point":{"name":...,"loglevel":...,"processes":2,"fields":[{"name","type"}]}}   each
 *   <- {"id":3,"ok":true,"count":1}
 *   <- {"id":3,"ok":false,"error":"what went wrong","help":"what to do about it"}
 *
 * This version only looks: it changes nothing on its host. A line is at most CONTROL_MAX_LINE
 * bytes; what is not a request gets an error with id 0. The end of the input ends the helper.
 */
#define CONTROL_PROTOCOL 1
#define CONTROL_MAX_LINE (1u << 20)

/* Sends one line and flushes. False: nobody reads any more. Takes the reference of `line`. */
bool answer_send(json_t *line);

/* The last line of an answer. `more` (may be NULL) is merged into it; its reference is taken. */
bool answer_ok(json_int_t id, json_t *more);
bool answer_error(json_int_t id, const char *error, const char *help);

#endif
