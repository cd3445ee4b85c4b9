/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/hash.h"
#include "pythia/state.h"

/*
 * What has changed since the baseline, as findings: of each group the change that adds most time to
 * all requests. With a baseline the question is what is otherwise, not what varies: so such a
 * finding comes before those of the variation, and takes the place of one that names another place.
 */
#define TEXT_BYTES 1024u

static bool is_verdict(const struct change_row *row)
{
	return row->sure && row->group_id && !row->waits_for[0] && row->kind != CHANGE_FASTER &&
	       row->kind != CHANGE_RATE && row->kind != CHANGE_SPLIT && row->kind != CHANGE_MERGE;
}

static uint64_t key_of(struct pythia *pythia, const struct change_row *row)
{
	return hash_pair(hash_pair(pythia_intern(pythia, row->service),
					 pythia_intern(pythia, row->name)),
			row->kind);
}

/* "api.create > sem.acquire" */
static void where_of(const struct change_row *row, char *out, size_t size)
{
	size_t used = 0;

	out[0] = '\0';
	for (uint32_t i = 0; i < row->n_steps && used < size; i++) {
		used += (size_t)snprintf(out + used, size - used, "%s%s", i ? " > " : "",
				row->steps[i].name);
	}
}

static const char *duration(char out[32], double ns)
{
	static const struct {
		double ns;
		const char *unit;
	} units[] = {{1e9, "s"}, {1e6, "ms"}, {1e3, "us"}, {1, "ns"}};
	size_t i = 0;

	while (i < 3 && fabs(ns) < 0.9995 * units[i].ns) {
		i++;
	}
	snprintf(out, 32, "%.3g%s", ns / units[i].ns, units[i].unit);
	return out;
}

static void say_change(
		const struct pythia *pythia, struct finding *finding, const struct change_row *row)
{
	char low[32], high[32], adds[64] = "", added[32];
	const char *type = names_text(pythia->names, finding->type);

	if (!row->path_unknown) {
		snprintf(adds, sizeof(adds), ", which adds %s a second to all requests",
				duration(added, row->added_ns_per_s));
	}
	duration(low, row->difference_low);
	duration(high, row->difference_high);
	switch (row->kind) {
	case CHANGE_TRANSIT:
		finding_say(finding,
				"%s: since the baseline the way between %s and %s takes longer, by "
				"%s to %s%s%s",
				type, row->service, row->others, low, high, adds,
				row->callee_too ? "; the own time of the former grew, too" : "");
		break;
	case CHANGE_MORE:
	case CHANGE_FEWER:
		finding_say(finding,
				"%s: since the baseline %s in %s makes %s calls of %s, %.3g "
				"instead of %.3g a span%s",
				type, row->name, row->service,
				row->kind == CHANGE_MORE ? "more" : "fewer", row->others,
				row->after, row->before, adds);
		break;
	default:
		finding_say(finding, "%s: since the baseline %s in %s takes longer, by %s to %s%s",
				type, strcmp(row->name, "(all)") == 0 ? "each span" : row->name,
				row->service, low, high, adds);
		break;
	}
}

/* A search that goes on says where deeper; what it came to stands where it is the same place. */
static bool is_open_to(
		const struct pythia *pythia, const struct finding *finding, const char *where)
{
	switch (finding->rule) {
	case STOP_NONE:
		return !pythia_can_act(pythia) ||
		       (finding->n_steps == 0 &&
				       pythia->now_ns >= finding->started_ns + PATIENCE_NS);
	case STOP_CODE:
	case STOP_VARIABLE:
		return !finding->where || strcmp(finding->where, where) != 0;
	default:
		return true;
	}
}

static void conclude(struct pythia *pythia, struct finding *finding, const struct change_row *row)
{
	bool fresh = finding->rule != STOP_CHANGED;
	char where[TEXT_BYTES];

	where_of(row, where, sizeof(where));
	if (!is_open_to(pythia, finding, where)) {
		return;
	}
	say_change(pythia, finding, row);
	finding_set_text(&finding->where, where);
	finding_set_text(&finding->process, row->service); /* that is slow, or slow to reach */
	finding->rule = STOP_CHANGED;
	finding->told_all = true;
	finding->requests = 0; /* no shares of a variance */
	finding->edge = SPACE_NONE;
	if (fresh) {
		finding->ended_ns = pythia->now_ns;
		finding_note(finding, "stopped: %s", finding->text);
	}
}

static void judge(struct pythia *pythia, const struct pythia_round *round,
		const struct change_row *row, uint32_t order)
{
	struct finding *finding =
			finding_of(pythia, row->group_id, true, pythia_intern(pythia, row->type));
	uint64_t key = key_of(pythia, row);

	if (!finding || finding->change) { /* or one of the group adds more */
		return;
	}
	finding->change = order;
	finding->unchanged = 0;
	if (finding->changed_key != key) {
		finding->changed_key = key;
		finding->changed_rounds = 0;
		finding->changed_ns = pythia->now_ns;
	}
	finding->changed_rounds++;
	if (round->last || (finding->changed_rounds >= SURE_ROUNDS &&
					   pythia->now_ns >= finding->changed_ns + SURE_NS)) {
		conclude(pythia, finding, row);
	}
}

void changed_judge(struct pythia *pythia, const struct pythia_round *round)
{
	const struct changes_view *changes = round->changes;

	for (uint32_t i = 0; i < pythia->locating.n_findings; i++) {
		pythia->locating.findings[i].change = 0;
	}
	for (uint32_t i = 0; changes && changes->compared && i < changes->n; i++) {
		if (is_verdict(&changes->rows[i])) {
			judge(pythia, round, &changes->rows[i], i + 1);
		}
	}
	for (uint32_t i = 0; i < pythia->locating.n_findings; i++) {
		struct finding *finding = &pythia->locating.findings[i];

		if (!finding->change && finding->rule == STOP_CHANGED &&
				++finding->unchanged >= GONE_ROUNDS) {
			finding_note(finding, "it is no longer otherwise than in the baseline");
			finding->rule = STOP_HEALTHY;
			finding->told_all = false;
			finding->changed_key = 0;
		}
	}
}
