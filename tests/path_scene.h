/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TESTS_PATH_SCENE_H
#define TESTS_PATH_SCENE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "requests/path.h"

/*
 * A request put together by hand, and its critical path in words:
 *
 *   scene_start(&scene);
 *   a = scene_enter(&scene, "a", 0, HOST, TID, LINK);
 *   scene_leave(&scene, a, 10, LINK);
 *   text = scene_path(&scene, NULL);    "a 10": by time; "b(wait) 3" is what b waited for
 *
 * The first span is the root. A link is the number of a message, 0: none.
 */
#define SCENE_SPANS 20000

struct scene {
	struct pool pool;
	struct copies copies;
	struct registry registry;
	struct stream streams[8]; /* stream and host have the same number */
	struct spans spans;
	struct path path;
	uint64_t seq, root, start_ns, end_ns;
	const char *names[SCENE_SPANS]; /* by name number */
	uint32_t n_names;
	struct {
		uint32_t host;
		int32_t tid;
	} threads[SCENE_SPANS]; /* by seq of the entry */
	char text[8192];
};

static inline void scene_start(struct scene *scene)
{
	memset(scene, 0, sizeof(*scene));
	pool_init(&scene->pool);
	for (uint32_t i = 0; i < 8; i++) {
		scene->streams[i].host = i;
	}
	scene->registry.streams = scene->streams;
	scene->registry.n_streams = 8;
	scene->n_names = 1;
	scene->start_ns = UINT64_MAX;
}

static inline void scene_stop(struct scene *scene)
{
	spans_release(&scene->spans);
	path_release(&scene->path);
	copies_free(&scene->pool, &scene->copies);
	pool_release(&scene->pool);
}

static inline struct event_copy *scene_add(
		struct scene *scene, uint64_t ts_ns, uint32_t host, int32_t tid, uint32_t link)
{
	struct event_copy *copy =
			copies_add(&scene->pool, &scene->copies, &(struct event){.ts_ns = ts_ns});

	if (!copy) {
		abort();
	}
	*copy = (struct event_copy){.ts_ns = ts_ns,
			.seq = ++scene->seq,
			.stream = host,
			.tid = tid,
			.pid = tid,
			.link = link};
	return copy;
}

static inline struct event_copy *scene_entry(struct scene *scene, const char *name, uint64_t ts_ns,
		uint32_t host, int32_t tid, uint32_t link)
{
	struct event_copy *copy = scene_add(scene, ts_ns, host, tid, link);

	if (scene->n_names == SCENE_SPANS || copy->seq >= SCENE_SPANS) {
		abort();
	}
	copy->role = COPY_ENTRY;
	copy->span = copy->seq;
	copy->name = scene->n_names;
	scene->names[scene->n_names++] = name;
	scene->threads[copy->seq].host = host;
	scene->threads[copy->seq].tid = tid;
	if (!scene->root) {
		scene->root = copy->seq;
		scene->start_ns = ts_ns;
	}
	return copy;
}

/* The root's end is that of the request. */
static inline uint64_t scene_enter(struct scene *scene, const char *name, uint64_t ts_ns,
		uint32_t host, int32_t tid, uint32_t link)
{
	return scene_entry(scene, name, ts_ns, host, tid, link)->seq;
}

/* Paired by a key: it goes on whatever its thread does meanwhile. */
static inline uint64_t scene_enter_keyed(struct scene *scene, const char *name, uint64_t ts_ns,
		uint32_t host, int32_t tid)
{
	struct event_copy *copy = scene_entry(scene, name, ts_ns, host, tid, 0);

	copy->keyed = true;
	return copy->seq;
}

/* A part of the span `under`, as its event says. */
static inline uint64_t scene_enter_under(struct scene *scene, const char *name, uint64_t ts_ns,
		uint32_t host, int32_t tid, uint64_t under)
{
	struct event_copy *copy = scene_entry(scene, name, ts_ns, host, tid, 0);

	copy->under = under;
	return copy->seq;
}

static inline void scene_leave(struct scene *scene, uint64_t span, uint64_t ts_ns, uint32_t link)
{
	struct event_copy *copy = scene_add(
			scene, ts_ns, scene->threads[span].host, scene->threads[span].tid, link);

	copy->role = COPY_EXIT;
	copy->span = span;
	if (span == scene->root) {
		scene->end_ns = ts_ns;
	}
}

static inline void scene_point(
		struct scene *scene, uint64_t ts_ns, uint32_t host, int32_t tid, uint32_t link)
{
	scene_add(scene, ts_ns, host, tid, link)->role = COPY_POINT;
}

static inline void scene_build(struct scene *scene)
{
	const struct spans_input input = {.copies = &scene->copies,
			.registry = &scene->registry,
			.root = scene->root,
			.start_ns = scene->start_ns,
			.end_ns = scene->end_ns};

	if (!spans_build(&scene->spans, &input)) {
		abort();
	}
}

static inline const char *scene_name(const struct scene *scene, uint32_t span)
{
	const struct event_copy *entry = scene->spans.items[span].entry;

	return entry ? scene->names[entry->name] : "?";
}

/* Aborts where the parts do not add up. */
static inline const char *scene_path(struct scene *scene, const struct path_kernel *kernel)
{
	static const char *const what[] = {[PATH_SELF] = "",
			[PATH_WAIT] = "(wait)",
			[PATH_TRANSIT] = "(transit)",
			[PATH_RUNNABLE] = "(runnable)",
			[PATH_WAKING] = "(waking up)",
			[PATH_BLOCKED] = "(blocked)"};
	uint64_t sum_ns = 0;
	size_t used = 0;
	uint32_t i;

	scene_build(scene);
	if (!path_find(&scene->path, &scene->spans, kernel)) {
		abort();
	}
	scene->text[0] = '\0';
	for (i = 0; i < scene->path.n; i++) {
		const struct path_piece *piece = &scene->path.pieces[i];

		sum_ns += piece->ns;
		if (used < sizeof(scene->text) - 100) {
			used += (size_t)snprintf(scene->text + used, sizeof(scene->text) - used,
					"%s%s%s %lu", i ? ", " : "", scene_name(scene, piece->span),
					what[piece->what], (unsigned long)piece->ns);
		}
	}
	if (sum_ns != scene->end_ns - scene->start_ns) {
		fprintf(stderr, "the parts add up to %lu, not %lu: %s\n", (unsigned long)sum_ns,
				(unsigned long)(scene->end_ns - scene->start_ns), scene->text);
		abort();
	}
	return scene->text;
}

#endif
