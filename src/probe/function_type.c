/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "probe/function_type.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "probe/type.h"

#define SUMMARY_ID PROBE_HOOKS /* the others are below */

void function_types_release(struct function_types *types)
{
	for (uint32_t i = 0; i < types->n; i++) {
		free(types->list[i].provider);
		free(types->list[i].name);
	}
	free(types->list);
	*types = (struct function_types){.n = 0};
}

enum status function_types_add(struct function_types *types, const char *provider, const char *name,
		const struct binary_arguments *arguments, uint32_t *number)
{
	struct function_type type = {.arguments = *arguments, .text = -1};

	if (types->n == PROBE_FUNCTIONS) {
		return STATUS_FULL;
	}
	if (!array_reserve(&types->list, &types->room, types->n + 1)) {
		return STATUS_NO_MEMORY;
	}
	type.provider = strdup(provider);
	type.name = strdup(name);
	if (!type.provider || !type.name) {
		free(type.provider);
		free(type.name);
		return STATUS_NO_MEMORY;
	}
	for (uint32_t i = 0; i < arguments->n && type.text < 0; i++) {
		type.text = arguments->list[i].kind == BINARY_TEXT ? (int32_t)i : -1;
	}
	*number = types->n;
	types->list[types->n++] = type;
	return STATUS_OK;
}

uint32_t function_type_bits(const struct function_type *type)
{
	if (type->text >= 0) {
		return PROBE_COOKIE_TEXT | (uint32_t)type->arguments.list[type->text].at << 8;
	}
	return type->arguments.n > 0 ? PROBE_COOKIE_ARGUMENTS : 0;
}

void function_type_clean(char *out, size_t size, const char *name)
{
	size_t n = 0;

	for (; name[n] && n + 1 < size; n++) {
		bool plain = isalnum((unsigned char)name[n]) || strchr("_.-@$", name[n]);

		out[n] = plain ? name[n] : '_';
	}
	out[n] = '\0';
}

/* --- Declarations ----------------------------------------------------------------------------- */

static enum field_kind kind_of(const struct function_type *type, uint32_t at)
{
	switch (type->arguments.list[at].kind) {
	case BINARY_SIGNED:
		return FIELD_S64;
	case BINARY_UNSIGNED:
		return FIELD_U64;
	case BINARY_TEXT:
		if (type->text == (int32_t)at) {
			return FIELD_TEXT;
		}
		return FIELD_X64; /* one string is told; of others the address */
	default:
		return FIELD_X64;
	}
}

static void declare_entry(const struct function_type *type, FILE *file)
{
	for (uint32_t i = 0; i < type->arguments.n; i++) {
		type_declare_field(&(struct field){.kind = kind_of(type, i),
						   .name = type->arguments.list[i].name},
				file);
	}
}

/* Without debugging information it is not known whether there is one. */
static bool tells_result(const struct function_type *type)
{
	return type->arguments.returns || !type->arguments.known;
}

static void declare_exit(const struct function_type *type, FILE *file)
{
	enum binary_kind kind = type->arguments.known ? type->arguments.result.kind : BINARY_SIGNED;

	if (tells_result(type)) {
		type_declare_field(&(struct field){.kind = kind == BINARY_SIGNED     ? FIELD_S64
							   : kind == BINARY_UNSIGNED ? FIELD_U64
										     : FIELD_X64,
						   .name = "ret"},
				file);
	}
}

void function_types_declare(const struct function_types *types, uint32_t from, FILE *file)
{
	for (uint32_t i = from; i < types->n; i++) {
		const struct function_type *type = &types->list[i];

		for (uint32_t exit = 0; exit < 2; exit++) {
			fprintf(file,
					"event {\n\tname = \"%s:%s_%s\";\n\tid = %u;\n"
					"\tstream_id = 0;\n\tloglevel = 12;\n"
					"\tfields := struct {\n",
					type->provider, type->name, exit ? "exit" : "entry",
					2 * i + exit);
			(exit ? declare_exit : declare_entry)(type, file);
			fputs("\t};\n};\n\n", file);
		}
	}
}

static void declare_sum(const char *name, FILE *file)
{
	type_declare_field(&(struct field){.kind = FIELD_U64, .name = name}, file);
}

void function_types_declare_summary(FILE *file)
{
	static const char *const names[] = {"count", "sum_ns", "min_ns", "max_ns", "squares"};

	fprintf(file,
			"event {\n\tname = \"pythiatop_probe:summary\";\n\tid = %u;\n"
			"\tstream_id = 0;\n\tloglevel = 12;\n\tfields := struct {\n",
			SUMMARY_ID);
	type_declare_field(&(struct field){.kind = FIELD_TEXT, .name = "function"}, file);
	type_declare_field(&(struct field){.kind = FIELD_TEXT, .name = "caller"}, file);
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		declare_sum(names[i], file);
	}
	fprintf(file,
			"\t\tinteger { size = 32; align = 8; signed = 0; } "
			"_buckets[%d];\n\t};\n};\n\n",
			PROBE_BUCKETS);
}

/* --- Payloads --------------------------------------------------------------------------------- */

uint32_t function_type_id(const struct probe_head *head)
{
	if (head->event == PROBE_FUNCTION_SUMMARY) {
		return SUMMARY_ID;
	}
	return 2 * (uint32_t)head->syscall + (head->event == PROBE_FUNCTION_EXIT);
}

/* A register holds more than a short value: what is above it is not the value's. */
static uint64_t cut(const struct binary_value *value, uint64_t bits)
{
	unsigned shift = 64 - 8u * value->bytes;

	if (value->bytes == 0 || value->bytes >= 8) {
		return bits;
	}
	return value->kind == BINARY_SIGNED ? (uint64_t)((int64_t)(bits << shift) >> shift)
					    : bits << shift >> shift;
}

static unsigned char *put(unsigned char *out, const void *bytes, size_t n)
{
	memcpy(out, bytes, n);
	return out + n;
}

static unsigned char *put_u64(unsigned char *out, uint64_t value)
{
	return put(out, &value, sizeof(value));
}

static unsigned char *put_entry(const struct function_type *type, const uint64_t *registers,
		const char *text, unsigned char *out)
{
	for (uint32_t i = 0; i < type->arguments.n; i++) {
		const struct binary_value *value = &type->arguments.list[i];

		if (type->text == (int32_t)i) {
			size_t n = strnlen(text, PROBE_STRING - 1);

			out = put(out, text, n);
			*out++ = '\0';
		} else {
			out = put_u64(out, cut(value, registers[value->at]));
		}
	}
	return out;
}

/* "PROVIDER:NAME", at most half of what there is room for; "" of none. */
static unsigned char *put_name(
		const struct function_types *types, uint32_t number, unsigned char *out)
{
	char text[FUNCTION_ROOM / 2 - 200] = "";

	if (number < types->n) {
		snprintf(text, sizeof(text), "%s:%s", types->list[number].provider,
				types->list[number].name);
	}
	return put(out, text, strlen(text) + 1);
}

static bool put_summary(const struct function_types *types, const struct probe_head *head,
		unsigned char *out, size_t *n)
{
	struct body_summary body;
	const struct body_function nobody = {.comm = ""};
	unsigned char *at = out;

	if (head->bytes < sizeof(body)) {
		return false;
	}
	memcpy(&body, head + 1, sizeof(body));
	at = put(at, &body.call.vpid, sizeof(body.call.vpid));
	at = put(at, &body.call.vpid, sizeof(body.call.vpid));
	at = put(at, &nobody.pid_ns, sizeof(nobody.pid_ns));
	at = put(at, nobody.comm, sizeof(nobody.comm));
	at = put_name(types, body.call.function, at);
	at = put_name(types, body.call.caller - 1, at);
	at = put_u64(at, body.sum.count);
	at = put_u64(at, body.sum.sum_ns);
	at = put_u64(at, body.sum.min_ns);
	at = put_u64(at, body.sum.max_ns);
	at = put_u64(at, body.sum.squares);
	at = put(at, body.sum.buckets, sizeof(body.sum.buckets));
	*n = (size_t)(at - out);
	return true;
}

bool function_type_payload(const struct function_types *types, const struct probe_head *head,
		unsigned char *out, size_t *n)
{
	uint32_t number = (uint32_t)head->syscall;
	struct body_function body;
	uint64_t registers[PROBE_ARGUMENTS] = {0};
	char text[PROBE_STRING] = "";
	const unsigned char *from = (const unsigned char *)(head + 1);
	const struct function_type *type;
	unsigned char *at = out;

	if (head->event == PROBE_FUNCTION_SUMMARY) {
		return put_summary(types, head, out, n);
	}
	if ((head->event != PROBE_FUNCTION_ENTRY && head->event != PROBE_FUNCTION_EXIT) ||
			number >= types->n || head->bytes < sizeof(body)) {
		return false;
	}
	type = &types->list[number];
	memcpy(&body, from, sizeof(body));
	memcpy(registers, from + sizeof(body),
			head->bytes - sizeof(body) < sizeof(registers) ? head->bytes - sizeof(body)
								       : sizeof(registers));
	if (head->bytes == sizeof(body) + sizeof(registers) + sizeof(text)) {
		memcpy(text, from + sizeof(body) + sizeof(registers), sizeof(text));
	}
	at = put(at, &body.vpid, sizeof(body.vpid));
	at = put(at, &body.vtid, sizeof(body.vtid));
	at = put(at, &body.pid_ns, sizeof(body.pid_ns));
	at = put(at, body.comm, sizeof(body.comm));
	if (head->event == PROBE_FUNCTION_ENTRY) {
		at = put_entry(type, registers, text, at);
	} else if (tells_result(type)) {
		at = put_u64(at, type->arguments.known ? cut(&type->arguments.result, registers[0])
						       : registers[0]);
	}
	*n = (size_t)(at - out);
	return true;
}
