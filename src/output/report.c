/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "output/report.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>
#include <time.h>

#include "output/formats.h"
#include "output/markdown.h"
#include "pythiatop/text.h"

#define SEGMENTS   12 /* of the critical path */
#define STEPS_MOST 100
#define PLOT_LABEL 24 /* bytes of a value */

#ifndef PT_VERSION
#define PT_VERSION "unknown"
#endif

static const char *const rule_words[] = {
		[STOP_NONE] = "the search goes on",
		[STOP_CODE] = "rule 1: this code",
		[STOP_VARIABLE] = "rule 2: a variable explains it",
		[STOP_HEALTHY] = "rule 3: nothing varies any more",
		[STOP_DIFFUSE] = "rule 4: no single place holds it",
		[STOP_SPENT] = "rule 5: budget or time used up",
};

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

static const char *duration(char *cell, uint64_t ns)
{
	return output_duration(cell, true, (double)ns);
}

static const char *share(char *cell, bool valid, double value)
{
	snprintf(cell, OUTPUT_CELL, valid && isfinite(value) ? "%.1f %%" : "-", 100 * value);
	return cell;
}

/* A bound, so it is rounded up, to two digits; never 0. */
static const char *p_bound(char *cell, const struct explained_key *key)
{
	double unit;

	if (key->shifts == 0 || !(key->p > 0)) {
		snprintf(cell, OUTPUT_CELL, "-");
		return cell;
	}
	unit = pow(10, floor(log10(key->p)) - 1);
	snprintf(cell, OUTPUT_CELL, "<= %.2g", fmin(ceil(key->p / unit - 1e-6) * unit, 1));
	return cell;
}

static const char *p_tail(char *cell, double p)
{
	snprintf(cell, OUTPUT_CELL, p < 1e-9 ? "< 1e-9" : "%.2g", p);
	return cell;
}

static const char *rate(char *cell, double per_s, const char *unit)
{
	snprintf(cell, OUTPUT_CELL, isfinite(per_s) && per_s > -0.5 ? "%.0f %s/s" : "-", per_s,
			unit);
	return cell;
}

static bool is_done(const struct steps_finding *finding)
{
	return finding && finding->explanation && finding->explanation->state == EXPLANATION_DONE;
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

/* A cell of a table, after its border. */
static void put_cell(FILE *out, const char *text)
{
	fputs(" ", out);
	markdown_put(out, text && text[0] ? text : "-");
	fputs(" |", out);
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
		put_cell(out, lines[i]);
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
			share(cell, true, key->omega2_held), p_bound(p, key));
	for (uint32_t i = 0; i < explanation->n_values; i++) {
		fputs(i ? ", " : ": ", out);
		markdown_put(out, explanation->values[i].text);
		fprintf(out, " takes %s", duration(cell, explanation->values[i].p50_ns));
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

/* A group is flagged, or was asked for, that nobody has searched; or there is none. */
static void put_no_finding(FILE *out, const struct report_page *page)
{
	const char *lacks = page->snapshot->steps.lacks;
	const struct groups_row *row;
	uint32_t at;

	row = row_of(page, &at);
	if (!row) {
		fprintf(out,
				"# Nothing varies\n\nNone of %" PRIu32 " groups of requests was "
				"flagged; %" PRIu32 " need more requests to be judged.\n",
				page->snapshot->groups.n, page->snapshot->groups.need_more);
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

	if (!finding) {
		put_no_finding(out, page);
		return;
	}
	fputs(finding->rule == STOP_NONE ? "# No verdict so far: " : "# Verdict: ", out);
	put_group(out, finding->type, finding->path);
	fputs("\n\n**What was found:** ", out);
	put_sentence(out, finding->text);
	if (!is_done(finding) || finding->explanation->n_keys == 0 ||
			!finding->explanation->keys[0].confirmed) {
		put_no_variable(out, finding->explanation);
	} else if (strstr(finding->text, finding->explanation->keys[0].name)) {
		fprintf(out, "Why the search ended: %s.", rule_words[finding->rule]);
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

	fprintf(out, "| why the search ended | %s |\n", rule_words[finding->rule]);
	fputs("| where |", out);
	put_cell(out, finding->where);
	fprintf(out, "\n| its share of the variance | %s (90 %% interval: %s to %s) |\n",
			share(a, figures, finding->phi), share(b, figures, finding->phi_low),
			share(c, figures, finding->phi_high));
	fprintf(out, "| of requests | %" PRIu64 " |\n", finding->requests);
	if (is_done(finding)) {
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
				rate(a, finding->cost.events_per_s, "events"),
				rate(b, finding->cost.bytes_per_s, "bytes"),
				share(c, finding->cost.cpu_share >= 0, finding->cost.cpu_share));
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
				duration(a, row->modes[i].peak_ns),
				share(b, true, row->modes[i].share));
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
		put_cell(out, segment->name);
		put_cell(out, segment->where);
		fprintf(out, " %s | %s | %s | %s to %s |\n",
				output_duration(mean, true, segment->mean_ns),
				output_duration(sd, true, segment->sd_ns),
				share(a, true, segment->phi), share(b, true, segment->phi_low),
				share(c, true, segment->phi_high));
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

/* --- the variable --- */

/* One line a value: columns of one common axis, each up to the value's largest. */
static void put_strip(FILE *out, const uint32_t *bins)
{
	static const char *const columns[] = {" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
	uint32_t most = 0, i;

	for (i = 0; i < EXPLANATION_BINS; i++) {
		most = bins[i] > most ? bins[i] : most;
	}
	for (i = 0; i < EXPLANATION_BINS; i++) {
		const char *column = columns[most ? (8 * (uint64_t)bins[i] + most - 1) / most : 0];

		fprintf(out, "%s%s", column, column);
	}
}

/* In a block of code nothing is Markdown; a line of it is whatever begins with four blanks. */
static void put_plot(FILE *out, const struct explanation *explanation)
{
	char cell[OUTPUT_CELL], high[OUTPUT_CELL], label[PLOT_LABEL + 1];
	int used, width = 1;

	for (uint32_t i = 0; i < explanation->n_values; i++) {
		int length = (int)text_escape(label, sizeof(label), explanation->values[i].text);

		width = length > width ? length : width;
	}
	for (uint32_t i = 0; i < explanation->n_values; i++) {
		text_escape(label, sizeof(label), explanation->values[i].text);
		fputs("    ", out);
		output_padded(out, label, width);
		fprintf(out, " %5.1f %% %8s  ", 100 * explanation->values[i].share,
				duration(high, explanation->values[i].p50_ns));
		put_strip(out, explanation->values[i].bins);
		fputs("\n", out);
	}
	used = fprintf(out, "    %*s%s ", width + 19, "", duration(cell, explanation->low_ns));
	duration(high, explanation->high_ns);
	used -= 4 + width + 19;
	for (; used < 2 * (int)EXPLANATION_BINS - (int)strlen(high) - 1; used++) {
		fputs("-", out);
	}
	fprintf(out, " %s\n\n", high);
}

static void put_values(FILE *out, const struct explanation *explanation)
{
	char mean[OUTPUT_CELL], p50[OUTPUT_CELL], part[OUTPUT_CELL];

	if (explanation->n_values == 0) {
		return;
	}
	fputs("\n## Latency by value of ", out);
	markdown_put(out, explanation->n_keys > 0 ? explanation->keys[0].name : "");
	fputs("\n\n", out);
	put_plot(out, explanation);
	fputs("| value | requests | share | mean | p50 |\n|---|--:|--:|--:|--:|\n", out);
	for (uint32_t i = 0; i < explanation->n_values; i++) {
		const struct explained_value *value = &explanation->values[i];

		fputs("|", out);
		put_cell(out, value->text);
		fprintf(out, " %" PRIu64 " | %s | %s | %s |\n", value->count,
				share(part, true, value->share),
				output_duration(mean, value->count > 0, value->mean_ns),
				output_duration(p50, value->count > 0, (double)value->p50_ns));
	}
}

static void put_key(FILE *out, const struct explained_key *key)
{
	char effect[OUTPUT_CELL], held[OUTPUT_CELL], p[OUTPUT_CELL];

	fputs("|", out);
	put_cell(out, key->name);
	put_cell(out, key->where);
	fprintf(out, " %s | %s | %s | ", output_key_sources[key->source],
			share(effect, true, key->omega2), share(held, true, key->omega2_held));
	fprintf(out, key->numeric ? "%.2f" : "-", key->rho);
	fprintf(out, " | %s | %s | ", p_bound(p, key), key->confirmed ? "yes" : "no");
	for (uint32_t i = 0; i < key->n_together; i++) {
		fputs(i ? ", " : "", out);
		markdown_put(out, key->together[i]);
	}
	fputs(" |\n", out);
}

static void put_joint(FILE *out, const struct explanation *explanation)
{
	char p[OUTPUT_CELL];

	if (explanation->n_columns > 0) {
		fprintf(out,
				"\nAll variables together explain R² = %.3f of the duration "
				"(%" PRIu32 " columns, F = %.4g, p %s).\n",
				explanation->r2, explanation->n_columns, explanation->f,
				p_tail(p, explanation->f_p));
	}
	if (explanation->n_segments > 0) {
		fprintf(out,
				"Against the %" PRIu32 " segments of the critical path: canonical "
				"correlation %.3f, Wilks' "
				"lambda %.3g, chi² = %.4g of %" PRIu32
				" degrees of freedom, p %s.\n",
				explanation->n_segments, explanation->canonical, explanation->wilks,
				explanation->chi2, explanation->df, p_tail(p, explanation->chi2_p));
	}
}

static void put_variables(FILE *out, const struct report_page *page)
{
	const struct explanation *explanation;

	if (!is_done(page->finding)) {
		return;
	}
	explanation = page->finding->explanation;
	put_values(out, explanation);
	if (explanation->n_keys > 0) {
		fputs("\n## Variables\n\nEffect: the share of the variance between requests that "
		      "goes with a variable (omega²), where it was looked for and in the half that "
		      "was held out; p is adjusted for all of them, by circular shifts.\n\n"
		      "| variable | of | is a | effect | held out | rho | p | holds | cannot be "
		      "told from |\n|---|---|---|--:|--:|--:|--:|---|---|\n",
				out);
	}
	for (uint32_t i = 0; i < explanation->n_keys; i++) {
		put_key(out, &explanation->keys[i]);
	}
	put_joint(out, explanation);
	if (explanation->n_out > 0) {
		fputs("\nLeft out, as nothing can be told by them:\n\n"
		      "| variable | why |\n|---|---|\n",
				out);
	}
	for (uint32_t i = 0; i < explanation->n_out; i++) {
		fputs("|", out);
		put_cell(out, explanation->out[i].name);
		put_cell(out, explanation->out[i].why);
		fputs("\n", out);
	}
}

/* --- steps --- */

static void put_step(FILE *out, const struct step_row *row)
{
	char when[OUTPUT_CELL], predicted[OUTPUT_CELL], actual[OUTPUT_CELL];

	fprintf(out, "| %" PRIu32 " | %s | %s | %s |", row->id, instant(when, row->proposed_ns),
			output_step_states[row->state], output_step_doers[row->by]);
	put_cell(out, row->title);
	put_cell(out, row->why);
	if (row->kind == STEP_DISABLE && row->predicted.events_per_s < -1) {
		snprintf(predicted, sizeof(predicted), "%.0f events/s",
				row->predicted.events_per_s); /* what is saved */
	} else {
		rate(predicted, row->predicted.events_per_s, "events");
	}
	fprintf(out, " %s | %s |", predicted,
			rate(actual, row->done_ns ? row->actual.events_per_s : -1, "events"));
	put_cell(out, row->effect);
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
		put_cell(out, exemplar->why);
		fprintf(out, " %s | %s | %" PRIu32 " | %" PRIu32 " |\n",
				instant(start, exemplar->request.start_ns),
				duration(took, exemplar->request.duration_ns),
				exemplar->request.spans, exemplar->request.hosts);
	}
}

/* --- how it was recorded --- */

static void put_source(FILE *out, const struct source_row *row)
{
	fputs("|", out);
	put_cell(out, row->host);
	put_cell(out, row->session);
	put_cell(out, row->url);
	fprintf(out,
			" %s | %" PRIu64 " | %" PRIu64 " | %" PRIu64 " | %" PRIu64 " | %" PRIu32
			" |\n",
			output_source_state_name(row->state), row->events, row->discarded,
			row->discarded_packets, row->late, row->gaps);
}

static void put_terms(FILE *out, const struct steps_view *view)
{
	char events[OUTPUT_CELL], bytes[OUTPUT_CELL], cpu[OUTPUT_CELL];

	fprintf(out, "| mode, strategy | %s, ", output_step_modes[view->mode]);
	markdown_put(out, view->strategy && view->strategy[0] ? view->strategy : "-");
	fprintf(out, " |\n| budget | %s, %s, %s of a CPU |\n",
			rate(events, view->budget.events_per_s > 0 ? view->budget.events_per_s : -1,
					"events"),
			rate(bytes, view->budget.bytes_per_s > 0 ? view->budget.bytes_per_s : -1,
					"bytes"),
			share(cpu, view->budget.cpu_share > 0, view->budget.cpu_share));
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
			duration(one, snapshot->horizon_ns), duration(two, snapshot->window_ns),
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
	put_cell(out, page->decisions);
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
	put_variables(out, page);
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
