/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pythia/state.h"

#define MAX_OUT  40u /* places and keys that are told to be ruled out */
#define MAX_KEYS 8u

/* ---- what does not explain it ---- */

struct ruled_out {
	struct snapshot *snapshot;
	const char **texts;
	uint32_t n;
};

static void add_out(struct ruled_out *out, const char *text)
{
	if (out->n < MAX_OUT) {
		out->texts[out->n++] = text;
	}
}

/* In percent, to one digit behind the point; what rounds to nothing has no sign. */
static double tenths(double share)
{
	return round(1000 * share) / 10 + 0.0;
}

static void add_places(
		const struct pythia *pythia, const struct finding *finding, struct ruled_out *out)
{
	const struct points *points = &pythia->points;

	for (uint32_t i = 0; i < finding->n_given_up; i++) {
		const struct space_node *node;

		if (finding->given_up[i] >= pythia->space.n) {
			continue;
		}
		node = &pythia->space.nodes[finding->given_up[i]];
		add_out(out, snapshot_printf(out->snapshot,
					     "%s: holds %.0f%%, but two splits of it showed "
					     "nothing",
					     node->point == POINT_NONE
							     ? names_text(points->names, node->type)
							     : names_text(points->names,
									       points->items[node->point]
											       .name),
					     100 * finding->given_up_phi[i]));
	}
	for (uint32_t i = 0; i < finding->n_ruled_out; i++) {
		uint32_t point = finding->ruled_out[i].point;

		if (finding_rules_out(finding, point)) {
			add_out(out, snapshot_printf(out->snapshot,
						     "%s: holds %.1f%% of the variance",
						     names_text(points->names,
								     points->items[point].name),
						     tenths(finding->ruled_out[i].phi)));
		}
	}
}

static void add_keys(const struct explanation *explanation, struct ruled_out *out)
{
	uint32_t n = 0;

	for (uint32_t i = 0; explanation && i < explanation->n_keys && n < MAX_KEYS; i++) {
		const struct explained_key *key = &explanation->keys[i];

		if (key->confirmed && key->omega2_held >= WEAK_OMEGA2) {
			continue;
		}
		n++;
		add_out(out, snapshot_printf(out->snapshot,
					     "%s: holds %.1f%% of the variance held out (p <= "
					     "%.2g)",
					     key->name, tenths(key->omega2_held), key->p));
	}
}

/* ---- what its search cost ---- */

static void add_cost(struct step_cost *sum, const struct step_cost *cost)
{
	if (cost->events_per_s >= 0 && sum->events_per_s >= 0) {
		sum->events_per_s += cost->events_per_s;
		sum->bytes_per_s += cost->bytes_per_s;
		sum->cpu_share += cost->cpu_share;
	} else {
		*sum = (struct step_cost){-1, -1, -1};
	}
}

/* The points that its steps enabled, each once, and what was predicted of them together. */
static void fill_cost(const struct pythia *pythia, uint32_t group_id, struct steps_finding *out)
{
	unsigned char *seen = calloc(pythia->points.n + 1, 1);

	for (uint32_t i = 0; i < pythia->steps.n && seen; i++) {
		const struct step *step = &pythia->steps.items[i];

		if (step->group_id != group_id || step->kind != STEP_ENABLE || !step->done_ns) {
			continue;
		}
		add_cost(&out->cost, &step->predicted);
		for (uint32_t p = 0; p < step->n_parts; p++) {
			const struct step_part *part = &step->parts[p];

			if (part->enable && !part->left_out && !seen[part->point]) {
				seen[part->point] = 1;
				out->n_points++;
			}
		}
	}
	free(seen);
}

/* ---- what to look at now ---- */

static const char *next_of_code(const struct pythia *pythia)
{
	if (kernel_is(pythia, true)) {
		return "profile it, or put tracepoints into it; its threads are in the state of "
		       "the "
		       "systems";
	}
	return kernel_is(pythia, false)
			       ? "enable kernel events to see what it waits for, or profile it"
			       : "profile it, or put tracepoints into it";
}

static const char *next_of(struct pythia *pythia, const struct finding *finding,
		const struct explain_job *job, struct snapshot *snapshot)
{
	const struct step *step = steps_proposed(&pythia->steps);
	const struct verdict_key *key = explaining_key(job);
	const char *where = finding->where ? finding->where : "";

	if (finding->rule == STOP_HEALTHY) {
		return "";
	}
	if (finding->rule == STOP_CHANGED) {
		return snapshot_printf(snapshot,
				"what was changed in %s since the baseline; all changes are in the "
				"list of them",
				where[0] ? last_context(where) : "it");
	}
	if (finding->rule == STOP_PEER) {
		return snapshot_printf(snapshot,
				"what %s does meanwhile, and what of it, its host or its load is "
				"other than with %s",
				finding->kept.verdict.called, finding->kept.verdict.called_others);
	}
	if (finding->rule != STOP_NONE && key && !key->partly && !finding->at_site) {
		return explained_next(key, snapshot);
	}
	switch (finding->rule) {
	case STOP_CODE:
		return snapshot_printf(snapshot, "code of %s%s%s: no deeper point; %s",
				where[0] ? last_context(where) : "this request",
				finding->site ? " in " : "", finding->site ? finding->site : "",
				next_of_code(pythia));
	case STOP_DIFFUSE:
		if (finding->at_site) {
			return snapshot_printf(snapshot,
					"%s: its CPU and run queue, and who else uses them: %s",
					finding->site,
					kernel_is(pythia, true) ? "in the state of the systems"
								: "record kernel events to see");
		}
		return kernel_is(pythia, true)
				       ? "what all its places share: the hosts, in the state of "
					 "the "
					 "systems"
				       : "what all its places share: hosts, locks; record kernel "
					 "events to see";
	case STOP_SPENT:
		return "a larger budget (:budget), or points enabled by hand";
	default:
		break;
	}
	if (step && step->group_id == finding->group_id && pythia->mode != MODE_AUTOPILOT) {
		return snapshot_printf(snapshot, "step %u waits for a decision: %s", step->id,
				step->title);
	}
	return "";
}

bool finding_say(struct steps_finding *finding, struct snapshot *snapshot)
{
	char text[VERDICT_BYTES];

	if (!verdict_own(&finding->verdict, snapshot->arena)) {
		return false;
	}
	verdict_text(text, sizeof(text), &finding->verdict);
	finding->text = snapshot_text(snapshot, text);
	return true;
}

enum status finding_fill_evidence(struct pythia *pythia, const struct finding *finding,
		struct snapshot *snapshot, struct steps_finding *out)
{
	const struct explain_job *job = explaining_of(&pythia->explaining, finding->group_id);
	const struct verdict_key *key = explaining_key(job);
	struct ruled_out ruled_out = {.snapshot = snapshot,
			.texts = snapshot_alloc(snapshot, MAX_OUT * sizeof(char *))};

	if (!ruled_out.texts || !explaining_fill(&pythia->explaining, finding->group_id, finding,
						snapshot, &out->explanation)) {
		return STATUS_NO_MEMORY;
	}
	out->verdict = finding->kept.verdict;
	if (key && !finding->told_all && finding->rule != STOP_VARIABLE &&
			finding->rule != STOP_HEALTHY) {
		out->verdict.key = *key;
		if (finding->rule == STOP_DIFFUSE && finding->phi_low < VERDICT_PHI &&
				explained_by_system(key)) {
			out->verdict = (struct steps_verdict){
					.reason = REASON_SYSTEM, .type = out->type, .key = *key};
		}
	}
	if (!finding_say(out, snapshot)) {
		return STATUS_NO_MEMORY;
	}
	add_places(pythia, finding, &ruled_out);
	add_keys(out->explanation, &ruled_out);
	out->ruled_out = ruled_out.texts;
	out->n_ruled_out = ruled_out.n;
	out->next = next_of(pythia, finding, job, snapshot);
	fill_cost(pythia, finding->group_id, out);
	return STATUS_OK;
}

enum status evidence_fill_asked(struct pythia *pythia, struct snapshot *snapshot,
		struct steps_finding *out, uint32_t *n)
{
	for (uint32_t i = 0; i < pythia->explaining.n; i++) {
		const struct explain_job *job = &pythia->explaining.jobs[i];
		const struct verdict_key *key = explaining_key(job);
		struct steps_finding *row = &out[*n];

		if (!job->asked || finding_of(pythia, job->group_id, false, 0)) {
			continue;
		}
		*row = (struct steps_finding){.group_id = job->group_id,
				.type = snapshot_text(
						snapshot, names_text(pythia->names, job->type)),
				.path = path_of(&snapshot->groups, job->group_id),
				.verdict = {.reason = key || job->answered ? REASON_ASKED
									   : REASON_ASKING},
				.where = "",
				.host = "",
				.process = "",
				.next = key ? explained_next(key, snapshot) : ""};
		row->verdict.type = row->type;
		row->verdict.key = key ? *key : (struct verdict_key){.name = ""};
		if (!finding_say(row, snapshot) ||
				!explaining_fill(&pythia->explaining, job->group_id, NULL, snapshot,
						&row->explanation)) {
			return STATUS_NO_MEMORY;
		}
		(*n)++;
	}
	return STATUS_OK;
}
