/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <jansson.h>
#include <math.h>

#include "output/formats.h"
#include "output/json_values.h"
#include "pythiatop/text.h"

/*
 * Significant digits of a real number: more than any statistic here is worth, few enough that the
 * last bits of a sum do not show.
 */
#define DIGITS 12

json_t *json_text(const char *value)
{
	char safe[4096];

	/* JSON needs UTF-8; what a trace holds need not be. */
	text_escape(safe, sizeof(safe), value ? value : "");
	return json_string(safe);
}

json_t *json_count(uint64_t value)
{
	return json_integer(value > INT64_MAX ? INT64_MAX : (json_int_t)value);
}

json_t *json_count_if(bool valid, uint64_t value)
{
	return valid ? json_count(value) : json_null();
}

json_t *json_real_if(bool valid, double value)
{
	return valid && isfinite(value) ? json_real(value) : json_null();
}

json_t *json_name(const char *value)
{
	return value && value[0] ? json_text(value) : json_null();
}

json_t *json_object_of(const struct json_member *members, size_t n)
{
	json_t *object = json_object();
	size_t i;

	for (i = 0; i < n; i++) {
		/* A reference to a missing value is taken, too, so the rest must go on. */
		if (json_object_set_new(object, members[i].name, members[i].value) != 0) {
			json_decref(object);
			object = NULL;
		}
	}
	return object;
}

static json_t *source(const struct source_row *row)
{
	return json_pack("{so so so so so so so so so so so so so so}", "url", json_text(row->url),
			"host", json_text(row->host), "session", json_text(row->session), "state",
			json_text(output_source_state_name(row->state)), "detail",
			json_text(row->detail), "events", json_count(row->events), "discarded",
			json_count(row->discarded), "discarded_packets",
			json_count(row->discarded_packets), "late", json_count(row->late),
			"duplicates", json_count(row->duplicates), "events_per_s",
			json_real_if(true, row->events_per_s), "lag_ns",
			json_count_if(row->live && row->events > 0, row->lag_ns), "gaps",
			json_count(row->gaps), "streams", json_count(row->n_streams));
}

static json_t *accounting(const struct accounting *a)
{
	return json_pack("{so so so so so so so}", "in", json_count(a->in), "pending",
			json_count(a->pending), "in_request", json_count(a->in_request),
			"state_only", json_count(a->state_only), "unmatched",
			json_count(a->unmatched), "late", json_count(a->late), "dropped",
			json_count(a->dropped));
}

static json_t *unmatched(const struct unmatched_row *row)
{
	return json_pack("{so so so so so}", "event", json_text(row->event), "total",
			json_count(row->total), "unmatched", json_count(row->unmatched), "why",
			json_text(row->why), "role", json_text(row->role));
}

#define ARRAY(array, view, convert)                                                                \
	do {                                                                                       \
		uint32_t i_;                                                                       \
		for (i_ = 0; i_ < (view).n; i_++) {                                                \
			json_array_append_new(array, convert(&(view).rows[i_]));                   \
		}                                                                                  \
	} while (0)

enum status output_json(FILE *out, const struct snapshot *snapshot)
{
	json_t *sources = json_array();
	json_t *groups = json_array();
	json_t *without = json_array();
	json_t *document;
	uint32_t i;
	int failed;

	ARRAY(sources, snapshot->sources, source);
	for (i = 0; i < snapshot->groups.n; i++) {
		json_array_append_new(groups, output_json_group(&snapshot->groups, i));
	}
	ARRAY(without, snapshot->unmatched, unmatched);
	document = json_pack("{ss so ss ss so so so so so so so so so so}", "schema", "pythiatop/1",
			"time_ns", json_count(snapshot->time_ns), "horizon",
			output_horizon_name(snapshot->focus.horizon), "metric",
			output_metric_name(snapshot->focus.metric), "horizon_ns",
			json_count(snapshot->horizon_ns), "events_per_s",
			json_real_if(true, snapshot->events_per_s), "discarded",
			json_count(snapshot->discarded), "folded",
			json_count(snapshot->groups.folded), "sources", sources, "accounting",
			accounting(&snapshot->accounting), "groups", groups, "contexts",
			output_json_contexts(snapshot), "unmatched", without, "state",
			output_json_state(&snapshot->state));
	if (!document) {
		return STATUS_NO_MEMORY;
	}
	failed = json_dumpf(document, out, JSON_COMPACT | JSON_REAL_PRECISION(DIGITS));
	json_decref(document);
	if (failed || fputc('\n', out) == EOF) {
		return STATUS_IO;
	}
	return STATUS_OK;
}
