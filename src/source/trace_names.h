/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PT_SOURCE_TRACE_NAMES_H
#define PT_SOURCE_TRACE_NAMES_H

/* What the traces themselves do not tell: used where their environment says nothing. */
struct trace_names {
	const char *host, *session;
};

#endif
