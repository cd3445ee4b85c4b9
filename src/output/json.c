/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <jansson.h>
#include <math.h>

#include "output/formats.h"
#include "pythiatop/text.h"

/*
 * Significant digits of a real number: more than any statistic here is worth, few enough that the
 * last bits of a sum do not show.
 */
#define DIGITS 12

static json_t *text(const char *value)
{
	char safe[4096];

	/* JSON needs UTF-8; what a trace holds need not be. */
	text_escape(safe, sizeof(safe), value ? value : "");
	return json_string(safe);
}

static json_t *count(uint64_t value)
{
	return json_integer(value > INT64_MAX ? INT64_MAX : (json_int_t)value);
}

static json_t *count_if(bool valid, uint64_t value)
{
	return valid ? count(value) : json_null();
}

static json_t *real_if(bool valid, double value)
{
	return valid && isfinite(value) ? json_real(value) : json_null();
}

static json_t *source(const struct source_row *row)
{
	return json_pack("{so so so so so so so so so so so so so so}", "url", text(row->url),
	                "host", text(row->host), "session", text(row->session), "state",
	                text(output_source_state_name(row->state)), "detail", text(row->detail),
	                "events", count(row->events), "discarded", count(row->discarded),
	                "discarded_packets", count(row->discarded_packets), "late",
	                count(row->late), "duplicates", count(row->duplicates), "events_per_s",
	                real_if(true, row->events_per_s), "lag_ns",
	                count_if(row->live && row->events > 0, row->lag_ns), "gaps",
	                count(row->gaps), "streams", count(row->n_streams));
}

static json_t *accounting(const struct accounting *a)
{
	return json_pack("{so so so so so so so}", "in", count(a->in), "pending", count(a->pending),
	                "in_request", count(a->in_request), "state_only", count(a->state_only),
	                "unmatched", count(a->unmatched), "late", count(a->late), "dropped",
	                count(a->dropped));
}

static json_t *group(const struct groups_row *row)
{
	bool some = row->count > 0;
	bool more = row->count > 1;

	return json_pack("{so so so so so so so so so so so so so so so so}", "id", count(row->id),
	                "type", text(row->type), "path", text(row->path), "count",
	                count(row->count), "tainted", count(row->tainted), "partial",
	                count(row->partial), "rate_per_s", real_if(true, row->rate_per_s),
	                "mean_ns", real_if(some, row->mean_ns), "sd_ns", real_if(more, row->sd_ns),
	                "cov", real_if(more && row->mean_ns > 0, row->cov), "min_ns",
	                count_if(some, row->min_ns), "max_ns", count_if(some, row->max_ns),
	                "p50_ns", count_if(some, row->p50_ns), "p95_ns",
	                count_if(some, row->p95_ns), "p99_ns", count_if(some, row->p99_ns),
	                "variation_share", real_if(more, row->variation_share));
}

static json_t *unmatched(const struct unmatched_row *row)
{
	return json_pack("{so so so so so}", "event", text(row->event), "total", count(row->total),
	                "unmatched", count(row->unmatched), "why", text(row->why), "role",
	                text(row->role));
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
	int failed;

	ARRAY(sources, snapshot->sources, source);
	ARRAY(groups, snapshot->groups, group);
	ARRAY(without, snapshot->unmatched, unmatched);
	document = json_pack("{ss so ss so so so so so so so so}", "schema", "pythiatop/1",
	                "time_ns", count(snapshot->time_ns), "horizon",
	                output_horizon_name(snapshot->focus.horizon), "horizon_ns",
	                count(snapshot->horizon_ns), "events_per_s",
	                real_if(true, snapshot->events_per_s), "discarded",
	                count(snapshot->discarded), "folded", count(snapshot->groups.folded),
	                "sources", sources, "accounting", accounting(&snapshot->accounting),
	                "groups", groups, "unmatched", without);
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
