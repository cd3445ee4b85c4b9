/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdio.h>
#include <string.h>

#include "requests/infer.h"

/* How a pair of tracepoints is commonly called. The first that matches wins. */
struct family {
	const char *entry;    /* suffix */
	const char *exits[6]; /* suffixes of the other end, the likeliest first */
};

static const struct family families[] = {
		{"_entry", {"_exit"}},
		{"_enter", {"_exit", "_leave"}},
		{"_begin", {"_end"}},
		{"_start", {"_stop", "_done", "_end", "_finish", "_finished"}},
		{":entry", {":exit"}},
		{":enter", {":exit", ":leave"}},
		{":begin", {":end"}},
		{":start", {":stop", ":done", ":end", ":finish"}},
};

#define N_FAMILIES (sizeof(families) / sizeof(families[0]))

/* What one exit for all system calls ends: a glob over names of spans. */
#define ANY_SYSCALL "*syscall_*"

/* What tracers say about themselves: their `start` and `end` enclose no work. */
static const char *const about_tracer[] = {
		"lttng_statedump_",
		"lttng_ust_statedump:",
		"lttng_ust_lib:",
		"lttng_ust_dl:",
		"lttng_logger",
		"lttng_ust_tracef:",
		"lttng_ust_tracelog:",
};

static bool starts(const char *text, const char *prefix)
{
	return strncmp(text, prefix, strlen(prefix)) == 0;
}

/* The length of text without the suffix; 0 if it does not end so. */
static size_t stem_of(const char *text, const char *suffix)
{
	size_t length = strlen(text), cut = strlen(suffix);

	return length > cut && strcmp(text + length - cut, suffix) == 0 ? length - cut : 0;
}

static bool known(const struct infer_names *names, const char *name)
{
	uint32_t i;

	if (names->known) {
		return names->known(names->context, name);
	}
	for (i = 0; i < names->n; i++) {
		if (strcmp(names->names[i], name) == 0) {
			return true;
		}
	}
	return false;
}

static bool known_with(const struct infer_names *names, const char *stem, size_t length,
		const char *suffix)
{
	char text[512];

	if (length + strlen(suffix) >= sizeof(text)) {
		return false;
	}
	memcpy(text, stem, length);
	strcpy(text + length, suffix);
	return known(names, text);
}

static bool has_field(const struct event_type *type, const char *name)
{
	uint32_t i;

	for (i = 0; i < type->n_fields; i++) {
		if (strcmp(type->fields[i].name, name) == 0) {
			return true;
		}
	}
	return false;
}

/* "nova:server_create" -> "server_create"; ":enter" families leave "nova", which stays. */
static char *stem_name(struct arena *arena, const char *stem, size_t length)
{
	const char *colon = memchr(stem, ':', length);

	if (colon) {
		length -= (size_t)(colon + 1 - stem);
		stem = colon + 1;
	}
	return arena_text_n(arena, stem, length);
}

/*
 * System calls: {,compat_}syscall_entry_X with syscall_exit_X, and before LTTng 2.6 sys_X with one
 * exit_syscall for all, which closes whatever system call its thread is in.
 */
static bool infer_syscall(const struct infer_names *names, const char *name, struct arena *arena,
		struct guess *guess)
{
	const char *compat = starts(name, "compat_") ? "compat_" : "";
	const char *rest = name + strlen(compat);
	char other[256];

	if (starts(rest, "syscall_entry_") || starts(rest, "syscall_exit_")) {
		bool entry = starts(rest, "syscall_entry_");
		const char *call = rest + strlen(entry ? "syscall_entry_" : "syscall_exit_");

		snprintf(other, sizeof(other), "%ssyscall_%s_%s", compat, entry ? "exit" : "entry",
				call);
		guess->role = known(names, other) ? (entry ? SPAN_ENTRY : SPAN_EXIT) : SPAN_POINT;
		guess->name = arena_printf(arena, "%ssyscall_%s", compat, call);
		if (guess->role == SPAN_POINT) {
			guess->note = arena_printf(
					arena, "%s: no %s is known: a point", name, other);
		}
		return true;
	}
	if (starts(rest, "sys_") && known(names, "exit_syscall")) {
		guess->role = SPAN_ENTRY;
		guess->name = arena_printf(arena, "%ssyscall_%s", compat, rest + strlen("sys_"));
		return true;
	}
	if (strcmp(name, "exit_syscall") == 0) {
		guess->role = SPAN_EXIT;
		guess->name = ANY_SYSCALL;
		return true;
	}
	return false;
}

/* Interrupts pair by CPU, not by the thread that they happen to interrupt. */
static bool infer_irq(const struct infer_names *names, const struct event_type *type,
		struct arena *arena, struct guess *guess)
{
	static const struct {
		const char *stem; /* `_entry`, `_exit` follow */
		const char *name, *key;
		enum infer_lane lane;
	} irqs[] = {
			{"irq_handler", "irq_{name}", "irq", LANE_IRQ},
			{"irq_softirq", "softirq_{vec}", "vec", LANE_SOFTIRQ},
			{"softirq", "softirq_{vec}", "vec", LANE_SOFTIRQ},
			{"timer_hrtimer_expire", NULL, "hrtimer", LANE_IRQ},
			{"hrtimer_expire", NULL, "hrtimer", LANE_IRQ},
			{"timer_expire", NULL, "timer", LANE_SOFTIRQ},
	};
	bool entry = stem_of(type->name, "_entry") > 0;
	size_t i, length = stem_of(type->name, entry ? "_entry" : "_exit");

	if (length == 0 || !known_with(names, type->name, length, entry ? "_exit" : "_entry")) {
		return false;
	}
	for (i = 0; i < sizeof(irqs) / sizeof(irqs[0]); i++) {
		if (strlen(irqs[i].stem) == length &&
				strncmp(irqs[i].stem, type->name, length) == 0) {
			break;
		}
	}
	if (i == sizeof(irqs) / sizeof(irqs[0])) {
		if (!starts(type->name, "x86_irq_vectors_")) {
			return false;
		}
		guess->lane = LANE_IRQ;
		guess->name = arena_text_n(arena, type->name, length);
	} else {
		guess->lane = irqs[i].lane;
		guess->name = irqs[i].name ? irqs[i].name : arena_text_n(arena, type->name, length);
	}
	guess->role = entry ? SPAN_ENTRY : SPAN_EXIT;
	guess->pair[guess->n_pair++] = "$cpu";
	if (i < sizeof(irqs) / sizeof(irqs[0]) && has_field(type, irqs[i].key)) {
		guess->pair[guess->n_pair++] = irqs[i].key;
	}
	return true;
}

static void infer_family(const struct infer_names *names, const struct event_type *type,
		struct arena *arena, struct guess *guess)
{
	const char *name = type->name;
	size_t f, e, length;

	for (f = 0; f < N_FAMILIES; f++) {
		const struct family *family = &families[f];

		length = stem_of(name, family->entry);
		for (e = 0; length && e < 6 && family->exits[e]; e++) {
			if (known_with(names, name, length, family->exits[e])) {
				guess->role = SPAN_ENTRY;
				guess->name = stem_name(arena, name, length);
				return;
			}
		}
		if (length && !guess->note) {
			guess->note = arena_printf(arena, "%s: no %.*s%s is known: a point", name,
					(int)length, name, family->exits[0]);
		}
		for (e = 0; e < 6 && family->exits[e]; e++) {
			length = stem_of(name, family->exits[e]);
			if (length && known_with(names, name, length, family->entry)) {
				guess->role = SPAN_EXIT;
				guess->name = stem_name(arena, name, length);
				guess->note = NULL;
				return;
			}
		}
	}
}

bool infer_about_tracer(const char *event)
{
	for (size_t i = 0; i < sizeof(about_tracer) / sizeof(about_tracer[0]); i++) {
		if (starts(event, about_tracer[i])) {
			return true;
		}
	}
	return false;
}

bool infer_role(const struct infer_names *names, const struct event_type *type, struct arena *arena,
		struct guess *guess)
{
	bool kernel = strchr(type->name, ':') == NULL;

	*guess = (struct guess){.role = SPAN_POINT};
	if (infer_about_tracer(type->name)) {
		guess->about_tracer = true;
		return true;
	}
	if (kernel && infer_syscall(names, type->name, arena, guess)) {
		return guess->name != NULL;
	}
	if (kernel && infer_irq(names, type, arena, guess)) {
		return guess->name != NULL;
	}
	infer_family(names, type, arena, guess);
	if (guess->role == SPAN_POINT) {
		return true;
	}
	/* Functions and callbacks are told apart by their address, there is no other name. */
	if (starts(type->name, "lttng_ust_cyg_profile") && has_field(type, "addr")) {
		guess->name = "{$symbol.addr}";
	} else if (strcmp(type->name, "lttng_ust_cyg_profile_fast:func_exit") == 0) {
		guess->name = "*"; /* of whatever function was entered last */
	} else if (starts(type->name, "ros2:callback_") && has_field(type, "callback")) {
		guess->name = has_field(type, "procname") ? "callback_{procname}_{$symbol.callback}"
							  : "callback_{$symbol.callback}";
	}
	return guess->name != NULL;
}

/* "{,compat_}syscall_entry_read" and "{,compat_}sys_read" -> "{,compat_}syscall_read"; else NULL.
 */
static const char *syscall_name(struct arena *arena, const char *event)
{
	static const char *const prefixes[] = {"syscall_entry_", "syscall_exit_", "sys_"};
	const char *compat = starts(event, "compat_") ? "compat_" : "";
	const char *rest = event + strlen(compat);
	size_t i;

	if (strcmp(event, "exit_syscall") == 0) {
		return ANY_SYSCALL;
	}
	for (i = 0; i < sizeof(prefixes) / sizeof(prefixes[0]); i++) {
		if (starts(rest, prefixes[i])) {
			return arena_printf(
					arena, "%ssyscall_%s", compat, rest + strlen(prefixes[i]));
		}
	}
	return NULL;
}

const char *infer_span_name(struct arena *arena, const char *event, enum span_role role)
{
	const char *name = role == SPAN_POINT ? NULL : syscall_name(arena, event);
	size_t f, e, length = 0;

	if (name) {
		return name;
	}
	for (f = 0; f < N_FAMILIES && length == 0; f++) {
		if (role == SPAN_ENTRY) {
			length = stem_of(event, families[f].entry);
		}
		for (e = 0; role == SPAN_EXIT && e < 6 && families[f].exits[e] && !length; e++) {
			length = stem_of(event, families[f].exits[e]);
		}
	}
	return stem_name(arena, event, length ? length : strlen(event));
}

/* The field of that name, or a member of that name of a structure; keys are numbers or strings. */
static uint32_t find_field(const struct event_type *type, const char *name)
{
	uint32_t i;

	for (i = 0; i < type->n_fields; i++) {
		const struct field *field = &type->fields[i];
		const char *dot = strrchr(field->name, '.');

		if (field->kind != FIELD_UINT && field->kind != FIELD_INT &&
				field->kind != FIELD_STRING) {
			continue;
		}
		if (strcmp(dot ? dot + 1 : field->name, name) == 0) {
			return i;
		}
	}
	return UINT32_MAX;
}

static uint32_t first_field(const struct event_type *type, const char *const *names, size_t n)
{
	uint32_t field = UINT32_MAX;
	size_t i;

	for (i = 0; i < n && field == UINT32_MAX; i++) {
		field = find_field(type, names[i]);
	}
	return field;
}

uint32_t infer_request_field(const struct event_type *type)
{
	static const char *const names[] = {"request_id", "req_id", "trace_id", "correlation_id"};

	return first_field(type, names, sizeof(names) / sizeof(names[0]));
}

uint32_t infer_message_field(const struct event_type *type)
{
	static const char *const names[] = {"msg_id", "message_id"};

	return first_field(type, names, sizeof(names) / sizeof(names[0]));
}

uint32_t infer_bare_id(const struct event_type *type)
{
	static const char *const names[] = {"id"};

	return first_field(type, names, 1);
}
