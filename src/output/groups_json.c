/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "output/json_values.h"
#include "output/names.h"

/*
 * Groups, where they vary, and their calling contexts as JSON. What was not measured, or is not
 * said yet, is null.
 */

static json_t *flags(uint32_t detection)
{
	json_t *array = json_array();
	uint32_t i;

	for (i = 0; i < OUTPUT_DETECTIONS; i++) {
		if (detection & 1u << i) {
			json_array_append_new(array, json_string(output_detections[i]));
		}
	}
	return array;
}

static json_t *modes(const struct groups_row *row)
{
	json_t *array = json_array();
	uint32_t i;

	for (i = 0; i < row->n_modes && i < GROUPS_MAX_MODES; i++) {
		const struct groups_mode *mode = &row->modes[i];

		json_array_append_new(
				array, OBJECT({"peak_ns", json_count(mode->peak_ns)},
						       {"low_ns", json_count(mode->low_ns)},
						       {"high_ns", json_count(mode->high_ns)},
						       {"share", json_real_if(true, mode->share)}));
	}
	return array;
}

static json_t *detection(const struct groups_row *row)
{
	bool said = row->missing == 0 && !row->lossy;

	return OBJECT({"flags", said ? flags(row->detection) : json_null()},
			{"missing", json_count(row->missing)}, {"lossy", json_boolean(row->lossy)},
			{"cov_low", json_real_if(said && row->count > 1, row->cov_low)},
			{"modes", said ? modes(row) : json_null()},
			{"tail_ratio", json_real_if(row->count > 0, row->tail_ratio)},
			{"objective_ns", json_count_if(said && row->objective_ns,
							 row->objective_ns)},
			{"shift", json_real_if(said && row->shift > 0, row->shift)});
}

static json_t *segments(const struct group_location *location)
{
	json_t *array = json_array();
	uint32_t i;

	for (i = 0; i < location->n_segments; i++) {
		const struct group_segment *segment = &location->segments[i];

		json_array_append_new(array,
				OBJECT({"id", json_count(segment->context)},
						{"context", json_text(segment->name)},
						{"where", json_text(segment->where)},
						{"mean_ns", json_real_if(true, segment->mean_ns)},
						{"sd_ns", json_real_if(true, segment->sd_ns)},
						{"phi", json_real_if(true, segment->phi)},
						{"phi_low", json_real_if(true, segment->phi_low)},
						{"phi_high", json_real_if(true, segment->phi_high)},
						{"tail_share", json_real_if(true,
									       segment->tail_share)},
						{"disagrees", json_boolean(segment->disagrees)}));
	}
	return array;
}

/* Pairs name their segments by id. */
static json_t *pairs(const struct group_location *location)
{
	json_t *array = json_array();
	uint32_t i;

	for (i = 0; i < location->n_pairs; i++) {
		const struct group_pair *pair = &location->pairs[i];

		json_array_append_new(array,
				OBJECT({"a", json_count(location->segments[pair->a].context)},
						{"b", json_count(location->segments[pair->b]
										      .context)},
						{"share", json_real_if(true, pair->share)},
						{"correlation", json_real_if(true,
										pair->correlation)}));
	}
	return array;
}

static json_t *location(const struct group_location *location)
{
	bool located = location->located;

	return OBJECT({"located", json_boolean(located)},
			{"missing", json_count(location->missing)},
			{"requests", json_count_if(located, location->requests)},
			{"skewed", json_count_if(located, location->skewed)},
			{"first_component", json_real_if(located, location->first_component)},
			{"common_cause", located ? json_boolean(location->common_cause)
						 : json_null()});
}

json_t *output_json_group(const struct groups_view *groups, uint32_t i)
{
	const struct groups_row *row = &groups->rows[i];
	const struct group_location *where = groups->locations ? &groups->locations[i] : NULL;
	bool some = row->count > 0;
	bool more = row->count > 1;
	bool located = where && where->located;

	return OBJECT({"id", json_count(row->id)}, {"type", json_text(row->type)},
			{"path", json_text(row->path)}, {"count", json_count(row->count)},
			{"tainted", json_count(row->tainted)},
			{"partial", json_count(row->partial)},
			{"rate_per_s", json_real_if(true, row->rate_per_s)},
			{"mean_ns", json_real_if(some, row->mean_ns)},
			{"sd_ns", json_real_if(more, row->sd_ns)},
			{"cov", json_real_if(more && row->mean_ns > 0, row->cov)},
			{"min_ns", json_count_if(some, row->min_ns)},
			{"max_ns", json_count_if(some, row->max_ns)},
			{"p50_ns", json_count_if(some, row->p50_ns)},
			{"p95_ns", json_count_if(some, row->p95_ns)},
			{"p99_ns", json_count_if(some, row->p99_ns)},
			{"variation_share", json_real_if(more, row->variation_share)},
			{"detection", detection(row)},
			{"location", where ? location(where) : json_null()},
			{"segments", located ? segments(where) : json_null()},
			{"pairs", located ? pairs(where) : json_null()});
}

/* --- calling contexts --- */

static json_t *context(const struct tree_view *tree, const struct tree_row *row)
{
	bool known = row->mark != TREE_NO_POINT;
	bool located = tree->located && !tree->all;

	return OBJECT({"id", json_count(row->context)}, {"context", json_text(row->name)},
			{"provider", json_name(row->provider)},
			{"parent", json_count_if(row->parent != UINT32_MAX, row->parent)},
			{"depth", json_count(row->depth)},
			{"point", known ? json_string(output_mark_name(row->mark)) : json_null()},
			{"count", json_count_if(known, row->count)},
			{"requests", json_count_if(known, row->requests)},
			{"total_ns", json_real_if(known, row->total_ns)},
			{"self_ns", json_real_if(known, row->self_ns)},
			{"mean_ns", json_real_if(row->count > 0, row->mean_ns)},
			{"sd_ns", json_real_if(row->count > 1, row->sd_ns)},
			{"segment_mean_ns", json_real_if(located, row->segment_mean_ns)},
			{"segment_sd_ns", json_real_if(located, row->segment_sd_ns)},
			{"phi", json_real_if(located, row->phi)},
			{"phi_low", json_real_if(located, row->phi_low)},
			{"phi_high", json_real_if(located, row->phi_high)},
			{"phi_below", json_real_if(located, row->phi_below)},
			{"tail_share", json_real_if(located, row->tail_share)});
}

/* Rows are depth first, so that the parents of those taken are taken. */
static json_t *tree(const struct tree_view *view, uint32_t *room)
{
	uint32_t i, n = view->n < OUTPUT_TREE_ROWS ? view->n : OUTPUT_TREE_ROWS;
	json_t *rows = json_array();

	n = n < *room ? n : *room;
	*room -= n;
	for (i = 0; i < n; i++) {
		json_array_append_new(rows, context(view, &view->rows[i]));
	}
	return OBJECT({"group", view->all ? json_null() : json_count(view->group_id)},
			{"type", json_name(view->type)}, {"path", json_name(view->path)},
			{"requests", json_count(view->requests)},
			{"counted", json_count_if(!view->all, view->counted)},
			{"sampled_share", json_real_if(view->requests > 0, view->sampled_share)},
			{"located", json_boolean(view->located && !view->all)},
			{"missing", json_count_if(!view->all, view->missing)},
			{"lossy", json_boolean(view->lossy)},
			{"max_depth", json_count(view->max_depth)},
			{"folded_spans", json_count(view->folded_spans)}, {"rows", rows},
			{"left_out", json_count(view->n - n)});
}

json_t *output_json_contexts(const struct snapshot *snapshot)
{
	uint32_t i, room = OUTPUT_ROWS;
	json_t *array = json_array();

	if (snapshot->tree.all && snapshot->tree.n > 0) {
		json_array_append_new(array, tree(&snapshot->tree, &room));
	}
	for (i = 0; snapshot->groups.trees && i < snapshot->groups.n; i++) {
		json_array_append_new(array, tree(&snapshot->groups.trees[i], &room));
	}
	return array;
}
