/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PT_SOURCE_LIBRARY_H
#define PT_SOURCE_LIBRARY_H

#include <babeltrace2/babeltrace.h>
#include <stdbool.h>

/* Of the libbabeltrace2 that runs: since 2.1 it reads CTF 2, and writes it unless told not to. */
static inline bool library_knows_ctf_2(void)
{
	return bt_version_get_major() > 2 || bt_version_get_minor() > 0;
}

#endif
