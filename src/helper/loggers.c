/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "helper/loggers.h"

#include <stdio.h>
#include <stdlib.h>

#include "helper/check.h"

static const char *const python_texts[] = {
		"asctime", "msg", "logger_name", "funcName", "threadName", NULL};
static const char *const python_integers[] = {"lineno", "int_loglevel", "thread", NULL};
static const char *const jul_texts[] = {"msg", "logger_name", "class_name", "method_name", NULL};
static const char *const jul_integers[] = {"long_millis", "int_loglevel", "int_threadid", NULL};
static const char *const log4j_texts[] = {"msg", "logger_name", "class_name", "method_name",
		"filename", "line_number", "thread_name", NULL};
static const char *const log4j_integers[] = {"timestamp", "int_loglevel", NULL};

const struct logger_domain logger_domains[LOGGER_AGENTS] = {
#define DOMAIN(id, of)                                                                             \
	[LOGGER_##id] = {.type = LTTNG_DOMAIN_##id,                                                \
			.saved = #id,                                                              \
			.provider = of,                                                            \
			.channel = of "_channel"},
		PYTHIATOP_LOGGERS(DOMAIN)
#undef DOMAIN
};

static const struct {
	const char *const *texts, *const *integers;
} fields_of[LOGGER_AGENTS] = {
		[LOGGER_PYTHON] = {python_texts, python_integers},
		[LOGGER_JUL] = {jul_texts, jul_integers},
		[LOGGER_LOG4J] = {log4j_texts, log4j_integers},
};

const struct logger_domain *loggers_of(const char *point)
{
	enum logger_agent agent = logger_agent_of(point);

	return agent < LOGGER_AGENTS ? &logger_domains[agent] : NULL;
}

const struct logger_domain *loggers_saved_as(const char *type)
{
	for (size_t i = 0; i < LOGGER_AGENTS; i++) {
		if (strcmp(logger_domains[i].saved, type) == 0) {
			return &logger_domains[i];
		}
	}
	return NULL;
}

const char *loggers_name(const struct logger_domain *domain, const char *point)
{
	return point + strlen(domain->provider) + 1;
}

static bool is_in(const char *const *fields, const char *field)
{
	while (*fields && strcmp(*fields, field) != 0) {
		fields++;
	}
	return *fields != NULL;
}

bool loggers_have_field(const struct logger_domain *domain, const char *field)
{
	size_t at = (size_t)(domain - logger_domains);

	return is_in(fields_of[at].texts, field) || is_in(fields_of[at].integers, field);
}

static void add_fields(json_t *array, const char *const *fields, const char *type)
{
	for (; *fields; fields++) {
		json_array_append_new(array, json_pack("{ss ss}", "name", *fields, "type", type));
	}
}

json_t *loggers_fields(const struct logger_domain *domain)
{
	size_t at = (size_t)(domain - logger_domains);
	json_t *array = json_array();

	add_fields(array, fields_of[at].texts, "string");
	add_fields(array, fields_of[at].integers, "integer");
	return array;
}

/* False: it does not fit, or has a character that no point's name has. */
static bool name_as_point(const struct logger_domain *domain, struct lttng_event *event)
{
	char name[CHECK_NAME_BYTES];
	int length = snprintf(name, sizeof(name), "%s:%s", domain->provider, event->name);

	if (length < 0 || (size_t)length >= sizeof(name) || event->name[0] == '\0' ||
			check_point(name) != NULL) {
		return false;
	}
	memcpy(event->name, name, (size_t)length + 1);
	return true;
}

int loggers_list(const struct logger_domain *domain, struct lttng_event **events)
{
	struct lttng_domain of = {.type = domain->type};
	struct lttng_handle *handle = lttng_create_handle(NULL, &of);
	int n, kept = 0;

	*events = NULL;
	if (!handle) {
		return -LTTNG_ERR_NOMEM;
	}
	n = lttng_list_tracepoints(handle, events);
	lttng_destroy_handle(handle);
	for (int i = 0; i < n; i++) {
		struct lttng_event event = (*events)[i];

		if (name_as_point(domain, &event)) {
			(*events)[kept++] = event;
		}
	}
	return n < 0 ? n : kept;
}

char *loggers_own_filter(const char *logger, const char *filter)
{
	char own[CHECK_NAME_BYTES + 32];
	size_t length = strlen(filter), tail;

	snprintf(own, sizeof(own), "logger_name == \"%s\"", logger);
	if (strcmp(filter, own) == 0) {
		return NULL;
	}
	snprintf(own, sizeof(own), ") && (logger_name == \"%s\")", logger);
	tail = strlen(own);
	if (filter[0] == '(' && length > tail + 1 && strcmp(filter + length - tail, own) == 0) {
		return strndup(filter + 1, length - tail - 1);
	}
	return strdup(filter);
}
