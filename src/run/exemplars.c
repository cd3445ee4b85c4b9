/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "run/exemplars.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text_add.h"

#define HOST_OF  "host of "
#define COUNT_OF "count of "
#define NONE     "(none)"

/* --- which requests have a value --- */

/* "5" is within "3 to 8", and "2" is "2.0"; anything else is what it is. */
static bool is_within(const char *text, const char *value)
{
	double low, high, number;
	char *end;

	if (strcmp(text, value) == 0) {
		return true;
	}
	number = strtod(text, &end);
	if (end == text || *end) {
		return false;
	}
	low = high = strtod(value, &end);
	if (end == value) {
		return false;
	}
	if (strncmp(end, " to ", 4) == 0) {
		high = strtod(end + 4, &end);
	}
	return *end == '\0' && number >= low && number <= high;
}

static bool has_field(const struct request_view *request, const char *key, const char *value)
{
	bool any = false;

	for (uint32_t i = 0; i < request->n_spans; i++) {
		const struct request_span *span = &request->spans[i];
		size_t length = strlen(span->name);

		if (strncmp(key, span->name, length) != 0 || key[length] != '.') {
			continue;
		}
		for (uint32_t j = 0; j < span->n_values; j++) {
			if (strcmp(span->values[j].name, key + length + 1) == 0) {
				any = true;
				if (is_within(span->values[j].text, value)) {
					return true;
				}
			}
		}
	}
	return !any && strcmp(value, NONE) == 0;
}

static bool has_host(const struct request_view *request, const char *name, const char *value)
{
	bool any = false;

	for (uint32_t i = 0; i < request->n_spans; i++) {
		const struct request_span *span = &request->spans[i];

		if (strcmp(span->name, name) == 0) {
			any = true;
			if (strcmp(request->tracks[span->track].host, value) == 0) {
				return true;
			}
		}
	}
	return !any && strcmp(value, NONE) == 0;
}

static bool has_count(const struct request_view *request, const char *name, const char *value)
{
	uint32_t n = 0;
	char text[16];

	for (uint32_t i = 0; i < request->n_spans; i++) {
		n += strcmp(request->spans[i].name, name) == 0;
	}
	snprintf(text, sizeof(text), "%" PRIu32, n);
	return is_within(text, value);
}

bool exemplars_has(const struct request_view *request, const struct explained_key *key,
		const char *value)
{
	const char *name = key->name;

	switch (key->source) {
	case EXPLANATION_FIELD:
		return has_field(request, name, value);
	case EXPLANATION_HOST:
		return strncmp(name, HOST_OF, strlen(HOST_OF)) == 0 &&
		       has_host(request, name + strlen(HOST_OF), value);
	case EXPLANATION_COUNT:
		return strncmp(name, COUNT_OF, strlen(COUNT_OF)) == 0 &&
		       has_count(request, name + strlen(COUNT_OF), value);
	default:
		return false;
	}
}

/* --- picking --- */

struct picks {
	const struct group_view *group;
	struct report_exemplar *out;
	uint32_t n;
};

static bool is_whole(const struct group_request *request)
{
	return request->state == REQUEST_COMPLETE && !request->tainted;
}

/* A request that is there already gets one reason more. */
static void take(struct picks *picks, const struct group_request *request, const char *why)
{
	struct report_exemplar *exemplar;
	uint32_t i;

	for (i = 0; i < picks->n && picks->out[i].request.id != request->id; i++) {
	}
	if (i == EXEMPLARS_MOST) {
		return;
	}
	exemplar = &picks->out[i];
	if (i == picks->n) {
		picks->n++;
		exemplar->request = *request;
		snprintf(exemplar->why, sizeof(exemplar->why), "%s", why);
		return;
	}
	text_add(exemplar->why, sizeof(exemplar->why), "; %s", why);
}

static uint64_t distance(uint64_t a, uint64_t b)
{
	return a > b ? a - b : b - a;
}

/* The whole request nearest to a duration within a range; NULL: none. */
static const struct group_request *nearest(
		const struct picks *picks, uint64_t to_ns, uint64_t low_ns, uint64_t high_ns)
{
	const struct group_request *best = NULL;

	for (uint32_t i = 0; i < picks->group->n_requests; i++) {
		const struct group_request *request = &picks->group->requests[i];

		if (is_whole(request) && request->duration_ns >= low_ns &&
				request->duration_ns < high_ns &&
				(!best || distance(request->duration_ns, to_ns) <
								distance(best->duration_ns,
										to_ns))) {
			best = request;
		}
	}
	return best;
}

static void take_ends(struct picks *picks)
{
	const struct group_request *request = nearest(picks, UINT64_MAX, 0, UINT64_MAX);

	if (request) {
		take(picks, request, "the slowest");
	}
	request = nearest(picks, picks->group->row.p50_ns, 0, UINT64_MAX);
	if (request) {
		take(picks, request, "nearest to the median");
	}
}

static void take_modes(struct picks *picks)
{
	const struct groups_row *row = &picks->group->row;
	const struct group_request *request;
	char why[64];

	for (uint32_t i = 0; row->n_modes > 1 && i < row->n_modes && i < GROUPS_MAX_MODES; i++) {
		request = nearest(picks, row->modes[i].peak_ns, row->modes[i].low_ns,
				row->modes[i].high_ns);
		snprintf(why, sizeof(why), "latency %" PRIu32 " of %" PRIu32, i + 1, row->n_modes);
		if (request) {
			take(picks, request, why);
		}
	}
}

/* Of each value the request nearest to the value's median. False: no request has any of them. */
static bool take_values(struct picks *picks, struct pipeline *pipeline,
		const struct snapshot *whole, const struct explanation *explanation)
{
	const struct group_request *best[EXPLANATION_VALUES] = {NULL};
	const struct explained_key *key = &explanation->keys[0];
	uint32_t n = explanation->n_values < EXPLANATION_VALUES ? explanation->n_values
								: EXPLANATION_VALUES;
	struct focus focus = whole->focus;
	uint32_t examined = 0;
	bool any = false;
	char why[256];

	focus.parts = FOCUS_REQUEST;
	for (uint32_t i = 0; i < picks->group->n_requests && examined < EXEMPLARS_EXAMINED; i++) {
		const struct group_request *request = &picks->group->requests[i];
		struct snapshot *snapshot;

		focus.request_id = request->id;
		snapshot = is_whole(request) ? pipeline_answer(pipeline, &focus) : NULL;
		examined += snapshot != NULL;
		for (uint32_t v = 0; snapshot && snapshot->request.id == request->id && v < n;
				v++) {
			const struct explained_value *value = &explanation->values[v];

			if (exemplars_has(&snapshot->request, key, value->text) &&
					(!best[v] || distance(request->duration_ns, value->p50_ns) <
									distance(best[v]->duration_ns,
											value->p50_ns))) {
				best[v] = request;
			}
		}
		snapshot_destroy(snapshot);
	}
	for (uint32_t v = 0; v < n; v++) {
		if (best[v]) {
			snprintf(why, sizeof(why), "%.120s = %.60s", key->name,
					explanation->values[v].text);
			take(picks, best[v], why);
			any = true;
		}
	}
	return any;
}

uint32_t exemplars_pick(struct pipeline *pipeline, const struct snapshot *whole,
		const struct explanation *explanation, struct report_exemplar out[EXEMPLARS_MOST])
{
	struct picks picks = {.group = &whole->group, .out = out};
	bool explained = explanation && explanation->state == EXPLANATION_DONE &&
			 explanation->n_keys > 0;

	take_ends(&picks);
	if (!explained || !take_values(&picks, pipeline, whole, explanation)) {
		take_modes(&picks);
	}
	return picks.n;
}
