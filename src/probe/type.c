/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "probe/type.h"

#include <endian.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>

#define NONE         {.name = NULL},
#define U32(field)   {FIELD_U32, #field, 0},
#define S32(field)   {FIELD_S32, #field, 0},
#define U64(field)   {FIELD_U64, #field, 0},
#define S64(field)   {FIELD_S64, #field, 0},
#define X64(field)   {FIELD_X64, #field, 0},
#define X32(field)   {FIELD_X32, #field, 0},
#define O32(field)   {FIELD_O32, #field, 0},
#define IPV4(field)  {FIELD_IPV4, #field, 0},
#define COMM(field)  {FIELD_COMM, #field, 0},
#define TEXT(field)  {FIELD_TEXT, #field, 0},
#define VTIDS(field) {FIELD_VTIDS, #field, 0},

/* By enum probe_event. */
static struct type typed[] = {
#define EVENT(event, tracepoint, since, list) {.prefix = "", .name = #event, .fields = {list}},
#include "probe/events.def"
#undef EVENT
#define DUMP(event, list) {.prefix = "", .name = #event, .fields = {list}},
#include "probe/statedump.def"
#undef DUMP
};

/* By what comes after PROBE_TYPED. */
static struct type unknown[] = {
		{.prefix = "syscall_entry_",
				.name = "unknown",
				.fields = {{FIELD_S32, "id", 0}, {FIELD_ARGUMENTS, "args", 0}}},
		{.prefix = "syscall_exit_",
				.name = "unknown",
				.fields = {{FIELD_S32, "id", 0}, {FIELD_S64, "ret", 0},
						{FIELD_ARGUMENTS, "args", 0}}},
		{.prefix = "compat_syscall_entry_",
				.name = "unknown",
				.fields = {{FIELD_S32, "id", 0}, {FIELD_ARGUMENTS, "args", 0}}},
		{.prefix = "compat_syscall_exit_",
				.name = "unknown",
				.fields = {{FIELD_S32, "id", 0}, {FIELD_S64, "ret", 0},
						{FIELD_ARGUMENTS, "args", 0}}},
};

_Static_assert(TYPE_TYPED + PROBE_TYPED <= TYPE_SYSCALLS, "numbers of types overlap");

static const struct syscall *by_number[PROBE_SYSCALLS];

#define BIG_ENDIAN_INTEGER(size, numeral)                                                          \
	"integer { size = " #size "; align = 8; signed = 0; encoding = none; base = " #numeral     \
	"; byte_order = be; } _"
static const char big_endian_8[] = BIG_ENDIAN_INTEGER(8, 10);
static const char big_endian_16[] = BIG_ENDIAN_INTEGER(16, 10);

/* How a field is declared, and its bytes in the record; 0: it has none among the numbers. */
static const struct {
	const char *before; /* the name */
	const char *after;
	uint16_t bytes;
} kinds[] = {
#define INTEGER(size, sign, numeral)                                                               \
	"integer { size = " #size "; align = 8; signed = " #sign                                   \
	"; encoding = none; base = " #numeral "; } _"
		[FIELD_U8] = {INTEGER(8, 0, 10), "", 1},
		[FIELD_U16] = {INTEGER(16, 0, 10), "", 2},
		[FIELD_U32] = {INTEGER(32, 0, 10), "", 4},
		[FIELD_S32] = {INTEGER(32, 1, 10), "", 4},
		[FIELD_U64] = {INTEGER(64, 0, 10), "", 8},
		[FIELD_S64] = {INTEGER(64, 1, 10), "", 8},
		[FIELD_X32] = {INTEGER(32, 0, 16), "", 4},
		[FIELD_XS32] = {INTEGER(32, 1, 16), "", 4},
		[FIELD_X64] = {INTEGER(64, 0, 16), "", 8},
		[FIELD_O32] = {INTEGER(32, 0, 8), "", 4},
		[FIELD_IPV4] = {BIG_ENDIAN_INTEGER(32, 16), "", 4},
		[FIELD_ARGUMENTS] = {INTEGER(64, 0, 10), "[6]", PROBE_ARGUMENTS * 8},
		[FIELD_COMM] = {"integer { size = 8; align = 8; signed = 0; encoding = UTF8; "
				"base = 10; } _",
				"[16]", PROBE_COMM},
		[FIELD_VTIDS] = {NULL, NULL, sizeof(__u32) + PROBE_VTIDS * sizeof(__s32)},
		[FIELD_TEXT] = {"string _", "", 0},
		[FIELD_PAIR] = {INTEGER(32, 1, 10), "[2]", 0},
		[FIELD_ADDRESS] = {NULL, NULL, 0},
};

/* --- The tables ------------------------------------------------------------------------------- */

static void count_fields(struct type *type)
{
	while (type->n < TYPE_FIELDS && type->fields[type->n].name) {
		type->n++;
	}
}

static void init_typed(struct type *type, uint16_t id)
{
	type->id = id;
	type->plain = true;
	count_fields(type);
	for (uint16_t i = 0; i < type->n; i++) {
		struct field *field = &type->fields[i];

		field->from = type->bytes;
		type->bytes = (uint16_t)(type->bytes + kinds[field->kind].bytes);
		type->plain = type->plain && field->kind != FIELD_VTIDS &&
			      (field->kind != FIELD_TEXT || i + 1 == type->n);
	}
}

static bool is_copied(const struct field *field)
{
	return field->kind == FIELD_TEXT || field->kind == FIELD_PAIR ||
	       field->kind == FIELD_ADDRESS;
}

/* How many arguments a record needs for these fields: 0, PROBE_FEW or all. */
static uint16_t arguments_for(const struct type *type)
{
	uint16_t most = 0;

	for (uint16_t i = 0; i < type->n; i++) {
		const struct field *field = &type->fields[i];
		uint16_t n = (uint16_t)(field->from / sizeof(__u64) + 1);

		if (is_copied(field)) {
			return PROBE_ARGUMENTS;
		}
		most = n > most ? n : most;
	}
	return most == 0 ? 0 : most <= PROBE_FEW ? PROBE_FEW : PROBE_ARGUMENTS;
}

static void init_entry(struct type *type, uint16_t id)
{
	type->id = id;
	count_fields(type);
	type->bytes = (uint16_t)(arguments_for(type) * sizeof(__u64));
}

/* Of an exit, the value returned stands before the arguments. */
static void init_exit(struct type *type, uint16_t id)
{
	struct type others = {.n = 0};

	type->id = id;
	count_fields(type);
	for (uint16_t i = 1; i < type->n; i++) {
		others.fields[others.n++] = type->fields[i];
		if (!is_copied(&type->fields[i])) {
			type->fields[i].from = (uint16_t)(type->fields[i].from + sizeof(__s64));
		}
	}
	type->bytes = (uint16_t)(sizeof(__s64) + arguments_for(&others) * sizeof(__u64));
}

/* The number of the call is in the head of the record; it comes first. All arguments are told. */
static void init_unknown(struct type *type, uint16_t id, bool exit)
{
	type->id = id;
	count_fields(type);
	type->bytes = exit ? sizeof(struct body_syscall_exit) : sizeof(struct body_syscall_entry);
	type->fields[type->n - 1].from = exit ? sizeof(__s64) : 0;
}

void types_init(void)
{
	static bool done;

	if (done) {
		return;
	}
	done = true;
	for (uint16_t i = 0; i < sizeof(unknown) / sizeof(unknown[0]); i++) {
		init_unknown(&unknown[i], (uint16_t)(TYPE_UNKNOWN + i), i & 1);
	}
	for (uint16_t i = 0; i < PROBE_TYPED; i++) {
		init_typed(&typed[i], (uint16_t)(TYPE_TYPED + i));
	}
	for (uint16_t i = 0; i < n_syscalls; i++) {
		init_entry(&syscalls[i].entry, (uint16_t)(TYPE_SYSCALLS + 2 * i));
		init_exit(&syscalls[i].exit, (uint16_t)(TYPE_SYSCALLS + 2 * i + 1));
		by_number[syscalls[i].number] = &syscalls[i];
	}
}

void types_each(void (*each)(void *context, const struct type *type), void *context)
{
	for (uint32_t i = 0; i < sizeof(unknown) / sizeof(unknown[0]); i++) {
		each(context, &unknown[i]);
	}
	for (uint32_t i = 0; i < PROBE_TYPED; i++) {
		each(context, &typed[i]);
	}
	for (uint32_t i = 0; i < n_syscalls; i++) {
		each(context, &syscalls[i].entry);
		each(context, &syscalls[i].exit);
	}
}

const struct type *type_of(const struct probe_head *head)
{
	const struct syscall *syscall;

	if (head->event < PROBE_TYPED) {
		return &typed[head->event];
	}
	if (head->event > PROBE_COMPAT_EXIT) {
		return NULL;
	}
	syscall = head->event <= PROBE_SYSCALL_EXIT && head->syscall >= 0 &&
						  head->syscall < PROBE_SYSCALLS
				  ? by_number[head->syscall]
				  : NULL;
	if (!syscall) {
		return &unknown[head->event - PROBE_TYPED];
	}
	return head->event == PROBE_SYSCALL_ENTRY ? &syscall->entry : &syscall->exit;
}

struct probe_copies type_copies(uint16_t number)
{
	const struct syscall *syscall = number < PROBE_SYSCALLS ? by_number[number] : NULL;
	struct probe_copies copies = {.entry = PROBE_ARGUMENTS, .exit = PROBE_ARGUMENTS};
	uint32_t n_texts = 0;

	if (!syscall) {
		return copies;
	}
	copies.entry = (__u8)(syscall->entry.bytes / sizeof(__u64));
	copies.exit = (__u8)(syscall->exit.bytes / sizeof(__u64) - 1);

	for (uint16_t i = 0; i < syscall->entry.n; i++) {
		const struct field *field = &syscall->entry.fields[i];

		if (field->kind == FIELD_TEXT && n_texts < PROBE_TEXTS) {
			copies.text[n_texts++] = (__u8)field->from;
		} else if (field->kind == FIELD_ADDRESS) {
			copies.address = (__u8)field->from;
		}
	}
	for (uint16_t i = 0; i < syscall->exit.n; i++) {
		const struct field *field = &syscall->exit.fields[i];

		if (field->kind == FIELD_PAIR) {
			copies.pair_out = (__u8)field->from;
		} else if (field->kind == FIELD_ADDRESS) {
			copies.address_out = (__u8)field->from;
		}
	}
	return copies;
}

/* --- Declarations ----------------------------------------------------------------------------- */

/* A list, with its length before it. */
static void declare_list(FILE *file, const char *length, const char *element, const char *name)
{
	fprintf(file, "\t\t%s_%s_length;\n\t\t%s%s[ __%s_length ];\n", length, name, element, name,
			name);
}

void type_declare_field(const struct field *field, FILE *file)
{
	switch (field->kind) {
	case FIELD_VTIDS:
		declare_list(file, kinds[FIELD_U8].before, kinds[FIELD_S32].before, field->name);
		break;
	case FIELD_ADDRESS:
		fprintf(file, "\t\t%sfamily;\n\t\t%s%s;\n", kinds[FIELD_U16].before, big_endian_16,
				field->name);
		declare_list(file, kinds[FIELD_U32].before, big_endian_8, "v4addr");
		declare_list(file, kinds[FIELD_U32].before, big_endian_16, "v6addr");
		break;
	default:
		fprintf(file, "\t\t%s%s%s;\n", kinds[field->kind].before, field->name,
				kinds[field->kind].after);
	}
}

void type_declare(const struct type *type, FILE *file)
{
	fprintf(file,
			"event {\n\tname = \"%s%s\";\n\tid = %u;\n\tstream_id = 0;\n"
			"\tfields := struct {\n",
			type->prefix, type->name, type->id);
	for (uint16_t i = 0; i < type->n; i++) {
		type_declare_field(&type->fields[i], file);
	}
	fputs("\t};\n};\n\n", file);
}

/* --- Payloads --------------------------------------------------------------------------------- */

/* What a record holds, apart. */
struct parts {
	const unsigned char *numbers;
	const unsigned char *texts, *texts_end; /* the rest of them */
	uint16_t text_bytes[PROBE_TEXTS];       /* of a system call: 0 where there is none */
	uint32_t next_text;
	bool of_syscall;
	const unsigned char *pair, *address; /* NULL: none */
	uint16_t address_bytes;
};

static unsigned char *put(unsigned char *out, const void *bytes, size_t n)
{
	memcpy(out, bytes, n);
	return out + n;
}

static unsigned char *put_text(unsigned char *out, struct parts *parts)
{
	size_t room = (size_t)(parts->texts_end - parts->texts), n;

	n = parts->of_syscall ? parts->text_bytes[parts->next_text++]
			      : strnlen((const char *)parts->texts, room) + 1;
	n = n < room ? n : room;
	if (n == 0 || parts->texts[n - 1] != '\0') {
		*out = '\0';
		return out + 1;
	}
	out = put(out, parts->texts, n);
	parts->texts += n;
	return out;
}

static unsigned char *put_vtids(unsigned char *out, const unsigned char *from)
{
	uint32_t n;

	memcpy(&n, from, sizeof(n));
	n = n < PROBE_VTIDS ? n : PROBE_VTIDS;
	*out++ = (unsigned char)n;
	return put(out, from + sizeof(n), n * sizeof(__s32));
}

/* As LTTng has it: numbers and ports of the network's byte order, no address of other families. */
static unsigned char *put_address(unsigned char *out, const struct parts *parts)
{
	union {
		sa_family_t family;
		struct sockaddr_in v4;
		struct sockaddr_in6 v6;
	} address = {.family = AF_UNSPEC};
	uint32_t v4_length, v6_length;
	uint16_t family, port = 0;

	memcpy(&address, parts->address ? parts->address : (const unsigned char *)"",
			parts->address ? parts->address_bytes : 0);
	family = address.family;
	v4_length = family == AF_INET && parts->address_bytes >= sizeof(struct sockaddr_in) ? 4 : 0;
	v6_length = family == AF_INET6 && parts->address_bytes >= PROBE_ADDRESS ? 8 : 0;
	if (v4_length || v6_length) {
		port = v4_length ? address.v4.sin_port : address.v6.sin6_port;
	}
	out = put(out, &family, sizeof(family));
	out = put(out, &port, sizeof(port));
	out = put(out, &v4_length, sizeof(v4_length));
	out = put(out, &address.v4.sin_addr, v4_length);
	out = put(out, &v6_length, sizeof(v6_length));
	return put(out, &address.v6.sin6_addr, v6_length * sizeof(uint16_t));
}

/* Finds the parts of a record; false: it is shorter than its type. */
static bool split(const struct type *type, const struct probe_head *head, struct parts *parts)
{
	const unsigned char *end;
	struct probe_copied copied;

	parts->numbers = (const unsigned char *)(head + 1);
	end = parts->numbers + head->bytes;
	if (head->bytes < type->bytes) {
		return false;
	}
	parts->texts = parts->numbers + type->bytes;
	parts->texts_end = end;
	parts->of_syscall = head->event >= PROBE_TYPED;
	if (!parts->of_syscall || head->bytes < type->bytes + sizeof(copied)) {
		return true;
	}
	memcpy(&copied, parts->texts, sizeof(copied));
	parts->texts += sizeof(copied);
	memcpy(parts->text_bytes, copied.text_bytes, sizeof(parts->text_bytes));
	/* From the end: the address, before it the pair (at an exit) or the strings. */
	if (copied.address_bytes > 0 && copied.address_bytes <= PROBE_ADDRESS &&
			copied.address_bytes <= end - parts->texts) {
		parts->address = end - copied.address_bytes;
		parts->address_bytes = copied.address_bytes;
		parts->texts_end = parts->address;
	}
	if (copied.pair && parts->texts_end - parts->texts >= 8) {
		parts->pair = parts->texts;
	}
	return true;
}

static unsigned char *put_field(unsigned char *out, const struct field *field, struct parts *parts)
{
	static const unsigned char zeros[8];

	switch (field->kind) {
	case FIELD_TEXT:
		return put_text(out, parts);
	case FIELD_VTIDS:
		return put_vtids(out, parts->numbers + field->from);
	case FIELD_PAIR:
		return put(out, parts->pair ? parts->pair : zeros, sizeof(zeros));
	case FIELD_ADDRESS:
		return put_address(out, parts);
	default:
		return put(out, parts->numbers + field->from, kinds[field->kind].bytes);
	}
}

bool type_payload(const struct type *type, const struct probe_head *head, unsigned char *out,
		size_t *n)
{
	struct parts parts = {.numbers = NULL};
	unsigned char *at = out;
	uint16_t i = 0;

	if (type->plain) {
		memcpy(out, head + 1, head->bytes);
		*n = head->bytes;
		return head->bytes >= type->bytes;
	}
	if (!split(type, head, &parts)) {
		return false;
	}
	if (type->id < TYPE_TYPED) {
		at = put(at, &head->syscall, sizeof(head->syscall));
		i = 1;
	}
	for (; i < type->n; i++) {
		at = put_field(at, &type->fields[i], &parts);
	}
	*n = (size_t)(at - out);
	return true;
}
