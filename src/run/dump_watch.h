/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PT_RUN_DUMP_WATCH_H
#define PT_RUN_DUMP_WATCH_H

#include <stdint.h>

/* Is told now and then how many events of a dump were written. */
struct dump_watch {
	void (*progress)(void *context, uint64_t n);
	void *context;
};

#endif
