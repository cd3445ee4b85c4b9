/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PT_HELPER_LOGGERS_H
#define PT_HELPER_LOGGERS_H

#include <jansson.h>
#include <stdbool.h>

#include <lttng/lttng.h>

#include "pythiatop/logger.h"

/*
 * LTTng's agents (Python's logging, java.util.logging, log4j), each a domain of its own with one
 * channel, whose name LTTng prescribes. To the console their loggers are points of user space.
 */
struct logger_domain {
	enum lttng_domain_type type;
	const char *saved;    /* what saved sessions call it */
	const char *provider; /* of its points, and of its events */
	const char *channel;
};

extern const struct logger_domain logger_domains[LOGGER_AGENTS];

/* NULL: the point is no logger. */
const struct logger_domain *loggers_of(const char *point);
/* The domain that saved sessions call so; NULL: none of them. */
const struct logger_domain *loggers_saved_as(const char *type);

/* What LTTng calls the logger of a point of this domain. */
const char *loggers_name(const struct logger_domain *domain, const char *point);

bool loggers_have_field(const struct logger_domain *domain, const char *field);
/* As a point's row has them. */
json_t *loggers_fields(const struct logger_domain *domain);

/*
 * The loggers that programs have now, named as points; the caller frees them. Returns how many, or
 * a negative code of LTTng. Names that are none of a point are left out.
 */
int loggers_list(const struct logger_domain *domain, struct lttng_event **events);

/*
 * LTTng adds the logger's name to the filter of a rule: takes it off. The caller frees what is
 * left; NULL: nothing is.
 */
char *loggers_own_filter(const char *logger, const char *filter);

#endif
