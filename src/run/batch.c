/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "run/batch.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "base/clock.h"
#include "config/schema_file.h"
#include "output/verdict.h"
#include "pythiatop/text.h"

#define PROGRESS_NS    100000000u
#define FIRST_EVENT_NS 10000000000u
#define SYMBOLS_NS     10000000000u /* files may be on a disk that is slow */
#define LIST_NS        15000000000u /* a listing says itself earlier what is wrong */

enum stop_reason {
	STOP_NOT = 0,
	STOP_DONE,
	STOP_SIGNAL,
	STOP_FAILED, /* told */
};

/* SIGINT and SIGTERM become readable instead of ending the program with its work half done. */
static int open_signals(void)
{
	sigset_t signals;

	signal(SIGPIPE, SIG_IGN); /* a closed output is an error of the write */
	sigemptyset(&signals);
	sigaddset(&signals, SIGINT);
	sigaddset(&signals, SIGTERM);
	sigaddset(&signals, SIGHUP);
	pthread_sigmask(SIG_BLOCK, &signals, NULL);
	return signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK);
}

static void draw_progress(const struct batch *batch, struct pipeline *pipeline)
{
	static const char full[] = "########################################";
	double part = intake_progress(pipeline_intake(pipeline));
	int width = (int)sizeof(full) - 1, cells;

	if (part < 0) {
		return;
	}
	cells = (int)(part * width);
	fprintf(batch->err, "\r[%.*s%*s] %3d %%", cells, full, width - cells, "",
			(int)(part * 100));
	fflush(batch->err);
}

static void clear_progress(const struct batch *batch)
{
	if (batch->progress) {
		fprintf(batch->err, "\r\033[K");
		fflush(batch->err);
	}
}

/* With the part of the state that is asked for: its thread, then its fd are found by a look first.
 */
static struct snapshot *answer(
		struct pipeline *pipeline, const struct output_select *select, struct focus *focus)
{
	struct snapshot *snapshot = pipeline_answer(pipeline, focus);

	while (snapshot && select && output_select_focus(select, snapshot, focus)) {
		snapshot_destroy(snapshot);
		snapshot = pipeline_answer(pipeline, focus);
	}
	if (snapshot && select && output_select_apply(select, snapshot) != STATUS_OK) {
		snapshot_destroy(snapshot);
		snapshot = NULL;
	}
	return snapshot;
}

/*
 * An instant was asked for, and is there, or never will be; or what is replayed or rehearsed is
 * over.
 */
static bool is_settled(struct pipeline *pipeline)
{
	const struct replay *replay = pipeline_replayed(pipeline);

	const struct rehearse *rehearse = pipeline_rehearsed(pipeline);

	return pipeline_held(pipeline)->status > HOLD_WAITS || (replay && replay_is_over(replay)) ||
	       (rehearse && rehearse_is_over(rehearse));
}

/* True: there is none, or it is there; else what went wrong is told. */
static bool check_instant(struct pipeline *pipeline, FILE *err)
{
	char sentence[512];

	if (pipeline_held(pipeline)->status != HOLD_FAILED) {
		return true;
	}
	hold_sentence(pipeline_held(pipeline), sentence, sizeof(sentence));
	fprintf(err, "pythiatop: %s\n", sentence);
	return false;
}

static enum stop_reason print(
		struct pipeline *pipeline, const struct batch *batch, uint64_t *documents)
{
	const struct hold *hold = pipeline_held(pipeline);
	struct focus focus = {
			.serial = *documents + 1,
			.screen = SCREEN_GROUPS,
			.parts = FOCUS_ALL,
			.horizon = batch->horizon,
			.metric = batch->metric,
			.tree_of_all = true,
			.frozen = hold->status == HOLD_HELD,
			.back_ns = hold->back_ns,
	};
	struct snapshot *snapshot = answer(pipeline, batch->select, &focus);
	enum status status;

	if (!snapshot) {
		fprintf(batch->err, "pythiatop: out of memory\n");
		return STOP_FAILED;
	}
	status = output_write(batch->out, &batch->style, snapshot, *documents == 0);
	if (batch->style.format == OUTPUT_FOLDED) {
		output_folded_samples(batch->err, snapshot);
	}
	snapshot_destroy(snapshot);
	if (status != STATUS_OK) {
		fprintf(batch->err, "pythiatop: cannot write the document: %s\n", strerror(errno));
		return STOP_FAILED;
	}
	(*documents)++;
	return batch->count && *documents >= batch->count ? STOP_DONE : STOP_NOT;
}

/* Tells of the sources that could not be read. True: there was one. */
static bool tell_failed(struct pipeline *pipeline, bool broken, FILE *err)
{
	struct intake *intake = pipeline_intake(pipeline);
	char sentence[1024], clean[4096];
	uint32_t i, n = intake_failed(intake, broken, UINT32_MAX, sentence, sizeof(sentence));

	for (i = 0; i < n; i++) {
		intake_failed(intake, broken, i, sentence, sizeof(sentence));
		text_escape(clean, sizeof(clean), sentence);
		fprintf(err, "pythiatop: %s\n", clean);
	}
	return n > 0;
}

/* True: other decisions were taken than in the run that was to be replayed, which is told. */
static bool tell_departure(struct pipeline *pipeline, FILE *err)
{
	const struct replay *replay = pipeline_replayed(pipeline);
	const char *departure = replay ? replay_departure(replay) : NULL;
	char clean[4096];

	if (departure) {
		text_escape(clean, sizeof(clean), departure);
		fprintf(err, "pythiatop: %s\n", clean);
	}
	return departure != NULL;
}

/* True: it was no rehearsal, which is told. */
static bool tell_rehearsal(struct pipeline *pipeline, FILE *err)
{
	const struct rehearse *rehearse = pipeline_rehearsed(pipeline);
	const char *failure = rehearse ? rehearse_failure(rehearse) : NULL;

	if (failure) {
		fprintf(err, "pythiatop: --rehearse: %s\n", failure);
	}
	return failure != NULL;
}

/* A run without any event, and with a source that failed, is a failure. */
static int outcome(struct pipeline *pipeline, FILE *err)
{
	bool nothing = !intake_any_events(pipeline_intake(pipeline));
	bool failed = tell_failed(pipeline, nothing, err);
	bool departed = tell_departure(pipeline, err);

	bool unplayed = tell_rehearsal(pipeline, err);

	return departed || unplayed || (failed && nothing) ? 1 : 0;
}

static enum stop_reason work(struct pipeline *pipeline, uint64_t due_ns, int signals)
{
	bool more = pipeline_step(pipeline);

	if (pipeline_ended(pipeline)) {
		return STOP_NOT; /* there is nothing to wait for */
	}
	if (more && clock_monotonic_ns() < due_ns) {
		return pipeline_wait(pipeline, 0, signals) ? STOP_SIGNAL : STOP_NOT;
	}
	return pipeline_wait(pipeline, due_ns, signals) ? STOP_SIGNAL : STOP_NOT;
}

static enum stop_reason read_to_end(
		struct pipeline *pipeline, const struct batch *batch, int signals)
{
	enum stop_reason stop = STOP_NOT;
	uint64_t due_ns = clock_monotonic_ns() + PROGRESS_NS;

	while (stop == STOP_NOT && !pipeline_ended(pipeline) && !is_settled(pipeline)) {
		stop = work(pipeline, due_ns, signals);
		if (clock_monotonic_ns() >= due_ns) {
			due_ns = clock_monotonic_ns() + PROGRESS_NS;
			if (batch->progress) {
				draw_progress(batch, pipeline);
			}
		}
	}
	clear_progress(batch);
	return stop;
}

static int run_recorded(struct pipeline *pipeline, const struct batch *batch, int signals)
{
	uint64_t documents = 0;

	if (read_to_end(pipeline, batch, signals) == STOP_SIGNAL) {
		fprintf(batch->err, "pythiatop: interrupted before the end of the recording\n");
		return 1;
	}
	if (!check_instant(pipeline, batch->err)) {
		tell_failed(pipeline, true, batch->err);
		return 1;
	}
	pipeline_settle(pipeline, SYMBOLS_NS);
	if (intake_any_events(pipeline_intake(pipeline)) ||
			intake_failed(pipeline_intake(pipeline), false, 0, (char[1]){0}, 1) == 0) {
		if (print(pipeline, batch, &documents) == STOP_FAILED) {
			return 1;
		}
	}
	return outcome(pipeline, batch->err);
}

/* What --until waits for has come, or there is nothing more to watch. */
static bool is_until(struct pipeline *pipeline, const struct batch *batch, uint64_t begun_ns)
{
	const struct batch_until *until = &batch->until;
	struct snapshot *snapshot;
	bool come = false;

	if (batch->is_over && batch->is_over(batch->context)) {
		return true;
	}
	if (until->kind == UNTIL_TIME) {
		return clock_monotonic_ns() - begun_ns >= until->ns;
	}
	snapshot = until->kind == UNTIL_STOPPED ? NULL : pipeline_answer(pipeline, &until_focus);
	if (snapshot) {
		come = until_is_shown(until, snapshot);
		if (until->kind == UNTIL_LEARNED && !until_learns(snapshot) &&
				engine_has_learned(pipeline_engine(pipeline))) {
			fprintf(batch->err,
					"pythiatop: nothing to learn: where points stand is known "
					"from a profile\n");
			come = true;
		}
	}
	snapshot_destroy(snapshot);
	return come;
}

static int run_live(struct pipeline *pipeline, const struct batch *batch, int signals)
{
	uint64_t documents = 0, due_ns = clock_monotonic_ns() + batch->delay_ns;
	uint64_t begun_ns = clock_monotonic_ns();
	enum stop_reason stop = STOP_NOT;

	while (stop == STOP_NOT) {
		stop = work(pipeline, due_ns, signals);
		if (is_settled(pipeline)) {
			stop = check_instant(pipeline, batch->err) ? STOP_DONE : STOP_FAILED;
			if (stop == STOP_DONE) {
				stop = print(pipeline, batch, &documents);
			}
			break;
		}
		if (stop == STOP_NOT && clock_monotonic_ns() >= due_ns) {
			due_ns += batch->delay_ns;
			if (pipeline_held(pipeline)->status == HOLD_NONE) {
				stop = print(pipeline, batch, &documents);
			}
			if (stop == STOP_NOT && is_until(pipeline, batch, begun_ns)) {
				stop = STOP_DONE;
			}
		}
	}
	if (stop == STOP_FAILED) {
		return 1;
	}
	return outcome(pipeline, batch->err);
}

int batch_run(struct pipeline *pipeline, const struct batch *batch)
{
	int signals = open_signals(), code;

	if (batch->progress) {
		intake_tell_progress(pipeline_intake(pipeline));
	}
	code = intake_has_live(pipeline_intake(pipeline)) ? run_live(pipeline, batch, signals)
							  : run_recorded(pipeline, batch, signals);
	if (signals >= 0) {
		close(signals);
	}
	return code;
}

/* --- --list --- */

static void print_timer(FILE *out, uint64_t timer_us)
{
	if (timer_us) {
		fprintf(out, " %8.3g s", (double)timer_us / 1e6);
	} else {
		fprintf(out, " %10s", "not live");
	}
}

static void print_session(FILE *out, const struct source_row *row)
{
	char host[256], session[256];

	text_escape(host, sizeof(host), row->host);
	text_escape(session, sizeof(session), row->session);
	fprintf(out, "%-24s %-24s", host, session);
	print_timer(out, row->live_timer_us);
	fprintf(out, " %7u %7u  %s\n", row->n_streams, row->viewers, row->url);
}

static int print_list(const struct snapshot *snapshot, FILE *out, FILE *err)
{
	const struct sources_view *sources = &snapshot->sources;
	uint32_t i, n = 0;
	int code = 0;

	for (i = 0; i < sources->n; i++) {
		const struct source_row *row = &sources->rows[i];

		if (row->state == SOURCE_OFFERED) {
			if (n++ == 0) {
				fprintf(out, "%-24s %-24s %10s %7s %7s  %s\n", "HOST", "SESSION",
						"TIMER", "STREAMS", "VIEWERS", "URL");
			}
			print_session(out, row);
		} else if (row->is_relay && row->detail[0]) {
			fprintf(err, "pythiatop: %s\n", row->detail);
			code = row->state == SOURCE_WAITING ? code : 1;
		}
	}
	return code;
}

int batch_list(struct pipeline *pipeline, FILE *out, FILE *err)
{
	struct focus focus = {.serial = 1, .screen = SCREEN_SOURCES, .parts = FOCUS_SOURCES};
	uint64_t due_ns = clock_monotonic_ns() + LIST_NS;
	int signals = open_signals(), code = 1;
	enum stop_reason stop = STOP_NOT;
	struct snapshot *snapshot;

	while (stop == STOP_NOT && !intake_listed(pipeline_intake(pipeline)) &&
			clock_monotonic_ns() < due_ns) {
		stop = work(pipeline, due_ns, signals);
	}
	snapshot = stop == STOP_NOT ? pipeline_answer(pipeline, &focus) : NULL;
	if (snapshot) {
		code = print_list(snapshot, out, err);
	}
	snapshot_destroy(snapshot);
	if (signals >= 0) {
		close(signals);
	}
	return code;
}

/* --- --show-schema --- */

/* Looks at live sources for live_ns from the first event on, which must come in reasonable time. */
static enum stop_reason read_for(struct pipeline *pipeline, uint64_t live_ns, int signals)
{
	uint64_t due_ns = clock_monotonic_ns() + FIRST_EVENT_NS + live_ns;
	enum stop_reason stop = STOP_NOT;
	bool any = false;

	while (stop == STOP_NOT) {
		if (!any && intake_any_events(pipeline_intake(pipeline))) {
			any = true;
			due_ns = clock_monotonic_ns() + live_ns;
		}
		if (clock_monotonic_ns() >= due_ns) {
			return STOP_DONE;
		}
		stop = work(pipeline, due_ns, signals);
	}
	return stop;
}

int batch_show_schema(
		struct pipeline *pipeline, bool all, uint64_t live_ns, FILE *out, FILE *err)
{
	struct batch quiet = {.out = out, .err = err};
	int signals = open_signals(), code = 1;
	enum stop_reason stop;
	const struct schema *schema;

	stop = intake_has_live(pipeline_intake(pipeline)) ? read_for(pipeline, live_ns, signals)
							  : read_to_end(pipeline, &quiet, signals);
	schema = stop == STOP_SIGNAL ? NULL : engine_schema(pipeline_engine(pipeline), all);
	if (schema) {
		code = schema_file_write(out, schema) == STATUS_OK ? outcome(pipeline, err) : 1;
	} else {
		fprintf(err, "pythiatop: no event came, so there is no schema to show\n");
		tell_failed(pipeline, true, err);
	}
	if (signals >= 0) {
		close(signals);
	}
	return code;
}
