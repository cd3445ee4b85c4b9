/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "config/baseline_file.h"

#include <jansson.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "config/json_file.h"

#define FORMAT  "pythiatop-baseline"
#define VERSION 2
#define DIGITS  17 /* a double is read back as it was */

struct baseline_file {
	struct baseline baseline;
	json_t *document; /* owns the texts */
	char *origin;
	struct baseline_group *groups;
	uint64_t *bins; /* of all groups */
	struct baseline_type *types;
	struct baseline_node *nodes; /* of all types */
};

/* --- reading --- */

/* A whole number, not negative: what JSON's integers may be. */
static bool take_count(json_int_t value, uint64_t *out)
{
	*out = (uint64_t)value;
	return value >= 0;
}

/* Appends the group's bins to those of the groups before it. */
static bool take_bins(json_t *array, struct baseline_group *group, uint64_t *bins)
{
	json_t *bin;
	size_t i;

	json_array_foreach(array, i, bin)
	{
		if (!json_is_integer(bin) || !take_count(json_integer_value(bin), &bins[i])) {
			return false;
		}
	}
	group->histogram = bins;
	group->histogram_bins = (uint32_t)i;
	return true;
}

static bool take_group(const struct complaint *complaint, size_t at, json_t *object,
		struct baseline_group *group, uint64_t *bins)
{
	json_error_t error;
	json_int_t count, low, key = 0;
	json_t *histogram;

	if (json_unpack_ex(object, &error, JSON_STRICT, "{s?I, s:s, s:s, s:I, s:F, s:F, s:I, s:o}",
			    "key", &key, "type", &group->type, "path", &group->path, "count",
			    &count, "mean_ns", &group->mean_ns, "sd_ns", &group->sd_ns,
			    "histogram_low", &low, "histogram", &histogram) != 0) {
		return complain(complaint, "group %zu: %s", at, error.text);
	}
	if (!take_count(count, &group->count) || group->mean_ns < 0 || group->sd_ns < 0) {
		return complain(complaint, "group %zu (%s): negative count, mean_ns or sd_ns", at,
				group->type);
	}
	if (low < 0 || !json_is_array(histogram) ||
			(size_t)low + json_array_size(histogram) > BASELINE_MAX_BINS) {
		return complain(complaint,
				"group %zu (%s): expected a histogram of bins 0 to %u: an array "
				"that begins at histogram_low",
				at, group->type, BASELINE_MAX_BINS - 1);
	}
	group->histogram_low = (int32_t)low;
	group->key = (uint64_t)key;
	if (!take_bins(histogram, group, bins)) {
		return complain(complaint,
				"group %zu (%s): a histogram's bins are counts, 0 or more", at,
				group->type);
	}
	return true;
}

static int compare(const void *a, const void *b)
{
	const struct baseline_group *x = *(const struct baseline_group *const *)a;
	const struct baseline_group *y = *(const struct baseline_group *const *)b;
	int order = strcmp(x->type, y->type);

	return order ? order : strcmp(x->path, y->path);
}

/* Two answers to how a group performed are none. */
static bool check_unique(
		const struct complaint *complaint, const struct baseline_group *groups, uint32_t n)
{
	const struct baseline_group **sorted = malloc((n + 1) * sizeof(*sorted));
	bool unique = true;
	uint32_t i;

	if (!sorted) {
		return complain(complaint, "out of memory");
	}
	for (i = 0; i < n; i++) {
		sorted[i] = &groups[i];
	}
	qsort(sorted, n, sizeof(*sorted), compare);
	for (i = 1; unique && i < n; i++) {
		unique = compare(&sorted[i - 1], &sorted[i]) != 0 ||
			 complain(complaint, "the group \"%s\" \"%s\" is there twice",
					 sorted[i]->type, sorted[i]->path);
	}
	free(sorted);
	return unique;
}

static bool take_groups(
		const struct complaint *complaint, json_t *array, struct baseline_file *file)
{
	size_t n = json_array_size(array), n_bins = 0, i;
	json_t *object;

	if (!json_is_array(array) || n > BASELINE_MAX_GROUPS) {
		return complain(complaint, "expected \"groups\" to be an array of at most %u",
				BASELINE_MAX_GROUPS);
	}
	json_array_foreach(array, i, object)
	{
		n_bins += json_array_size(json_object_get(object, "histogram"));
	}
	file->groups = calloc(n + 1, sizeof(*file->groups));
	file->bins = calloc(n_bins + 1, sizeof(*file->bins));
	if (!file->groups || !file->bins) {
		return complain(complaint, "out of memory");
	}
	n_bins = 0;
	json_array_foreach(array, i, object)
	{
		if (!take_group(complaint, i, object, &file->groups[i], file->bins + n_bins)) {
			return false;
		}
		n_bins += file->groups[i].histogram_bins;
	}
	file->baseline.n = (uint32_t)n;
	file->baseline.groups = file->groups;
	return check_unique(complaint, file->groups, file->baseline.n);
}

/* Longer than any request: 2^64 ns. */
static bool is_time(double ns)
{
	return ns >= 0 && ns <= 18446744073709551616.0;
}

static bool take_node(const struct complaint *complaint, const char *type, size_t at,
		json_t *object, struct baseline_node *node)
{
	json_error_t error;
	json_int_t parent, spans, requests;

	if (json_unpack_ex(object, &error, JSON_STRICT,
			    "{s:I, s:s, s:s, s:s, s:I, s:I, s:F, s:F, s:F, s:F}", "parent", &parent,
			    "name", &node->name, "provider", &node->provider, "process",
			    &node->process, "spans", &spans, "requests", &requests, "segment_ns",
			    &node->segment_ns, "segment_sd_ns", &node->segment_sd_ns, "self_ns",
			    &node->self_ns, "self_sd_ns", &node->self_sd_ns) != 0) {
		return complain(complaint, "type %s: context %zu: %s", type, at, error.text);
	}
	if (parent < -1 || parent >= (json_int_t)at) {
		return complain(complaint,
				"type %s: context %zu: its parent is not one before it, or -1",
				type, at);
	}
	if (!take_count(spans, &node->spans) || !take_count(requests, &node->requests) ||
			!is_time(node->segment_ns) || !is_time(node->segment_sd_ns) ||
			!is_time(node->self_ns) || !is_time(node->self_sd_ns)) {
		return complain(complaint,
				"type %s: context %zu: a negative number, or a time beyond 2^64 ns",
				type, at);
	}
	node->parent = parent < 0 ? UINT32_MAX : (uint32_t)parent;
	return true;
}

static bool take_type(const struct complaint *complaint, size_t at, json_t *object,
		struct baseline_type *type, struct baseline_node *nodes)
{
	json_t *contexts, *context;
	json_int_t requests, complete, all, last = 0, unrecorded = 0;
	json_error_t error;
	size_t i;

	if (json_unpack_ex(object, &error, JSON_STRICT,
			    "{s?I, s?I, s:s, s:I, s:I, s:I, s:F, s:F, s:F, s:o}", "last_start_ns",
			    &last, "unrecorded_ns", &unrecorded, "type", &type->type, "requests",
			    &requests, "complete", &complete, "all", &all, "mean_ns",
			    &type->mean_ns, "sd_ns", &type->sd_ns, "inflation", &type->inflation,
			    "contexts", &contexts) != 0) {
		return complain(complaint, "type %zu: %s", at, error.text);
	}
	if (!take_count(requests, &type->requests) || !take_count(all, &type->all) ||
			!take_count(complete, &type->complete) || complete > requests ||
			!take_count(last, &type->last_start_ns) ||
			!take_count(unrecorded, &type->unrecorded_ns) || !is_time(type->mean_ns) ||
			!is_time(type->sd_ns) || type->inflation < 1 ||
			type->inflation > BASELINE_MAX_INFLATION) {
		return complain(complaint,
				"type %zu (%s): a negative number, a time beyond 2^64 ns, more "
				"complete than requests, or an "
				"inflation that is not 1 to %g",
				at, type->type, BASELINE_MAX_INFLATION);
	}
	json_array_foreach(contexts, i, context)
	{
		if (!take_node(complaint, type->type, i, context, &nodes[i])) {
			return false;
		}
	}
	type->nodes = nodes;
	type->n = (uint32_t)i;
	return true;
}

static bool take_types(const struct complaint *complaint, json_t *array, struct baseline_file *file)
{
	size_t n = json_array_size(array), n_nodes = 0, i;
	json_t *object;

	json_array_foreach(array, i, object)
	{
		n_nodes += json_array_size(json_object_get(object, "contexts"));
	}
	if (!json_is_array(array) || n > BASELINE_MAX_GROUPS || n_nodes > BASELINE_MAX_CONTEXTS) {
		return complain(complaint,
				"expected \"types\" to be an array of at most %u, with %u "
				"contexts in all",
				BASELINE_MAX_GROUPS, BASELINE_MAX_CONTEXTS);
	}
	file->types = calloc(n + 1, sizeof(*file->types));
	file->nodes = calloc(n_nodes + 1, sizeof(*file->nodes));
	if (!file->types || !file->nodes) {
		return complain(complaint, "out of memory");
	}
	n_nodes = 0;
	json_array_foreach(array, i, object)
	{
		if (!take_type(complaint, i, object, &file->types[i], file->nodes + n_nodes)) {
			return false;
		}
		n_nodes += file->types[i].n;
	}
	file->baseline.n_types = (uint32_t)n;
	file->baseline.types = file->types;
	return true;
}

static bool take_document(const struct complaint *complaint, struct baseline_file *file)
{
	json_error_t error;
	const char *text;
	json_int_t time_ns, length_ns;
	json_t *groups, *types;
	int number;

	if (json_unpack_ex(file->document, &error, JSON_STRICT, "{s:s, s:i, s:I, s:I, s:o, s:o}",
			    "format", &text, "version", &number, "time_ns", &time_ns, "length_ns",
			    &length_ns, "groups", &groups, "types", &types) != 0) {
		return complain(complaint, "%s", error.text);
	}
	if (!take_count(time_ns, &file->baseline.time_ns) ||
			!take_count(length_ns, &file->baseline.length_ns)) {
		return complain(complaint, "expected time_ns and length_ns to be 0 or more");
	}
	return take_groups(complaint, groups, file) && take_types(complaint, types, file);
}

struct baseline_file *baseline_file_read(const char *path, char *error, size_t size)
{
	struct complaint complaint = {.path = path, .text = error, .size = size};
	struct baseline_file *file = calloc(1, sizeof(*file));

	if (!file) {
		complain(&complaint, "out of memory");
		return NULL;
	}
	file->origin = strdup(path);
	file->baseline.origin = file->origin ? file->origin : "";
	file->document = json_file_load(&complaint, FORMAT, VERSION, BASELINE_MAX_BYTES);
	if (!file->document || !take_document(&complaint, file)) {
		baseline_file_destroy(file);
		return NULL;
	}
	return file;
}

const struct baseline *baseline_file_baseline(const struct baseline_file *file)
{
	return &file->baseline;
}

void baseline_file_destroy(struct baseline_file *file)
{
	if (file) {
		json_decref(file->document);
		free(file->origin);
		free(file->groups);
		free(file->bins);
		free(file->types);
		free(file->nodes);
		free(file);
	}
}

/* --- writing --- */

static json_t *group(const struct baseline_group *group)
{
	json_t *histogram = json_array();
	uint32_t i;

	for (i = 0; i < group->histogram_bins; i++) {
		json_array_append_new(histogram, json_integer((json_int_t)group->histogram[i]));
	}
	return json_pack("{sI so so sI sf sf si so}", "key", (json_int_t)group->key, "type",
			json_file_text(group->type), "path", json_file_text(group->path), "count",
			(json_int_t)group->count, "mean_ns", group->mean_ns, "sd_ns", group->sd_ns,
			"histogram_low", group->histogram_low, "histogram", histogram);
}

static json_t *node(const struct baseline_node *node)
{
	return json_pack("{sI so so so sI sI sf sf sf sf}", "parent",
			node->parent == UINT32_MAX ? (json_int_t)-1 : (json_int_t)node->parent,
			"name", json_file_text(node->name), "provider",
			json_file_text(node->provider), "process", json_file_text(node->process),
			"spans", (json_int_t)node->spans, "requests", (json_int_t)node->requests,
			"segment_ns", node->segment_ns, "segment_sd_ns", node->segment_sd_ns,
			"self_ns", node->self_ns, "self_sd_ns", node->self_sd_ns);
}

static json_t *type(const struct baseline_type *type)
{
	json_t *contexts = json_array();

	for (uint32_t i = 0; i < type->n; i++) {
		json_array_append_new(contexts, node(&type->nodes[i]));
	}
	return json_pack("{sI sI so sI sI sI sf sf sf so}", "last_start_ns",
			(json_int_t)type->last_start_ns, "unrecorded_ns",
			(json_int_t)type->unrecorded_ns, "type", json_file_text(type->type),
			"requests", (json_int_t)type->requests, "complete",
			(json_int_t)type->complete, "all", (json_int_t)type->all, "mean_ns",
			type->mean_ns, "sd_ns", type->sd_ns, "inflation", type->inflation,
			"contexts", contexts);
}

enum status baseline_file_write(FILE *out, const struct baseline *baseline)
{
	json_t *groups = json_array(), *types = json_array(), *document;
	uint32_t i;
	int failed;

	for (i = 0; i < baseline->n; i++) {
		if (json_array_append_new(groups, group(&baseline->groups[i])) != 0) {
			json_decref(groups);
			json_decref(types);
			return STATUS_NO_MEMORY;
		}
	}
	for (i = 0; i < baseline->n_types; i++) {
		if (json_array_append_new(types, type(&baseline->types[i])) != 0) {
			json_decref(groups);
			json_decref(types);
			return STATUS_NO_MEMORY;
		}
	}
	document = json_pack("{ss si sI sI so so}", "format", FORMAT, "version", VERSION, "time_ns",
			(json_int_t)baseline->time_ns, "length_ns", (json_int_t)baseline->length_ns,
			"groups", groups, "types", types);
	if (!document) {
		return STATUS_NO_MEMORY;
	}
	failed = json_dumpf(document, out, JSON_COMPACT | JSON_REAL_PRECISION(DIGITS));
	json_decref(document);
	return failed || fputc('\n', out) == EOF ? STATUS_IO : STATUS_OK;
}
