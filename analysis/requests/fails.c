/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "requests/fails.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "requests/compile.h"
#include "requests/waits.h"

#define MOST_ERRNO 4095

static const struct {
	const char *text;
	enum fail_op op;
} operators[] = {
		/* The longer ones first. */
		{"<=", FAIL_AT_MOST},
		{">=", FAIL_AT_LEAST},
		{"==", FAIL_EQUAL},
		{"!=", FAIL_OTHER},
		{"<", FAIL_BELOW},
		{">", FAIL_ABOVE},
};

/* Of exits, where negative. */
static const char *const usual_fields[] = {"ret", "error", "status"};

/* Without the blanks around it; false: empty, or too long. */
static bool trim(const char *from, size_t length, char *out, size_t size)
{
	while (length > 0 && isspace((unsigned char)*from)) {
		from++;
		length--;
	}
	while (length > 0 && isspace((unsigned char)from[length - 1])) {
		length--;
	}
	if (length == 0 || length >= size) {
		return false;
	}
	memcpy(out, from, length);
	out[length] = '\0';
	return true;
}

bool fail_rule_parse(const char *text, struct fail_rule *rule)
{
	size_t at = strcspn(text, "<>=!");

	*rule = (struct fail_rule){.op = FAIL_SET};
	if (!trim(text, at, rule->field, sizeof(rule->field)) || strpbrk(rule->field, " \t")) {
		return false;
	}
	if (text[at] == '\0') {
		if (strcmp(rule->field, "never") == 0) {
			rule->op = FAIL_NEVER;
			rule->field[0] = '\0';
		}
		return true;
	}
	for (size_t i = 0; i < sizeof(operators) / sizeof(operators[0]); i++) {
		size_t length = strlen(operators[i].text);

		if (strncmp(text + at, operators[i].text, length) == 0) {
			const char *value = text + at + length;

			rule->op = operators[i].op;
			return trim(value, strlen(value), rule->value, sizeof(rule->value));
		}
	}
	return false;
}

static bool is_call(const struct event_type *type)
{
	bool exit;

	return wait_call(type->name, &exit) && exit;
}

/*
 * Is what is called `ret` a status? Of a function without debugging information it is a whole
 * register, in which there may be anything: a pointer, a hash, or nothing at all.
 */
static bool is_status(const struct event_type *type, const struct field *field)
{
	return is_call(type) || strcmp(field->name, "ret") != 0 || field->width < 8;
}

uint32_t fails_usual(struct arena *arena, const struct event_type *type, enum span_role role,
		const char *const **out)
{
	const char **texts = arena_alloc(arena, sizeof(usual_fields));
	uint32_t n = 0;

	*out = texts;
	if (!texts || role != SPAN_EXIT) {
		return 0;
	}
	for (size_t i = 0; i < sizeof(usual_fields) / sizeof(usual_fields[0]); i++) {
		uint16_t field = compile_field(type, usual_fields[i]);

		if (field != PLAN_NO_FIELD && type->fields[field].kind == FIELD_INT &&
				type->fields[field].scope == SCOPE_PAYLOAD &&
				is_status(type, &type->fields[field])) {
			texts[n] = arena_printf(arena, "%s < 0", usual_fields[i]);
			n += texts[n] != NULL;
		}
	}
	return n;
}

bool fails_is_usual_field(const char *name)
{
	for (size_t i = 0; i < sizeof(usual_fields) / sizeof(usual_fields[0]); i++) {
		if (strcmp(name, usual_fields[i]) == 0) {
			return true;
		}
	}
	return false;
}

static bool is_text(const struct field *field)
{
	return field->kind == FIELD_STRING;
}

/* False: it cannot be asked of the field. */
static bool compile_rule(struct arena *arena, const struct event_type *type,
		const struct fail_rule *rule, struct plan_fail *out)
{
	const struct field *field;
	char *end;

	*out = (struct plan_fail){
			.field = compile_field(type, rule->field), .op = (uint8_t)rule->op};
	if (out->field == PLAN_NO_FIELD) {
		return false;
	}
	field = &type->fields[out->field];
	if (field->kind == FIELD_TREE) {
		return false;
	}
	if (rule->op == FAIL_SET) {
		return true;
	}
	if (is_text(field)) {
		out->text = arena_text(arena, rule->value);
		return out->text && (rule->op == FAIL_EQUAL || rule->op == FAIL_OTHER);
	}
	out->number = strtod(rule->value, &end);
	for (uint32_t i = 0; *end && i < field->n_labels; i++) {
		if (strcmp(field->labels[i].name, rule->value) == 0) {
			out->number = field->kind == FIELD_INT
						      ? (double)(int64_t)field->labels[i].lower
						      : (double)field->labels[i].lower;
			return true;
		}
	}
	return *end == '\0';
}

void fails_compile(struct arena *arena, const struct event_type *type,
		const struct schema_event *event, struct plan *plan, const char **wrong)
{
	const char *const *texts = event->fails;
	uint32_t n = event->n_fails;

	*wrong = NULL;
	plan->n_fails = 0;
	plan->calls = is_call(type);
	if (n == 0) {
		n = fails_usual(arena, type, event->role, &texts);
	}
	/* Also where a schema says so, which may have been saved of one that was inferred. */
	plan->fails_usually = n == 1 && strcmp(texts[0], "ret < 0") == 0;
	for (uint32_t i = 0; i < n && plan->n_fails < PLAN_MAX_FAILS; i++) {
		struct fail_rule rule;

		if (!fail_rule_parse(texts[i], &rule) || rule.op == FAIL_NEVER) {
			continue;
		}
		if (compile_rule(arena, type, &rule, &plan->fails[plan->n_fails])) {
			plan->n_fails++;
		} else {
			*wrong = texts[i];
		}
	}
}

static bool compare(enum fail_op op, double value, double with)
{
	switch (op) {
	case FAIL_SET:
		return value < 0 || value > 0;
	case FAIL_BELOW:
		return value < with;
	case FAIL_AT_MOST:
		return value <= with;
	case FAIL_ABOVE:
		return value > with;
	case FAIL_AT_LEAST:
		return value >= with;
	case FAIL_EQUAL:
		return value >= with && value <= with;
	case FAIL_OTHER:
		return value < with || value > with;
	case FAIL_NEVER:
		break;
	}
	return false;
}

static bool holds(
		const struct plan_fail *fail, const struct field *field, const struct event *event)
{
	uint64_t slot = event->slots[fail->field];
	const char *bytes;
	uint32_t length;
	bool same;

	if (!is_text(field)) {
		double value = field->kind == FIELD_DOUBLE ? event_double(event, fail->field)
			       : field->kind == FIELD_INT  ? (double)(int64_t)slot
							   : (double)slot;

		return compare((enum fail_op)fail->op, value, fail->number);
	}
	bytes = event_bytes(event, fail->field, &length);
	if (!bytes) {
		return false;
	}
	length = (uint32_t)strnlen(bytes, length);
	if (fail->op == FAIL_SET) {
		return length > 0;
	}
	same = strlen(fail->text) == length && memcmp(bytes, fail->text, length) == 0;
	return same == (fail->op == FAIL_EQUAL);
}

uint16_t fails_by(const struct plan *plan, const struct event_type *type, const struct event *event)
{
	for (uint32_t i = 0; i < plan->n_fails; i++) {
		uint16_t at = plan->fails[i].field;

		if (!holds(&plan->fails[i], &type->fields[at], event)) {
			continue;
		}
		/* Beyond them a call returns an address, or a part of one. */
		if (plan->calls && (int64_t)event->slots[at] < -MOST_ERRNO) {
			continue;
		}
		return at;
	}
	return PLAN_NO_FIELD;
}

bool fails_is_ordinary(const char *call, int64_t error)
{
	switch (error) {
	case EAGAIN:
	case EINTR:
	case EINPROGRESS:
	case 512: /* ERESTARTSYS and its kin: the kernel calls again */
	case 513:
	case 514:
	case 516:
		return true;
	case ETIMEDOUT:
	case ECHILD:
		return wait_class(call) == WAITS_WORK;
	default:
		return false;
	}
}

#define E(name)                                                                                    \
	{                                                                                          \
		name, #name                                                                        \
	}
static const struct {
	int number;
	const char *name;
} errors[] = {E(EPERM), E(ENOENT), E(ESRCH), E(EINTR), E(EIO), E(ENXIO), E(E2BIG), E(ENOEXEC),
		E(EBADF), E(ECHILD), E(EAGAIN), E(ENOMEM), E(EACCES), E(EFAULT), E(EBUSY),
		E(EEXIST), E(EXDEV), E(ENODEV), E(ENOTDIR), E(EISDIR), E(EINVAL), E(ENFILE),
		E(EMFILE), E(ENOTTY), E(ETXTBSY), E(EFBIG), E(ENOSPC), E(ESPIPE), E(EROFS),
		E(EMLINK), E(EPIPE), E(ERANGE), E(EDEADLK), E(ENAMETOOLONG), E(ENOLCK), E(ENOSYS),
		E(ENOTEMPTY), E(ELOOP), E(ENODATA), E(ETIME), E(EPROTO), E(EOVERFLOW), E(ENOTSOCK),
		E(EDESTADDRREQ), E(EMSGSIZE), E(EPROTONOSUPPORT), E(EOPNOTSUPP), E(EAFNOSUPPORT),
		E(EADDRINUSE), E(EADDRNOTAVAIL), E(ENETDOWN), E(ENETUNREACH), E(ENETRESET),
		E(ECONNABORTED), E(ECONNRESET), E(ENOBUFS), E(EISCONN), E(ENOTCONN), E(ETIMEDOUT),
		E(ECONNREFUSED), E(EHOSTDOWN), E(EHOSTUNREACH), E(EALREADY), E(EINPROGRESS),
		E(ESTALE), E(EDQUOT), E(ECANCELED), E(EOWNERDEAD)};
#undef E

const char *fails_errno_name(int64_t error)
{
	for (size_t i = 0; i < sizeof(errors) / sizeof(errors[0]); i++) {
		if (errors[i].number == error) {
			return errors[i].name;
		}
	}
	return NULL;
}
