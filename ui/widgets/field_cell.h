/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef UI_FIELD_CELL_H
#define UI_FIELD_CELL_H

#include <stddef.h>

#include "pythiatop/snapshot/row_field.h"

/*
 * A field of a row as a cell of a table, and the order of rows by it. What is not known is "-",
 * never 0, and comes before everything that is known.
 */

/* Writes the field as its unit is shown; at least FORMAT_BYTES. Text is cut at a character. */
void field_print(char *out, size_t size, const struct row_field *field, const void *row);

/* As a number; NAN where it is text or not known. */
double field_figure(const struct row_field *field, const void *row);

/* < 0, 0, > 0: text by bytes, else by the figure. */
int field_compare(const struct row_field *field, const void *a, const void *b);

#endif
