/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TESTS_KERNEL_FEED_H
#define TESTS_KERNEL_FEED_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pythiatop/engine.h"

/*
 * Kernel events in words, for tests of the state of a system:
 *
 *   kernel_event(&kernel, ts_ns, cpu, "syscall_entry_open filename:s=/tmp/test flags:i=0");
 *   kernel_event(&kernel, ts_ns, cpu, "syscall_exit_pipe ret:i=0 fildes:a=3,4");
 *
 * Kinds of fields: u unsigned, i signed, s string (without blanks), a array of numbers.
 */
struct kernel_feed {
	struct engine *engine;
	uint32_t session, stream;
};

static inline void kernel_start(struct kernel_feed *kernel, const struct engine_config *config)
{
	kernel->engine = engine_create(config);
	if (!kernel->engine) {
		abort();
	}
	kernel->session = engine_add_session(
			kernel->engine, &(struct session_desc){.host = "alpha", .name = "kernel"});
	kernel->stream = engine_add_stream(
			kernel->engine, &(struct stream_desc){.session = kernel->session,
							.domain = DOMAIN_KERNEL,
							.channel = "channel0",
							.kernel_release = "6.2.0"});
}

static inline void kernel_stop(struct kernel_feed *kernel)
{
	engine_destroy(kernel->engine);
}

#define KERNEL_FIELDS 16
#define KERNEL_BYTES  4096

struct kernel_words {
	char text[KERNEL_BYTES];
	struct field fields[KERNEL_FIELDS];
	struct event_type type;
	uint64_t slots[KERNEL_BYTES / 8];
	uint32_t used;
};

static inline uint64_t kernel_bytes(struct kernel_words *words, const void *bytes, uint32_t size)
{
	uint64_t slot = (uint64_t)words->used << 32 | size;

	if (words->used + size + 9 > sizeof(words->slots)) {
		abort();
	}
	memcpy((char *)words->slots + words->used, bytes, size);
	((char *)words->slots)[words->used + size] = '\0';
	words->used = (words->used + size + 8) / 8 * 8;
	return slot;
}

static inline uint64_t kernel_array(struct kernel_words *words, char *text)
{
	uint64_t tree[1 + 2 * 16] = {0};
	uint32_t head[2] = {TREE_ARRAY, 0};
	char *save = NULL, *at;

	for (at = strtok_r(text, ",", &save); at; at = strtok_r(NULL, ",", &save)) {
		uint32_t node[2] = {TREE_INT, 0};

		if (head[1] == 16) {
			abort();
		}
		memcpy(&tree[1 + 2 * head[1]], node, sizeof(node));
		tree[2 + 2 * head[1]++] = strtoull(at, NULL, 0);
	}
	memcpy(tree, head, sizeof(head));
	return kernel_bytes(words, tree, 8 + head[1] * 16);
}

/* Takes the words apart: words->type, words->slots, words->used bytes of them. */
static inline void kernel_parse(struct kernel_words *words, const char *text)
{
	char *values[KERNEL_FIELDS], *save = NULL, *at;
	uint32_t i;

	memset(words, 0, sizeof(*words));
	snprintf(words->text, sizeof(words->text), "%s", text);
	words->type.name = strtok_r(words->text, " ", &save);
	words->type.fields = words->fields;
	while ((at = strtok_r(NULL, " ", &save))) {
		char *colon = strchr(at, ':'), *value = colon ? strchr(colon, '=') : NULL;
		struct field *field = &words->fields[words->type.n_fields];

		if (!value || words->type.n_fields == KERNEL_FIELDS) {
			abort();
		}
		*colon = *value = '\0';
		values[words->type.n_fields++] = value + 1;
		field->name = at;
		field->kind = colon[1] == 's'   ? FIELD_STRING
			      : colon[1] == 'a' ? FIELD_TREE
			      : colon[1] == 'i' ? FIELD_INT
						: FIELD_UINT;
		field->base = 10;
	}
	words->used = words->type.n_fields * 8;
	for (i = 0; i < words->type.n_fields; i++) {
		uint8_t kind = words->fields[i].kind;

		words->slots[i] = kind == FIELD_STRING
						  ? kernel_bytes(words, values[i],
								    (uint32_t)strlen(values[i]))
				  : kind == FIELD_TREE ? kernel_array(words, values[i])
				  : kind == FIELD_INT  ? (uint64_t)strtoll(values[i], NULL, 0)
						       : strtoull(values[i], NULL, 0);
	}
}

static inline void kernel_event(
		struct kernel_feed *kernel, uint64_t ts_ns, uint32_t cpu, const char *text)
{
	static struct kernel_words words;
	uint32_t id;

	kernel_parse(&words, text);
	id = engine_add_type(kernel->engine, &words.type);
	if (id == ID_NONE) {
		abort();
	}
	engine_feed(kernel->engine, &(struct event){.ts_ns = ts_ns,
						    .type = id,
						    .stream = kernel->stream,
						    .cpu = cpu,
						    .bytes = words.used ? words.used : 8,
						    .slots = words.slots});
}

/* The CPU runs another thread; the one before goes on being runnable. */
static inline void kernel_run(struct kernel_feed *kernel, uint64_t ts_ns, uint32_t cpu,
		int64_t prev, int64_t next)
{
	char text[200];

	snprintf(text, sizeof(text),
			"sched_switch prev_comm:s=c%ld prev_tid:i=%ld prev_state:i=0 "
			"next_comm:s=c%ld "
			"next_tid:i=%ld",
			(long)prev, (long)prev, (long)next, (long)next);
	kernel_event(kernel, ts_ns, cpu, text);
}

/* What is the state at an instant (0: now)? Free with snapshot_destroy(). */
static inline struct snapshot *kernel_state(struct kernel_feed *kernel, uint64_t at_ns)
{
	struct focus focus = {.parts = FOCUS_STATE, .state_at_ns = at_ns};
	struct snapshot *snapshot = snapshot_create();

	if (!snapshot || engine_fill(kernel->engine, &focus, snapshot) < 0) {
		abort();
	}
	return snapshot;
}

/* The fd of that process and number, open if there are several; NULL: none. (Not inlined: gcc 12
 * would warn wherever a test takes for granted that there is one.) */
static __attribute__((noinline, unused)) const struct state_fd *kernel_fd(
		const struct snapshot *snapshot, int64_t pid, int32_t number)
{
	const struct state_fd *found = NULL;
	uint32_t i;

	for (i = 0; i < snapshot->state.n_fds; i++) {
		const struct state_fd *fd = &snapshot->state.fds[i];

		if (fd->pid == pid && fd->fd == number && (!found || fd->open)) {
			found = fd;
		}
	}
	return found;
}

static __attribute__((noinline, unused)) const struct state_thread *kernel_thread(
		const struct snapshot *snapshot, int64_t tid)
{
	uint32_t i;

	for (i = 0; i < snapshot->state.n_threads; i++) {
		if (snapshot->state.threads[i].tid == tid) {
			return &snapshot->state.threads[i];
		}
	}
	return NULL;
}

#endif
