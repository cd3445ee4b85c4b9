/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "branch.h"

#include <pthread.h>
#include <stdbool.h>

/* One of each worker; workers live as long as the process. */
struct branch {
	pthread_mutex_t mutex;
	pthread_cond_t changed;
	void (*run)(void *); /* NULL: nothing to do */
	void *argument;
	bool started;
};

static _Thread_local struct branch own = {
		.mutex = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};

static void *branch_thread(void *argument)
{
	struct branch *branch = argument;

	pthread_mutex_lock(&branch->mutex);
	for (;;) {
		while (branch->run == NULL) {
			pthread_cond_wait(&branch->changed, &branch->mutex);
		}
		pthread_mutex_unlock(&branch->mutex);
		branch->run(branch->argument);
		pthread_mutex_lock(&branch->mutex);
		branch->run = NULL;
		pthread_cond_signal(&branch->changed);
	}
	return NULL;
}

int branch_begin(void (*run)(void *), void *argument)
{
	pthread_t thread;

	if (!own.started) {
		int status = pthread_create(&thread, NULL, branch_thread, &own);

		if (status != 0) {
			return status;
		}
		pthread_detach(thread);
		own.started = true;
	}
	pthread_mutex_lock(&own.mutex);
	own.argument = argument;
	own.run = run;
	pthread_cond_signal(&own.changed);
	pthread_mutex_unlock(&own.mutex);
	return 0;
}

void branch_wait(void)
{
	pthread_mutex_lock(&own.mutex);
	while (own.run != NULL) {
		pthread_cond_wait(&own.changed, &own.mutex);
	}
	pthread_mutex_unlock(&own.mutex);
}
