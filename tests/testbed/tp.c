/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The probes of one provider: the rest is in tp.h. */
#define LTTNG_UST_TRACEPOINT_CREATE_PROBES
#define LTTNG_UST_TRACEPOINT_DEFINE

#include "tp.h"
