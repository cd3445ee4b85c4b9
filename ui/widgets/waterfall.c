/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "widgets/waterfall.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"

void waterfall_release(struct waterfall *waterfall)
{
	free(waterfall->folded);
	free(waterfall->hidden);
	free(waterfall->children);
	free(waterfall->self_ns);
	free(waterfall->pieces);
	free(waterfall->first_piece);
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
	bigger.first_piece = calloc((size_t)n + 1, sizeof(*bigger.first_piece));
	bigger.pieces = NULL;
	bigger.piece_room = 0;
	bigger.room = n;
	if (!bigger.folded || !bigger.hidden || !bigger.children || !bigger.self_ns ||
			!bigger.first_piece) {
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

/* Finds the pieces of each span: they come by time, and are wanted by span. */
static void sort_pieces(struct waterfall *waterfall)
{
	const struct request_view *request = waterfall->request;
	uint32_t *first = waterfall->first_piece, i, sum = 0;

	memset(first, 0, ((size_t)waterfall->n + 1) * sizeof(*first));
	if (!array_reserve(&waterfall->pieces, &waterfall->piece_room, request->n_pieces)) {
		return; /* shows no path */
	}
	for (i = 0; i < request->n_pieces; i++) {
		if (request->pieces[i].span < waterfall->n) {
			first[request->pieces[i].span]++;
		}
	}
	for (i = 0; i <= waterfall->n; i++) {
		sum += first[i];
		first[i] = sum; /* the end of its pieces: they are filled in from there */
	}
	for (i = request->n_pieces; i-- > 0;) {
		if (request->pieces[i].span < waterfall->n) {
			waterfall->pieces[--first[request->pieces[i].span]] = i;
		}
	}
}

bool waterfall_has_path(const struct waterfall *waterfall)
{
	return waterfall->n > 0 && waterfall->first_piece[waterfall->n] > 0;
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
		sort_pieces(waterfall);
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
	bool path = waterfall_has_path(waterfall);
	uint32_t i, worst = UINT32_MAX;
	uint64_t ns, most_ns = 0;

	for (i = 0; i < waterfall->n; i++) {
		ns = path ? waterfall->request->spans[i].path_ns : waterfall->self_ns[i];
		if (!waterfall->hidden[i] && (worst == UINT32_MAX || ns > most_ns)) {
			worst = i;
			most_ns = ns;
		}
	}
	return worst;
}

enum role waterfall_role(uint32_t track)
{
	return (enum role)((uint32_t)ROLE_SPAN_0 + track % UI_SPAN_COLORS);
}

/* Columns [*from, *to) of a time; at least one. */
static void time_columns(const struct waterfall *waterfall, int64_t from_ns, int64_t to_ns,
		int width, int *from, int *to)
{
	double length = (double)(waterfall->end_ns - waterfall->start_ns);
	double scale = length > 0 ? width / length : 0;
	double a = (double)(from_ns - waterfall->start_ns) * scale;
	double b = (double)(to_ns - waterfall->start_ns) * scale;

	*from = (int)a;
	*from = *from >= width ? width - 1 : *from < 0 ? 0 : *from;
	*to = (int)(b + 0.5);
	*to = *to > width ? width : *to <= *from ? *from + 1 : *to;
}

static void span_columns(const struct waterfall *waterfall, const struct request_span *span,
		int width, int *from, int *to)
{
	time_columns(waterfall, span->start_ns, span_end(span), width, from, to);
}

/* The critical path where it is in this span itself. */
static void draw_path(const struct waterfall *waterfall, uint32_t index, struct canvas *canvas,
		struct area line)
{
	uint32_t i, last = waterfall->first_piece[index + 1];
	const struct request_piece *piece;
	int from, to;

	for (i = waterfall->first_piece[index]; i < last; i++) {
		piece = &waterfall->request->pieces[waterfall->pieces[i]];
		time_columns(waterfall, piece->from_ns, piece->to_ns, line.width, &from, &to);
		canvas_fill(canvas, line.y, line.x + from, to - from, ROLE_CRITICAL,
				piece->what[0] ? "═" : "█");
	}
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
	canvas_fill(canvas, line.y, line.x + from, to - from, role,
			waterfall_has_path(waterfall) ? "▒" : "█");
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
	if (waterfall_has_path(waterfall)) {
		draw_path(waterfall, index, canvas, line);
	}
	if (span->flags & REQUEST_SPAN_UNCLOSED) {
		canvas_fill(canvas, line.y, line.x + to - 1, 1, role, "▸");
	}
}
