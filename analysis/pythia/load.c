/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <string.h>

#include "pythia/state.h"

/* Waits for a processor that the program itself uses up: they fall into the code that does. */

bool holder_is_tracing(const struct group_holder *holder)
{
	static const char *const daemons[] = {"lttng-relayd", "lttng-sessiond", "lttng-consumerd"};
	bool is = strncmp(holder->process, "pythiatop", strlen("pythiatop")) == 0;

	for (size_t i = 0; i < sizeof(daemons) / sizeof(daemons[0]); i++) {
		is |= strcmp(holder->process, daemons[i]) == 0;
	}
	return is;
}

/*
 * Who is waited for is the requests' own program, mostly: its processes, or others of its name.
 * What nobody or tracing had is left out.
 */
static bool is_own(const struct pythia_detail *detail, const struct group_wait *wait)
{
	const char *type = detail->row->type, *port = strrchr(type, ':');
	size_t length = port ? (size_t)(port - type) : strlen(type);
	double told = 0, nobodys = 0, own = 0;

	for (uint32_t i = 0; i < wait->n; i++) {
		const struct group_holder *holder = &wait->holders[i];

		told += holder->share;
		nobodys += holder->idle || holder_is_tracing(holder) ? holder->share : 0;
		own += holder->child || (strlen(holder->process) == length &&
							strncmp(holder->process, type, length) == 0)
				       ? holder->share
				       : 0;
	}
	return own > nobodys && own >= OWN_LOAD * (told - nobodys);
}

/* Code waits for a processor that its own program has. */
static bool is_own_load(const struct pythia_detail *detail, const struct pythia_round *round,
		const struct tree_row *row)
{
	const struct group_wait *wait =
			pythia_waits_for_processor(row) ? pythia_wait_of(round, detail, row) : NULL;

	return wait && wait->evidence == WAIT_RAN && is_own(detail, wait);
}

static bool is_queue(const struct tree_row *row)
{
	return row->mark == TREE_NO_POINT && strcmp(row->name, "(in the socket)") == 0;
}

bool load_lies_in_socket(const struct tree_view *tree, uint32_t at)
{
	while (at != UINT32_MAX && !is_queue(&tree->rows[at])) {
		at = tree->rows[at].parent;
	}
	return at != UINT32_MAX;
}

bool load_in_socket(const struct tree_view *tree, struct load *load, uint32_t *row)
{
	double squares = 0;
	bool found = false;

	*load = (struct load){.phi = 0};
	for (uint32_t i = 0; i < tree->n; i++) {
		const struct tree_row *at = &tree->rows[i];

		if (!load_lies_in_socket(tree, i)) {
			continue;
		}
		if (is_queue(at) && (!found || at->phi > tree->rows[*row].phi)) {
			*row = i;
			found = true;
		}
		load->phi += at->phi;
		squares += (at->phi - at->phi_low) * (at->phi - at->phi_low);
	}
	load->low = load->phi - sqrt(squares);
	load->high = fmin(load->phi + sqrt(squares), 1);
	return found;
}

/* Of those rows, or of the others but what is nobody's and waits for a processor. */
static uint32_t find_longest(const struct tree_view *tree, bool in_socket)
{
	uint32_t longest = 0;
	double most = 0;

	for (uint32_t i = 0; i < tree->n; i++) {
		const struct tree_row *row = &tree->rows[i];
		bool counts = in_socket ||
			      (!pythia_waits_for_nobody(row) && !pythia_waits_for_processor(row));

		if (load_lies_in_socket(tree, i) == in_socket && counts && row->phi > most) {
			most = row->phi;
			longest = i;
		}
	}
	return longest;
}

double load_queued_share(const struct pythia_detail *detail, const struct pythia_round *round)
{
	const struct tree_view *tree = detail->tree;
	const struct group_wait *wait;
	struct load queue;
	uint32_t row;
	double rest;

	if (!load_in_socket(tree, &queue, &row) || queue.phi < QUEUED_SHARE) {
		return 0;
	}
	rest = 1 - queue.phi;
	if (rest < BESIDE_QUEUE || tree->rows[find_longest(tree, false)].phi < VERDICT_PHI * rest) {
		return 0;
	}
	wait = pythia_wait_of(round, detail, &tree->rows[find_longest(tree, true)]);
	return wait && wait->evidence == WAIT_QUEUED && is_own(detail, wait) ? queue.phi : 0;
}

/* The code that a row of a wait is in. */
static uint32_t code_of(const struct tree_view *tree, uint32_t at)
{
	uint32_t code = tree_code_above(tree, at);

	return code == UINT32_MAX ? tree->rows[at].parent : code;
}

/* To ask who had it costs time: of edges alone. */
void load_look_within(const struct pythia *pythia, const struct pythia_detail *detail,
		const struct pythia_round *round, struct edge *edges, uint32_t n)
{
	for (uint32_t i = 0; i < n && pythia->space.learned; i++) {
		uint32_t code = code_of(detail->tree, edges[i].row);
		uint32_t node = code == UINT32_MAX ? SPACE_NONE : pythia->locating.nodes[code];

		if (node != SPACE_NONE &&
				is_own_load(detail, round, &detail->tree->rows[edges[i].row])) {
			edges[i].within = code;
			edges[i].node = node;
		}
	}
}

static void add(struct load *load, const struct tree_row *row)
{
	load->phi += row->phi;
	load->low += row->phi_low;
	load->high += row->phi_high;
}

bool load_of(const struct pythia *pythia, const struct pythia_detail *detail,
		const struct pythia_round *round, uint32_t code, struct load *load)
{
	const struct tree_view *tree = detail->tree;

	*load = (struct load){.phi = 0};
	if (tree->rows[code].mark == TREE_NO_POINT || tree->rows[code].parent == UINT32_MAX ||
			!tree->rows[code].provider[0] || !pythia->space.learned) {
		return false;
	}
	for (uint32_t i = 0; i < tree->n; i++) {
		const struct tree_row *row = &tree->rows[i];
		uint32_t within = code_of(tree, i);

		if (fabs(row->phi) < UNINFORMATIVE_PHI) {
			continue;
		}
		if (pythia_is_same_code(row, &tree->rows[code])) {
			add(load, row);
		} else if (within != UINT32_MAX &&
				pythia_is_same_code(&tree->rows[within], &tree->rows[code]) &&
				is_own_load(detail, round, row)) {
			add(load, row);
			load->waiting += row->phi;
		}
	}
	load->high = load->high < 1 ? load->high : 1;
	return load->waiting > 0;
}
