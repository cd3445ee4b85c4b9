/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef UI_EXPLAIN_TEXT_H
#define UI_EXPLAIN_TEXT_H

#include <stdbool.h>
#include <stddef.h>

#include "pythiatop/snapshot/explanation.h"

/*
 * What key-values explain, in words, for all screens that speak of it. Pure. An explanation may be
 * NULL: nobody has asked. What is not known is never a number.
 */

/* A key holds in the half that was held out, too: the first one explains the latencies. */
bool explain_found(const struct explanation *explanation);

/*
 * "explained by queue_len: 0 -> 400ms, 1 -> 1.20s, 2 -> 2.10s"; or how far the search for a
 * variable is, what it lacks, that there is none; "" if nobody has asked.
 */
void explain_sentence(char *out, size_t size, const struct explanation *explanation);

/* "explained by queue_len", or the sentence above where no key was found. */
void explain_head(char *out, size_t size, const struct explanation *explanation);

/*
 * "92% held out, n 444+444, p <= 0.001": the share of the variance in the half that was held out,
 * requests explored and held out; "" if no key was found.
 */
void explain_evidence(char *out, size_t size, const struct explanation *explanation);

/* "p <= 0.001": rounded up, since it is a bound, and never 0. "p -" if it is of no shift. */
void explain_p(char *out, size_t size, const struct explained_key *key);

/* The same for the p-value of a formula: "p < 1e-9" below that. */
void explain_tail(char *out, size_t size, double p);

/* "field", "host", "count", "resource" */
const char *explain_source(enum explanation_source source);

#endif
