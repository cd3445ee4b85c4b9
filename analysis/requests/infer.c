/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdio.h>
#include <string.h>

#include "pythiatop/logger.h"
#include "requests/infer.h"

/*
 * The words that the two ends of a pair are commonly told by: after a separator ("work_begin",
 * "work.begin", "work:begin"), or with a capital of their own ("WorkBegin"), in any case. The first
 * family that matches wins.
 */
struct family {
	const char *entry;
	const char *exits[6]; /* of the other end, the likeliest first */
};

static const struct family families[] = {
		{"entry", {"exit"}},
		{"enter", {"exit", "leave"}},
		{"begin", {"end"}},
		{"start", {"stop", "done", "end", "finish", "finished"}},
};

#define N_FAMILIES (sizeof(families) / sizeof(families[0]))
#define SEPARATORS "_:.-"

/* What one exit for all system calls ends: a glob over names of spans. */
#define ANY_SYSCALL "*syscall_*"

/* What tracers say about themselves: their `start` and `end` enclose no work. */
static const char *const about_tracer[] = {
		"lttng_statedump_",
		"pythiatop_statedump_",
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

/* How a word is written: "begin", "Begin", "BEGIN". */
enum letters { LETTERS_LOWER, LETTERS_CAPITAL, LETTERS_UPPER };

static void write_word(char *out, const char *word, enum letters letters)
{
	for (size_t i = 0; i <= strlen(word); i++) {
		bool upper = letters == LETTERS_UPPER || (letters == LETTERS_CAPITAL && i == 0);

		out[i] = upper && word[i] >= 'a' ? (char)(word[i] - 'a' + 'A') : word[i];
	}
}

/* A name that ends with a word. */
struct ending {
	size_t stem; /* length of what is before the word and its separator */
	size_t word; /* where the word begins */
	enum letters letters;
};

/* False if the name does not end with that word: "weekend" and "Append" do not end with "end". */
static bool ends_with_word(const char *name, const char *word, struct ending *out)
{
	size_t length = strlen(name), n = strlen(word);
	char written[16];

	if (length <= n) {
		return false;
	}
	out->word = out->stem = length - n;
	for (out->letters = LETTERS_LOWER; out->letters <= LETTERS_UPPER; out->letters++) {
		write_word(written, word, out->letters);
		if (strcmp(name + out->word, written) == 0) {
			break;
		}
	}
	if (out->letters > LETTERS_UPPER) {
		return false;
	}
	if (strchr(SEPARATORS, name[out->word - 1])) {
		out->stem--;
		return out->stem > 0;
	}
	return out->letters == LETTERS_CAPITAL;
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

/* Whether there is an event of the same name but for the word at its end. */
static bool knows_other_end(const struct infer_names *names, const char *name,
		const struct ending *ending, const char *word)
{
	char written[16];

	write_word(written, word, ending->letters);
	return known_with(names, name, ending->word, written);
}

/*
 * "nova:server_create" -> "server_create"; of "nova:enter" "nova" stays. A name is a text in which
 * "{field}" is a value: braces of an event's own are doubled.
 */
static char *stem_name(struct arena *arena, const char *stem, size_t length)
{
	const char *colon = memchr(stem, ':', length);
	char *name, *out;

	if (colon) {
		length -= (size_t)(colon + 1 - stem);
		stem = colon + 1;
	}
	name = out = arena_alloc(arena, 2 * length + 1);
	for (size_t i = 0; out && i < length; i++) {
		*out++ = stem[i];
		if (stem[i] == '{' || stem[i] == '}') {
			*out++ = stem[i];
		}
	}
	return name;
}

static void take_pair(struct guess *guess, struct arena *arena, enum span_role role,
		const char *name, const struct ending *ending, const char *word)
{
	char written[16];

	write_word(written, word, ending->letters);
	guess->role = role;
	guess->name = stem_name(arena, name, ending->stem);
	guess->other = arena_printf(arena, "%.*s%s", (int)ending->word, name, written);
	guess->note = NULL;
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
		const char *end = entry ? "exit" : "entry";
		bool own, mixed;

		snprintf(other, sizeof(other), "%ssyscall_%s_%s", compat, end, call);
		own = known(names, other);
		snprintf(other, sizeof(other), "%ssyscall_%s_%s", compat[0] ? "" : "compat_", end,
				call);
		mixed = known(names, other);
		/* It goes on where a signal had interrupted it: the kernel tells no exit. */
		mixed = mixed && strcmp(call, "rt_sigreturn") != 0;
		own = own && strcmp(call, "rt_sigreturn") != 0;
		guess->role = own || mixed ? (entry ? SPAN_ENTRY : SPAN_EXIT) : SPAN_POINT;
		/* The two ends of a call may be told by different tables; of unknown ones they
		 * mostly are. Then it has the name without the table. */
		guess->name = arena_printf(arena, "%ssyscall_%s",
				own && strcmp(call, "unknown") != 0 ? compat : "", call);
		if (guess->role == SPAN_POINT) {
			guess->note = arena_printf(arena,
					"%s: no %ssyscall_%s_%s is known: a point", name, compat,
					end, call);
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
		enum execution_context execution;
	} irqs[] = {
			{"irq_handler", "irq_{name}", "irq", EXECUTION_IRQ},
			{"irq_softirq", "softirq_{$softirq.vec}", "vec", EXECUTION_SOFTIRQ},
			{"softirq", "softirq_{$softirq.vec}", "vec", EXECUTION_SOFTIRQ},
			{"timer_hrtimer_expire", NULL, "hrtimer", EXECUTION_IRQ},
			{"hrtimer_expire", NULL, "hrtimer", EXECUTION_IRQ},
			{"timer_expire", NULL, "timer", EXECUTION_SOFTIRQ},
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
		guess->execution = EXECUTION_IRQ;
		guess->name = arena_text_n(arena, type->name, length);
	} else {
		guess->execution = irqs[i].execution;
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
	struct ending ending;
	size_t f, e;

	for (f = 0; f < N_FAMILIES; f++) {
		const struct family *family = &families[f];
		bool entry = ends_with_word(name, family->entry, &ending);

		for (e = 0; entry && e < 6 && family->exits[e]; e++) {
			if (knows_other_end(names, name, &ending, family->exits[e])) {
				take_pair(guess, arena, SPAN_ENTRY, name, &ending,
						family->exits[e]);
				return;
			}
		}
		if (entry && !guess->note) {
			guess->note = arena_printf(arena, "%s: no %.*s%s is known: a point", name,
					(int)ending.word, name, family->exits[0]);
		}
		for (e = 0; e < 6 && family->exits[e]; e++) {
			if (ends_with_word(name, family->exits[e], &ending) &&
					knows_other_end(names, name, &ending, family->entry)) {
				take_pair(guess, arena, SPAN_EXIT, name, &ending, family->entry);
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
		/* All loggers' records are events of one name. */
		if (logger_agent_of(type->name) < LOGGER_AGENTS && has_field(type, "logger_name")) {
			guess->name = "log_{logger_name}";
		}
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
	struct ending ending = {.stem = strlen(event)};
	bool found = role == SPAN_POINT;

	if (name) {
		return name;
	}
	for (size_t f = 0; f < N_FAMILIES && !found; f++) {
		found = role == SPAN_ENTRY && ends_with_word(event, families[f].entry, &ending);
		for (size_t e = 0; role == SPAN_EXIT && e < 6 && families[f].exits[e] && !found;
				e++) {
			found = ends_with_word(event, families[f].exits[e], &ending);
		}
	}
	return stem_name(arena, event, found ? ending.stem : strlen(event));
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

uint32_t infer_common_field(const struct event_type *type, const struct event_type *other)
{
	static const char *const names[] = {
			"id", "handle", "cookie", "token", "key", "tag", "seq", "ptr", "addr"};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		for (uint32_t f = 0; f < type->n_fields; f++) {
			const char *name = type->fields[f].name;
			const char *last = strrchr(name, '_');

			if (type->fields[f].scope == SCOPE_PAYLOAD &&
					strcmp(last ? last + 1 : name, names[i]) == 0 &&
					find_field(type, name) == f &&
					find_field(other, name) != UINT32_MAX) {
				return f;
			}
		}
	}
	return UINT32_MAX;
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
