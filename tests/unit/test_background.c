/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Work in the background: how the kernel schedules it, and what stays as it was. */
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/background.h"

/* Of the calling thread, in ns; 0: the kernel does not tell. As linux/sched/types.h has it. */
static uint64_t slice_ns(void)
{
	struct {
		uint32_t size, policy;
		uint64_t flags;
		int32_t nice;
		uint32_t priority;
		uint64_t runtime_ns, deadline_ns, period_ns;
	} told = {.size = sizeof(told)};

	return syscall(SYS_sched_getattr, 0, &told, sizeof(told), 0u) == 0 ? told.runtime_ns : 0;
}

static bool has_slices(void)
{
	struct utsname host;
	int major, minor;

	return uname(&host) == 0 && sscanf(host.release, "%d.%d", &major, &minor) == 2 &&
	       (major > 6 || (major == 6 && minor >= 12));
}

static void *work(void *nothing)
{
	(void)nothing;
	background_enter();
	assert_int_equal(sched_getscheduler(0), SCHED_BATCH);
	assert_int_equal(getpriority(PRIO_PROCESS, 0), 0);
	if (has_slices()) {
		assert_int_equal(slice_ns(), 20000000);
	}
	return NULL;
}

static void one_thread_only(void **state)
{
	pthread_t thread;

	(void)state;
	if (sched_getscheduler(0) != SCHED_OTHER || getpriority(PRIO_PROCESS, 0) != 0) {
		skip();
	}
	assert_int_equal(pthread_create(&thread, NULL, work, NULL), 0);
	pthread_join(thread, NULL);
	assert_int_equal(sched_getscheduler(0), SCHED_OTHER);
}

/* Whoever started us has chosen something else, or another niceness: that stays. */
static void what_was_chosen_stays(void **state)
{
	int status = 0;
	pid_t pid = fork();

	(void)state;
	if (pid == 0) {
		const struct sched_param none = {.sched_priority = 0};
		int policy = sched_setscheduler(0, SCHED_IDLE, &none) == 0 ? SCHED_IDLE : -1;

		background_enter();
		_exit(policy == -1 || sched_getscheduler(0) == SCHED_IDLE ? 0 : 1);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	pid = fork();
	if (pid == 0) {
		int before = nice(3);

		background_enter();
		_exit(getpriority(PRIO_PROCESS, 0) == before ? 0 : 1);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
			cmocka_unit_test(one_thread_only),
			cmocka_unit_test(what_was_chosen_stays),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
