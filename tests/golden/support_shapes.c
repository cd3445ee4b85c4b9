/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "support_shapes.h"

#define BAD "\x1b[2J\xff wide \xe5\xae\xbd"

static const struct {
	uint64_t count;
	const char *differs;
	uint32_t steps, variants;
	double mean_ns, low, high;
} made_rows[] = {
		{612, "", 17, 1, 812e6, 0.918, 0.954},
		{31, "+ retry", 19, 3, 1.61e9, 0.034, 0.067},
		{7, "ends after authenticate", 4, 1, 12e6, 0.005, 0.022},
		{2, "without cache_get, + query several times, commit fails, ...", 23, 2, 2.2e9,
				0.001, 0.011},
};

void made_shapes_fill(struct snapshot *snapshot, const struct made_shapes *made)
{
	uint32_t n = made->none ? 0 : 4;
	struct shape_row *rows = snapshot_alloc(snapshot, 4 * sizeof(*rows));
	struct improbable_row *odd = snapshot_alloc(snapshot, 2 * sizeof(*odd));
	struct shapes_type *type = snapshot_alloc(snapshot, sizeof(*type));

	for (uint32_t i = 0; i < n; i++) {
		rows[i] = (struct shape_row){.type = made->hostile ? BAD : "server create",
				.group_id = 1,
				.number = i + 1,
				.count = made_rows[i].count,
				.of = 652,
				.share = (double)made_rows[i].count / 652,
				.share_low = made_rows[i].low,
				.share_high = made_rows[i].high,
				.differs = made->hostile && i ? BAD : made_rows[i].differs,
				.request = i == 3 ? 0 : 101 + i,
				.steps = made_rows[i].steps,
				.variants = made_rows[i].variants,
				.mean_ns = made_rows[i].mean_ns,
				.measured = made->kernel,
				.cpu_ns = 1.2e6,
				.wait_ns = 31e6,
				.bytes = 4096};
	}
	odd[0] = (struct improbable_row){.type = "server create",
			.group_id = 1,
			.request = 104,
			.count = 1,
			.probability = 2e-7,
			.surprise = 22.3,
			.tail = 1 / 652.0,
			.step = 5,
			.at = made->hostile ? BAD : "query several times",
			.expected = made->hostile ? BAD : "cache_get",
			.at_probability = 2 / 652.0,
			.expected_probability = 0.98};
	odd[1] = (struct improbable_row){.type = "server create",
			.group_id = 1,
			.request = 103,
			.count = 7,
			.probability = 0.01,
			.surprise = 6.6,
			.tail = 8 / 652.0,
			.step = 5,
			.at = "(end)",
			.expected = "cache_get",
			.at_probability = 7 / 652.0,
			.expected_probability = 0.98};
	*type = (struct shapes_type){
			.type = "server create", .requests = 653, .looked_at = 652, .states = 18};
	snapshot->shapes = (struct shapes_view){.n = n,
			.rows = rows,
			.n_improbable = n && !made->usual ? 2 : 0,
			.improbable = odd,
			.n_types = n > 0,
			.types = type};
}
