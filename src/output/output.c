/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "output/formats.h"
#include "output/output.h"

enum status output_write(
		FILE *out, enum output_format format, const struct snapshot *snapshot, bool first)
{
	enum status status = STATUS_OK;

	switch (format) {
	case OUTPUT_JSON:
		status = output_json(out, snapshot);
		break;
	case OUTPUT_TEXT:
		output_text(out, snapshot);
		break;
	case OUTPUT_CSV:
		output_csv(out, snapshot, first);
		break;
	}
	if (status == STATUS_OK && (fflush(out) != 0 || ferror(out))) {
		status = STATUS_IO;
	}
	return status;
}
