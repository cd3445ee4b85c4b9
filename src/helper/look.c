/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "helper/look.h"

#include <stdlib.h>
#include <string.h>

#include <lttng/lttng.h>

#include "helper/answer.h"

/* An error of liblttng-ctl, with what people do about the ones they meet. */
static bool send_lttng_error(json_int_t id, int code)
{
	const char *help = "";

	switch (-code) {
	case LTTNG_ERR_NO_SESSIOND:
		help = "start one with `lttng-sessiond -d`; one of root's is for members of the "
		       "group "
		       "tracing";
		break;
	case LTTNG_ERR_EPERM:
		help = "become a member of the group tracing, or ask the session daemon's owner";
		break;
	default:
		break;
	}
	return answer_error(id, lttng_strerror(code), help);
}

/* Names come from other processes: they need not be UTF-8. */
static json_t *name_json(const char *name)
{
	json_t *json = json_string(name);

	return json ? json : json_string("(not UTF-8)");
}

bool look_sessions(json_int_t id)
{
	struct lttng_session *sessions = NULL;
	int n = lttng_list_sessions(&sessions);
	bool sent = true;
	int i;

	if (n < 0) {
		return send_lttng_error(id, n);
	}
	for (i = 0; i < n && sent; i++) {
		sent = answer_send(json_pack("{sI s{so sb sI so}}", "id", id, "session", "name",
				name_json(sessions[i].name), "active", (int)sessions[i].enabled,
				"live_timer_us", (json_int_t)sessions[i].live_timer_interval,
				"output", name_json(sessions[i].path)));
	}
	free(sessions);
	return sent && answer_ok(id, json_pack("{si}", "count", n));
}

static int by_name(const void *a, const void *b)
{
	return strcmp(((const struct lttng_event *)a)->name, ((const struct lttng_event *)b)->name);
}

static int field_by_event(const void *a, const void *b)
{
	const struct lttng_event_field *x = a, *y = b;
	int order = strcmp(x->event.name, y->event.name);

	return order ? order : x->event.pid - y->event.pid;
}

static const char *type_name(enum lttng_event_field_type type)
{
	switch (type) {
	case LTTNG_EVENT_FIELD_INTEGER:
		return "integer";
	case LTTNG_EVENT_FIELD_ENUM:
		return "enum";
	case LTTNG_EVENT_FIELD_FLOAT:
		return "float";
	case LTTNG_EVENT_FIELD_STRING:
		return "string";
	case LTTNG_EVENT_FIELD_OTHER:
	default:
		return "other";
	}
}

/* The fields of one tracepoint: rows come per process, so those of the first process are taken. */
static json_t *fields_json(const struct lttng_event_field *fields, int n, const char *event)
{
	json_t *array = json_array();
	pid_t pid = 0;
	bool found = false;
	int low = 0, high = n;

	while (low < high) {
		int middle = low + (high - low) / 2;

		if (strcmp(fields[middle].event.name, event) < 0) {
			low = middle + 1;
		} else {
			high = middle;
		}
	}
	for (; low < n && strcmp(fields[low].event.name, event) == 0; low++) {
		if (!found) {
			pid = fields[low].event.pid;
			found = true;
		}
		if (fields[low].event.pid == pid && fields[low].field_name[0] != '\0') {
			json_array_append_new(array,
					json_pack("{so ss}", "name",
							name_json(fields[low].field_name), "type",
							type_name(fields[low].type)));
		}
	}
	return array;
}

/* One line for each name; rows of one name, one a process, stand together. */
static bool send_points(json_int_t id, const struct lttng_event *events, int n,
		const struct lttng_event_field *fields, int n_fields)
{
	int count = 0;
	int i, next;

	for (i = 0; i < n; i = next) {
		for (next = i + 1; next < n && strcmp(events[i].name, events[next].name) == 0;) {
			next++;
		}
		count++;
		if (!answer_send(json_pack("{sI s{so si si so}}", "id", id, "point", "name",
				    name_json(events[i].name), "loglevel", events[i].loglevel,
				    "processes", next - i, "fields",
				    fields_json(fields, n_fields, events[i].name)))) {
			return false;
		}
	}
	return answer_ok(id, json_pack("{si}", "count", count));
}

bool look_points(json_int_t id)
{
	struct lttng_domain domain = {.type = LTTNG_DOMAIN_UST};
	struct lttng_handle *handle = lttng_create_handle(NULL, &domain);
	struct lttng_event_field *fields = NULL;
	struct lttng_event *events = NULL;
	int n, n_fields;
	bool sent;

	if (!handle) {
		return answer_error(id, "out of memory", "");
	}
	n = lttng_list_tracepoints(handle, &events);
	n_fields = n < 0 ? n : lttng_list_tracepoint_fields(handle, &fields);
	lttng_destroy_handle(handle);
	if (n < 0 || n_fields < 0) {
		sent = send_lttng_error(id, n < 0 ? n : n_fields);
	} else {
		qsort(events, (size_t)n, sizeof(*events), by_name);
		qsort(fields, (size_t)n_fields, sizeof(*fields), field_by_event);
		sent = send_points(id, events, n, fields, n_fields);
	}
	free(events);
	free(fields);
	return sent;
}
