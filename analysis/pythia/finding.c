/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/text_add.h"
#include "pythia/state.h"

/* What is known of a group's search: its record, without what makes it go on. */

static void finding_release(struct finding *finding)
{
	verdict_release(&finding->kept);
	free(finding->told_nothing);
	for (uint32_t i = 0; i < finding->n_history; i++) {
		free(finding->history[i]);
	}
	*finding = (struct finding){.edge = SPACE_NONE};
}

const struct finding *finding_find(const struct pythia *pythia, uint32_t group_id)
{
	for (uint32_t i = 0; i < pythia->locating.n_findings; i++) {
		if (pythia->locating.findings[i].group_id == group_id) {
			return &pythia->locating.findings[i];
		}
	}
	return NULL;
}

const struct finding *finding_searched(const struct pythia *pythia, uint32_t group_id)
{
	const struct finding *finding = finding_find(pythia, group_id);

	return finding && finding->rule == STOP_NONE ? finding : NULL;
}

struct finding *finding_of(struct pythia *pythia, uint32_t group_id, bool make, uint32_t type)
{
	const struct finding *found = finding_find(pythia, group_id);

	if (found) {
		return &pythia->locating.findings[found - pythia->locating.findings];
	}
	if (!make || pythia->locating.n_findings == PYTHIA_MAX_FINDINGS) {
		return NULL;
	}
	pythia->locating.findings[pythia->locating.n_findings] =
			(struct finding){.group_id = group_id,
					.type = type,
					.edge = SPACE_NONE,
					.judged_epoch = UINT32_MAX,
					.calm_ns = pythia->now_ns,
					.started_ns = pythia->now_ns};
	return &pythia->locating.findings[pythia->locating.n_findings++];
}

void finding_rule_out(struct finding *finding, uint32_t point, double phi)
{
	if (finding->told_words == 0) {
		finding->n_ruled_out = 0;
	}
	if (!finding_rules_out(finding, point) && finding->n_ruled_out < FINDING_RULED_OUT) {
		finding->ruled_out[finding->n_ruled_out].point = point;
		finding->ruled_out[finding->n_ruled_out++].phi = phi;
	}
	if (!array_extend(&finding->told_nothing, &finding->told_words, point / 64 + 1)) {
		return;
	}
	finding->told_nothing[point / 64] |= UINT64_C(1) << point % 64;
}

bool finding_rules_out(const struct finding *finding, uint32_t point)
{
	return point / 64 < finding->told_words &&
	       (finding->told_nothing[point / 64] >> point % 64 & 1);
}

void finding_tell(const struct pythia *pythia, struct finding *finding,
		const struct steps_verdict *verdict)
{
	struct steps_verdict typed = *verdict;

	typed.type = typed.type ? typed.type : names_text(pythia->names, finding->type);
	verdict_keep(&finding->kept, &typed);
}

void finding_stop(const struct pythia *pythia, struct finding *finding, enum stop_rule rule,
		const struct steps_verdict *verdict)
{
	struct steps_verdict placed = *verdict;
	char text[VERDICT_BYTES];

	placed.process = placed.process ? placed.process : finding->process;
	placed.host = placed.host ? placed.host : finding->host;
	finding_tell(pythia, finding, &placed);
	finding->rule = rule;
	finding->ended_ns = pythia->now_ns;
	verdict_text(text, sizeof(text), &finding->kept.verdict);
	finding_note(finding, "stopped: %s", text);
}

void finding_note(struct finding *finding, const char *format, ...)
{
	char text[512];
	char *copy;
	va_list list;

	va_start(list, format);
	vsnprintf(text, sizeof(text), format, list);
	va_end(list);
	copy = strdup(text);
	if (!copy) {
		return;
	}
	if (finding->n_history == PYTHIA_MAX_HISTORY) {
		free(finding->history[0]);
		memmove(&finding->history[0], &finding->history[1],
				(PYTHIA_MAX_HISTORY - 1) * sizeof(*finding->history));
		finding->n_history--;
	}
	finding->history[finding->n_history++] = copy;
}

void locating_release(struct locating *locating)
{
	for (uint32_t i = 0; i < locating->n_findings; i++) {
		finding_release(&locating->findings[i]);
	}
	free(locating->nodes);
}

bool locating_reserve(struct locating *locating, uint32_t n)
{
	return array_reserve(&locating->nodes, &locating->nodes_room, n);
}

const char *finding_share_of(const struct finding *finding)
{
	return finding->slow ? "slowdown" : "variance";
}

void tree_where(const struct tree_view *tree, uint32_t row, char *out, size_t size)
{
	uint32_t chain[64], n = 0;

	for (; row != UINT32_MAX && n < 64; row = tree->rows[row].parent) {
		chain[n++] = row;
	}
	out[0] = '\0';
	while (n > 0) {
		text_add(out, size, "%s%s", out[0] ? " > " : "", tree->rows[chain[--n]].name);
	}
}

uint32_t tree_code_above(const struct tree_view *tree, uint32_t at)
{
	bool calls = false;

	while (at != UINT32_MAX &&
			(tree->rows[at].name[0] == '(' ||
					strncmp(tree->rows[at].name, "syscall_", 8) == 0)) {
		calls = calls || tree->rows[at].name[0] != '(';
		at = tree->rows[at].parent;
	}
	return calls ? at : UINT32_MAX;
}
