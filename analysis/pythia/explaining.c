/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdlib.h>
#include <string.h>

#include "pythia/explaining.h"
#include "pythia/state.h"

#define AT_THE_END 1u /* begun when nothing more will come */

/* ---- groups that are explained ---- */

static void job_release(struct explain_job *job)
{
	explain_destroy(job->running);
	explain_destroy(job->done);
	verdict_release(&job->kept);
	*job = (struct explain_job){.group_id = 0};
}

void explaining_release(struct explaining *explaining)
{
	for (uint32_t i = 0; i < explaining->n; i++) {
		job_release(&explaining->jobs[i]);
	}
	explaining->n = 0;
}

static struct explain_job *job_find(struct explaining *explaining, uint32_t group_id)
{
	for (uint32_t i = 0; i < explaining->n; i++) {
		if (explaining->jobs[i].group_id == group_id) {
			return &explaining->jobs[i];
		}
	}
	return NULL;
}

const struct explain_job *explaining_of(const struct explaining *explaining, uint32_t group_id)
{
	for (uint32_t i = 0; i < explaining->n; i++) {
		if (explaining->jobs[i].group_id == group_id) {
			return &explaining->jobs[i];
		}
	}
	return NULL;
}

/* Nobody waits for it, and no search or verdict needs it. */
static bool is_over(struct pythia *pythia, const struct explain_job *job)
{
	const struct finding *finding = finding_of(pythia, job->group_id, false, 0);

	return !job->running && (!job->asked || job->answered) &&
	       (!finding || finding->rule == STOP_HEALTHY);
}

/* True: its keys are collected. */
static bool collect(struct explain_job *job, const struct pythia_keys *keys, bool on)
{
	if (job->collecting != on && keys->collect(keys->context, job->group_id, on)) {
		job->collecting = on;
	}
	return job->collecting;
}

/* A new one; where there is no room the oldest that is over goes. NULL: none is. */
static struct explain_job *job_add(
		struct pythia *pythia, uint32_t group_id, const struct pythia_keys *keys)
{
	struct explaining *explaining = &pythia->explaining;

	for (uint32_t i = 0; i < explaining->n && explaining->n == EXPLAINING_MAX; i++) {
		if (is_over(pythia, &explaining->jobs[i])) {
			collect(&explaining->jobs[i], keys, false);
			job_release(&explaining->jobs[i]);
			memmove(&explaining->jobs[i], &explaining->jobs[i + 1],
					(--explaining->n - i) * sizeof(*explaining->jobs));
		}
	}
	if (explaining->n == EXPLAINING_MAX) {
		return NULL;
	}
	explaining->jobs[explaining->n] = (struct explain_job){.group_id = group_id};
	return &explaining->jobs[explaining->n++];
}

/*
 * Each finding whose search goes on, or has come to an end that may be explained. While it goes on,
 * keys are collected as requests come in, since only a part of these is kept.
 */
static void add_jobs(struct pythia *pythia, const struct pythia_keys *keys)
{
	for (uint32_t i = 0; i < pythia->locating.n_findings; i++) {
		const struct finding *finding = &pythia->locating.findings[i];
		struct explain_job *job = job_find(&pythia->explaining, finding->group_id);

		if (!job && finding->rule != STOP_HEALTHY) {
			job = job_add(pythia, finding->group_id, keys);
		}
		if (job && finding->rule == STOP_NONE) {
			collect(job, keys, true);
		}
	}
}

enum status pythia_explain(struct pythia *pythia, const struct pythia_keys *keys, uint32_t group_id)
{
	struct explaining *explaining = &pythia->explaining;
	struct explain_job *job = job_find(explaining, group_id);
	bool fresh = !job;

	job = job ? job : job_add(pythia, group_id, keys);
	if (!job) {
		return STATUS_FULL;
	}
	if (!collect(job, keys, true)) {
		explaining->n -= fresh;
		return STATUS_NOT_FOUND;
	}
	job->asked = true;
	job->answered = false;
	job->tried_ns = 0;
	return STATUS_OK;
}

bool pythia_explains(const struct pythia *pythia)
{
	for (uint32_t i = 0; i < pythia->explaining.n; i++) {
		const struct explain_job *job = &pythia->explaining.jobs[i];

		if (job->running || (job->asked && !job->answered)) {
			return true;
		}
	}
	return false;
}

bool pythia_has_findings(const struct pythia *pythia)
{
	return pythia->locating.n_findings > 0;
}

/* ---- what came of it ---- */

const struct verdict_key *explaining_key(const struct explain_job *job)
{
	const struct verdict_key *key = job ? &job->kept.verdict.key : NULL;

	return key && key->name && key->name[0] ? key : NULL;
}

/* Rule 2: the variable, whatever was said of the code. */
static void verdict_variable(struct pythia *pythia, struct finding *finding,
		const struct explain_job *job, const struct explain_verdict *sure,
		const struct groups_row *row)
{
	finding->requests = (uint64_t)sure->n + sure->n_held;
	if (row) {
		norms_drop(pythia, row);
	}
	finding_stop(pythia, finding, STOP_VARIABLE,
			&(struct steps_verdict){.reason = REASON_VARIABLE,
					.place = finding->rule == STOP_CODE ? finding->where : "",
					.key = job->kept.verdict.key});
}

/* With one value all is slower that is done: no code is at fault, whatever part of it is longest.
 */
static bool verdict_broad(struct pythia *pythia, struct finding *finding,
		const struct explain_job *job, const struct groups_row *row)
{
	const struct verdict_key *key = &job->kept.verdict.key;
	struct explain_broad broad;

	if (!explain_is_broad(job->done, &broad) || key->p >= BROAD_P || key->held < BROAD_OMEGA2) {
		return false;
	}
	finding->told_all = true;
	if (row) {
		norms_drop(pythia, row);
	}
	finding_stop(pythia, finding, STOP_DIFFUSE,
			&(struct steps_verdict){.reason = REASON_VALUE,
					.value = broad.value,
					.examined = broad.places,
					.slow = broad.slower,
					.times = broad.times,
					.key = *key});
	return true;
}

/* False: out of memory. */
static bool take_key(struct explain_job *job)
{
	struct snapshot *snapshot = snapshot_create();
	struct explanation explanation;
	bool taken = snapshot && explain_fill(job->done, snapshot, &explanation) == STATUS_OK;

	if (taken) {
		verdict_keep(&job->kept,
				&(struct steps_verdict){.key = explained_by(&explanation)});
	}
	snapshot_destroy(snapshot);
	return taken;
}

/* What is found is noted once. */
static void conclude(struct pythia *pythia, struct explain_job *job, const struct groups_row *row)
{
	struct finding *finding = finding_of(pythia, job->group_id, false, 0);
	struct explain_verdict sure;
	bool known = explaining_key(job);
	char text[VERDICT_BYTES];

	if (!take_key(job) || !finding || finding->rule == STOP_HEALTHY ||
			finding->rule == STOP_VARIABLE || finding->told_all ||
			!explaining_key(job) || verdict_broad(pythia, finding, job, row)) {
		return;
	}
	if (explain_is_sure(job->done, &sure)) {
		verdict_variable(pythia, finding, job, &sure, row);
	} else if (!known) {
		verdict_text(text, sizeof(text), &job->kept.verdict);
		finding_note(finding, "%s", text);
	}
}

static void take_up(struct pythia *pythia, struct explain_job *job, const struct groups_row *row)
{
	explain_work(job->running, UINT64_MAX);
	explain_destroy(job->done);
	job->done = job->running;
	job->running = NULL;
	job->rows = job->running_rows;
	job->done_since_ns = job->running_since_ns;
	job->made_ns = job->begun_ns;
	job->answered = true;
	conclude(pythia, job, row);
}

/* ---- when it is begun ---- */

/* Nothing more will be asked of its requests. */
static bool is_satisfied(const struct explain_job *job, const struct finding *finding)
{
	if (!finding || finding->rule == STOP_HEALTHY) {
		return !job->asked || job->answered;
	}
	return finding->rule == STOP_VARIABLE ||
	       (finding->rule != STOP_NONE && job->rows >= ROWS_LAST &&
			       job->done_since_ns == job->since_ns);
}

/* There is a place, a verdict, or a wish. */
static bool is_wanted(const struct explain_job *job, const struct finding *finding)
{
	if (job->asked && !job->answered) {
		return true;
	}
	return finding && !is_satisfied(job, finding) &&
	       (finding->rule != STOP_NONE || finding->phi_low >= CLEAR_PHI);
}

/* Its evidence: the epoch that the search is in, or in which it stopped. */
static void set_evidence(struct explain_job *job, const struct finding *finding,
		const struct groups_row *row)
{
	bool searching = finding && finding->rule == STOP_NONE;

	if (row && (searching || !job->frozen)) {
		job->since_ns = row->since_ns;
	}
	job->frozen = finding && !searching && (row || job->frozen);
}

/* So many requests are worth another explanation. */
static bool is_enough(const struct explain_job *job, const struct finding *finding, uint32_t rows,
		uint64_t now_ns)
{
	bool wished = job->asked && !job->answered && (!job->done || rows >= EXPLAIN_ENOUGH);

	if (!job->done || job->since_ns != job->done_since_ns) {
		return wished ||
		       (rows >= EXPLAIN_ENOUGH &&
				       (!finding || finding->rule != STOP_NONE ||
						       now_ns >= job->since_ns + EPOCH_NS));
	}
	return wished || rows >= 2 * job->rows || (rows >= BELIEVED && job->rows < BELIEVED);
}

/* False: there is not enough to begin with, or no memory. */
static bool begin(struct pythia *pythia, struct explain_job *job, const struct pythia_keys *keys,
		uint64_t now_ns)
{
	struct finding *finding = finding_of(pythia, job->group_id, false, 0);
	struct arena arena = {.chunks = NULL};
	const struct explain_table *table;

	job->tried_ns = now_ns;
	if (job->collecting) {
		uint32_t rows = keys->rows(keys->context, job->group_id, job->since_ns);

		if (!is_enough(job, finding, rows, now_ns)) {
			return false; /* without making the table that would say so */
		}
	}
	table = collect(job, keys, true)
				? keys->table(keys->context, job->group_id, job->since_ns, &arena)
				: NULL;
	if (table && is_enough(job, finding, table->n_rows, now_ns)) {
		job->running = explain_start(table);
		job->running_rows = table->n_rows;
		job->running_since_ns = job->since_ns;
		job->begun_ns = now_ns;
	} else if (!table) {
		job->answered = true; /* there is no such group, or no room */
	}
	arena_release(&arena);
	return job->running != NULL;
}

/* What is known of it by now; true: it is at work. */
static bool advance(struct pythia *pythia, struct explain_job *job, const struct pythia_keys *keys,
		const struct groups_row *row, uint64_t now_ns)
{
	const struct finding *finding = finding_of(pythia, job->group_id, false, 0);

	set_evidence(job, finding, row);
	if (row && !job->type) {
		job->type = pythia_intern(pythia, row->type);
	}
	if (job->running && now_ns >= job->begun_ns + EXPLAINING_NS) {
		take_up(pythia, job, row);
	}
	if (!job->running && is_satisfied(job, finding)) {
		collect(job, keys, false);
	}
	return job->running != NULL;
}

void pythia_explain_round(struct pythia *pythia, const struct pythia_keys *keys,
		const struct groups_view *groups, uint64_t now_ns)
{
	bool busy = false;

	pythia->explaining.over = false;
	add_jobs(pythia, keys);
	for (uint32_t i = 0; i < pythia->explaining.n; i++) {
		struct explain_job *job = &pythia->explaining.jobs[i];

		busy |= advance(pythia, job, keys, row_of(groups, job->group_id), now_ns);
	}
	/* One at a time, and the worst group first. */
	for (uint32_t i = 0; i < pythia->explaining.n && !busy; i++) {
		struct explain_job *job = &pythia->explaining.jobs[i];

		if (is_wanted(job, finding_of(pythia, job->group_id, false, 0)) &&
				(!job->tried_ns || now_ns >= job->tried_ns + RETRY_NS)) {
			busy = begin(pythia, job, keys, now_ns);
		}
	}
}

void pythia_explain_finish(struct pythia *pythia, const struct pythia_keys *keys,
		const struct groups_view *groups, uint64_t now_ns)
{
	uint32_t begun = 0;

	pythia->explaining.over = true;
	add_jobs(pythia, keys);
	for (uint32_t i = 0; i < pythia->explaining.n; i++) {
		struct explain_job *job = &pythia->explaining.jobs[i];
		const struct finding *finding = finding_of(pythia, job->group_id, false, 0);
		const struct groups_row *row = row_of(groups, job->group_id);

		set_evidence(job, finding, row);
		if (job->running) {
			take_up(pythia, job, row);
		}
		if (begun < AT_THE_END && is_wanted(job, finding) &&
				begin(pythia, job, keys, now_ns)) {
			begun++;
			take_up(pythia, job, row);
		}
	}
}

void pythia_explain_work(struct pythia *pythia, uint64_t units)
{
	for (uint32_t i = 0; i < pythia->explaining.n; i++) {
		if (pythia->explaining.jobs[i].running) {
			explain_work(pythia->explaining.jobs[i].running, units);
			return;
		}
	}
}

/* ---- what is shown ---- */

/* A verdict was given, and the requests that it is of were not tried since. */
static bool is_due(const struct explaining *explaining, const struct explain_job *job,
		const struct finding *finding)
{
	if (explaining->over || !finding || finding->told_all || finding->rule == STOP_NONE ||
			finding->rule == STOP_HEALTHY || finding->rule == STOP_VARIABLE) {
		return false;
	}
	if (!job) {
		return explaining->n < EXPLAINING_MAX;
	}
	return (!job->done || job->done_since_ns != job->since_ns) &&
	       (job->running || job->tried_ns < finding->ended_ns);
}

bool explaining_fill(const struct explaining *explaining, uint32_t group_id,
		const struct finding *finding, struct snapshot *snapshot,
		const struct explanation **out)
{
	const struct explain_job *job = explaining_of(explaining, group_id);
	struct explanation *explanation;
	const struct explain *shown = job && job->done ? job->done : job ? job->running : NULL;
	bool due = is_due(explaining, job, finding);

	*out = NULL;
	if (!shown && !due && (!job || !job->asked || job->answered)) {
		return true;
	}
	explanation = snapshot_alloc(snapshot, sizeof(*explanation));
	if (!explanation) {
		return false;
	}
	*explanation = (struct explanation){.state = EXPLANATION_RUNNING};
	*out = explanation;
	if (shown && explain_fill(shown, snapshot, explanation) != STATUS_OK) {
		return false;
	}
	explanation->made_ns = job ? job->made_ns : 0;
	explanation->again = due;
	if (!job || !job->done) {
		/* What it comes to is not taken up yet, even if all is done. */
		*explanation = (struct explanation){
				.state = EXPLANATION_RUNNING, .progress = explanation->progress};
	}
	return true;
}
