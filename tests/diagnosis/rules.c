/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "rules.h"

#include <ctype.h>
#include <gsl/gsl_cdf.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WATCH_S 5 /* a step over the budget is undone within its watch */

static double number(json_t *object, const char *name)
{
	json_t *value = json_object_get(object, name);

	return json_is_number(value) ? json_number_value(value) : 0;
}

static const char *text(json_t *object, const char *name)
{
	const char *value = json_string_value(json_object_get(object, name));

	return value ? value : "";
}

/* --- places ---------------------------------------------------------------------------------- */

static bool is_code(const char *rule)
{
	return strcmp(rule, "code") == 0 || strcmp(rule, "variable") == 0;
}

/* The loop ends by itself at one of these; "healthy" only says that a search was given up. */
static bool is_stop(const char *rule)
{
	return is_code(rule) || strcmp(rule, "diffuse") == 0 || strcmp(rule, "spent") == 0 ||
	       strcmp(rule, "fails") == 0 || strcmp(rule, "peer") == 0;
}

static json_t *tree_of(json_t *document, double group)
{
	json_t *tree;
	size_t i;

	json_array_foreach(json_object_get(document, "contexts"), i, tree)
	{
		json_t *id = json_object_get(tree, "group");

		if (json_is_number(id) && fabs(json_number_value(id) - group) < 0.5) {
			return tree;
		}
	}
	return json_array_get(json_object_get(document, "contexts"), 0);
}

/* "a > b > c" from the root of the tree to one of its rows. */
static void chain_of(json_t *rows, size_t at, char *out, size_t size)
{
	json_t *row = json_array_get(rows, at), *parent = json_object_get(row, "parent");
	size_t used = 0;

	out[0] = '\0';
	if (json_is_integer(parent) && (size_t)json_integer_value(parent) < at) {
		chain_of(rows, (size_t)json_integer_value(parent), out, size);
		used = strlen(out);
	}
	snprintf(out + used, size - used, "%s%s", used ? " > " : "", text(row, "context"));
}

static void name_row(json_t *row, char *out)
{
	const char *provider = text(row, "provider");

	snprintf(out, SCORE_NAME, "%s%s%s", provider, provider[0] ? ":" : "", text(row, "context"));
}

/* The point that the place of a finding is, by the tree of its group. */
static void name_place(json_t *document, json_t *finding, char *out)
{
	json_t *rows = json_object_get(tree_of(document, number(finding, "group")), "rows");
	const char *where = text(finding, "where"), *last = strrchr(where, '>');
	char chain[1024];

	snprintf(out, SCORE_NAME, "%s", last ? last + 2 : where);
	for (size_t i = 0; i < json_array_size(rows); i++) {
		chain_of(rows, i, chain, sizeof(chain));
		if (where[0] && strcmp(chain, where) == 0) {
			name_row(json_array_get(rows, i), out);
			return;
		}
	}
}

static bool wants_holder(const struct truth *truth)
{
	return strcmp(truth->kind, "holder") == 0;
}

static bool is_nothing(const char *words)
{
	return strcmp(words, "-") == 0;
}

/* Is it one of the words, which stand between bars? */
static bool is_among(const char *what, const char *words,
		bool (*same)(const char *what, const char *word, size_t length))
{
	while (*words) {
		size_t length = strcspn(words, "|");

		if (same(what, words, length)) {
			return true;
		}
		words += length + (words[length] == '|');
	}
	return false;
}

/* A place that no tree has is without its provider. */
static bool same_point(const char *place, const char *word, size_t length)
{
	const char *colon = memchr(word, ':', length);

	if (colon && place[0] && !strchr(place, ':')) {
		length -= (size_t)(colon + 1 - word);
		word = colon + 1;
	}
	return strlen(place) == length && memcmp(place, word, length) == 0;
}

/* Types are shown with blanks: "server create". */
static bool same_type(const char *shown, const char *word, size_t length)
{
	size_t i = 0;

	while (i < length && shown[i] &&
			(shown[i] == word[i] || (shown[i] == ' ' && word[i] == '_'))) {
		i++;
	}
	return i == length && !shown[i];
}

static bool wants_no_code(const struct truth *truth)
{
	return strcmp(truth->kind, "host") == 0 || strcmp(truth->kind, "resource") == 0;
}

static bool is_word(const char *said, const char *at, size_t length)
{
	char before = at == said ? ' ' : at[-1], after = at[length];

	return !isalnum((unsigned char)before) && before != '-' && !isalnum((unsigned char)after) &&
	       after != '-';
}

/* The process of a service: pt-NAME. */
static bool is_process(const char *said, const char *at, size_t length)
{
	static const char prefix[] = "pt-";
	size_t before = sizeof(prefix) - 1;

	return (size_t)(at - said) >= before && memcmp(at - before, prefix, before) == 0 &&
	       is_word(said, at - before, length + before);
}

/* The host or service of host=NAME and cpu@NAME, as a word of its own, or the latter's process. */
static bool names_it(const char *said, const char *variable)
{
	const char *name = variable + strcspn(variable, "=@"), *at = said;
	size_t length;

	name += *name != '\0';
	length = strlen(name);
	while (length && (at = strstr(at, name)) != NULL) {
		if (is_word(said, at, length) || (variable[strcspn(variable, "=@")] == '@' &&
								 is_process(said, at, length))) {
			return true;
		}
		at += length;
	}
	return false;
}

/* Its strongest key is sure, and slowest with that host: as good as a sentence. */
static bool explains_it(json_t *finding, const char *variable)
{
	json_t *explanation = json_object_get(finding, "explanation"), *value, *slowest = NULL;
	json_t *key = json_array_get(json_object_get(explanation, "keys"), 0);
	size_t i;

	if (!json_is_true(json_object_get(key, "confirmed"))) {
		return false;
	}
	json_array_foreach(json_object_get(explanation, "values"), i, value)
	{
		if (!slowest || number(value, "mean_ns") > number(slowest, "mean_ns")) {
			slowest = value;
		}
	}
	return names_it(text(slowest, "text"), variable);
}

/* The point's name without its provider, as a word of its own. */
static bool is_told(const char *said, const char *word, size_t length)
{
	const char *colon = memchr(word, ':', length);
	char name[SCORE_NAME];

	length -= colon ? (size_t)(colon + 1 - word) : 0;
	snprintf(name, sizeof(name), "=%.*s", (int)length, colon ? colon + 1 : word);
	return names_it(said, name);
}

/* The sentence without what explains it, which names many things, and then the strongest variable.
 */
static void what_is_said(json_t *finding, char *out, size_t size)
{
	json_t *keys = json_object_get(json_object_get(finding, "explanation"), "keys");
	const char *sentence = text(finding, "text"), *from = strstr(sentence, "explained by ");
	const char *behind = from ? strstr(from, "; ") : NULL;
	const char *key = text(json_array_get(keys, 0), "name");

	snprintf(out, size, "%.*s%s %s", from ? (int)(from - sentence) : -1, sentence,
			behind ? behind : "", from ? key : "");
}

/*
 * Of what can be said in several ways: any alternative, KEY=VALUE (its strongest key is that one,
 * and slowest with that value) or a word of what is said.
 */
static bool says_it(json_t *finding, const char *said, const char *alternatives)
{
	json_t *keys = json_object_get(json_object_get(finding, "explanation"), "keys");
	const char *key = text(json_array_get(keys, 0), "name");

	while (*alternatives) {
		size_t length = strcspn(alternatives, "|");
		char one[SCORE_NAME];
		size_t name = strcspn(alternatives, "=|");

		snprintf(one, sizeof(one), "%s%.*s", name < length ? "" : "=", (int)length,
				alternatives);
		if (name < length ? strlen(key) == name && memcmp(key, one, name) == 0 &&
								explains_it(finding, one)
				  : names_it(said, one)) {
			return true;
		}
		alternatives += length + (alternatives[length] == '|');
	}
	return false;
}

/* As `either` has it: a place that the verdict names, or what it says. */
static bool is_either(json_t *finding, const char *place, const struct truth *truth)
{
	const char *colon = strchr(place, ':');
	char said[2 * SCORE_NAME + 512];

	what_is_said(finding, said, sizeof(said));
	if (!is_nothing(truth->hits) &&
			((is_among(place, truth->hits, same_point) &&
					 (is_code(text(finding, "stopped_by")) ||
							 strstr(said, place[0] == '(' || !colon
											 ? place
											 : colon + 1))) ||
					is_among(said, truth->hits, is_told))) {
		return true;
	}
	return !is_nothing(truth->variable) && says_it(finding, said, truth->variable);
}

/* Whom a verdict names first: PROVIDER:NAME, or "". */
static void name_holder(json_t *finding, char *out)
{
	json_t *holder = json_array_get(
			json_object_get(json_object_get(finding, "verdict"), "holders"), 0);
	const char *provider = text(holder, "provider");

	snprintf(out, SCORE_NAME, "%s%s%s", provider, provider[0] ? ":" : "", text(holder, "name"));
}

/* Where it is held, or where that is waited for. */
static bool is_held(json_t *finding, const char *place, const struct truth *truth)
{
	char holder[SCORE_NAME];

	name_holder(finding, holder);
	return is_among(place, truth->variable, same_point) ||
	       (is_among(place, truth->hits, same_point) &&
			       is_among(holder, truth->variable, same_point));
}

/* Does a finding tell the truth? As the first one it must be a verdict, too. */
static bool is_right(json_t *document, json_t *finding, const struct truth *truth, bool as_verdict)
{
	const char *rule = text(finding, "stopped_by");
	char place[SCORE_NAME];

	if (!is_nothing(truth->types) &&
			!is_among(text(finding, "type"), truth->types, same_type)) {
		return false;
	}
	if (wants_no_code(truth)) {
		return is_stop(rule) && strcmp(rule, "code") != 0 &&
		       (names_it(text(finding, "text"), truth->variable) ||
				       explains_it(finding, truth->variable));
	}
	name_place(document, finding, place);
	if (strcmp(truth->kind, "either") == 0) {
		return (is_stop(rule) || !as_verdict) && is_either(finding, place, truth);
	}
	return (is_code(rule) || strcmp(rule, "fails") == 0 || !as_verdict) &&
	       (wants_holder(truth) ? is_held(finding, place, truth)
				    : is_among(place, truth->hits, same_point));
}

/* --- hits ------------------------------------------------------------------------------------ */

/*
 * The edges of the first finding's group, those first that hold most of the variance; its own place
 * is none of the n.
 */
static bool is_edge_right(json_t *document, json_t *finding, const struct truth *truth, uint32_t n)
{
	json_t *rows = json_object_get(tree_of(document, number(finding, "group")), "rows");
	char own[SCORE_NAME], place[SCORE_NAME];
	double below = HUGE_VAL;
	uint32_t seen = 0;

	name_place(document, finding, own);
	while (seen < n) {
		json_t *row, *best = NULL;
		size_t i;

		json_array_foreach(rows, i, row)
		{
			double phi = number(row, "phi");

			if (phi > 0 && phi < below && (!best || phi > number(best, "phi"))) {
				best = row;
			}
		}
		if (!best) {
			return false;
		}
		below = number(best, "phi");
		name_row(best, place);
		seen += strcmp(place, own) != 0;
		if (is_among(place, wants_holder(truth) ? truth->variable : truth->hits,
				    same_point)) {
			return true;
		}
	}
	return false;
}

/* What the console says: its verdict, or the finding that it lists first. */
static json_t *first_finding(json_t *document)
{
	json_t *verdict = json_object_get(document, "verdict");

	return json_is_object(verdict) ? verdict
				       : json_array_get(json_object_get(document, "findings"), 0);
}

static void judge_hits(json_t *document, const struct truth *truth, struct score *score)
{
	json_t *findings = json_object_get(document, "findings");
	size_t n = json_array_size(findings);

	score->hit1 = is_right(document, first_finding(document), truth, true);
	score->hit3 = score->hit1;
	for (size_t i = 0; i < n && i < SCORE_RANKS; i++) {
		score->hit3 |= is_right(document, json_array_get(findings, i), truth, false);
	}
	/* Fewer than three findings: the edges of the first are its next places. */
	if (!score->hit3 && n < SCORE_RANKS && !wants_no_code(truth)) {
		score->hit3 = is_edge_right(document, first_finding(document), truth,
				SCORE_RANKS - (uint32_t)n);
	}
}

/* --- points ---------------------------------------------------------------------------------- */

/* A time at which the search had so many points more enabled, or fewer. */
struct change {
	double at;
	int32_t points;
};

static int compare_changes(const void *a, const void *b)
{
	const struct change *left = a, *right = b;

	return left->at < right->at ? -1 : left->at > right->at;
}

static uint32_t peak_of(json_t *steps)
{
	struct change *changes = calloc(2 * json_array_size(steps) + 1, sizeof(*changes));
	int32_t now = 0, peak = 0;
	size_t n = 0, i;
	json_t *step;

	json_array_foreach(steps, i, step)
	{
		bool enable = strcmp(text(step, "kind"), "enable") == 0;
		int32_t points = (int32_t)number(step, "points");

		if (!changes || (!enable && strcmp(text(step, "kind"), "disable") != 0) ||
				number(step, "done_ns") <= 0) {
			continue;
		}
		points = enable ? points : -points;
		changes[n++] = (struct change){number(step, "done_ns"), points};
		if (number(step, "ended_ns") > 0) {
			changes[n++] = (struct change){number(step, "ended_ns"), -points};
		}
	}
	if (changes) {
		qsort(changes, n, sizeof(*changes), compare_changes);
	}
	for (i = 0; i < n; i++) {
		now += changes[i].points;
		peak = now > peak ? now : peak;
	}
	free(changes);
	return (uint32_t)peak;
}

static void count_points(json_t *document, struct score *score)
{
	json_t *points = json_object_get(document, "points"), *step;
	json_t *steps = json_object_get(document, "steps");
	size_t i;

	score->firing = (uint32_t)(number(points, "known") - number(points, "skeleton"));
	score->ever = (uint32_t)number(points, "ever_enabled");
	score->peak = peak_of(steps);
	score->peak = score->peak > score->ever ? score->ever : score->peak;
	json_array_foreach(steps, i, step)
	{
		score->steps += strcmp(text(step, "kind"), "enable") == 0 &&
				number(step, "done_ns") > 0;
	}
	score->over_s = (uint32_t)number(json_object_get(document, "rehearsal"), "over_budget_s");
	score->breach = score->over_s > WATCH_S;
}

/* --- the whole ------------------------------------------------------------------------------- */

bool score_document(json_t *document, const struct truth *truth, struct score *score, char *error,
		size_t size)
{
	json_t *findings = json_object_get(document, "findings"), *first;
	bool nothing_wrong = strcmp(truth->kind, "none") == 0;

	*score = (struct score){.rule = ""};
	if (!json_is_array(findings) || !json_is_object(json_object_get(document, "points")) ||
			number(document, "time_ns") <= 0) {
		snprintf(error, size,
				"no document of --batch=json: it lacks findings, points or a "
				"time");
		return false;
	}
	first = first_finding(document);
	snprintf(score->rule, sizeof(score->rule), "%s", text(first, "stopped_by"));
	snprintf(score->text, sizeof(score->text), "%s", text(first, "text"));
	if (first) {
		name_place(document, first, score->where);
		name_holder(first, score->holder);
	}
	if (wants_holder(truth) && is_among(score->where, truth->variable, same_point)) {
		snprintf(score->holder, sizeof(score->holder), "%s", score->where);
	}
	score->requests = (uint64_t)number(first, "requests");
	score->stopped = is_stop(score->rule);
	score->seconds = (number(document, "time_ns") - (double)truth->fault_ns) * 1e-9;
	count_points(document, score);
	if (nothing_wrong || (score->stopped && score->seconds < 0)) {
		score->false_alarm = score->stopped || score->ever > 0;
	} else if (score->stopped) {
		judge_hits(document, truth, score);
	}
	return true;
}

/* --- figures --------------------------------------------------------------------------------- */

void wilson(uint32_t hits, uint32_t n, double *low, double *high)
{
	double z = gsl_cdf_ugaussian_Pinv(0.975), share, middle, half;

	if (n == 0) {
		*low = 0;
		*high = 1;
		return;
	}
	share = (double)hits / n;
	middle = share + z * z / (2 * n);
	half = z * sqrt(share * (1 - share) / n + z * z / (4.0 * n * n));
	*low = fmax(0, (middle - half) / (1 + z * z / n));
	*high = fmin(1, (middle + half) / (1 + z * z / n));
}

void ratio_interval(const double *ratios, uint32_t n, double *mean, double *low, double *high)
{
	double sum = 0, squares = 0, error;

	for (uint32_t i = 0; i < n; i++) {
		sum += log(ratios[i]);
	}
	sum /= n;
	for (uint32_t i = 0; i < n; i++) {
		squares += (log(ratios[i]) - sum) * (log(ratios[i]) - sum);
	}
	error = gsl_cdf_tdist_Pinv(0.975, n - 1) * sqrt(squares / (n - 1) / n);
	*mean = exp(sum);
	*low = exp(sum - error);
	*high = exp(sum + error);
}

static int compare_doubles(const void *a, const void *b)
{
	double left = *(const double *)a, right = *(const double *)b;

	return left < right ? -1 : left > right;
}

double median(double *values, uint32_t n)
{
	qsort(values, n, sizeof(*values), compare_doubles);
	return n % 2 ? values[n / 2] : (values[n / 2 - 1] + values[n / 2]) / 2;
}
