/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PT_CONTROL_TARGET_H
#define PT_CONTROL_TARGET_H

#include <stdbool.h>
#include <stddef.h>

/*
 * How to reach a host's helper: "local" or "ssh://[user@]host[:port]". Everything that becomes an
 * argument of ssh is letters, digits and a few signs, and never begins with '-'.
 */
#define TARGET_BYTES 256u

struct target {
	char name[TARGET_BYTES]; /* as traces call the host */
	char url[2 * TARGET_BYTES];
	bool local;
	char user[64], host[TARGET_BYTES], port[8]; /* "" where not given */
};

/* False: `error` says what is wrong, and what would be right. */
bool target_set(struct target *target, const char *name, const char *url, char *error, size_t size);
bool target_parse(struct target *target, const char *option, char *error, size_t size);

#endif
