/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "output/report_cells.h"

#include <math.h>

#include "output/formats.h"
#include "output/markdown.h"

const char *report_duration(char *cell, uint64_t ns)
{
	return output_duration(cell, true, (double)ns);
}

const char *report_share(char *cell, bool valid, double value)
{
	snprintf(cell, OUTPUT_CELL, valid && isfinite(value) ? "%.1f %%" : "-", 100 * value);
	return cell;
}

const char *report_p(char *cell, const struct explained_key *key)
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

const char *report_rate(char *cell, double per_s, const char *unit)
{
	snprintf(cell, OUTPUT_CELL, isfinite(per_s) && per_s > -0.5 ? "%.0f %s/s" : "-", per_s,
			unit);
	return cell;
}

void report_put_cell(FILE *out, const char *text)
{
	fputs(" ", out);
	markdown_put(out, text && text[0] ? text : "-");
	fputs(" |", out);
}

bool report_is_explained(const struct steps_finding *finding)
{
	return finding && finding->explanation && finding->explanation->state == EXPLANATION_DONE;
}
