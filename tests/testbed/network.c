/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The network service: ports of servers, and floating addresses. */
#include <errno.h>

#include "node.h"
#include "points.h"
#include "work.h"

#define SUBNET_TTL_NS 700000000
#define GROUP_TTL_NS  400000000

static struct cache subnets = {.mutex = PTHREAD_MUTEX_INITIALIZER, .ttl_ns = SUBNET_TTL_NS};
static struct cache groups = {.mutex = PTHREAD_MUTEX_INITIALIZER, .ttl_ns = GROUP_TTL_NS};
static struct table ports = {.mutex = PTHREAD_MUTEX_INITIALIZER};
static struct table fips = {.mutex = PTHREAD_MUTEX_INITIALIZER};
static struct journal journal = {.lock = LOCK_INIT};
static struct lock ipam_lock = LOCK_INIT, rules_lock = LOCK_INIT, router_lock = LOCK_INIT;
static struct lock dhcp_lock = LOCK_INIT;

static uint64_t allocate_address(void)
{
	uint64_t port = 0;

	SPAN(net, ipam) {
		SPAN_LOCK(net, ipam_lock, &ipam_lock)
		SPAN(net, ipam_scan, .count = table_count(&ports)) {
			work_cpu(8);
		}
		SPAN(net, ipam_reserve) {
			port = table_add(&ports, 0, 0);
		}
		lock_give(&ipam_lock);
	}
	SPAN_CPU(net, mac_generate, 2)
	return port;
}

static void record_port(void)
{
	SPAN(net, port_record, .size_bytes = 700) {
		SPAN_CPU(net, port_encode, 6)
		lock_take(&journal.lock);
		SPAN_WRITE(net, port_write, &journal, 700)
		SPAN_SYNC(net, port_sync, &journal)
		lock_give(&journal.lock);
	}
}

static void apply_rules(uint64_t group)
{
	bool cached = false;

	SPAN_LOOKUP(net, security_groups, &groups, group, cached)
	if (!cached) {
		SPAN(net, sg_load, .count = 24) {
			work_device(400);
		}
		SPAN_CPU(net, sg_compile, 24)
		cache_put(&groups, group);
	}
	SPAN(net, rules_apply, .count = 24) {
		SPAN(net, rules_render, .size_bytes = 3000) {
			work_cpu(12);
		}
		SPAN_LOCK(net, rules_lock, &rules_lock)
		SPAN_DEVICE(net, rules_commit, "kernel", 600)
		lock_give(&rules_lock);
	}
}

static void update_dhcp(void)
{
	SPAN(net, dhcp_update) {
		SPAN(net, dhcp_render, .size_bytes = 900) {
			work_cpu(8);
		}
		SPAN_LOCK(net, dhcp_lock, &dhcp_lock)
		SPAN_CPU(net, dhcp_write, 4)
		lock_give(&dhcp_lock);
		SPAN_DEVICE(net, dhcp_reload, "dhcp", 500)
	}
}

static void allocate_port(struct message *message)
{
	bool cached = false;
	uint64_t subnet = 1 + message->arg[0] % 3;

	SPAN(net, port_allocate) {
		SPAN_LOOKUP(net, subnet_lookup, &subnets, subnet, cached)
		if (!cached) {
			SPAN_DEVICE(net, subnet_load, "database", 500)
			cache_put(&subnets, subnet);
		}
		message->arg[0] = allocate_address();
		record_port();
		apply_rules(subnet);
		update_dhcp();
		SPAN(net, port_bind) {
			SPAN_CPU(net, bind_driver, 4)
			SPAN_CPU(net, bind_vlan, 3)
		}
		POINT(net, port_ready, .key = message->arg[0]);
	}
}

static void release_port(struct message *message)
{
	uint64_t ignored[2];

	SPAN(net, port_release) {
		SPAN(net, port_find, .key = message->arg[0]) {
			work_cpu(3);
		}
		SPAN(net, ipam_return, .key = message->arg[0]) {
			SPAN_LOCK(net, return_lock, &ipam_lock)
			message->status = table_take(&ports, message->arg[0], ignored) ? 0 : ENOENT;
			lock_give(&ipam_lock);
		}
		SPAN(net, rules_remove) {
			SPAN_LOCK(net, remove_lock, &rules_lock)
			SPAN_DEVICE(net, remove_commit, "kernel", 400)
			lock_give(&rules_lock);
		}
		SPAN_CPU(net, dhcp_remove, 4)
		POINT(net, port_gone, .key = message->arg[0]);
	}
}

static void route(void)
{
	SPAN(net, nat_apply) {
		SPAN(net, nat_render, .size_bytes = 400) {
			work_cpu(6);
		}
		SPAN_DEVICE(net, nat_commit, "kernel", 1500)
	}
	SPAN(net, router_update) {
		SPAN_LOCK(net, router_lock, &router_lock)
		SPAN_DEVICE(net, router_sync, "router", 900)
		lock_give(&router_lock);
	}
	SPAN_DEVICE(net, arp_announce, "router", 3000)
}

static void create_fip(struct message *message)
{
	bool cached = false;

	SPAN(net, fip_create) {
		SPAN_LOOKUP(net, fip_pool, &subnets, 10, cached)
		if (!cached) {
			SPAN_DEVICE(net, fip_pool_load, "database", 500)
			cache_put(&subnets, 10);
		}
		SPAN(net, fip_allocate) {
			SPAN_LOCK(net, fip_lock, &ipam_lock)
			SPAN(net, fip_scan, .count = table_count(&fips)) {
				work_cpu(10);
			}
			SPAN(net, fip_take) {
				message->arg[0] = table_add(&fips, 0, 0);
			}
			lock_give(&ipam_lock);
		}
		route();
		SPAN(net, fip_record, .size_bytes = 400) {
			lock_take(&journal.lock);
			SPAN_WRITE(net, fip_write, &journal, 400)
			SPAN_SYNC(net, fip_sync, &journal)
			lock_give(&journal.lock);
		}
		POINT(net, fip_ready, .key = message->arg[0]);
	}
}

static void list_fips(struct message *message)
{
	uint32_t count = table_count(&fips);

	(void)message;
	SPAN(net, fip_list) {
		SPAN(net, fip_list_scan, .count = count) {
			work_cpu(12);
		}
		SPAN_DEVICE(net, fip_list_status, "router", 800)
		SPAN(net, fip_list_encode, .size_bytes = 48ULL * count) {
			work_cpu(6);
		}
	}
}

static void delete_fip(struct message *message)
{
	uint64_t ignored[2];

	SPAN(net, fip_delete) {
		SPAN(net, fip_release, .key = message->arg[0]) {
			message->status = table_take(&fips, message->arg[0], ignored) ? 0 : ENOENT;
		}
		SPAN(net, nat_remove) {
			SPAN_DEVICE(net, nat_remove_commit, "kernel", 1200)
		}
		SPAN(net, router_forget) {
			SPAN_LOCK(net, forget_lock, &router_lock)
			SPAN_DEVICE(net, forget_sync, "router", 600)
			lock_give(&router_lock);
		}
		SPAN_CPU(net, fip_unrecord, 4)
		POINT(net, fip_gone, .key = message->arg[0]);
	}
}

/* Tells who has subscribed to what happens to a server. */
static void notify(struct message *message)
{
	(void)message;
	SPAN(net, notify) {
		SPAN(net, notify_match, .count = 3) {
			work_cpu(4);
		}
		SPAN(net, notify_render, .size_bytes = 600) {
			work_cpu(5);
		}
		SPAN_DEVICE(net, notify_send, "broker", 1200)
		SPAN_DEVICE(net, notify_confirm, "broker", 500)
		SPAN_CPU(net, notify_record, 3)
	}
}

static void handle(struct message *message)
{
	switch (message->method) {
	case METHOD_net_port_allocate:
		net_serve_port_allocate(message, allocate_port);
		break;
	case METHOD_net_port_release:
		net_serve_port_release(message, release_port);
		break;
	case METHOD_net_fip_create:
		net_serve_fip_create(message, create_fip);
		break;
	case METHOD_net_fip_list:
		net_serve_fip_list(message, list_fips);
		break;
	case METHOD_net_fip_delete:
		net_serve_fip_delete(message, delete_fip);
		break;
	case METHOD_net_notify:
		net_serve_notify(message, notify);
		break;
	default:
		message->status = EOPNOTSUPP;
		break;
	}
}

static int start(const char *dir)
{
	return journal_open(&journal, dir, "network");
}

int main(int argc, char **argv)
{
	static const struct service service = {.workers = 16, .start = start, .handle = handle};

	return node_main(argc, argv, &service);
}
