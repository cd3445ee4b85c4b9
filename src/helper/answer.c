/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "helper/answer.h"

#include <inttypes.h>
#include <stdio.h>
#include <time.h>

#include <lttng/lttng.h>

#include "base/clock.h"

static const struct {
	int code;
	const char *help;
} helps[] = {
		{LTTNG_ERR_NO_SESSIOND,
				"start one with `lttng-sessiond -d`; one of root's is for members "
				"of the group tracing"},
		{LTTNG_ERR_EPERM, "become a member of the group tracing, or ask the session "
				  "daemon's owner"},
		{LTTNG_ERR_SESS_NOT_FOUND, "somebody destroyed it; create it again"},
		{LTTNG_ERR_UST_EVENT_NOT_FOUND, "is the application running that has it?"},
		{LTTNG_ERR_FILTER_INVAL, "see \"Filter expression\" in lttng-enable-event(1)"},
		{LTTNG_ERR_KERN_NA, "install lttng-modules and start the session daemon as root"},
		{LTTNG_ERR_NEED_ROOT_SESSIOND, "kernel tracing needs a session daemon of root's"},
		{LTTNG_ERR_KERN_VERSION,
				"install the lttng-modules of the session daemon's version"},
		{LTTNG_ERR_ENABLE_CONSUMER_FAIL,
				"can this host reach the relay daemon? see control.relay_url"},
		{LTTNG_ERR_RELAYD_CONNECT_FAIL,
				"can this host reach the relay daemon? see control.relay_url"},
		{LTTNG_ERR_CONNECT_FAIL,
				"can this host reach the relay daemon? see control.relay_url"},
		{LTTNG_ERR_RELAYD_VERSION_FAIL, "the relay daemon is of another version"},
		{LTTNG_ERR_SNAPSHOT_NODATA, "nothing was recorded since the last snapshot"},
};

const char *answer_help(int code)
{
	size_t i;

	for (i = 0; i < sizeof(helps) / sizeof(helps[0]); i++) {
		if (helps[i].code == -code) {
			return helps[i].help;
		}
	}
	return "";
}

static void send_line(struct answer *answer, char mark, json_t *line)
{
	if (!answer->unread && (!line || putc(mark, stdout) == EOF ||
					       json_dumpf(line, stdout, JSON_COMPACT) != 0 ||
					       putc('\n', stdout) == EOF)) {
		answer->unread = true;
	}
	json_decref(line);
}

void answer_calling(struct answer *answer)
{
	if (answer->began_ns == 0) {
		answer->began_ns = clock_monotonic_ns();
	}
}

void answer_row(struct answer *answer, const char *key, json_t *value)
{
	send_line(answer, ANSWER_ROW, json_pack("{sI so}", "id", answer->id, key, value));
	answer->rows++;
}

void answer_row_text(struct answer *answer, const char *key, const char *json)
{
	if (!answer->unread && printf("%c{\"id\":%" PRIu64 ",\"%s\":%s}\n", ANSWER_ROW,
					       (uint64_t)answer->id, key, json) < 0) {
		answer->unread = true;
	}
	answer->rows++;
}

static void send_end(struct answer *answer, char mark, json_t *line)
{
	if (line && answer->began_ns) {
		json_object_set_new(line, "began_ns", json_integer((json_int_t)answer->began_ns));
	}
	send_line(answer, mark, line);
	if (fflush(stdout) != 0) {
		answer->unread = true;
	}
}

void answer_ok(struct answer *answer, json_t *more)
{
	json_t *line = json_pack(
			"{sI sb sI}", "id", answer->id, "ok", 1, "count", (json_int_t)answer->rows);

	if (more) {
		json_object_update(line, more);
		json_decref(more);
	}
	send_end(answer, ANSWER_OK, line);
}

void answer_error(struct answer *answer, const char *error, const char *help)
{
	send_end(answer, ANSWER_FAILED,
			json_pack("{sI sb so so}", "id", answer->id, "ok", 0, "error",
					answer_text(error), "help", answer_text(help)));
}

void answer_lttng(struct answer *answer, int code)
{
	answer_error(answer, lttng_strerror(code), answer_help(code));
}

void answer_lack(struct answer *answer, const char *what, int code)
{
	answer_row(answer, "lack",
			json_pack("{so ss ss}", "what", answer_text(what), "error",
					lttng_strerror(code), "help", answer_help(code)));
}

json_t *answer_text(const char *text)
{
	json_t *json = json_string(text);

	return json ? json : json_string("(not UTF-8)");
}
