/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "groups/sites.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/sort.h"
#include "groups/walk.h"
#include "stats/together.h"

#define MAX_PARTS   (1u << 20)
#define MAX_TELLS   8u
#define TELLS_OF    32u /* requests of a group: names of processes do not change */
#define MAX_TOLD    16u /* values of a span */
#define SITE_NONE   UINT32_MAX
#define NOTICED     0.01 /* of a site's time: a place that takes less tells little */

/* What a context of a request takes of the critical path at a site. */
struct part {
	uint64_t at_ns, ns, request;
	uint32_t site, group, context;
	uint32_t name; /* what is one place, wherever that is called from; 0: each context is one */
	uint32_t place, series;
	bool own;
};

/* A field that events of a site tell, and what it says. */
struct tell {
	uint32_t name;
	uint32_t n;
	bool varies;
	char text[SITE_TELLS];
};

struct site {
	struct group_site figures;
	double now, sum, product; /* of the group that is asked for: S of a request, S, S T */
	uint32_t n_tells;
	struct tell tells[MAX_TELLS];
};

struct work {
	struct groups *groups;
	uint32_t group_id, context;
	uint64_t since_ns;
	struct site sites[SITES_MAX];
	uint32_t n_sites;
	struct part *parts;
	uint32_t n, room, begun; /* begun: first of the request at hand */
	double requests, total, squares;
	bool failed;
};

/* ---- who ---- */

static uint32_t site_of(struct work *work, const struct walked_span *span)
{
	for (uint32_t i = 0; i < work->n_sites; i++) {
		const struct group_site *site = &work->sites[i].figures;

		if (site->host == span->host && site->pid == span->pid &&
				(span->pid >= 0 || site->process == span->process)) {
			return i;
		}
	}
	if (work->n_sites == SITES_MAX) {
		return SITE_NONE;
	}
	work->sites[work->n_sites].figures = (struct group_site){
			.host = span->host, .pid = span->pid, .process = span->process};
	return work->n_sites++;
}

static struct tell *tell_of(struct site *site, uint32_t name)
{
	for (uint32_t i = 0; i < site->n_tells; i++) {
		if (site->tells[i].name == name) {
			return &site->tells[i];
		}
	}
	return NULL;
}

static void note_told(struct site *site, const struct request_key *key)
{
	struct tell *tell = tell_of(site, key->name);
	char text[SITE_TELLS];

	snprintf(text, sizeof(text), "%.*s", (int)key->length, key->text);
	if (tell) {
		tell->n++;
		tell->varies |= strcmp(tell->text, text) != 0;
	} else if (site->n_tells < MAX_TELLS && text[0]) {
		tell = &site->tells[site->n_tells++];
		*tell = (struct tell){.name = key->name, .n = 1};
		memcpy(tell->text, text, sizeof(text));
	}
}

static void note_tells(struct work *work, const struct walked *walked)
{
	const struct groups_config *config = &work->groups->config;
	struct request_key told[MAX_TOLD];

	for (uint32_t i = 0; i < walked->n_spans && config->told; i++) {
		uint32_t site = site_of(work, &walked->spans[i]);
		uint32_t n = site == SITE_NONE ? 0
					       : config->told(config->measurer, i, told, MAX_TOLD);

		for (uint32_t k = 0; k < n; k++) {
			note_told(&work->sites[site], &told[k]);
		}
	}
}

static bool are_called_alike(const struct site *a, const struct site *b)
{
	return a->figures.host == b->figures.host && a->figures.process == b->figures.process;
}

/* No other site of the same name tells the same by that field. */
static bool sets_apart(const struct work *work, const struct site *site, const struct tell *tell)
{
	for (uint32_t i = 0; i < work->n_sites; i++) {
		struct site *other = (struct site *)(uintptr_t)&work->sites[i];
		const struct tell *its;

		if (other == site || !are_called_alike(site, other)) {
			continue;
		}
		its = tell_of(other, tell->name);
		if (!its || its->varies || strcmp(its->text, tell->text) == 0) {
			return false;
		}
	}
	return true;
}

static void name_site(const struct work *work, struct site *site)
{
	const struct tell *best = NULL;
	uint32_t alike = 0;

	for (uint32_t i = 0; i < work->n_sites; i++) {
		alike += are_called_alike(site, &work->sites[i]);
	}
	for (uint32_t i = 0; i < site->n_tells && alike > 1; i++) {
		const struct tell *tell = &site->tells[i];

		if (!tell->varies && (!best || tell->n > best->n) && sets_apart(work, site, tell)) {
			best = tell;
		}
	}
	if (best) {
		memcpy(site->figures.tells, best->text, sizeof(site->figures.tells));
	}
}

/* ---- what ---- */

/* Waits for a processor are not one place: they are the process' as a whole. */
static uint32_t place_name(const struct groups *groups, uint32_t context)
{
	bool is_runnable = strcmp(context_name(groups, context), "(runnable)") == 0;

	return is_runnable ? 0 : contexts_get(groups->contexts, context)->name;
}

static struct part *part_of(struct work *work, uint32_t site, uint32_t group, uint32_t context)
{
	for (uint32_t i = work->begun; i < work->n; i++) {
		if (work->parts[i].context == context && work->parts[i].site == site) {
			return &work->parts[i];
		}
	}
	if (work->n == MAX_PARTS || !array_reserve(&work->parts, &work->room, work->n + 1)) {
		work->failed = true;
		return NULL;
	}
	work->parts[work->n] = (struct part){.site = site,
			.group = group,
			.context = context,
			.name = place_name(work->groups, context)};
	return &work->parts[work->n++];
}

static void count_shares(struct work *work, const struct walked *walked)
{
	double total = (double)walked->total_ns;

	work->requests++;
	work->total += total;
	work->squares += total * total;
	for (uint32_t i = work->begun; i < work->n; i++) {
		const struct part *part = &work->parts[i];

		if (!work->context || part->context == work->context) {
			work->sites[part->site].now += (double)part->ns;
		}
	}
	for (uint32_t i = 0; i < work->n_sites; i++) {
		struct site *site = &work->sites[i];

		site->figures.requests += site->now > 0;
		site->sum += site->now;
		site->product += site->now * total;
		site->now = 0;
	}
}

static void count_walked(struct work *work, uint32_t group, const struct request *request,
		const struct walked *walked)
{
	work->begun = work->n;
	for (uint32_t i = 0; i < walked->n_pieces; i++) {
		const struct walked_piece *piece = &walked->pieces[i];
		uint32_t site = site_of(work, &walked->spans[piece->span]);
		struct part *part =
				site == SITE_NONE ? NULL : part_of(work, site, group, piece->owner);

		if (!part) {
			continue;
		}
		if (!part->ns) {
			part->at_ns = piece->start_ns;
			part->request = request->id;
			part->own = piece->own;
		}
		part->ns += piece->ns;
	}
	if (group == work->group_id && request->start_ns >= work->since_ns) {
		count_shares(work, walked);
	}
}

/* Counts what is kept of a group since twice the window, `most` requests at most; returns how many.
 */
static uint32_t walk_group(struct work *work, uint32_t group, uint32_t most, bool tells)
{
	const struct groups *groups = work->groups;
	uint64_t back_ns = 2 * groups->config.window_ns;
	struct walk walk = walk_begin(work->groups, HORIZON_ALL, group,
			groups->now_ns > back_ns ? groups->now_ns - back_ns : 0, most);
	uint32_t n = 0;

	while (!work->failed && walk_next(&walk)) {
		count_walked(work, group, walk.request, &walk.walked);
		if (tells && n < TELLS_OF) {
			note_tells(work, &walk.walked);
		}
		n++;
	}
	return n;
}

static void walk_groups(struct work *work)
{
	uint32_t n_groups = work->groups->n, left = SITES_REQUESTS, walked;

	/* The one that is asked for first: all others may have no room. */
	walked = walk_group(work, work->group_id, SITES_OF_GROUP, true);
	left -= walked < left ? walked : left;
	for (uint32_t i = 1; i <= n_groups && left && !work->failed; i++) {
		uint32_t fair = left / (n_groups - i + 1) + 1;

		if (i != work->group_id) {
			walked = walk_group(work, i, fair < SITES_OF_GROUP ? fair : SITES_OF_GROUP,
					true);
			left -= walked < left ? walked : left;
		}
	}
}

/* ---- whether all of it goes together ---- */

static int compare(uint32_t a, uint32_t b)
{
	return (a > b) - (a < b);
}

static int by_series(const void *left, const void *right)
{
	const struct part *a = left, *b = right;

	return a->site != b->site     ? compare(a->site, b->site)
	       : a->name != b->name   ? compare(a->name, b->name)
	       : a->group != b->group ? compare(a->group, b->group)
				      : compare(a->context, b->context);
}

static int by_time(const void *left, const void *right)
{
	const struct part *a = left, *b = right;

	if (a->at_ns != b->at_ns) {
		return a->at_ns < b->at_ns ? -1 : 1;
	}
	return a->series != b->series ? compare(a->series, b->series)
				      : (a->request > b->request) - (a->request < b->request);
}

/* A place of a group. */
struct pair {
	uint32_t group, place;
};

static int by_group(const void *left, const void *right)
{
	const struct pair *a = left, *b = right;

	return a->group != b->group ? compare(a->group, b->group) : compare(a->place, b->place);
}

/* What judging a site takes. */
struct judging {
	struct together_item *items;
	struct together_place *places;
	bool *own, *goes; /* of each place: it is work; it counts, and goes along */
	double *times;
	struct pair *pairs; /* of each series */
	uint32_t n_places, n_series;
};

static bool judging_begin(struct judging *judging, uint32_t n)
{
	size_t room = (size_t)n + 1;

	*judging = (struct judging){.items = malloc(room * sizeof(*judging->items)),
			.places = malloc(room * sizeof(*judging->places)),
			.own = calloc(room, sizeof(*judging->own)),
			.goes = calloc(room, sizeof(*judging->goes)),
			.times = malloc(room * sizeof(*judging->times)),
			.pairs = malloc(room * sizeof(*judging->pairs))};
	return judging->items && judging->places && judging->own && judging->goes &&
	       judging->times && judging->pairs;
}

static void judging_end(struct judging *judging)
{
	free(judging->items);
	free(judging->places);
	free(judging->own);
	free(judging->goes);
	free(judging->times);
	free(judging->pairs);
}

/* Of those that take a noticed share of the site's time, but for the first two. */
static void count_along(struct group_site *site, struct judging *judging)
{
	double all = 0, sum = 0, most = 0;

	for (uint32_t i = 0; i < judging->n_places; i++) {
		all += judging->places[i].sum_ns;
	}
	for (uint32_t i = 0; i < judging->n_places; i++) {
		const struct together_place *place = &judging->places[i];
		double added = (place->busy_ns - place->calm_ns) * place->n;

		site->judged += place->judged;
		site->judged_along += place->judged && place->along;
		if (!place->judged || place->sum_ns < NOTICED * all) {
			continue;
		}
		site->places++;
		if (place->along) {
			judging->goes[i] = true;
			judging->times[site->along++] = place->busy_ns / fmax(place->calm_ns, 1);
			site->working += judging->own[i];
			sum += added;
			most = fmax(most, added);
		}
	}
	sort_doubles(judging->times, site->along);
	site->most = sum > 0 ? most / sum : 0;
	site->times = site->along ? judging->times[site->along / 2] : 0;
}

/* How many places go along for a group, where any does. */
static void count_of_groups(struct group_site *site, struct judging *judging)
{
	uint32_t n_groups = 0, n_pairs = 0;
	const struct pair *last = NULL;

	qsort(judging->pairs, judging->n_series, sizeof(*judging->pairs), by_group);
	for (uint32_t i = 0; i < judging->n_series; i++) {
		const struct pair *pair = &judging->pairs[i];

		if (judging->goes[pair->place]) {
			n_groups += !last || last->group != pair->group;
			n_pairs += !last || by_group(last, pair) != 0;
			last = pair;
		}
	}
	site->of_group = n_groups ? (double)n_pairs / n_groups : 0;
}

/* Numbers the places and series of parts of one site, in order of these. */
static void number_places(struct judging *judging, struct part *parts, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		bool begins = i == 0 || by_series(&parts[i - 1], &parts[i]) != 0;

		if (begins && (i == 0 || !parts[i].name || parts[i - 1].name != parts[i].name)) {
			judging->own[judging->n_places++] = parts[i].own;
		}
		if (begins) {
			judging->pairs[judging->n_series++] =
					(struct pair){parts[i].group, judging->n_places - 1};
		}
		parts[i].series = judging->n_series - 1;
		parts[i].place = judging->n_places - 1;
	}
}

/* Parts of one site, in order of their series. */
static bool judge_site(struct group_site *site, struct part *parts, uint32_t n)
{
	struct judging judging;
	bool done = judging_begin(&judging, n);

	if (done) {
		number_places(&judging, parts, n);
		qsort(parts, n, sizeof(*parts), by_time);
	}
	for (uint32_t i = 0; i < n && done; i++) {
		judging.items[i] = (struct together_item){.at_ns = parts[i].at_ns,
				.request = parts[i].request,
				.place = parts[i].place,
				.series = parts[i].series,
				.ns = (double)parts[i].ns};
	}
	done = done &&
	       together_judge(judging.items, n, judging.n_series, judging.places, judging.n_places);
	if (done) {
		count_along(site, &judging);
		count_of_groups(site, &judging);
	}
	judging_end(&judging);
	return done;
}

static bool judge_sites(struct work *work)
{
	qsort(work->parts, work->n, sizeof(*work->parts), by_series);
	for (uint32_t i = 0, end; i < work->n; i = end) {
		uint32_t site = work->parts[i].site;

		for (end = i; end < work->n && work->parts[end].site == site; end++) {
		}
		if (!judge_site(&work->sites[site].figures, &work->parts[i], end - i)) {
			return false;
		}
	}
	return true;
}

/* ---- the whole ---- */

static int by_phi(const void *left, const void *right)
{
	const struct group_site *a = left, *b = right;

	return a->phi != b->phi ? (a->phi > b->phi ? -1 : 1)
				: (a->pid > b->pid) - (a->pid < b->pid);
}

/* The share of each site; false: too few requests, or they do not vary. */
static bool take_shares(struct work *work)
{
	double variance = work->squares - work->total * work->total / fmax(work->requests, 1);

	if (work->failed || work->requests < ENOUGH_REQUESTS || variance <= 0) {
		return false;
	}
	for (uint32_t i = 0; i < work->n_sites; i++) {
		struct site *site = &work->sites[i];

		site->figures.phi = (site->product - site->sum * work->total / work->requests) /
				    variance;
	}
	return true;
}

static struct work *work_begin(
		struct groups *groups, uint32_t group_id, uint64_t since_ns, uint32_t context)
{
	struct work *work = group_id && group_id <= groups->n ? calloc(1, sizeof(*work)) : NULL;

	if (work) {
		work->groups = groups;
		work->group_id = group_id;
		work->since_ns = since_ns;
		work->context = context;
	}
	return work;
}

static void work_end(struct work *work)
{
	if (work) {
		free(work->parts);
		free(work);
	}
}

uint32_t groups_sites(
		struct groups *groups, uint32_t group_id, uint64_t since_ns, struct group_site *out)
{
	struct work *work = work_begin(groups, group_id, since_ns, 0);
	uint32_t n = 0;

	if (work) {
		walk_groups(work);
	}
	if (work && take_shares(work) && judge_sites(work)) {
		for (n = 0; n < work->n_sites; n++) {
			name_site(work, &work->sites[n]);
			out[n] = work->sites[n].figures;
		}
		qsort(out, n, sizeof(*out), by_phi);
	}
	work_end(work);
	return n;
}

bool groups_sites_weigh(struct groups *groups, uint32_t group_id, uint64_t since_ns,
		uint32_t context, struct group_site *sites, uint32_t n)
{
	struct work *work = work_begin(groups, group_id, since_ns, context);
	bool done = false;

	if (work) {
		for (uint32_t i = 0; i < n; i++) {
			work->sites[i].figures = sites[i];
		}
		work->n_sites = n;
		walk_group(work, group_id, SITES_OF_GROUP, false);
		done = take_shares(work);
	}
	if (done) {
		for (uint32_t i = 0; i < n; i++) {
			sites[i].phi = work->sites[i].figures.phi;
		}
		qsort(sites, n, sizeof(*sites), by_phi);
	}
	work_end(work);
	return done;
}
