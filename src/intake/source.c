/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "intake/source.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>

void source_say(struct source *source, enum source_state state, const char *format, ...)
{
	char detail[SOURCE_DETAIL];
	va_list args;

	va_start(args, format);
	vsnprintf(detail, sizeof(detail), format, args);
	va_end(args);
	if (source->state != state || strcmp(source->detail, detail) != 0) {
		source->intake->changes++;
		source->state = state;
		memcpy(source->detail, detail, sizeof(detail));
	}
}

static const char *on_host(void *context, const char *host, const uint8_t *clock_uuid);

struct source *source_create(struct intake *intake, enum source_role role, const char *text)
{
	struct source *source = calloc(1, sizeof(*source));

	if (!source) {
		return NULL;
	}
	source->text = strdup(text);
	if (!source->text) {
		free(source);
		return NULL;
	}
	source->intake = intake;
	source->role = role;
	source->child.pid_fd = -1;
	source->child.error_fd = -1;
	source->backoff_ns = SOURCE_BACKOFF_NS;
	input_queue_init(&source->queue, intake->sink, source->text);
	source->queue.note = intake->note;
	source->queue.host_name = on_host;
	source->queue.context = source;
	source->queue.live = role != ROLE_TRACE;
	return source;
}

void source_destroy(struct source *source)
{
	source_stop(source);
	input_queue_release(&source->queue);
	free(source->text);
	free(source);
}

/* --- what its process says -------------------------------------------------------------------- */

/* Text of another process: control characters would garble what it is shown in. */
static void copy_clean(char *out, size_t size, const char *text)
{
	size_t i;

	for (i = 0; text[i] && i + 1 < size; i++) {
		out[i] = (unsigned char)text[i] < ' ' || text[i] == 0x7f ? ' ' : text[i];
	}
	out[i] = '\0';
}

static void note_state(struct source *source, const struct record_state *in)
{
	char text[SOURCE_DETAIL];
	const char *from = record_text(&in->record, (uint32_t)offsetof(struct record_state, text));

	copy_clean(text, sizeof(text), from ? from : "");
	switch (in->state) {
	case SOURCE_CONNECTING:
	case SOURCE_WAITING:
	case SOURCE_ATTACHED:
	case SOURCE_ACTIVE:
		source->told = false;
		source_say(source, (enum source_state)in->state, "%s", text);
		break;
	case SOURCE_BROKEN:
	case SOURCE_REFUSED:
		source->told = text[0] != '\0';
		source->answered = false;
		source_say(source, (enum source_state)in->state, "%s", text);
		break;
	default:
		break; /* the others are ours to judge */
	}
}

void source_note(struct source *source, const struct record *record)
{
	source->sign_ns = source->intake->mono_ns;
	source->relay_failed = false;
	if (record->kind == RECORD_STATE) {
		note_state(source, (const void *)record);
	} else if (record->kind == RECORD_PROGRESS) {
		source->done = ((const struct record_progress *)record)->done;
		source->total = ((const struct record_progress *)record)->total;
	}
}

static const char *on_host(void *context, const char *host, const uint8_t *clock_uuid)
{
	struct source *source = context;

	return hosts_name(source->intake->hosts, host,
			source->relay ? source->relay->text + strlen("net://") : "", clock_uuid);
}

/* --- starting and ending ---------------------------------------------------------------------- */

static bool watch(struct source *source)
{
	struct epoll_event event = {.events = EPOLLIN, .data.u32 = source->id};
	int fd = source->intake->epoll_fd;

	return epoll_ctl(fd, EPOLL_CTL_ADD, ring_wait_fd(source->child.ring), &event) == 0 &&
	       epoll_ctl(fd, EPOLL_CTL_ADD, source->child.error_fd, &event) == 0 &&
	       epoll_ctl(fd, EPOLL_CTL_ADD, source->child.pid_fd, &event) == 0;
}

static void unwatch_exit(struct source *source)
{
	int fd = source->intake->epoll_fd;

	epoll_ctl(fd, EPOLL_CTL_DEL, source->child.error_fd, NULL);
	epoll_ctl(fd, EPOLL_CTL_DEL, source->child.pid_fd, NULL);
}

static void unwatch(struct source *source)
{
	epoll_ctl(source->intake->epoll_fd, EPOLL_CTL_DEL, ring_wait_fd(source->child.ring), NULL);
	unwatch_exit(source);
}

/* Another queue still supplies this session of the analysis. */
static bool is_supplied(
		const struct intake *intake, const struct input_queue *but, uint32_t session)
{
	uint32_t i, k;

	for (i = 0; i < intake->n; i++) {
		const struct input_queue *queue = &intake->sources[i]->queue;

		if (queue == but || !queue->joined) {
			continue;
		}
		for (k = 0; k < queue->n_rows; k++) {
			if (queue->rows[k].session_id == session) {
				return true;
			}
		}
	}
	return false;
}

static void end_sessions(struct source *source)
{
	const struct input_queue *queue = &source->queue;
	uint32_t i, k;

	for (i = 0; i < queue->n_rows; i++) {
		for (k = 0; k < i; k++) {
			if (queue->rows[k].session_id == queue->rows[i].session_id) {
				break;
			}
		}
		if (k == i && !is_supplied(source->intake, queue, queue->rows[i].session_id)) {
			source->intake->sink->end_session(
					source->intake->sink->context, queue->rows[i].session_id);
		}
	}
}

/* Nothing is read from its process any more. */
static void stop_reading(struct source *source)
{
	merge_leave(source->intake->merge, &source->queue);
	if (source->role == ROLE_SESSION && source->queue.timed && !source->gap_open) {
		source->gap_open = true;
		source->gap_begin_ns = source->queue.last_ts_ns;
	}
	end_sessions(source);
	input_queue_close(&source->queue);
	source->running = false;
	source->answered = false;
}

void source_stop(struct source *source)
{
	if (source->running) {
		stop_reading(source);
	} else if (!source->leaving) {
		return;
	}
	source->leaving = false;
	unwatch(source);
	child_stop(&source->child);
}

/* A recording's process is not needed again: it may take its time, so that we need not. */
static void let_leave(struct source *source)
{
	stop_reading(source);
	child_kill(&source->child);
	source->leaving = true;
}

static void watch_leaving(struct source *source)
{
	if (source->attention) {
		source->attention = false;
		child_poll(&source->child);
	}
	if (source->child.exited) {
		source_stop(source);
	}
}

static enum child_mode mode_of(const struct source *source)
{
	switch (source->role) {
	case ROLE_RELAY:
		return CHILD_LIST;
	case ROLE_SESSION:
		return CHILD_LIVE;
	default:
		return source->intake->tell_progress ? CHILD_RECORDED_PROGRESS : CHILD_RECORDED;
	}
}

static void pause_and_retry(struct source *source)
{
	source->retry_ns = source->intake->mono_ns + source->backoff_ns;
	source->backoff_ns *= 2;
	if (source->backoff_ns > SOURCE_BACKOFF_MAX) {
		source->backoff_ns = SOURCE_BACKOFF_MAX;
	}
}

static void prepare_queue(struct source *source)
{
	uint64_t timer_ns = source->listed.live_timer_us * UINT64_C(1000);

	input_queue_open(&source->queue, source->child.ring);
	source->queue.patience_ns =
			3 * timer_ns > SOURCE_PATIENCE_NS ? 3 * timer_ns : SOURCE_PATIENCE_NS;
	source->queue.host_asked = source->url.host;
	source->queue.session_asked = source->url.session;
}

/* A listing is nobody's choice. */
static const char *reader_of(const struct source *source)
{
	return source->role == ROLE_RELAY ? NULL : source->intake->reader;
}

static void source_start(struct source *source)
{
	struct intake *intake = source->intake;
	char error[256];

	source->finished = false;
	source->parted = false;
	source->told = false;
	source->had_events = false;
	source->relay_failed = false;
	source->start_events = source->queue.events;
	source->sign_ns = intake->mono_ns;
	watchdog_reset(&source->watchdog);
	if (child_start(&source->child, intake->program, mode_of(source), source->text,
			    source->listed.live_timer_us, reader_of(source), error,
			    sizeof(error)) != STATUS_OK) {
		source_say(source, source->role == ROLE_TRACE ? SOURCE_REFUSED : SOURCE_BROKEN,
				"%s", error);
		pause_and_retry(source);
		return;
	}
	source->running = true;
	source->attached_ids = source->listed.ids;
	source->attached_streams = source->listed.streams;
	prepare_queue(source);
	if (!watch(source)) {
		source_stop(source);
		source_say(source, source->role == ROLE_TRACE ? SOURCE_REFUSED : SOURCE_BROKEN,
				"out of descriptors; raise `ulimit -n`");
		pause_and_retry(source);
		return;
	}
	source_say(source, SOURCE_STARTING, "%s", "");
	/* A recording takes part from its start, so that the same ones always merge alike. */
	if (source->role == ROLE_TRACE &&
			merge_join(intake->merge, &source->queue, intake->mono_ns) != STATUS_OK) {
		source_stop(source);
		source_say(source, SOURCE_REFUSED, "too many sources at once");
	}
}

/* Why its process is no more, in a sentence. */
static void explain_end(const struct source *source, char *out, size_t size)
{
	char end[64], line[256], clean[256];

	if (source->parted) {
		snprintf(out, size, "its reader process broke the ring's format (%s)",
				source->queue.fault ? source->queue.fault : "a record");
		return;
	}
	child_describe_end(&source->child, end, sizeof(end));
	child_last_line(&source->child, line, sizeof(line));
	copy_clean(clean, sizeof(clean), line);
	snprintf(out, size, "its reader process %s%s%s", end, clean[0] ? ": " : "", clean);
}

/* Ends a source whose process failed, or was given up. `why`: in case it did not say so itself. */
static void source_fail(struct source *source, const char *why)
{
	bool refused = source->told && source->state == SOURCE_REFUSED;
	uint64_t events = source->queue.events;
	char own_words[SOURCE_DETAIL];

	memcpy(own_words, source->detail, sizeof(own_words));
	source_stop(source);
	if (source->role == ROLE_TRACE) {
		source_say(source, SOURCE_REFUSED, "%s%s", source->told ? own_words : why,
				events ? "; what was read before counts" : "");
		return;
	}
	source_say(source, refused ? SOURCE_REFUSED : SOURCE_BROKEN, "%s",
			source->told ? own_words : why);
	pause_and_retry(source);
}

static void source_finish(struct source *source)
{
	if (source->role == ROLE_TRACE) {
		let_leave(source);
		source_say(source, SOURCE_ENDED, "%s",
				source->queue.late ? "some of its events are older than what was "
						     "analysed "
						     "before: to see all, start with all recordings"
						   : "");
		return;
	}
	source_stop(source);
	source_say(source, SOURCE_ENDED,
			"the session has ended; attached again when there is a new one of its "
			"name");
	pause_and_retry(source);
}

void source_left(struct source *source, enum input_queue_status why)
{
	if (why == INPUT_QUEUE_ENDED) {
		source->finished = true;
		/* Now, before others go on: what ends with it ends at its last event. */
		end_sessions(source);
	} else {
		source->parted = true;
	}
}

/* --- while it runs -----------------------------------------------------------------------------
 */

/* The source is back after it was lost: what happened meanwhile is unknown. */
static void close_gap(struct source *source)
{
	const struct input_queue *queue = &source->queue;
	const struct intake_sink *sink = source->intake->sink;
	uint32_t i, k;

	source->gap_open = false;
	source->gaps++;
	for (i = 0; i < queue->n_rows; i++) {
		struct loss loss = {
				.stream = queue->rows[i].stream_id,
				.cpu = CPU_NONE,
				.begin_ns = source->gap_begin_ns,
				.end_ns = queue->bound_ns > source->gap_begin_ns
							  ? queue->bound_ns
							  : source->gap_begin_ns,
		};

		for (k = 0; k < i && queue->rows[k].stream_id != loss.stream; k++) {
		}
		if (k == i) {
			sink->lose(sink->context, &loss);
		}
	}
}

static void note_signs(struct source *source, uint64_t mono_ns)
{
	struct input_queue *queue = &source->queue;

	if (queue->timed && source->gap_open) {
		close_gap(source);
	}
	if (queue->events != source->start_events && !source->had_events) {
		source->had_events = true;
		source->backoff_ns = SOURCE_BACKOFF_NS;
	}
	if (queue->joined && queue->silent_since_ns > source->sign_ns) {
		source->sign_ns = queue->silent_since_ns;
		source->relay_failed = false;
	}
	if (ring_used(source->child.ring) > 0) {
		source->sign_ns = mono_ns; /* it waits for us, not we for it */
	}
}

static bool is_connecting(const struct source *source)
{
	return source->state == SOURCE_STARTING || source->state == SOURCE_CONNECTING;
}

static bool is_over(uint64_t since_ns, uint64_t limit_ns, uint64_t mono_ns)
{
	return mono_ns > since_ns && mono_ns - since_ns >= limit_ns;
}

/* Why to give up on the reader of an attached session, whose relay daemon answers; or NULL. */
static const char *why_attach_again(const struct source *source, uint64_t mono_ns)
{
	const struct listing *listed = &source->listed;
	/* A relay daemon that was stopped needs a moment to serve all its viewers again. */
	uint64_t since_ns = source->sign_ns > source->relay->answered_ns
					    ? source->sign_ns
					    : source->relay->answered_ns;

	if (is_over(since_ns, source->relay_failed ? SOURCE_SILENT_NS : SOURCE_CONNECT_NS,
			    mono_ns)) {
		return "its reader process gave no sign of life; starting another one";
	}
	if (!is_over(source->queue.silent_since_ns, SOURCE_SILENT_NS, mono_ns)) {
		return NULL;
	}
	if (listed->present && listed->ids != source->attached_ids) {
		return "the session was made again; attaching to the new one";
	}
	if (listed->streams > source->attached_streams && source->queue.stalled) {
		/* lttng-tools bug 1406: silent old streams hide new ones. */
		return "new streams, but nothing came; attaching again";
	}
	return NULL;
}

/*
 * Why to end the reader of a recording, in a sentence; NULL: it gets on. It does where it waits for
 * us to read on.
 */
static const char *why_end_reading(struct source *source, uint64_t mono_ns)
{
	const struct input_queue *queue = &source->queue;
	uint64_t written = ring_written(source->child.ring);

	if (source->child.exited || queue->head != INPUT_QUEUE_NONE ||
			ring_used(source->child.ring) > 0) {
		watchdog_reset(&source->watchdog);
		return NULL;
	}
	if (watchdog_check(&source->watchdog, source->child.pid, written, mono_ns) <
			SOURCE_RECORDED_NS) {
		return NULL;
	}
	return queue->n_streams == 0 ? "its reader process made no progress for 10 s while it "
				       "opened the recording, and was ended; the metadata may be "
				       "damaged"
				     : "its reader process made no progress for 10 s and was "
				       "ended; the recording may be damaged";
}

/* Why to give up on a live reader that runs, in a sentence; NULL: all is well, or may still be. */
static const char *why_give_up(const struct source *source, uint64_t mono_ns)
{
	bool connecting = is_connecting(source);

	if (source->queue.head != INPUT_QUEUE_NONE) {
		return NULL; /* it is not silent: we are not done with what it said */
	}
	if (source->role == ROLE_SESSION && !connecting) {
		return source->relay->answered ? why_attach_again(source, mono_ns) : NULL;
	}
	if (!is_over(source->sign_ns, SOURCE_CONNECT_NS, mono_ns)) {
		return NULL;
	}
	return connecting ? "no answer for 10 s; is this the viewers' port of a relay daemon "
			    "(5344)?"
			  : "the relay daemon does not answer any more";
}

static void judge_state(struct source *source)
{
	/* What it said itself about its end stands, also while its last events are still waiting.
	 */
	if (source->role != ROLE_RELAY && source->queue.joined && !source->told) {
		if (source->queue.stalled && source->had_events) {
			source_say(source, SOURCE_STALLED,
					"silent for longer than %" PRIu64 " ms; the others go on",
					source->queue.patience_ns / 1000000);
		} else if (source->had_events && source->state != SOURCE_ACTIVE) {
			source_say(source, SOURCE_ACTIVE, "%s", "");
		} else if (source->role == ROLE_SESSION && source->state == SOURCE_ATTACHED &&
				!source->detail[0]) {
			source_say(source, SOURCE_ATTACHED,
					"Attached. First events within the live timer (%.3g s).",
					source->listed.live_timer_us / 1e6);
		}
	}
	if (source->role == ROLE_SESSION && source->relay && !source->relay->answered &&
			source->relay->was_answered) {
		source->relay_failed = true;
	}
}

static void watch_running(struct source *source, uint64_t mono_ns)
{
	char why[SOURCE_DETAIL];
	const char *text;

	if (source->attention) {
		source->attention = false;
		ring_acknowledge(source->child.ring);
		child_poll(&source->child);
		if (source->child.exited) {
			/* Readable for ever, they would keep us awake until its last events are
			 * due. */
			unwatch_exit(source);
		}
	}
	/* Before anything ends it: what came this time counts, however short it was. */
	note_signs(source, mono_ns);
	if (source->finished) {
		source_finish(source);
		return;
	}
	if (source->parted || (source->child.exited && source->queue.head == INPUT_QUEUE_NONE &&
					      ring_used(source->child.ring) == 0)) {
		explain_end(source, why, sizeof(why));
		source_fail(source, why);
		return;
	}
	judge_state(source);
	text = source->role == ROLE_TRACE ? why_end_reading(source, mono_ns)
					  : why_give_up(source, mono_ns);
	if (text) {
		source->told = false;
		source_fail(source, text);
	}
}

/* Whether a session can be attached now. If not, its state and detail say why. */
static bool may_attach(struct source *session)
{
	const struct source *relay = session->relay;
	const struct listing *listed = &session->listed;

	if (!relay->answered) {
		source_say(session,
				relay->state == SOURCE_BROKEN ? SOURCE_BROKEN : SOURCE_CONNECTING,
				"%s", relay->detail);
		session->retry_ns = relay->retry_ns;
		return false;
	}
	if (!listed->present) {
		if (session->finished) {
			return false; /* it says that it has ended */
		}
		source_say(session, SOURCE_WAITING,
				"%s has no session \"%s\" of host \"%s\"; see: pythiatop --list "
				"net://%s",
				relay->url.relay, session->url.session, session->url.host,
				relay->url.relay);
		return false;
	}
	if (session->state == SOURCE_REFUSED && listed->ids == session->attached_ids) {
		return false; /* until it is made again */
	}
	if (listed->live_timer_us == 0) {
		source_say(session, SOURCE_WAITING,
				"Session \"%s\" is not live (made without --live). Recreate it "
				"with --live.",
				session->url.session);
		return false;
	}
	if (listed->viewers > 0) {
		source_say(session, SOURCE_WAITING,
				"another viewer is attached to session \"%s\", and there can be "
				"only "
				"one: end the other one (babeltrace2, or another pythiatop)",
				session->url.session);
		return false;
	}
	return true;
}

/* Whether a source that does not run is to be started now. */
static bool may_start(struct source *source, uint64_t mono_ns)
{
	if (source->role == ROLE_TRACE) {
		return source->state == SOURCE_STARTING;
	}
	if (mono_ns < source->retry_ns) {
		return false;
	}
	return source->role == ROLE_RELAY || may_attach(source);
}

void source_tick(struct source *source, uint64_t mono_ns)
{
	if (source->leaving) {
		watch_leaving(source);
	}
	if (!source->wanted) {
		return;
	}
	if (source->running) {
		watch_running(source, mono_ns);
	} else if (may_start(source, mono_ns)) {
		source_start(source);
	}
}

uint64_t source_deadline(const struct source *source)
{
	if (!source->wanted || (source->role == ROLE_TRACE && !source->running)) {
		return UINT64_MAX;
	}
	if (!source->running && source->retry_ns > source->intake->mono_ns) {
		return source->retry_ns;
	}
	return source->intake->mono_ns + 200000000u;
}

void source_listen(struct source *source, uint64_t mono_ns)
{
	struct input_queue *queue = &source->queue;
	uint64_t unused = 0;
	uint32_t budget = 65536;
	enum input_queue_status status = INPUT_QUEUE_MORE;

	while (source->running && !queue->joined && budget > 0 && status == INPUT_QUEUE_MORE &&
			!source->finished && !source->parted) {
		status = input_queue_run(queue, 0, &unused, &budget);
		if (status == INPUT_QUEUE_ENDED || status == INPUT_QUEUE_BROKEN) {
			source_left(source, status);
		} else if (source->role == ROLE_SESSION &&
				(queue->timed || source->state == SOURCE_ATTACHED ||
						source->state == SOURCE_ACTIVE)) {
			if (merge_join(source->intake->merge, queue, mono_ns) != STATUS_OK) {
				source_fail(source, "too many sources at once");
			}
		} else if (queue->timed) {
			/* A listing has no events: its writer does not know what it is. */
			source->parted = true;
		}
	}
}
