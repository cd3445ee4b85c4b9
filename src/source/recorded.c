/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "recorded.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "files.h"
#include "graph.h"
#include "library.h"
#include "metadata.h"

#define PROGRESS_STEPS  200
#define RECORDS_PER_RUN 2048

struct recording {
	struct outlet *outlet;
	bool tell_progress;
	enum reader_choice reader;
	struct traces *traces;
	struct graph *graph;
	char path[PATH_MAX];
	char session[NAME_MAX + 1];
	uint64_t stream_bytes;        /* of all stream files */
	uint64_t begin_ns, end_ns;    /* of all streams; equal if not known */
	uint64_t reported;            /* progress, in steps */
	char refusal[STATE_TEXT_MAX]; /* why it cannot be read, or not to its end */
	char remark[STATE_TEXT_MAX];  /* what is odd about it otherwise */
};

__attribute__((format(printf, 2, 3))) static void remark(
		struct recording *recording, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(recording->remark, sizeof(recording->remark), format, arguments);
	va_end(arguments);
}

__attribute__((format(printf, 2, 3))) static bool refuse(
		struct recording *recording, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(recording->refusal, sizeof(recording->refusal), format, arguments);
	va_end(arguments);
	return false;
}

/*
 * The session's name for traces that do not carry it: the directory's, without what LTTng puts
 * below a session's (kernel, ust/uid/1000/64-bit, ust/pid/name-pid-date).
 */
static void name_session(struct recording *recording)
{
	char path[PATH_MAX + 1];
	char *ust, *base;

	snprintf(path, sizeof(path), "%s/", recording->path);
	ust = strstr(path, "/ust/");
	if (ust && ust != path) {
		*ust = '\0';
	} else {
		path[strlen(path) - 1] = '\0';
		base = strrchr(path, '/');
		if (base && base != path && strcmp(base, "/kernel") == 0) {
			*base = '\0';
		}
	}
	base = strrchr(path, '/');
	snprintf(recording->session, sizeof(recording->session), "%.*s", NAME_MAX,
			base ? base + 1 : path);
}

/* What the library cannot read our own reader does, unless the library is asked for. */
static bool suits_ctf_2(struct recording *recording)
{
	if (library_knows_ctf_2()) {
		return true;
	}
	if (recording->reader == READER_CHOICE_LIBRARY) {
		return refuse(recording,
				"%s is in CTF 2, which this babeltrace2 cannot read; leave it to "
				"--reader=auto",
				recording->path);
	}
	recording->reader = READER_CHOICE_OWN;
	return true;
}

static bool check_metadata(struct recording *recording)
{
	char path[PATH_MAX + 16];
	unsigned char head[METADATA_HEAD_BYTES];
	uint32_t have = 0, need = 0;
	bool is_cut_off;
	ssize_t size;
	int fd;

	snprintf(path, sizeof(path), "%s/metadata", recording->path);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0) {
		if (errno == ENOENT) {
			return refuse(recording,
					"no trace in %s: there is no file \"metadata\" in it; name "
					"a directory that has one, or one above such directories",
					recording->path);
		}
		return refuse(recording, "cannot open %s: %s", path, strerror(errno));
	}
	size = read(fd, head, sizeof(head));
	if (size < 0) {
		refuse(recording, "cannot read %s: %s", path, strerror(errno));
		close(fd);
		return false;
	}
	is_cut_off = metadata_is_cut_off(fd, &have, &need);
	close(fd);
	if (is_cut_off) {
		return refuse(recording,
				"%s is cut off: %u of the %u bytes of its last packet are there; "
				"copy the recording again, after lttng stop",
				path, have, need);
	}
	switch (metadata_format_of(head, (size_t)size)) {
	case METADATA_CTF_1:
		return true;
	case METADATA_CTF_2:
		return suits_ctf_2(recording);
	case METADATA_EMPTY:
		return refuse(recording, "%s is empty: the recording has no description", path);
	default:
		return refuse(recording, "%s is not the metadata of a CTF trace", path);
	}
}

/* Sums the sizes of the stream files: all files but metadata and hidden ones, as CTF says. */
static bool measure(struct recording *recording)
{
	DIR *directory = opendir(recording->path);
	const struct dirent *entry;

	if (!directory) {
		return refuse(recording, "cannot open %s: %s", recording->path, strerror(errno));
	}
	while ((entry = readdir(directory))) {
		struct stat info;

		if (entry->d_name[0] == '.' || strcmp(entry->d_name, "metadata") == 0 ||
				fstatat(dirfd(directory), entry->d_name, &info, 0) != 0 ||
				!S_ISREG(info.st_mode)) {
			continue;
		}
		if (faccessat(dirfd(directory), entry->d_name, R_OK, AT_EACCESS) != 0) {
			refuse(recording, "cannot read %s/%s: %s", recording->path, entry->d_name,
					strerror(errno));
			closedir(directory);
			return false;
		}
		recording->stream_bytes += (uint64_t)info.st_size;
	}
	closedir(directory);
	return true;
}

static bool check(struct recording *recording, const char *directory)
{
	if (!realpath(directory, recording->path)) {
		return refuse(recording, "cannot open %s: %s", directory, strerror(errno));
	}
	name_session(recording);
	return measure(recording) && check_metadata(recording);
}

static bt_value *make_parameters(const char *path)
{
	bt_value *parameters = bt_value_map_create(), *inputs = bt_value_array_create();

	if (!parameters || !inputs ||
			bt_value_array_append_string_element(inputs, path) !=
					BT_VALUE_ARRAY_APPEND_ELEMENT_STATUS_OK ||
			bt_value_map_insert_entry(parameters, "inputs", inputs) !=
					BT_VALUE_MAP_INSERT_ENTRY_STATUS_OK) {
		bt_value_put_ref(parameters);
		parameters = NULL;
	}
	bt_value_put_ref(inputs);
	return parameters;
}

static int64_t integer_of(const bt_value *map, const char *name, int64_t otherwise)
{
	const bt_value *value = bt_value_map_borrow_entry_value_const(map, name);

	return value && bt_value_is_signed_integer(value) ? bt_value_integer_signed_get(value)
							  : otherwise;
}

static void note_ranges(struct recording *recording, const bt_value *trace)
{
	const bt_value *streams = bt_value_map_borrow_entry_value_const(trace, "stream-infos");
	uint64_t n = streams && bt_value_is_array(streams) ? bt_value_array_get_length(streams) : 0;

	for (uint64_t i = 0; i < n; i++) {
		const bt_value *range = bt_value_map_borrow_entry_value_const(
				bt_value_array_borrow_element_by_index_const(streams, i),
				"range-ns");
		int64_t begin, end;

		if (!range || !bt_value_is_map(range)) {
			continue;
		}
		begin = integer_of(range, "begin", 0);
		end = integer_of(range, "end", 0);
		if (begin <= 0 || end < begin) {
			continue;
		}
		if (recording->begin_ns == 0 || (uint64_t)begin < recording->begin_ns) {
			recording->begin_ns = (uint64_t)begin;
		}
		if ((uint64_t)end > recording->end_ns) {
			recording->end_ns = (uint64_t)end;
		}
	}
}

/*
 * Asks the component class when the recording begins and ends: for the progress, and to know a
 * corrupt time. Only once the trace has been opened: babeltrace2 2.0.4 aborts when asked about one that it cannot open.
 */
static void ask_range(struct recording *recording, const bt_value *parameters)
{
	const bt_plugin *plugin = NULL;
	const bt_component_class_source *class;
	const bt_value *traces = NULL;
	bt_query_executor *executor;

	if (bt_plugin_find("ctf", BT_TRUE, BT_FALSE, BT_TRUE, BT_TRUE, BT_FALSE, &plugin) !=
			BT_PLUGIN_FIND_STATUS_OK) {
		bt_current_thread_clear_error();
		return;
	}
	class = bt_plugin_borrow_source_component_class_by_name_const(plugin, "fs");
	executor = bt_query_executor_create(
			bt_component_class_source_as_component_class_const(class),
			"babeltrace.trace-infos", parameters);
	if (executor && bt_query_executor_query(executor, &traces) ==
					BT_QUERY_EXECUTOR_QUERY_STATUS_OK) {
		for (uint64_t i = 0; i < bt_value_array_get_length(traces); i++) {
			note_ranges(recording,
					bt_value_array_borrow_element_by_index_const(traces, i));
		}
	} else {
		bt_current_thread_clear_error();
	}
	bt_value_put_ref(traces);
	bt_query_executor_put_ref(executor);
	bt_plugin_put_ref(plugin);
}

/*
 * How far reading has come. The library does not tell where in the files it is, so bytes are taken
 * to be spread evenly over the recording's time.
 */
static bool report_progress(struct recording *recording, uint64_t latest_ns)
{
	uint64_t span = recording->end_ns - recording->begin_ns, steps;

	if (!recording->tell_progress || span < PROGRESS_STEPS || latest_ns < recording->begin_ns) {
		return true;
	}
	steps = (latest_ns - recording->begin_ns) / (span / PROGRESS_STEPS);
	if (steps <= recording->reported || steps >= PROGRESS_STEPS) {
		return true;
	}
	recording->reported = steps;
	return outlet_progress(recording->outlet,
			(uint64_t)((double)recording->stream_bytes * (double)steps /
					PROGRESS_STEPS),
			recording->stream_bytes);
}

struct result {
	uint64_t events;
	uint32_t n_failed, n_timeless; /* streams */
	const char *fault;             /* of the first that failed */
};

/* What is to be said of a trace that was read to its end, or as far as it goes. */
static void judge(struct recording *recording, const struct result *result)
{
	uint32_t n_failed = result->n_failed, n_timeless = result->n_timeless;

	if (n_failed > 0) {
		refuse(recording,
				"%s is damaged: %u of its stream files could not be read to the "
				"end, so there are only %llu events (%s)",
				recording->path, n_failed, (unsigned long long)result->events,
				result->fault);
	} else if (n_timeless > 0) {
		refuse(recording,
				"%s has %u stream(s) without a clock: their events have no times "
				"and cannot be used",
				recording->path, n_timeless);
	} else if (outlet_clamped(recording->outlet) > 0) {
		remark(recording,
				"time runs backwards in %s: %llu events are shown later than they "
				"were",
				recording->path,
				(unsigned long long)outlet_clamped(recording->outlet));
	}
}

static struct result library_result(const struct recording *recording)
{
	const struct reader *reader = graph_reader(recording->graph);
	struct result result = {.events = reader_events(reader),
			.n_timeless = traces_without_clock(recording->traces)};

	result.fault = reader_fault(reader, &result.n_failed)->text;
	return result;
}

/* Adds the line of the metadata that is at fault, where it is known. */
static void add_line(const struct recording *recording, struct fault *fault)
{
	size_t length = strlen(fault->text);
	char path[PATH_MAX + 16], found[128];
	int fd;

	snprintf(path, sizeof(path), "%s/metadata", recording->path);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0) {
		return;
	}
	metadata_find_fault(fd, found, sizeof(found));
	close(fd);
	if (found[0]) {
		snprintf(fault->text + length, sizeof(fault->text) - length, " (%s)", found);
	}
}

static void refuse_for(struct recording *recording, struct fault *fault)
{
	if (fault->is_metadata) {
		add_line(recording, fault);
	}
	if (fault->text[0] == '/') {
		refuse(recording, "cannot read %s", fault->text);
	} else {
		refuse(recording, "cannot read the trace %s: %s", recording->path, fault->text);
	}
}

/* False if the console is gone. */
static bool read_all(struct recording *recording)
{
	struct fault fault = {.text = ""};
	enum reader_step step = READER_MORE;

	while (step == READER_MORE) {
		step = graph_run(recording->graph, &fault);
		if (!report_progress(recording, reader_latest_ns(graph_reader(recording->graph)))) {
			return false;
		}
	}
	if (step == READER_ERROR && fault.text[0]) {
		refuse_for(recording, &fault);
	} else {
		const struct result result = library_result(recording);

		judge(recording, &result);
	}
	return step != READER_ERROR || recording->refusal[0];
}

static bool open_and_read(struct recording *recording, const bt_value *parameters)
{
	struct fault fault = {.text = ""};

	recording->graph = graph_create(
			"fs", parameters, recording->outlet, recording->traces, &fault);
	if (!recording->graph) {
		refuse_for(recording, &fault);
		return true;
	}
	ask_range(recording, parameters);
	if (recording->end_ns > 0) {
		graph_expect(recording->graph, recording->begin_ns, recording->end_ns);
	}
	return outlet_state(recording->outlet, SOURCE_ACTIVE, "") && read_all(recording);
}

static bool read_by_library(struct recording *recording, const struct trace_names *names)
{
	bt_value *parameters = make_parameters(recording->path);
	bool alive = false;

	recording->traces = traces_create(recording->outlet, names);
	if (recording->traces && parameters &&
			outlet_progress(recording->outlet, 0, recording->stream_bytes)) {
		alive = open_and_read(recording, parameters);
	}
	bt_value_put_ref(parameters);
	return alive;
}

/* False if the console is gone. */
static bool run_packets(struct recording *recording, struct packets *packets, struct files *files)
{
	struct result result;
	struct files_fault fault;
	enum packets_step step;

	do {
		if (!files_give(files, &fault)) {
			refuse(recording, "cannot read %s", fault.text);
			return true;
		}
		step = packets_run(packets, RECORDS_PER_RUN);
	} while (step == PACKETS_MORE || step == PACKETS_WAIT);
	result.events = packets_events(packets);
	result.n_timeless = packets_without_clock(packets);
	result.fault = packets_fault(packets, &result.n_failed);
	judge(recording, &result);
	return step != PACKETS_ERROR;
}

/* Without the library. */
static bool read_by_packets(struct recording *recording, const struct trace_names *names)
{
	struct packets *packets = packets_create(recording->outlet, names);
	struct files_fault fault = {.text = ""};
	struct files *files = packets ? files_open(packets, recording->path, &fault) : NULL;
	bool alive = false;

	if (files) {
		alive = outlet_state(recording->outlet, SOURCE_ACTIVE, "") &&
			run_packets(recording, packets, files);
	} else if (fault.text[0]) {
		refuse(recording, "cannot read the trace %s: %s", recording->path, fault.text);
		alive = true;
	}
	files_close(files);
	packets_destroy(packets);
	return alive;
}

static bool read_recording(struct recording *recording)
{
	struct trace_names names = {.host = "", .session = recording->session};

	if (recording->reader == READER_CHOICE_OWN) {
		return outlet_progress(recording->outlet, 0, recording->stream_bytes) &&
		       read_by_packets(recording, &names);
	}
	return read_by_library(recording, &names);
}

/* The last words. False if the console is gone. */
static bool say_end(struct recording *recording)
{
	struct outlet *outlet = recording->outlet;

	return outlet_progress(outlet, recording->stream_bytes, recording->stream_bytes) &&
	       outlet_state(outlet, SOURCE_ENDED, recording->remark) && outlet_end(outlet);
}

int recorded_read(struct outlet *outlet, const char *directory, bool tell_progress,
		enum reader_choice reader)
{
	struct recording *recording = calloc(1, sizeof(*recording));
	bool alive = true, refused;

	if (!recording) {
		return EXIT_FAILURE;
	}
	recording->outlet = outlet;
	recording->tell_progress = tell_progress;
	recording->reader = reader;
	if (check(recording, directory)) {
		alive = read_recording(recording);
	}
	refused = recording->refusal[0] != '\0';
	outlet_flush_all(outlet);
	if (refused) {
		outlet_state(outlet, SOURCE_REFUSED, recording->refusal);
	} else {
		alive = alive && say_end(recording);
	}
	/* Only now: nobody needs to wait for what is tidied up here. */
	graph_destroy(recording->graph);
	traces_destroy(recording->traces);
	free(recording);
	return alive && !refused ? EXIT_SUCCESS : EXIT_FAILURE;
}
