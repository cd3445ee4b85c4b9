/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "run/pipeline.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "config/baseline_file.h"
#include "config/paths.h"
#include "config/profile_file.h"
#include "config/schema_file.h"
#include "intake/url.h"
#include "intake/symbols.h"
#include "run/dump_job.h"
#include "run/new_file.h"

/* Records in one step: a few milliseconds, so that a key is answered within a frame. */
#define STEP_RECORDS 4096u

/*
 * After a step that found something, sources are left alone for this long, unless one ends: they
 * then come in larger lots, and neither side wakes the other for every few events. Live ones have
 * something once in a live timer, and are given that long to write all of it: it is taken at once.
 */
#define SLEEP_NS      3000000u
#define LIVE_SLEEP_NS 15000000u

#define CALM_RECORDS 20000u    /* a second */
#define REST_LEAD_NS 30000000u /* news is asked for this long before somebody looks */

#define DUMP_CHECK_NS 100000000u /* between checks at how far a dump is */

struct pipeline {
	struct engine *engine;
	struct intake *intake;
	struct intake_sink sink;
	struct symbols *symbols; /* NULL: there is no thread for them */
	char program[PATH_MAX];
	uint64_t fed;
	bool busy; /* the last step fed something */
	struct {
		uint64_t fed, since_ns; /* of the second that is going on */
		bool crowded;           /* more than CALM_RECORDS in the last one */
	} pace;
	bool finished;
	uint64_t conducted; /* changes of steps and of the control of hosts */
	uint64_t window_ns;
	struct hold hold;
	struct conductor *conductor; /* NULL: no host is controlled */
	struct replay *replay;       /* NULL: no decisions are taken again */
	char replayed[PATH_MAX];     /* the log that they are of */
	struct rehearse *rehearse;   /* NULL: the loop is not played on a recording */
	bool begun;                  /* event time is known */
	char relay[URL_MAX];         /* of the first live source */
	struct dump_job dump_job;
	char notice[512];
	uint64_t notice_serial;
};

/* --- the engine as the sink of the intake -------------------------------------------------------
 */

static uint32_t sink_add_type(void *context, const struct event_type *type)
{
	struct pipeline *pipeline = context;

	return engine_add_type(pipeline->engine, type);
}

static uint32_t sink_add_session(void *context, const struct session_desc *session)
{
	struct pipeline *pipeline = context;

	if (pipeline->conductor && session->live) {
		conductor_see_host(pipeline->conductor, session->host);
	}
	return engine_add_session(pipeline->engine, session);
}

static uint32_t sink_add_stream(void *context, const struct stream_desc *stream)
{
	struct pipeline *pipeline = context;

	return engine_add_stream(pipeline->engine, stream);
}

/* No source is left: a replay knows from its log whether the live run was told so, too. */
static void finish(struct pipeline *pipeline)
{
	if (pipeline->replay) {
		replay_finish(pipeline->replay, pipeline->engine);
		return;
	}
	if (pipeline->conductor) {
		conductor_see_last(pipeline->conductor);
	}
	engine_finish(pipeline->engine);
}

static void sink_end_session(void *context, uint32_t session)
{
	struct pipeline *pipeline = context;

	enum session_end end;

	/* Recordings end sooner than what was live: its log tells when that did. */
	if (pipeline->replay) {
		return;
	}
	end = engine_end_session(pipeline->engine, session);
	if (end != SESSION_HAD_ENDED && pipeline->conductor) {
		conductor_see_end(pipeline->conductor, engine_session(pipeline->engine, session));
	}
	if (end == SESSION_ENDED_LAST) {
		finish(pipeline);
	}
}

static void tell_hold(struct pipeline *pipeline)
{
	char sentence[512];

	if (pipeline->hold.status == HOLD_FAILED) {
		hold_sentence(&pipeline->hold, sentence, sizeof(sentence));
		pipeline_notice(pipeline, "%s", sentence);
	}
}

/* False: the engine is not to hear of it. */
static bool see(struct pipeline *pipeline, uint64_t ts_ns)
{
	if (!pipeline->begun && pipeline->conductor) {
		conductor_see_first(pipeline->conductor, ts_ns);
	}
	pipeline->begun = true;
	if (pipeline->replay && !replay_see(pipeline->replay, pipeline->engine, ts_ns)) {
		return false;
	}
	if (pipeline->rehearse && !rehearse_advance(pipeline->rehearse, ts_ns)) {
		return false;
	}
	if (pipeline->hold.status == HOLD_WAITS) {
		hold_see(&pipeline->hold, pipeline->engine, ts_ns);
		tell_hold(pipeline);
	}
	return true;
}

static void sink_feed(void *context, const struct event *event)
{
	struct pipeline *pipeline = context;

	pipeline->fed++;
	if (!see(pipeline, event->ts_ns)) {
		return;
	}
	if (pipeline->rehearse) {
		rehearse_feed(pipeline->rehearse, event);
	} else {
		engine_feed(pipeline->engine, event);
	}
}

static void sink_lose(void *context, const struct loss *loss)
{
	struct pipeline *pipeline = context;

	pipeline->fed++;
	if ((!pipeline->replay || replay_runs(pipeline->replay)) &&
			(!pipeline->rehearse || rehearse_runs(pipeline->rehearse))) {
		engine_lose(pipeline->engine, loss);
	}
}

static void sink_late(void *context, uint32_t session, uint64_t count)
{
	struct pipeline *pipeline = context;

	pipeline->fed++;
	engine_late(pipeline->engine, session, count);
}

static void sink_misdated(void *context, uint32_t session, uint64_t ts_ns)
{
	struct pipeline *pipeline = context;

	(void)ts_ns;
	pipeline->fed++;
	engine_misdated(pipeline->engine, session);
}

static void sink_silent(void *context, uint32_t session, bool is)
{
	struct pipeline *pipeline = context;
	const struct session_desc *desc = engine_session(pipeline->engine, session);

	if (pipeline->conductor && desc) {
		conductor_see_silent(pipeline->conductor, desc, is);
	}
}

static void sink_advance(void *context, uint64_t ts_ns)
{
	struct pipeline *pipeline = context;

	pipeline->fed++;
	if (see(pipeline, ts_ns)) {
		engine_advance(pipeline->engine, ts_ns);
	}
}

static void sink_see_clock(void *context, const uint8_t *uuid, int64_t offset_ns)
{
	struct pipeline *pipeline = context;

	struct engine_input input = {.kind = INPUT_CLOCK, .clock.offset_ns = offset_ns};

	memcpy(input.clock.uuid, uuid, sizeof(input.clock.uuid));
	if (pipeline->conductor) {
		conductor_note(pipeline->conductor, &input);
	}
}

struct pipeline *pipeline_create(uint64_t window_ns, bool keep_events)
{
	struct engine_config config = {.window_ns = window_ns, .keep_events = keep_events};
	struct pipeline *pipeline = calloc(1, sizeof(*pipeline));

	if (!pipeline) {
		return NULL;
	}
	pipeline->sink = (struct intake_sink){
			.context = pipeline,
			.add_type = sink_add_type,
			.add_session = sink_add_session,
			.add_stream = sink_add_stream,
			.end_session = sink_end_session,
			.feed = sink_feed,
			.lose = sink_lose,
			.late = sink_late,
			.misdated = sink_misdated,
			.advance = sink_advance,
			.see_clock = sink_see_clock,
			.silent = sink_silent,
	};
	pipeline->window_ns = window_ns ? window_ns : UINT64_C(10000000000);
	if (!paths_sibling("pythiatop-source", pipeline->program, sizeof(pipeline->program)) ||
			access(pipeline->program, X_OK) != 0) {
		/* Not beside this program: whatever PATH has. */
		snprintf(pipeline->program, sizeof(pipeline->program), "pythiatop-source");
	}
	pipeline->engine = engine_create(&config);
	pipeline->intake = intake_create(&pipeline->sink, pipeline->program);
	if (!pipeline->engine || !pipeline->intake) {
		pipeline_destroy(pipeline);
		return NULL;
	}
	pipeline->symbols = symbols_create();
	return pipeline;
}

void pipeline_destroy(struct pipeline *pipeline)
{
	if (!pipeline) {
		return;
	}
	dump_job_stop(&pipeline->dump_job);
	symbols_destroy(pipeline->symbols);
	conductor_destroy(pipeline->conductor);
	pipeline->conductor = NULL; /* sources that go are none of its concern any more */
	rehearse_destroy(pipeline->rehearse);
	intake_destroy(pipeline->intake); /* whose sessions end, which a replay is told */
	replay_destroy(pipeline->replay);
	engine_destroy(pipeline->engine);
	free(pipeline);
}

enum status pipeline_set_baseline(
		struct pipeline *pipeline, const char *path, char *error, size_t error_size)
{
	struct baseline_file *file = baseline_file_read(path, error, error_size);
	enum status status = STATUS_INVALID;

	if (file) {
		status = engine_set_baseline(pipeline->engine, baseline_file_baseline(file));
		baseline_file_destroy(file);
		if (status != STATUS_OK) {
			snprintf(error, error_size, "%s: out of memory", path);
		}
	}
	return status;
}

struct intake *pipeline_intake(struct pipeline *pipeline)
{
	return pipeline->intake;
}

const char *pipeline_program(const struct pipeline *pipeline)
{
	return pipeline->program;
}

struct dump_job *pipeline_dump_job(struct pipeline *pipeline)
{
	return &pipeline->dump_job;
}

struct engine *pipeline_engine(struct pipeline *pipeline)
{
	return pipeline->engine;
}

/* --- control --- */

/* The URL of a session of ours. */
static bool own_url(struct pipeline *pipeline, const char *host, const char *session, char *text,
		size_t size)
{
	char error[512];
	struct url url;

	if (url_parse(&url, pipeline->relay, error, sizeof(error)) != STATUS_OK) {
		return false;
	}
	url_format_session(&url, host, session, text, size);
	return true;
}

/* Our sessions are watched like any other; a relay daemon that is watched as a whole has them. */
static void attach_own(void *context, const char *host, const char *session)
{
	struct pipeline *pipeline = context;
	char text[URL_MAX], error[512];

	if (own_url(pipeline, host, session, text, sizeof(text)) &&
			intake_attach(pipeline->intake, text, error, sizeof(error)) != STATUS_OK) {
		pipeline_notice(pipeline, "%s", error);
	}
}

static void detach_own(void *context, const char *host, const char *session)
{
	struct pipeline *pipeline = context;
	char text[URL_MAX], error[512];

	if (own_url(pipeline, host, session, text, sizeof(text))) {
		intake_detach(pipeline->intake, text, error, sizeof(error)); /* if it is there */
	}
}

static bool own_is_lost(void *context, const char *host, const char *session)
{
	struct pipeline *pipeline = context;
	char text[URL_MAX];

	return own_url(pipeline, host, session, text, sizeof(text)) &&
	       intake_is_lost(pipeline->intake, text);
}

bool pipeline_save_profile(struct pipeline *pipeline, const char *path)
{
	const struct profile *profile = engine_profile(pipeline->engine);
	struct new_file file;
	bool written;

	if (!new_file_open(&file, path)) {
		pipeline_notice(pipeline, "Cannot write %s: %s", path, strerror(errno));
		return false;
	}
	errno = ENOMEM;
	written = profile && profile_file_write(file.out, profile) == STATUS_OK;
	written = new_file_finish(&file, written);
	if (written) {
		pipeline_notice(pipeline, "Written: %s", path);
	} else {
		pipeline_notice(pipeline, "Cannot write %s: %s", path, strerror(errno));
	}
	return written;
}

void pipeline_save_learned(struct pipeline *pipeline)
{
	char path[PATH_MAX];

	if (paths_state(PIPELINE_PROFILE, path, sizeof(path))) {
		pipeline_save_profile(pipeline, path);
	}
}

static void save_learned(void *context)
{
	pipeline_save_learned(context);
}

static void say(void *context, const char *text)
{
	pipeline_notice(context, "%s", text);
}

bool pipeline_conduct(struct pipeline *pipeline, const struct conductor_setup *setup, char *error,
		size_t error_size)
{
	struct conductor_setup own = *setup;

	snprintf(pipeline->relay, sizeof(pipeline->relay), "%s", setup->relay ? setup->relay : "");
	own.relay = setup->relay ? pipeline->relay : NULL;
	own.engine = pipeline->engine;
	own.sources = (struct conductor_sources){.context = pipeline,
			.attach = attach_own,
			.detach = detach_own,
			.is_lost = own_is_lost,
			.learned = save_learned,
			.say = say};
	pipeline->conductor = conductor_create(&own, error, error_size);
	return pipeline->conductor != NULL;
}

struct conductor *pipeline_conductor(struct pipeline *pipeline)
{
	return pipeline->conductor;
}

enum status pipeline_input(struct pipeline *pipeline, const struct engine_input *input, char *error,
		size_t size)
{
	return pipeline->conductor ? conductor_input(pipeline->conductor, input, error, size)
				   : engine_input(pipeline->engine, input, error, size);
}

enum status pipeline_learn(
		struct pipeline *pipeline, const char *path, char *error, size_t error_size)
{
	struct profile_file *file = profile_file_read(path, error, error_size);
	enum status status;

	if (!file) {
		return STATUS_INVALID;
	}
	status = engine_learn(pipeline->engine, profile_file_profile(file));
	if (status != STATUS_OK) {
		snprintf(error, error_size, "%s: no memory for all of it", path);
	}
	if (status == STATUS_OK && pipeline->conductor) {
		conductor_note(pipeline->conductor,
				&(struct engine_input){.kind = INPUT_PROFILE, .text = path});
	}
	profile_file_destroy(file);
	return status;
}

bool pipeline_replay(struct pipeline *pipeline, const char *path, char *error, size_t error_size)
{
	uint8_t uuid[16];
	int64_t offset_ns;

	snprintf(pipeline->replayed, sizeof(pipeline->replayed), "%s", path);
	pipeline->replay = replay_read(path, error, error_size);
	for (uint32_t i = 0;
			pipeline->replay && replay_clock(pipeline->replay, i, uuid, &offset_ns);
			i++) {
		if (intake_set_clock(pipeline->intake, uuid, offset_ns) != STATUS_OK) {
			snprintf(error, error_size, "%s: more clocks than there is room for", path);
			return false;
		}
	}
	return pipeline->replay != NULL;
}

const struct replay *pipeline_replayed(const struct pipeline *pipeline)
{
	return pipeline->replay;
}

const char *pipeline_replayed_log(const struct pipeline *pipeline)
{
	return pipeline->replay ? pipeline->replayed : NULL;
}

bool pipeline_rehearse(struct pipeline *pipeline, const struct rehearse_setup *setup)
{
	pipeline->rehearse = rehearse_create(pipeline->engine, setup);
	return pipeline->rehearse != NULL;
}

const struct rehearse *pipeline_rehearsed(const struct pipeline *pipeline)
{
	return pipeline->rehearse;
}

/* --- schemas --- */

typedef enum status schema_taker(
		struct engine *engine, const struct schema *schema, char *error, size_t size);

static enum status read_schema(struct pipeline *pipeline, const char *name, schema_taker *take,
		char *error, size_t error_size)
{
	char path[PATH_MAX];
	struct schema_file *file;
	enum status status;

	if (!paths_data(PATHS_SCHEMA, name, path, sizeof(path))) {
		snprintf(error, error_size, "no schema %s: give a file, or the name of a ready one",
				name);
		return STATUS_INVALID;
	}
	file = schema_file_read(path, error, error_size);
	if (!file) {
		return STATUS_INVALID;
	}
	status = take(pipeline->engine, schema_file_schema(file), error, error_size);
	schema_file_destroy(file);
	return status;
}

enum status pipeline_add_schema(
		struct pipeline *pipeline, const char *name, char *error, size_t error_size)
{
	if (strcmp(name, PIPELINE_INFERRED) == 0) {
		return STATUS_OK;
	}
	return read_schema(pipeline, name, engine_add_schema, error, error_size);
}

enum status pipeline_offer_schemas(struct pipeline *pipeline, char *error, size_t error_size)
{
	static const char *const ready[] = {"ros2"};
	char path[PATH_MAX];

	for (size_t i = 0; i < sizeof(ready) / sizeof(ready[0]); i++) {
		enum status status = STATUS_OK;

		if (paths_data(PATHS_SCHEMA, ready[i], path, sizeof(path))) {
			status = read_schema(
					pipeline, ready[i], engine_offer_schema, error, error_size);
		}
		if (status != STATUS_OK) {
			return status;
		}
	}
	return STATUS_OK;
}

/* --- stepping and waiting --- */

bool pipeline_step(struct pipeline *pipeline)
{
	uint64_t fed = pipeline->fed;
	bool more = intake_step(pipeline->intake, STEP_RECORDS, clock_monotonic_ns());
	char said[PATH_MAX + 128];

	if (pipeline->conductor && conductor_step(pipeline->conductor, clock_monotonic_ns())) {
		pipeline->conducted++;
	}
	if (dump_job_poll(&pipeline->dump_job, said, sizeof(said))) {
		pipeline_notice(pipeline, "%s", said);
	}
	pipeline->busy = pipeline->fed != fed;
	if (pipeline->symbols && symbols_exchange(pipeline->symbols, pipeline->engine)) {
		pipeline->fed++; /* what is shown has changed */
	}
	return more;
}

void pipeline_settle(struct pipeline *pipeline, uint64_t timeout_ns)
{
	if (pipeline->symbols) {
		symbols_settle(pipeline->symbols, pipeline->engine, timeout_ns);
	}
}

/*
 * Waits on the sources (-1: not on them), the helpers of controlled hosts, and `fd` (-1: none).
 * True: `fd` is readable. *woken: the sources are.
 */
static bool wait_for(struct pipeline *pipeline, int sources, int fd, uint64_t until_ns, bool *woken)
{
	struct pollfd fds[2 + 2 * CONDUCTOR_MAX_FDS] = {
			{.fd = sources, .events = POLLIN}, {.fd = fd, .events = POLLIN}};
	uint64_t now_ns = clock_monotonic_ns(), left_ns;
	struct timespec timeout;
	nfds_t n = 2;

	*woken = false;
	if (pipeline->conductor) {
		uint64_t due_ns = conductor_due_ns(pipeline->conductor);

		until_ns = due_ns < until_ns ? due_ns : until_ns;
		n += conductor_poll_fds(pipeline->conductor, fds + 2, 2 * CONDUCTOR_MAX_FDS);
	}
	left_ns = until_ns > now_ns ? until_ns - now_ns : 0;
	timeout = (struct timespec){
			.tv_sec = (time_t)(left_ns / 1000000000u),
			.tv_nsec = (long)(left_ns % 1000000000u),
	};
	if (ppoll(fds, n, until_ns == UINT64_MAX ? NULL : &timeout, NULL) <= 0) {
		return false;
	}
	*woken = fds[0].revents != 0;
	return fds[1].revents != 0;
}

static uint64_t soonest(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

bool pipeline_wait(struct pipeline *pipeline, uint64_t deadline_ns, int fd)
{
	uint64_t due_ns = soonest(intake_deadline(pipeline->intake), deadline_ns);
	uint64_t now_ns = clock_monotonic_ns();
	bool live = intake_has_live(pipeline->intake), woken, asked;

	if (pipeline->dump_job.pid > 0) {
		due_ns = soonest(due_ns, now_ns + DUMP_CHECK_NS);
	}
	if (pipeline->busy && !live) {
		return wait_for(pipeline, intake_fd(pipeline->intake), fd,
				soonest(now_ns + SLEEP_NS, due_ns), &woken);
	}
	if (!intake_arm(pipeline->intake)) {
		return wait_for(pipeline, -1, fd,
				pipeline->busy ? soonest(now_ns + LIVE_SLEEP_NS, due_ns) : 0,
				&woken);
	}
	asked = wait_for(pipeline, intake_fd(pipeline->intake), fd, due_ns, &woken);
	if (live && woken && !asked) {
		asked = wait_for(pipeline, -1, fd,
				soonest(clock_monotonic_ns() + LIVE_SLEEP_NS, due_ns), &woken);
	}
	return asked;
}

bool pipeline_is_calm(struct pipeline *pipeline, uint64_t now_ns)
{
	uint64_t passed_ns = now_ns - pipeline->pace.since_ns;

	if (passed_ns >= 1000000000u) {
		pipeline->pace.crowded = (double)(pipeline->fed - pipeline->pace.fed) * 1e9 >
					 (double)CALM_RECORDS * (double)passed_ns;
		pipeline->pace.fed = pipeline->fed;
		pipeline->pace.since_ns = now_ns;
	}
	return !pipeline->pace.crowded && pipeline->hold.status != HOLD_WAITS &&
	       pipeline->dump_job.pid <= 0 &&
	       (!pipeline->conductor || conductor_is_calm(pipeline->conductor, now_ns));
}

void pipeline_rest(struct pipeline *pipeline, uint64_t until_ns)
{
	intake_rest(pipeline->intake, until_ns > REST_LEAD_NS ? until_ns - REST_LEAD_NS : 0);
}

bool pipeline_ended(struct pipeline *pipeline)
{
	if (!intake_ended(pipeline->intake)) {
		return false;
	}
	if (!pipeline->finished) {
		pipeline->finished = true;
		if (pipeline->hold.status == HOLD_WAITS) {
			hold_end(&pipeline->hold, pipeline->engine);
			tell_hold(pipeline);
		}
		finish(pipeline);
	}
	return true;
}

/* --- answering --- */

void pipeline_notice(struct pipeline *pipeline, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(pipeline->notice, sizeof(pipeline->notice), format, args);
	va_end(args);
	pipeline->notice_serial++;
}

uint64_t pipeline_changes(const struct pipeline *pipeline)
{
	return pipeline->fed + pipeline->notice_serial + pipeline->conducted +
	       intake_changes(pipeline->intake);
}

static uint64_t duplicates(void *context, uint32_t session, const char **of)
{
	struct pipeline *pipeline = context;
	struct session_counts counts = {0};
	const struct session_desc *other;

	engine_session_counts(pipeline->engine, session, &counts);
	other = counts.duplicates ? engine_session(pipeline->engine, counts.duplicates_of) : NULL;
	*of = other ? other->name : "";
	return counts.duplicates;
}

void pipeline_hold(struct pipeline *pipeline, const struct instant *instant, bool from_end)
{
	hold_begin(&pipeline->hold, instant, from_end, pipeline->window_ns);
}

const struct hold *pipeline_held(const struct pipeline *pipeline)
{
	return &pipeline->hold;
}

struct snapshot *pipeline_answer(struct pipeline *pipeline, const struct focus *wanted)
{
	struct focus focus = *wanted;
	struct snapshot *snapshot = snapshot_create();
	struct intake_view view = {
			.mono_ns = clock_monotonic_ns(),
			.real_ns = clock_real_ns(),
			.duplicates = duplicates,
			.context = pipeline,
	};

	if (!snapshot) {
		return NULL;
	}
	if (pipeline->hold.status == HOLD_WAITS) {
		/* Another instant is to be pinned than this one. */
		focus.frozen = false;
		focus.back_ns = 0;
	}
	if (engine_fill(pipeline->engine, &focus, snapshot) < 0 ||
			intake_fill(pipeline->intake, &view, snapshot) < 0) {
		snapshot_destroy(snapshot);
		return NULL;
	}
	if ((focus.parts & FOCUS_STEPS) && pipeline->conductor &&
			conductor_fill(pipeline->conductor, snapshot) < 0) {
		snapshot_destroy(snapshot);
		return NULL;
	}
	if (pipeline->rehearse) {
		rehearse_fill(pipeline->rehearse, &snapshot->steps);
	}
	snapshot->notice = snapshot_text(snapshot, pipeline->notice);
	snapshot->notice_serial = pipeline->notice_serial;
	return snapshot;
}
