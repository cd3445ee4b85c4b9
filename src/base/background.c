/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/background.h"

#include <errno.h>
#include <sched.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#define SLICE_NS UINT64_C(20000000)

/* As linux/sched/types.h has it in its first version; glibc knows it only since 2.41. */
struct attributes {
	uint32_t size, policy;
	uint64_t flags;
	int32_t nice;
	uint32_t priority;
	uint64_t runtime_ns, deadline_ns, period_ns;
};

void background_enter(void)
{
	struct attributes wish = {
			.size = sizeof(wish), .policy = SCHED_BATCH, .runtime_ns = SLICE_NS};

	if (sched_getscheduler(0) != SCHED_OTHER) {
		return; /* whoever started us has chosen */
	}
	errno = 0;
	wish.nice = getpriority(PRIO_PROCESS, 0);
	if (errno == 0) {
		syscall(SYS_sched_setattr, 0, &wish, 0u);
	}
}
