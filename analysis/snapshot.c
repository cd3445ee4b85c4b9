/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdarg.h>
#include <stdlib.h>

#include "base/arena.h"
#include "pythiatop/snapshot/snapshot.h"

struct owned_snapshot {
	struct snapshot snapshot; /* first: what the world sees */
	struct arena arena;
};

struct snapshot *snapshot_create(void)
{
	struct owned_snapshot *owned = calloc(1, sizeof(*owned));

	if (!owned) {
		return NULL;
	}
	owned->snapshot.arena = &owned->arena;
	return &owned->snapshot;
}

void snapshot_destroy(struct snapshot *snapshot)
{
	if (snapshot) {
		arena_release(snapshot->arena);
		free(snapshot);
	}
}

void *snapshot_alloc(struct snapshot *snapshot, size_t size)
{
	return arena_alloc(snapshot->arena, size);
}

const char *snapshot_text(struct snapshot *snapshot, const char *text)
{
	const char *copy = text[0] ? arena_text(snapshot->arena, text) : "";

	return copy ? copy : "";
}

const char *snapshot_printf(struct snapshot *snapshot, const char *format, ...)
{
	const char *text;
	va_list args;

	va_start(args, format);
	text = arena_vprintf(snapshot->arena, format, args);
	va_end(args);
	return text ? text : "";
}

static void warn_at(struct snapshot *snapshot, uint32_t at, const char *text)
{
	const char **texts = snapshot_alloc(snapshot, SNAPSHOT_WARNINGS * sizeof(*texts));
	uint32_t n = 0;

	for (uint32_t i = 0; texts && i <= snapshot->n_warnings && n < SNAPSHOT_WARNINGS; i++) {
		if (i == at) {
			texts[n++] = snapshot_text(snapshot, text);
		}
		if (i < snapshot->n_warnings && n < SNAPSHOT_WARNINGS) {
			texts[n++] = snapshot->warnings[i];
		}
	}
	if (texts) {
		snapshot->warnings = texts;
		snapshot->n_warnings = n;
	}
}

void snapshot_warn(struct snapshot *snapshot, const char *text)
{
	warn_at(snapshot, snapshot->n_warnings, text);
}

void snapshot_warn_first(struct snapshot *snapshot, const char *text)
{
	warn_at(snapshot, 0, text);
}
