/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PT_SUPPORT_CTF2_H
#define PT_SUPPORT_CTF2_H

#include "support_trace.h"

/*
 * A trace in CTF 2 (CTF2-SPEC-2.0), with every class of fields that there is for numbers, texts and
 * compounds: no packaged tracer writes one. Two packets of one stream, the second after a loss; its
 * events as test_ctf2.c expects them. `name` is the stream's file.
 */
void ctf2_all_kinds(const struct trace_maker *maker);

/* Metadata alone: its fragments, each in a row of the list that ends with NULL. */
void ctf2_metadata(const struct trace_maker *maker, const char *const *fragments);

#define CTF2_OFFSET_S 1700000000u

#endif
