/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/hash.h"
#include "requests/serving.h"

/*
 * A thread that works for a request and wakes one of its process that waits on a futex for nobody
 * that is known hands it on. The other one may come too late for it, or go on to another one
 * without waiting in between; which request is in whose hands only answers tell.
 *
 * Where the threads that take over answer by themselves, what one was woken for is taken for its
 * work until it answers. If it answers another request, or another thread this one, both are cut;
 * and so is a request whose answer comes from a thread that asked something for nobody known.
 *
 * Else, and before that is known, a thread takes over only what alone can be meant: no other
 * request of the process lies in a queue, that is received by a thread that hands on, neither
 * answered nor taken over; and all others that take over wait. It works for it until the process
 * receives the next one. What is ambiguous is counted, and nobody's.
 */

void handover_set_in_futex(struct worker *w, bool in_futex)
{
	if (w->pooled && w->in_futex != in_futex) {
		w->process->n_running += in_futex ? UINT32_MAX : 1;
	}
	w->in_futex = in_futex;
}

void handover_set_pooled(struct worker *w, bool pooled)
{
	if (w->pooled != pooled && !w->in_futex) {
		w->process->n_running += pooled ? 1 : UINT32_MAX;
	}
	w->pooled = pooled;
}

struct process *handover_process(struct servers *servers, struct worker *w)
{
	const struct thread *thread;
	struct process **at;

	thread = threads_find(servers->config.threads, w->host, w->thread);
	if (!thread || thread->pid < 0) {
		return NULL;
	}
	if (w->process && w->process->pid == thread->pid) {
		return w->process;
	}
	at = &servers->processes[hash_pair(w->host, (uint64_t)thread->pid) &
				 (SERVING_PROCESS_BUCKETS - 1)];
	while (*at && ((*at)->pid != thread->pid || (*at)->host != w->host)) {
		at = &(*at)->chained;
	}
	if (!*at) {
		*at = pool_alloc(&servers->pool, sizeof(**at));
		if (*at) {
			**at = (struct process){.pid = thread->pid, .host = w->host};
		}
	}
	if (w->process) {
		handover_set_pooled(
				w, false); /* its tid was given to a thread of another process */
	}
	w->process = *at;
	return w->process;
}

void handover_set_waits(struct served_request *served, bool waits)
{
	if (served->process && served->waits != waits) {
		served->process->n_waiting += waits ? 1 : UINT32_MAX;
		served->process->n_jobs += waits;
		served->waits = waits;
	}
}

/* Are requests answered by the threads that take them over, and by no other? */
static bool answers_in_pool(const struct process *process)
{
	return process->by_pool > 0 && process->by_others == 0;
}

/* Can what the thread does be for nothing but the request that it works for? */
static bool is_sure(const struct worker *w)
{
	const struct process *process = w->process;

	if (!w->pooled || !process) {
		return true;
	}
	return !w->served->answered &&
	       (answers_in_pool(process) ||
			       (process->n_waiting == 0 && process->n_jobs == w->n_jobs));
}

/*
 * A thread that has several requests at once may receive a few of them, or of the answers to its
 * calls, and only then go on with each: what it asks now is of any of these.
 */
static bool may_ask_for_others(const struct worker *w)
{
	uint32_t own = w->served->untouched && w->served->receiver == w;

	return w->interleaves && (w->n_turned > 1 || w->n_untouched > own || w->served->answered);
}

bool handover_works_surely(struct servers *servers, struct worker *w, const struct where *near)
{
	if (!w->served || w->waited) {
		return false;
	}
	if (is_sure(w) && !may_ask_for_others(w)) {
		w->n_turned = 0;
		return true;
	}
	servers->found.n_ambiguous++;
	worker_stop(servers, w, near);
	return false;
}

void handover_forget_successor(struct served_request *served)
{
	if (served->successor) {
		served->successor->handed = NULL;
		served->successor = NULL;
	}
}

/* What it has received and not answered may lie in a queue already. */
static void begin_handing(struct servers *servers, struct worker *w)
{
	w->hands = true;
	for (struct connection *c = servers->oldest; c; c = c->newer) {
		if (c->current && c->current->receiver == w && !c->current->answered) {
			c->current->process = w->process;
			handover_set_waits(c->current, true);
		}
	}
}

void handover_give(struct servers *servers, struct worker *w, struct worker *to,
		const struct where *near)
{
	struct served_request *served = w->served;
	struct process *process = handover_process(servers, w);

	if (!process || handover_process(servers, to) != process) {
		return;
	}
	if (to->served && to->served->answered) {
		worker_stop(servers, to, near);
	}
	if (to->served) {
		/* A lock, or something else to do? */
		if (to->pooled && to->served != served && !is_sure(to)) {
			servers->found.n_ambiguous++;
			worker_stop(servers, to, near);
		}
		return;
	}
	if (to->handed && to->handed != served) {
		servers->found.n_ambiguous++;
		handover_forget_successor(to->handed);
		return;
	}
	if (!served || w->waited || served->answered || served->n_workers == MAX_WORKERS ||
			!is_sure(w) || (w->pooled && answers_in_pool(process))) {
		return;
	}
	if (served->holder && answers_in_pool(process)) {
		return;
	}
	if (served->successor && served->successor != to) {
		servers->found.n_ambiguous++;
		handover_forget_successor(served);
		handover_set_pooled(to, true);
		return;
	}
	if (!w->hands && !w->pooled) {
		begin_handing(servers, w);
	}
	served->process = process;
	if (!served->holder) {
		handover_set_waits(served, true);
	}
	served->successor = to;
	served_touch(served);
	to->handed = served;
}

void handover_take(struct servers *servers, struct worker *w, const struct where *where)
{
	struct served_request *served = w->handed;
	struct process *process = w->process;

	handover_set_pooled(w, true);
	handover_forget_successor(served);
	w->asked = false;
	if (served->answered || (!answers_in_pool(process) &&
						(process->n_waiting != (served->waits ? 1u : 0u) ||
								process->n_running != 1))) {
		servers->found.n_ambiguous++;
		return;
	}
	served->n_taken++;
	handover_set_waits(served, false);
	served->holder = w;
	served_touch(served);
	w->waited = false;
	w->n_jobs = process->n_jobs;
	worker_work_for(servers, w, served, where);
}

void handover_answered(struct servers *servers, struct served_request *served, struct worker *w)
{
	struct process *process = served->process;
	struct connection *c;

	handover_set_waits(served, false);
	/* Somebody gave it to this thread, if nobody saw it. */
	if (served->receiver != w && !w->pooled && handover_process(servers, w)) {
		handover_set_pooled(w, true);
	}
	served->doubtful |= w->pooled && w->asked;
	w->asked = false;
	if (!process || !served->holder) {
		return;
	}
	if (w->pooled) {
		process->by_pool++;
		served->doubtful |= served->holder != w || served->n_taken > 1;
		return;
	}
	if (answers_in_pool(process)) {
		for (c = servers->oldest; c; c = c->newer) {
			if (c->current && c->current->process == process && c->current->holder) {
				c->current->doubtful = true;
			}
		}
	}
	process->by_others++;
}
