/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "live.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "graph.h"
#include "library.h"
#include "metadata.h"
#include "own.h"
#include "viewer.h"

#define ANSWER_TIMEOUT_MS 5000
#define SLEEP_MIN_NS      10000000u
#define SIGN_OF_LIFE_NS   2000000000u
#define SLEEP_MAX_NS      250000000u
#define CLEAN_UP_S        15 /* detaching and asking why may block: then the process just ends */
#define DETACH_STEPS      30 /* until a relay daemon has seen that we hung up, 100 ms each */

struct live {
	struct outlet *outlet;
	const char *url_text;
	const struct url *url;
	uint64_t sleep_ns;
	uint64_t slept_ns; /* since the last sign of life */
	bool attached, active;
	/* Of the reader before this one: what it told, and why it gave up. */
	uint32_t n_streams, n_types;
	char note[STATE_TEXT_MAX]; /* "": there was none */
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

/* All sessions of a name: those of the kernel and of user space are different ones. */
struct found {
	uint64_t ids[OWN_MAX_SESSIONS];
	uint32_t n, viewers;
};

static void find_sessions(
		const struct live *live, const struct viewer_list *list, struct found *found)
{
	*found = (struct found){0};
	for (uint32_t i = 0; i < list->n; i++) {
		const struct viewer_session *session = &list->sessions[i];

		if (session->live_timer_us != 0 && found->n < OWN_MAX_SESSIONS &&
				strcmp(session->host, live->url->host) == 0 &&
				strcmp(session->name, live->url->session) == 0) {
			found->ids[found->n++] = session->id;
			found->viewers += session->viewers;
		}
	}
}

/*
 * Whether the session is there for us. Asked before the library is, which has no timeouts, and
 * afterwards, when it failed: its own words name functions, not causes.
 */
static bool check_session(struct live *live, struct viewer *viewer, struct found *found)
{
	struct viewer_fault fault;
	struct viewer_list list;
	bool available = false;

	if (viewer_list(viewer, &list, &fault) != STATUS_OK) {
		fail(live, SOURCE_BROKEN, "%s", fault.text);
	} else {
		find_sessions(live, &list, found);
		available = found->n > 0 && found->viewers == 0;
		if (!available) {
			found->n == 0 ? fail_gone(live) : fail_busy(live);
		}
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
	struct found found;
	bool available;

	if (!connect_viewer(live, &viewer)) {
		return false;
	}
	available = check_session(live, viewer, &found);
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
	struct found found;
	size_t size;

	if (!connect_viewer(live, &viewer)) {
		return;
	}
	if (check_session(live, viewer, &found)) {
		enum status status = viewer_peek_metadata(
				viewer, found.ids[0], head, sizeof(head), &size, &viewer_fault);

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
	return outlet_state(
			live->outlet, live->active ? SOURCE_ACTIVE : SOURCE_ATTACHED, live->note);
}

static bool tell_progress(struct live *live, const struct graph *graph)
{
	if (!live->active && reader_events(graph_reader(graph)) > 0) {
		live->attached = live->active = true;
		return outlet_state(live->outlet, SOURCE_ACTIVE, live->note);
	}
	if (!live->attached) {
		live->attached = true;
		return outlet_state(live->outlet, SOURCE_ATTACHED, live->note);
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
		traces_go_on(traces, live->n_streams, live->n_types);
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

/* Attaches a session to our own reader. Takes the viewer over. */
static bool attach(struct live *live, struct own *own, struct viewer *viewer, uint64_t id)
{
	struct viewer_fault fault;
	struct viewer_streams streams;
	bool attached = false;

	switch (viewer_attach(viewer, id, &streams, &fault)) {
	case STATUS_OK:
		attached = own_add(own, viewer, id, &streams) ||
			   fail(live, SOURCE_BROKEN, "out of memory");
		viewer = NULL;
		break;
	case STATUS_BUSY:
		fail_busy(live);
		break;
	case STATUS_NOT_FOUND:
		fail_gone(live);
		break;
	default:
		fail(live, SOURCE_BROKEN, "session \"%s\" could not be read: %s",
				live->url->session, fault.text);
		break;
	}
	viewer_streams_release(&streams);
	viewer_close(viewer);
	return attached;
}

/* On the connection that is there, and on one more for each further session of the name. */
static bool attach_all(struct live *live, struct own *own, struct viewer *viewer,
		const struct found *found)
{
	if (!attach(live, own, viewer, found->ids[0])) {
		return false;
	}
	for (uint32_t i = 1; i < found->n; i++) {
		if (!connect_viewer(live, &viewer) || !attach(live, own, viewer, found->ids[i])) {
			return false;
		}
	}
	return true;
}

/* Reads without the library. Takes the viewer over. */
static enum own_end read_own(struct live *live, struct viewer *viewer, const struct found *found)
{
	struct trace_names names = {.host = live->url->host, .session = live->url->session};
	struct own *own = own_create(live->outlet, &names, live->sleep_ns);
	enum own_end end = OWN_FAILED;

	if (!own) {
		viewer_close(viewer);
		fail(live, SOURCE_BROKEN, "out of memory");
		return end;
	}
	if (attach_all(live, own, viewer, found)) {
		end = own_follow(own);
		outlet_flush_all(live->outlet);
		own_announced(own, &live->n_streams, &live->n_types);
		if (end != OWN_ENDED) {
			fail(live, end == OWN_NOT_UNDERSTOOD ? SOURCE_REFUSED : SOURCE_BROKEN,
					"session \"%s\" could not be read: %s", live->url->session,
					own_why(own));
		}
	}
	own_destroy(own);
	return end;
}

/* What our own reader does not understand. */
static bool hand_over(struct live *live)
{
	const struct timespec step = {.tv_nsec = 100000000};

	snprintf(live->note, sizeof(live->note), "read by libbabeltrace2: %.900s", live->why);
	if (!outlet_state(live->outlet, SOURCE_CONNECTING, live->note)) {
		return false;
	}
	/* The relay daemon lets nobody in before it has seen that we left. */
	for (int i = 0; i < DETACH_STEPS; i++) {
		if (is_available(live)) {
			return read_session(live);
		}
		nanosleep(&step, NULL);
	}
	return false;
}

/* The session is there. Takes the viewer over. */
static bool read_by(struct live *live, struct viewer *viewer, const struct found *found,
		enum reader_choice reader)
{
	enum own_end end;

	if (reader == READER_CHOICE_LIBRARY) {
		viewer_close(viewer);
		return read_session(live);
	}
	end = read_own(live, viewer, found);
	if (end == OWN_NOT_UNDERSTOOD && reader == READER_CHOICE_AUTO) {
		return hand_over(live);
	}
	return end == OWN_ENDED;
}

int live_read(struct outlet *outlet, const char *url_text, const struct url *url,
		uint64_t live_timer_us, enum reader_choice reader)
{
	struct live live = {
			.outlet = outlet,
			.url_text = url_text,
			.url = url,
			.sleep_ns = sleep_for(live_timer_us),
	};
	struct viewer *viewer;
	struct found found;
	bool ended = false;

	if (!outlet_state(outlet, SOURCE_CONNECTING, "")) {
		return EXIT_FAILURE;
	}
	if (connect_viewer(&live, &viewer)) {
		if (check_session(&live, viewer, &found)) {
			ended = read_by(&live, viewer, &found, reader);
		} else {
			viewer_close(viewer);
		}
	}
	if (ended) {
		return outlet_end(outlet) ? EXIT_SUCCESS : EXIT_FAILURE;
	}
	outlet_state(outlet, live.state, live.why);
	return EXIT_FAILURE;
}
