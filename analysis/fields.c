/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "pythiatop/snapshot/fields.h"
#include "pythiatop/snapshot/changes.h"
#include "pythiatop/snapshot/group.h"
#include "pythiatop/snapshot/sources.h"
#include "pythiatop/snapshot/unmatched.h"
#include "row_fields.h"

/* --- when a figure is known ------------------------------------------------------------------- */

KNOWN(group_has_one, groups_row, row->count > 0)
KNOWN(group_has_ended, groups_row, row->ended > 0)
KNOWN(group_has_two, groups_row, row->count > 1)
KNOWN(group_has_cov, groups_row, row->count > 1 && row->mean_ns > 0)
KNOWN(group_has_cov_low, groups_row, groups_row_is_judged(row) && row->count > 1)
KNOWN(group_has_objective, groups_row, groups_row_is_judged(row) && row->objective_ns > 0)
KNOWN(group_has_shift, groups_row, groups_row_is_judged(row) && row->shift > 0)
KNOWN(group_has_modes, groups_row, groups_row_is_judged(row) && row->n_modes > 0)
KNOWN(source_has_lag, source_row, row->live && row->events > 0)
KNOWN(source_has_viewers, source_row, row->live && !row->is_relay)
KNOWN(source_has_timer, source_row, row->live_timer_us > 0)
KNOWN(stream_has_cpu, source_stream, row->cpu != UINT32_MAX)
KNOWN(change_has_group, change_row, row->group_id > 0)
KNOWN(change_has_since, change_row, row->since_ns > 0)
KNOWN(change_knows_path, change_row, !row->path_unknown)
KNOWN(type_has_group, change_type, row->group_id > 0)
KNOWN(type_was_complete, change_type, row->mean_ns[0] > 0)
KNOWN(type_is_complete, change_type, row->mean_ns[1] > 0)

/* --- what is derived -------------------------------------------------------------------------- */

DERIVED(group_left_out, groups_row, row_count(row->tainted + row->partial))
DERIVED(group_failed_share, groups_row, row_ratio(row->failed, row->ended))
DERIVED(source_state_text, source_row, row_text(source_state_name(row->state)))
DERIVED(source_timer_ns, source_row, row_count(row->live_timer_us * 1000))

/* By how much more time a second the type takes; it has to be on both sides. */
static struct row_value type_added(const void *of)
{
	const struct change_type *row = of;

	return (struct row_value){.kind = ROW_IS_REAL,
			.known = row->mean_ns[0] > 0 && row->mean_ns[1] > 0,
			.real = (row->mean_ns[1] - row->mean_ns[0]) * row->rate_per_s[1]};
}

/* --- the tables ------------------------------------------------------------------------------- */

#define X(...) FIELD_OF(groups_row, __VA_ARGS__)
const struct row_field group_fields[] = {ROW_GROUP_FIELDS(X)};
#undef X
#define X(...) FIELD_OF(group_segment, __VA_ARGS__)
const struct row_field segment_fields[] = {ROW_SEGMENT_FIELDS(X)};
#undef X
#define X(...) FIELD_OF(group_request, __VA_ARGS__)
const struct row_field kept_fields[] = {ROW_KEPT_FIELDS(X)};
#undef X
#define X(...) FIELD_OF(source_row, __VA_ARGS__)
const struct row_field source_fields[] = {ROW_SOURCE_FIELDS(X)};
#undef X
#define X(...) FIELD_OF(source_stream, __VA_ARGS__)
const struct row_field stream_fields[] = {ROW_STREAM_FIELDS(X)};
#undef X
#define X(...) FIELD_OF(unmatched_row, __VA_ARGS__)
const struct row_field unmatched_fields[] = {ROW_UNMATCHED_FIELDS(X)};
#undef X
#define X(...) FIELD_OF(change_row, __VA_ARGS__)
const struct row_field change_fields[] = {ROW_CHANGE_FIELDS(X)};
#undef X
#define X(...) FIELD_OF(change_type, __VA_ARGS__)
const struct row_field change_type_fields[] = {ROW_TYPE_FIELDS(X)};
#undef X
