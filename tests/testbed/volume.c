/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The volume service: block volumes, their attachments, and the images servers boot from. */
#include <errno.h>

#include "node.h"
#include "points.h"
#include "work.h"

#define TYPE_TTL_NS  800000000
#define INDEX_TTL_NS 2000000000
#define CHUNK_BYTES  32768
#define MAX_CHUNKS   8

static struct cache types = {.mutex = PTHREAD_MUTEX_INITIALIZER, .ttl_ns = TYPE_TTL_NS};
static struct cache index_cache = {.mutex = PTHREAD_MUTEX_INITIALIZER, .ttl_ns = INDEX_TTL_NS};
static struct table volumes = {.mutex = PTHREAD_MUTEX_INITIALIZER}; /* size */
static struct table attachments = {.mutex = PTHREAD_MUTEX_INITIALIZER};
static struct journal metadata = {.lock = LOCK_INIT}, records = {.lock = LOCK_INIT};
static struct lock capacity_lock = LOCK_INIT, target_lock = LOCK_INIT;

static void reserve_capacity(uint64_t bytes)
{
	SPAN(vol, capacity) {
		SPAN_LOCK(vol, capacity_lock, &capacity_lock)
		SPAN_CPU(vol, capacity_check, 4)
		SPAN(vol, capacity_reserve, .size_bytes = bytes) {
			work_cpu(2);
		}
		lock_give(&capacity_lock);
	}
}

static void create_logical(uint64_t bytes)
{
	SPAN(vol, lv_create, .size_bytes = bytes) {
		lock_take(&metadata.lock);
		SPAN_WRITE(vol, lv_metadata, &metadata, 2048)
		SPAN(vol, lv_extent_alloc, .count = (uint32_t)(bytes >> 22)) {
			work_cpu(10);
		}
		SPAN_SYNC(vol, lv_sync, &metadata)
		lock_give(&metadata.lock);
		SPAN_DEVICE(vol, lv_activate, "storage", 5000)
	}
	SPAN(vol, volume_init) {
		SPAN(vol, zero_header, .size_bytes = 65536) {
			work_cpu(64);
		}
		SPAN_DEVICE(vol, label_write, "storage", 2500)
	}
}

static void export_volume(void)
{
	SPAN(vol, export) {
		SPAN_LOCK(vol, target_lock, &target_lock)
		SPAN_CPU(vol, target_define, 6)
		SPAN_CPU(vol, lun_map, 4)
		SPAN_CPU(vol, acl_write, 4)
		lock_give(&target_lock);
		SPAN_DEVICE(vol, target_settle, "storage", 3000)
	}
}

static void create_volume(struct message *message)
{
	uint64_t bytes = (1 + message->arg[1] % 16) << 30;
	bool cached = false;

	SPAN(vol, create, .size_bytes = bytes) {
		SPAN_LOOKUP(vol, type_lookup, &types, 1, cached)
		if (!cached) {
			SPAN_DEVICE(vol, type_load, "database", 500)
			cache_put(&types, 1);
		}
		reserve_capacity(bytes);
		create_logical(bytes);
		export_volume();
		message->arg[0] = table_add(&volumes, bytes, 0);
		SPAN(vol, record) {
			lock_take(&records.lock);
			SPAN_WRITE(vol, record_write, &records, 600)
			SPAN_SYNC(vol, record_sync, &records)
			lock_give(&records.lock);
		}
		POINT(vol, volume_ready, .key = message->arg[0]);
	}
}

static void list_volumes(struct message *message)
{
	uint32_t count = table_count(&volumes);

	(void)message;
	SPAN(vol, list) {
		SPAN(vol, list_scan, .count = count) {
			work_cpu(12);
		}
		SPAN_DEVICE(vol, list_usage, "storage", 1100)
		SPAN(vol, list_encode, .size_bytes = 72ULL * count) {
			work_cpu(8);
		}
	}
}

static void delete_volume(struct message *message)
{
	uint64_t volume[2] = {0, 0};

	SPAN(vol, delete) {
		SPAN(vol, delete_find, .key = message->arg[0]) {
			message->status =
					table_take(&volumes, message->arg[0], volume) ? 0 : ENOENT;
		}
		SPAN(vol, unexport) {
			SPAN_LOCK(vol, unexport_lock, &target_lock)
			SPAN_CPU(vol, unexport_write, 4)
			lock_give(&target_lock);
		}
		SPAN(vol, wipe, .size_bytes = volume[0]) {
			SPAN_CPU(vol, wipe_header, 32)
			SPAN_DEVICE(vol, wipe_extents, "storage", 6000)
		}
		SPAN(vol, lv_remove) {
			lock_take(&metadata.lock);
			SPAN_WRITE(vol, lv_remove_metadata, &metadata, 512)
			SPAN_SYNC(vol, lv_remove_sync, &metadata)
			lock_give(&metadata.lock);
		}
		SPAN_CPU(vol, capacity_return, 2)
		POINT(vol, volume_gone, .key = message->arg[0]);
	}
}

static void attach(struct message *message)
{
	SPAN(vol, attach) {
		SPAN_CPU(vol, attach_reserve, 4)
		SPAN_LOCK(vol, attach_lock, &target_lock)
		message->arg[0] = table_add(&attachments, message->arg[0], 0);
		lock_give(&target_lock);
		SPAN(vol, session_open) {
			SPAN_DEVICE(vol, portal_connect, "storage", 1500)
			SPAN_CPU(vol, chap_exchange, 30)
		}
		SPAN(vol, attach_record) {
			lock_take(&records.lock);
			SPAN_WRITE(vol, attach_write, &records, 256)
			SPAN_SYNC(vol, attach_sync, &records)
			lock_give(&records.lock);
		}
		POINT(vol, attached, .key = message->arg[0]);
	}
}

static void detach(struct message *message)
{
	uint64_t ignored[2];

	SPAN(vol, detach) {
		SPAN(vol, detach_find, .key = message->arg[0]) {
			message->status = table_take(&attachments, message->arg[0], ignored)
							  ? 0
							  : ENOENT;
		}
		SPAN_DEVICE(vol, session_close, "storage", 900)
		SPAN(vol, detach_record) {
			lock_take(&records.lock);
			SPAN_WRITE(vol, detach_write, &records, 64)
			lock_give(&records.lock);
		}
		POINT(vol, detached, .key = message->arg[0]);
	}
}

static void read_image(struct message *message)
{
	bool cached = false;
	uint64_t image = 1 + message->arg[0];
	uint32_t n_chunks = 1 + (uint32_t)(image * 5 % MAX_CHUNKS); /* images differ in size */

	SPAN(vol, image_read) {
		SPAN_LOOKUP(vol, image_index, &index_cache, image, cached)
		if (!cached) {
			SPAN_DEVICE(vol, image_index_load, "database", 600)
			cache_put(&index_cache, image);
		}
		SPAN_CPU(vol, image_open, 4)
		SPAN(vol, image_chunks, .count = n_chunks) {
			for (uint32_t i = 0; i < n_chunks; i++) {
				SPAN(vol, chunk_read, .size_bytes = CHUNK_BYTES) {
					work_device(1200);
				}
				SPAN(vol, chunk_checksum, .size_bytes = CHUNK_BYTES) {
					work_cpu(CHUNK_BYTES / 1024);
				}
			}
		}
		message->payload_bytes = CHUNK_BYTES;
		message->arg[1] = (uint64_t)n_chunks * CHUNK_BYTES;
		POINT(vol, image_sent, .size_bytes = message->arg[1]);
	}
}

static void handle(struct message *message)
{
	switch (message->method) {
	case METHOD_vol_create:
		vol_serve_create(message, create_volume);
		break;
	case METHOD_vol_list:
		vol_serve_list(message, list_volumes);
		break;
	case METHOD_vol_delete:
		vol_serve_delete(message, delete_volume);
		break;
	case METHOD_vol_attach:
		vol_serve_attach(message, attach);
		break;
	case METHOD_vol_detach:
		vol_serve_detach(message, detach);
		break;
	case METHOD_vol_image_read:
		vol_serve_image_read(message, read_image);
		break;
	default:
		message->status = EOPNOTSUPP;
		break;
	}
}

static int start(const char *dir)
{
	return journal_open(&metadata, dir, "volume-metadata") == 0
			       ? journal_open(&records, dir, "volume-records")
			       : -1;
}

int main(int argc, char **argv)
{
	static const struct service service = {.workers = 16, .start = start, .handle = handle};

	return node_main(argc, argv, &service);
}
