/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "run/report.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/text_add.h"
#include "output/output.h"
#include "output/report.h"
#include "output/verdict.h"
#include "run/decisions.h"
#include "run/dump.h"
#include "run/exemplars.h"
#include "run/temporary.h"

#define COPY_BYTES 65536

struct report {
	struct pipeline *pipeline;
	const char *directory;     /* what it will be called */
	char temporary[PATH_MAX];  /* where it is until then */
	struct snapshot *snapshot; /* of everything */
	struct report_page page;
	struct report_exemplar exemplars[EXEMPLARS_MOST];
	char decisions[512];
};

static bool say_failed(const char *path, const char *why, char *said, size_t size)
{
	snprintf(said, size, "Cannot write %s: %s", path, why);
	return false;
}

/* --- what it is about --- */

/* The group that the report is about; 0: none is flagged. */
static uint32_t choose(const struct snapshot *snapshot, uint32_t in_focus)
{
	const struct steps_finding *verdict = output_verdict(snapshot);

	if (verdict) {
		return verdict->group_id;
	}
	if (step_finding(&snapshot->steps, in_focus)) {
		return in_focus;
	}
	if (snapshot->steps.n_findings > 0) {
		return snapshot->steps.findings[0].group_id;
	}
	for (uint32_t i = 0; i < snapshot->groups.n; i++) {
		if (snapshot->groups.rows[i].detection) {
			return snapshot->groups.rows[i].id;
		}
	}
	return in_focus;
}

/* Two snapshots: the group is known by the first one. False: out of memory. */
static bool take_snapshot(struct report *report, const struct focus *focus)
{
	struct report_page *page = &report->page;
	struct focus wanted = *focus;
	struct snapshot *first;

	wanted.parts = FOCUS_GROUPS | FOCUS_STEPS | FOCUS_THOROUGH;
	first = pipeline_answer(report->pipeline, &wanted);
	if (!first) {
		return false;
	}
	page->group_id = choose(first, focus->group_id);
	snapshot_destroy(first);
	wanted.parts = FOCUS_ALL;
	wanted.tree_of_all = true;
	wanted.group_id = page->group_id;
	wanted.request_id = wanted.compare_id = 0;
	report->snapshot = pipeline_answer(report->pipeline, &wanted);
	if (!report->snapshot) {
		return false;
	}
	page->snapshot = report->snapshot;
	page->finding = step_finding(&report->snapshot->steps, page->group_id);
	if (page->group_id && report->snapshot->group.id == page->group_id) {
		page->exemplars = report->exemplars;
		page->n_exemplars = exemplars_pick(report->pipeline, report->snapshot,
				page->finding ? page->finding->explanation : NULL,
				report->exemplars);
	}
	return true;
}

/* --- its files --- */

/* False with errno. */
static bool write_file(struct report *report, const char *name,
		bool (*fill)(struct report *report, FILE *out))
{
	char path[PATH_MAX];
	bool written;
	FILE *out;
	int error;

	if (snprintf(path, sizeof(path), "%s/%s", report->temporary, name) >= (int)sizeof(path)) {
		errno = ENAMETOOLONG;
		return false;
	}
	out = fopen(path, "wxe");
	if (!out) {
		return false;
	}
	errno = 0;
	written = fill(report, out) && fflush(out) == 0 && !ferror(out);
	error = errno ? errno : EIO;
	if (fclose(out) != 0 && written) {
		return false;
	}
	errno = error;
	return written;
}

static bool fill_json(struct report *report, FILE *out)
{
	const struct output_style style = {.format = OUTPUT_JSON};

	return output_write(out, &style, report->snapshot, true) == STATUS_OK;
}

/* A log that is replayed is the log of this run. */
static bool copy_file(const char *path, FILE *out)
{
	char bytes[COPY_BYTES];
	FILE *in = fopen(path, "re");
	bool copied = in != NULL;
	size_t got;

	while (copied && (got = fread(bytes, 1, sizeof(bytes), in)) > 0) {
		copied = fwrite(bytes, got, 1, out) == 1;
	}
	copied = copied && !ferror(in);
	if (in) {
		fclose(in);
	}
	return copied;
}

static bool fill_decisions(struct report *report, FILE *out)
{
	const struct conductor *conductor = pipeline_conductor(report->pipeline);
	const char *replayed = pipeline_replayed_log(report->pipeline);
	const struct decisions *log = conductor ? conductor_decisions(conductor) : NULL;
	uint64_t left_out, n = decisions_lines(log, &left_out);

	report->page.decisions = report->decisions;
	if (replayed) {
		snprintf(report->decisions, sizeof(report->decisions),
				"decisions.jsonl is the log that was replayed: %.400s", replayed);
		return copy_file(replayed, out);
	}
	snprintf(report->decisions, sizeof(report->decisions),
			"decisions.jsonl has the %" PRIu64 " lines of this run", n - left_out);
	if (left_out > 0) {
		snprintf(report->decisions, sizeof(report->decisions),
				"decisions.jsonl has the first %" PRIu64 " of %" PRIu64
				" lines; the others had no room in memory, --log=FILE has all",
				n - left_out, n);
	}
	return decisions_copy(log, out);
}

static bool fill_page(struct report *report, FILE *out)
{
	report_write_page(out, &report->page);
	return true;
}

static bool write_trace(struct report *report, char *said, size_t size)
{
	uint64_t ids[EXEMPLARS_MOST];
	char path[PATH_MAX];

	if (report->page.n_exemplars == 0) {
		return true;
	}
	for (uint32_t i = 0; i < report->page.n_exemplars; i++) {
		ids[i] = report->exemplars[i].request.id;
	}
	if (snprintf(path, sizeof(path), "%s/trace", report->temporary) >= (int)sizeof(path)) {
		return say_failed(report->directory, strerror(ENAMETOOLONG), said, size);
	}
	return dump_requests(report->pipeline, ids, report->page.n_exemplars, path,
			report->directory, &report->page.trace_events, said, size);
}

/* The page last: it tells of the others. */
static bool write_files(struct report *report, char *said, size_t size)
{
	if (!write_file(report, "report.json", fill_json) ||
			!write_file(report, "decisions.jsonl", fill_decisions)) {
		return say_failed(report->directory, strerror(errno), said, size);
	}
	if (!write_trace(report, said, size)) {
		return false;
	}
	if (!write_file(report, "report.md", fill_page)) {
		return say_failed(report->directory, strerror(errno), said, size);
	}
	return true;
}

/* --- its place --- */

static bool is_empty(const char *directory)
{
	DIR *entries = opendir(directory);
	struct dirent *entry;
	bool empty = entries != NULL;

	while (empty && (entry = readdir(entries))) {
		empty = strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0;
	}
	if (entries) {
		closedir(entries);
	}
	return empty;
}

/* False: something is there that is not to be touched. */
static bool is_free(const char *directory, char *said, size_t size)
{
	struct stat info;

	if (lstat(directory, &info) != 0) {
		return errno == ENOENT || say_failed(directory, strerror(errno), said, size);
	}
	if (!S_ISDIR(info.st_mode) || !is_empty(directory)) {
		return say_failed(directory,
				"it exists already; name a new directory, or an empty one", said,
				size);
	}
	return true;
}

static void say_written(const struct report *report, char *said, size_t size)
{
	const struct steps_finding *finding = report->page.finding;

	snprintf(said, size,
			"Written: %s, a report on %s, with %" PRIu64 " events of %" PRIu32
			" requests",
			report->directory,
			!finding                     ? "what is known without a search"
			: finding->rule == STOP_NONE ? "a search without a verdict so far"
						     : "the verdict",
			report->page.trace_events, report->page.n_exemplars);
}

static bool write_and_place(struct report *report, char *said, size_t size)
{
	if (!write_files(report, said, size)) {
		return false;
	}
	/* Onto an empty directory this is as good as onto nothing; onto any other it fails. */
	if (rename(report->temporary, report->directory) != 0) {
		return say_failed(report->directory, strerror(errno), said, size);
	}
	say_written(report, said, size);
	return true;
}

bool report_write(struct pipeline *pipeline, const struct focus *focus, const char *directory,
		char *said, size_t size)
{
	struct report report = {.pipeline = pipeline, .directory = directory};
	bool written;

	report.page.written_ns = clock_real_ns();
	if (!is_free(directory, said, size)) {
		return false;
	}
	if (!temporary_name(report.temporary, sizeof(report.temporary), directory, getpid())) {
		return say_failed(directory, strerror(ENAMETOOLONG), said, size);
	}
	if (mkdir(report.temporary, 0777) != 0) {
		return say_failed(directory, strerror(errno), said, size);
	}
	written = take_snapshot(&report, focus)
				  ? write_and_place(&report, said, size)
				  : say_failed(directory, "out of memory", said, size);
	snapshot_destroy(report.snapshot);
	if (!written && !temporary_remove(report.temporary)) {
		text_add(said, size, "; what was written is left, incomplete, in %s",
				report.temporary);
	}
	return written;
}
