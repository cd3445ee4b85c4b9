/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/expression.h"

#include <ctype.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What makes an expression expensive out of all proportion to its length; NULL: nothing. */
static const char *too_expensive(const char *text)
{
	unsigned long product = 1;

	if (strlen(text) > EXPRESSION_MAX_BYTES) {
		return "it is longer than 1024 bytes";
	}
	for (const char *at = text; *at; at++) {
		if (*at == '\\' && at[1]) {
			at++;
			if (*at >= '1' && *at <= '9') {
				return "it has a back-reference";
			}
		} else if (*at == '{' && (isdigit((unsigned char)at[1]) || at[1] == ',')) {
			char *end;
			unsigned long most = strtoul(at + 1, &end, 10);

			if (*end == ',' && isdigit((unsigned char)end[1])) {
				most = strtoul(end + 1, &end, 10);
			}
			product = most > EXPRESSION_MAX_REPEATED ? most
								 : product * (most ? most : 1);
			if (product > EXPRESSION_MAX_REPEATED) {
				return "it repeats something more than 1000 times";
			}
		}
	}
	return NULL;
}

bool expression_make(struct expression *expression, const char *text, char *wrong, size_t size)
{
	const char *expensive = too_expensive(text);
	locale_t bytes, before;
	int code;

	if (expensive) {
		snprintf(wrong, size, "%s", expensive);
		return false;
	}
	/* What a byte is, an expression learns when it is compiled. */
	bytes = newlocale(LC_ALL_MASK, "C", (locale_t)0);
	if (!bytes) {
		snprintf(wrong, size, "out of memory");
		return false;
	}
	before = uselocale(bytes);
	code = regcomp(&expression->regex, text, REG_EXTENDED);
	if (code != 0) {
		regerror(code, &expression->regex, wrong, size);
	} else {
		expression->n_groups = (uint32_t)expression->regex.re_nsub;
	}
	uselocale(before);
	freelocale(bytes);
	return code == 0;
}

void expression_release(struct expression *expression)
{
	regfree(&expression->regex);
}

bool expression_find(const struct expression *expression, const char *text, uint32_t length,
		regmatch_t *groups, uint32_t n)
{
	groups[0] = (regmatch_t){.rm_so = 0, .rm_eo = (regoff_t)length};
	return regexec(&expression->regex, text, n, groups, REG_STARTEND) == 0;
}
