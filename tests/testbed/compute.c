/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A compute host: builds, destroys and lists servers. Concurrent builds are limited by a semaphore,
 * wide open unless a fault narrows it.
 */
#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>

#include "fault.h"
#include "node.h"
#include "points.h"
#include "process.h"
#include "work.h"

#define IMAGE_TTL_NS 5000000000 /* an unused image is dropped from the host after that */
#define WITH_VOLUME  1          /* flag of a build */
#define MAX_IMAGES   16

static atomic_uint_fast64_t image_bytes[MAX_IMAGES]; /* as far as known; 0: not */
static struct cache images = {.mutex = PTHREAD_MUTEX_INITIALIZER, .ttl_ns = IMAGE_TTL_NS};
static struct table instances = {.mutex = PTHREAD_MUTEX_INITIALIZER}; /* port, attachment */
static struct journal states = {.lock = LOCK_INIT}, disks = {.lock = LOCK_INIT};
static struct lock claim_lock = LOCK_INIT, define_lock = LOCK_INIT, stats_lock = LOCK_INIT;
static struct semaphore builds = SEMAPHORE_INIT;

struct build {
	uint64_t request_id, flavor, image, flags;
	uint32_t user_data_bytes;
	uint64_t port, attachment;
	char image_name[16];
};

static void validate(void)
{
	SPAN(compute, build_validate) {
		SPAN_CPU(compute, flavor_check, 2)
		SPAN_CPU(compute, vcpu_check, 2)
		SPAN_CPU(compute, memory_check, 2)
	}
	SPAN(compute, instance_claim) {
		SPAN_LOCK(compute, claim_lock, &claim_lock)
		SPAN_CPU(compute, claim_test, 3)
		SPAN_CPU(compute, claim_record, 3)
		lock_give(&claim_lock);
	}
}

static int prepare_network(struct build *build)
{
	struct message call = {.arg = {build->image}};
	int status = 0;

	SPAN_AS(span, compute, network_prepare) {
		status = compute_call_net_port_allocate("network", build->request_id, &call);
		SPAN_CPU(compute, vif_plan, 4)
		span.status = status;
	}
	build->port = call.arg[0];
	POINT(compute, vif_planned, .key = build->port);
	return status;
}

static int fetch_image(const struct build *build)
{
	struct message call = {.arg = {build->image}};
	int status = 0;

	SPAN_AS(span, compute, image_fetch, .text = build->image_name) {
		status = compute_call_vol_image_read("volume", build->request_id, &call);
		span.size_bytes = call.arg[1];
		SPAN(compute, image_store, .size_bytes = call.arg[1]) {
			lock_take(&disks.lock);
			journal_write(&disks, 4096);
			lock_give(&disks.lock);
		}
		SPAN(compute, image_checksum, .size_bytes = call.arg[1]) {
			work_cpu((uint32_t)(call.arg[1] >> 10));
		}
		SPAN_SYNC(compute, image_sync, &disks)
	}
	if (status == 0) {
		atomic_store(&image_bytes[build->image % MAX_IMAGES], call.arg[1]);
		cache_put(&images, build->image);
	}
	return status;
}

static int prepare_image(const struct build *build)
{
	bool cached = false;
	int status = 0;

	SPAN_AS(span, compute, image_prepare, .text = build->image_name) {
		SPAN_LOOKUP(compute, image_lookup, &images, build->image, cached)
		span.cache_hit = cached;
		if (!cached) {
			status = fetch_image(build);
			SPAN_CPU(compute, image_convert, 40)
		}
		span.size_bytes = atomic_load(&image_bytes[build->image % MAX_IMAGES]);
		SPAN(compute, image_clone, .size_bytes = span.size_bytes) {
			work_cpu(4);
		}
		POINT(compute, image_ready, .text = build->image_name);
	}
	return status;
}

static void create_disk(const struct build *build)
{
	SPAN(compute, disk_create) {
		SPAN_CPU(compute, disk_allocate, 4)
		SPAN(compute, disk_resize, .size_bytes = (10 * build->flavor) << 30) {
			work_cpu(4);
		}
		SPAN_DEVICE(compute, disk_format, "disk", 1500)
		SPAN_CPU(compute, disk_label, 2)
		SPAN(compute, config_drive) {
			SPAN_CPU(compute, metadata_render, 10)
			SPAN_CPU(compute, userdata_render, 10)
			lock_take(&disks.lock);
			SPAN_WRITE(compute, config_drive_write, &disks,
					256 + build->user_data_bytes)
			lock_give(&disks.lock);
			SPAN_SYNC(compute, config_drive_sync, &disks)
		}
	}
}

static void define_domain(void)
{
	SPAN(compute, domain_xml) {
		SPAN_CPU(compute, xml_cpu, 3)
		SPAN_CPU(compute, xml_memory, 3)
		SPAN_CPU(compute, xml_devices, 6)
		SPAN_CPU(compute, xml_network, 4)
	}
	SPAN(compute, domain_define) {
		SPAN_LOCK(compute, define_lock, &define_lock)
		SPAN_CPU(compute, define_write, 8)
		lock_give(&define_lock);
	}
}

static void start_domain(void)
{
	SPAN(compute, domain_start, .text = "hypervisor") {
		SPAN_CPU(compute, cgroup_setup, 4)
		SPAN_CPU(compute, numa_place, 3)
		SPAN_CPU(compute, vcpu_pin, 3)
		SPAN_CPU(compute, memory_reserve, 6)
		SPAN_DEVICE(compute, kvm_create, "hypervisor", 1500)
		SPAN_CPU(compute, firmware_load, 12)
		SPAN_CPU(compute, device_attach, 5)
		SPAN_DEVICE(compute, boot_wait, "hypervisor", 36000)
	}
}

static void spawn(void)
{
	POINT(compute, build_queued, .queue_len = semaphore_queue_len(&builds));
	SPAN(compute, sem_acquire, .queue_len = semaphore_queue_len(&builds)) {
		semaphore_take(&builds, fault_build_limit());
	}
	SPAN(compute, spawn) {
		define_domain();
		start_domain();
		POINT(compute, domain_running, .count = table_count(&instances));
	}
	semaphore_give(&builds);
	POINT(compute, sem_released, .queue_len = semaphore_queue_len(&builds));
}

static void plug_network(const struct build *build)
{
	SPAN(compute, network_plug, .key = build->port) {
		SPAN_CPU(compute, vif_create, 4)
		SPAN_CPU(compute, vif_bridge, 4)
		SPAN_CPU(compute, vif_filter, 6)
		SPAN_DEVICE(compute, vif_up, "switch", 2500)
	}
}

static int connect_volume(struct build *build)
{
	struct message call = {.arg = {build->port}};
	int status = 0;

	SPAN_AS(span, compute, volume_connect) {
		status = compute_call_vol_attach("volume", build->request_id, &call);
		SPAN_DEVICE(compute, target_login, "storage", 2000)
		SPAN_CPU(compute, path_scan, 10)
		SPAN_CPU(compute, block_map, 4)
		span.status = status;
	}
	build->attachment = call.arg[0];
	return status;
}

static uint64_t activate(const struct build *build)
{
	uint64_t instance = table_add(&instances, build->port, build->attachment);

	SPAN(compute, instance_activate, .key = instance) {
		SPAN(compute, state_encode, .size_bytes = 1500) {
			work_cpu(6);
		}
		SPAN_LOCK(compute, state_lock, &states.lock)
		SPAN_WRITE(compute, state_write, &states, 1500)
		SPAN_SYNC(compute, state_sync, &states)
		lock_give(&states.lock);
		POINT(compute, instance_active, .key = instance);
	}
	SPAN(compute, stats_update) {
		SPAN_LOCK(compute, stats_lock, &stats_lock)
		work_cpu(2);
		lock_give(&stats_lock);
	}
	return instance;
}

static void build_server(struct message *message)
{
	struct build build = {.request_id = message->request_id,
			.flavor = message->arg[0],
			.image = 1 + message->arg[1],
			.flags = message->arg[2],
			.user_data_bytes = message->received_bytes};
	int status = 0;

	snprintf(build.image_name, sizeof(build.image_name), "image-%02u",
			(unsigned int)(build.image % 100));
	SPAN_AS(span, compute, build, .text = build.image_name) {
		validate();
		status = prepare_network(&build);
		if (status == 0) {
			status = prepare_image(&build);
		}
		if (status == 0) {
			create_disk(&build);
			spawn();
			plug_network(&build);
			if ((build.flags & WITH_VOLUME) != 0) {
				status = connect_volume(&build);
			}
		}
		if (status == 0) {
			message->arg[0] = activate(&build);
		}
		span.status = status;
	}
	message->status = status;
}

static void stop_domain(void)
{
	SPAN(compute, domain_stop, .text = "hypervisor") {
		SPAN_CPU(compute, shutdown_signal, 2)
		SPAN_DEVICE(compute, shutdown_wait, "hypervisor", 9000)
		SPAN_CPU(compute, cgroup_remove, 3)
	}
	SPAN_CPU(compute, domain_undefine, 5)
}

static int release_devices(uint64_t request_id, uint64_t port, uint64_t attachment)
{
	struct message call = {.arg = {port}};
	int status = 0;

	SPAN(compute, vif_unplug, .key = port) {
		SPAN_CPU(compute, vif_down, 3)
		SPAN_CPU(compute, filter_remove, 4)
		status = compute_call_net_port_release("network", request_id, &call);
	}
	if (attachment != 0 && status == 0) {
		SPAN(compute, volume_disconnect, .key = attachment) {
			SPAN_DEVICE(compute, target_logout, "storage", 1200)
			SPAN_CPU(compute, block_unmap, 3)
			call.arg[0] = attachment;
			status = compute_call_vol_detach("volume", request_id, &call);
		}
	}
	return status;
}

static void destroy_server(struct message *message)
{
	uint64_t instance[2] = {0, 0};
	bool found = false;

	SPAN(compute, destroy, .key = message->arg[0]) {
		SPAN(compute, instance_lookup, .key = message->arg[0]) {
			found = table_take(&instances, message->arg[0], instance);
		}
		if (!found) {
			message->status = ENOENT;
			return;
		}
		stop_domain();
		message->status = release_devices(message->request_id, instance[0], instance[1]);
		SPAN(compute, disk_delete) {
			SPAN_CPU(compute, disk_unlink, 3)
			SPAN(compute, disk_wipe, .size_bytes = 65536) {
				work_cpu(64);
			}
			SPAN_SYNC(compute, disk_sync, &disks)
		}
		SPAN(compute, instance_forget) {
			SPAN_LOCK(compute, forget_lock, &states.lock)
			SPAN_WRITE(compute, forget_write, &states, 64)
			lock_give(&states.lock);
		}
		POINT(compute, instance_gone, .key = message->arg[0]);
	}
}

static void list_servers(struct message *message)
{
	uint32_t count = table_count(&instances);

	(void)message;
	SPAN(compute, list, .count = count) {
		SPAN_LOCK(compute, list_lock, &stats_lock)
		SPAN(compute, list_scan, .count = count) {
			work_cpu(12);
		}
		lock_give(&stats_lock);
		SPAN_DEVICE(compute, list_power_states, "hypervisor", 700)
		SPAN(compute, list_encode, .size_bytes = 64ULL * count) {
			work_cpu(8);
		}
	}
}

static void handle(struct message *message)
{
	switch (message->method) {
	case METHOD_compute_build:
		compute_serve_build(message, build_server);
		break;
	case METHOD_compute_destroy:
		compute_serve_destroy(message, destroy_server);
		break;
	case METHOD_compute_list:
		compute_serve_list(message, list_servers);
		break;
	default:
		message->status = EOPNOTSUPP;
		break;
	}
}

static int start(const char *dir)
{
	char name[64];

	snprintf(name, sizeof(name), "%s-states", process_name());
	if (journal_open(&states, dir, name) != 0) {
		return -1;
	}
	snprintf(name, sizeof(name), "%s-disks", process_name());
	return journal_open(&disks, dir, name);
}

int main(int argc, char **argv)
{
	static const struct service service = {.workers = 24, .start = start, .handle = handle};

	return node_main(argc, argv, &service);
}
