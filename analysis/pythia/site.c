/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pythia/state.h"

/*
 * In which process, on which host. What varies in all that one process does, at the same times, is
 * no piece of its code: the CPU it gets, its host, or what all of it waits for. Then no further
 * point would tell more, and none is enabled.
 *
 * That takes evidence from many places: waiting and working, of any requests. Where one place makes
 * most of what is added, it is that place which may starve the others, and the search goes on.
 */
#define SITES_MOST 32u

/*
 * Most places of a process are slow at the same times, and none of them alone adds most, nor is
 * there one alone in each type of request: that is code which all of them pass.
 */
static bool site_is_slow(const struct pythia_site *site)
{
	return site->places >= SITE_PLACES && site->along >= SITE_MOST_PLACES * site->places &&
	       site->judged_along >= SITE_MANY_PLACES * site->judged &&
	       site->of_group >= SITE_OF_GROUP && site->working >= SITE_WORKING &&
	       site->most <= SITE_ONE_PLACE;
}

static bool is_well(const struct pythia_site *site)
{
	return site->places >= SITE_PLACES && site->along <= SITE_FEW_PLACES * site->places;
}

/* "pt-compute (compute-1) on node7" */
static void site_text(const struct pythia_site *site, char *out, size_t size)
{
	char process[128] = "";

	if (site->process[0] && site->tells[0]) {
		snprintf(process, sizeof(process), "%.40s (%.60s)", site->process, site->tells);
	} else if (site->process[0]) {
		snprintf(process, sizeof(process), "%.100s", site->process);
	} else if (site->pid >= 0) {
		snprintf(process, sizeof(process), "process %d%s%.60s%s", site->pid,
				site->tells[0] ? " (" : "", site->tells, site->tells[0] ? ")" : "");
	}
	snprintf(out, size, "%s%s%s", process, process[0] && site->host[0] ? " on " : "",
			site->host[0] || process[0] ? site->host : "one process");
}

static void take_site(
		struct pythia *pythia, struct finding *finding, const struct pythia_site *site)
{
	char text[SITE_TEXT];

	site_text(site, text, sizeof(text));
	finding->site = pythia_keep(pythia, text);
	finding->host = pythia_keep(pythia, site->host);
	finding->process = pythia_keep(pythia, site->process);
}

/* Another finding says so already; NULL: none does. */
static const struct finding *told_by(const struct pythia *pythia, const struct finding *but)
{
	for (uint32_t i = 0; i < pythia->locating.n_findings; i++) {
		const struct finding *finding = &pythia->locating.findings[i];

		if (finding != but && finding->at_site && finding->rule == STOP_DIFFUSE &&
				strcmp(finding->site, but->site) == 0) {
			return finding;
		}
	}
	return NULL;
}

static bool are_twins(const struct pythia_site *a, const struct pythia_site *b)
{
	return a->process[0] && strcmp(a->process, b->process) == 0;
}

/* Which others are as slow, the first of them; and one with the same code which is not. */
struct others {
	char ill[SITE_TEXT], twin[SITE_TEXT];
	uint32_t n_ill, n_well;
};

static struct others others_of(const struct pythia_site *sites, uint32_t n)
{
	const struct pythia_site *ill = NULL, *twin = NULL;
	struct others others = {.n_ill = 0};

	for (uint32_t i = 1; i < n; i++) {
		bool slow = site_is_slow(&sites[i]), well = is_well(&sites[i]);

		others.n_ill += slow;
		others.n_well += well;
		ill = slow && !ill ? &sites[i] : ill;
		twin = well && !twin && are_twins(&sites[0], &sites[i]) ? &sites[i] : twin;
	}
	if (ill) {
		site_text(ill, others.ill, sizeof(others.ill));
	}
	if (twin) {
		site_text(twin, others.twin, sizeof(others.twin));
	}
	return others;
}

/* A process that starves is slow in all that it does: how much of it is its run queues, and who had
 * the processor. */
static void tell_run_queues(const struct pythia_round *round, const struct pythia_detail *detail,
		struct steps_verdict *verdict)
{
	const struct tree_view *tree = detail->tree;
	uint32_t most = UINT32_MAX;

	for (uint32_t i = 0; i < tree->n; i++) {
		if (pythia_waits_for_processor(&tree->rows[i])) {
			verdict->waiting_share += tree->rows[i].phi;
			most = most == UINT32_MAX || tree->rows[i].phi > tree->rows[most].phi
					       ? i
					       : most;
		}
	}
	if (verdict->waiting_share < NOBODYS_SLIGHT) {
		verdict->waiting_share = 0;
	} else {
		search_who_was_waited_for(round, detail, most, verdict);
	}
}

/* Is it time to look again? Where nothing can be enabled meanwhile, twice as late each time. */
static bool is_time(const struct pythia *pythia, const struct finding *finding, bool last)
{
	uint64_t pause_ns = SITE_AGAIN_NS;

	if (!pythia_can_act(pythia)) {
		pause_ns <<= finding->sites_looks < 8 ? finding->sites_looks : 8;
		pause_ns = pause_ns < SITE_LATEST_NS ? pause_ns : SITE_LATEST_NS;
	}
	return last || !finding->sites_ns || pythia->now_ns >= finding->sites_ns + pause_ns;
}

bool site_verdict(struct pythia *pythia, struct finding *finding,
		const struct pythia_detail *detail, const struct pythia_round *round)
{
	struct pythia_site sites[SITES_MOST];
	const struct finding *told;
	struct steps_verdict verdict;
	struct others others;
	uint32_t n;

	if (!round->sites || finding->slow || !is_time(pythia, finding, round->last)) {
		return false;
	}
	finding->sites_looks += finding->sites_ns > 0;
	finding->sites_ns = pythia->now_ns;
	n = round->sites(round->callback_context, detail->row->id, detail->row->since_ns, 0, sites,
			SITES_MOST);
	if (n == 0 || sites[0].phi < SITE_PHI || !site_is_slow(&sites[0])) {
		return false;
	}
	take_site(pythia, finding, &sites[0]);
	told = told_by(pythia, finding);
	others = others_of(sites, n);
	finding->at_site = true;
	verdict = (struct steps_verdict){.reason = REASON_PROCESS,
			.type = detail->row->type,
			.site = finding->site,
			.as_for = told ? names_text(pythia->names, told->type) : "",
			.share_of = "variance",
			.share = fmin(sites[0].phi, 1),
			.examined = sites[0].places,
			.slow = sites[0].along,
			.times = sites[0].times,
			.also_slow = others.ill,
			.n_also_slow = others.n_ill,
			.twin_well = others.twin,
			.n_well = others.n_well};
	tell_run_queues(round, detail, &verdict);
	finding_stop(pythia, finding, STOP_DIFFUSE, &verdict);
	return true;
}

/* The worst of those that go beyond their norms, and are excused so far. */
static const struct groups_row *worst_exceeding(
		const struct pythia *pythia, const struct groups_view *recent)
{
	const struct groups_row *worst = NULL;

	for (uint32_t i = 0; i < recent->n; i++) {
		const struct groups_row *row = &recent->rows[i];

		if (norms_exceeded(pythia, row) && norms_excuse(pythia, row) &&
				(!worst || row->variation_share > worst->variation_share)) {
			worst = row;
		}
	}
	return worst;
}

/* One process alone is slow, and some others are known to be well. */
static bool is_alone(const struct pythia_site *sites, uint32_t n)
{
	uint32_t n_well = 0, n_slow = 0;

	for (uint32_t i = 0; i < n; i++) {
		n_well += is_well(&sites[i]);
		n_slow += site_is_slow(&sites[i]);
	}
	return n > 0 && sites[0].phi >= SITE_PHI && site_is_slow(&sites[0]) && n_slow == 1 &&
	       n_well >= SITE_WELL;
}

void site_watch(struct pythia *pythia, const struct pythia_round *round)
{
	struct pythia_site sites[SITES_MOST];
	const struct groups_row *row;
	char text[SITE_TEXT];
	uint32_t n;

	if (!round->sites || pythia->now_ns < pythia->locating.slow_site.ns + NORM_WINDOW_NS) {
		return;
	}
	pythia->locating.slow_site.ns = pythia->now_ns;
	row = worst_exceeding(pythia, round->recent);
	n = row ? round->sites(round->callback_context, row->id, row->since_ns, 0, sites,
				  SITES_MOST)
		: 0;
	if (!is_alone(sites, n)) {
		pythia->locating.slow_site.windows = 0;
		return;
	}
	site_text(&sites[0], text, sizeof(text));
	pythia->locating.slow_site.windows =
			strcmp(text, pythia->locating.slow_site.text) == 0
					? pythia->locating.slow_site.windows + 1
					: 1;
	memcpy(pythia->locating.slow_site.text, text, sizeof(text));
	if (pythia->locating.slow_site.windows >= SITE_WINDOWS) {
		norms_let_through(pythia, row);
	}
}

void site_of_place(struct pythia *pythia, struct finding *finding,
		const struct pythia_detail *detail, const struct pythia_round *round,
		const struct tree_row *place)
{
	struct pythia_site sites[SITES_MOST];
	uint32_t n = round->sites ? round->sites(round->callback_context, detail->row->id,
						    detail->row->since_ns, place->context, sites,
						    SITES_MOST)
				  : 0;
	double sum = 0;

	for (uint32_t i = 0; i < n; i++) {
		sum += sites[i].phi;
	}
	if (n > 0 && sites[0].phi > 0 && sites[0].phi >= SITE_HELD_THERE * sum) {
		take_site(pythia, finding, &sites[0]);
	}
}

/* Sites that hold nothing of the variance do not tell where it is. */
void site_of_all(struct pythia *pythia, struct finding *finding, const struct pythia_detail *detail,
		const struct pythia_round *round)
{
	struct pythia_site sites[SITES_MOST];
	uint32_t n = round->sites && !finding->host
				     ? round->sites(round->callback_context, detail->row->id,
						       detail->row->since_ns, 0, sites, SITES_MOST)
				     : 0;
	bool one_host = n > 0, one_process = n > 0;

	for (uint32_t i = 1; i < n; i++) {
		one_host &= strcmp(sites[i].host, sites[0].host) == 0;
		one_process &= strcmp(sites[i].process, sites[0].process) == 0;
	}
	if (one_host) {
		finding->host = pythia_keep(pythia, sites[0].host);
	}
	if (one_host && one_process && sites[0].process[0]) {
		finding->process = pythia_keep(pythia, sites[0].process);
	}
}
