/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PT_TESTS_SUPPORT_REQUEST_H
#define PT_TESTS_SUPPORT_REQUEST_H

#include <stdint.h>

#include "base/names.h"
#include "requests/contexts.h"
#include "requests/kept.h"

/* Finished requests without the events they would be made of. */
struct request_source {
	struct names *names;
	struct contexts *contexts;
	struct request_pool pool;
	uint64_t next_id;
};

void request_source_init(struct request_source *source);
void request_source_release(struct request_source *source);

/* Requests that nobody dropped so far, in bytes of the pool. */
uint64_t request_source_bytes(const struct request_source *source);

/* A context below another: "provider:name". Provider "" for a kernel's. */
uint32_t request_source_context(struct request_source *source, uint32_t parent,
		const char *provider, const char *name);

/* A complete request with one reference, the caller's. The path is copied, and must ascend. */
struct request *request_source_make(struct request_source *source, const char *type,
		uint64_t end_ns, uint64_t duration_ns, const uint32_t *path, uint32_t n_path);

#endif
