/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "output/formats.h"
#include "output/json_out.h"
#include "pythiatop/snapshot/fields.h"

/*
 * Groups, where they vary, and their calling contexts as JSON. What was not measured, or is not
 * said yet, is null.
 */

static void flags(struct json_out *json, uint32_t detection)
{
	uint32_t i;

	json_out_open(json, "flags", '[');
	for (i = 0; i < OUTPUT_DETECTIONS; i++) {
		if (detection & 1u << i) {
			json_out_value(json, NULL, value_text(output_detections[i]));
		}
	}
	json_out_close(json, ']');
}

static void modes(struct json_out *json, const struct groups_row *row)
{
	uint32_t i;

	json_out_open(json, "modes", '[');
	for (i = 0; i < row->n_modes && i < GROUPS_MAX_MODES; i++) {
		const struct groups_mode *mode = &row->modes[i];

		JSON_OUT_ROW(json, {"peak_ns", value_count(mode->peak_ns)},
				{"low_ns", value_count(mode->low_ns)},
				{"high_ns", value_count(mode->high_ns)},
				{"share", value_real_if(true, mode->share)});
	}
	json_out_close(json, ']');
}

static void detection(struct json_out *json, const struct groups_row *row)
{
	bool said = groups_row_is_judged(row);

	json_out_open(json, "detection", '{');
	if (said) {
		flags(json, row->detection);
	} else {
		json_out_value(json, "flags", value_null());
	}
	json_out_fields(json, group_fields, FIELD_GROUP_MISSING, FIELD_GROUP_COV_LOW, row);
	if (said) {
		modes(json, row);
	} else {
		json_out_value(json, "modes", value_null());
	}
	json_out_fields(json, group_fields, FIELD_GROUP_TAIL, FIELD_GROUP_SHIFT, row);
	json_out_close(json, '}');
}

static void segments(struct json_out *json, const struct group_location *location)
{
	uint32_t i;

	json_out_open(json, "segments", '[');
	for (i = 0; i < location->n_segments; i++) {
		json_out_row(json, segment_fields, N_SEGMENT_FIELDS, &location->segments[i]);
	}
	json_out_close(json, ']');
}

/* Pairs name their segments by id. */
static void pairs(struct json_out *json, const struct group_location *location)
{
	uint32_t i;

	json_out_open(json, "pairs", '[');
	for (i = 0; i < location->n_pairs; i++) {
		const struct group_pair *pair = &location->pairs[i];

		JSON_OUT_ROW(json, {"a", value_count(location->segments[pair->a].context)},
				{"b", value_count(location->segments[pair->b].context)},
				{"share", value_real_if(true, pair->share)},
				{"correlation", value_real_if(true, pair->correlation)});
	}
	json_out_close(json, ']');
}

static void location(struct json_out *json, const struct group_location *location)
{
	bool located = location->located;

	json_out_open(json, "location", '{');
	JSON_OUT_MEMBERS(json, {"located", value_flag(located)},
			{"missing", value_count(location->missing)},
			{"requests", value_count_if(located, location->requests)},
			{"sampled_share", value_real_if(located, location->sampled_share)},
			{"sample_sd_ns", value_real_if(located, location->sample_sd_ns)},
			{"unlike", located ? value_flag(location->unlike) : value_null()},
			{"skewed", value_count_if(located, location->skewed)},
			{"first_component", value_real_if(located, location->first_component)},
			{"common_cause", located ? value_flag(location->common_cause)
						 : value_null()});
	json_out_close(json, '}');
}

void output_json_holders(struct json_out *json, const struct group_holder *holders, uint32_t n)
{
	json_out_open(json, "holders", '[');
	for (uint32_t i = 0; i < n; i++) {
		const struct group_holder *holder = &holders[i];

		JSON_OUT_ROW(json, {"name", value_text(holder->name)},
				{"provider", value_text(holder->provider)},
				{"type", value_text(holder->type)},
				{"process", value_text(holder->process)},
				{"pid", value_count_if(holder->pid > 0, (uint64_t)holder->pid)},
				{"tid", value_count_if(holder->tid > 0, (uint64_t)holder->tid)},
				{"share", value_real_if(true, holder->share)},
				{"of_variation", value_real_if(true, holder->of_variation)},
				{"waits", value_count(holder->waits)},
				{"interrupt", value_text(interrupt_kind_name(holder->interrupt))},
				{"idle", value_flag(holder->idle)},
				{"child", value_flag(holder->child)},
				{"made_in", value_text(holder->made_in)},
				{"same_place", value_flag(holder->same_place)});
	}
	json_out_close(json, ']');
}

static void waits(struct json_out *json, const struct group_waits *all)
{
	if (!all || !all->told) {
		json_out_value(json, "waits", value_null());
		return;
	}
	json_out_open(json, "waits", '[');
	for (uint32_t i = 0; i < all->n; i++) {
		const struct group_wait *wait = &all->items[i];
		bool inferred = wait->evidence == WAIT_INFERRED;

		json_out_open(json, NULL, '{');
		JSON_OUT_MEMBERS(json, {"id", value_count(wait->context)},
				{"context", value_text(wait->name)},
				{"where", value_text(wait->where)},
				{"what", value_text(wait->what)},
				{"evidence", value_text(output_evidence[wait->evidence])},
				{"requests", value_count(all->requests)},
				{"waits", value_count(wait->waits)},
				{"known", value_count(wait->known)},
				{"mean_ns", value_real_if(true, wait->mean_ns)},
				{"ends_with", value_text(wait->ends_with)},
				{"fits", value_real_if(inferred, wait->fits)},
				{"fits_low", value_real_if(inferred, wait->fits_low)},
				{"fits_high", value_real_if(inferred, wait->fits_high)},
				{"chance", value_real_if(inferred, wait->chance)});
		output_json_holders(json, wait->holders, wait->n);
		json_out_close(json, '}');
	}
	json_out_close(json, ']');
}

void output_json_group(struct json_out *json, const struct groups_view *groups, uint32_t i)
{
	const struct groups_row *row = &groups->rows[i];
	const struct group_location *where = groups->locations ? &groups->locations[i] : NULL;
	bool located = where && where->located;

	json_out_open(json, NULL, '{');
	json_out_fields(json, group_fields, FIELD_GROUP_ID, FIELD_GROUP_SHARE, row);
	detection(json, row);
	if (where) {
		location(json, where);
	} else {
		json_out_value(json, "location", value_null());
	}
	if (located) {
		segments(json, where);
		pairs(json, where);
	} else {
		JSON_OUT_MEMBERS(json, {"segments", value_null()}, {"pairs", value_null()});
	}
	waits(json, groups->waits ? &groups->waits[i] : NULL);
	json_out_close(json, '}');
}

/* --- calling contexts --- */

static void context(struct json_out *json, const struct tree_view *tree, const struct tree_row *row)
{
	bool known = row->mark != TREE_NO_POINT;
	bool located = tree->located && !tree->all;

	JSON_OUT_ROW(json, {"id", value_count(row->context)}, {"context", value_text(row->name)},
			{"provider", value_name(row->provider)},
			{"parent", value_count_if(row->parent != UINT32_MAX, row->parent)},
			{"depth", value_count(row->depth)},
			{"point", known ? value_text(output_mark_name(row->mark)) : value_null()},
			{"count", value_count_if(known, row->count)},
			{"requests", value_count_if(known, row->requests)},
			{"failed", value_count_if(known, row->failed)},
			{"failed_low", value_real_if(row->count > 0, row->failed_low)},
			{"failed_high", value_real_if(row->count > 0, row->failed_high)},
			{"total_ns", value_real_if(known, row->total_ns)},
			{"self_ns", value_real_if(known, row->self_ns)},
			{"mean_ns", value_real_if(row->count > 0, row->mean_ns)},
			{"sd_ns", value_real_if(row->count > 1, row->sd_ns)},
			{"segment_mean_ns", value_real_if(located, row->segment_mean_ns)},
			{"segment_sd_ns", value_real_if(located, row->segment_sd_ns)},
			{"phi", value_real_if(located, row->phi)},
			{"phi_low", value_real_if(located, row->phi_low)},
			{"phi_high", value_real_if(located, row->phi_high)},
			{"phi_below", value_real_if(located, row->phi_below)},
			{"tail_share", value_real_if(located, row->tail_share)});
}

/* Rows are depth first, so that the parents of those taken are taken. */
static void tree(struct json_out *json, const struct tree_view *view, uint32_t *room)
{
	uint32_t i, n = view->n < OUTPUT_TREE_ROWS ? view->n : OUTPUT_TREE_ROWS;

	n = n < *room ? n : *room;
	*room -= n;
	json_out_open(json, NULL, '{');
	JSON_OUT_MEMBERS(json, {"group", view->all ? value_null() : value_count(view->group_id)},
			{"type", value_name(view->type)}, {"path", value_name(view->path)},
			{"requests", value_count(view->requests)},
			{"counted", value_count_if(!view->all, view->counted)},
			{"sampled_share", value_real_if(view->requests > 0, view->sampled_share)},
			{"located", value_flag(view->located && !view->all)},
			{"missing", value_count_if(!view->all, view->missing)},
			{"lossy", value_flag(view->lossy)},
			{"max_depth", value_count(view->max_depth)},
			{"folded_spans", value_count(view->folded_spans)});
	json_out_open(json, "rows", '[');
	for (i = 0; i < n; i++) {
		context(json, view, &view->rows[i]);
	}
	json_out_close(json, ']');
	json_out_value(json, "left_out", value_count(view->n - n));
	json_out_close(json, '}');
}

void output_json_contexts(struct json_out *json, const struct snapshot *snapshot)
{
	uint32_t i, room = OUTPUT_ROWS;

	json_out_open(json, "contexts", '[');
	if (snapshot->tree.all && snapshot->tree.n > 0) {
		tree(json, &snapshot->tree, &room);
	}
	for (i = 0; snapshot->groups.trees && i < snapshot->groups.n; i++) {
		tree(json, &snapshot->groups.trees[i], &room);
	}
	json_out_close(json, ']');
}
