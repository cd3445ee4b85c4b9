/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "config/schema_yaml.h"

#define MOST_KEYS  32
#define MOST_ITEMS 65536

static const cyaml_strval_t scopes[] = {{"host", SCHEMA_HOST}, {"global", SCHEMA_GLOBAL}};

static const cyaml_strval_t roles[] = {
		{"point", SPAN_POINT}, {"entry", SPAN_ENTRY}, {"exit", SPAN_EXIT}};

static const cyaml_strval_t ops[] = {
		{"basic", BIND_BASIC},
		{"start", BIND_START},
		{"stop", BIND_STOP},
		{"switch", BIND_SWITCH},
		{"enter", BIND_ENTER},
		{"leave", BIND_LEAVE},
};

static const cyaml_strval_t kinds[] = {
		{"text", EXTRACT_TEXT}, {"integer", EXTRACT_INTEGER}, {"real", EXTRACT_REAL}};

static const cyaml_schema_value_t kind = {CYAML_VALUE_ENUM(
		CYAML_FLAG_DEFAULT, enum extract_as, kinds, CYAML_ARRAY_LEN(kinds))};

static const cyaml_schema_value_t text = {
		CYAML_VALUE_STRING(CYAML_FLAG_POINTER, char, 1, CYAML_UNLIMITED)};

#define TEXT(key, flags, type, member)                                                             \
	CYAML_FIELD_STRING_PTR(key, CYAML_FLAG_POINTER | (flags), type, member, 1, CYAML_UNLIMITED)
#define TEXTS(key, type, member)                                                                   \
	CYAML_FIELD_SEQUENCE_COUNT(key,                                                            \
			CYAML_FLAG_POINTER | CYAML_FLAG_OPTIONAL | CYAML_FLAG_FLOW, type, member,  \
			n_##member, &text, 0, MOST_KEYS)
#define ENUM(key, flags, type, member, names)                                                      \
	CYAML_FIELD_ENUM(key, flags, type, member, names, CYAML_ARRAY_LEN(names))
#define ITEMS(key, flags, type, member, item)                                                      \
	CYAML_FIELD_SEQUENCE_COUNT(key, CYAML_FLAG_POINTER | (flags), type, member, n_##member,    \
			&(item), 0, MOST_ITEMS)

static const cyaml_schema_field_t namespace_fields[] = {
		TEXT("name", CYAML_FLAG_DEFAULT, struct yaml_namespace, name),
		ENUM("scope", CYAML_FLAG_OPTIONAL, struct yaml_namespace, scope, scopes),
		TEXT("ttl", CYAML_FLAG_DEFAULT, struct yaml_namespace, ttl),
		CYAML_FIELD_BOOL_PTR("join", CYAML_FLAG_POINTER | CYAML_FLAG_OPTIONAL,
				struct yaml_namespace, join),
		CYAML_FIELD_BOOL_PTR("hold", CYAML_FLAG_POINTER | CYAML_FLAG_OPTIONAL,
				struct yaml_namespace, hold),
		CYAML_FIELD_END,
};

static const cyaml_schema_field_t bind_fields[] = {
		TEXT("ns", CYAML_FLAG_DEFAULT, struct yaml_bind, ns),
		CYAML_FIELD_SEQUENCE_COUNT("key", CYAML_FLAG_POINTER | CYAML_FLAG_FLOW,
				struct yaml_bind, key, n_key, &text, 1, MOST_KEYS),
		ENUM("op", CYAML_FLAG_OPTIONAL, struct yaml_bind, op, ops),
		CYAML_FIELD_END,
};

static const cyaml_schema_value_t bind_item = {
		CYAML_VALUE_MAPPING(CYAML_FLAG_FLOW, struct yaml_bind, bind_fields)};

static const cyaml_schema_field_t extract_fields[] = {
		TEXT("from", CYAML_FLAG_DEFAULT, struct yaml_extract, from),
		TEXT("match", CYAML_FLAG_DEFAULT, struct yaml_extract, match),
		TEXTS("fields", struct yaml_extract, fields),
		CYAML_FIELD_SEQUENCE_COUNT("as",
				CYAML_FLAG_POINTER | CYAML_FLAG_OPTIONAL | CYAML_FLAG_FLOW,
				struct yaml_extract, as, n_as, &kind, 0, MOST_KEYS),
		CYAML_FIELD_END,
};

static const cyaml_schema_value_t extract_item = {
		CYAML_VALUE_MAPPING(CYAML_FLAG_FLOW, struct yaml_extract, extract_fields)};

static const cyaml_schema_field_t event_fields[] = {
		TEXT("match", CYAML_FLAG_DEFAULT, struct yaml_event, match),
		ITEMS("extract", CYAML_FLAG_OPTIONAL, struct yaml_event, extract, extract_item),
		ENUM("span", CYAML_FLAG_OPTIONAL, struct yaml_event, span, roles),
		TEXT("name", CYAML_FLAG_OPTIONAL, struct yaml_event, name),
		CYAML_FIELD_BOOL("seed", CYAML_FLAG_OPTIONAL, struct yaml_event, seed),
		TEXTS("type", struct yaml_event, type),
		TEXTS("pair", struct yaml_event, pair),
		TEXTS("values", struct yaml_event, values),
		TEXTS("fails", struct yaml_event, fails),
		ITEMS("bind", CYAML_FLAG_OPTIONAL, struct yaml_event, bind, bind_item),
		CYAML_FIELD_END,
};

static const cyaml_schema_field_t expect_fields[] = {
		TEXT("type", CYAML_FLAG_DEFAULT, struct yaml_expect, type),
		TEXT("p50", CYAML_FLAG_OPTIONAL, struct yaml_expect, p50),
		TEXTS("group_by", struct yaml_expect, group_by),
		CYAML_FIELD_END,
};

static const cyaml_schema_value_t namespace_item = {
		CYAML_VALUE_MAPPING(CYAML_FLAG_FLOW, struct yaml_namespace, namespace_fields)};
static const cyaml_schema_value_t event_item = {
		CYAML_VALUE_MAPPING(CYAML_FLAG_DEFAULT, struct yaml_event, event_fields)};
static const cyaml_schema_value_t expect_item = {
		CYAML_VALUE_MAPPING(CYAML_FLAG_FLOW, struct yaml_expect, expect_fields)};

static const cyaml_schema_field_t schema_fields[] = {
		CYAML_FIELD_UINT("schema", CYAML_FLAG_DEFAULT, struct yaml_schema, version),
		TEXT("applies_to", CYAML_FLAG_OPTIONAL, struct yaml_schema, applies_to),
		TEXT("when", CYAML_FLAG_OPTIONAL, struct yaml_schema, when),
		ITEMS("namespaces", CYAML_FLAG_OPTIONAL, struct yaml_schema, namespaces,
				namespace_item),
		ITEMS("events", CYAML_FLAG_OPTIONAL, struct yaml_schema, events, event_item),
		CYAML_FIELD_SEQUENCE_COUNT("skeleton",
				CYAML_FLAG_POINTER | CYAML_FLAG_OPTIONAL | CYAML_FLAG_FLOW,
				struct yaml_schema, skeleton, n_skeleton, &text, 0, MOST_ITEMS),
		ITEMS("expect", CYAML_FLAG_OPTIONAL, struct yaml_schema, expect, expect_item),
		CYAML_FIELD_END,
};

const cyaml_schema_value_t schema_yaml = {
		CYAML_VALUE_MAPPING(CYAML_FLAG_POINTER, struct yaml_schema, schema_fields)};
