/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PT_OUTPUT_MARKDOWN_H
#define PT_OUTPUT_MARKDOWN_H

#include <stdio.h>

/*
 * Text from a trace in Markdown (CommonMark 0.30 with tables): first made safe as everywhere
 * (pythiatop/text.h), then what Markdown or HTML would take for their own gets a backslash. It
 * never begins a line: whoever writes it puts words of his own before it, or a cell's border.
 */
void markdown_put(FILE *out, const char *text);

#endif
