/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PT_HELPER_PROBED_H
#define PT_HELPER_PROBED_H

#include "helper/rules.h"
#include "helper/worker.h"

/*
 * What pythiatop-probe does for the worker's verbs: kernel events where LTTng does not trace the
 * kernel, and the functions of programs that control.functions names. Its session is a live session
 * of its own (owner.probe), beside that of the session daemon or, where there is no LTTng, instead of
 * it; its rules are told as those of our live session, in the channel PROBED_CHANNEL.
 */
#define PROBED_CHANNEL "probe"

/* Are these points its: those of the kernel, a point of user space? */
bool probed_kernel(const struct helper *helper);
bool probed_function(const struct helper *helper, const char *name);

/* Whether anything could be its at all. */
bool probed_any(const struct helper *helper);

/*
 * Does it do alone here? Where there is no LTTng: where a session daemon is only not there now, it is
 * waited for.
 */
bool probed_alone(const struct helper *helper);

/* Opens its session. False: `error` says why not. */
bool probed_open(const struct helper *helper, const char *relay, uint64_t timer_us, char *error,
		size_t size);
bool probed_close(const struct helper *helper, char *error, size_t size);
bool probed_is_open(const struct helper *helper);
/* Its live timer in us; 0: it is not open. */
uint64_t probed_timer_us(const struct helper *helper);

/* Its rules, as ours. */
void probed_rules(const struct helper *helper, struct rules *rules);

/* "enable", "disable" or "try"; functions take effect with probed_apply(). */
bool probed_change(const struct helper *helper, const char *verb, bool kernel, bool syscall,
		const char *name, const char *filter, char *error, size_t size);
bool probed_apply(const struct helper *helper, char *error, size_t size);

/* Rows of its points; `rules` says which are on. False: `error` says why there are none. */
bool probed_kernel_points(const struct helper *helper, struct answer *answer,
		const struct rules *rules, char *error, size_t size);
bool probed_functions(const struct helper *helper, struct answer *answer, const struct rules *rules,
		char *error, size_t size);

/* All functions of a provider, until probed_learned(). */
bool probed_learn(const struct helper *helper, const char *provider, char *error, size_t size);
void probed_learned(const struct helper *helper);

#endif
