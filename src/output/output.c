/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "output/formats.h"
#include "output/output.h"

enum status output_write(FILE *out, const struct output_style *style,
		const struct snapshot *snapshot, bool first)
{
	enum status status = STATUS_OK;

	switch (style->format) {
	case OUTPUT_JSON:
		status = output_json(out, snapshot);
		break;
	case OUTPUT_TEXT:
		output_text(out, snapshot, style->changes);
		break;
	case OUTPUT_CSV:
		output_csv(out, snapshot, first);
		break;
	case OUTPUT_FOLDED:
		status = output_folded(out, snapshot, style->weight);
		break;
	}
	if (status == STATUS_OK && (fflush(out) != 0 || ferror(out))) {
		status = STATUS_IO;
	}
	return status;
}
