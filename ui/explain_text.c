/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "explain_text.h"
#include "text.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/text_add.h"
#include "format.h"

#define VALUES_NAMED 3
#define WHOLE        0.8  /* a key of at least this share explains it, of less in part */
#define LEAST_TAIL   1e-9 /* smaller ones of a formula say no more */
#define CHANCE_P     0.5  /* a key beyond it, or of less than LEAST_SHARE, is not worth a name */
#define LEAST_SHARE  0.01

bool explain_found(const struct explanation *explanation)
{
	return explanation && explanation->state == EXPLANATION_DONE && explanation->n_keys > 0 &&
	       explanation->keys[0].confirmed;
}

/* Two digits, rounded up: what is below the bound stays below it. */
static double round_up(double p)
{
	double unit = pow(10, floor(log10(p)) - 1);

	return ceil(p / unit - 1e-6) * unit;
}

void explain_p(char *out, size_t size, const struct explained_key *key)
{
	if (key->shifts == 0 || !(key->p > 0)) {
		snprintf(out, size, "p -");
	} else {
		snprintf(out, size, "p <= %.2g", fmin(round_up(key->p), 1));
	}
}

void explain_tail(char *out, size_t size, double p)
{
	if (!(p >= 0)) {
		snprintf(out, size, "p -");
	} else if (p < LEAST_TAIL) {
		snprintf(out, size, "p < %.0e", LEAST_TAIL);
	} else {
		snprintf(out, size, "p %.2g", p);
	}
}

const char *explain_source(enum explanation_source source)
{
	static const char *const names[] = {"field", "host", "count", "resource"};

	return source <= EXPLANATION_RESOURCE ? names[source] : "-";
}

static void unfinished(char *out, size_t size, const struct explanation *explanation)
{
	char share[FORMAT_BYTES];

	switch (explanation->state) {
	case EXPLANATION_RUNNING:
		snprintf(out, size, "a variable that explains it is being looked for: %s",
				format_share(share, explanation->progress));
		break;
	case EXPLANATION_FEW:
		if (explanation->missing > 0) {
			snprintf(out, size,
					"a variable can be looked for after %" PRIu32
					" more requests",
					explanation->missing);
		} else {
			snprintf(out, size, "no variable: no value of the requests varies");
		}
		break;
	default:
		break;
	}
}

static void nothing_found(char *out, size_t size, const struct explanation *explanation)
{
	const struct explained_key *first = explanation->keys;
	char share[FORMAT_BYTES], p[FORMAT_BYTES];

	if (explanation->n_keys == 0) {
		snprintf(out, size, "no variable explains it: no key is left to look at");
		return;
	}
	if (first->shifts == 0 || first->p > CHANCE_P || first->omega2 < LEAST_SHARE) {
		snprintf(out, size, "no variable explains it");
		return;
	}
	explain_p(p, sizeof(p), first);
	snprintf(out, size, "no variable explains it; %.200s goes with %s of it (%s)", first->name,
			format_share(share, first->omega2), p);
}

void explain_head(char *out, size_t size, const struct explanation *explanation)
{
	const struct explained_key *first;
	char share[FORMAT_BYTES];

	out[0] = '\0';
	if (!explanation) {
		return;
	}
	if (explanation->state != EXPLANATION_DONE) {
		unfinished(out, size, explanation);
		return;
	}
	if (!explain_found(explanation)) {
		nothing_found(out, size, explanation);
		return;
	}
	first = &explanation->keys[0];
	if (first->omega2_held >= WHOLE) {
		snprintf(out, size, "explained by %.300s", first->name);
	} else {
		snprintf(out, size, "%s of it explained by %.300s",
				format_share(share, first->omega2_held), first->name);
	}
}

void explain_sentence(char *out, size_t size, const struct explanation *explanation)
{
	char took[FORMAT_BYTES];
	uint32_t n = explanation ? explanation->n_values : 0;

	explain_head(out, size, explanation);
	if (!explain_found(explanation)) {
		return;
	}
	for (uint32_t i = 0; i < n; i++) {
		if (n > VALUES_NAMED && i == VALUES_NAMED - 1) {
			text_add(out, size, ", …"); /* of many, those at both ends */
			i = n - 1;
		}
		text_add(out, size, "%s %.60s -> %s", i ? "," : ":", explanation->values[i].text,
				format_duration(took, (double)explanation->values[i].p50_ns));
	}
}

void explain_evidence(char *out, size_t size, const struct explanation *explanation)
{
	char share[FORMAT_BYTES], p[FORMAT_BYTES];

	out[0] = '\0';
	if (!explain_found(explanation)) {
		return;
	}
	explain_p(p, sizeof(p), &explanation->keys[0]);
	snprintf(out, size, "%s held out, n %" PRIu32 "+%" PRIu32 ", %s",
			format_share(share, explanation->keys[0].omega2_held), explanation->n,
			explanation->n_held, p);
}
