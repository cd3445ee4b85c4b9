/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "helper/worker.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "helper/lines.h"

static const struct verb {
	const char *name;
	worker_verb *run;
	bool changes;
} verbs[] = {
		{"sessions", list_sessions, false},
		{"points", list_points, false},
		{"channels", list_channels, false},
		{"create", session_create, true},
		{"enable", change_enable, true},
		{"disable", change_disable, true},
		{"check", change_check, true},
		{"check_learn", learn_check, true},
		{"learn", learn_begin, true},
		{"learned", learn_end, true},
		{"snapshot", session_snapshot, true},
		{"destroy", session_destroy, true},
		{WORKER_UNDO, session_destroy, false},
		{WORKER_SWEEP, session_sweep, false},
};

static void answer_request(
		const struct helper *helper, struct answer *answer, const json_t *request)
{
	const char *name = json_string_value(json_object_get(request, "do"));
	size_t i;

	answer->id = json_integer_value(json_object_get(request, "id"));
	for (i = 0; i < sizeof(verbs) / sizeof(verbs[0]); i++) {
		if (!name || strcmp(name, verbs[i].name) != 0) {
			continue;
		}
		if (verbs[i].changes && helper->rights.read_only) {
			answer_error(answer, "this host is read-only",
					"control.read_only in its control.conf says so");
		} else {
			verbs[i].run(helper, answer, request);
		}
		return;
	}
	answer_error(answer, "unknown request",
			"\"do\" is one of hello, renew, give_up, sessions, points, channels, "
			"create, "
			"enable, disable, check, check_learn, learn, learned, snapshot, destroy");
}

/* The guardian checked already that it is a request. False: nobody reads answers any more. */
static bool answer_line(const struct helper *helper, const char *text, size_t length)
{
	json_t *request = json_loadb(text, length, 0, NULL);
	struct answer answer = {0};

	answer_request(helper, &answer, request);
	json_decref(request);
	return !answer.unread;
}

/* All that is complete. False: nobody reads answers any more. */
static bool answer_lines(const struct helper *helper, struct line_in *in)
{
	char *text;
	size_t length;
	enum line line;

	while ((line = line_in_next(in, &text, &length)) != LINE_NONE) {
		if (line == LINE_WHOLE && length > 0 && !answer_line(helper, text, length)) {
			return false;
		}
	}
	return true;
}

/* The guardian is gone, or has stopped: nobody else will. The probe ends then by itself. */
static void undo(const struct helper *helper)
{
	struct answer nobody = {.unread = true};

	if (session_end(&nobody, helper->owner.session) == 0 &&
			session_end(&nobody, helper->owner.flight) == 0) {
		owner_remove(&helper->owner);
	}
}

int worker_run(const struct helper *helper)
{
	struct pollfd input = {.fd = STDIN_FILENO, .events = POLLIN};
	struct line_in in;
	bool goes_on = line_in_init(&in, CONTROL_MAX_LINE);

	while (goes_on) {
		int ready = poll(&input, 1, CONTROL_LEASE_MS);
		enum status status;

		if (ready < 0 && errno == EINTR) {
			continue;
		}
		status = ready > 0 ? line_in_read(&in, STDIN_FILENO) : STATUS_TIMEOUT;
		goes_on = status == STATUS_NOT_YET ||
			  (status == STATUS_OK && answer_lines(helper, &in));
	}
	undo(helper);
	helper_scratch_remove(helper, getpid());
	line_in_release(&in);
	return 0;
}
