/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "config/profile_file.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "config/json_file.h"

#define FORMAT    "pythiatop-profile"
#define MAX_BYTES (256u << 20)
#define MAX_NODES (1u << 20) /* of all types */

struct profile_file {
	struct profile profile;
	json_t *document; /* owns the texts */
	char *origin;
	struct profile_type *types;
	struct profile_node *nodes; /* of all types */
	struct profile_norm *norms; /* likewise */
};

/* --- reading --- */

static bool take_node(const struct complaint *complaint, const char *type, size_t at,
		json_t *object, struct profile_node *node)
{
	json_error_t error;
	json_int_t parent, explained;
	int kernel;

	node->offset_ns = -1; /* older files have none */
	if (json_unpack_ex(object, &error, JSON_STRICT,
			    "{s:I, s:s, s:s, s:s, s:s, s:b, s:F, s:F, s:I, s?F}", "parent", &parent,
			    "name", &node->name, "provider", &node->provider, "entry", &node->entry,
			    "exit", &node->exit, "kernel", &kernel, "count", &node->count,
			    "total_ns", &node->total_ns, "explained", &explained, "offset_ns",
			    &node->offset_ns) != 0) {
		return complain(complaint, "type \"%s\", node %zu: %s", type, at, error.text);
	}
	if (parent < -1 || parent >= (json_int_t)at) {
		return complain(complaint,
				"type \"%s\", node %zu: parent is -1 or the number of a node "
				"before it",
				type, at);
	}
	if (node->count < 0 || node->total_ns < 0 || explained < 0 || explained > UINT32_MAX) {
		return complain(complaint, "type \"%s\", node %zu: a negative number", type, at);
	}
	node->parent = parent < 0 ? UINT32_MAX : (uint32_t)parent;
	node->kernel = kernel;
	node->explained = (uint32_t)explained;
	return true;
}

static bool take_norms(const struct complaint *complaint, json_t *array, struct profile_type *type,
		struct profile_norm *norms)
{
	json_error_t error;
	json_int_t count, modes;
	json_t *norm;
	size_t i;

	if (!json_is_array(array)) {
		return complain(complaint, "type \"%s\": expected an array of norms", type->type);
	}
	json_array_foreach(array, i, norm)
	{
		norms[i].middle_ns = -1; /* older files have none */
		if (json_unpack_ex(norm, &error, JSON_STRICT, "{s:s, s:I, s:F, s:F, s:I, s?F}",
				    "path", &norms[i].path, "count", &count, "p50_ns",
				    &norms[i].p50_ns, "cov", &norms[i].cov, "modes", &modes,
				    "middle_ns", &norms[i].middle_ns) != 0) {
			return complain(complaint, "type \"%s\", norm %zu: %s", type->type, i,
					error.text);
		}
		if (count < 0 || modes < 0 || modes > UINT32_MAX || norms[i].p50_ns < 0 ||
				norms[i].cov < 0) {
			return complain(complaint, "type \"%s\", norm %zu: a negative number",
					type->type, i);
		}
		norms[i].count = (uint64_t)count;
		norms[i].n_modes = (uint32_t)modes;
	}
	type->norms = norms;
	type->n_norms = (uint32_t)i;
	return true;
}

static bool take_type(const struct complaint *complaint, size_t at, json_t *object,
		struct profile_type *type, struct profile_node *nodes, struct profile_norm *norms)
{
	json_error_t error;
	json_int_t requests, failed = 0, ended = 0; /* older files do not tell the last two */
	json_t *array, *node, *norm_array;
	size_t i;

	if (json_unpack_ex(object, &error, JSON_STRICT, "{s:s, s:I, s:o, s:o, s?I, s?I}", "type",
			    &type->type, "requests", &requests, "nodes", &array, "norms",
			    &norm_array, "failed", &failed, "ended", &ended) != 0) {
		return complain(complaint, "type %zu: %s", at, error.text);
	}
	if (requests < 0 || failed < 0 || ended < failed || !json_is_array(array)) {
		return complain(complaint,
				"type \"%s\": expected requests, 0 or more, and an array of nodes",
				type->type);
	}
	type->requests = (uint64_t)requests;
	type->failed = (uint64_t)failed;
	type->ended = (uint64_t)ended;
	type->nodes = nodes;
	json_array_foreach(array, i, node)
	{
		if (!take_node(complaint, type->type, i, node, &nodes[i])) {
			return false;
		}
	}
	type->n = (uint32_t)i;
	return take_norms(complaint, norm_array, type, norms);
}

static bool take_types(const struct complaint *complaint, json_t *array, struct profile_file *file)
{
	size_t n_nodes = 0, n_norms = 0, i;
	json_t *object;

	json_array_foreach(array, i, object)
	{
		n_nodes += json_array_size(json_object_get(object, "nodes"));
		n_norms += json_array_size(json_object_get(object, "norms"));
	}
	if (!json_is_array(array) || n_nodes + n_norms > MAX_NODES) {
		return complain(complaint,
				"expected \"types\" to be an array, of at most %u nodes together",
				MAX_NODES);
	}
	file->types = calloc(json_array_size(array) + 1, sizeof(*file->types));
	file->nodes = calloc(n_nodes + 1, sizeof(*file->nodes));
	file->norms = calloc(n_norms + 1, sizeof(*file->norms));
	if (!file->types || !file->nodes || !file->norms) {
		return complain(complaint, "out of memory");
	}
	n_nodes = n_norms = 0;
	json_array_foreach(array, i, object)
	{
		if (!take_type(complaint, i, object, &file->types[i], file->nodes + n_nodes,
				    file->norms + n_norms)) {
			return false;
		}
		n_norms += file->types[i].n_norms;
		n_nodes += file->types[i].n;
	}
	file->profile = (struct profile){
			.origin = file->origin, .n = (uint32_t)i, .types = file->types};
	return true;
}

struct profile_file *profile_file_read(const char *path, char *error, size_t size)
{
	const struct complaint complaint = {.path = path, .text = error, .size = size};
	struct profile_file *file;
	struct stat info;

	if (stat(path, &info) == 0 && S_ISDIR(info.st_mode)) {
		complain(&complaint,
				"a directory; if everything was on in that recording, make a "
				"profile of it first: pythiatop --batch=json "
				"--save-profile=FILE %.200s",
				path);
		return NULL;
	}
	file = calloc(1, sizeof(*file));
	if (!file || !(file->origin = strdup(path))) {
		complain(&complaint, "out of memory");
		profile_file_destroy(file);
		return NULL;
	}
	file->document = json_file_load(&complaint, FORMAT, PROFILE_VERSION, MAX_BYTES);
	if (!file->document ||
			!take_types(&complaint, json_object_get(file->document, "types"), file)) {
		profile_file_destroy(file);
		return NULL;
	}
	return file;
}

const struct profile *profile_file_profile(const struct profile_file *file)
{
	return &file->profile;
}

void profile_file_destroy(struct profile_file *file)
{
	if (file) {
		json_decref(file->document);
		free(file->origin);
		free(file->types);
		free(file->nodes);
		free(file->norms);
		free(file);
	}
}

/* --- writing --- */

static json_t *node_json(const struct profile_node *node)
{
	return json_pack("{sI so so so so sb sf sf sI sf}", "parent",
			node->parent == UINT32_MAX ? (json_int_t)-1 : (json_int_t)node->parent,
			"name", json_file_text(node->name), "provider",
			json_file_text(node->provider), "entry", json_file_text(node->entry),
			"exit", json_file_text(node->exit), "kernel", node->kernel, "count",
			node->count, "total_ns", node->total_ns, "explained",
			(json_int_t)node->explained, "offset_ns", node->offset_ns);
}

enum status profile_file_write(FILE *out, const struct profile *profile)
{
	json_t *types = json_array(), *document;
	int failed;

	for (uint32_t i = 0; i < profile->n; i++) {
		const struct profile_type *type = &profile->types[i];
		json_t *nodes = json_array(), *norms = json_array();

		for (uint32_t j = 0; j < type->n; j++) {
			json_array_append_new(nodes, node_json(&type->nodes[j]));
		}
		for (uint32_t j = 0; j < type->n_norms; j++) {
			const struct profile_norm *norm = &type->norms[j];

			json_array_append_new(
					norms, json_pack("{so sI sf sf sI sf}", "path",
							       json_file_text(norm->path), "count",
							       (json_int_t)norm->count, "p50_ns",
							       norm->p50_ns, "cov", norm->cov,
							       "modes", (json_int_t)norm->n_modes,
							       "middle_ns", norm->middle_ns));
		}
		json_array_append_new(types,
				json_pack("{so sI so so sI sI}", "type", json_file_text(type->type),
						"requests", (json_int_t)type->requests, "nodes",
						nodes, "norms", norms, "failed",
						(json_int_t)type->failed, "ended",
						(json_int_t)type->ended));
	}
	document = json_pack(
			"{ss si so}", "format", FORMAT, "version", PROFILE_VERSION, "types", types);
	if (!document) {
		return STATUS_NO_MEMORY;
	}
	failed = json_dumpf(document, out, JSON_INDENT(1) | JSON_REAL_PRECISION(12));
	json_decref(document);
	return failed || fputc('\n', out) == EOF ? STATUS_IO : STATUS_OK;
}
