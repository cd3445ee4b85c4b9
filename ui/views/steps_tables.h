/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef UI_STEPS_TABLES_H
#define UI_STEPS_TABLES_H

#include "widgets/table.h"

/* The tables of screen 5: their data is a struct steps_view, of the evidence a struct verdict. */
extern const struct table_source steps_findings, steps_rows, steps_evidence, steps_hosts;

#endif
