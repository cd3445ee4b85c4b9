/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <string.h>

#include "requests/serving.h"

/*
 * Processes that are started to work for a request, by another one that is asked to: PostgreSQL's
 * parallel workers. What tells whose they are are three things together:
 *
 *   1  a thread that works for a request, and for no other one, signals a process: it asks;
 *   2  that one, which works for no request, starts a process;
 *   3  and signals, as the next one, who has asked: it tells them that it was done.
 *
 * Then the new process works for the request, until it ends or the request does. Who is not told,
 * or has not asked, is not served by it; so several that ask at the same time are told apart.
 */

void starting_read_type(const struct event_type *type, struct type_told *told)
{
	static const struct {
		const char *name, *field;
		uint8_t starts;
	} names[] = {
			{"syscall_entry_kill", "pid", STARTS_SIGNAL},
			{"sched_process_fork", "child_tid", STARTS_PROCESS},
			{"sched_process_exit", "tid", STARTS_END},
	};

	told->starts = STARTS_NOTHING;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		for (uint32_t f = 0; f < type->n_fields; f++) {
			const struct field *field = &type->fields[f];

			if (strcmp(type->name, names[i].name) == 0 &&
					strcmp(field->name, names[i].field) == 0 &&
					(field->kind == FIELD_UINT || field->kind == FIELD_INT)) {
				told->starts = names[i].starts;
				told->starts_whom = (uint16_t)f;
			}
		}
	}
}

/* The process that it started last works for the request of the thread, if that has asked for it.
 */
static void told_of_start(struct servers *servers, struct worker *starter, const struct worker *who,
		const struct where *near)
{
	struct where where = *near;
	struct worker *started;

	if (!who || !who->served || who->served->answered ||
			who->served->asks_to_start != starter->thread) {
		return;
	}
	started = worker_of(servers, near->host, starter->started, true);
	starter->started = 0;
	if (started && !started->served) {
		where.thread = started->thread;
		started->waited = false;
		started->was_started = true;
		worker_work_for(servers, started, who->served, &where);
	}
}

static void signal(struct servers *servers, uint64_t whom, const struct where *where)
{
	struct worker *w = worker_of(servers, where->host, where->thread, false), *to;

	if (!w || whom == where->thread) {
		return;
	}
	if (w->served && !w->was_started && !w->served->answered &&
			handover_works_surely(servers, w, where)) {
		to = worker_of(servers, where->host, whom, true);
		w->served->asks_to_start = to && !to->served ? whom : 0;
	} else if (!w->served && w->started) {
		told_of_start(servers, w, worker_of(servers, where->host, whom, false), where);
		w->started = 0;
	}
}

void starting_see(struct servers *servers, const struct event *event, const struct type_told *told)
{
	uint64_t whom = thread_host_key((uint32_t)event->slots[told->starts_whom], event->cpu);
	struct where where = {.host = servers->config.registry->streams[event->stream].host,
			.stream = event->stream,
			.cpu = event->cpu};
	struct worker *w;

	if (!threads_current(servers->config.threads, where.host, event->cpu, &where.thread)) {
		return;
	}
	switch (told->starts) {
	case STARTS_SIGNAL:
		if ((int32_t)event->slots[told->starts_whom] > 0) { /* else it is a group of them */
			signal(servers, whom, &where);
		}
		break;
	case STARTS_PROCESS:
		w = worker_of(servers, where.host, where.thread, false);
		if (w) {
			w->started = w->served ? 0 : whom;
		}
		break;
	case STARTS_END:
		w = worker_of(servers, where.host, whom, false);
		if (w && w->was_started) {
			worker_stop(servers, w, &where);
			w->was_started = false;
		}
		break;
	default:
		break;
	}
}
