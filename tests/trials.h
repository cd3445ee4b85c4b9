/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PT_TRIALS_H
#define PT_TRIALS_H

/*
 * How many trials a simulation makes. With sanitizers each takes about eight times as long, and what
 * these look for needs few: an eighth, and whoever judges shares of trials allows for that.
 */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define PT_FEW_TRIALS
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define PT_FEW_TRIALS
#endif
#endif

#ifdef PT_FEW_TRIALS
#define TRIALS(n) ((n) / 8)
#else
#define TRIALS(n) (n)
#endif

#endif
