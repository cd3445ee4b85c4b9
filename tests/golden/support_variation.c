/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "support_variation.h"

#include <stdlib.h>
#include <string.h>

#define MS      1000000
#define SECOND  1000000000u
#define NONE    UINT32_MAX
#define HOSTILE "\x1b[2J\x1b[31mgotcha\xe2\x80\xae"

static void *alloc(struct snapshot *snapshot, size_t n, size_t size)
{
	void *memory = snapshot_alloc(snapshot, n * size);

	if (!memory) {
		abort();
	}
	return memory;
}

void made_location_fill(struct snapshot *snapshot, const struct made_variation *made,
		struct group_location *location)
{
	static const struct group_segment segments[] = {
			{9, "sem.acquire", "api.server_create›compute.build_instance", 641e6, 731e6,
					0.969, 0.949, 0.989, 0.981, false},
			{10, "driver.spawn", "api.server_create›compute.build_instance", 96e6, 14e6,
					0.012, 0.004, 0.022, 0.004, false},
			{8, "image.fetch", "api.server_create›compute.build_instance", 31e6, 18e6,
					0.014, 0.002, 0.028, 0.121, true},
			{14, "(wait)", "api.server_create›compute.build_instance", 7e6, 2e6, 0.003,
					0.001, 0.005, 0.002, false},
			{0, "(rest)", "", 38e6, 6e6, 0.002, -0.004, 0.008, -0.108, false},
	};
	static const struct group_pair pairs[] = {
			{0, 1, 0.021, 0.62}, {0, 2, -0.012, -0.31}, {1, 3, 0.002, 0.11}};
	struct group_segment *copy = alloc(snapshot, 5, sizeof(*copy));

	*location = (struct group_location){.located = made->missing == 0 && !made->lossy,
			.missing = made->missing,
			.requests = 444,
			.skewed = made->lossy ? 3 : 0,
			.n_segments = 5,
			.n_pairs = 3,
			.pairs = pairs,
			.first_component = 0.71,
			.common_cause = made->common};
	memcpy(copy, segments, sizeof(segments));
	copy[1].name = made->hostile ? HOSTILE : copy[1].name;
	location->segments = copy;
}

struct made_row {
	const char *name;
	uint32_t context, parent;
	enum tree_mark mark;
	uint32_t count, self_ms, mean_ms, sd_ms; /* self a request */
	double segment_ms, segment_sd_ms, phi, half, tail;
};

static const struct made_row made_rows[] = {
		{"api.server_create", 1, NONE, TREE_ON, 444, 2, 812, 740, 2, 1, 0.001, 0.001, 0},
		{"scheduler.select_host", 3, 0, TREE_ON, 444, 9, 11, 3, 9, 3, 0.001, 0.002, -0.001},
		{"filter.ram", 4, 1, TREE_ON, 888, 2, 1, 1, 2, 1, 0, 0.001, 0},
		{"compute.build_instance", 7, 0, TREE_ON, 444, 5, 790, 738, 5, 2, 0, 0.002, 0.002},
		{"image.fetch", 8, 3, TREE_ON, 444, 31, 31, 18, 31, 18, 0.014, 0.013, 0.121},
		{"sem.acquire", 9, 3, TREE_ON, 444, 641, 641, 731, 641, 731, 0.969, 0.02, 0.981},
		{"network.plug", 11, 3, TREE_OFF, 0, 0, 0, 0, 0, 0, 0, 0, 0},
		{"driver.spawn", 10, 3, TREE_ON, 444, 96, 96, 14, 96, 14, 0.012, 0.009, 0.004},
		{"volume.attach", 12, 3, TREE_PROPOSED, 0, 0, 0, 0, 0, 0, 0, 0, 0},
		{"db.commit", 13, 3, TREE_NEVER_SEEN, 0, 0, 0, 0, 0, 0, 0, 0, 0},
		{"(wait)", 14, 3, TREE_NO_POINT, 0, 0, 0, 0, 7, 2, 0.003, 0.002, -0.107},
};

#define N_ROWS (sizeof(made_rows) / sizeof(made_rows[0]))

static void fill_row(struct tree_row *row, const struct made_row *made, double requests)
{
	*row = (struct tree_row){.context = made->context,
			.parent = made->parent,
			.name = made->name,
			.provider = made->mark == TREE_NO_POINT ? "" : "nova",
			.mark = made->mark,
			.count = made->count,
			.requests = made->count ? 444 : 0,
			.total_ns = (double)made->count * made->mean_ms * MS,
			.self_ns = requests * made->self_ms * MS,
			.mean_ns = (double)made->mean_ms * MS,
			.sd_ns = (double)made->sd_ms * MS,
			.segment_mean_ns = made->segment_ms * MS,
			.segment_sd_ns = made->segment_sd_ms * MS,
			.phi = made->phi,
			.phi_low = made->phi - made->half,
			.phi_high = made->phi + made->half,
			.phi_below = made->phi,
			.tail_share = made->tail};
}

/* What a parent's row says of all below it. */
static void sum_up(struct tree_row *rows, uint32_t n)
{
	uint32_t i;

	for (i = 0; i < n; i++) {
		rows[i].depth = rows[i].parent == NONE ? 0 : rows[rows[i].parent].depth + 1;
	}
	for (i = n; i-- > 1;) {
		if (rows[i].parent != NONE) {
			rows[rows[i].parent].n_below += rows[i].n_below + 1;
			rows[rows[i].parent].phi_below += rows[i].phi_below;
		}
	}
}

void made_tree_fill(struct snapshot *snapshot, const struct made_variation *made, bool all,
		const struct groups_row *row)
{
	uint32_t n = (uint32_t)N_ROWS + made->rows, i;
	struct tree_row *rows = alloc(snapshot, n, sizeof(*rows));
	struct tree_view *tree = &snapshot->tree;

	for (i = 0; i < N_ROWS; i++) {
		/* Two leaves change places. */
		uint32_t from = made->moved && i == 4 ? 5 : made->moved && i == 5 ? 4 : i;

		fill_row(&rows[i], &made_rows[from], 444);
	}
	for (; i < n; i++) {
		fill_row(&rows[i], &made_rows[2], 444);
		rows[i].context = 100 + i;
		rows[i].parent = 0;
		rows[i].name = snapshot_printf(snapshot, "step %u", (unsigned int)i);
	}
	if (made->hostile) {
		rows[4].name = HOSTILE;
	}
	sum_up(rows, n);
	*tree = (struct tree_view){.all = all,
			.group_id = all ? 0 : row->id,
			.type = all ? "" : row->type,
			.path = all ? "" : row->path,
			.requests = 444,
			.counted = 444,
			.sampled_share = made->folded ? 0.2 : 1,
			.located = !all && made->missing == 0 && !made->lossy,
			.missing = all ? 0 : made->missing,
			.lossy = made->lossy,
			.n = n,
			.rows = rows,
			.max_depth = 64,
			.folded_spans = made->folded ? 31 : 0};
}

void made_path_fill(struct snapshot *snapshot, struct request_view *request,
		struct request_span *spans, uint32_t n_spans)
{
	/* From its span's end back to the latest that came before, and so on: 2,060 ms in all. */
	static const struct {
		uint32_t span, from_ms, to_ms;
		const char *what;
	} pieces[] = {{0, 0, 1, ""}, {1, 1, 7, ""}, {0, 7, 9, ""}, {2, 9, 23, ""}, {0, 23, 24, ""},
			{0, 24, 26, "transit"}, {3, 26, 30, ""}, {4, 30, 42, ""}, {3, 42, 44, ""},
			{5, 44, 60, ""}, {3, 60, 64, ""}, {0, 64, 68, "transit"}, {6, 68, 72, ""},
			{7, 72, 103, ""}, {6, 103, 104, ""}, {8, 104, 1820, "(wait)"},
			{8, 1820, 1826, "(runnable)"}, {6, 1826, 1830, ""}, {10, 1830, 1850, ""},
			{11, 1850, 1910, ""}, {10, 1910, 2010, ""}, {6, 2010, 2048, ""},
			{0, 2048, 2060, "(wait)"}};
	uint32_t n = sizeof(pieces) / sizeof(pieces[0]), i;
	struct request_piece *made = alloc(snapshot, n, sizeof(*made));

	for (i = 0; i < n; i++) {
		made[i] = (struct request_piece){.span = pieces[i].span,
				.from_ns = (int64_t)pieces[i].from_ms * MS,
				.to_ns = (int64_t)pieces[i].to_ms * MS,
				.what = pieces[i].what};
		if (pieces[i].span < n_spans) {
			spans[pieces[i].span].path_ns +=
					(uint64_t)(pieces[i].to_ms - pieces[i].from_ms) * MS;
		}
	}
	request->pieces = made;
	request->n_pieces = n;
}

void made_compare_fill(struct snapshot *snapshot, const struct made_variation *made, uint64_t a_id,
		uint64_t b_id)
{
	static const struct {
		const char *name;
		uint32_t parent, a_ms, b_ms, a_path_ms, b_path_ms, a_count, b_count;
	} rows[] = {{"api.server_create", NONE, 2060, 412, 21, 19, 1, 1},
			{"auth.check", 0, 6, 7, 6, 7, 1, 1}, {"db.insert", 0, 14, 9, 14, 9, 1, 1},
			{"scheduler.select_host", 0, 38, 36, 38, 36, 1, 1},
			{"compute.build_instance", 0, 1980, 340, 48, 40, 1, 1},
			{"image.fetch", 4, 31, 102, 31, 102, 1, 1},
			{"sem.acquire", 4, 1722, 19, 1722, 19, 1, 1},
			{"driver.spawn", 4, 180, 170, 120, 110, 1, 1},
			{"network.plug", 7, 60, 0, 60, 0, 1, 0},
			{"network.cached", 7, 0, 70, 0, 70, 0, 1}};
	static const uint32_t ranked[] = {6, 5, 9, 8, 7, 4, 2, 3, 0, 1};
	static const struct compare_value values[] = {{"sem.acquire", "queue_len", "2", "0"},
			{"image.fetch", "image", "debian-12", "debian-11"},
			{"network.plug", "port", "", "7"}};
	uint32_t n = sizeof(rows) / sizeof(rows[0]), i;
	struct compare_row *copy = alloc(snapshot, n, sizeof(*copy));
	struct compare_value *copied = alloc(snapshot, 3, sizeof(*copied));
	struct compare_view *compare = &snapshot->compare;

	for (i = 0; i < n; i++) {
		copy[i] = (struct compare_row){.name = rows[i].name,
				.provider = "nova",
				.parent = rows[i].parent,
				.depth = rows[i].parent == NONE ? 0
								: copy[rows[i].parent].depth + 1,
				.a_count = rows[i].a_count,
				.b_count = rows[i].b_count,
				.a_ns = (uint64_t)rows[i].a_ms * MS,
				.b_ns = (uint64_t)rows[i].b_ms * MS,
				.a_path_ns = (uint64_t)rows[i].a_path_ms * MS,
				.b_path_ns = (uint64_t)rows[i].b_path_ms * MS,
				.difference_ns = ((int64_t)rows[i].a_path_ms - rows[i].b_path_ms) *
						 MS};
	}
	memcpy(copied, values, sizeof(values));
	if (made->hostile) {
		copy[5].name = copied[1].a = HOSTILE;
	}
	*compare = (struct compare_view){.a = {a_id, snapshot->time_ns - 3ull * SECOND,
							 2060ull * MS, REQUEST_COMPLETE, false},
			.b = {b_id ? b_id : 3997, snapshot->time_ns - 7ull * SECOND, 412ull * MS,
					REQUEST_COMPLETE, made->lossy},
			.b_is_median = b_id == 0,
			.n = n,
			.rows = copy,
			.n_ranked = n,
			.ranked = ranked,
			.n_values = 3,
			.values = copied};
}
