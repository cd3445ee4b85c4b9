/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PT_SOURCE_WRITE_H
#define PT_SOURCE_WRITE_H

#include "ring/ring.h"

/*
 * The events of a ring as CTF 1.8 traces, written by libbabeltrace2's `sink.ctf.fs`: one trace for
 * each host and domain, in DIRECTORY/HOST/DOMAIN. shape.h tells how fields are written. Packets are
 * cut at the multiples of WRITE_PACKET_NS of event time, in all streams alike, as a tracer's live
 * timer does, so that readers can seek.
 *
 * The ring brings TYPE, STREAM, LOSS and EVENT records, the last in the order of time, then END.
 * Losses get streams of their own, one for each channel and CPU, since events of several channels
 * share one here. Whoever writes to
 * it is trusted: it is pythiatop.
 *
 * Returns the exit code: 0, or 1 after one sentence on standard error. What was written stays then:
 * whoever made the directory removes it. At the end every trace is opened again: on a full disk
 * babeltrace2 2.0.4 may leave a cut-off description without a word.
 *
 * Memory: for each event type at most WRITE_MAX_SHAPES classes; beyond, its trees become text.
 */
#define WRITE_PACKET_NS  200000000u
#define WRITE_MAX_SHAPES 64u

int write_trace(struct ring *ring, const char *directory);

#endif
