/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef UI_CHANGE_TEXT_H
#define UI_CHANGE_TEXT_H

#include <stdbool.h>
#include <stddef.h>

#include "pythiatop/snapshot/changes.h"

/* What has changed, in words, for all screens that speak of it. Pure. */

/* "slower", "transit", "calls+", ... : at most 7 columns. */
const char *change_kind(enum change_kind kind);

/* "link11:parse", "shop api:pay", "ledger: from and to shop", "api:get: calls of find". */
void change_place(char *out, size_t size, const struct change_row *row);

/* One side's mean: a duration, calls a span, or requests a second. */
void change_value(char *out, size_t size, const struct change_row *row, double value);

/* "+1.20s", "-3.1ms" */
void change_signed(char *out, size_t size, double ns);

/* "+7.70ms to +8.20ms": the 95 % interval of what it adds to all requests, in a second. */
void change_interval(char *out, size_t size, const struct change_row *row);

/*
 * What it is, how sure, where it is and what goes with it, in sentences: "takes longer itself:
 * 2.00ms -> 9.98ms (+7.70ms to +8.20ms), in checkout".
 */
void change_sentence(char *out, size_t size, const struct change_row *row);

/* Some change is sure: more than chance makes. */
bool change_is_sure(const struct changes_view *changes);

/* "CHANGED since good.json: link11:parse takes longer itself, adds 0.8s a second": in a line; ""
 * without a baseline. */
void change_headline(char *out, size_t size, const struct changes_view *changes);

#endif
