/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The api: what clients talk to. It checks who asks and for what, keeps records, and has the other
 * services do the work. Its nine request types are the roots of all requests.
 */
#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "branch.h"
#include "node.h"
#include "points.h"
#include "work.h"

#define LIST_TTL_NS  1000000000
#define TOKEN_TTL_NS 3000000000

/* Keys of caches are never 0. */
static struct cache tokens = {.mutex = PTHREAD_MUTEX_INITIALIZER, .ttl_ns = TOKEN_TTL_NS};
static struct cache catalogue = {.mutex = PTHREAD_MUTEX_INITIALIZER, .ttl_ns = TOKEN_TTL_NS};
static struct cache server_lists = {.mutex = PTHREAD_MUTEX_INITIALIZER, .ttl_ns = LIST_TTL_NS};
static struct cache fip_lists = {.mutex = PTHREAD_MUTEX_INITIALIZER, .ttl_ns = LIST_TTL_NS};
static struct cache volume_lists = {.mutex = PTHREAD_MUTEX_INITIALIZER, .ttl_ns = LIST_TTL_NS};
static struct table servers = {.mutex = PTHREAD_MUTEX_INITIALIZER}; /* host, instance */
static struct journal journal = {.lock = LOCK_INIT};
static struct lock quota_lock = LOCK_INIT, bucket_lock = LOCK_INIT;
static atomic_uint_fast64_t next_request;

static const char *const hosts[] = {"compute-1", "compute-2"};
#define N_HOSTS 2

/* What a handler works on: the message, and the request's own number. */
struct request {
	struct message *message;
	uint64_t id, project;
};

static void authenticate(const struct request *request)
{
	bool known = false;

	SPAN(api, authenticate) {
		SPAN_CPU(api, token_parse, 4)
		SPAN_LOOKUP(api, token_lookup, &tokens, request->project, known)
		if (!known) {
			SPAN(api, token_verify) {
				SPAN_CPU(api, token_decrypt, 120)
				SPAN_CPU(api, token_signature, 160)
				SPAN_DEVICE(api, roles_fetch, "identity", 700)
			}
			cache_put(&tokens, request->project);
		}
		SPAN_CPU(api, context_build, 4)
		SPAN(api, policy_check, .count = 14) {
			SPAN_CPU(api, policy_match, 14)
		}
	}
}

/* Everything before a type's own work. */
static void admit(const struct request *request, uint32_t body_bytes)
{
	SPAN(api, rate_limit) {
		SPAN_LOCK(api, bucket_lock, &bucket_lock)
		work_cpu(1);
		lock_give(&bucket_lock);
	}
	SPAN(api, parse_request, .size_bytes = body_bytes) {
		SPAN_CPU(api, parse_headers, 6)
		SPAN(api, parse_body, .size_bytes = body_bytes) {
			work_cpu(body_bytes / 128);
		}
		SPAN_CPU(api, schema_validate, 8)
	}
	POINT(api, request_admitted, .size_bytes = body_bytes);
	authenticate(request);
}

/* Everything after it. */
static void respond(uint32_t bytes)
{
	SPAN(api, response_build) {
		SPAN(api, response_serialize, .size_bytes = bytes) {
			work_cpu(bytes / 256);
		}
		SPAN_CPU(api, response_links, 3)
	}
	POINT(api, access_logged, .size_bytes = bytes);
	POINT(api, metric_updated, .count = table_count(&servers));
}

static void reserve_quota(uint32_t amount)
{
	SPAN(api, quota_check) {
		SPAN_LOCK(api, quota_lock, &quota_lock)
		SPAN(api, quota_read, .count = amount) {
			work_cpu(6);
		}
		SPAN_CPU(api, quota_reserve, 6)
		lock_give(&quota_lock);
	}
}

/* What was asked for, and what became of it. */
static void write_record(const struct request *request)
{
	uint32_t bytes = 256 + request->message->received_bytes;

	SPAN(api, record_write, .size_bytes = bytes) {
		SPAN(api, record_encode, .size_bytes = bytes) {
			work_cpu(bytes / 128);
		}
		SPAN_LOCK(api, journal_lock, &journal.lock)
		SPAN_WRITE(api, journal_write, &journal, bytes)
		SPAN_SYNC(api, journal_sync, &journal)
		lock_give(&journal.lock);
	}
}

static void remove_record(void)
{
	SPAN(api, record_remove) {
		SPAN_CPU(api, index_update, 6)
		SPAN_LOCK(api, tombstone_lock, &journal.lock)
		SPAN_WRITE(api, tombstone_write, &journal, 64)
		lock_give(&journal.lock);
	}
	SPAN_CPU(api, quota_refund, 4)
}

static void notify(struct message *message)
{
	struct message call = {.arg = {message->arg[0]}};

	api_call_net_notify("network", message->request_id, &call);
}

/* In a branch: serves what the worker calls. */
static void serve_notify(void *argument)
{
	api_serve_notify(argument, notify);
}

/* Has the host build it, and subscribers told meanwhile: a call to a thread of our own. */
static int build_server(const struct request *request, const char *host, struct message *call)
{
	struct message told = {.arg = {request->project},
			.request_id = request->id,
			.msg_id = rpc_next_message()};
	int status = 0;

	SPAN_AS(span, api, call_api_notify, .request_id = request->id, .msg_id = told.msg_id,
			.text = "api") {
		bool branched = branch_begin(serve_notify, &told) == 0;

		status = api_call_compute_build(host, request->id, call);
		if (branched) {
			SPAN(api, notify_wait) {
				branch_wait();
			}
		}
	}
	return status;
}

static int server_create(const struct request *request)
{
	struct message call = *request->message;
	bool flavor = false, image = false, keypair = false;
	uint64_t image_key = request->message->arg[1] + 100;
	uint64_t flavor_key = 1 + request->project % 4;
	uint64_t host;
	int status;

	SPAN(api, server_validate) {
		SPAN_LOOKUP(api, flavor_lookup, &catalogue, flavor_key, flavor)
		SPAN_LOOKUP(api, image_lookup, &catalogue, image_key, image)
		if (!flavor || !image) {
			SPAN_DEVICE(api, catalogue_load, "database", 900)
			cache_put(&catalogue, flavor_key);
			cache_put(&catalogue, image_key);
		}
		SPAN_CPU(api, name_check, 3)
	}
	reserve_quota(1);
	SPAN_LOOKUP(api, keypair_lookup, &catalogue, 50 + request->project, keypair)
	if (!keypair) {
		SPAN_DEVICE(api, keypair_load, "database", 600)
		cache_put(&catalogue, 50 + request->project);
	}
	SPAN(api, boot_spec_build, .size_bytes = 256 + request->message->received_bytes) {
		work_cpu(16);
	}
	write_record(request);
	status = api_call_sched_select_host("scheduler", request->id, &call);
	if (status != 0) {
		return status;
	}
	host = call.arg[0] % N_HOSTS;
	POINT(api, host_chosen, .text = hosts[host]);
	call.arg[0] = flavor_key;
	call.arg[1] = request->message->arg[1];
	call.arg[2] = request->message->arg[2];
	call.payload_bytes = request->message->received_bytes;
	status = build_server(request, hosts[host], &call);
	if (status != 0) {
		return status;
	}
	request->message->arg[0] = table_add(&servers, host, call.arg[0]);
	cache_drop(&server_lists, request->project);
	POINT(api, server_registered, .key = request->message->arg[0]);
	return 0;
}

static int server_list(const struct request *request)
{
	bool cached = false;
	uint32_t count = table_count(&servers);
	int status = 0;

	SPAN_LOOKUP(api, server_list_cached, &server_lists, request->project, cached)
	if (!cached) {
		SPAN(api, server_fan_out, .count = N_HOSTS) {
			for (size_t i = 0; i < N_HOSTS && status == 0; i++) {
				struct message call = {.arg = {request->project}};

				status = api_call_compute_list(hosts[i], request->id, &call);
			}
		}
		SPAN(api, server_list_merge, .count = count) {
			work_cpu(10);
		}
		cache_put(&server_lists, request->project);
	}
	SPAN_CPU(api, server_list_sort, 10)
	SPAN_CPU(api, server_list_page, 5)
	return status;
}

static int server_delete(const struct request *request)
{
	uint64_t server[2] = {0, 0};
	struct message call = {.arg = {0}};
	bool found = false;
	int status;

	SPAN(api, server_find, .key = request->message->arg[1]) {
		found = table_take(&servers, request->message->arg[1], server);
		work_cpu(4);
	}
	if (!found) {
		return ENOENT;
	}
	SPAN_CPU(api, server_state_check, 4)
	call.arg[0] = server[1];
	status = api_call_compute_destroy(hosts[server[0]], request->id, &call);
	if (status != 0) {
		return status;
	}
	SPAN(api, server_release) {
		call.arg[0] = server[0];
		status = api_call_sched_release_host("scheduler", request->id, &call);
	}
	remove_record();
	cache_drop(&server_lists, request->project);
	POINT(api, server_forgotten, .key = request->message->arg[1]);
	return status;
}

static int floating_ip_create(const struct request *request)
{
	struct message call = {.arg = {request->project}};
	bool pool = false;
	int status;

	SPAN_LOOKUP(api, fip_pool_lookup, &catalogue, 90, pool)
	if (!pool) {
		SPAN_DEVICE(api, fip_pool_load, "database", 500)
		cache_put(&catalogue, 90);
	}
	SPAN_CPU(api, fip_validate, 5)
	reserve_quota(1);
	status = api_call_net_fip_create("network", request->id, &call);
	if (status != 0) {
		return status;
	}
	SPAN_CPU(api, fip_associate, 8)
	write_record(request);
	cache_drop(&fip_lists, request->project);
	request->message->arg[0] = call.arg[0];
	POINT(api, fip_registered, .key = call.arg[0]);
	return 0;
}

static int floating_ip_list(const struct request *request)
{
	struct message call = {.arg = {request->project}};
	bool cached = false;
	int status = 0;

	SPAN_LOOKUP(api, fip_list_cached, &fip_lists, request->project, cached)
	if (!cached) {
		status = api_call_net_fip_list("network", request->id, &call);
		cache_put(&fip_lists, request->project);
	}
	SPAN_CPU(api, fip_list_filter, 6)
	SPAN_CPU(api, fip_list_format, 6)
	return status;
}

static int floating_ip_delete(const struct request *request)
{
	struct message call = {.arg = {request->message->arg[1]}};
	int status;

	SPAN(api, fip_find, .key = request->message->arg[1]) {
		work_cpu(4);
	}
	SPAN_CPU(api, fip_disassociate, 6)
	status = api_call_net_fip_delete("network", request->id, &call);
	remove_record();
	cache_drop(&fip_lists, request->project);
	POINT(api, fip_forgotten, .key = request->message->arg[1]);
	return status;
}

static int volume_create(const struct request *request)
{
	struct message call = {.arg = {request->project, request->message->arg[1]}};
	bool type = false;
	int status;

	SPAN_CPU(api, volume_validate, 6)
	SPAN_LOOKUP(api, volume_type_lookup, &catalogue, 91, type)
	if (!type) {
		SPAN_DEVICE(api, volume_type_load, "database", 500)
		cache_put(&catalogue, 91);
	}
	SPAN(api, volume_size_round, .size_bytes = (1 + request->message->arg[1]) << 30) {
		work_cpu(1);
	}
	reserve_quota(2);
	status = api_call_sched_select_backend("scheduler", request->id, &call);
	if (status == 0) {
		status = api_call_vol_create("volume", request->id, &call);
	}
	if (status != 0) {
		return status;
	}
	write_record(request);
	cache_drop(&volume_lists, request->project);
	request->message->arg[0] = call.arg[0];
	POINT(api, volume_registered, .key = call.arg[0]);
	return 0;
}

static int volume_list(const struct request *request)
{
	struct message call = {.arg = {request->project}};
	bool cached = false;
	int status = 0;

	SPAN_LOOKUP(api, volume_list_cached, &volume_lists, request->project, cached)
	if (!cached) {
		status = api_call_vol_list("volume", request->id, &call);
		cache_put(&volume_lists, request->project);
	}
	SPAN_CPU(api, volume_list_filter, 6)
	SPAN_CPU(api, volume_list_sort, 6)
	SPAN_CPU(api, volume_list_format, 6)
	return status;
}

static int volume_delete(const struct request *request)
{
	struct message call = {.arg = {request->message->arg[1]}};
	int status;

	SPAN(api, volume_find, .key = request->message->arg[1]) {
		work_cpu(4);
	}
	SPAN_CPU(api, volume_state_check, 5)
	status = api_call_vol_delete("volume", request->id, &call);
	remove_record();
	cache_drop(&volume_lists, request->project);
	POINT(api, volume_forgotten, .key = request->message->arg[1]);
	return status;
}

static void handle(struct message *message)
{
	struct request request = {.message = message,
			.id = atomic_fetch_add(&next_request, 1),
			.project = 1 + message->arg[0] % 8};

	message->request_id = request.id;
	switch (message->method) {
#define PT_TYPE(name, weight)                                                                      \
	case METHOD_##name:                                                                        \
		SPAN_AS(span, api, name, .request_id = request.id) {                               \
			admit(&request, message->received_bytes);                                  \
			message->status = name(&request);                                          \
			rpc_take_error(message);                                                   \
			span.status = message->status;                                             \
			respond(1024);                                                             \
		}                                                                                  \
		break;
#include "types.def"
#undef PT_TYPE
	default:
		message->status = EOPNOTSUPP;
		break;
	}
}

static int start(const char *dir)
{
	/* Unique over restarts too, as the numbers of a log would be. */
	atomic_store(&next_request, ((uint64_t)getpid() << 32) + 1);
	return journal_open(&journal, dir, "api");
}

int main(int argc, char **argv)
{
	static const struct service service = {.workers = 24, .start = start, .handle = handle};

	return node_main(argc, argv, &service);
}
