/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "control/points.h"

#include <limits.h>

#include "config/paths.h"
#include "control/client.h"
#include "pythiatop/text.h"

#define TIMEOUT_MS 15000 /* a stopped application holds a call up for five seconds */

static const char *text_of(const json_t *object, const char *key, char *safe, size_t size)
{
	const char *text = json_string_value(json_object_get(object, key));

	text_escape(safe, size, text ? text : "?");
	return safe;
}

static void print_session(void *context, const json_t *line)
{
	const json_t *session = json_object_get(line, "session");
	char name[512], output[4096];
	double timer_us = (double)json_integer_value(json_object_get(session, "live_timer_us"));

	fprintf(context, "session %-24s %-8s ", text_of(session, "name", name, sizeof(name)),
			json_is_true(json_object_get(session, "active")) ? "active" : "stopped");
	if (timer_us > 0) {
		fprintf(context, "live %.3g s  ", timer_us / 1e6);
	} else {
		fprintf(context, "not live  ");
	}
	fprintf(context, "%s\n", text_of(session, "output", output, sizeof(output)));
}

static void print_point(void *context, const json_t *line)
{
	const json_t *point = json_object_get(line, "point");
	const json_t *fields = json_object_get(point, "fields");
	char name[512], type[64];
	const json_t *field;
	size_t i;

	fprintf(context, "%-48s", text_of(point, "name", name, sizeof(name)));
	json_array_foreach(fields, i, field)
	{
		fprintf(context, "%s%s", i ? ", " : " ",
				text_of(field, "name", name, sizeof(name)));
		fprintf(context, ":%s", text_of(field, "type", type, sizeof(type)));
	}
	fputc('\n', context);
}

int points_print(FILE *out, FILE *err)
{
	char path[PATH_MAX], error[512];
	struct control_client *client;
	enum status status;

	if (!paths_sibling("pythiatop-control", path, sizeof(path))) {
		fprintf(err, "pythiatop: there is no pythiatop-control beside this program\n");
		return 1;
	}
	client = control_open(path, error, sizeof(error));
	if (!client) {
		fprintf(err, "pythiatop: %s\n", error);
		return 1;
	}
	status = control_ask(
			client, "sessions", TIMEOUT_MS, print_session, out, error, sizeof(error));
	if (status == STATUS_OK) {
		status = control_ask(client, "points", TIMEOUT_MS, print_point, out, error,
				sizeof(error));
	}
	control_close(client);
	if (status != STATUS_OK) {
		fprintf(err, "pythiatop: %s\n", error);
		return 1;
	}
	return fflush(out) == 0 ? 0 : 1;
}
