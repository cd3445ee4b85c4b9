/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "control/rows.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BLOCK_BYTES   65536u
#define MAX_TEXT      4096u
#define MAX_PROCESSES 32u
#define MAX_FIELDS    4096u
#define MAX_USES      256u

struct rows_block {
	struct rows_block *next;
	size_t used, size;
	_Alignas(16) char bytes[];
};

/* What is being read: the first thing that is wrong is kept. */
struct reader {
	struct rows *rows;
	enum status status;
};

static void fail(struct reader *reader, enum status status)
{
	if (reader->status == STATUS_OK) {
		reader->status = status;
	}
}

static void *take_bytes(struct reader *reader, size_t n)
{
	struct rows *rows = reader->rows;
	struct rows_block *block = rows->blocks;
	size_t size;

	n = (n + 15) / 16 * 16;
	if (!block || block->size - block->used < n) {
		size = n > BLOCK_BYTES ? n : BLOCK_BYTES;
		if (rows->bytes + size > CONTROL_MAX_BYTES) {
			fail(reader, STATUS_FULL);
			return NULL;
		}
		block = malloc(sizeof(*block) + size);
		if (!block) {
			fail(reader, STATUS_NO_MEMORY);
			return NULL;
		}
		*block = (struct rows_block){.next = rows->blocks, .size = size};
		rows->blocks = block;
		rows->bytes += size;
	}
	block->used += n;
	return block->bytes + block->used - n;
}

/* A list of `n` zeroed items; NULL for none, and where it cannot be had. */
static void *take_list(struct reader *reader, size_t n, size_t size)
{
	void *list = n ? take_bytes(reader, n * size) : NULL;

	return list ? memset(list, 0, n * size) : NULL;
}

static const char *read_text(struct reader *reader, const json_t *object, const char *key)
{
	const json_t *json = json_object_get(object, key);
	const char *text = json_string_value(json);
	size_t length = json_string_length(json);
	char *copy;

	/* A 0 within would hide what follows it. */
	if (!text || length > MAX_TEXT || strlen(text) != length) {
		fail(reader, STATUS_PROTOCOL);
		return "";
	}
	copy = take_bytes(reader, length + 1);
	return copy ? memcpy(copy, text, length + 1) : "";
}

static const char *read_name(struct reader *reader, const json_t *object, const char *key)
{
	const char *text = read_text(reader, object, key);

	if (text[0] == '\0' || strlen(text) >= CONTROL_NAME_BYTES) {
		fail(reader, STATUS_PROTOCOL);
	}
	return text;
}

static uint64_t read_number(struct reader *reader, const json_t *object, const char *key)
{
	const json_t *json = json_object_get(object, key);

	if (!json_is_integer(json) || json_integer_value(json) < 0) {
		fail(reader, STATUS_PROTOCOL);
		return 0;
	}
	return (uint64_t)json_integer_value(json);
}

static bool read_bool(struct reader *reader, const json_t *object, const char *key)
{
	const json_t *json = json_object_get(object, key);

	if (!json_is_boolean(json)) {
		fail(reader, STATUS_PROTOCOL);
	}
	return json_is_true(json);
}

/* The index of the text of `key` among `words`. */
static unsigned read_word(struct reader *reader, const json_t *object, const char *key,
		const char *const *words, unsigned n)
{
	const char *text = json_string_value(json_object_get(object, key));
	unsigned i;

	for (i = 0; text && i < n; i++) {
		if (strcmp(text, words[i]) == 0) {
			return i;
		}
	}
	fail(reader, STATUS_PROTOCOL);
	return 0;
}

static enum control_domain read_domain(struct reader *reader, const json_t *object)
{
	static const char *const words[] = {
			[CONTROL_UST] = "ust",
			[CONTROL_KERNEL] = "kernel",
	};

	return (enum control_domain)read_word(reader, object, "domain", words, 2);
}

static enum control_type read_type(struct reader *reader, const json_t *object)
{
	static const char *const words[] = {
			[CONTROL_TRACEPOINT] = "tracepoint",
			[CONTROL_SYSCALL] = "syscall",
	};

	return (enum control_type)read_word(reader, object, "type", words, 2);
}

static void read_owner(struct reader *reader, const json_t *object, bool *ours, bool *pythiatop)
{
	static const char *const words[] = {"other", "us", "pythiatop"};
	unsigned owner = read_word(reader, object, "owner", words, 3);

	*ours = owner == 1;
	*pythiatop = owner == 2;
}

/* How many items the list of `key` has, at most `most`. */
static uint32_t read_length(
		struct reader *reader, const json_t *object, const char *key, uint32_t most)
{
	const json_t *list = json_object_get(object, key);
	size_t n = json_array_size(list);

	if (!json_is_array(list) || n > most) {
		fail(reader, STATUS_PROTOCOL);
		return 0;
	}
	return (uint32_t)n;
}

/* Room for one more in a list of rows. Kept lists double. */
static void *grow(struct reader *reader, void *list, uint32_t n, size_t size)
{
	void *grown;

	if (n & (n - 1)) {
		return list; /* n is no power of two: there is room */
	}
	grown = realloc(list, (n ? 2 * (size_t)n : 1) * size);
	if (!grown) {
		fail(reader, STATUS_NO_MEMORY);
		return NULL;
	}
	return grown;
}

#define APPEND(reader, what, value)                                                                \
	do {                                                                                       \
		struct rows *rows_ = (reader)->rows;                                               \
		void *grown_ = grow(reader, rows_->what, rows_->n_##what, sizeof(*rows_->what));   \
                                                                                                   \
		if (grown_) {                                                                      \
			rows_->what = grown_;                                                      \
			rows_->what[rows_->n_##what++] = (value);                                  \
		}                                                                                  \
	} while (0)

/* --- one function for each kind of row --- */

static void take_session(struct reader *reader, const json_t *json)
{
	struct control_session session = {
			.name = read_name(reader, json, "name"),
			.active = read_bool(reader, json, "active"),
			.snapshot = read_bool(reader, json, "snapshot"),
			.live_timer_us = read_number(reader, json, "live_timer_us"),
			.output = read_text(reader, json, "output"),
	};

	read_owner(reader, json, &session.ours, &session.pythiatop);
	APPEND(reader, sessions, session);
}

static void read_processes(struct reader *reader, const json_t *json, struct control_point *point)
{
	struct control_process *list;
	const json_t *item;
	size_t i;

	point->n_listed = read_length(reader, json, "processes", MAX_PROCESSES);
	list = take_list(reader, point->n_listed, sizeof(*list));
	point->processes = list;
	if (!list) {
		point->n_listed = 0;
		return;
	}
	json_array_foreach(json_object_get(json, "processes"), i, item)
	{
		list[i].pid = (int32_t)read_number(reader, item, "pid");
		list[i].name = read_text(reader, item, "name");
	}
}

static void read_fields(struct reader *reader, const json_t *json, struct control_point *point)
{
	static const char *const words[] = {
			[CONTROL_FIELD_OTHER] = "other",
			[CONTROL_FIELD_INTEGER] = "integer",
			[CONTROL_FIELD_ENUM] = "enum",
			[CONTROL_FIELD_FLOAT] = "float",
			[CONTROL_FIELD_STRING] = "string",
	};
	struct control_field *list;
	const json_t *item;
	size_t i;

	point->n_fields = read_length(reader, json, "fields", MAX_FIELDS);
	list = take_list(reader, point->n_fields, sizeof(*list));
	point->fields = list;
	if (!list) {
		point->n_fields = 0;
		return;
	}
	json_array_foreach(json_object_get(json, "fields"), i, item)
	{
		list[i].name = read_name(reader, item, "name");
		list[i].type = (enum control_field_type)read_word(reader, item, "type", words, 5);
	}
}

static void read_uses(struct reader *reader, const json_t *json, struct control_point *point)
{
	struct control_use *list;
	const json_t *item;
	size_t i;

	point->n_uses = read_length(reader, json, "uses", MAX_USES);
	list = take_list(reader, point->n_uses, sizeof(*list));
	point->uses = list;
	if (!list) {
		point->n_uses = 0;
		return;
	}
	json_array_foreach(json_object_get(json, "uses"), i, item)
	{
		list[i].session = read_name(reader, item, "session");
		list[i].partial = read_bool(reader, item, "partial");
		read_owner(reader, item, &list[i].ours, &list[i].pythiatop);
	}
}

static void take_point(struct reader *reader, const json_t *json)
{
	const json_t *loglevel = json_object_get(json, "loglevel");
	struct control_point point = {
			.domain = read_domain(reader, json),
			.type = read_type(reader, json),
			.name = read_name(reader, json, "name"),
			.loglevel = (int32_t)json_integer_value(loglevel),
			.n_processes = (uint32_t)read_number(reader, json, "n_processes"),
	};

	if (!json_is_integer(loglevel)) {
		fail(reader, STATUS_PROTOCOL);
	}
	point.bounded = json_is_true(json_object_get(json, "bounded"));
	read_processes(reader, json, &point);
	read_fields(reader, json, &point);
	read_uses(reader, json, &point);
	APPEND(reader, points, point);
}

static void take_channel(struct reader *reader, const json_t *json)
{
	struct control_channel channel = {
			.session = read_name(reader, json, "session"),
			.domain = read_domain(reader, json),
			.name = read_name(reader, json, "name"),
			.enabled = read_bool(reader, json, "enabled"),
			.subbuf_bytes = read_number(reader, json, "subbuf_bytes"),
			.n_subbuf = read_number(reader, json, "n_subbuf"),
			.tracefile_bytes = read_number(reader, json, "tracefile_bytes"),
			.n_tracefiles = read_number(reader, json, "n_tracefiles"),
			.discarded_events = read_number(reader, json, "discarded"),
			.lost_packets = read_number(reader, json, "lost"),
	};

	APPEND(reader, channels, channel);
}

static void take_rule(struct reader *reader, const json_t *json)
{
	struct control_rule_row rule = {
			.session = read_name(reader, json, "session"),
			.domain = read_domain(reader, json),
			.type = read_type(reader, json),
			.channel = read_name(reader, json, "channel"),
			.name = read_name(reader, json, "name"),
			.enabled = read_bool(reader, json, "enabled"),
			.partial = read_bool(reader, json, "partial"),
			.filter = read_text(reader, json, "filter"),
	};

	APPEND(reader, rules, rule);
}

/* "what went wrong: what to do" */
static const char *read_message(struct reader *reader, const json_t *json)
{
	const char *error = read_text(reader, json, "error");
	const char *help = read_text(reader, json, "help");
	size_t size = strlen(error) + strlen(help) + 3;
	char *message;

	if (help[0] == '\0') {
		return error;
	}
	message = take_bytes(reader, size);
	if (!message) {
		return "";
	}
	snprintf(message, size, "%s: %s", error, help);
	return message;
}

static void take_change(struct reader *reader, const json_t *json)
{
	static const char *const words[] = {
			[CONTROL_DONE] = "done",
			[CONTROL_WAS_SO] = "was_so",
			[CONTROL_USED_THERE] = "used_there",
			[CONTROL_REFUSED] = "refused",
			[CONTROL_WOULD] = "would",
	};
	struct control_change change = {
			.name = read_text(reader, json, "name"),
			.done = (enum control_done)read_word(reader, json, "done", words, 5),
			.channel = read_text(reader, json, "channel"),
			.session = read_text(reader, json, "session"),
			.message = read_message(reader, json),
	};

	if (read_number(reader, json, "index") != reader->rows->n_changes) {
		fail(reader, STATUS_PROTOCOL);
	}
	APPEND(reader, changes, change);
}

static void take_lack(struct reader *reader, const json_t *json)
{
	struct control_lack lack = {
			.what = read_text(reader, json, "what"),
			.message = read_message(reader, json),
	};

	APPEND(reader, lacks, lack);
}

static const struct kind {
	const char *key;
	void (*take)(struct reader *reader, const json_t *json);
	unsigned verbs; /* whose answers have such rows: a bit each */
} kinds[] = {
		{"session", take_session, 1u << CONTROL_ASK_SESSIONS},
		{"point", take_point, 1u << CONTROL_ASK_POINTS},
		{"channel", take_channel, 1u << CONTROL_ASK_CHANNELS},
		{"rule", take_rule, 1u << CONTROL_ASK_CHANNELS},
		{"change", take_change,
				1u << CONTROL_ASK_ENABLE | 1u << CONTROL_ASK_DISABLE |
						1u << CONTROL_ASK_CHECK},
		{"lack", take_lack, 1u << CONTROL_ASK_POINTS | 1u << CONTROL_ASK_CREATE},
};

enum status rows_take(struct rows *rows, enum control_verb verb, const json_t *line)
{
	struct reader reader = {.rows = rows, .status = STATUS_OK};
	size_t i;

	if (rows->n == CONTROL_MAX_ROWS) {
		return STATUS_FULL;
	}
	for (i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		const json_t *json = json_object_get(line, kinds[i].key);

		if (json_is_object(json) && (kinds[i].verbs & 1u << verb)) {
			rows->n++;
			kinds[i].take(&reader, json);
			return reader.status;
		}
	}
	return STATUS_PROTOCOL;
}

void rows_lend(const struct rows *rows, struct control_answer *answer)
{
	answer->n_sessions = rows->n_sessions;
	answer->n_points = rows->n_points;
	answer->n_channels = rows->n_channels;
	answer->n_rules = rows->n_rules;
	answer->n_changes = rows->n_changes;
	answer->n_lacks = rows->n_lacks;
	answer->sessions = rows->sessions;
	answer->points = rows->points;
	answer->channels = rows->channels;
	answer->rules = rows->rules;
	answer->changes = rows->changes;
	answer->lacks = rows->lacks;
}

void rows_clear(struct rows *rows)
{
	struct rows_block *block = rows->blocks, *next;

	for (; block; block = next) {
		next = block->next;
		free(block);
	}
	free(rows->sessions);
	free(rows->points);
	free(rows->channels);
	free(rows->rules);
	free(rows->changes);
	free(rows->lacks);
	memset(rows, 0, sizeof(*rows));
}
