/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PT_BASE_EXPRESSION_H
#define PT_BASE_EXPRESSION_H

#include <regex.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * POSIX extended regular expressions, of bytes, whatever the locale is. Time and memory are bounded
 * by what an expression may have: EXPRESSION_MAX_BYTES, no back-references, and at most
 * EXPRESSION_MAX_REPEATED as the product of all the bounds in it.
 */
#define EXPRESSION_MAX_BYTES    1024
#define EXPRESSION_MAX_REPEATED 1000

struct expression {
	regex_t regex;
	uint32_t n_groups; /* in parentheses */
};

/* False: why not is in `wrong`; else the owner frees it with expression_release(). */
bool expression_make(struct expression *expression, const char *text, char *wrong, size_t size);
void expression_release(struct expression *expression);

/*
 * Where the expression matches first in the text: groups[0] the whole, then its groups, as offsets;
 * -1 for a group that takes no part. False: nowhere.
 */
bool expression_find(const struct expression *expression, const char *text, uint32_t length,
		regmatch_t *groups, uint32_t n);

#endif
