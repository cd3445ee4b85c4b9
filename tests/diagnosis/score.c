/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The scoreboard's arithmetic:
 *
 *   score one TYPES HITS VARIABLE KIND FAULT_NS KEY=VALUE... <DOCUMENT
 *                          a run's score, as a line of JSON with the keys given
 *   score table FILE...    lines of such, as tables in Markdown
 *   score ratios BASE FILE...
 *                          lines of `overhead`, as a table: paired ratios against the mode BASE
 *
 * Exit: 0; 1 what is read is not what it should be, and why; 2 usage.
 */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rules.h"

#define MAX_RUNS  100000u
#define MAX_KINDS 64u /* scenarios, strategies */
#define MAX_PAIRS 1000u

__attribute__((format(printf, 2, 3), noreturn)) static void end(int code, const char *format, ...)
{
	va_list list;

	va_start(list, format);
	fprintf(stderr, "score: ");
	vfprintf(stderr, format, list);
	fprintf(stderr, "\n");
	va_end(list);
	exit(code);
}

/* --- one ------------------------------------------------------------------------------------- */

static void set_figures(json_t *line, const struct score *score)
{
	json_object_set_new(line, "stopped", json_boolean(score->stopped));
	json_object_set_new(line, "rule", json_string(score->rule));
	json_object_set_new(line, "where", json_string(score->where));
	json_object_set_new(line, "holder", json_string(score->holder));
	json_object_set_new(line, "hit1", json_boolean(score->hit1));
	json_object_set_new(line, "hit3", json_boolean(score->hit3));
	json_object_set_new(line, "false_alarm", json_boolean(score->false_alarm));
	json_object_set_new(line, "seconds", json_real(round(score->seconds * 10) / 10));
	json_object_set_new(line, "steps", json_integer(score->steps));
	json_object_set_new(line, "requests", json_integer((json_int_t)score->requests));
	json_object_set_new(line, "firing", json_integer(score->firing));
	json_object_set_new(line, "peak", json_integer(score->peak));
	json_object_set_new(line, "ever", json_integer(score->ever));
	json_object_set_new(line, "over_budget_s", json_integer(score->over_s));
	json_object_set_new(line, "breach", json_boolean(score->breach));
	json_object_set_new(line, "text", json_string(score->text));
}

static int one(int argc, char **argv)
{
	struct truth truth = {
			.types = argv[0], .hits = argv[1], .variable = argv[2], .kind = argv[3]};
	json_t *document, *line = json_object();
	char problem[128], *rest;
	struct score score;
	json_error_t error;

	truth.fault_ns = strtoull(argv[4], &rest, 10);
	if (*rest || rest == argv[4]) {
		end(2, "expected since when, in ns: %s", argv[4]);
	}
	for (int i = 5; i < argc; i++) {
		char *equals = strchr(argv[i], '=');

		if (!equals) {
			end(2, "not of the form KEY=VALUE: %s", argv[i]);
		}
		*equals = '\0';
		json_object_set_new(line, argv[i], json_string(equals + 1));
	}
	json_object_set_new(line, "kind", json_string(truth.kind));
	document = json_loadf(stdin, 0, &error);
	if (!document) {
		end(1, "not a document: %s", error.text);
	}
	if (!score_document(document, &truth, &score, problem, sizeof(problem))) {
		end(1, "%s", problem);
	}
	set_figures(line, &score);
	json_dumpf(line, stdout, JSON_COMPACT | JSON_REAL_PRECISION(6));
	printf("\n");
	json_decref(document);
	json_decref(line);
	return 0;
}

/* --- lines of results ------------------------------------------------------------------------ */

static const char *text(json_t *object, const char *name)
{
	const char *value = json_string_value(json_object_get(object, name));

	return value ? value : "";
}

static double number(json_t *object, const char *name)
{
	return json_number_value(json_object_get(object, name));
}

static bool flag(json_t *object, const char *name)
{
	return json_is_true(json_object_get(object, name));
}

static void read_lines(const char *path, json_t *lines)
{
	FILE *file = fopen(path, "r");
	unsigned int n = 0;
	char *text = NULL;
	size_t room = 0;

	if (!file) {
		end(1, "cannot open %s", path);
	}
	while (getline(&text, &room, file) > 0) {
		json_error_t error;
		json_t *line = json_loads(text, 0, &error);

		n++;
		if (!json_is_object(line)) {
			end(1, "%s:%u: not an object", path, n);
		}
		json_array_append_new(lines, line);
	}
	free(text);
	fclose(file);
}

static json_t *read_all(int argc, char **argv)
{
	json_t *lines = json_array();

	for (int i = 0; i < argc; i++) {
		read_lines(argv[i], lines);
	}
	if (json_array_size(lines) == 0 || json_array_size(lines) > MAX_RUNS) {
		end(1, "%zu results: expected 1 to %u", json_array_size(lines), MAX_RUNS);
	}
	return lines;
}

/* The different values of a key, in the order they come. */
struct kinds {
	const char *names[MAX_KINDS];
	uint32_t n;
};

static void add_kind(struct kinds *kinds, const char *name)
{
	for (uint32_t i = 0; i < kinds->n; i++) {
		if (strcmp(kinds->names[i], name) == 0) {
			return;
		}
	}
	if (kinds->n == MAX_KINDS) {
		end(1, "more than %u kinds", MAX_KINDS);
	}
	kinds->names[kinds->n++] = name;
}

/* --- the table ------------------------------------------------------------------------------- */

/* All runs of a scenario (NULL: of all with a fault) with a strategy. */
struct tally {
	uint32_t n, hit1, hit3, stopped, false_alarms, enabled, breaches;
	uint32_t n_ever;
	double *steps, *requests, *seconds, *peak, *ever;
};

static bool is_quiet(json_t *line)
{
	return strcmp(text(line, "kind"), "none") == 0;
}

static bool is_of(json_t *line, const char *scenario, const char *strategy)
{
	return strcmp(text(line, "strategy"), strategy) == 0 &&
	       (scenario ? strcmp(text(line, "scenario"), scenario) == 0 : !is_quiet(line));
}

static void release_tally(struct tally *tally)
{
	free(tally->steps);
}

static struct tally take_tally(json_t *lines, const char *scenario, const char *strategy)
{
	size_t room = json_array_size(lines), i;
	double *figures = calloc(5 * room, sizeof(*figures));
	struct tally tally = {.steps = figures};
	json_t *line;

	if (!figures) {
		end(1, "out of memory");
	}
	tally.requests = figures + room;
	tally.seconds = figures + 2 * room;
	tally.peak = figures + 3 * room;
	tally.ever = figures + 4 * room;
	json_array_foreach(lines, i, line)
	{
		double firing = number(line, "firing");

		if (!is_of(line, scenario, strategy)) {
			continue;
		}
		tally.n++;
		tally.hit1 += flag(line, "hit1");
		tally.hit3 += flag(line, "hit3");
		tally.false_alarms += flag(line, "false_alarm");
		tally.enabled += number(line, "ever") > 0;
		tally.breaches += flag(line, "breach");
		if (firing > 0) {
			tally.peak[tally.n_ever] = 100 * number(line, "peak") / firing;
			tally.ever[tally.n_ever++] = 100 * number(line, "ever") / firing;
		}
		if (flag(line, "stopped")) {
			tally.steps[tally.stopped] = number(line, "steps");
			tally.requests[tally.stopped] = number(line, "requests");
			tally.seconds[tally.stopped++] = number(line, "seconds");
		}
	}
	return tally;
}

static void print_share(uint32_t hits, uint32_t n)
{
	double low, high;

	wilson(hits, n, &low, &high);
	printf(" %.0f %% (%.0f to %.0f) |", 100.0 * hits / n, 100 * low, 100 * high);
}

static void print_median(double *values, uint32_t n, const char *format)
{
	if (n == 0) {
		printf(" - |");
		return;
	}
	printf(" ");
	/* The formats are below, each of one number. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
	printf(format, median(values, n));
#pragma GCC diagnostic pop
	printf(" |");
}

static void print_row(json_t *lines, const char *scenario, const char *strategy)
{
	struct tally tally = take_tally(lines, scenario, strategy);

	if (tally.n > 0) {
		printf("| %s | %s | %u |", scenario ? scenario : "**all**", strategy, tally.n);
		print_share(tally.hit1, tally.n);
		print_share(tally.hit3, tally.n);
		printf(" %u |", tally.stopped);
		print_median(tally.steps, tally.stopped, "%.0f");
		print_median(tally.requests, tally.stopped, "%.0f");
		print_median(tally.seconds, tally.stopped, "%.0f");
		print_median(tally.peak, tally.n_ever, "%.1f %%");
		print_median(tally.ever, tally.n_ever, "%.1f %%");
		printf(" %u | %u |\n", tally.false_alarms, tally.breaches);
	}
	release_tally(&tally);
}

static void print_quiet_row(json_t *lines, const char *scenario, const char *strategy)
{
	struct tally tally = take_tally(lines, scenario, strategy);

	if (tally.n > 0) {
		printf("| %s | %s | %u |", scenario, strategy, tally.n);
		print_share(tally.false_alarms, tally.n);
		printf(" %u | %u | %u |\n", tally.stopped, tally.enabled, tally.breaches);
	}
	release_tally(&tally);
}

/* --- thresholds ------------------------------------------------------------------------------ */

static void print_bound(const char *what, bool reached, const char *format, ...)
		__attribute__((format(printf, 3, 4)));

static void print_bound(const char *what, bool reached, const char *format, ...)
{
	va_list list;

	printf("| %s | ", what);
	va_start(list, format);
	vprintf(format, list);
	va_end(list);
	printf(" | %s |\n", reached ? "yes" : "**no**");
}

static double worst_scenario(
		json_t *lines, const struct kinds *faults, const char *strategy, const char **which)
{
	double worst = 2;

	for (uint32_t i = 0; i < faults->n; i++) {
		struct tally tally = take_tally(lines, faults->names[i], strategy);
		double share = tally.n ? (double)tally.hit1 / tally.n : 2;

		if (share < worst) {
			worst = share;
			*which = faults->names[i];
		}
		release_tally(&tally);
	}
	return worst;
}

/* The best of the others in hit@1; -1: there is none. */
static double best_other(json_t *lines, const struct kinds *strategies, const char *strategy,
		const char **which)
{
	double best = -1;

	for (uint32_t i = 0; i < strategies->n; i++) {
		struct tally tally;

		if (strcmp(strategies->names[i], strategy) == 0) {
			continue;
		}
		tally = take_tally(lines, NULL, strategies->names[i]);
		if (tally.n && (double)tally.hit1 / tally.n > best) {
			best = (double)tally.hit1 / tally.n;
			*which = strategies->names[i];
		}
		release_tally(&tally);
	}
	return best;
}

static void print_fault_bounds(json_t *lines, const struct kinds *faults,
		const struct kinds *strategies, const char *strategy)
{
	struct tally all = take_tally(lines, NULL, strategy);
	const char *worst_name = "", *best_name = "";
	double worst, best, hit1, hit3, ever;

	if (all.n == 0) {
		release_tally(&all);
		return;
	}
	hit1 = (double)all.hit1 / all.n;
	hit3 = (double)all.hit3 / all.n;
	worst = worst_scenario(lines, faults, strategy, &worst_name);
	best = best_other(lines, strategies, strategy, &best_name);
	print_bound("hit@1 over all scenarios >= 90 %", hit1 >= 0.9, "%.1f %%", 100 * hit1);
	print_bound("hit@3 over all scenarios >= 97 %", hit3 >= 0.97, "%.1f %%", 100 * hit3);
	print_bound("hit@1 of no scenario < 75 %", worst >= 0.75, "%.1f %% (%s)", 100 * worst,
			worst_name);
	if (all.n_ever) {
		ever = median(all.ever, all.n_ever);
		print_bound("median share ever enabled beyond the skeleton <= 5 %", ever <= 5,
				"%.1f %%", ever);
	}
	if (best >= 0) {
		print_bound("hit@1 better than every baseline's", hit1 > best, "%.1f %% (%s)",
				100 * best, best_name);
	}
	release_tally(&all);
}

/* Lines of a strategy, and those of them that something is so of. */
struct count {
	uint32_t n, so;
};

static struct count count_lines(json_t *lines, const char *strategy, bool (*counts)(json_t *line),
		bool (*is_so)(json_t *line))
{
	struct count count = {.n = 0};
	json_t *line;
	size_t i;

	json_array_foreach(lines, i, line)
	{
		if (counts(line) && strcmp(text(line, "strategy"), strategy) == 0) {
			count.n++;
			count.so += is_so(line);
		}
	}
	return count;
}

static void print_count_bound(const char *what, bool reached, struct count count)
{
	double low, high;

	if (count.n) {
		wilson(count.so, count.n, &low, &high);
		print_bound(what, reached, "%u of %u (%.1f to %.1f %%)", count.so, count.n,
				100 * low, 100 * high);
	}
}

/* It stopped in a scenario in which requests wait for each other. */
static bool waits_for_holder(json_t *line)
{
	const char *scenario = text(line, "scenario");

	return flag(line, "stopped") &&
	       (strcmp(scenario, "semaphore") == 0 || strcmp(scenario, "lock_convoy") == 0 ||
			       strcmp(scenario, "slow_holder") == 0);
}

static bool names_holder(json_t *line)
{
	return text(line, "holder")[0] != '\0';
}

static bool is_false_alarm(json_t *line)
{
	return flag(line, "false_alarm");
}

static void print_count_bounds(json_t *lines, const char *strategy)
{
	struct count held = count_lines(lines, strategy, waits_for_holder, names_holder);
	struct count quiet = count_lines(lines, strategy, is_quiet, is_false_alarm);

	print_count_bound("who holds locks and semaphores is named in >= 75 %",
			held.so >= 0.75 * held.n, held);
	print_count_bound("false alarms without a fault <= 2 %", quiet.so <= 0.02 * quiet.n, quiet);
}

static int table(int argc, char **argv)
{
	struct kinds faults = {.n = 0}, quiet = {.n = 0}, strategies = {.n = 0};
	json_t *lines = read_all(argc, argv), *line;
	size_t i;

	json_array_foreach(lines, i, line)
	{
		add_kind(is_quiet(line) ? &quiet : &faults, text(line, "scenario"));
		add_kind(&strategies, text(line, "strategy"));
	}
	if (faults.n) {
		printf("| scenario | strategy | runs | hit@1 | hit@3 | stopped | steps | requests "
		       "| s after the fault | enabled at once | ever | before the fault | over "
		       "budget |\n");
		printf("|---|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|\n");
	}
	for (uint32_t s = 0; s < faults.n; s++) {
		for (uint32_t k = 0; k < strategies.n; k++) {
			print_row(lines, faults.names[s], strategies.names[k]);
		}
	}
	for (uint32_t k = 0; k < strategies.n && faults.n > 1; k++) {
		print_row(lines, NULL, strategies.names[k]);
	}
	if (quiet.n) {
		printf("\n| without a fault | strategy | runs | false alarms | verdicts | enabled "
		       "a "
		       "point | over budget |\n|---|---|--:|--:|--:|--:|--:|\n");
	}
	for (uint32_t s = 0; s < quiet.n; s++) {
		for (uint32_t k = 0; k < strategies.n; k++) {
			print_quiet_row(lines, quiet.names[s], strategies.names[k]);
		}
	}
	printf("\n| to be reached by %s | measured | reached |\n|---|---|---|\n",
			strategies.names[0]);
	print_fault_bounds(lines, &faults, &strategies, strategies.names[0]);
	print_count_bounds(lines, strategies.names[0]);
	json_decref(lines);
	return 0;
}

/* --- overhead -------------------------------------------------------------------------------- */

/* The value of a figure in a pair with a mode; 0: that is missing. */
static double figure_of(json_t *lines, double pair, const char *mode, const char *figure)
{
	json_t *line;
	size_t i;

	json_array_foreach(lines, i, line)
	{
		if (fabs(number(line, "pair") - pair) < 0.5 &&
				strcmp(text(line, "mode"), mode) == 0) {
			return number(line, figure);
		}
	}
	return 0;
}

static void print_ratio(json_t *lines, const char *base, const char *mode, const char *figure)
{
	double ratios[MAX_PAIRS], mean, low, high;
	uint32_t n = 0;

	for (uint32_t pair = 0; pair < MAX_PAIRS; pair++) {
		double of_base = figure_of(lines, pair, base, figure);
		double of_mode = figure_of(lines, pair, mode, figure);

		if (of_base > 0 && of_mode > 0) {
			ratios[n++] = of_mode / of_base;
		}
	}
	if (n < 2) {
		printf(" - |");
		return;
	}
	ratio_interval(ratios, n, &mean, &low, &high);
	printf(" %.3f (%.3f to %.3f) |", mean, low, high);
}

static int ratios(int argc, char **argv)
{
	json_t *lines = read_all(argc - 1, argv + 1), *line;
	const char *base = argv[0];
	struct kinds modes = {.n = 0};
	size_t i;

	json_array_foreach(lines, i, line)
	{
		add_kind(&modes, text(line, "mode"));
	}
	printf("| against %s | pairs | p50 | p99 | CPU |\n|---|--:|--:|--:|--:|\n", base);
	for (uint32_t m = 0; m < modes.n; m++) {
		uint32_t n = 0;

		if (strcmp(modes.names[m], base) == 0) {
			continue;
		}
		for (uint32_t pair = 0; pair < MAX_PAIRS; pair++) {
			n += figure_of(lines, pair, base, "p50_ns") > 0 &&
			     figure_of(lines, pair, modes.names[m], "p50_ns") > 0;
		}
		printf("| %s | %u |", modes.names[m], n);
		print_ratio(lines, base, modes.names[m], "p50_ns");
		print_ratio(lines, base, modes.names[m], "p99_ns");
		print_ratio(lines, base, modes.names[m], "cpu_s");
		printf("\n");
	}
	json_decref(lines);
	return 0;
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";

	if (strcmp(what, "one") == 0 && argc >= 7) {
		return one(argc - 2, argv + 2);
	}
	if (strcmp(what, "table") == 0 && argc >= 3) {
		return table(argc - 2, argv + 2);
	}
	if (strcmp(what, "ratios") == 0 && argc >= 4) {
		return ratios(argc - 2, argv + 2);
	}
	end(2, "see the top of score.c");
}
