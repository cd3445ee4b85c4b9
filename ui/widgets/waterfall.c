/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "widgets/waterfall.h"

#include <stdlib.h>
#include <string.h>

void waterfall_release(struct waterfall *waterfall)
{
	free(waterfall->folded);
	free(waterfall->hidden);
	free(waterfall->children);
	free(waterfall->self_ns);
	memset(waterfall, 0, sizeof(*waterfall));
}

static bool make_room(struct waterfall *waterfall, uint32_t n)
{
	struct waterfall bigger = *waterfall;

	if (n <= waterfall->room) {
		return true;
	}
	bigger.folded = calloc(n, sizeof(*bigger.folded));
	bigger.hidden = calloc(n, sizeof(*bigger.hidden));
	bigger.children = calloc(n, sizeof(*bigger.children));
	bigger.self_ns = calloc(n, sizeof(*bigger.self_ns));
	bigger.room = n;
	if (!bigger.folded || !bigger.hidden || !bigger.children || !bigger.self_ns) {
		waterfall_release(&bigger);
		return false;
	}
	if (waterfall->n > 0) {
		memcpy(bigger.folded, waterfall->folded, waterfall->n * sizeof(*bigger.folded));
	}
	waterfall_release(waterfall);
	*waterfall = bigger;
	return true;
}

static int64_t span_end(const struct request_span *span)
{
	return span->start_ns + (int64_t)span->duration_ns;
}

/*
 * Self time is what no child covers. Children come by start, so it is enough to know how far the
 * ones before have covered their parent; children may overlap, and outlive their parent.
 */
static void measure(struct waterfall *waterfall)
{
	const struct request_view *request = waterfall->request;
	int64_t *covered_ns = calloc(waterfall->n, sizeof(*covered_ns));
	uint32_t i;

	for (i = 0; i < waterfall->n; i++) {
		const struct request_span *span = &request->spans[i];

		waterfall->self_ns[i] = span->duration_ns;
		waterfall->children[i] = 0;
		waterfall->start_ns = span->start_ns < waterfall->start_ns ? span->start_ns
									   : waterfall->start_ns;
		waterfall->end_ns = span_end(span) > waterfall->end_ns ? span_end(span)
								       : waterfall->end_ns;
		if (covered_ns) {
			covered_ns[i] = span->start_ns;
		}
	}
	for (i = 0; i < waterfall->n; i++) {
		const struct request_span *span = &request->spans[i], *parent;
		int64_t from, to;

		if (span->parent >= i) {
			continue;
		}
		parent = &request->spans[span->parent];
		waterfall->children[span->parent]++;
		if (!covered_ns) {
			continue;
		}
		from = span->start_ns > covered_ns[span->parent] ? span->start_ns
								 : covered_ns[span->parent];
		to = span_end(span) < span_end(parent) ? span_end(span) : span_end(parent);
		if (to > from) {
			waterfall->self_ns[span->parent] -= (uint64_t)(to - from);
			covered_ns[span->parent] = to;
		}
	}
	free(covered_ns);
}

static void hide(struct waterfall *waterfall)
{
	uint32_t i, parent;

	for (i = 0; i < waterfall->n; i++) {
		parent = waterfall->request->spans[i].parent;
		waterfall->hidden[i] = parent < i &&
				       (waterfall->hidden[parent] || waterfall->folded[parent]);
	}
}

void waterfall_update(struct waterfall *waterfall, const struct request_view *request)
{
	if (request->id != waterfall->request_id) {
		if (waterfall->room > 0) {
			memset(waterfall->folded, 0, waterfall->room * sizeof(*waterfall->folded));
		}
		waterfall->request_id = request->id;
	}
	/* Without memory it shows the first spans. */
	waterfall->n = make_room(waterfall, request->n_spans) ? request->n_spans : waterfall->room;
	waterfall->request = request;
	waterfall->request_id = request->id;
	waterfall->start_ns = 0;
	waterfall->end_ns = (int64_t)request->duration_ns;
	if (waterfall->n > 0) {
		measure(waterfall);
		hide(waterfall);
	}
}

bool waterfall_fold(struct waterfall *waterfall, uint32_t span, bool folded)
{
	if (span >= waterfall->n || waterfall->children[span] == 0 ||
			waterfall->folded[span] == folded) {
		return false;
	}
	waterfall->folded[span] = folded;
	hide(waterfall);
	return true;
}

uint32_t waterfall_worst(const struct waterfall *waterfall)
{
	uint32_t i, worst = UINT32_MAX;

	for (i = 0; i < waterfall->n; i++) {
		if (!waterfall->hidden[i] &&
				(worst == UINT32_MAX ||
						waterfall->self_ns[i] >
								waterfall->self_ns[worst])) {
			worst = i;
		}
	}
	return worst;
}

enum role waterfall_role(uint32_t track)
{
	return (enum role)((uint32_t)ROLE_SPAN_0 + track % UI_SPAN_COLORS);
}

/* Columns [*from, *to) of a span; at least one. */
static void span_columns(const struct waterfall *waterfall, const struct request_span *span,
		int width, int *from, int *to)
{
	double length = (double)(waterfall->end_ns - waterfall->start_ns);
	double scale = length > 0 ? width / length : 0;
	double a = (double)(span->start_ns - waterfall->start_ns) * scale;
	double b = (double)(span_end(span) - waterfall->start_ns) * scale;

	*from = (int)a;
	*from = *from >= width ? width - 1 : *from < 0 ? 0 : *from;
	*to = (int)(b + 0.5);
	*to = *to > width ? width : *to <= *from ? *from + 1 : *to;
}

void waterfall_draw(const struct waterfall *waterfall, uint32_t index, struct canvas *canvas,
		struct area line)
{
	const struct request_view *request = waterfall->request;
	const struct request_span *span = &request->spans[index];
	enum role role = waterfall_role(span->track);
	int from, to, child_from, child_to;
	uint32_t i;

	if (line.width < 1) {
		return;
	}
	span_columns(waterfall, span, line.width, &from, &to);
	if (span->flags & REQUEST_SPAN_POINT) {
		canvas_fill(canvas, line.y, line.x + from, 1, role, "◆");
		return;
	}
	canvas_fill(canvas, line.y, line.x + from, to - from, role, "█");
	for (i = index + 1; i < waterfall->n; i++) {
		if (request->spans[i].parent != index ||
				request->spans[i].flags & REQUEST_SPAN_POINT) {
			continue;
		}
		span_columns(waterfall, &request->spans[i], line.width, &child_from, &child_to);
		child_from = child_from < from ? from : child_from;
		child_to = child_to > to ? to : child_to;
		canvas_fill(canvas, line.y, line.x + child_from, child_to - child_from, role, "░");
	}
	if (span->flags & REQUEST_SPAN_UNCLOSED) {
		canvas_fill(canvas, line.y, line.x + to - 1, 1, role, "▸");
	}
}
