/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>
#include <string.h>

#include "support_request.h"

void request_source_init(struct request_source *source)
{
	source->names = names_create(100000);
	source->contexts = contexts_create(100000);
	source->next_id = 1;
	pool_init(&source->pool.pool);
	assert_non_null(source->names);
	assert_non_null(source->contexts);
}

void request_source_release(struct request_source *source)
{
	names_destroy(source->names);
	contexts_destroy(source->contexts);
	pool_release(&source->pool.pool);
}

uint64_t request_source_bytes(const struct request_source *source)
{
	return source->pool.pool.in_use_bytes;
}

uint32_t request_source_context(struct request_source *source, uint32_t parent,
		const char *provider, const char *name)
{
	return contexts_add(source->contexts, parent, names_add(source->names, name, strlen(name)),
			*provider ? names_add(source->names, provider, strlen(provider)) : 0);
}

struct request *request_source_make(struct request_source *source, const char *type,
		uint64_t end_ns, uint64_t duration_ns, const uint32_t *path, uint32_t n_path)
{
	size_t size = sizeof(struct kept_request) + n_path * sizeof(*path);
	struct kept_request *kept = pool_alloc(&source->pool.pool, size);

	assert_non_null(kept);
	memset(kept, 0, size);
	if (n_path) {
		memcpy(kept->path, path, n_path * sizeof(*path));
	}
	kept->size = (uint32_t)size;
	kept->request.id = source->next_id++;
	kept->request.type = names_add(source->names, type, strlen(type));
	kept->request.end_ns = end_ns;
	kept->request.start_ns = end_ns - duration_ns;
	kept->request.n_hosts = 1;
	kept->request.path = kept->path;
	kept->request.n_path = n_path;
	kept->request.references = 1;
	kept->request.bytes = (uint32_t)size;
	return &kept->request;
}
