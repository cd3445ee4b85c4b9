/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "groups/grouping.h"
#include "groups/label.h"
#include "groups/metric.h"
#include "stats/share.h"

#define SPARK_LOW     0.005
#define SPARK_HIGH    0.995
#define MIDDLE_ERRORS 2.6
#define PREFETCH_ROWS 4
#define CACHE_LINE    64

enum {
	AT_MIN,
	AT_SPARK_LOW,
	AT_MEDIAN_LOW,
	AT_P50,
	AT_P95,
	AT_P99,
	AT_SPARK_HIGH,
	AT_MAX,
	AT_COUNT
};

/* Even steps of log time between two bins; a narrow range is widened to a bin each. */
static void row_fill_spark(struct groups_row *row, const struct histogram *histogram, uint32_t low,
		uint32_t high)
{
	uint64_t counts[GROUPS_SPARK_BINS] = {0};
	uint32_t span = high - low + 1;

	if (span < GROUPS_SPARK_BINS) {
		uint32_t half = (GROUPS_SPARK_BINS - span) / 2;

		low = low > half ? low - half : 0;
		span = GROUPS_SPARK_BINS;
	}
	row->spark_lo_ns = histogram_bin_low(low);
	row->spark_hi_ns = histogram_bin_low(low + span);
	histogram_spread(histogram, low, low + span, GROUPS_SPARK_BINS, counts);
	for (uint32_t i = 0; i < GROUPS_SPARK_BINS; i++) {
		row->spark[i] = counts[i] < UINT32_MAX ? (uint32_t)counts[i] : UINT32_MAX;
	}
}

/* What the slowest and the fastest quarter do is not in it: what passes a host by is, mostly. */
static void row_fill_middle(struct groups_row *row, const struct histogram *histogram)
{
	double error = MIDDLE_ERRORS * sqrt(0.25 * 0.75 / (double)histogram->count);
	double shares[4] = {0.25, 0.25 + error, 0.75 - error, 0.75};
	uint32_t bins[4];

	if (error >= 0.25) {
		return;
	}
	histogram_quantiles(histogram, shares, 4, bins);
	row->middle_ns = (double)(histogram_bin_middle(bins[3]) - histogram_bin_middle(bins[0]));
	row->middle_low_ns =
			(double)(histogram_bin_middle(bins[2]) - histogram_bin_middle(bins[1]));
}

static void row_fill_failed(struct groups_row *row, const struct totals *totals)
{
	row->failed = totals->failed + totals->lost;
	row->ended = totals->moments.count + totals->lost;
	share_bounds(row->failed, row->ended, SHARE_95, &row->failed_low, &row->failed_high);
}

/* All of a row but its rate, its share, its texts and its verdict. */
static void row_fill(
		struct groups_row *row, struct detect_median *median, const struct totals *totals)
{
	double shares[AT_COUNT] = {0, SPARK_LOW, 0.5, 0.5, 0.95, 0.99, SPARK_HIGH, 1};
	uint32_t bins[AT_COUNT];

	row->count = totals->moments.count;
	row->tainted = totals->tainted;
	row->partial = totals->partial;
	row_fill_failed(row, totals);
	if (!totals->histogram.count) {
		memset(row, 0, sizeof(*row));
		row->tainted = totals->tainted;
		row->partial = totals->partial;
		row_fill_failed(row, totals);
		detect_may_speak(row, ENOUGH_REQUESTS);
		return;
	}
	if (detect_may_speak(row, ENOUGH_REQUESTS)) {
		shares[AT_MEDIAN_LOW] = detect_median_low_share(totals->histogram.count);
	}
	row->mean_ns = moments_mean(&totals->moments);
	row->sd_ns = moments_sd(&totals->moments);
	row->cov = row->mean_ns > 0 ? row->sd_ns / row->mean_ns : 0;
	histogram_quantiles(&totals->histogram, shares, AT_COUNT, bins);
	*median = (struct detect_median){(uint16_t)bins[AT_P50], (uint16_t)bins[AT_MEDIAN_LOW]};
	row->min_ns = histogram_bin_middle(bins[AT_MIN]);
	row->max_ns = histogram_bin_middle(bins[AT_MAX]);
	row->p50_ns = histogram_bin_middle(bins[AT_P50]);
	row->p95_ns = histogram_bin_middle(bins[AT_P95]);
	row->p99_ns = histogram_bin_middle(bins[AT_P99]);
	row->tail_ratio = row->p50_ns ? (double)row->p99_ns / (double)row->p50_ns : 0;
	row->middle_ns = row->middle_low_ns = 0;
	if (!row->missing) {
		row_fill_middle(row, &totals->histogram);
	}
	row_fill_spark(row, &totals->histogram, bins[AT_SPARK_LOW], bins[AT_SPARK_HIGH]);
}

/* The row of a group, from the cache where its totals have not changed. NULL if out of memory. */
static struct groups_row *row_of(
		struct groups *groups, const struct view *view, struct group *group)
{
	struct groups_row *row = &groups->cache.rows[group->index];
	uint8_t cached = (uint8_t)(1u << groups->cached);
	const struct totals *totals;

	if (view->latest && (group->rows_valid & cached)) {
		return row;
	}
	group->rows_valid &= (uint8_t)~cached;
	totals = view_totals(groups, view, group);
	if (!totals) {
		return NULL;
	}
	row_fill(row, &groups->cache.medians[group->index], totals);
	row->id = group->index + 1;
	row->idle_wait = group->idle;
	row->objective_ns = group->objective_ns;
	row->worst_request = view_slowest(groups, view, group);
	group->rows_valid |= view->latest ? cached : 0;
	group->rows_judged &= (uint8_t)~cached;
	return row;
}

static int by_value(const void *left, const void *right)
{
	const struct place *a = left, *b = right;

	if (a->idle != b->idle) {
		return a->idle ? 1 : -1;
	}
	if (a->value != b->value) {
		return a->value > b->value ? -1 : 1;
	}
	if (a->weight != b->weight) {
		return a->weight > b->weight ? -1 : 1;
	}
	return a->index < b->index ? -1 : a->index > b->index;
}

/* Until an epoch is begun it is everything. */
static void rows_switch(struct groups *groups, enum horizon horizon)
{
	groups->cached = horizon == HORIZON_EPOCH && !groups->epoch ? HORIZON_ALL : horizon;
	groups->cache = groups->caches[groups->cached];
}

/* Thousands of groups do not fit a cache: what a row is made of is asked for some rows ahead. */
static void rows_prefetch(const struct groups *groups, const struct view *view, uint32_t i)
{
	const struct group *group;

	if (i + 2 * PREFETCH_ROWS >= view->n_groups) {
		return;
	}
	group = groups->items[i + 2 * PREFETCH_ROWS];
	__builtin_prefetch(group);
	__builtin_prefetch(&group->window_slowest);
	__builtin_prefetch(&group->now.totals[view->horizon]);
	__builtin_prefetch(&group->now.totals[view->horizon].tainted);
	group = groups->items[i + PREFETCH_ROWS];
	if (!(group->rows_valid & 1u << groups->cached)) {
		const struct histogram *histogram = &group->now.totals[view->horizon].histogram;

		for (size_t at = 0; at < histogram_bytes(histogram); at += CACHE_LINE) {
			__builtin_prefetch((const char *)histogram->bins + at);
		}
	}
}

/* By the metric, of equal ones by their weight, then by age. */
static void places_sort(
		const struct groups *groups, enum metric metric, struct place *places, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		places[i].value =
				metric == METRIC_VARIANCE
						? places[i].weight
						: metric_value(metric,
								  &groups->cache.rows
										   [places[i].index]);
	}
	qsort(places, n, sizeof(*places), by_value);
}

/* What a row says of itself among all rows. `sum`: of their weights. */
static void rows_compare(struct groups *groups, const struct place *places, uint32_t n, double sum)
{
	uint32_t limit = detect_medians_limit(&groups->compared_medians);

	for (uint32_t i = 0; i < n; i++) {
		struct groups_row *row = &groups->cache.rows[places[i].index];

		row->variation_share = sum > 0 ? places[i].weight / sum : 0;
		row->detection &= ~(uint32_t)DETECTION_SLOW;
		if (!row->missing && !row->lossy && !row->idle_wait) {
			row->detection |= detect_slow(
					row, &groups->cache.medians[places[i].index], limit);
		}
	}
}

static uint64_t length_of(const struct view *view)
{
	return view->at_ns > view->start_ns ? view->at_ns - view->start_ns : 0;
}

uint64_t groups_unrecorded(const struct groups *groups, uint64_t hosts, const struct view *view)
{
	const struct groups_config *config = &groups->config;

	return config->paused ? config->paused(config->measurer, hosts, view->start_ns, view->at_ns)
			      : 0;
}

/* Rates, and what they make of the place of a row, are of its own horizon. */
static void row_set_horizon(const struct groups *groups, const struct view *view,
		struct groups_row *row, struct place *place)
{
	const struct group *group = groups->items[place->index];
	const struct view own = view_of(groups, view, group);
	uint64_t length_ns = length_of(&own), longest_ns = length_of(view);
	uint64_t seen_ns = length_ns - groups_unrecorded(groups, group->hosts, &own);

	row->epoch = own.epoch;
	row->since_ns = own.start_ns;
	row->rate_per_s = seen_ns ? 1e9 * (double)row->count / (double)seen_ns : 0;
	place->idle = row->idle_wait;
	place->weight = place->idle ? 0 : metric_value(METRIC_VARIANCE, row);
	if (view->horizon == HORIZON_EPOCH && length_ns) {
		place->weight *= (double)longest_ns / (double)length_ns;
	}
}

/* Brings the cached rows up to date, and lists those that exist in their order. */
static enum status rows_update(struct groups *groups, const struct view *view,
		const struct focus *focus, struct place *places, uint32_t *n_places)
{
	struct detect_medians *medians = &groups->compared_medians;
	enum status status;
	double sum = 0;
	uint32_t n = 0;

	rows_switch(groups, view->horizon);
	memset(medians, 0, sizeof(*medians));
	for (uint32_t i = 0; i < view->n_groups; i++) {
		struct groups_row *row;

		rows_prefetch(groups, view, i);
		if (!view_has(view, groups->items[i])) {
			continue;
		}
		row = row_of(groups, view, groups->items[i]);
		if (!row) {
			return STATUS_NO_MEMORY;
		}
		places[n].index = i;
		row_set_horizon(groups, view, row, &places[n]);
		sum += places[n++].weight;
		if (!row->missing && !row->lossy && !row->idle_wait) {
			detect_medians_add(medians, groups->cache.medians[i].bin);
		}
	}
	rows_compare(groups, places, n, sum);
	*n_places = n;
	places_sort(groups, focus->metric, places, n);
	status = judge_rows(groups, view, focus, places, n);
	if (focus->metric != METRIC_VARIANCE) {
		places_sort(groups, focus->metric, places, n); /* verdicts have changed */
	}
	return status;
}

static void row_name(const struct groups *groups, struct groups_row *row, struct snapshot *snapshot)
{
	const struct group *group = groups->items[row->id - 1];

	row->type = snapshot_text(snapshot, names_text(groups->names, group->type));
	row->path = snapshot_text(snapshot, group->label);
}

static enum status fill_rows(struct groups *groups, const struct view *view,
		const struct place *places, uint32_t n, struct snapshot *snapshot)
{
	struct groups_row *rows = snapshot_alloc(snapshot, n * sizeof(*rows));
	struct groups_view *out = &snapshot->groups;

	if (!rows) {
		return STATUS_NO_MEMORY;
	}
	for (uint32_t i = 0; i < n; i++) {
		rows[i] = groups->cache.rows[places[i].index];
		row_name(groups, &rows[i], snapshot);
		out->rate_per_s += rows[i].rate_per_s;
		out->need_more += rows[i].count < ENOUGH_REQUESTS;
	}
	out->n = n;
	out->rows = rows;
	out->enough = ENOUGH_REQUESTS;
	out->folded = view->folded;
	return STATUS_OK;
}

/* Counts a slice's cells into its column. */
static void heat_count(struct group_view *out, const struct slice *slice, uint32_t column,
		uint64_t *counts, uint32_t *heat)
{
	memset(counts, 0, out->heat_rows * sizeof(*counts));
	histogram_coarsen(&slice->totals.histogram, HISTOGRAM_SHIFT_PER_8TH,
			(uint32_t)out->heat_low, out->heat_rows, counts);
	for (uint32_t row = 0; row < out->heat_rows; row++) {
		uint32_t *cell = &heat[row * out->heat_cols + column];
		uint64_t n = counts[row] + *cell;

		*cell = n < UINT32_MAX ? (uint32_t)n : UINT32_MAX;
	}
}

static void heat_name(const struct groups *groups, const struct group_view *out, uint32_t record,
		uint32_t column, uint64_t *requests)
{
	const struct request *request = groups->kept.records[record].request;
	uint32_t row;

	if (!request) {
		return;
	}
	row = (histogram_bin(request->end_ns - request->start_ns) >> HISTOGRAM_SHIFT_PER_8TH) -
	      (uint32_t)out->heat_low;
	if (row < out->heat_rows) {
		requests[row * out->heat_cols + column] = request->id;
	}
}

/* Columns are the quarters of the window; rows span what was observed in it. */
static enum status fill_heat(struct groups *groups, const struct view *window,
		const struct group *group, const struct histogram *histogram,
		struct snapshot *snapshot)
{
	static const double ends[2] = {0, 1};
	uint64_t first = window->quarter + 1 > groups->window ? window->quarter + 1 - groups->window
							      : 0;
	struct group_view *out = &snapshot->group;
	uint64_t *counts, *requests;
	uint32_t *heat, bins[2];
	size_t cells;

	out->heat_start_ns = first * QUARTER_NS;
	out->heat_cell_ns = QUARTER_NS;
	out->heat_cols = groups->window;
	if (!histogram->count) {
		return STATUS_OK;
	}
	histogram_quantiles(histogram, ends, 2, bins);
	out->heat_low = (int32_t)(bins[0] >> HISTOGRAM_SHIFT_PER_8TH);
	out->heat_rows = (bins[1] >> HISTOGRAM_SHIFT_PER_8TH) - (uint32_t)out->heat_low + 1;
	cells = (size_t)out->heat_rows * out->heat_cols;
	heat = snapshot_alloc(snapshot, cells * sizeof(*heat));
	requests = snapshot_alloc(snapshot, cells * sizeof(*requests));
	counts = snapshot_alloc(snapshot, out->heat_rows * sizeof(*counts));
	if (!heat || !requests || !counts) {
		out->heat_rows = 0;
		return STATUS_NO_MEMORY;
	}
	for (const struct slice *slice = group->oldest; slice; slice = slice->newer) {
		uint32_t column = (uint32_t)(slice->quarter - first), record;

		if (!view_in_window(groups, window, slice)) {
			continue;
		}
		heat_count(out, slice, column, counts, heat);
		for (record = slice->kept; record;
				record = groups->kept.records[record].next_of_slice) {
			heat_name(groups, out, record, column, requests);
		}
		if (slice->slowest.record) {
			heat_name(groups, out, slice->slowest.record, column, requests);
		}
	}
	out->heat = heat;
	out->heat_request = requests;
	return STATUS_OK;
}

static enum status fill_histogram(const struct histogram *histogram, struct snapshot *snapshot)
{
	static const double ends[2] = {0, 1};
	struct group_view *out = &snapshot->group;
	uint64_t *counts;
	uint32_t bins[2];

	if (!histogram->count) {
		return STATUS_OK;
	}
	histogram_quantiles(histogram, ends, 2, bins);
	out->histogram_low = (int32_t)(bins[0] >> HISTOGRAM_SHIFT_PER_16TH);
	out->histogram_bins =
			(bins[1] >> HISTOGRAM_SHIFT_PER_16TH) - (uint32_t)out->histogram_low + 1;
	counts = snapshot_alloc(snapshot, out->histogram_bins * sizeof(*counts));
	if (!counts) {
		out->histogram_bins = 0;
		return STATUS_NO_MEMORY;
	}
	histogram_coarsen(histogram, HISTOGRAM_SHIFT_PER_16TH, (uint32_t)out->histogram_low,
			out->histogram_bins, counts);
	out->histogram = counts;
	return STATUS_OK;
}

static void request_list(const struct request *request, struct group_request *out)
{
	out->id = request->id;
	out->start_ns = request->start_ns;
	out->duration_ns = request->end_ns - request->start_ns;
	out->state = request->state;
	out->tainted = request->tainted;
	out->failed = request_failed(request);
	out->spans = request->n_spans;
	out->hosts = request->n_hosts;
}

static enum status fill_requests(struct groups *groups, const struct view *view,
		const struct group *group, struct snapshot *snapshot)
{
	uint32_t newest = kept_newest_of(&groups->kept, group->index), n = 0;
	struct group_request *list;

	for (uint32_t record = newest; record; record = kept_older_of(&groups->kept, record)) {
		n += view_shows_request(groups, view, groups->kept.records[record].request);
	}
	list = snapshot_alloc(snapshot, n * sizeof(*list));
	if (!list) {
		return STATUS_NO_MEMORY;
	}
	snapshot->group.requests = list;
	snapshot->group.n_requests = n;
	for (uint32_t record = newest; record; record = kept_older_of(&groups->kept, record)) {
		const struct request *request = groups->kept.records[record].request;

		if (view_shows_request(groups, view, request)) {
			request_list(request, list++);
		}
	}
	return STATUS_OK;
}

static uint64_t distance(uint64_t a, uint64_t b)
{
	return a > b ? a - b : b - a;
}

/* Of kept ones, the newest of those nearest to the median of the horizon. */
static uint64_t median_request(
		struct groups *groups, const struct view *view, const struct group *group)
{
	uint64_t median_ns = groups->cache.rows[group->index].p50_ns, nearest = UINT64_MAX, id = 0;
	struct view own = view_of(groups, view, group);
	uint32_t record = kept_newest_of(&groups->kept, group->index);

	for (; record; record = kept_older_of(&groups->kept, record)) {
		const struct request *request = groups->kept.records[record].request;
		uint64_t off = distance(request->end_ns - request->start_ns, median_ns);

		if (request->state == REQUEST_COMPLETE && !request->tainted && off < nearest &&
				view_shows_request(groups, &own, request)) {
			nearest = off;
			id = request->id;
		}
	}
	return id;
}

uint64_t groups_median_request(
		struct groups *groups, const struct focus *focus, uint64_t at_ns, uint32_t id)
{
	struct view view = view_at(groups, focus->horizon, at_ns);

	if (!id || id > view.n_groups || !view_has(&view, groups->items[id - 1])) {
		return 0;
	}
	rows_switch(groups, view.horizon);
	return row_of(groups, &view, groups->items[id - 1])
			       ? median_request(groups, &view, groups->items[id - 1])
			       : 0;
}

static enum status fill_group(struct groups *groups, const struct view *view,
		const struct group *group, struct snapshot *snapshot)
{
	struct view window = view_at(groups, HORIZON_WINDOW, view->at_ns);
	struct group_view *out = &snapshot->group;
	const struct totals *totals;
	enum status status;
	uint64_t all;

	out->id = group->index + 1;
	out->row = groups->cache.rows[group->index];
	row_name(groups, &out->row, snapshot);
	totals = view_totals(groups, &window, group);
	if (!totals) {
		return STATUS_NO_MEMORY;
	}
	all = totals->moments.count + totals->tainted + totals->partial;
	out->sampled_share = all ? (double)totals->sampled / (double)all : 0;
	status = fill_heat(groups, &window, group, &totals->histogram, snapshot);
	if (status != STATUS_OK) {
		return status;
	}
	totals = view_totals(groups, view, group);
	status = totals ? fill_histogram(&totals->histogram, snapshot) : STATUS_NO_MEMORY;
	if (status == STATUS_OK) {
		struct view own = view_of(groups, view, group);

		status = fill_requests(groups, &own, group, snapshot);
	}
	out->median_request = median_request(groups, view, group);
	return status == STATUS_OK ? fill_location(groups, view, group, snapshot, &out->location)
				   : status;
}

/* Where each group varies, and its tree: in the order of the rows. */
static enum status fill_locations(struct groups *groups, const struct view *view,
		const struct place *places, uint32_t n, struct snapshot *snapshot)
{
	struct group_location *locations = snapshot_alloc(snapshot, n * sizeof(*locations));
	struct tree_view *trees = snapshot_alloc(snapshot, n * sizeof(*trees));
	enum status status = locations && trees ? STATUS_OK : STATUS_NO_MEMORY;

	for (uint32_t i = 0; status == STATUS_OK && i < n; i++) {
		const struct group *group = groups->items[places[i].index];

		status = fill_location(groups, view, group, snapshot, &locations[i]);
		if (status == STATUS_OK) {
			status = fill_tree(groups, view, group, snapshot, &trees[i]);
		}
	}
	snapshot->groups.locations = locations;
	snapshot->groups.trees = trees;
	return status;
}

/* The slowest of the horizon; else of what the group ever had; else the newest, of any state. */
static uint64_t default_request(
		struct groups *groups, const struct view *view, const struct group *group)
{
	struct view all = *view;
	uint64_t id = groups->cache.rows[group->index].worst_request;
	uint32_t newest = kept_newest_of(&groups->kept, group->index);

	if (!id) {
		all.horizon = HORIZON_ALL;
		id = view_slowest(groups, &all, group);
	}
	return id || !newest ? id : groups->kept.records[newest].id;
}

/* Epochs of groups differ: that of the one in focus, or from the youngest to the oldest. */
static void fill_horizon(const struct groups *groups, const struct view *view,
		const struct focus *focus, const struct group *group, struct snapshot *snapshot)
{
	bool one = group && !(focus->parts & FOCUS_GROUPS) && !focus->tree_of_all;
	uint64_t shortest_ns = UINT64_MAX, longest_ns = 0;

	for (uint32_t i = 0; i < view->n_groups; i++) {
		struct view own = view_of(groups, view, groups->items[i]);
		uint64_t length_ns = length_of(&own);

		if ((one && groups->items[i] != group) || !view_has(view, groups->items[i])) {
			continue;
		}
		shortest_ns = length_ns < shortest_ns ? length_ns : shortest_ns;
		longest_ns = length_ns > longest_ns ? length_ns : longest_ns;
	}
	if (shortest_ns <= longest_ns) {
		snapshot->horizon_ns = shortest_ns;
		snapshot->horizon_longest_ns = longest_ns;
	}
}

enum status groups_fill(struct groups *groups, const struct focus *focus, uint64_t at_ns,
		struct snapshot *snapshot)
{
	struct place *places;
	enum status status = STATUS_OK;
	const struct group *group = NULL;
	struct view view;
	uint32_t n = 0, id = focus->group_id;

	label_again(groups);
	if (!groups->pin.on && groups->started) {
		groups_advance(groups, at_ns);
	}
	view = view_at(groups, focus->horizon, at_ns);
	snapshot->window_ns = groups->window * QUARTER_NS;
	snapshot->horizon_ns = snapshot->horizon_longest_ns = length_of(&view);
	snapshot->pinned = view.pinned;
	snapshot->pin_trimmed = view.pinned && groups->pin.trimmed;
	if (!(focus->parts & (FOCUS_GROUPS | FOCUS_GROUP | FOCUS_REQUEST | FOCUS_TREE))) {
		return STATUS_OK;
	}
	places = snapshot_alloc(snapshot, (view.n_groups + 1) * sizeof(*places));
	if (!places) {
		return STATUS_NO_MEMORY;
	}
	status = rows_update(groups, &view, focus, places, &n);
	if (status == STATUS_OK && (focus->parts & FOCUS_GROUPS)) {
		status = fill_rows(groups, &view, places, n, snapshot);
	}
	if (status == STATUS_OK && (focus->parts & FOCUS_GROUPS) && (focus->parts & FOCUS_LOCATE)) {
		status = fill_locations(groups, &view, places, n, snapshot);
	}
	if (!id && n) {
		id = places[0].index + 1;
	}
	if (id && id <= view.n_groups && view_has(&view, groups->items[id - 1])) {
		group = groups->items[id - 1];
	}
	fill_horizon(groups, &view, focus, group, snapshot);
	snapshot->focus.group_id = id;
	snapshot->focus.request_id = focus->request_id;
	if (group && !focus->request_id) {
		snapshot->focus.request_id = default_request(groups, &view, group);
	}
	if (status == STATUS_OK && group && (focus->parts & FOCUS_GROUP)) {
		status = fill_group(groups, &view, group, snapshot);
	}
	if (status == STATUS_OK && (focus->parts & FOCUS_TREE)) {
		if (focus->tree_of_all) {
			status = fill_tree_of_all(groups, &view, snapshot, &snapshot->tree);
		} else if (group) {
			status = fill_tree(groups, &view, group, snapshot, &snapshot->tree);
		}
	}
	return status;
}
