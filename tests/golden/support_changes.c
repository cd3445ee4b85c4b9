/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "support_changes.h"

#include <stdlib.h>
#include <string.h>

#define MS      1e6
#define HOSTILE "\x1b[2J\x1b[31mgotcha\xe2\x80\xae"

static const struct change_step sem_acquire[] = {{"nova", "api.server_create"},
		{"nova", "compute.build_instance"}, {"nova", "sem.acquire"}};
static const struct change_step select_host[] = {
		{"nova", "api.server_create"}, {"nova", "scheduler.select_host"}};

static const struct change_row rows[] = {
		{.kind = CHANGE_SLOWER,
				.service = "nova-compute",
				.provider = "nova",
				.name = "sem.acquire",
				.where = "api.server_create›compute.build_instance",
				.type = "server create",
				.types = 1,
				.n_steps = 3,
				.group_id = 1,
				.steps = sem_acquire,
				.others = "",
				.waits_for = "",
				.from = "",
				.sure = true,
				.waited_for = true,
				.added_ns_per_s = 7520 * MS,
				.added_low = 6910 * MS,
				.added_high = 8130 * MS,
				.before = 12 * MS,
				.after = 641 * MS,
				.difference_low = 578 * MS,
				.difference_high = 680 * MS,
				.requests_before = 870,
				.requests_after = 888,
				.since_ns = UINT64_C(1700000031000000000),
				.since_low_ns = UINT64_C(1700000030500000000),
				.since_high_ns = UINT64_C(1700000032500000000),
				.p = 1e-9},
		{.kind = CHANGE_TRANSIT,
				.service = "cinder-volume",
				.provider = "",
				.name = "(transit)",
				.where = "",
				.type = "volume create",
				.types = 2,
				.group_id = 2,
				.others = "cinder-api, nova-compute",
				.waits_for = "",
				.from = "",
				.sure = true,
				.added_ns_per_s = 63 * MS,
				.added_low = 51 * MS,
				.added_high = 75 * MS,
				.before = 0.4 * MS,
				.after = 7.1 * MS,
				.difference_low = 5.9 * MS,
				.difference_high = 7.5 * MS,
				.requests_before = 640,
				.requests_after = 666,
				.p = 1e-6},
		{.kind = CHANGE_MORE,
				.service = "nova-scheduler",
				.provider = "nova",
				.name = "scheduler.select_host",
				.where = "api.server_create",
				.type = "server create",
				.types = 1,
				.n_steps = 2,
				.group_id = 1,
				.steps = select_host,
				.others = "filter.ram",
				.waits_for = "",
				.from = "",
				.sure = true,
				.added_ns_per_s = 11.8 * MS,
				.added_low = 10.1 * MS,
				.added_high = 13.5 * MS,
				.before = 1,
				.after = 2,
				.difference_low = 0.93,
				.difference_high = 1.07,
				.requests_before = 870,
				.requests_after = 888,
				.p = 1e-12},
		{.kind = CHANGE_RATE,
				.service = "",
				.provider = "",
				.name = "",
				.where = "",
				.type = "volume list",
				.types = 1,
				.group_id = 6,
				.others = "",
				.waits_for = "",
				.from = "",
				.sure = true,
				.before = 31,
				.after = 95,
				.difference_low = 61,
				.difference_high = 67,
				.requests_before = 2300,
				.requests_after = 7030},
		{.kind = CHANGE_FASTER,
				.service = "neutron",
				.provider = "neutron",
				.name = "port.old_path",
				.where = "",
				.type = "floating ip create",
				.types = 1,
				.others = "",
				.waits_for = "",
				.from = "",
				.sure = true,
				.added_ns_per_s = -8 * MS,
				.added_low = -9 * MS,
				.added_high = -7 * MS,
				.before = 1.1 * MS,
				.after = 0.7 * MS,
				.difference_low = -0.45 * MS,
				.difference_high = -0.35 * MS,
				.requests_before = 1500,
				.requests_after = 1628},
};

static const struct change_type types[] = {
		{"server create", {870, 888}, {11.6, 12}, {180 * MS, 812 * MS}, 1},
		{"volume create", {640, 666}, {8.5, 9}, {80.2 * MS, 95 * MS}, 2},
		{"volume list", {2300, 7030}, {31, 95}, {2.1 * MS, 2.1 * MS}, 6},
		{"server delete", {800, 814}, {10.6, 11}, {96 * MS, 95 * MS}, 3},
		{"image upload", {44, 0}, {0.6, 0}, {510 * MS, 0}, 0},
		{"keypair list", {0, 12}, {0, 0.2}, {0, 4 * MS}, 5},
};

void made_changes_fill(struct snapshot *snapshot, const struct made_changes *made)
{
	struct change_row *copy = snapshot_alloc(snapshot, sizeof(rows));

	if (!copy) {
		abort();
	}
	snapshot->changes.baseline = "";
	if (!made->compared) {
		return;
	}
	memcpy(copy, rows, sizeof(rows));
	copy[0].others = made->hostile ? HOSTILE : copy[0].others;
	copy[1].others = made->hostile ? HOSTILE : copy[1].others;
	copy[0].name = made->hostile ? HOSTILE : copy[0].name;
	snapshot->changes = (struct changes_view){.compared = true,
			.baseline = made->hostile ? HOSTILE : "good.json",
			.before_length_ns = 75200000000,
			.after_length_ns = 74100000000,
			.tests = 214,
			.n = made->none     ? 0
			     : made->unsure ? 2
					    : sizeof(rows) / sizeof(rows[0]),
			.rows = copy,
			.n_all_types = sizeof(types) / sizeof(types[0]),
			.all_types = types,
			.groups_gone = "",
			.groups_new = "",
			.cut = "compute.build_instance",
			.n_cut = 1,
			.cut_requests = 3,
			.n_groups = 9,
			.n_types = 4,
			.n_types_gone = 1,
			.n_types_new = 1,
			.n_contexts = 97,
			.n_contexts_gone = 4,
			.n_contexts_new = 2,
			.types_gone = "image upload",
			.types_new = "keypair list"};
	for (uint32_t i = 0; i < 2 && made->unsure; i++) {
		copy[i].sure = copy[i].waited_for = false;
		copy[i].p = 0.3 + 0.4 * i;
		copy[i].since_ns = 0;
	}
}
