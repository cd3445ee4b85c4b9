/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <inttypes.h>
#include <string.h>
#include <time.h>

#include "intake/source.h"

/* A rate is of at least this long, so that it does not jump with every look. */
#define RATE_MIN_NS 900000000u

static const char *domain_name(uint32_t domain)
{
	return domain == DOMAIN_KERNEL ? "kernel" : domain == DOMAIN_UST ? "ust" : "";
}

static void update_rate(struct source *source, uint64_t mono_ns)
{
	uint64_t events = source->queue.events;
	uint64_t passed_ns = mono_ns - source->rate_ns;

	if (source->rate_ns == 0) {
		source->rate_ns = mono_ns;
		source->rate_events = events;
	} else if (passed_ns >= RATE_MIN_NS) {
		source->rate = (double)(events - source->rate_events) * 1e9 / (double)passed_ns;
		source->rate_ns = mono_ns;
		source->rate_events = events;
	}
}

static uint64_t lag_ns(const struct source *source, uint64_t real_ns)
{
	const struct input_queue *queue = &source->queue;

	if (source->role != ROLE_SESSION || !queue->joined || !queue->timed ||
			queue->bound_ns >= real_ns) {
		return 0;
	}
	return real_ns - queue->bound_ns;
}

static bool fill_streams(
		const struct source *source, struct source_row *row, struct snapshot *snapshot)
{
	const struct input_queue *queue = &source->queue;
	struct source_stream *streams = snapshot_alloc(snapshot, queue->n_rows * sizeof(*streams));
	uint32_t i;

	if (!streams) {
		return false;
	}
	for (i = 0; i < queue->n_rows; i++) {
		const struct input_queue_row *from = &queue->rows[i];

		streams[i] = (struct source_stream){
				.channel = snapshot_text(snapshot, from->channel),
				.domain = domain_name(from->domain),
				.cpu = from->cpu,
				.events = from->events,
				.discarded = from->discarded,
		};
	}
	row->n_stream_rows = queue->n_rows;
	row->streams = streams;
	return true;
}

/* Two sources may be of one session (a recording's kernel and user-space traces): told once. */
static uint64_t duplicates(struct intake *intake, const struct source *source,
		const struct intake_view *view, const char **of)
{
	const struct input_queue *queue = &source->queue;
	uint64_t sum = 0;
	uint32_t i, k;

	if (!view->duplicates) {
		return 0;
	}
	for (i = 0; i < queue->n_rows; i++) {
		uint32_t session = queue->rows[i].session_id;

		for (k = 0; k < i && queue->rows[k].session_id != session; k++) {
		}
		if (k < i) {
			continue;
		}
		for (k = 0; intake->sources[k] != source; k++) {
			const struct input_queue *other = &intake->sources[k]->queue;

			if (other->n_rows && other->rows[0].session_id == session) {
				break;
			}
		}
		if (intake->sources[k] == source) {
			sum += view->duplicates(view->context, session, of);
		}
	}
	return sum;
}

static void fill_names(
		const struct source *source, struct source_row *row, struct snapshot *snapshot)
{
	const struct input_queue *queue = &source->queue;
	const char *host = queue->n_rows ? queue->rows[0].host : source->url.host;
	const char *session = queue->n_rows ? queue->rows[0].session : source->url.session;

	row->id = source->id;
	row->url = snapshot_text(snapshot, source->text);
	row->is_relay = source->role == ROLE_RELAY;
	row->host = row->is_relay ? "" : snapshot_text(snapshot, host);
	row->session = row->is_relay ? "" : snapshot_text(snapshot, session);
	row->state = source->state;
	row->detail = snapshot_text(snapshot, source->detail);
}

static void warn_of_misdated(const struct input_queue *queue, const struct source_row *row,
		struct snapshot *snapshot)
{
	time_t seconds = (time_t)(queue->misdated_ns / 1000000000u);
	char when[32] = "-";
	struct tm utc;

	if (queue->misdated == 0) {
		return;
	}
	if (gmtime_r(&seconds, &utc)) {
		strftime(when, sizeof(when), "%Y-%m-%d %H:%M:%S", &utc);
	}
	snapshot_warn(snapshot, snapshot_printf(snapshot,
						"%" PRIu64 " events of %s are dated far from all "
							   "others, the last %s UTC: "
						"they are put aside",
						queue->misdated, row->url, when));
}

static bool fill_row(struct intake *intake, struct source *source, const struct intake_view *view,
		struct source_row *row, struct snapshot *snapshot)
{
	const struct input_queue *queue = &source->queue;
	const char *of = "";

	fill_names(source, row, snapshot);
	row->live = source->role != ROLE_TRACE;
	row->live_timer_us = source->listed.live_timer_us;
	row->viewers = source->listed.viewers;
	row->n_streams = queue->n_streams ? queue->n_streams : source->listed.streams;
	row->events = queue->events;
	row->discarded = queue->discarded;
	row->discarded_packets = queue->discarded_packets;
	row->late = queue->late;
	row->misdated = queue->misdated;
	warn_of_misdated(queue, row, snapshot);
	row->duplicates = duplicates(intake, source, view, &of);
	row->duplicates_of = snapshot_text(snapshot, of);
	row->events_per_s = source->running ? source->rate : 0;
	row->lag_ns = lag_ns(source, view->real_ns);
	row->gaps = source->gaps;
	if (source->state == SOURCE_BROKEN && source->retry_ns > view->mono_ns) {
		row->retry_in_ns = source->retry_ns - view->mono_ns;
	}
	return fill_streams(source, row, snapshot);
}

static enum status fill_rows(
		struct intake *intake, const struct intake_view *view, struct snapshot *snapshot)
{
	struct source_row *rows = snapshot_alloc(snapshot, (intake->n + 1u) * sizeof(*rows));
	uint32_t i, n = 0;

	if (!rows) {
		return STATUS_NO_MEMORY;
	}
	for (i = 0; i < intake->n; i++) {
		if (!intake->sources[i]->hidden &&
				!fill_row(intake, intake->sources[i], view, &rows[n++], snapshot)) {
			return STATUS_NO_MEMORY;
		}
	}
	snapshot->sources.n = n;
	snapshot->sources.rows = rows;
	return STATUS_OK;
}

/* Of recordings by their bytes; one that tells no size counts as little as it can. */
double intake_progress(const struct intake *intake)
{
	double done = 0, total = 0;
	bool any = false;
	uint32_t i;

	for (i = 0; i < intake->n; i++) {
		const struct source *source = intake->sources[i];
		double size = source->total ? (double)source->total : 1;

		if (source->role != ROLE_TRACE) {
			continue;
		}
		any = true;
		total += size;
		if (source->finished || source->state == SOURCE_REFUSED) {
			done += size;
		} else if (source->done < source->total) {
			done += (double)source->done;
		}
	}
	return any ? done / total : -1;
}

enum status intake_fill(
		struct intake *intake, const struct intake_view *view, struct snapshot *snapshot)
{
	uint32_t i;

	snapshot->lag_ns = 0;
	for (i = 0; i < intake->n; i++) {
		struct source *source = intake->sources[i];
		uint64_t lag = lag_ns(source, view->real_ns);

		update_rate(source, view->mono_ns);
		/* A stalled source is no measure of how far behind the analysis is. */
		if (!source->queue.stalled && lag > snapshot->lag_ns) {
			snapshot->lag_ns = lag;
		}
	}
	snapshot->progress = intake_progress(intake);
	snapshot->ended = intake_ended(intake);
	if (!(snapshot->focus.parts & FOCUS_SOURCES)) {
		return STATUS_OK;
	}
	return fill_rows(intake, view, snapshot);
}
