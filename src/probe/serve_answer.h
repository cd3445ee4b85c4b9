/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PT_PROBE_SERVE_ANSWER_H
#define PT_PROBE_SERVE_ANSWER_H

/*
 * What the probe that serves says, over the two sockets of serve.h: rows and ends of answers on
 * one, sentences for the person on the other. Threads: one. An asker that does not read is waited
 * for, two seconds at most; then it is left without.
 */

/* A row (mark '+'), an end ('.') or a refusal ('!') of the request that has this tag. */
__attribute__((format(printf, 3, 4))) void serve_answer(
		const char *tag, char mark, const char *format, ...);
/* A row that was made whole elsewhere, its tag and mark in it. */
void serve_answer_text(const char *text);

/* A sentence; never waits. The context is nothing: it is a recorder's `say`. */
void serve_say(void *context, const char *sentence);

#endif
