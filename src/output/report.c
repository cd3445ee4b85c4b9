/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "output/report.h"

#include <inttypes.h>
#include <string.h>
#include <time.h>

#include "output/formats.h"
#include "output/markdown.h"
#include "output/report_cells.h"

#define SEGMENTS   12 /* of the critical path */
#define STEPS_MOST 100

/* --- words --- */

/* 2026-01-31 10:00:06.500 UTC; "-": not known. */
static const char *instant(char *cell, uint64_t time_ns)
{
	time_t seconds = (time_t)(time_ns / 1000000000u);
	char day[32];
	struct tm utc;

	if (time_ns == 0 || !gmtime_r(&seconds, &utc) ||
			strftime(day, sizeof(day), "%Y-%m-%d %H:%M:%S", &utc) == 0) {
		snprintf(cell, OUTPUT_CELL, "-");
	} else {
		snprintf(cell, OUTPUT_CELL, "%s.%03u UTC", day,
				(unsigned int)(time_ns / 1000000 % 1000));
	}
	return cell;
}

/* "rule 1: this code" */
static const char *rule_words(char *cell, enum stop_rule rule)
{
	if (rule == STOP_NONE) {
		snprintf(cell, OUTPUT_CELL, "%s", stop_rule_words[rule]);
	} else {
		snprintf(cell, OUTPUT_CELL, "rule %d: %s", (int)rule, stop_rule_words[rule]);
	}
	return cell;
}

/* "server create (api>compute)" */
static void put_group(FILE *out, const char *type, const char *path)
{
	markdown_put(out, type[0] ? type : "(no name)");
	if (path[0]) {
		fputs(" (", out);
		markdown_put(out, path);
		fputs(")", out);
	}
}

/* A sentence that may have its end already. */
static void put_sentence(FILE *out, const char *text)
{
	size_t length = strlen(text);

	markdown_put(out, text);
	fputs(length > 0 && strchr(".?!", text[length - 1]) ? "\n" : ".\n", out);
}

static void put_list(FILE *out, const char *heading, const char *const *lines, uint32_t n)
{
	if (n == 0) {
		return;
	}
	/* A table, since text in a list may look like a list of its own. */
	fprintf(out, "\n## %s\n\n| | |\n|--:|---|\n", heading);
	for (uint32_t i = 0; i < n; i++) {
		fprintf(out, "| %" PRIu32 " |", i + 1);
		report_put_cell(out, lines[i]);
		fputs("\n", out);
	}
}

/* --- the verdict in two sentences --- */

/* "Explained by queue\_len (92.0 % of the variance held out, p <= 0.001): 0 takes 400ms, ..." */
static void put_variable(FILE *out, const struct explanation *explanation)
{
	const struct explained_key *key = &explanation->keys[0];
	char cell[OUTPUT_CELL], p[OUTPUT_CELL];

	fputs("It is explained by **", out);
	markdown_put(out, key->name);
	fprintf(out, "** (%s of the variance in requests held out, p %s)",
			report_share(cell, true, key->omega2_held), report_p(p, key));
	for (uint32_t i = 0; i < explanation->n_values; i++) {
		fputs(i ? ", " : ": ", out);
		markdown_put(out, explanation->values[i].text);
		fprintf(out, " takes %s", report_duration(cell, explanation->values[i].p50_ns));
	}
	fputs(".", out);
}

static void put_no_variable(FILE *out, const struct explanation *explanation)
{
	switch (explanation ? explanation->state : EXPLANATION_NONE) {
	case EXPLANATION_NONE:
		fputs("Nobody has asked which variable explains it.", out);
		break;
	case EXPLANATION_FEW:
		if (explanation->missing > 0) {
			fprintf(out,
					"Which variable explains it can be told after %" PRIu32
					" more requests.",
					explanation->missing);
		} else {
			fputs("No value of the requests varies, so no variable explains it.", out);
		}
		break;
	case EXPLANATION_RUNNING:
		fprintf(out, "A variable that explains it was being looked for (%.0f %%).",
				100 * explanation->progress);
		break;
	default:
		fputs("No variable explains it.", out);
		break;
	}
}

static const struct groups_row *row_of(const struct report_page *page, uint32_t *at)
{
	const struct groups_view *groups = &page->snapshot->groups;

	for (*at = 0; page->group_id && *at < groups->n; (*at)++) {
		if (groups->rows[*at].id == page->group_id) {
			return &groups->rows[*at];
		}
	}
	return NULL;
}

/* No group is flagged: what was judged, and what was missing for the others. */
static void put_nothing(FILE *out, const struct groups_view *groups)
{
	uint64_t most = 0;

	for (uint32_t i = 0; i < groups->n; i++) {
		most = groups->rows[i].count > most ? groups->rows[i].count : most;
	}
	if (groups->n == 0) {
		fputs("# Nothing was found: there are no requests\n\nScreen 7, or the `unmatched` "
		      "of a "
		      "document, says what became of the events.\n",
				out);
	} else if (groups->need_more == groups->n) {
		fprintf(out,
				"# Nothing was found: too few requests\n\nNo group of requests has "
				"the %" PRIu32 " that it takes to be judged; the largest has "
				"%" PRIu64 ".\n",
				groups->enough, most);
	} else {
		fprintf(out,
				"# Nothing varies\n\nNone of %" PRIu32 " groups of requests was "
				"flagged; %" PRIu32 " need more requests to be judged.\n",
				groups->n, groups->need_more);
	}
}

/* A group is flagged, or was asked for, that nobody has searched; or there is none. */
static void put_no_finding(FILE *out, const struct report_page *page)
{
	const char *lacks = page->snapshot->steps.lacks;
	const struct groups_row *row;
	uint32_t at;

	row = row_of(page, &at);
	if (!row) {
		put_nothing(out, &page->snapshot->groups);
		return;
	}
	fputs("# No verdict so far: ", out);
	put_group(out, row->type, row->path);
	fputs("\n\nThis group was not searched so far", out);
	if (lacks && lacks[0]) {
		fputs(": ", out);
		put_sentence(out, lacks);
	} else {
		fputs(".\n", out);
	}
}

static void put_verdict(FILE *out, const struct report_page *page)
{
	const struct steps_finding *finding = page->finding;
	char cell[OUTPUT_CELL];

	if (!finding) {
		put_no_finding(out, page);
		return;
	}
	fputs(finding->rule == STOP_NONE ? "# No verdict so far: " : "# Verdict: ", out);
	put_group(out, finding->type, finding->path);
	fputs("\n\n**What was found:** ", out);
	put_sentence(out, finding->text);
	if (!report_is_explained(finding) || finding->explanation->n_keys == 0 ||
			!finding->explanation->keys[0].confirmed) {
		put_no_variable(out, finding->explanation);
	} else if (verdict_names_key(&finding->verdict)) {
		fprintf(out, "Why the search ended: %s.", rule_words(cell, finding->rule));
	} else {
		put_variable(out, finding->explanation);
	}
	fputs("\n", out);
}

/* --- the evidence --- */

static void put_finding(FILE *out, const struct report_page *page)
{
	const struct steps_finding *finding = page->finding;
	char a[OUTPUT_CELL], b[OUTPUT_CELL], c[OUTPUT_CELL];
	bool figures = finding->requests > 0;

	fprintf(out, "| why the search ended | %s |\n", rule_words(a, finding->rule));
	fprintf(out, "| whether that is normal | %s |\n",
			finding->no_normal ? "not known: there was no baseline, and nothing learned"
			: finding->rule == STOP_HEALTHY ? "it is"
							: "it goes beyond that");
	fputs("| where |", out);
	report_put_cell(out, finding->where);
	fprintf(out, "\n| its share of the variance | %s (90 %% interval: %s to %s) |\n",
			report_share(a, figures, finding->phi),
			report_share(b, figures, finding->phi_low),
			report_share(c, figures, finding->phi_high));
	fprintf(out, "| of requests | %" PRIu64 " |\n", finding->requests);
	if (report_is_explained(finding)) {
		fprintf(out, "| explained by requests, held out | %" PRIu32 ", %" PRIu32 " |\n",
				finding->explanation->n, finding->explanation->n_held);
	}
	if (finding->n_steps == 0 && finding->rule != STOP_NONE) {
		fputs("| steps taken | none: at once, with what was on |\n", out);
	} else {
		fprintf(out, "| steps taken | %" PRIu32 " in %.0f s |\n", finding->n_steps,
				finding->seconds);
	}
	fprintf(out, "| points enabled for it | %" PRIu32 " of %" PRIu32 " |\n", finding->n_points,
			page->snapshot->steps.known);
	if (finding->n_points > 0) {
		fprintf(out, "| what they cost | %s, %s, %s of a CPU |\n",
				report_rate(a, finding->cost.events_per_s, "events"),
				report_rate(b, finding->cost.bytes_per_s, "bytes"),
				report_share(c, finding->cost.cpu_share >= 0,
						finding->cost.cpu_share));
	}
}

static void put_group_figures(FILE *out, const struct groups_row *row)
{
	char a[OUTPUT_CELL], b[OUTPUT_CELL], c[OUTPUT_CELL], d[OUTPUT_CELL];
	bool some = row->count > 0;

	fprintf(out,
			"| the group's requests | %" PRIu64 ", and left out: %" PRIu64
			" tainted by lost events, %" PRIu64 " partial |\n",
			row->count, row->tainted, row->partial);
	fprintf(out, "| of them failed | %" PRIu64 " of %" PRIu64 " that ended, %s to %s |\n",
			row->failed, row->ended, report_share(a, row->ended > 0, row->failed_low),
			report_share(b, row->ended > 0, row->failed_high));
	fprintf(out, "| p50, p95, p99, max | %s, %s, %s, %s |\n",
			output_duration(a, some, (double)row->p50_ns),
			output_duration(b, some, (double)row->p95_ns),
			output_duration(c, some, (double)row->p99_ns),
			output_duration(d, some, (double)row->max_ns));
	fprintf(out, "| mean, sd | %s, %s |\n", output_duration(a, some, row->mean_ns),
			output_duration(b, row->count > 1, row->sd_ns));
	output_flags(a, row);
	fprintf(out, "| flagged because | %s |\n", a[0] ? a : "-");
	for (uint32_t i = 0; i < row->n_modes && i < GROUPS_MAX_MODES; i++) {
		fprintf(out, "| latency %" PRIu32 " | about %s: %s of the requests |\n", i + 1,
				report_duration(a, row->modes[i].peak_ns),
				report_share(b, true, row->modes[i].share));
	}
}

static void put_location(FILE *out, const struct group_location *location)
{
	char a[OUTPUT_CELL], b[OUTPUT_CELL], c[OUTPUT_CELL], mean[OUTPUT_CELL], sd[OUTPUT_CELL];

	if (!location->located) {
		return;
	}
	fprintf(out,
			"\n## Where the time varies\n\nOf %" PRIu64
			" requests; shares of the variance of the whole duration.\n\n"
			"| segment | called from | mean | sd | share | 90 %% interval |\n"
			"|---|---|--:|--:|--:|---|\n",
			location->requests);
	for (uint32_t i = 0; i < location->n_segments && i < SEGMENTS; i++) {
		const struct group_segment *segment = &location->segments[i];

		fputs("|", out);
		report_put_cell(out, segment->name);
		report_put_cell(out, segment->where);
		fprintf(out, " %s | %s | %s | %s to %s |\n",
				output_duration(mean, true, segment->mean_ns),
				output_duration(sd, true, segment->sd_ns),
				report_share(a, true, segment->phi),
				report_share(b, true, segment->phi_low),
				report_share(c, true, segment->phi_high));
	}
	if (location->n_segments > SEGMENTS) {
		fprintf(out, "\nand %" PRIu32 " more in report.json.\n",
				location->n_segments - SEGMENTS);
	}
}

static void put_evidence(FILE *out, const struct report_page *page)
{
	const struct groups_row *row;
	uint32_t at;

	row = row_of(page, &at);
	if (!page->finding && !row) {
		return;
	}
	fputs("\n## Evidence\n\n| what | |\n|---|---|\n", out);
	if (page->finding) {
		put_finding(out, page);
	}
	if (row) {
		put_group_figures(out, row);
	}
	if (row && page->snapshot->groups.locations) {
		put_location(out, &page->snapshot->groups.locations[at]);
	}
}

/* --- steps --- */

static void put_step(FILE *out, const struct step_row *row)
{
	char when[OUTPUT_CELL], predicted[OUTPUT_CELL], actual[OUTPUT_CELL];

	fprintf(out, "| %" PRIu32 " | %s | %s | %s |", row->id, instant(when, row->proposed_ns),
			output_step_states[row->state], output_step_doers[row->by]);
	report_put_cell(out, row->title);
	report_put_cell(out, row->why);
	if (row->kind == STEP_DISABLE && row->predicted.events_per_s < -1) {
		snprintf(predicted, sizeof(predicted), "%.0f events/s",
				row->predicted.events_per_s); /* what is saved */
	} else {
		report_rate(predicted, row->predicted.events_per_s, "events");
	}
	fprintf(out, " %s | %s |", predicted,
			report_rate(actual, row->done_ns ? row->actual.events_per_s : -1,
					"events"));
	report_put_cell(out, row->effect);
	fputs("\n", out);
}

static void put_steps(FILE *out, const struct steps_view *view)
{
	uint32_t n = view->n < STEPS_MOST ? view->n : STEPS_MOST;

	fputs("\n## Steps, and what they cost\n\n", out);
	if (view->n == 0) {
		fputs("No step was taken.\n", out);
		return;
	}
	fputs("Measured is what all steps together cost after it.\n\n"
	      "| # | proposed | state | by | step | why | predicted | measured | effect |\n"
	      "|--:|---|---|---|---|---|--:|--:|---|\n",
			out);
	for (uint32_t i = n; i-- > 0;) {
		put_step(out, &view->rows[i]);
	}
	if (n < view->n) {
		fprintf(out, "\nand %" PRIu32 " older ones in report.json.\n", view->n - n);
	}
}

static void put_exemplars(FILE *out, const struct report_page *page)
{
	char start[OUTPUT_CELL], took[OUTPUT_CELL];

	fputs("\n## Requests to look at\n\n", out);
	if (page->n_exemplars == 0) {
		fputs("No request of the group was kept, so there is no trace.\n", out);
		return;
	}
	fprintf(out,
			"Their %" PRIu64 " original events, and no others, are in `trace/`: "
			"`pythiatop trace`, or `babeltrace2 trace`.\n\n"
			"| why this one | began | took | spans | hosts |\n|---|---|--:|--:|--:|\n",
			page->trace_events);
	for (uint32_t i = 0; i < page->n_exemplars; i++) {
		const struct report_exemplar *exemplar = &page->exemplars[i];

		fputs("|", out);
		report_put_cell(out, exemplar->why);
		fprintf(out, " %s | %s | %" PRIu32 " | %" PRIu32 " |\n",
				instant(start, exemplar->request.start_ns),
				report_duration(took, exemplar->request.duration_ns),
				exemplar->request.spans, exemplar->request.hosts);
	}
}

/* --- how it was recorded --- */

static void put_source(FILE *out, const struct source_row *row)
{
	fputs("|", out);
	report_put_cell(out, row->host);
	report_put_cell(out, row->session);
	report_put_cell(out, row->url);
	fprintf(out,
			" %s | %" PRIu64 " | %" PRIu64 " | %" PRIu64 " | %" PRIu64 " | %" PRIu32
			" |\n",
			source_state_name(row->state), row->events, row->discarded,
			row->discarded_packets, row->late, row->gaps);
}

static void put_terms(FILE *out, const struct steps_view *view)
{
	char events[OUTPUT_CELL], bytes[OUTPUT_CELL], cpu[OUTPUT_CELL];

	fprintf(out, "| mode, strategy | %s, ", output_step_modes[view->mode]);
	markdown_put(out, view->strategy && view->strategy[0] ? view->strategy : "-");
	fprintf(out, " |\n| budget | %s, %s, %s of a CPU |\n",
			report_rate(events,
					view->budget.events_per_s > 0 ? view->budget.events_per_s
								      : -1,
					"events"),
			report_rate(bytes,
					view->budget.bytes_per_s > 0 ? view->budget.bytes_per_s
								     : -1,
					"bytes"),
			report_share(cpu, view->budget.cpu_share > 0, view->budget.cpu_share));
	fprintf(out,
			"| points | skeleton %" PRIu32 ", enabled %" PRIu32
			", ever enabled %" PRIu32 ", known %" PRIu32 " |\n",
			view->skeleton, view->enabled, view->ever_enabled, view->known);
}

static void put_recording(FILE *out, const struct report_page *page)
{
	const struct snapshot *snapshot = page->snapshot;
	const struct accounting *a = &snapshot->accounting;
	char one[OUTPUT_CELL], two[OUTPUT_CELL];

	fprintf(out, "\n## How it was recorded\n\n| what | |\n|---|---|\n| written | %s |\n",
			instant(one, page->written_ns));
	fprintf(out, "| events | from %s to %s |\n", instant(one, snapshot->first_ns),
			instant(two, snapshot->time_ns));
	fprintf(out, "| statistics of | %s: %s; window %s%s |\n",
			output_horizon_name(snapshot->focus.horizon),
			report_duration(one, snapshot->horizon_ns),
			report_duration(two, snapshot->window_ns),
			snapshot->pinned ? ", frozen" : "");
	fprintf(out, "| events that the tracers lost | %" PRIu64 " |\n", snapshot->discarded);
	fprintf(out, "| events that came too late | %" PRIu64 " |\n", snapshot->late);
	fprintf(out,
			"| of %" PRIu64 " events | %" PRIu64 " in requests, %" PRIu64
			" of the system, %" PRIu64 " matched nothing, %" PRIu64 " pending, %" PRIu64
			" dropped |\n",
			a->in, a->in_request, a->state_only, a->unmatched, a->pending, a->dropped);
	put_terms(out, &snapshot->steps);
	fputs("| decisions |", out);
	report_put_cell(out, page->decisions);
	fprintf(out, "\n| pythiatop | %s |\n", PT_VERSION);
	fputs("\n| host | session | source | state | events | lost | packets lost | late | gaps |\n"
	      "|---|---|---|---|--:|--:|--:|--:|--:|\n",
			out);
	for (uint32_t i = 0; i < snapshot->sources.n; i++) {
		if (snapshot->sources.rows[i].state != SOURCE_OFFERED &&
				!snapshot->sources.rows[i].is_relay) {
			put_source(out, &snapshot->sources.rows[i]);
		}
	}
}

void report_write_page(FILE *out, const struct report_page *page)
{
	const struct steps_finding *finding = page->finding;

	put_verdict(out, page);
	if (finding && finding->next && finding->next[0]) {
		fputs("\n**Look next at:** ", out);
		put_sentence(out, finding->next);
	}
	put_evidence(out, page);
	if (report_is_explained(finding)) {
		report_put_variables(out, finding->explanation);
	}
	if (finding) {
		put_list(out, "Ruled out", finding->ruled_out, finding->n_ruled_out);
		put_list(out, "What was tried, and what it showed", finding->history,
				finding->n_history);
	}
	put_steps(out, &page->snapshot->steps);
	put_exemplars(out, page);
	put_recording(out, page);
	fputs("\nBeside this page: `report.json`, all of it for programs; `decisions.jsonl`, the "
	      "log of decisions",
			out);
	fputs(page->n_exemplars > 0 ? "; `trace/`, the requests above.\n" : ".\n", out);
}
