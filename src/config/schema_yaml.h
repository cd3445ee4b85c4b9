/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PT_CONFIG_SCHEMA_YAML_H
#define PT_CONFIG_SCHEMA_YAML_H

#include <stdbool.h>
#include <stdint.h>

#include <cyaml/cyaml.h>

#include "pythiatop/schema.h"

/* A schema file as it stands: what libcyaml loads and saves; schema_file.c gives it meaning. */
struct yaml_namespace {
	char *name;
	enum schema_scope scope;
	char *ttl;
	bool *join; /* NULL: true */
	bool *hold; /* NULL: false */
};

struct yaml_bind {
	char *ns;
	char **key;
	uint32_t n_key;
	enum bind_op op;
};

struct yaml_extract {
	char *from;
	char *match;
	char **fields;
	uint32_t n_fields;
	enum extract_as *as;
	uint32_t n_as;
};

struct yaml_event {
	char *match;
	struct yaml_extract *extract;
	uint32_t n_extract;
	enum span_role span;
	char *name;
	bool seed;
	char **type, **pair, **values, **fails;
	uint32_t n_type, n_pair, n_values, n_fails;
	struct yaml_bind *bind;
	uint32_t n_bind;
};

struct yaml_expect {
	char *type;
	char *p50;
	char **group_by;
	uint32_t n_group_by;
};

struct yaml_schema {
	uint32_t version;
	char *applies_to;
	char *when;
	struct yaml_namespace *namespaces;
	uint32_t n_namespaces;
	struct yaml_event *events;
	uint32_t n_events;
	char **skeleton;
	uint32_t n_skeleton;
	struct yaml_expect *expect;
	uint32_t n_expect;
};

extern const cyaml_schema_value_t schema_yaml;

#endif
