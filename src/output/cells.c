/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "output/formats.h"
#include "pythiatop/text.h"

/* What stands in the cells of tables of text. */

/* A latency with three significant digits, or "-" where there is none. */
const char *output_duration(char *cell, bool valid, double ns)
{
	static const char *const units[] = {"ns", "us", "ms", "s"};
	size_t unit = 0;

	while (ns >= 999.5 && unit < 3) {
		ns /= 1000;
		unit++;
	}
	if (!valid) {
		snprintf(cell, OUTPUT_CELL, "-");
	} else {
		snprintf(cell, OUTPUT_CELL, "%.*f%s",
				unit == 0 || ns >= 99.95 ? 0
				: ns >= 9.995            ? 1
							 : 2,
				ns, units[unit]);
	}
	return cell;
}

const char *output_safe(char *cell, const char *text)
{
	text_escape(cell, OUTPUT_CELL, text);
	return cell;
}

void output_padded(FILE *out, const char *text, int columns)
{
	const char *c;
	int used = 0;

	for (c = text; *c; c++) {
		used += (*c & 0xc0) != 0x80;
	}
	fprintf(out, "%s%*s", text, used < columns ? columns - used : 1, "");
}

const char *output_flags(char *cell, const struct groups_row *row)
{
	size_t used = 0;
	uint32_t i;

	cell[0] = '\0';
	for (i = 0; i < OUTPUT_DETECTIONS; i++) {
		if (row->detection & 1u << i) {
			used += (size_t)snprintf(cell + used, OUTPUT_CELL - used, "%s%s",
					used ? "+" : "", output_detections[i]);
		}
	}
	return cell;
}
