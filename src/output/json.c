/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <jansson.h>
#include <math.h>

#include "output/formats.h"
#include "output/json_out.h"
#include "output/json_values.h"
#include "pythiatop/text.h"

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

static json_t *group(const struct groups_row *row)
{
	bool some = row->count > 0;
	bool more = row->count > 1;

	return json_pack("{so so so so so so so so so so so so so so so so}", "id",
			json_count(row->id), "type", json_text(row->type), "path",
			json_text(row->path), "count", json_count(row->count), "tainted",
			json_count(row->tainted), "partial", json_count(row->partial), "rate_per_s",
			json_real_if(true, row->rate_per_s), "mean_ns",
			json_real_if(some, row->mean_ns), "sd_ns", json_real_if(more, row->sd_ns),
			"cov", json_real_if(more && row->mean_ns > 0, row->cov), "min_ns",
			json_count_if(some, row->min_ns), "max_ns",
			json_count_if(some, row->max_ns), "p50_ns",
			json_count_if(some, row->p50_ns), "p95_ns",
			json_count_if(some, row->p95_ns), "p99_ns",
			json_count_if(some, row->p99_ns), "variation_share",
			json_real_if(more, row->variation_share));
}

static json_t *unmatched(const struct unmatched_row *row)
{
	return json_pack("{so so so so so}", "event", json_text(row->event), "total",
			json_count(row->total), "unmatched", json_count(row->unmatched), "why",
			json_text(row->why), "role", json_text(row->role));
}

#define ROWS(json, key, view, convert)                                                             \
	do {                                                                                       \
		uint32_t i_;                                                                       \
		json_out_open(json, key, '[');                                                     \
		for (i_ = 0; i_ < (view).n; i_++) {                                                \
			json_out_tree(json, NULL, convert(&(view).rows[i_]));                      \
		}                                                                                  \
		json_out_close(json, ']');                                                         \
	} while (0)

enum status output_json(FILE *out, const struct snapshot *snapshot)
{
	struct json_out json = {.file = out};

	json_out_open(&json, NULL, '{');
	JSON_OUT_MEMBERS(&json, {"schema", value_text("pythiatop/1")},
			{"time_ns", value_count(snapshot->time_ns)},
			{"horizon", value_text(output_horizon_name(snapshot->focus.horizon))},
			{"horizon_ns", value_count(snapshot->horizon_ns)},
			{"events_per_s", value_real_if(true, snapshot->events_per_s)},
			{"discarded", value_count(snapshot->discarded)},
			{"folded", value_count(snapshot->groups.folded)});
	ROWS(&json, "sources", snapshot->sources, source);
	json_out_tree(&json, "accounting", accounting(&snapshot->accounting));
	ROWS(&json, "groups", snapshot->groups, group);
	ROWS(&json, "unmatched", snapshot->unmatched, unmatched);
	output_json_state(&json, &snapshot->state);
	json_out_close(&json, '}');
	json_out_flush(&json);
	if (json.failed) {
		return STATUS_NO_MEMORY;
	}
	return fputc('\n', out) == EOF || ferror(out) ? STATUS_IO : STATUS_OK;
}
