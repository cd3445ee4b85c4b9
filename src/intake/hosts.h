/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PT_INTAKE_HOSTS_H
#define PT_INTAKE_HOSTS_H

#include <stdint.h>

/*
 * Which host is meant by a name that several may have.
 *
 * A host is told by its trace. Two relay daemons may each know another machine as "localhost": if
 * the clocks of their traces differ as well, the later one is shown as "localhost@relay".
 * Recordings (relay "") keep their names: those of one machine from before and after it was started
 * anew have different clocks, too.
 *
 * Memory: HOSTS_MAX names; further ones are what their traces say.
 */
#define HOSTS_MAX 4096u

struct hosts;

struct hosts *hosts_create(void);
void hosts_destroy(struct hosts *hosts);

/* The name to use; valid as long as `hosts`, or as `host` where there is no room. */
const char *hosts_name(struct hosts *hosts, const char *host, const char *relay,
		const uint8_t *clock_uuid);

#endif
