/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "loop_questions.h"

#include <stdlib.h>
#include <string.h>

#include "groups/siblings.h"

#define MAX_GAPS     64u
#define MAX_SIBLINGS 64u

struct snapshot *loop_answer(struct loop *loop, struct focus focus)
{
	struct snapshot *snapshot = snapshot_create();

	if (snapshot && !loop->host.fill(loop->host.context, &focus, snapshot)) {
		snapshot_destroy(snapshot);
		snapshot = NULL;
	}
	return snapshot;
}

static uint32_t find_gaps(void *context, uint32_t group_id, uint64_t since_ns, uint32_t edge,
		struct pythia_gap *out, uint32_t max)
{
	const struct loop *loop = context;
	struct group_gap gaps[MAX_GAPS];
	uint32_t n = groups_gaps(loop->host.groups, group_id, since_ns, edge, gaps,
			max < MAX_GAPS ? max : MAX_GAPS);

	for (uint32_t i = 0; i < n; i++) {
		out[i] = (struct pythia_gap){.after = gaps[i].after,
				.before = gaps[i].before,
				.lag_ns = gaps[i].lag_ns,
				.phi = gaps[i].phi};
	}
	return n;
}

static const struct group_wait *find_waits(void *context, uint32_t group_id, uint32_t edge)
{
	struct loop *loop = context;

	if (!loop->waits || loop->waits->group.id != group_id) {
		snapshot_destroy(loop->waits);
		loop->waits = loop_answer(loop, (struct focus){.horizon = HORIZON_EPOCH,
								.parts = FOCUS_GROUP | FOCUS_WAITS,
								.group_id = group_id});
	}
	return loop->waits ? group_wait_of(&loop->waits->group.waits, edge) : NULL;
}

static uint32_t find_threads(void *context, uint32_t group_id, uint64_t since_ns,
		struct pythia_thread *out, uint32_t max)
{
	const struct loop *loop = context;
	const struct registry *registry = loop->host.registry;
	struct group_thread *threads = calloc(max + 1, sizeof(*threads));
	uint32_t n = threads ? groups_threads(loop->host.groups, group_id, since_ns, threads, max)
			     : 0;

	for (uint32_t i = 0; i < n; i++) {
		uint32_t host = threads[i].host;

		out[i] = (struct pythia_thread){
				.host = host < registry->n_hosts ? registry->hosts[host].name : "",
				.tid = threads[i].tid};
	}
	free(threads);
	return n;
}

static uint32_t find_siblings(
		void *context, uint32_t group_id, struct pythia_sibling *out, uint32_t max)
{
	const struct loop *loop = context;
	struct sibling siblings[MAX_SIBLINGS];
	uint32_t n = groups_siblings(loop->host.groups, group_id, siblings,
			max < MAX_SIBLINGS ? max : MAX_SIBLINGS);

	for (uint32_t i = 0; i < n; i++) {
		out[i] = (struct pythia_sibling){.group_id = siblings[i].group_id,
				.own = siblings[i].own,
				.its = siblings[i].its};
	}
	return n;
}

static bool ask_alike(void *context, uint32_t group_id, uint32_t other_id)
{
	const struct loop *loop = context;

	return groups_ask_alike(loop->host.groups, group_id, other_id);
}

static void name_called(void *context, uint32_t group_id, uint32_t call, char *out, size_t size)
{
	const struct loop *loop = context;

	groups_called(loop->host.groups, group_id, call, out, size);
}

/* In loop->sites; a round asks of the same group more than once, and to find them is costly. */
static uint32_t sites_of(struct loop *loop, uint32_t group_id, uint64_t since_ns)
{
	if (loop->sites_group != group_id || loop->sites_since_ns != since_ns) {
		loop->n_sites = groups_sites(loop->host.groups, group_id, since_ns, loop->sites);
		loop->sites_group = group_id;
		loop->sites_since_ns = since_ns;
	}
	return loop->n_sites;
}

static uint32_t find_sites(void *context, uint32_t group_id, uint64_t since_ns, uint32_t within,
		struct pythia_site *out, uint32_t max)
{
	struct loop *loop = context;
	const struct registry *registry = loop->host.registry;
	struct group_site *sites = loop->shown_sites;
	uint32_t n = sites_of(loop, group_id, since_ns);

	memcpy(sites, loop->sites, n * sizeof(*sites));
	if (within && !groups_sites_weigh(
				      loop->host.groups, group_id, since_ns, within, sites, n)) {
		return 0;
	}
	n = n < max ? n : max;
	for (uint32_t i = 0; i < n; i++) {
		const struct group_site *site = &sites[i];

		out[i] = (struct pythia_site){
				.host = site->host < registry->n_hosts
							? registry->hosts[site->host].name
							: "",
				.process = names_text(loop->host.names, site->process),
				.tells = site->tells,
				.pid = site->pid,
				.phi = site->phi,
				.judged = site->judged,
				.judged_along = site->judged_along,
				.places = site->places,
				.along = site->along,
				.of_group = site->of_group,
				.working = site->working,
				.most = site->most,
				.times = site->times};
	}
	return n;
}

void loop_take_questions(struct loop *loop, struct pythia_round *round)
{
	round->gaps = find_gaps;
	round->threads = find_threads;
	round->sites = find_sites;
	round->waits = find_waits;
	round->siblings = find_siblings;
	round->ask_alike = ask_alike;
	round->called = name_called;
	round->callback_context = loop;
}
