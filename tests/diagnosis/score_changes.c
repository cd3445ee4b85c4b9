/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Scores what the console says has changed, against changes.def:
 *
 *   score_changes sites SITES SET DIRECTORY
 *                         of row N of the set: DIRECTORY/N/document, the console's about the minute
 *                         with the fault; DIRECTORY/N/before and /after, baselines of both minutes
 *   score_changes null DIRECTORY...
 *                         DIRECTORY/document: of a minute without a fault, against another one
 *
 * Tables in Markdown. Exit: 0; 1 what is read is not what it should be, and why; 2 usage.
 */
#include <jansson.h>
#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_ROWS     512u
#define MAX_KINDS    16u
#define MAX_SERVICES 128u
#define MAX_DEPTH    128u
#define FIELDS       6u

__attribute__((format(printf, 1, 2), noreturn)) static void end(const char *format, ...)
{
	va_list list;

	va_start(list, format);
	fprintf(stderr, "score_changes: ");
	vfprintf(stderr, format, list);
	fprintf(stderr, "\n");
	va_end(list);
	exit(1);
}

struct site {
	char text[512];
	const char *fields[FIELDS]; /* as in changes.def */
};

enum who { CHANGES, VERDICT, Z_SCORE, N_WHO };

struct score {
	uint32_t n, first[N_WHO], three, place;
	double by_chance;
};

static struct site sites[MAX_ROWS];
static uint32_t n_sites;

static json_t *load(const char *directory, const char *name)
{
	char path[4096];
	json_error_t error;
	json_t *document;

	snprintf(path, sizeof(path), "%s/%s", directory, name);
	document = json_load_file(path, 0, &error);
	if (!document) {
		end("%s:%d: %s", path, error.line, error.text);
	}
	return document;
}

static const char *text_of(const json_t *object, const char *key)
{
	const char *text = json_string_value(json_object_get(object, key));

	return text ? text : "";
}

static double number_of(const json_t *object, const char *key)
{
	return json_number_value(json_object_get(object, key));
}

/* --- what was found --- */

static bool is_service(const json_t *row, const struct site *site)
{
	return strcmp(text_of(row, "service"), site->fields[4]) == 0;
}

static bool is_place(const json_t *row, const struct site *site)
{
	static const char *const served[] = {"serve_", "consume_"};
	const char *place = site->fields[5], *span = text_of(row, "name");
	char name[256];

	if (strcmp(place, "transit") == 0) {
		return is_service(row, site) && strcmp(text_of(row, "kind"), "transit") == 0;
	}
	for (uint32_t i = 0; i < 2; i++) { /* of an operation: the span around it */
		size_t n = strlen(served[i]);

		span += strncmp(span, served[i], n) == 0 ? n : 0;
	}
	snprintf(name, sizeof(name), "%s:%s", text_of(row, "provider"), span);
	return strcmp(place, "-") == 0 ? is_service(row, site) : strcmp(name, place) == 0;
}

/* The process that the verdict names, else the provider of the last place of its chain; "": there is
 * none. */
static const char *verdict_service(const json_t *document)
{
	const json_t *verdict = json_object_get(document, "verdict"), *tree, *row;
	char where[4096];
	char *state = NULL;
	size_t i, k, at = SIZE_MAX;

	if (text_of(verdict, "process")[0]) {
		return text_of(verdict, "process");
	}
	snprintf(where, sizeof(where), "%s", text_of(verdict, "where"));
	json_array_foreach(json_object_get(document, "contexts"), i, tree)
	{
		const json_t *rows = json_object_get(tree, "rows");

		if (!where[0] || !json_equal(json_object_get(tree, "group"),
						 json_object_get(verdict, "group"))) {
			continue;
		}
		for (char *name = strtok_r(where, ">", &state); name;
				name = strtok_r(NULL, ">", &state)) {
			size_t found = SIZE_MAX;

			name += strspn(name, " ");
			name[strcspn(name, " ")] = '\0';
			json_array_foreach(rows, k, row)
			{
				const json_t *parent = json_object_get(row, "parent");
				bool below = at == SIZE_MAX ? json_is_null(parent)
							    : (size_t)json_integer_value(parent) ==
											      at &&
									      !json_is_null(parent);

				if (below && strcmp(text_of(row, "context"), name) == 0) {
					found = k;
					break;
				}
			}
			if (found == SIZE_MAX) {
				break;
			}
			at = found;
		}
		return at == SIZE_MAX ? "" : text_of(json_array_get(rows, at), "provider");
	}
	return "";
}

/* --- baseline: the service whose spans' own time grew most, in standard deviations --- */

struct own {
	const char *service;
	double n[2], sum[2], squares[2];
};

static void add_own(struct own *list, uint32_t *n, const json_t *baseline, uint32_t side)
{
	const json_t *type, *context;
	size_t i, k;

	json_array_foreach(json_object_get(baseline, "types"), i, type)
	{
		json_array_foreach(json_object_get(type, "contexts"), k, context)
		{
			const char *service = text_of(context, "provider");
			double count = number_of(context, "requests"), mean, sd;
			uint32_t at = 0;

			if (!service[0] || number_of(context, "spans") <= 0) {
				continue;
			}
			while (at < *n && strcmp(list[at].service, service) != 0) {
				at++;
			}
			if (at == MAX_SERVICES) {
				end("more than %u services", MAX_SERVICES);
			}
			if (at == *n) {
				list[(*n)++] = (struct own){.service = service};
			}
			mean = number_of(context, "self_ns");
			sd = number_of(context, "self_sd_ns");
			list[at].n[side] += count;
			list[at].sum[side] += count * mean;
			list[at].squares[side] += count * (sd * sd + mean * mean);
		}
	}
}

static const char *z_score_service(const json_t *before, const json_t *after, uint32_t *n_services)
{
	struct own list[MAX_SERVICES];
	const char *best = "";
	double most = 0;
	uint32_t n = 0;

	add_own(list, &n, before, 0);
	*n_services = n;
	add_own(list, &n, after, 1);
	for (uint32_t i = 0; i < n; i++) {
		double mean = list[i].sum[0] / list[i].n[0];
		double sd = sqrt(list[i].squares[0] / list[i].n[0] - mean * mean);
		double z = (list[i].sum[1] / list[i].n[1] - mean) / sd;

		if (isfinite(z) && z > most) {
			most = z;
			best = list[i].service;
		}
	}
	return best;
}

/* --- tables --- */

static void score_site(const struct site *site, uint32_t number, const char *directory,
		struct score *const to[3])
{
	char path[4096];
	json_t *document, *before, *after, *row;
	const json_t *rows;
	struct score one = {.n = 1};
	const char *seen[3] = {"", "", ""}, *first = "nothing", *name = "", *z;
	uint32_t n_services = 1, n_seen = 0;
	size_t i;

	snprintf(path, sizeof(path), "%s/%u", directory, number);
	document = load(path, "document");
	before = load(path, "before");
	after = load(path, "after");
	rows = json_object_get(json_object_get(document, "changes"), "rows");
	json_array_foreach(rows, i, row)
	{
		const char *service = text_of(row, "service");
		bool again = false;

		if (i == 0) {
			first = service;
			name = text_of(row, "name");
			one.first[CHANGES] = is_service(row, site);
			one.place = is_place(row, site);
		}
		for (uint32_t k = 0; k < n_seen; k++) {
			again = again || strcmp(seen[k], service) == 0;
		}
		if (!again && n_seen < 3) {
			seen[n_seen++] = service;
			one.three |= is_service(row, site);
		}
	}
	z = z_score_service(before, after, &n_services);
	one.first[Z_SCORE] = strcmp(z, site->fields[4]) == 0;
	one.first[VERDICT] = strcmp(verdict_service(document), site->fields[4]) == 0;
	one.by_chance = 1.0 / n_services;
	for (uint32_t k = 0; k < 3; k++) {
		to[k]->n += one.n;
		to[k]->three += one.three;
		to[k]->place += one.place;
		to[k]->by_chance += one.by_chance;
		for (uint32_t who = 0; who < N_WHO; who++) {
			to[k]->first[who] += one.first[who];
		}
	}
	if (!one.place || !one.first[CHANGES]) {
		fprintf(stderr, "%3u %-7s %-44s first: %s %s, of %zu%s\n", number, site->fields[0],
				site->fields[3], first, name, json_array_size(rows),
				one.three ? " (right service among three)" : "");
	}
	json_decref(document);
	json_decref(before);
	json_decref(after);
}

static void print_score(const char *name, const struct score *score)
{
	double n = score->n / 100.0;

	printf("| %s | %u | %.0f | %.0f | %.0f | %.0f | %.0f | %.0f |\n", name, score->n,
			score->first[CHANGES] / n, score->three / n, score->place / n,
			score->first[VERDICT] / n, score->first[Z_SCORE] / n, score->by_chance / n);
}

static void read_sites(const char *path, const char *set)
{
	FILE *file = fopen(path, "r");
	char line[512];

	if (!file) {
		end("cannot read %s", path);
	}
	while (fgets(line, sizeof(line), file)) {
		struct site *site = &sites[n_sites];
		char *state = NULL;

		if (line[0] == '#') {
			continue;
		}
		memcpy(site->text, line, sizeof(line));
		site->text[strcspn(site->text, "\n")] = '\0';
		for (uint32_t i = 0; i < FIELDS; i++) {
			site->fields[i] = strtok_r(i ? NULL : site->text, "\t", &state);
			if (!site->fields[i]) {
				end("%s: not %u fields: %s", path, FIELDS, line);
			}
		}
		if (strcmp(site->fields[1], set) == 0 && ++n_sites == MAX_ROWS) {
			end("more than %u rows", MAX_ROWS);
		}
	}
	fclose(file);
}

static void score_sites(const char *directory)
{
	static struct score kinds[MAX_KINDS], systems[MAX_KINDS], total;
	const char *kind_names[MAX_KINDS] = {NULL}, *system_names[MAX_KINDS] = {NULL};

	for (uint32_t i = 0; i < n_sites; i++) {
		uint32_t kind = 0, system = 0;

		while (kind_names[kind] && strcmp(kind_names[kind], sites[i].fields[2]) != 0) {
			kind++;
		}
		while (system_names[system] &&
				strcmp(system_names[system], sites[i].fields[0]) != 0) {
			system++;
		}
		if (kind + 1 == MAX_KINDS || system + 1 == MAX_KINDS) {
			end("more than %u kinds or systems", MAX_KINDS - 1);
		}
		kind_names[kind] = sites[i].fields[2];
		system_names[system] = sites[i].fields[0];
		score_site(&sites[i], i, directory,
				(struct score *const[]){&total, &kinds[kind], &systems[system]});
	}
	printf("| | sites | right service first, %% | among three | right place first | the "
	       "loop's verdict | z-score | random |\n|---|---|---|---|---|---|---|---|\n");
	for (uint32_t i = 0; kind_names[i]; i++) {
		print_score(kind_names[i], &kinds[i]);
	}
	for (uint32_t i = 0; system_names[i]; i++) {
		print_score(system_names[i], &systems[i]);
	}
	print_score("**all**", &total);
}

static void score_null(int n, char **directories)
{
	uint32_t found = 0;

	for (int i = 0; i < n; i++) {
		json_t *document = load(directories[i], "document");
		const json_t *rows = json_object_get(json_object_get(document, "changes"), "rows");
		const json_t *first = json_array_get(rows, 0);

		if (!json_is_array(rows)) {
			end("%s: nothing was compared", directories[i]);
		}
		if (first && json_is_true(json_object_get(first, "sure"))) {
			found++;
			fprintf(stderr, "%s: %s %s %s, p %g\n", directories[i],
					text_of(first, "kind"), text_of(first, "service"),
					text_of(first, "name"), number_of(first, "p"));
		}
		json_decref(document);
	}
	printf("without a fault: a finding in %u of %d (%.1f %%)\n", found, n, 100.0 * found / n);
}

int main(int argc, char **argv)
{
	if (argc == 5 && strcmp(argv[1], "sites") == 0) {
		read_sites(argv[2], argv[3]);
		score_sites(argv[4]);
		return 0;
	}
	if (argc > 2 && strcmp(argv[1], "null") == 0) {
		score_null(argc - 2, argv + 2);
		return 0;
	}
	fputs("usage: score_changes sites SITES SET DIRECTORY, or null DIRECTORY...\n", stderr);
	return 2;
}
