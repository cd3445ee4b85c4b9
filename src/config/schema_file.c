/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <yaml.h>

#include "config/duration.h"
#include "config/schema_file.h"
#include "config/schema_yaml.h"

#define SCHEMA_VERSION   1u
#define SCHEMA_MAX_BYTES (8u << 20)

struct schema_file {
	struct schema schema;
	struct yaml_schema *yaml; /* owns the texts that `schema` points to */
	char *origin;
	struct schema_namespace *namespaces;
	struct schema_event *events;
	struct schema_expect *expect;
};

/* What libcyaml says of an error: first what, then a backtrace from the inside out. */
struct complaint {
	char what[256];
	char where[128];
};

__attribute__((format(printf, 3, 0))) static void take_complaint(
		cyaml_log_t level, void *context, const char *format, va_list args)
{
	struct complaint *complaint = context;
	char line[256];
	char *place;

	if (level < CYAML_LOG_ERROR) {
		return;
	}
	vsnprintf(line, sizeof(line), format, args);
	line[strcspn(line, "\n")] = '\0';
	place = strstr(line, "(line: ");
	if (place && !complaint->where[0]) {
		snprintf(complaint->where, sizeof(complaint->where), "%u",
				(unsigned int)strtoul(place + strlen("(line: "), NULL, 10));
	} else if (!place && !complaint->what[0]) {
		const char *text = strncmp(line, "Load: ", 6) == 0 ? line + 6 : line;

		snprintf(complaint->what, sizeof(complaint->what), "%s", text);
	}
}

static cyaml_config_t cyaml_setup(struct complaint *complaint)
{
	return (cyaml_config_t){
			.log_fn = take_complaint,
			.log_ctx = complaint,
			.mem_fn = cyaml_mem,
			.log_level = CYAML_LOG_ERROR,
			.flags = CYAML_CFG_NO_ALIAS, /* aliases can grow a small file without bound
						      */
	};
}

static char *read_text(const char *path, size_t *length, char *error, size_t size)
{
	FILE *in = fopen(path, "re");
	char *text;

	if (!in) {
		snprintf(error, size, "cannot open schema %s: %s", path, strerror(errno));
		return NULL;
	}
	text = malloc(SCHEMA_MAX_BYTES + 1);
	if (!text) {
		snprintf(error, size, "out of memory");
		fclose(in);
		return NULL;
	}
	*length = fread(text, 1, SCHEMA_MAX_BYTES + 1, in);
	if (ferror(in) || *length > SCHEMA_MAX_BYTES) {
		snprintf(error, size, "cannot read schema %s: %s", path,
				ferror(in) ? strerror(errno) : "larger than 8 MiB");
		free(text);
		text = NULL;
	}
	fclose(in);
	return text;
}

/* libcyaml does not tell where a value stood: the lines of `events` come from libyaml. */
static void find_lines(struct schema_file *file, const char *text, size_t length)
{
	yaml_node_pair_t *pair;
	yaml_document_t document;
	yaml_parser_t parser;
	yaml_node_t *root;

	if (!yaml_parser_initialize(&parser)) {
		return;
	}
	yaml_parser_set_input_string(&parser, (const unsigned char *)text, length);
	if (!yaml_parser_load(&parser, &document)) {
		yaml_parser_delete(&parser);
		return;
	}
	root = yaml_document_get_root_node(&document);
	for (pair = root ? root->data.mapping.pairs.start : NULL;
			pair && pair < root->data.mapping.pairs.top; pair++) {
		yaml_node_t *key = yaml_document_get_node(&document, pair->key);
		yaml_node_t *value = yaml_document_get_node(&document, pair->value);
		uint32_t i;

		if (key->type != YAML_SCALAR_NODE || value->type != YAML_SEQUENCE_NODE ||
				strcmp((const char *)key->data.scalar.value, "events") != 0) {
			continue;
		}
		for (i = 0; i < file->schema.n_events; i++) {
			yaml_node_t *event = yaml_document_get_node(
					&document, value->data.sequence.items.start[i]);

			file->events[i].line = (uint32_t)event->start_mark.line + 1;
		}
	}
	yaml_document_delete(&document);
	yaml_parser_delete(&parser);
}

static enum status take_namespaces(struct schema_file *file, char *error, size_t size)
{
	const struct yaml_schema *yaml = file->yaml;
	uint32_t i;

	file->namespaces = calloc(yaml->n_namespaces + 1u, sizeof(*file->namespaces));
	if (!file->namespaces) {
		snprintf(error, size, "out of memory");
		return STATUS_NO_MEMORY;
	}
	for (i = 0; i < yaml->n_namespaces; i++) {
		const struct yaml_namespace *from = &yaml->namespaces[i];
		struct schema_namespace *to = &file->namespaces[i];

		to->name = from->name;
		to->scope = from->scope;
		to->join = !from->join || *from->join;
		to->hold = from->hold && *from->hold;
		if (!duration_parse(from->ttl, &to->ttl_ns) || to->ttl_ns == 0) {
			snprintf(error, size,
					"%s: namespace %s: ttl \"%s\" is not a duration such as "
					"30s or "
					"10m",
					file->origin, from->name, from->ttl);
			return STATUS_INVALID;
		}
	}
	file->schema.namespaces = file->namespaces;
	file->schema.n_namespaces = yaml->n_namespaces;
	return STATUS_OK;
}

static enum status take_events(struct schema_file *file)
{
	const struct yaml_schema *yaml = file->yaml;
	uint32_t i, j;

	file->events = calloc(yaml->n_events + 1u, sizeof(*file->events));
	if (!file->events) {
		return STATUS_NO_MEMORY;
	}
	file->schema.events = file->events;
	for (i = 0; i < yaml->n_events; i++) {
		const struct yaml_event *from = &yaml->events[i];
		struct schema_bind *bind = calloc(from->n_bind + 1u, sizeof(*bind));
		struct schema_extract *extract =
				from->n_extract ? calloc(from->n_extract, sizeof(*extract)) : NULL;

		/* Known from now on, for schema_file_destroy(). */
		file->events[i].bind = bind;
		file->events[i].extract = extract;
		file->schema.n_events = i + 1;
		if (!bind || (from->n_extract && !extract)) {
			return STATUS_NO_MEMORY;
		}
		for (j = 0; j < from->n_extract; j++) {
			extract[j] = (struct schema_extract){
					.from = from->extract[j].from,
					.match = from->extract[j].match,
					.n_fields = from->extract[j].n_fields,
					.fields = (const char *const *)from->extract[j].fields,
					.n_as = from->extract[j].n_as,
					.as = from->extract[j].as,
			};
		}
		for (j = 0; j < from->n_bind; j++) {
			bind[j] = (struct schema_bind){
					.ns = from->bind[j].ns,
					.op = from->bind[j].op,
					.n_keys = from->bind[j].n_key,
					.keys = (const char *const *)from->bind[j].key,
			};
		}
		file->events[i] = (struct schema_event){
				.match = from->match,
				.n_extract = from->n_extract,
				.extract = extract,
				.role = from->span,
				.name = from->name,
				.seed = from->seed,
				.n_type = from->n_type,
				.type = (const char *const *)from->type,
				.n_pair = from->n_pair,
				.pair = (const char *const *)from->pair,
				.n_values = from->n_values,
				.values = (const char *const *)from->values,
				.n_fails = from->n_fails,
				.fails = (const char *const *)from->fails,
				.n_bind = from->n_bind,
				.bind = bind,
		};
	}
	return STATUS_OK;
}

static enum status take_expect(struct schema_file *file, char *error, size_t size)
{
	const struct yaml_schema *yaml = file->yaml;
	uint32_t i;

	file->expect = calloc(yaml->n_expect + 1u, sizeof(*file->expect));
	if (!file->expect) {
		snprintf(error, size, "out of memory");
		return STATUS_NO_MEMORY;
	}
	for (i = 0; i < yaml->n_expect; i++) {
		const struct yaml_expect *from = &yaml->expect[i];
		struct schema_expect *to = &file->expect[i];

		to->type = from->type;
		to->n_group_by = from->n_group_by;
		to->group_by = (const char *const *)from->group_by;
		if (from->p50 && !duration_parse(from->p50, &to->p50_ns)) {
			snprintf(error, size,
					"%s: expect %s: p50 \"%s\" is not a duration such as 500ms",
					file->origin, from->type, from->p50);
			return STATUS_INVALID;
		}
	}
	file->schema.expect = file->expect;
	file->schema.n_expect = yaml->n_expect;
	return STATUS_OK;
}

static enum status load(
		struct schema_file *file, const char *text, size_t length, char *error, size_t size)
{
	struct complaint complaint = {.what = ""};
	cyaml_config_t setup = cyaml_setup(&complaint);
	cyaml_err_t result = cyaml_load_data((const uint8_t *)text, length, &setup, &schema_yaml,
			(cyaml_data_t **)&file->yaml, NULL);
	enum status status;

	if (result != CYAML_OK || !file->yaml) {
		snprintf(error, size, "%s%s%s: %s", file->origin, complaint.where[0] ? ":" : "",
				complaint.where,
				complaint.what[0] ? complaint.what : cyaml_strerror(result));
		return STATUS_INVALID;
	}
	if (file->yaml->version != SCHEMA_VERSION) {
		snprintf(error, size, "%s: schema version %u; this program reads version %u",
				file->origin, file->yaml->version, SCHEMA_VERSION);
		return STATUS_INVALID;
	}
	file->schema.origin = file->origin;
	file->schema.applies_to = file->yaml->applies_to;
	file->schema.when = file->yaml->when;
	file->schema.skeleton = (const char *const *)file->yaml->skeleton;
	file->schema.n_skeleton = file->yaml->n_skeleton;
	status = take_namespaces(file, error, size);
	if (status == STATUS_OK) {
		status = take_expect(file, error, size);
	}
	if (status == STATUS_OK) {
		status = take_events(file);
		if (status != STATUS_OK) {
			snprintf(error, size, "out of memory");
		}
	}
	return status;
}

struct schema_file *schema_file_parse(
		const char *origin, const char *text, size_t length, char *error, size_t size)
{
	struct schema_file *file = calloc(1, sizeof(*file));

	if (file) {
		file->origin = strdup(origin);
	}
	if (!file || !file->origin) {
		snprintf(error, size, "out of memory");
		free(file);
		return NULL;
	}
	if (load(file, text, length, error, size) != STATUS_OK) {
		schema_file_destroy(file);
		return NULL;
	}
	find_lines(file, text, length);
	return file;
}

struct schema_file *schema_file_read(const char *path, char *error, size_t size)
{
	struct schema_file *file;
	size_t length;
	char *text = read_text(path, &length, error, size);

	if (!text) {
		return NULL;
	}
	file = schema_file_parse(path, text, length, error, size);
	free(text);
	return file;
}

const struct schema *schema_file_schema(const struct schema_file *file)
{
	return &file->schema;
}

void schema_file_destroy(struct schema_file *file)
{
	struct complaint complaint;
	cyaml_config_t setup = cyaml_setup(&complaint);
	uint32_t i;

	if (!file) {
		return;
	}
	for (i = 0; i < file->schema.n_events; i++) {
		free((struct schema_bind *)file->events[i].bind);
		free((struct schema_extract *)file->events[i].extract);
	}
	free(file->namespaces);
	free(file->events);
	free(file->expect);
	if (file->yaml) {
		cyaml_free(&setup, &schema_yaml, file->yaml, 0);
	}
	free(file->origin);
	free(file);
}

/* A schema as libcyaml saves it; texts are borrowed, arrays are owned. */
struct draft {
	struct yaml_schema yaml;
	char (*ttl)[32];
	char (*p50)[32];
	bool no, yes;
};

static enum status draft_events(struct draft *draft, const struct schema *schema)
{
	uint32_t i, j;

	draft->yaml.events = calloc(schema->n_events + 1u, sizeof(*draft->yaml.events));
	if (!draft->yaml.events) {
		return STATUS_NO_MEMORY;
	}
	for (i = 0; i < schema->n_events; i++) {
		const struct schema_event *from = &schema->events[i];
		struct yaml_bind *bind = calloc(from->n_bind + 1u, sizeof(*bind));
		struct yaml_extract *extract =
				from->n_extract ? calloc(from->n_extract, sizeof(*extract)) : NULL;

		/* Known from now on, for draft_release(). */
		draft->yaml.events[i].bind = bind;
		draft->yaml.events[i].extract = extract;
		draft->yaml.n_events = i + 1;
		if (!bind || (from->n_extract && !extract)) {
			return STATUS_NO_MEMORY;
		}
		for (j = 0; j < from->n_extract; j++) {
			extract[j] = (struct yaml_extract){
					.from = (char *)from->extract[j].from,
					.match = (char *)from->extract[j].match,
					.fields = (char **)from->extract[j].fields,
					.n_fields = from->extract[j].n_fields,
					.as = (enum extract_as *)from->extract[j].as,
					.n_as = from->extract[j].n_as,
			};
		}
		for (j = 0; j < from->n_bind; j++) {
			bind[j] = (struct yaml_bind){
					.ns = (char *)from->bind[j].ns,
					.key = (char **)from->bind[j].keys,
					.n_key = from->bind[j].n_keys,
					.op = from->bind[j].op,
			};
		}
		draft->yaml.events[i] = (struct yaml_event){
				.match = (char *)from->match,
				.extract = extract,
				.n_extract = from->n_extract,
				.span = from->role,
				.name = (char *)from->name,
				.seed = from->seed,
				.type = from->n_type ? (char **)from->type : NULL,
				.n_type = from->n_type,
				.pair = from->n_pair ? (char **)from->pair : NULL,
				.n_pair = from->n_pair,
				.values = from->n_values ? (char **)from->values : NULL,
				.n_values = from->n_values,
				.fails = from->n_fails ? (char **)from->fails : NULL,
				.n_fails = from->n_fails,
				.bind = bind,
				.n_bind = from->n_bind,
		};
	}
	return STATUS_OK;
}

static enum status draft_rest(struct draft *draft, const struct schema *schema)
{
	struct yaml_schema *yaml = &draft->yaml;
	uint32_t i;

	yaml->version = SCHEMA_VERSION;
	yaml->applies_to = (char *)schema->applies_to;
	yaml->when = (char *)schema->when;
	yaml->skeleton = (char **)schema->skeleton;
	yaml->n_skeleton = schema->n_skeleton;
	yaml->namespaces = calloc(schema->n_namespaces + 1u, sizeof(*yaml->namespaces));
	yaml->expect = calloc(schema->n_expect + 1u, sizeof(*yaml->expect));
	draft->ttl = calloc(schema->n_namespaces + 1u, sizeof(*draft->ttl));
	draft->p50 = calloc(schema->n_expect + 1u, sizeof(*draft->p50));
	if (!yaml->namespaces || !yaml->expect || !draft->ttl || !draft->p50) {
		return STATUS_NO_MEMORY;
	}
	for (i = 0; i < schema->n_namespaces; i++) {
		const struct schema_namespace *from = &schema->namespaces[i];

		duration_format(draft->ttl[i], sizeof(draft->ttl[i]), from->ttl_ns);
		yaml->namespaces[i] = (struct yaml_namespace){
				.name = (char *)from->name,
				.scope = from->scope,
				.ttl = draft->ttl[i],
				.join = from->join ? NULL : &draft->no,
				.hold = from->hold ? &draft->yes : NULL,
		};
	}
	yaml->n_namespaces = schema->n_namespaces;
	for (i = 0; i < schema->n_expect; i++) {
		const struct schema_expect *from = &schema->expect[i];

		duration_format(draft->p50[i], sizeof(draft->p50[i]), from->p50_ns);
		yaml->expect[i] = (struct yaml_expect){
				.type = (char *)from->type,
				.p50 = from->p50_ns ? draft->p50[i] : NULL,
				.group_by = from->n_group_by ? (char **)from->group_by : NULL,
				.n_group_by = from->n_group_by,
		};
	}
	yaml->n_expect = schema->n_expect;
	return STATUS_OK;
}

static void draft_release(struct draft *draft)
{
	uint32_t i;

	for (i = 0; i < draft->yaml.n_events; i++) {
		free(draft->yaml.events[i].bind);
		free(draft->yaml.events[i].extract);
	}
	free(draft->yaml.events);
	free(draft->yaml.namespaces);
	free(draft->yaml.expect);
	free(draft->ttl);
	free(draft->p50);
}

/* Notes go before the document, as comments; a line break in one would end the comment. */
static void write_notes(FILE *out, const struct schema *schema)
{
	uint32_t i;

	fprintf(out, "# schema: %s\n", schema->origin ? schema->origin : "inferred");
	for (i = 0; i < schema->n_notes; i++) {
		const char *c;

		fputs("# ", out);
		for (c = schema->notes[i]; *c; c++) {
			fputc((unsigned char)*c < ' ' ? ' ' : *c, out);
		}
		fputc('\n', out);
	}
}

enum status schema_file_write(FILE *out, const struct schema *schema)
{
	struct complaint complaint = {.what = ""};
	cyaml_config_t setup = cyaml_setup(&complaint);
	struct draft draft = {.no = false, .yes = true};
	enum status status;
	size_t length = 0;
	char *text = NULL;

	status = draft_events(&draft, schema);
	if (status == STATUS_OK) {
		status = draft_rest(&draft, schema);
	}
	if (status == STATUS_OK && cyaml_save_data(&text, &length, &setup, &schema_yaml,
						   (cyaml_data_t *)&draft.yaml, 0) != CYAML_OK) {
		status = STATUS_NO_MEMORY;
	}
	if (status == STATUS_OK) {
		write_notes(out, schema);
		if (fwrite(text, 1, length, out) != length || fflush(out) != 0) {
			status = STATUS_IO;
		}
	}
	if (text) {
		setup.mem_fn(setup.mem_ctx, text, 0);
	}
	draft_release(&draft);
	return status;
}
