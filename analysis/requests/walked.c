/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "requests/walked.h"

#include <stdlib.h>

#include "base/array.h"
#include "requests/engine.h"

static bool reserve(struct measuring *m, uint32_t n_spans, uint32_t n_pieces)
{
	return array_reserve(&m->walked_spans, &m->walked_span_room, n_spans) &&
	       array_reserve(&m->walked_pieces, &m->walked_piece_room, n_pieces);
}

static int32_t pid_of(const struct span *span)
{
	const struct event_copy *copy = span->entry ? span->entry : span->exit;

	return copy ? copy->pid : -1;
}

bool requests_walk(struct requests *r, const struct request *request, struct walked *out)
{
	struct measuring *m = &r->measuring;
	uint64_t at_ns = request->start_ns;

	*out = (struct walked){.total_ns = request->end_ns - request->start_ns};
	if (!measuring_build(r, request)) {
		return false;
	}
	measuring_name(r, request);
	if (!measuring_walk(r) || !reserve(m, r->spans.n, m->path.n)) {
		return false;
	}
	for (uint32_t i = 0; i < r->spans.n; i++) {
		const struct span *span = &r->spans.items[i];

		m->walked_spans[i] = (struct walked_span){.context = span->context,
				.parent = span->parent == SPAN_NONE ? WALKED_NONE : span->parent,
				.start_ns = span->start_ns,
				.host = span->host,
				.tid = span->tid,
				.pid = pid_of(span),
				.process = requests_process(r, span->host, span->tid, pid_of(span)),
				.whole = span->entry != NULL};
	}
	for (uint32_t i = 0; i < m->path.n; i++) {
		const struct path_piece *piece = &m->path.pieces[i];

		m->walked_pieces[i] = (struct walked_piece){.span = piece->span,
				.owner = measuring_owner(r, piece),
				.own = piece->what == PATH_SELF,
				.start_ns = at_ns,
				.ns = piece->ns};
		at_ns += piece->ns;
	}
	out->skewed = m->path.skewed;
	out->n_spans = r->spans.n;
	out->spans = m->walked_spans;
	out->n_pieces = m->path.n;
	out->pieces = m->walked_pieces;
	return true;
}
