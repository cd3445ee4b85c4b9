/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The scheduler: chooses a compute host for a server and a backend for a volume, by filtering and
 * weighing, and remembers what it gave away.
 */
#include <errno.h>

#include "node.h"
#include "points.h"
#include "work.h"

#define N_HOSTS  2
#define STATE_NS 150000000 /* how long what hosts reported is believed */

static struct cache states = {.mutex = PTHREAD_MUTEX_INITIALIZER, .ttl_ns = STATE_NS};
static struct journal journal = {.lock = LOCK_INIT};
static uint32_t claimed[N_HOSTS]; /* under journal.lock */

static const char *const hosts[N_HOSTS] = {"compute-1", "compute-2"};

static void load_hosts(void)
{
	bool fresh = false;

	SPAN_LOOKUP(sched, hosts_load, &states, 1, fresh)
	if (!fresh) {
		SPAN(sched, hosts_refresh, .count = N_HOSTS) {
			SPAN_DEVICE(sched, host_states_read, "database", 800)
			SPAN_CPU(sched, host_states_decode, 20)
		}
		cache_put(&states, 1);
	}
}

static void filter_hosts(void)
{
	SPAN(sched, filter_hosts, .count = N_HOSTS) {
		SPAN_CPU(sched, filter_ram, 3)
		SPAN_CPU(sched, filter_cpu, 3)
		SPAN_CPU(sched, filter_disk, 3)
		SPAN_CPU(sched, filter_image, 4)
		SPAN_CPU(sched, filter_affinity, 6)
		SPAN_CPU(sched, filter_zone, 2)
		SPAN_CPU(sched, filter_compute_up, 2)
	}
}

static void weigh_hosts(void)
{
	SPAN(sched, weigh_hosts, .count = N_HOSTS) {
		SPAN_CPU(sched, weigher_ram, 3)
		SPAN_CPU(sched, weigher_cpu, 3)
		SPAN_CPU(sched, weigher_io, 3)
		SPAN_CPU(sched, weigher_build_failure, 2)
		SPAN_CPU(sched, weights_normalize, 2)
	}
}

static void select_host(struct message *message)
{
	uint32_t host = 0;

	SPAN(sched, select_host) {
		SPAN_CPU(sched, request_spec_parse, 8)
		load_hosts();
		filter_hosts();
		weigh_hosts();
		SPAN(sched, claim) {
			SPAN_LOCK(sched, claim_lock, &journal.lock)
			SPAN_AS(pick, sched, pick_host, .count = N_HOSTS) {
				host = claimed[1] < claimed[0] ? 1 : 0;
				claimed[host]++;
				pick.text = hosts[host];
			}
			SPAN_CPU(sched, claim_check, 3)
			SPAN_WRITE(sched, claim_write, &journal, 256)
			SPAN_SYNC(sched, claim_sync, &journal)
			lock_give(&journal.lock);
		}
		SPAN_CPU(sched, host_notify, 3)
		POINT(sched, host_selected, .text = hosts[host], .count = host + 1);
	}
	message->arg[0] = host;
}

static void select_backend(struct message *message)
{
	bool fresh = false;

	(void)message;
	SPAN(sched, select_backend) {
		SPAN_CPU(sched, backend_spec_parse, 6)
		SPAN_LOOKUP(sched, backends_load, &states, 2, fresh)
		if (!fresh) {
			SPAN_DEVICE(sched, backends_read, "database", 600)
			cache_put(&states, 2);
		}
		SPAN(sched, filter_backends, .count = 3) {
			SPAN_CPU(sched, filter_capacity, 4)
			SPAN_CPU(sched, filter_volume_type, 3)
			SPAN_CPU(sched, filter_replication, 3)
		}
		SPAN(sched, weigh_backends, .count = 3) {
			SPAN_CPU(sched, weigher_free, 3)
			SPAN_CPU(sched, weigher_goodness, 5)
		}
		SPAN(sched, backend_reserve) {
			SPAN_LOCK(sched, reserve_lock, &journal.lock)
			SPAN_WRITE(sched, reserve_write, &journal, 128)
			lock_give(&journal.lock);
		}
		POINT(sched, backend_selected, .count = 3);
	}
}

static void release_host(struct message *message)
{
	uint64_t host = message->arg[0] % N_HOSTS;

	SPAN(sched, release_host) {
		SPAN(sched, release_find, .key = host) {
			work_cpu(3);
		}
		SPAN_LOCK(sched, release_lock, &journal.lock)
		SPAN(sched, release_update) {
			claimed[host] -= claimed[host] > 0;
			work_cpu(2);
		}
		SPAN_WRITE(sched, release_write, &journal, 128)
		SPAN_SYNC(sched, release_sync, &journal)
		lock_give(&journal.lock);
		POINT(sched, host_released, .count = (uint32_t)host + 1);
	}
}

static void handle(struct message *message)
{
	switch (message->method) {
	case METHOD_sched_select_host:
		sched_serve_select_host(message, select_host);
		break;
	case METHOD_sched_select_backend:
		sched_serve_select_backend(message, select_backend);
		break;
	case METHOD_sched_release_host:
		sched_serve_release_host(message, release_host);
		break;
	default:
		message->status = EOPNOTSUPP;
		break;
	}
}

static int start(const char *dir)
{
	return journal_open(&journal, dir, "scheduler");
}

int main(int argc, char **argv)
{
	static const struct service service = {.workers = 10, .start = start, .handle = handle};

	return node_main(argc, argv, &service);
}
