/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "live.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "graph.h"
#include "library.h"
#include "metadata.h"
#include "viewer.h"

#define ANSWER_TIMEOUT_MS 5000
#define SLEEP_MIN_NS      10000000u
#define SIGN_OF_LIFE_NS   2000000000u
#define SLEEP_MAX_NS      250000000u
#define CLEAN_UP_S        15 /* detaching and asking why may block: then the process just ends */

struct live {
	struct outlet *outlet;
	const char *url_text;
	const struct url *url;
	uint64_t sleep_ns;
	uint64_t slept_ns; /* since the last sign of life */
	bool attached, active;
	/* Why it failed. */
	enum source_state state;
	char why[STATE_TEXT_MAX];
};

__attribute__((format(printf, 3, 4))) static bool fail(
		struct live *live, enum source_state state, const char *format, ...)
{
	va_list arguments;

	live->state = state;
	va_start(arguments, format);
	vsnprintf(live->why, sizeof(live->why), format, arguments);
	va_end(arguments);
	return false;
}

static bool fail_busy(struct live *live)
{
	return fail(live, SOURCE_BROKEN,
			"another viewer is attached to session \"%s\" of %s, and there can be only "
			"one: end the other one (babeltrace2, or another pythiatop)",
			live->url->session, live->url->host);
}

static bool fail_gone(struct live *live)
{
	char relay[URL_MAX];

	url_format_relay(live->url, relay, sizeof(relay));
	return fail(live, SOURCE_BROKEN,
			"%s has no live session \"%s\" of host \"%s\"; see: pythiatop --list %s",
			relay, live->url->session, live->url->host, relay);
}

/* Looks for the session in the list; *viewers tells of all sessions of its name together. */
static const struct viewer_session *find_session(
		const struct live *live, const struct viewer_list *list, uint32_t *viewers)
{
	const struct viewer_session *found = NULL;

	*viewers = 0;
	for (uint32_t i = 0; i < list->n; i++) {
		const struct viewer_session *session = &list->sessions[i];

		if (session->live_timer_us != 0 && strcmp(session->host, live->url->host) == 0 &&
				strcmp(session->name, live->url->session) == 0) {
			found = session;
			*viewers += session->viewers;
		}
	}
	return found;
}

/*
 * Whether the session is there for us. Asked before the library is, which has no timeouts, and
 * afterwards, when it failed: its own words name functions, not causes.
 */
static bool check_session(struct live *live, struct viewer *viewer, uint64_t *id)
{
	const struct viewer_session *session;
	struct viewer_fault fault;
	struct viewer_list list;
	uint32_t viewers;
	bool available = false;

	if (viewer_list(viewer, &list, &fault) != STATUS_OK) {
		fail(live, SOURCE_BROKEN, "%s", fault.text);
	} else if (!(session = find_session(live, &list, &viewers))) {
		fail_gone(live);
	} else if (viewers > 0) {
		fail_busy(live);
	} else {
		*id = session->id;
		available = true;
	}
	viewer_list_release(&list);
	return available;
}

static bool connect_viewer(struct live *live, struct viewer **viewer)
{
	struct viewer_fault fault;

	if (viewer_connect(viewer, live->url->relay, live->url->port, ANSWER_TIMEOUT_MS, &fault) ==
			STATUS_OK) {
		return true;
	}
	return fail(live, SOURCE_BROKEN, "%s", fault.text);
}

static bool is_available(struct live *live)
{
	struct viewer *viewer;
	uint64_t id;
	bool available;

	if (!connect_viewer(live, &viewer)) {
		return false;
	}
	available = check_session(live, viewer, &id);
	viewer_close(viewer);
	return available;
}

/* The library could not read the session: finds out why, if there is a better reason than its own.
 */
static void diagnose(struct live *live, const struct fault *fault)
{
	unsigned char head[METADATA_HEAD_BYTES];
	struct viewer_fault viewer_fault;
	struct viewer *viewer;
	uint64_t id;
	size_t size;

	if (!connect_viewer(live, &viewer)) {
		return;
	}
	if (check_session(live, viewer, &id)) {
		enum status status = viewer_peek_metadata(
				viewer, id, head, sizeof(head), &size, &viewer_fault);

		if (status == STATUS_BUSY) {
			fail_busy(live);
		} else if (status == STATUS_NOT_FOUND) {
			fail_gone(live);
		} else if (status == STATUS_OK && !library_knows_ctf_2() &&
				metadata_format_of(head, size) == METADATA_CTF_2) {
			fail(live, SOURCE_REFUSED,
					"session \"%s\" is traced in CTF 2, which this babeltrace2 "
					"cannot read; recreate it with lttng create "
					"--trace-format=ctf-1.8 --live",
					live->url->session);
		} else {
			fail(live, SOURCE_BROKEN, "session \"%s\" could not be read: %s",
					live->url->session, fault->text);
		}
	}
	viewer_close(viewer);
}

static bt_value *make_parameters(const char *url)
{
	bt_value *parameters = bt_value_map_create(), *inputs = bt_value_array_create();

	if (!parameters || !inputs ||
			bt_value_array_append_string_element(inputs, url) !=
					BT_VALUE_ARRAY_APPEND_ELEMENT_STATUS_OK ||
			bt_value_map_insert_entry(parameters, "inputs", inputs) !=
					BT_VALUE_MAP_INSERT_ENTRY_STATUS_OK ||
			bt_value_map_insert_string_entry(parameters, "session-not-found-action",
					"end") != BT_VALUE_MAP_INSERT_ENTRY_STATUS_OK) {
		bt_value_put_ref(parameters);
		parameters = NULL;
	}
	bt_value_put_ref(inputs);
	return parameters;
}

/*
 * Nothing to read now: everything that is final goes out, then a short sleep, longer where nobody
 * would look at what comes. Now and then the state is told again, so that the console can tell an
 * idle session from a reader that hangs.
 */
static bool rest(struct live *live, const struct graph *graph, const struct traces *traces)
{
	uint64_t latest_ns = reader_latest_ns(graph_reader(graph));
	uint64_t spread_ns = traces_clock_spread(traces);

	/* All streams have been asked: what may still come is later than what has come. */
	outlet_flush(live->outlet, latest_ns > spread_ns ? latest_ns - spread_ns : 0);
	live->slept_ns += outlet_sleep(live->outlet, live->sleep_ns);
	if (live->slept_ns < SIGN_OF_LIFE_NS) {
		return true;
	}
	live->slept_ns = 0;
	return outlet_state(live->outlet, live->active ? SOURCE_ACTIVE : SOURCE_ATTACHED, "");
}

static bool tell_progress(struct live *live, const struct graph *graph)
{
	if (!live->active && reader_events(graph_reader(graph)) > 0) {
		live->attached = live->active = true;
		return outlet_state(live->outlet, SOURCE_ACTIVE, "");
	}
	if (!live->attached) {
		live->attached = true;
		return outlet_state(live->outlet, SOURCE_ATTACHED, "");
	}
	return true;
}

/* Runs the graph to its end. False with live->why set if it failed; "" if the console is gone. */
static bool follow(struct live *live, struct graph *graph, const struct traces *traces,
		struct fault *fault)
{
	const struct fault *input_fault;
	uint32_t n_failed;

	for (;;) {
		enum reader_step step = graph_run(graph, fault);

		input_fault = reader_fault(graph_reader(graph), &n_failed);
		if (step == READER_ERROR || n_failed > 0) {
			if (n_failed > 0) {
				*fault = *input_fault;
			}
			return false;
		}
		if (step == READER_END) {
			return true;
		}
		if (!tell_progress(live, graph) ||
				(step == READER_AGAIN && !rest(live, graph, traces))) {
			fault->text[0] = '\0';
			return false;
		}
	}
}

static bool read_session(struct live *live)
{
	struct trace_names names = {.host = live->url->host, .session = live->url->session};
	struct traces *traces = traces_create(live->outlet, &names);
	bt_value *parameters = make_parameters(live->url_text);
	struct fault fault = {.text = "out of memory"};
	struct graph *graph = NULL;
	bool ended = false;

	if (traces && parameters) {
		graph = graph_create("lttng-live", parameters, live->outlet, traces, &fault);
	}
	if (graph) {
		ended = follow(live, graph, traces, &fault);
	}
	outlet_flush_all(live->outlet);
	if (!ended) {
		fail(live, SOURCE_BROKEN, "session \"%s\" could not be read: %s",
				live->url->session, fault.text);
	}
	/* From here on the network may block again. What has come is out already. */
	alarm(CLEAN_UP_S);
	graph_destroy(graph);
	traces_destroy(traces);
	bt_value_put_ref(parameters);
	if (!ended && fault.text[0]) {
		diagnose(live, &fault);
	}
	return ended;
}

static uint64_t sleep_for(uint64_t live_timer_us)
{
	/* Each look is a few messages to and fro; what it can miss is half a timer's worth. */
	uint64_t sleep_ns = live_timer_us * 1000 / 2;

	if (live_timer_us > SLEEP_MAX_NS || sleep_ns > SLEEP_MAX_NS) {
		return SLEEP_MAX_NS;
	}
	return sleep_ns < SLEEP_MIN_NS ? SLEEP_MIN_NS : sleep_ns;
}

int live_read(struct outlet *outlet, const char *url_text, const struct url *url,
		uint64_t live_timer_us)
{
	struct live live = {
			.outlet = outlet,
			.url_text = url_text,
			.url = url,
			.sleep_ns = sleep_for(live_timer_us),
	};

	if (!outlet_state(outlet, SOURCE_CONNECTING, "")) {
		return EXIT_FAILURE;
	}
	if (is_available(&live) && read_session(&live)) {
		return outlet_end(outlet) ? EXIT_SUCCESS : EXIT_FAILURE;
	}
	outlet_state(outlet, live.state, live.why);
	return EXIT_FAILURE;
}
