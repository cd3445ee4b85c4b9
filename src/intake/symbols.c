/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "intake/symbols.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/background.h"

#define MAX_QUESTIONS 4096u
#define MAX_ID        64u
#define NAME_BYTES    256u
#define END_NS        200000000 /* how long the end waits for the thread */

struct question {
	uint32_t id;
	uint64_t offset;
	char *path, *module;
	uint8_t build_id[MAX_ID];
	uint32_t build_id_bytes;
};

struct answer {
	uint32_t id;
	char name[NAME_BYTES];
};

/* What both threads hold: the last one to leave frees it. */
struct symbols {
	pthread_mutex_t mutex; /* guards what follows; never held while a file is read */
	pthread_cond_t asked, told;
	struct question questions[MAX_QUESTIONS]; /* a ring */
	struct answer answers[MAX_QUESTIONS];     /* of those questions, as they come */
	uint32_t first, n, n_answers;
	uint32_t open;  /* asked, not taken back by symbols_exchange() */
	bool stop;      /* the caller wants an end */
	bool left;      /* the thread has come to it */
	bool abandoned; /* the caller has gone: the thread frees */

	pthread_t thread;
};

static void symbols_free(struct symbols *symbols)
{
	uint32_t i;

	for (i = 0; i < symbols->n; i++) {
		struct question *question =
				&symbols->questions[(symbols->first + i) % MAX_QUESTIONS];

		free(question->path);
		free(question->module);
	}
	pthread_mutex_destroy(&symbols->mutex);
	pthread_cond_destroy(&symbols->asked);
	pthread_cond_destroy(&symbols->told);
	free(symbols);
}

/* --- the thread --- */

static void look_up(
		struct symbol_files *files, const struct question *question, struct answer *answer)
{
	char function[NAME_BYTES];

	answer->id = question->id;
	answer->name[0] = '\0';
	if (files && symbol_files_find(files, question->path, question->build_id,
				     question->build_id_bytes, question->offset, function,
				     sizeof(function))) {
		snprintf(answer->name, sizeof(answer->name), "%s:%.*s", question->module,
				(int)(NAME_BYTES / 2), function);
	}
}

static void *symbols_main(void *context)
{
	struct symbols *symbols = context;
	struct symbol_files *files = symbol_files_create();
	struct answer answer;
	struct question question;
	bool last;

	background_enter();
	pthread_mutex_lock(&symbols->mutex);
	while (!symbols->stop) {
		if (symbols->n == 0) {
			pthread_cond_wait(&symbols->asked, &symbols->mutex);
			continue;
		}
		question = symbols->questions[symbols->first];
		symbols->first = (symbols->first + 1) % MAX_QUESTIONS;
		symbols->n--;
		pthread_mutex_unlock(&symbols->mutex);
		look_up(files, &question, &answer);
		free(question.path);
		free(question.module);
		pthread_mutex_lock(&symbols->mutex);
		/* There is room: no more are open than that. */
		symbols->answers[symbols->n_answers++] = answer;
		pthread_cond_signal(&symbols->told);
	}
	symbols->left = true;
	last = symbols->abandoned;
	pthread_cond_signal(&symbols->told);
	pthread_mutex_unlock(&symbols->mutex);
	symbol_files_destroy(files);
	if (last) {
		symbols_free(symbols);
	}
	return NULL;
}

/* --- the caller's side --- */

/* Signals are the screen's, and batch's. */
static int start_thread(struct symbols *symbols)
{
	sigset_t all, before;
	int failed;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	failed = pthread_create(&symbols->thread, NULL, symbols_main, symbols);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return failed;
}

struct symbols *symbols_create(void)
{
	struct symbols *symbols = calloc(1, sizeof(*symbols));
	pthread_condattr_t attributes;

	if (!symbols) {
		return NULL;
	}
	pthread_mutex_init(&symbols->mutex, NULL);
	pthread_condattr_init(&attributes);
	pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
	pthread_cond_init(&symbols->asked, &attributes);
	pthread_cond_init(&symbols->told, &attributes);
	pthread_condattr_destroy(&attributes);
	if (start_thread(symbols) != 0) {
		symbols_free(symbols);
		return NULL;
	}
	return symbols;
}

static struct timespec after(uint64_t ns)
{
	struct timespec when;

	clock_gettime(CLOCK_MONOTONIC, &when);
	ns += (uint64_t)when.tv_nsec;
	when.tv_sec += (time_t)(ns / 1000000000u);
	when.tv_nsec = (long)(ns % 1000000000u);
	return when;
}

void symbols_destroy(struct symbols *symbols)
{
	struct timespec end = after(END_NS);
	bool left;

	if (!symbols) {
		return;
	}
	pthread_mutex_lock(&symbols->mutex);
	symbols->stop = true;
	pthread_cond_signal(&symbols->asked);
	while (!symbols->left && pthread_cond_timedwait(&symbols->told, &symbols->mutex, &end) !=
						 ETIMEDOUT) {
	}
	left = symbols->left;
	symbols->abandoned = !left;
	if (!left) {
		pthread_detach(symbols->thread);
	}
	pthread_mutex_unlock(&symbols->mutex);
	if (left) {
		pthread_join(symbols->thread, NULL);
		symbols_free(symbols);
	}
}

/* False: it has no memory, or is nothing that could be answered. */
static bool keep(struct question *question, const struct symbol_query *query)
{
	if (query->build_id_bytes > MAX_ID) {
		return false;
	}
	*question = (struct question){.id = query->id,
			.offset = query->offset,
			.path = strdup(query->path),
			.module = strdup(query->module),
			.build_id_bytes = query->build_id_bytes};
	memcpy(question->build_id, query->build_id, query->build_id_bytes);
	if (!question->path || !question->module) {
		free(question->path);
		free(question->module);
		return false;
	}
	return true;
}

/* With the mutex held. */
static bool take_answers(struct symbols *symbols, struct engine *engine)
{
	bool any = false;
	uint32_t i;

	for (i = 0; i < symbols->n_answers; i++) {
		const struct answer *answer = &symbols->answers[i];

		if (answer->name[0]) {
			engine_name_symbol(engine, answer->id, answer->name);
			any = true;
		}
	}
	symbols->open -= symbols->n_answers;
	symbols->n_answers = 0;
	return any;
}

bool symbols_exchange(struct symbols *symbols, struct engine *engine)
{
	struct symbol_query query;
	bool any;

	pthread_mutex_lock(&symbols->mutex);
	any = take_answers(symbols, engine);
	while (symbols->open < MAX_QUESTIONS && engine_next_symbol(engine, &query)) {
		if (keep(&symbols->questions[(symbols->first + symbols->n) % MAX_QUESTIONS],
				    &query)) {
			symbols->n++;
			symbols->open++;
		}
	}
	if (symbols->n > 0) {
		pthread_cond_signal(&symbols->asked);
	}
	pthread_mutex_unlock(&symbols->mutex);
	return any;
}

void symbols_settle(struct symbols *symbols, struct engine *engine, uint64_t timeout_ns)
{
	struct timespec end = after(timeout_ns);
	bool waits = true;

	do {
		symbols_exchange(symbols, engine);
		pthread_mutex_lock(&symbols->mutex);
		while (waits && symbols->open > 0 && symbols->n_answers == 0) {
			waits = pthread_cond_timedwait(&symbols->told, &symbols->mutex, &end) !=
				ETIMEDOUT;
		}
		waits = waits && symbols->open > 0;
		pthread_mutex_unlock(&symbols->mutex);
	} while (waits);
}
