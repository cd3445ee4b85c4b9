/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PYTHIATOP_LOGGER_H
#define PYTHIATOP_LOGGER_H

#include <stddef.h>
#include <string.h>

/*
 * Loggers of programs that LTTng's agents trace: each is a point, called PROVIDER:LOGGER. The
 * events of all loggers of an agent are called PROVIDER:event, and tell their logger in a field.
 *
 * X(id, provider); `id` is the name that LTTng's saved sessions and constants have for the domain.
 */
#define PYTHIATOP_LOGGERS(X)                                                                       \
	X(PYTHON, "lttng_python") /* Python's logging */                                           \
	X(JUL, "lttng_jul")       /* java.util.logging */                                          \
	X(LOG4J, "lttng_log4j")   /* Apache log4j 1.2 */

enum logger_agent {
#define LOGGER_ID(id, provider) LOGGER_##id,
	PYTHIATOP_LOGGERS(LOGGER_ID)
#undef LOGGER_ID
			LOGGER_AGENTS, /* how many there are; of a point: it is no logger */
};

/* Which agent's loggers a point "PROVIDER:NAME" is one of. */
static inline enum logger_agent logger_agent_of(const char *point)
{
	static const char *const providers[] = {
#define LOGGER_PROVIDER(id, provider) provider ":",
			PYTHIATOP_LOGGERS(LOGGER_PROVIDER)
#undef LOGGER_PROVIDER
	};
	unsigned int i = 0;

	while (i < LOGGER_AGENTS && strncmp(point, providers[i], strlen(providers[i])) != 0) {
		i++;
	}
	return (enum logger_agent)i;
}

#endif
