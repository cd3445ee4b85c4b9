/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <inttypes.h>
#include <string.h>

#include "output/formats.h"
#include "output/markdown.h"
#include "output/report_cells.h"
#include "pythiatop/text.h"

/* The part of a report on the variable that explains the latencies, and on all the others. */

#define PLOT_LABEL 24 /* bytes of a value */

static const char *p_tail(char *cell, double p)
{
	snprintf(cell, OUTPUT_CELL, p < 1e-9 ? "< 1e-9" : "%.2g", p);
	return cell;
}

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
		int columns;

		text_escape(label, sizeof(label), explanation->values[i].text);
		columns = output_width(label);
		width = columns > width ? columns : width;
	}
	for (uint32_t i = 0; i < explanation->n_values; i++) {
		text_escape(label, sizeof(label), explanation->values[i].text);
		fprintf(out, "    %s %5.1f %% %8s  ", output_fit(cell, label, width),
				100 * explanation->values[i].share,
				report_duration(high, explanation->values[i].p50_ns));
		put_strip(out, explanation->values[i].bins);
		fputs("\n", out);
	}
	used = fprintf(out, "    %*s%s ", width + 19, "",
			report_duration(cell, explanation->low_ns));
	report_duration(high, explanation->high_ns);
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
		report_put_cell(out, value->text);
		fprintf(out, " %" PRIu64 " | %s | %s | %s |\n", value->count,
				report_share(part, true, value->share),
				output_duration(mean, value->count > 0, value->mean_ns),
				output_duration(p50, value->count > 0, (double)value->p50_ns));
	}
}

static void put_key(FILE *out, const struct explained_key *key)
{
	char effect[OUTPUT_CELL], held[OUTPUT_CELL], p[OUTPUT_CELL];

	fputs("|", out);
	report_put_cell(out, key->name);
	report_put_cell(out, key->where);
	fprintf(out, " %s | %s | %s | ", output_key_sources[key->source],
			report_share(effect, true, key->omega2),
			report_share(held, true, key->omega2_held));
	fprintf(out, key->numeric ? "%.2f" : "-", key->rho);
	fprintf(out, " | %s | %s | ", report_p(p, key), key->confirmed ? "yes" : "no");
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

void report_put_variables(FILE *out, const struct explanation *explanation)
{
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
		report_put_cell(out, explanation->out[i].name);
		report_put_cell(out, explanation->out[i].why);
		fputs("\n", out);
	}
}
