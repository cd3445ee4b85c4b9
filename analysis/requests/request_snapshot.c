/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "requests/request_snapshot.h"
#include "requests/engine.h"
#include "requests/failure.h"
#include "requests/span_values.h"

#define WARN_FROM 16u /* events of each end, before it is said that none of them pairs */

static const char *const why_names[REQUEST_WHY_COUNT] = {REQUEST_WHY_NAMES};

/* What one fill works on. */
struct filling {
	struct requests *r;
	struct snapshot *snapshot;
	const struct kept_request *kept;
	const struct spans *spans;
	struct request_track *tracks;
	struct {
		uint32_t host;
		int32_t tid;
	} * track_keys;
	uint32_t n_tracks;
	uint32_t *new_index; /* by index of struct spans: where it is in the view */
	uint32_t *first_child, *next_sibling;
	uint32_t failed; /* where it began to fail; SPAN_NONE: it did not, or nobody knows */
};

uint32_t requests_process(const struct requests *r, uint32_t host, int32_t tid, int32_t pid)
{
	uint32_t name = pid >= 0 ? threads_process_name(r->threads, host, pid) : 0;

	return name || tid < 0 ? name : threads_process_name(r->threads, host, tid);
}

static uint32_t track_of(struct filling *fill, uint32_t host, int32_t tid, int32_t pid)
{
	struct request_track *track;
	uint32_t i;

	for (i = 0; i < fill->n_tracks; i++) {
		if (fill->track_keys[i].host == host && fill->track_keys[i].tid == tid) {
			return i;
		}
	}
	track = &fill->tracks[fill->n_tracks];
	fill->track_keys[fill->n_tracks].host = host;
	fill->track_keys[fill->n_tracks].tid = tid;
	track->host = snapshot_text(fill->snapshot,
			host < fill->r->registry->n_hosts ? fill->r->registry->hosts[host].name
							  : "");
	track->process = snapshot_text(fill->snapshot,
			names_text(fill->r->names, requests_process(fill->r, host, tid, pid)));
	track->pid = pid;
	track->tid = tid;
	return fill->n_tracks++;
}

static uint32_t event_index(const struct spans *spans, const struct event_copy *copy)
{
	uint32_t low = 0, high = spans->n_events;

	if (!copy) {
		return UINT32_MAX;
	}
	while (low < high) {
		uint32_t middle = low + (high - low) / 2;
		const struct event_copy *at = spans->events[middle];

		if (at->ts_ns < copy->ts_ns || (at->ts_ns == copy->ts_ns && at->seq < copy->seq)) {
			low = middle + 1;
		} else {
			high = middle;
		}
	}
	return low < spans->n_events ? low : UINT32_MAX;
}

static enum status put_span(
		struct filling *fill, uint32_t index, uint32_t parent, struct request_span *out)
{
	const struct span *span = &fill->spans->items[index];
	const struct event_copy *copy = span->entry ? span->entry : span->exit;
	const struct request *request = &fill->kept->request;
	const struct plan *plan = copy ? &fill->r->plans[copy->type] : NULL;
	const struct event_copy *failed = failure_of_span(span);

	out->name = snapshot_text(fill->snapshot,
			names_text(fill->r->names,
					copy ? span_name(fill->r, span) : request->type));
	out->provider = snapshot_text(
			fill->snapshot, plan ? names_text(fill->r->names, plan->provider) : "");
	out->track = track_of(fill, span->host, span->tid, copy ? copy->pid : -1);
	out->parent = parent;
	out->depth = span->depth;
	out->flags = (span->point ? REQUEST_SPAN_POINT : 0u) |
		     (!span->exit && !span->point && copy ? REQUEST_SPAN_UNCLOSED : 0u) |
		     (!span->entry && copy ? REQUEST_SPAN_UNOPENED : 0u) |
		     (span->skewed ? REQUEST_SPAN_SKEWED : 0u) |
		     (failed ? REQUEST_SPAN_FAILED : 0u) |
		     (index == fill->failed ? REQUEST_SPAN_FIRST : 0u);
	out->failure = failed ? snapshot_text(fill->snapshot, failure_text(fill->r, failed)) : "";
	out->start_ns = (int64_t)(span->start_ns - request->start_ns);
	out->duration_ns = span->end_ns > span->start_ns ? span->end_ns - span->start_ns : 0;
	out->first_event = event_index(fill->spans, span->entry);
	out->last_event = event_index(fill->spans, span->point ? span->entry : span->exit);
	return span_values(fill->r, fill->snapshot, span, &out->values, &out->n_values);
}

/* Children by start: each list is built from the latest to the earliest. */
static enum status link_children(struct filling *fill)
{
	const struct spans *spans = fill->spans;
	uint32_t i, n = spans->n;

	fill->first_child = snapshot_alloc(fill->snapshot, n * sizeof(uint32_t));
	fill->next_sibling = snapshot_alloc(fill->snapshot, n * sizeof(uint32_t));
	fill->new_index = snapshot_alloc(fill->snapshot, n * sizeof(uint32_t));
	if (!fill->first_child || !fill->next_sibling || !fill->new_index) {
		return STATUS_NO_MEMORY;
	}
	for (i = 0; i < n; i++) {
		fill->first_child[i] = fill->next_sibling[i] = SPAN_NONE;
	}
	for (i = n; i > 0; i--) {
		uint32_t child = i - 1, parent = spans->items[child].parent;
		uint32_t *at;

		if (parent == SPAN_NONE) {
			continue;
		}
		/* Items are by entry already; only unopened ones and skew make this walk. */
		for (at = &fill->first_child[parent];
				*at != SPAN_NONE &&
				spans->items[*at].start_ns < spans->items[child].start_ns;
				at = &fill->next_sibling[*at]) {
		}
		fill->next_sibling[child] = *at;
		*at = child;
	}
	return STATUS_OK;
}

static enum status put_spans(
		struct filling *fill, struct request_view *view, struct request_span **written)
{
	const struct spans *spans = fill->spans;
	struct request_span *out = snapshot_alloc(fill->snapshot, spans->n * sizeof(*out));
	uint32_t at = spans->root;
	enum status status = out ? link_children(fill) : STATUS_NO_MEMORY;

	while (status == STATUS_OK && at != SPAN_NONE) {
		uint32_t parent = spans->items[at].parent;

		fill->new_index[at] = view->n_spans;
		status = put_span(fill, at,
				parent == SPAN_NONE ? UINT32_MAX : fill->new_index[parent],
				&out[view->n_spans]);
		view->n_spans++;
		if (fill->first_child[at] != SPAN_NONE) {
			at = fill->first_child[at];
			continue;
		}
		while (at != SPAN_NONE && fill->next_sibling[at] == SPAN_NONE) {
			at = spans->items[at].parent;
		}
		at = at == SPAN_NONE ? SPAN_NONE : fill->next_sibling[at];
	}
	*written = out;
	view->spans = out;
	return status;
}

static enum status put_events(struct filling *fill, struct request_view *view)
{
	const struct spans *spans = fill->spans;
	struct request_event *out =
			snapshot_alloc(fill->snapshot, (spans->n_events + 1) * sizeof(*out));
	uint32_t i;

	if (!out) {
		return STATUS_NO_MEMORY;
	}
	for (i = 0; i < spans->n_events; i++) {
		const struct event_copy *copy = spans->events[i];
		const struct event_type *type = &fill->r->registry->types[copy->type];
		struct request_value *values = snapshot_alloc(
				fill->snapshot, (type->n_fields + 1) * sizeof(*values));

		if (!values) {
			return STATUS_NO_MEMORY;
		}
		out[i] = (struct request_event){
				.ts_ns = copy->ts_ns,
				.name = snapshot_text(fill->snapshot, type->name),
				.track = track_of(fill,
						fill->r->registry->streams[copy->stream].host,
						copy->tid, copy->pid),
				.cpu = copy->cpu,
				.n_values = event_values(
						fill->r, fill->snapshot, copy, VALUES_ALL, values),
				.values = values,
		};
	}
	view->n_events = spans->n_events;
	view->events = out;
	return STATUS_OK;
}

/* The critical path, and of each span what it has of it. `spans` were just written. */
static enum status put_path(
		struct filling *fill, struct request_span *spans, struct request_view *view)
{
	struct requests *r = fill->r;
	const struct path *path = &r->measuring.path;
	struct request_piece *out;
	int64_t at_ns = 0;
	uint32_t i;

	if (!measuring_walk(r)) {
		return STATUS_NO_MEMORY;
	}
	out = snapshot_alloc(fill->snapshot, (path->n + 1) * sizeof(*out));
	if (!out) {
		return STATUS_NO_MEMORY;
	}
	for (i = 0; i < path->n; i++) {
		const struct path_piece *piece = &path->pieces[i];

		out[i] = (struct request_piece){
				.span = fill->new_index[piece->span],
				.from_ns = at_ns,
				.to_ns = at_ns + (int64_t)piece->ns,
				.what = snapshot_text(fill->snapshot,
						names_text(r->names, measuring_part(r, piece))),
		};
		at_ns = out[i].to_ns;
		if (piece->what != PATH_WAIT && piece->what != PATH_TRANSIT) {
			spans[out[i].span].path_ns += piece->ns;
		}
	}
	view->n_pieces = path->n;
	view->pieces = out;
	view->skewed |= path->skewed;
	view->skew_ns = path->skew_ns > view->skew_ns ? path->skew_ns : view->skew_ns;
	return STATUS_OK;
}

enum status requests_fill_request(
		struct requests *r, const struct request *request, struct snapshot *snapshot)
{
	const struct kept_request *kept = (const struct kept_request *)(const void *)request;
	struct request_view *view = &snapshot->request;
	struct filling fill = {.r = r, .snapshot = snapshot, .kept = kept, .spans = &r->spans};
	enum request_why why = (enum request_why)request->failure.why;
	struct request_span *spans = NULL;
	enum status status;

	if (!measuring_build(r, request)) {
		return STATUS_NO_MEMORY;
	}
	measuring_name(r, request);
	fill.failed = why == REQUEST_SOUND ? SPAN_NONE : failure_place(r, &why);
	fill.tracks = snapshot_alloc(snapshot, (r->spans.n + 1) * sizeof(*fill.tracks));
	fill.track_keys = snapshot_alloc(snapshot, (r->spans.n + 1) * sizeof(*fill.track_keys));
	if (!fill.tracks || !fill.track_keys) {
		return STATUS_NO_MEMORY;
	}
	*view = (struct request_view){
			.id = request->id,
			.group_id = request->group_id,
			.type = snapshot_text(snapshot, names_text(r->names, request->type)),
			.path = "",
			.state = request->state,
			.failure = request->failure.why == REQUEST_SOUND
						   ? ""
						   : why_names[request->failure.why],
			.tainted = request->tainted,
			.skewed = r->spans.skew_ns > 0,
			.skew_ns = r->spans.skew_ns,
			.start_ns = request->start_ns,
			.duration_ns = request->end_ns - request->start_ns,
			.events_left_out = kept->events_left_out,
	};
	if (kept->resources) {
		view->resources = *kept->resources;
	}
	status = put_spans(&fill, view, &spans);
	if (status == STATUS_OK) {
		status = put_path(&fill, spans, view);
	}
	if (status == STATUS_OK) {
		status = put_events(&fill, view);
	}
	view->tracks = fill.tracks;
	view->n_tracks = fill.n_tracks;
	return status;
}

/* --- events that belong to no request -------------------------------------------------------- */

static const char *why_text(enum unmatched_why why)
{
	switch (why) {
	case WHY_NOTHING_OPEN:
		return "no request was open on its thread";
	case WHY_NO_THREAD:
		return "thread not known yet";
	case WHY_NO_VTID:
		return "thread not known: record the context vtid";
	case WHY_NO_SWITCH:
		return "thread not known: record sched_switch, or the context tid";
	case WHY_NO_BINDING:
		return "nothing in it says what it belongs to";
	case WHY_EXPIRED:
		return "joined others, but the start of a request was not among them";
	case WHY_AMBIGUOUS:
		return "ambiguous: its thread works on several requests at once";
	case WHY_TRACER:
		return "the tracer about itself";
	case WHY_COUNT:
		break;
	}
	return "";
}

static const char *role_text(const struct requests *r, uint32_t type, struct snapshot *snapshot)
{
	const struct plan *plan = &r->plans[type];
	const char *name = plan->source && plan->source->name
					   ? plan->source->name
					   : names_text(r->names, plan->name.fixed);

	if (plan->about_tracer || plan->role == SPAN_POINT) {
		return "point";
	}
	if (plan->role == SPAN_EXIT && r->stats[type].unopened * 2 > r->stats[type].total) {
		return snapshot_printf(snapshot, "exit of %s, mostly without entry", name);
	}
	return snapshot_printf(
			snapshot, "%s of %s", plan->role == SPAN_ENTRY ? "entry" : "exit", name);
}

static double recent_rate(const struct type_stats *stats, uint64_t now_ns, uint64_t window_ns)
{
	uint64_t second = now_ns / UINT64_C(1000000000);
	uint64_t n = window_ns / UINT64_C(1000000000), i, sum = 0;

	n = n == 0 ? 1 : n >= UNMATCHED_SECONDS ? UNMATCHED_SECONDS - 1 : n;
	/* Whole seconds: the one that has just begun does not count. */
	for (i = 1; i <= n && i <= second; i++) {
		uint32_t at = (uint32_t)((second - i) % UNMATCHED_SECONDS);

		sum += stats->second_at[at] == second - i ? stats->seconds[at] : 0;
	}
	return (double)sum / (double)n;
}

static int compare_rows(const void *a, const void *b)
{
	const struct unmatched_row *x = a, *y = b;

	if (x->unmatched != y->unmatched) {
		return x->unmatched < y->unmatched ? 1 : -1;
	}
	return strcmp(x->event, y->event);
}

enum status requests_fill_unmatched(
		struct requests *r, uint64_t now_ns, uint64_t window_ns, struct snapshot *snapshot)
{
	uint32_t i, n = 0;
	struct unmatched_row *rows;

	requests_refresh(r);
	rows = snapshot_alloc(snapshot, (r->n_stats + 1) * sizeof(*rows));
	if (!rows) {
		return STATUS_NO_MEMORY;
	}
	for (i = 0; i < r->n_stats; i++) {
		const struct type_stats *stats = &r->stats[i];
		uint32_t why, most = 0;

		if (stats->unmatched == 0) {
			continue;
		}
		for (why = 1; why < WHY_COUNT; why++) {
			most = stats->why[why] > stats->why[most] ? why : most;
		}
		rows[n++] = (struct unmatched_row){
				.event = snapshot_text(snapshot, r->registry->types[i].name),
				.total = stats->total,
				.unmatched = stats->unmatched,
				.rate_per_s = recent_rate(stats, now_ns, window_ns),
				.why = why_text(most),
				.role = role_text(r, i, snapshot),
		};
	}
	qsort(rows, n, sizeof(*rows), compare_rows);
	snapshot->unmatched =
			(struct unmatched_view){.n = n, .rows = rows, .event_names = r->n_stats};
	return STATUS_OK;
}

uint64_t requests_seen(const struct requests *r, uint32_t type)
{
	return type < r->n_stats ? r->stats[type].total : 0;
}

/* The exit of that name of which so many came that some should have paired; NULL: none. */
static const char *unpaired_exit(const struct requests *r, uint32_t name, uint64_t *n)
{
	for (uint32_t i = 0; i < r->n_occurred; i++) {
		uint32_t type = r->occurred[i];

		if (r->plans[type].role == SPAN_EXIT && r->plans[type].pair_name == name &&
				r->stats[type].total >= WARN_FROM && r->stats[type].paired == 0) {
			*n = r->stats[type].total;
			return r->registry->types[type].name;
		}
	}
	return NULL;
}

static void warn_of_named(const struct requests *r, struct snapshot *snapshot)
{
	uint64_t n = 0;

	for (uint32_t i = 0; i < r->n_occurred; i++) {
		uint32_t type = r->occurred[i];

		n += r->plans[type].role == SPAN_ENTRY ? r->stats[type].total : 0;
	}
	if (r->named.function && r->named.n == 0 && n >= WARN_FROM) {
		snapshot_warn(snapshot,
				snapshot_printf(snapshot,
						"no span %s of a program %s was entered, of "
						"%" PRIu64 " spans: see --request; --show-schema "
							   "lists what there is",
						r->named.function, r->named.program, n));
	}
}

void requests_fill_warnings(struct requests *r, struct snapshot *snapshot)
{
	requests_refresh(r);
	warn_of_named(r, snapshot);
	for (uint32_t i = 0; i < r->n_occurred && snapshot->n_warnings < SNAPSHOT_WARNINGS; i++) {
		uint32_t type = r->occurred[i];
		uint64_t entries = r->stats[type].total, exits = 0;
		const char *exit;

		if (r->plans[type].role != SPAN_ENTRY || entries < WARN_FROM ||
				r->stats[type].paired) {
			continue;
		}
		exit = unpaired_exit(r, r->plans[type].pair_name, &exits);
		if (exit) {
			snapshot_warn(snapshot, snapshot_printf(snapshot,
								"%s and %s never pair (%" PRIu64
								" and %" PRIu64
								" of them): no span of theirs has "
								"a length; see what "
								"--show-schema pairs them by",
								r->registry->types[type].name, exit,
								entries, exits));
		}
	}
}

static void add_note(struct arena *arena, const char **notes, uint32_t *n, uint32_t room,
		const char *event, uint64_t count, const char *what)
{
	char *text = *n < room ? arena_printf(arena, "%s: %" PRIu64 " %s", event, count, what)
			       : NULL;

	if (text) {
		notes[(*n)++] = text;
	}
}

uint32_t requests_notes(struct requests *r, struct arena *arena, const char **notes, uint32_t room)
{
	uint32_t i, n = 0;

	for (i = 0; i < r->endless.n && n < room; i++) {
		notes[n++] = arena_printf(arena,
				"%s does not end: what it calls again and again are requests",
				names_text(r->names, r->endless.names[i]));
	}
	for (i = 0; i < r->n_stats; i++) {
		const struct type_stats *stats = &r->stats[i];
		const char *event = r->registry->types[i].name;

		if (stats->interleaved) {
			add_note(arena, notes, &n, room, event, stats->interleaved,
					"spans overlap with others of their thread without "
					"nesting: an "
					"event loop? What happens inside is ambiguous");
		}
		if (stats->nested_seed) {
			add_note(arena, notes, &n, room, event, stats->nested_seed,
					"spans begin within one of their kind on the same thread: "
					"recursion, or an event loop whose requests cannot be told "
					"apart (ambiguous)");
		}
		if (stats->unopened) {
			add_note(arena, notes, &n, room, event, stats->unopened,
					"exits had no entry");
		}
		if (stats->unclosed) {
			add_note(arena, notes, &n, room, event, stats->unclosed,
					"entries had no exit");
		}
	}
	return n;
}
