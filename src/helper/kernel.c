/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "helper/kernel.h"

#include <stdbool.h>
#include <stdlib.h>
#include <unistd.h>

#include <lttng/lttng.h>

#define TRACER "/proc/lttng" /* where the session daemon, too, looks for it */

/* What it said: it says the same for as long as it runs. */
static bool traces;
static int refusal; /* 0: none */

int kernel_points(struct lttng_event **events)
{
	struct lttng_domain domain = {.type = LTTNG_DOMAIN_KERNEL};
	struct lttng_handle *handle;
	int n;

	*events = NULL;
	if (access(TRACER, F_OK) != 0) {
		return -LTTNG_ERR_KERN_NA;
	}
	if (refusal) {
		return refusal;
	}
	handle = lttng_create_handle(NULL, &domain);
	n = handle ? lttng_list_tracepoints(handle, events) : -LTTNG_ERR_NOMEM;
	lttng_destroy_handle(handle);
	traces = n >= 0;
	if (n == -LTTNG_ERR_KERN_NA || n == -LTTNG_ERR_NEED_ROOT_SESSIOND) {
		refusal = n;
	}
	return n;
}

int kernel_lack(void)
{
	struct lttng_event *events;
	int n;

	if (traces) {
		return 0;
	}
	n = kernel_points(&events);
	free(events);
	return n < 0 ? n : 0;
}
