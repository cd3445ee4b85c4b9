/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "support_cloud.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MS        1000000u
#define SECOND    1000000000u
#define START_NS  (1700000000u * (uint64_t)SECOND)
#define HEAT_COLS 40
#define HEAT_LOW  176 /* 2^(176/8) ns = 4.2 ms */
#define HEAT_ROWS 80

static const struct groups_row six[] = {
		{.type = "server create",
				.path = "api>sched>compute",
				.count = 888,
				.rate_per_s = 12,
				.mean_ns = 812e6,
				.sd_ns = 740e6,
				.cov = 0.91,
				.min_ns = 310 * MS,
				.max_ns = 2940ull * MS,
				.p50_ns = 412 * MS,
				.p95_ns = 2100ull * MS,
				.p99_ns = 2900ull * MS,
				.variation_share = 0.71,
				.detection = DETECTION_VARIES | DETECTION_MODES,
				.cov_low = 0.86,
				.n_modes = 3,
				.modes = {{404 * MS, 300 * MS, 800 * MS, 0.61},
						{1190 * MS, 800 * MS, 1700ull * MS, 0.27},
						{2100ull * MS, 1700ull * MS, 3000ull * MS, 0.12}},
				.spark = {2, 11, 40, 30, 6, 1, 0, 0, 14, 22, 9, 1, 0, 3, 11, 2}},
		{.type = "volume create",
				.path = "api>volume",
				.count = 666,
				.rate_per_s = 9,
				.mean_ns = 120e6,
				.sd_ns = 74e6,
				.cov = 0.62,
				.min_ns = 30 * MS,
				.max_ns = 1300ull * MS,
				.p50_ns = 80 * MS,
				.p95_ns = 220 * MS,
				.p99_ns = 1100ull * MS,
				.variation_share = 0.14,
				.detection = DETECTION_VARIES | DETECTION_SLOW,
				.cov_low = 0.55,
				.objective_ns = 50 * MS,
				.spark = {1, 20, 60, 44, 22, 12, 6, 5, 3, 2, 2, 1, 1, 0, 0, 1}},
		{.type = "server delete",
				.path = "api>compute",
				.count = 814,
				.rate_per_s = 11,
				.mean_ns = 110e6,
				.sd_ns = 36e6,
				.cov = 0.33,
				.min_ns = 60 * MS,
				.max_ns = 260 * MS,
				.p50_ns = 95 * MS,
				.p95_ns = 180 * MS,
				.p99_ns = 240 * MS,
				.variation_share = 0.06,
				.detection = DETECTION_SHIFTED,
				.cov_low = 0.31,
				.shift = 1.8,
				.spark = {5, 9, 14, 22, 30, 28, 20, 15, 11, 8, 6, 4, 3, 2, 1, 1}},
		{.type = "server list",
				.path = "api",
				.count = 7990,
				.rate_per_s = 108,
				.mean_ns = 3.1e6,
				.sd_ns = 0.9e6,
				.cov = 0.29,
				.min_ns = 2 * MS,
				.max_ns = 11 * MS,
				.p50_ns = 3 * MS,
				.p95_ns = 4 * MS,
				.p99_ns = 9 * MS,
				.variation_share = 0.05,
				.spark = {50, 400, 90, 20, 8, 4, 2, 1}},
		{.type = "floating ip create",
				.path = "api>network",
				.count = 1628,
				.rate_per_s = 22,
				.mean_ns = 14.2e6,
				.sd_ns = 1.6e6,
				.cov = 0.11,
				.min_ns = 12 * MS,
				.max_ns = 21 * MS,
				.p50_ns = 14 * MS,
				.p95_ns = 16 * MS,
				.p99_ns = 19 * MS,
				.variation_share = 0.02,
				.spark = {1, 4, 20, 80, 30, 8, 2, 1, 1}},
		{.type = "volume list",
				.path = "api",
				.count = 31,
				.tainted = 12,
				.partial = 3,
				.rate_per_s = 0.42,
				.mean_ns = 2.3e6,
				.sd_ns = 0.7e6,
				.cov = 0.31,
				.min_ns = 1 * MS,
				.max_ns = 8 * MS,
				.p50_ns = 2 * MS,
				.p95_ns = 3 * MS,
				.p99_ns = 8 * MS,
				.variation_share = 0.002,
				.spark = {9, 12, 6, 3, 1}},
};

static const char *const hostile_names[][2] = {
		{"\x1b[2J\x1b[31mred\x07", "api>\x1b]0;title\x07>sched"},
		{"bytes \xff\xc3\x28", "a\xe2\x80\xaetxet desrever"},
		{"line\nbreak\ttab", "\xc2\x9b"
				     "31m>zero\xe2\x80\x8bwidth"},
		{"\xe6\xbc\xa2\xe5\xad\x97\xe6\xbc\xa2\xe5\xad\x97 wide",
				"\xe6\xbc\xa2\xe5\xad\x97\xe6\xbc\xa2\xe5\xad\x97\xe6\xbc\xa2\xe5"
				"\xad\x97\xe6\xbc\xa2"
				"\xe5\xad\x97"},
		{"e\xcc\x81"
		 "clair marks \xcc\x81",
				"%s%n%d"},
		{"", ""},
};

static void *alloc(struct snapshot *snapshot, size_t n, size_t size)
{
	void *memory = snapshot_alloc(snapshot, n * size);

	if (!memory) {
		abort();
	}
	return memory;
}

static void fill_row(struct snapshot *snapshot, const struct cloud *cloud, uint32_t index,
		struct groups_row *row)
{
	*row = six[index % 6];
	row->id = index + 1;
	row->n_modes = row->n_modes ? row->n_modes : 1;
	row->tail_ratio = (double)row->p99_ns / (double)row->p50_ns;
	row->missing = row->count < 50 ? 50 - (uint32_t)row->count : 0;
	row->lossy = row->tainted > row->count / 10;
	if (cloud->failing && index < 2) {
		row->ended = row->count + 2;
		row->failed = index == 0 ? 37 : 1;
		row->failed_low = index == 0 ? 0.030 : 0.0003;
		row->failed_high = index == 0 ? 0.056 : 0.008;
	} else {
		row->ended = row->count;
		row->failed_high = 0.01;
	}
	if (index == 0 && cloud->variation.missing) {
		row->missing = cloud->variation.missing;
	}
	row->worst_request = (uint64_t)(index + 1) * 100;
	row->spark_lo_ns = row->min_ns;
	row->spark_hi_ns = row->max_ns;
	row->tainted = cloud->lossy && index % 3 == 0 ? 7 : row->tainted;
	row->lossy |= cloud->variation.lossy && index == 0;
	if (cloud->hostile) {
		row->type = hostile_names[index % 6][0];
		row->path = hostile_names[index % 6][1];
	}
	if (index >= 6) {
		row->path = snapshot_printf(snapshot, "api>shard %u", (unsigned int)index);
		row->variation_share = 0;
	}
}

static void fill_groups(struct snapshot *snapshot, const struct cloud *cloud)
{
	uint32_t n = cloud->groups ? cloud->groups : 6, i;
	struct groups_row *rows = alloc(snapshot, n, sizeof(*rows));

	for (i = 0; i < n; i++) {
		fill_row(snapshot, cloud, i, &rows[cloud->shuffled ? n - 1 - i : i]);
	}
	snapshot->groups.n = n;
	snapshot->groups.rows = rows;
	snapshot->groups.rate_per_s = 162;
	snapshot->groups.enough = 50;
	snapshot->groups.need_more = 1;
}

/* Three bands of latency, the upper ones thinner. */
static void fill_heat(struct snapshot *snapshot, struct group_view *group)
{
	static const struct {
		uint32_t row, width, most;
	} bands[] = {{48, 4, 19}, {61, 3, 7}, {68, 3, 3}};
	uint32_t *heat = alloc(snapshot, HEAT_ROWS * HEAT_COLS, sizeof(*heat));
	uint64_t *request = alloc(snapshot, HEAT_ROWS * HEAT_COLS, sizeof(*request));
	uint32_t b, c, r, at, random = 1;

	for (b = 0; b < 3; b++) {
		for (c = 0; c < HEAT_COLS; c++) {
			for (r = 0; r < bands[b].width; r++) {
				random = random * 1103515245u + 12345u;
				at = (bands[b].row + r) * HEAT_COLS + c;
				heat[at] = (random >> 16) % (bands[b].most + 1);
				request[at] = heat[at] ? 1000 + at : 0;
			}
		}
	}
	group->heat = heat;
	group->heat_request = request;
	group->heat_cols = HEAT_COLS;
	group->heat_rows = HEAT_ROWS;
	group->heat_low = HEAT_LOW;
	group->heat_cell_ns = 250 * MS;
	group->heat_start_ns = snapshot->time_ns / (250 * MS) * (250 * MS) - 39ull * 250 * MS;
}

static void fill_histogram(struct snapshot *snapshot, struct group_view *group)
{
	uint64_t *histogram = alloc(snapshot, 2 * HEAT_ROWS, sizeof(*histogram));
	uint32_t i;

	for (i = 0; i < 8; i++) {
		histogram[95 + i] = 20 + 60 * (i > 1 && i < 5);
		histogram[122 + i] = 10 + 20 * (i > 2 && i < 6);
		histogram[136 + i] = 5 + 10 * (i == 3);
	}
	group->histogram = histogram;
	group->histogram_bins = 2 * HEAT_ROWS;
	group->histogram_low = 2 * HEAT_LOW;
}

static void fill_kept(
		struct snapshot *snapshot, const struct cloud *cloud, struct group_view *group)
{
	struct group_request *requests = alloc(snapshot, 24, sizeof(*requests));
	uint32_t i, random = 7;

	for (i = 0; i < 24; i++) {
		random = random * 1103515245u + 12345u;
		requests[i] = (struct group_request){.id = 4000 - i,
				.start_ns = snapshot->time_ns - (uint64_t)(i + 1) * 380 * MS,
				.duration_ns = (i % 7 == 3                  ? 2060ull
							       : i % 3 == 1 ? 1190ull
									    : 400ull) *
							       MS +
					       (random >> 20) % 90 * MS / 2,
				.state = i == 5   ? REQUEST_TIMEOUT
					 : i == 9 ? REQUEST_TRUNCATED
						  : REQUEST_COMPLETE,
				.tainted = cloud->lossy && i % 4 == 0,
				.failed = cloud->failing && i % 5 == 0,
				.spans = 11 + i % 3,
				.hosts = 3};
	}
	group->requests = requests;
	group->n_requests = 24;
	group->sampled_share = 0.2;
}

static void fill_group(struct snapshot *snapshot, const struct cloud *cloud, uint32_t id)
{
	struct group_view *group = &snapshot->group;

	if (cloud->gone || cloud->no_groups || id > (cloud->groups ? cloud->groups : 6)) {
		return;
	}
	group->id = id ? id : 1;
	fill_row(snapshot, cloud, group->id - 1, &group->row);
	fill_heat(snapshot, group);
	fill_histogram(snapshot, group);
	fill_kept(snapshot, cloud, group);
	made_location_fill(snapshot, &cloud->variation, &group->location);
	group->median_request = 3997;
}

struct made_span {
	const char *name;
	uint32_t track, parent, flags;
	uint32_t start_ms, length_ms;
};

static const struct made_span made_spans[] = {
		{"api.server_create", 0, UINT32_MAX, 0, 0, 2060},
		{"auth.check", 0, 0, 0, 1, 6},
		{"db.insert", 0, 0, 0, 9, 14},
		{"scheduler.select_host", 1, 0, 0, 26, 38},
		{"filter.ram", 1, 3, 0, 30, 12},
		{"filter.disk", 1, 3, 0, 44, 16},
		{"compute.build_instance", 2, 0, 0, 68, 1980},
		{"image.fetch", 2, 6, 0, 72, 31},
		{"sem.acquire", 2, 6, 0, 104, 1722},
		{"queue_len", 2, 8, REQUEST_SPAN_POINT, 106, 0},
		{"driver.spawn", 3, 6, 0, 1830, 180},
		{"network.plug", 4, 10, REQUEST_SPAN_SKEWED, 1850, 60},
		{"notify", 2, 6, REQUEST_SPAN_UNCLOSED, 2020, 28},
};

#define N_SPANS (sizeof(made_spans) / sizeof(made_spans[0]))

static void fill_tracks(struct snapshot *snapshot, struct request_view *request)
{
	static const struct request_track made[] = {
			{"controller", "api", 811, 815},
			{"controller", "scheduler", 812, 812},
			{"compute-1", "compute", 1204, 1211},
			{"compute-1", "", 1300, 1300},
			{"net-1", "network", 77, -1},
	};
	struct request_track *tracks = alloc(snapshot, 5, sizeof(*tracks));

	memcpy(tracks, made, sizeof(made));
	request->tracks = tracks;
	request->n_tracks = 5;
}

static void fill_values(struct snapshot *snapshot, bool hostile, const char *span,
		const struct request_value **values, uint32_t *n)
{
	struct request_value *made = alloc(snapshot, 4, sizeof(*made));

	made[0] = (struct request_value){"request_id", "7f3a-11"};
	made[1] = (struct request_value){"point", span};
	made[2] = (struct request_value){"queue_len", "2"};
	made[3] = (struct request_value){
			"image", hostile ? "\x1b[2Jgotcha\x1bP\xe2\x80\xae" : "debian-12"};
	*values = made;
	*n = 4;
}

static void fill_spans(
		struct snapshot *snapshot, const struct cloud *cloud, struct request_view *request)
{
	struct request_span *spans = alloc(snapshot, N_SPANS, sizeof(*spans));
	struct request_event *events = alloc(snapshot, 2 * N_SPANS, sizeof(*events));
	uint32_t i;

	for (i = 0; i < N_SPANS; i++) {
		const struct made_span *made = &made_spans[i];
		struct request_span *span = &spans[i];

		*span = (struct request_span){.name = made->name,
				.provider = "nova",
				.track = made->track,
				.parent = made->parent,
				.flags = made->flags,
				.depth = made->parent == UINT32_MAX ? 0
								    : spans[made->parent].depth + 1,
				.start_ns = (int64_t)made->start_ms * MS,
				.duration_ns = (uint64_t)made->length_ms * MS,
				.first_event = 2 * i,
				.last_event = made->flags & REQUEST_SPAN_UNCLOSED ? UINT32_MAX
										  : 2 * i + 1};
		span->failure = "";
		if (cloud->failing && (strcmp(made->name, "image.fetch") == 0 || i == 0)) {
			span->failure = i ? "status = 5" : "status = 500";
			span->flags |= REQUEST_SPAN_FAILED | (i ? REQUEST_SPAN_FIRST : 0u);
		}
		fill_values(snapshot, cloud->hostile, made->name, &span->values, &span->n_values);
		for (uint32_t k = 0; k < 2; k++) {
			struct request_event *event = &events[2 * i + k];

			event->ts_ns = request->start_ns + (uint64_t)made->start_ms * MS +
				       k * (uint64_t)made->length_ms * MS;
			event->name = snapshot_printf(
					snapshot, "nova:%s_%s", made->name, k ? "exit" : "entry");
			event->track = made->track;
			event->cpu = i % 2 ? UINT32_MAX : 1;
			fill_values(snapshot, cloud->hostile, made->name, &event->values,
					&event->n_values);
		}
	}
	request->spans = spans;
	request->n_spans = N_SPANS;
	if (!cloud->no_path) {
		made_path_fill(snapshot, request, spans, N_SPANS);
	}
	request->events = events;
	request->n_events = 2 * N_SPANS;
	request->events_left_out = cloud->lossy ? 31 : 0;
}

static void fill_request(
		struct snapshot *snapshot, const struct cloud *cloud, const struct focus *focus)
{
	struct request_view *request = &snapshot->request;
	uint32_t group = focus->group_id ? focus->group_id : 1;
	struct groups_row row;

	if (cloud->gone || cloud->no_groups) {
		return;
	}
	fill_row(snapshot, cloud, group - 1, &row);
	request->id = focus->request_id ? focus->request_id : group * 100;
	request->group_id = group;
	request->type = row.type;
	request->path = row.path;
	request->failure = cloud->failing ? "error" : "";
	request->tainted = cloud->lossy;
	request->skewed = cloud->lossy;
	request->skew_ns = cloud->lossy ? 412000 : 0;
	request->start_ns = snapshot->time_ns - 3ull * SECOND;
	request->duration_ns = 2060ull * MS;
	if (cloud->measured) {
		request->resources = (struct state_resources){.measured = true,
				.cpu_ns = 131 * MS,
				.runqueue_ns = 42 * MS,
				.blocked_ns = 1880ull * MS,
				.irq_ns = 300000,
				.blocked_lock_ns = 1722ull * MS,
				.blocked_disk_ns = 140 * MS,
				.blocked_net_ns = 18 * MS,
				.disk_read_bytes = 4100000,
				.net_read_bytes = 812,
				.net_write_bytes = 2100};
	}
	fill_tracks(snapshot, request);
	fill_spans(snapshot, cloud, request);
}

static const struct source_stream streams[] = {
		{"chan-ust", "ust", 0, 310000, 0},
		{"chan-ust", "ust", 1, 290000, 12},
		{"chan-kernel", "kernel", 0, 1200000, 0},
};

static struct source_row own_sources[] = {
		{.id = 1,
				.url = "net://relay1",
				.is_relay = true,
				.live = true,
				.state = SOURCE_ACTIVE},
		{.id = 2,
				.url = "net://relay1/host/controller/nova",
				.host = "controller",
				.session = "nova",
				.state = SOURCE_ACTIVE,
				.live = true,
				.live_timer_us = 1000000,
				.viewers = 1,
				.n_streams = 3,
				.events = 1800012,
				.events_per_s = 21400,
				.lag_ns = 180 * MS,
				.n_stream_rows = 3,
				.streams = streams},
		{.id = 3,
				.url = "net://relay1/host/compute-1/nova",
				.host = "compute-1",
				.session = "nova",
				.state = SOURCE_STALLED,
				.live = true,
				.live_timer_us = 2000000,
				.viewers = 2,
				.n_streams = 2,
				.events = 700123,
				.discarded = 728,
				.late = 31,
				.duplicates = 99,
				.gaps = 1,
				.lag_ns = 4200ull * MS,
				.detail = "silent for 4.2 s; what comes now counts as late"},
		{.id = 4,
				.url = "net://relay2",
				.is_relay = true,
				.live = true,
				.state = SOURCE_BROKEN,
				.retry_in_ns = 3400ull * MS},
		{.id = 5,
				.url = "net://relay1/host/compute-2/mine",
				.host = "compute-2",
				.session = "mine",
				.state = SOURCE_OFFERED,
				.live = true,
				.live_timer_us = 1000000,
				.n_streams = 4},
};

static const struct unmatched_row unmatched[] = {
		{"kmem_cache_alloc", 812000, 812000, 8120, "no thread of a request ran it",
				"kernel event"},
		{"nova:heartbeat", 74, 74, 1, "carries no id of a request", "point"},
		{"nova:image_fetch_exit", 6400, 12, 0.2, "no entry before it",
				"exit of image.fetch"},
		{"hostile:\x1b[31m", 3, 3, 0, "fields \xff unknown", "point"},
};

static void fill_sources(struct snapshot *snapshot, const struct cloud *cloud)
{
	uint32_t i, n = cloud->sources ? cloud->n_sources : 5;
	struct source_row *rows = alloc(snapshot, n, sizeof(*rows));

	for (i = 0; i < n; i++) {
		rows[i] = cloud->sources ? cloud->sources[i] : own_sources[i];
		rows[i].detail = rows[i].detail ? rows[i].detail : "";
		rows[i].host = rows[i].host ? rows[i].host : "";
		rows[i].session = rows[i].session ? rows[i].session : "";
	}
	snapshot->sources.n = n;
	snapshot->sources.rows = rows;
}

static void fill_frame(
		struct snapshot *snapshot, const struct cloud *cloud, const struct focus *focus)
{
	snapshot->time_ns = START_NS + (uint64_t)cloud->tick * 100 * MS - focus->back_ns;
	snapshot->first_ns = START_NS - 74ull * SECOND;
	snapshot->window_ns = 10ull * SECOND;
	snapshot->horizon_ns = snapshot->horizon_longest_ns = 74ull * SECOND;
	snapshot->pinned = focus->frozen;
	snapshot->accounting = (struct accounting){.in = 3128000,
			.pending = 1400,
			.in_request = 2290000,
			.state_only = 0,
			.unmatched = 836600,
			.late = 0,
			.dropped = 0};
	snapshot->events_per_s = 41234;
	snapshot->hosts = 3;
	snapshot->sessions = 5;
	snapshot->lag_ns = 210 * MS;
	snapshot->progress = -1;
	if (cloud->warned) {
		snapshot_warn(snapshot, "app:begin and app:end never pair (512 and 511 of them): "
					"no span of theirs has a length");
		snapshot_warn_first(snapshot, "the decision log /var/log/d.jsonl lacks its last 3 "
					      "lines: No space left on device");
	}
	if (cloud->lossy) {
		snapshot->discarded = 728;
		snapshot->late = 31;
		snapshot->lag_ns = 4200ull * MS;
	}
	snapshot->notice = cloud->notice ? cloud->notice : "";
	snapshot->notice_serial = cloud->notice_serial;
}

static void fill_tree(
		struct snapshot *snapshot, const struct cloud *cloud, const struct focus *focus)
{
	uint32_t id = focus->group_id ? focus->group_id : 1;
	struct groups_row row;

	if (!focus->tree_of_all && (cloud->no_groups || id > (cloud->groups ? cloud->groups : 6))) {
		return;
	}
	fill_row(snapshot, cloud, id - 1, &row);
	made_tree_fill(snapshot, &cloud->variation, focus->tree_of_all, &row);
}

struct snapshot *cloud_snapshot(const struct focus *focus, void *context)
{
	const struct cloud *cloud = context;
	struct snapshot *snapshot = snapshot_create();

	if (!snapshot) {
		abort();
	}
	snapshot->focus = *focus;
	fill_frame(snapshot, cloud, focus);
	if (focus->parts & FOCUS_GROUPS && !cloud->no_groups) {
		fill_groups(snapshot, cloud);
	}
	if (focus->parts & FOCUS_GROUP) {
		fill_group(snapshot, cloud, focus->group_id);
	}
	if (focus->parts & FOCUS_REQUEST) {
		fill_request(snapshot, cloud, focus);
	}
	if (focus->parts & FOCUS_TREE && !cloud->gone) {
		fill_tree(snapshot, cloud, focus);
	}
	if (focus->parts & FOCUS_COMPARE && !cloud->gone && !cloud->no_groups) {
		made_compare_fill(
				snapshot, &cloud->variation, focus->request_id, focus->compare_id);
	}
	if (focus->parts & FOCUS_SOURCES) {
		fill_sources(snapshot, cloud);
	}
	if (focus->parts & FOCUS_STEPS) {
		made_steps_fill(snapshot, &cloud->steps);
	}
	if (focus->parts & FOCUS_CHANGES) {
		made_changes_fill(snapshot, &cloud->changes);
	}
	if (focus->parts & FOCUS_SHAPES && !cloud->no_groups) {
		made_shapes_fill(snapshot, &cloud->shapes);
	}
	if (focus->parts & FOCUS_STATE) {
		made_state_fill(snapshot, focus, &cloud->state);
	}
	if (focus->parts & FOCUS_UNMATCHED) {
		snapshot->unmatched.n = 4;
		snapshot->unmatched.rows = unmatched;
		snapshot->unmatched.event_names = 38;
	}
	return snapshot;
}
