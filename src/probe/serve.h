/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PT_PROBE_SERVE_H
#define PT_PROBE_SERVE_H

#include "probe/recorder.h"

/*
 * What pythiatop-control asks, over two sockets of packets (SOCK_SEQPACKET) that it leaves open.
 *
 * SERVE_LEASE, standard input: a packet at least every SERVE_LEASE_MS, whatever it holds; when it
 * ends or falls silent, all is undone and the probe ends. It gets packets, too: sentences for
 * people.
 *
 * SERVE_ASK: requests "TAG VERB ARGUMENT...", answered by packets with the same tag: any number of
 * "TAG + ROW", then "TAG ." or "TAG ! SENTENCE".
 *
 *   check                      may BPF be used here
 *   offers                     rows "tracepoint NAME", "syscall NAME"
 *   functions                  rows "PROVIDER PID,PID... FUNCTION...": of those on the command line,
 *                              which alone may be recorded, but for those that were let go of;
 *                              then ". N", how many there are
 *   open RELAY SESSION TIMER_US KERNEL   KERNEL: 1 with a trace of the kernel, else 0
 *   enable KIND NAME [FILTER]  KIND: tracepoint, syscall; function: NAME is PROVIDER:FUNCTION_entry
 *                              or _exit, without a filter
 *   disable KIND NAME
 *   try ...                    as enable; nothing is changed
 *   apply                      functions take effect
 *   learn PROVIDER             all of its functions that are not on, at once
 *   learned                    no longer
 *   rules                      rows as the arguments of enable
 *   session                    a row "NAME TIMER_US", while it is there
 *   close                      undoes all of it
 */
#define SERVE_LEASE      0
#define SERVE_ASK        3
#define SERVE_LEASE_MS   10000
#define SERVE_MOST_BYTES 16384

/*
 * Returns the exit code. `setup` has what is not asked for: host, buffers, limits. `functions`:
 * what may be recorded, PROGRAM:NAMES.
 */
int serve(const struct recorder_setup *setup, const char *const *functions, uint32_t n_functions);

#endif
