/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PT_OUTPUT_JSON_VALUES_H
#define PT_OUTPUT_JSON_VALUES_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

/* Values of a document. All return a new reference, NULL if out of memory. */
json_t *json_text(const char *value); /* escaped: what a trace holds need not be UTF-8 */
json_t *json_count(uint64_t value);
json_t *json_count_if(bool valid, uint64_t value); /* null if not */
json_t *json_real_if(bool valid, double value);

#endif
