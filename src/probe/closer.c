/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "probe/closer.h"

#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t ended = PTHREAD_COND_INITIALIZER;
static unsigned int running; /* under `lock` */

static void *closer_main(void *context)
{
	close((int)(intptr_t)context);
	pthread_mutex_lock(&lock);
	running--;
	pthread_cond_signal(&ended);
	pthread_mutex_unlock(&lock);
	return NULL;
}

/* Signals are for the thread that asks for it. */
static int start(int fd)
{
	pthread_attr_t attributes;
	sigset_t all, before;
	pthread_t thread;
	int failed;

	if (pthread_attr_init(&attributes) != 0) {
		return -1;
	}
	pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
	pthread_attr_setstacksize(&attributes, 4 * (size_t)PTHREAD_STACK_MIN);
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	failed = pthread_create(&thread, &attributes, closer_main, (void *)(intptr_t)fd);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	pthread_attr_destroy(&attributes);
	return failed;
}

void closer_close(int fd)
{
	pthread_mutex_lock(&lock);
	while (running >= CLOSER_THREADS) {
		pthread_cond_wait(&ended, &lock);
	}
	running++;
	pthread_mutex_unlock(&lock);
	if (start(fd) != 0) {
		closer_main((void *)(intptr_t)fd);
	}
}

void closer_wait(void)
{
	pthread_mutex_lock(&lock);
	while (running > 0) {
		pthread_cond_wait(&ended, &lock);
	}
	pthread_mutex_unlock(&lock);
}
