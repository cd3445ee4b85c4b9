/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PT_HELPER_KERNEL_H
#define PT_HELPER_KERNEL_H

struct lttng_event;

/*
 * Does the session daemon trace the kernel? 0, or a negative code of LTTng: -LTTNG_ERR_KERN_NA and
 * -LTTNG_ERR_NEED_ROOT_SESSIOND where it does not.
 *
 * Nothing may ask for the kernel before this has said 0. A session daemon of LTTng 2.13 that was
 * started with --no-kernel refuses whatever is asked about the kernel, and then unlocks its list of
 * sessions without having locked it: where a session is just ending it aborts, and all sessions
 * with it. So it is not asked where the tracer's modules are not loaded, and once only where they
 * are.
 */
int kernel_lack(void);
/* The kernel's tracepoints, to free(): how many; or as kernel_lack(), and NULL. */
int kernel_points(struct lttng_event **events);

#endif
