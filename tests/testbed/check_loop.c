/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Reads the documents of --batch=json from standard input as they come, and says at their end
 * whether the loop did as promised:
 *
 *   check_loop verdict LOG SPAN LIMIT_S FIRST_MS   it ended by itself, in SPAN, within LIMIT_S of
 * its begin, having enabled few points; a step's first events were seen FIRST_MS after its
 * approval; and each line of the decision log is an object check_loop budget LIMIT CANARY_S our
 * sessions brought no more than LIMIT events/s, for longer than CANARY_S check_loop quiet nothing
 * was ever enabled
 *
 * Exit: 0 it did; 1 it did not, and why; 2 what is read is not what it should be.
 */
#include <jansson.h>
#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define MAX_SHARE 0.10 /* of the points beyond the skeleton */
#define MAX_SPANS 4096
#define MAX_NAME  128

/* What was seen first when: a span in the tree of all requests, and an event of a session of ours.
 */
struct seen {
	char spans[MAX_SPANS][MAX_NAME];
	double at[MAX_SPANS];
	unsigned int n;
	double own_at;
};

__attribute__((format(printf, 2, 3), noreturn)) static void end(int code, const char *format, ...)
{
	va_list list;

	va_start(list, format);
	fprintf(stderr, "check_loop: ");
	vfprintf(stderr, format, list);
	fprintf(stderr, "\n");
	va_end(list);
	exit(code);
}

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

static double now_s(void)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

/* The next document; NULL: the end. */
static json_t *next_document(void)
{
	json_error_t error;
	json_t *document = json_loadf(stdin, JSON_DISABLE_EOF_CHECK, &error);

	if (!document && !feof(stdin)) {
		end(2, "not a document: %s", error.text);
	}
	return document;
}

/* The next line as an object; NULL: the end. A last line that is cut off is none. */
static json_t *next_line(FILE *file, const char *path)
{
	char *line = NULL;
	size_t room = 0;
	ssize_t length = getline(&line, &room, file);
	json_t *object;

	if (length <= 0 || line[length - 1] != '\n') {
		free(line);
		return NULL;
	}
	object = json_loads(line, 0, NULL);
	if (!json_is_object(object)) {
		end(2, "%s: not an object: %.200s", path, line);
	}
	free(line);
	return object;
}

static bool ends_with(const char *string, const char *tail)
{
	size_t length = strlen(string), cut = strlen(tail);

	return length >= cut && strcmp(string + length - cut, tail) == 0;
}

/* The finding of the first group that has one and did not calm down: what --until=verdict waits
 * for.
 */
static json_t *first_finding(json_t *document)
{
	json_t *group, *finding;
	size_t i, k;

	json_array_foreach(json_object_get(document, "groups"), i, group)
	{
		json_array_foreach(json_object_get(document, "findings"), k, finding)
		{
			if (number(finding, "group") == number(group, "id") &&
					strcmp(text(finding, "stopped_by"), "healthy") != 0) {
				return finding;
			}
		}
	}
	return NULL;
}

static void print_steps(json_t *document)
{
	json_t *row;
	size_t i;

	json_array_foreach(json_object_get(document, "steps"), i, row)
	{
		fprintf(stderr, "step %.0f: %s, %s: %s (%s)\n", number(row, "id"),
				text(row, "kind"), text(row, "state"), text(row, "title"),
				text(row, "why"));
	}
	json_array_foreach(json_object_get(document, "findings"), i, row)
	{
		fprintf(stderr, "finding: %s: %s (%s)\n", text(row, "path"), text(row, "text"),
				text(row, "stopped_by"));
	}
}

static double own_rate(json_t *document, double *events)
{
	json_t *source;
	double sum = 0;
	size_t i;

	*events = 0;
	json_array_foreach(json_object_get(document, "sources"), i, source)
	{
		if (strncmp(text(source, "session"), "pythiatop-", 10) == 0) {
			sum += number(source, "events_per_s");
			*events += number(source, "events");
		}
	}
	return sum;
}

/* --- verdict --- */

static double first_seen(const struct seen *seen, const char *span)
{
	for (unsigned int i = 0; i < seen->n; i++) {
		if (strcmp(seen->spans[i], span) == 0) {
			return seen->at[i];
		}
	}
	return 0;
}

static void take_document(struct seen *seen, json_t *document, double at)
{
	json_t *all = json_array_get(json_object_get(document, "contexts"), 0), *row;
	double events;
	size_t i;

	own_rate(document, &events);
	seen->own_at = events > 0 && seen->own_at <= 0 ? at : seen->own_at;
	json_array_foreach(json_object_get(all, "rows"), i, row)
	{
		char span[MAX_NAME];

		snprintf(span, sizeof(span), "%s:%s", text(row, "provider"), text(row, "context"));
		if (number(row, "count") > 0 && seen->n < MAX_SPANS &&
				first_seen(seen, span) <= 0) {
			memcpy(seen->spans[seen->n], span, sizeof(span));
			seen->at[seen->n++] = at;
		}
	}
}

/* When the first of what an order enables was in the tree; 0: nothing of it ever was. */
static double first_of_order(const struct seen *seen, json_t *order)
{
	double first = 0;
	json_t *event;
	size_t i;

	json_array_foreach(json_object_get(order, "events"), i, event)
	{
		const char *name = text(event, "name");
		char span[MAX_NAME];
		double at;

		if (json_is_true(json_object_get(event, "enable")) && ends_with(name, "_entry")) {
			snprintf(span, sizeof(span), "%.*s", (int)(strlen(name) - 6), name);
			at = first_seen(seen, span);
			first = at > 0 && (first <= 0 || at < first) ? at : first;
		}
	}
	return first;
}

struct log {
	unsigned int lines, outcomes;
	double begin, first_order;
};

static void read_log(const char *path, const struct seen *seen, struct log *log)
{
	FILE *file = fopen(path, "r");
	json_t *line;

	if (!file) {
		end(1, "there is no log %s", path);
	}
	*log = (struct log){.lines = 0};
	while ((line = next_line(file, path)) != NULL) {
		const char *did = text(line, "do");
		double at = number(line, "at"), first = first_of_order(seen, line);

		if (strcmp(text(line, "log"), "pythiatop-decisions/1") != 0 || !*did || at <= 0) {
			end(1, "%s: line %u has no log, do or at", path, log->lines + 1);
		}
		log->begin = log->begin > 0 ? log->begin : at;
		log->outcomes += strcmp(did, "outcome") == 0;
		log->lines++;
		if (strcmp(did, "order") == 0) {
			log->first_order = log->first_order > 0 ? log->first_order : at;
			if (first > 0) {
				printf("step %.0f: in the tree after %.0f ms\n",
						number(line, "step"), 1e3 * (first - at));
			}
		}
		json_decref(line);
	}
	fclose(file);
	if (!log->outcomes) {
		end(1, "%s: none of %u lines tells the outcome of a step", path, log->lines);
	}
}

static void check_ended(json_t *document, const char *span)
{
	json_t *finding = first_finding(document), *points = json_object_get(document, "points");
	double ever = number(points, "ever_enabled"),
	       beyond = number(points, "known") - number(points, "skeleton");

	printf("%s; %.0f of %.0f points enabled\n", text(finding, "text"), ever, beyond);
	if (!finding || strcmp(text(finding, "stopped_by"), "code") != 0) {
		end(1, "it was stopped by \"%s\", not by the code", text(finding, "stopped_by"));
	}
	if (!ends_with(text(finding, "where"), span)) {
		end(1, "it ended in %s, not in %s", text(finding, "where"), span);
	}
	if (beyond < 1 || ever < 1 || ever > MAX_SHARE * beyond) {
		end(1, "it enabled %.0f of %.0f points", ever, beyond);
	}
}

static void check_verdict(const char *path, const char *span, double limit_s, double first_ms)
{
	static struct seen seen;
	json_t *document, *last = NULL;
	double took_s, took_ms, at = 0;
	struct log log;

	while ((document = next_document()) != NULL) {
		at = now_s();
		take_document(&seen, document, at);
		json_decref(last);
		last = document;
	}
	if (!last) {
		end(1, "no document came");
	}
	print_steps(last);
	read_log(path, &seen, &log);
	took_s = at - log.begin;
	took_ms = 1e3 * (seen.own_at - log.first_order);
	printf("log: %u lines, %u outcomes; first new events %.0f ms after the first approval; "
	       "%.1f s in all\n",
			log.lines, log.outcomes, took_ms, took_s);
	check_ended(last, span);
	if (took_s > limit_s) {
		end(1, "it took %.1f s", took_s);
	}
	if (seen.own_at <= 0 || took_ms > first_ms) {
		end(1, "the first events of a step came after %.0f ms", took_ms);
	}
	json_decref(last);
}

/* --- budget, and quiet --- */

/* The longest time in a row for which our sessions brought more than LIMIT events/s. */
static void check_budget(double limit, double canary_s)
{
	double since = 0, longest = 0, most = 0, spent = 0, events = 0;
	unsigned int enabling = 0;
	json_t *document, *row;
	size_t i;

	while ((document = next_document()) != NULL) {
		double at = number(document, "time_ns") * 1e-9, rate = own_rate(document, &events);
		json_t *budget = json_object_get(document, "budget");
		double predicted = number(json_object_get(budget, "spent"), "events_per_s");

		if (fabs(number(budget, "events_per_s") - limit) > 0.5) {
			end(1, "the budget is %.0f events/s, not %.0f",
					number(budget, "events_per_s"), limit);
		}
		since = rate <= limit ? 0 : since > 0 ? since : at;
		longest = since > 0 && at - since > longest ? at - since : longest;
		most = rate > most ? rate : most;
		spent = predicted > spent ? predicted : spent;
		enabling = 0;
		json_array_foreach(json_object_get(document, "steps"), i, row)
		{
			enabling += strcmp(text(row, "kind"), "enable") == 0;
		}
		json_decref(document);
	}
	printf("%u steps enabled; %.0f events in all, at most %.0f events/s, for %.1f s over %.0f; "
	       "predicted at most %.0f\n",
			enabling, events, most, longest, limit, spent);
	if (!enabling || events < 1) {
		end(1, "nothing was enabled, so nothing was seen of the budget");
	}
	if (longest > canary_s) {
		end(1, "over the budget for %.1f s", longest);
	}
}

static void check_quiet(void)
{
	json_t *document, *last = NULL, *step;
	unsigned int enabled = 0;
	size_t i;

	while ((document = next_document()) != NULL) {
		json_decref(last);
		last = document;
	}
	print_steps(last);
	json_array_foreach(json_object_get(last, "steps"), i, step)
	{
		enabled += strcmp(text(step, "kind"), "enable") == 0;
	}
	printf("%u steps enabled %.0f points\n", enabled,
			number(json_object_get(last, "points"), "ever_enabled"));
	if (enabled || number(json_object_get(last, "points"), "known") < 1) {
		end(1, "something was enabled, or nothing could have been");
	}
	json_decref(last);
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";

	if (strcmp(what, "verdict") == 0 && argc == 6) {
		check_verdict(argv[2], argv[3], atof(argv[4]), atof(argv[5]));
	} else if (strcmp(what, "budget") == 0 && argc == 4) {
		check_budget(atof(argv[2]), atof(argv[3]));
	} else if (strcmp(what, "quiet") == 0 && argc == 2) {
		check_quiet();
	} else {
		end(2, "see the top of check_loop.c");
	}
	return 0;
}
