/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <string.h>

#include "engine/parts.h"

/* What is told besides events, and what the loop says. */

const struct step_budget *engine_budget(const struct engine *engine)
{
	return pythia_budget(engine->loop.pythia);
}

bool engine_is_skeleton(struct engine *engine, uint32_t type)
{
	const struct plan *plans = model_plans(engine->model);

	return plans && type < engine->registry.n_types &&
	       (plans[type].skeleton || plans[type].about_tracer);
}

enum status engine_learn(struct engine *engine, const struct profile *profile)
{
	return pythia_learn(engine->loop.pythia, profile);
}

void engine_learn_here(struct engine *engine)
{
	loop_learn(&engine->loop);
}

bool engine_has_learned(const struct engine *engine)
{
	return pythia_has_learned(engine->loop.pythia);
}

const struct profile *engine_profile(struct engine *engine)
{
	return loop_profile(&engine->loop);
}

const struct step_order *engine_next_order(struct engine *engine)
{
	return pythia_next_order(engine->loop.pythia);
}

static void name_processes(struct engine *engine, const char *host,
		const struct step_process *processes, uint32_t n)
{
	uint32_t at = registry_host(&engine->registry, host);

	for (uint32_t i = 0; i < n && at != ID_NONE; i++) {
		const char *name = processes[i].name;

		if (name[0] && !threads_process_name(engine->threads, at, processes[i].pid)) {
			threads_name_process(engine->threads, at, processes[i].pid,
					names_add(engine->names, name, (uint32_t)strlen(name)));
		}
	}
}

static enum status explain(struct engine *engine, uint32_t group_id)
{
	enum status status = loop_explain(&engine->loop, group_id);

	/* Event time stands still: there is no other moment to do it. */
	if (status == STATUS_OK && engine->finished) {
		loop_finish(&engine->loop, engine->now_ns);
	}
	return status;
}

/* An epoch is compared with the one before, unless a person gave something to compare with. */
static void compare_with_epoch(struct engine *engine)
{
	static const char origin[] = "the epoch before";
	const struct baseline *reference = groups_reference_baseline(engine->groups), *ended;
	struct baseline named;

	if (reference && strcmp(reference->origin, origin) != 0) {
		return;
	}
	ended = groups_baseline(engine->groups, HORIZON_EPOCH, engine->now_ns);
	if (ended && ended->n_types > 0) {
		named = *ended;
		named.origin = origin;
		/* Out of memory: what was compared with before stays. */
		(void)groups_set_baseline(engine->groups, &named);
	}
}

static enum status end_session(struct engine *engine, const char *host, const char *name)
{
	uint32_t session = registry_find_session(&engine->registry, host, name);

	if (session == ID_NONE) {
		return STATUS_NOT_FOUND;
	}
	engine_end_session(engine, session);
	return STATUS_OK;
}

enum status engine_input(
		struct engine *engine, const struct engine_input *in, char *error, size_t size)
{
	struct loop *loop = &engine->loop;
	struct pythia *pythia = loop->pythia;
	uint64_t now_ns = engine->now_ns;

	switch (in->kind) {
	case INPUT_MODE:
		pythia_set_mode(pythia, in->mode, now_ns);
		return STATUS_OK;
	case INPUT_STRATEGY:
		return pythia_set_strategy(pythia, in->text);
	case INPUT_BUDGET:
		pythia_set_budget(pythia, &in->budget);
		return STATUS_OK;
	case INPUT_OFFER:
		return loop_offer(loop, in->offer.host, in->offer.events, in->offer.n);
	case INPUT_PROCESSES:
		name_processes(engine, in->processes.host, in->processes.list, in->processes.n);
		return STATUS_OK;
	case INPUT_DECIDE:
		return pythia_decide(pythia, in->decide.step, in->decide.decision, in->decide.by,
				now_ns, error, size);
	case INPUT_EDIT:
		return pythia_edit(
				pythia, in->edit.step, in->edit.part, in->edit.keep, error, size);
	case INPUT_PROPOSE:
		return loop_propose(loop, in->propose.context, in->propose.enable, error, size);
	case INPUT_EXPLAIN:
		return explain(engine, in->number);
	case INPUT_UNDO_ALL:
		pythia_undo_all(pythia, STEP_BY_PERSON, now_ns);
		return STATUS_OK;
	case INPUT_EPOCH:
		compare_with_epoch(engine);
		groups_begin_epoch(engine->groups, now_ns, NULL, NULL);
		behaving_begin_epoch(engine->behaving, now_ns, NULL, NULL);
		loop_epoch(loop);
		return STATUS_OK;
	case INPUT_CALIBRATE:
		pythia_calibrate(pythia, in->calibrate.host, in->calibrate.cpu_ns);
		return STATUS_OK;
	case INPUT_HOST_GONE:
		loop_host_gone(loop, in->text, now_ns);
		return STATUS_OK;
	case INPUT_SILENT:
		loop_silent(loop, in->silent.host, in->silent.is, now_ns);
		return STATUS_OK;
	case INPUT_ENDED:
		return end_session(engine, in->ended.host, in->ended.session);
	case INPUT_OUTCOME:
		loop_order_done(loop, &in->outcome);
		return STATUS_OK;
	case INPUT_WATCH:
		loop_watch_over(loop, &in->watch);
		return STATUS_OK;
	default:
		return STATUS_INVALID;
	}
}
