/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "process.h"

#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <unistd.h>

/* Tracepoints of compute record the name from wherever they are: hence not passed along. */
static char own_name[16] = "?";

const char *process_name(void)
{
	return own_name;
}

void process_adopt(const char *name)
{
	pid_t parent = getppid();
	char comm[20];

	snprintf(own_name, sizeof(own_name), "%s", name);
	snprintf(comm, sizeof(comm), "pt-%s", own_name);
	prctl(PR_SET_NAME, comm);
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	if (getppid() != parent) { /* it died before we asked */
		raise(SIGTERM);
	}
}
