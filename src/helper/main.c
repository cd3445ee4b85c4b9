/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * pythiatop-control: what pythiatop wants to know of the tracer on a host, asked and answered in
 * JSON lines (helper/answer.h). A process of its own, because liblttng-ctl blocks, knows one
 * connection a process, and needs tracing rights that the console does not.
 */
#include <errno.h>
#include <jansson.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "helper/answer.h"
#include "helper/look.h"

static bool say_hello(json_int_t id)
{
	const struct passwd *user = getpwuid(geteuid());
	char host[256] = "";

	gethostname(host, sizeof(host) - 1);
	return answer_ok(id, json_pack("{si ss ss ss si}", "protocol", CONTROL_PROTOCOL, "version",
					     PT_VERSION, "host", host, "user",
					     user ? user->pw_name : "", "pid", (int)getpid()));
}

static const struct verb {
	const char *name;
	bool (*run)(json_int_t id);
} verbs[] = {
		{"hello", say_hello},
		{"sessions", look_sessions},
		{"points", look_points},
};

static bool answer_line(const char *text, size_t length)
{
	json_error_t error;
	json_t *request = json_loadb(text, length, JSON_REJECT_DUPLICATES, &error);
	const char *verb;
	json_int_t id;
	size_t i;
	bool sent;

	if (!json_is_object(request)) {
		sent = answer_error(0, request ? "a request is a JSON object" : error.text,
				"send {\"id\":1,\"do\":\"hello\"}");
		json_decref(request);
		return sent;
	}
	id = json_integer_value(json_object_get(request, "id"));
	verb = json_string_value(json_object_get(request, "do"));
	for (i = 0; i < sizeof(verbs) / sizeof(verbs[0]); i++) {
		if (verb && strcmp(verb, verbs[i].name) == 0) {
			sent = verbs[i].run(id);
			json_decref(request);
			return sent;
		}
	}
	json_decref(request);
	return answer_error(id, "unknown request", "\"do\" is one of hello, sessions, points");
}

/*
 * Reads a line into `line`. Returns its length without the end; -1 at the end of the input, -2
 * where it was longer than there is room for (all of it has been read).
 */
static long read_line(char *line, size_t size)
{
	size_t length = 0;
	bool too_long = false;
	int c;

	while ((c = getc_unlocked(stdin)) != EOF && c != '\n') {
		if (length < size) {
			line[length++] = (char)c;
		} else {
			too_long = true;
		}
	}
	if (c == EOF && length == 0) {
		return -1;
	}
	return too_long ? -2 : (long)length;
}

int main(int argc, char **argv)
{
	bool goes_on = true;
	char *line;
	long length;

	if (argc > 1) {
		printf("pythiatop-control %s: answers JSON lines on standard input; pythiatop "
		       "starts it\n",
				PT_VERSION);
		return strcmp(argv[1], "--version") == 0 || strcmp(argv[1], "--help") == 0 ? 0 : 2;
	}
	line = malloc(CONTROL_MAX_LINE);
	if (!line) {
		fprintf(stderr, "pythiatop-control: %s\n", strerror(errno));
		return 1;
	}
	while (goes_on && (length = read_line(line, CONTROL_MAX_LINE)) != -1) {
		goes_on = length == -2 ? answer_error(0, "a line is longer than 1 MiB",
							 "send shorter requests")
				       : answer_line(line, (size_t)length);
	}
	free(line);
	return 0;
}
