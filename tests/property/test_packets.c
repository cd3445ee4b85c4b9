/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Whatever pieces metadata and packets come in, and whichever stream they come from first: the
 * records are the same and in order, nothing is lost, and nothing is told too early. What is
 * damaged costs its stream alone.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "source/packets.h"

#define RING_BYTES   (4u << 20)
#define STREAMS_MAX  40
#define PACKETS_MAX  12
#define EVENTS_MAX   20
#define PACKET_BYTES 512u
#define FIRST_NS     1000

static const char metadata[] =
		"/* CTF 1.8 */ typealias integer { size = 32; align = 8; } := u32;\n"
		"typealias integer { size = 64; align = 8; map = clock.c.value; } := time;\n"
		"trace { byte_order = le; packet.header := struct { u32 magic; u32 "
		"stream_instance_id; }; };\n"
		"env { hostname = \"a;b}\"; }; /* ; } */ clock { name = c; };\n"
		"stream { packet.context := struct { time timestamp_begin; time timestamp_end;\n"
		" u32 content_size; u32 packet_size; u32 cpu_id; };\n"
		" event.header := struct { u32 id; time timestamp; }; };\n"
		"event { name = \"a\"; id = 0; fields := struct { u32 n; }; };\n"
		"event { name = \"b\"; id = 1; fields := struct { u32 n; string s; }; };\n";

struct made_packet {
	unsigned char bytes[PACKET_BYTES];
	uint64_t end_ns;
};

struct made_stream {
	struct made_packet packets[PACKETS_MAX];
	uint32_t n, next;
	struct packet_stream *stream;
};

struct scene {
	struct ring *reader, *writer;
	struct outlet *outlet;
	struct packets *packets;
	struct made_stream streams[STREAMS_MAX];
	uint32_t n_streams;
	uint64_t n_made;
	/* What has been read. */
	uint64_t n_read, last_ns, checksum;
	uint32_t last_cpu;
};

static uint32_t pick(uint32_t *random, uint32_t n)
{
	*random = *random * 1664525 + 1013904223;
	return (*random >> 8) % n;
}

static size_t put(unsigned char *to, uint64_t value, size_t size)
{
	memcpy(to, &value, size);
	return size;
}

/* Events of many streams lie at the same instants. */
static void make_packet(struct scene *scene, struct made_packet *packet, uint32_t index,
		uint64_t *now_ns, uint32_t *random)
{
	unsigned char *at = packet->bytes;
	uint32_t n = pick(random, EVENTS_MAX);
	unsigned char *sizes;

	at += put(at, 0xc1fc1fc1, 4);
	at += put(at, index, 4);
	at += put(at, *now_ns, 8);
	sizes = at;
	at += 16 + put(at + 16, index / 2, 4);
	for (uint32_t i = 0; i < n; i++) {
		uint32_t id = pick(random, 2);

		*now_ns += pick(random, 3) * 5;
		at += put(at, id, 4);
		at += put(at, *now_ns, 8);
		at += put(at, (uint64_t)scene->n_made++, 4);
		at += id ? put(at, 0x7978, 3) : 0;
	}
	packet->end_ns = *now_ns;
	sizes += put(sizes, *now_ns, 8);
	sizes += put(sizes, (uint64_t)(at - packet->bytes) * 8, 4);
	put(sizes, PACKET_BYTES * 8, 4);
}

static void scene_init(struct scene *scene, uint32_t seed)
{
	const struct trace_names names = {.host = "", .session = "s"};
	uint32_t random = seed;
	struct ring_fds fds;

	memset(scene, 0, sizeof(*scene));
	scene->reader = ring_create(RING_BYTES);
	fds = ring_fds(scene->reader);
	scene->writer = ring_attach(&fds);
	scene->outlet = outlet_create(scene->writer);
	scene->packets = packets_create(scene->outlet, &names);
	assert_non_null(scene->packets);
	scene->n_streams = 1 + pick(&random, STREAMS_MAX);
	for (uint32_t i = 0; i < scene->n_streams; i++) {
		struct made_stream *stream = &scene->streams[i];
		uint64_t now_ns = FIRST_NS + pick(&random, 50);

		stream->n = pick(&random, PACKETS_MAX + 1);
		for (uint32_t j = 0; j < stream->n; j++) {
			make_packet(scene, &stream->packets[j], i, &now_ns, &random);
		}
	}
}

static void scene_release(struct scene *scene)
{
	packets_destroy(scene->packets);
	outlet_destroy(scene->outlet);
	ring_destroy(scene->writer);
	ring_destroy(scene->reader);
}

static void take(struct scene *scene, const struct record *record)
{
	const struct record_event *event = (const struct record_event *)record;
	const struct record_watermark *mark = (const struct record_watermark *)record;

	if (record->kind == RECORD_WATERMARK) {
		assert_true(mark->ts_ns >= scene->last_ns);
		scene->last_ns = mark->ts_ns;
		scene->last_cpu = 0;
	}
	if (record->kind != RECORD_EVENT) {
		return;
	}
	assert_true(event->ts_ns >= scene->last_ns);
	if (event->ts_ns == scene->last_ns) {
		assert_true(event->cpu >= scene->last_cpu);
	}
	scene->last_ns = event->ts_ns;
	scene->last_cpu = event->cpu;
	scene->n_read++;
	scene->checksum = scene->checksum * 31 + event->slots[0] * 7 + event->type;
}

static void drain(struct scene *scene)
{
	const struct record *record;
	bool broken = false;

	while ((record = ring_peek(scene->reader, &broken))) {
		take(scene, record);
		ring_next(scene->reader);
	}
	assert_false(broken);
}

static enum packets_step run(struct scene *scene, uint32_t most)
{
	enum packets_step step = packets_run(scene->packets, most);

	assert_int_not_equal(step, PACKETS_ERROR);
	drain(scene);
	return step;
}

static struct packet_trace *begin(struct scene *scene, size_t piece)
{
	struct packet_trace *trace = packets_trace(scene->packets);
	const unsigned char *at = (const unsigned char *)metadata;
	size_t left = sizeof(metadata) - 1;
	char error[200] = "";

	while (left > 0) {
		size_t size = piece < left ? piece : left;

		if (!packet_trace_metadata(trace, at, size, error, sizeof(error))) {
			fail_msg("%s", error);
		}
		at += size;
		left -= size;
	}
	assert_true(packet_trace_is_whole(trace, error, sizeof(error)));
	for (uint32_t i = 0; i < scene->n_streams; i++) {
		scene->streams[i].stream = packet_trace_stream(trace, 0, "");
	}
	return trace;
}

/* The next packet; or, where there is none any more, the end. */
static void give(struct made_stream *stream)
{
	unsigned char *bytes;

	if (stream->next == stream->n) {
		packet_stream_end(stream->stream);
		stream->stream = NULL;
		return;
	}
	bytes = malloc(PACKET_BYTES);
	memcpy(bytes, stream->packets[stream->next++].bytes, PACKET_BYTES);
	assert_true(packet_stream_give(stream->stream, bytes, PACKET_BYTES));
}

/* Until when the stream has nothing: as a relay daemon tells of one that is quiet. */
static void be_quiet(struct made_stream *stream)
{
	if (stream->next < stream->n && packet_stream_wants(stream->stream)) {
		uint64_t begin_ns;

		memcpy(&begin_ns, stream->packets[stream->next].bytes + 8, sizeof(begin_ns));
		packet_stream_quiet(stream->stream, begin_ns);
	}
}

/* All at once. */
static uint64_t read_in_one_go(uint32_t seed, uint64_t *n)
{
	static struct scene scene;
	struct packet_trace *trace;

	scene_init(&scene, seed);
	trace = begin(&scene, sizeof(metadata));
	for (uint32_t i = 0; i < scene.n_streams; i++) {
		while (scene.streams[i].stream) {
			give(&scene.streams[i]);
		}
	}
	packet_trace_end(trace);
	while (run(&scene, 4096) != PACKETS_END) {
	}
	outlet_flush_all(scene.outlet);
	drain(&scene);
	assert_int_equal(scene.n_read, scene.n_made);
	assert_int_equal(packets_events(scene.packets), scene.n_made);
	assert_int_equal(outlet_clamped(scene.outlet), 0);
	*n = scene.n_read;
	scene_release(&scene);
	return scene.checksum;
}

static uint64_t read_by_chance(uint32_t seed)
{
	static struct scene scene;
	uint32_t random = seed + 1, left;

	scene_init(&scene, seed);
	begin(&scene, 1 + pick(&random, 200));
	do {
		struct made_stream *stream = &scene.streams[pick(&random, scene.n_streams)];
		uint32_t what = pick(&random, 4);

		if (stream->stream && what < 2) {
			give(stream);
		} else if (stream->stream && what == 2) {
			be_quiet(stream);
		}
		if (pick(&random, 3) == 0) {
			run(&scene, 1 + pick(&random, 100));
		}
		left = 0;
		for (uint32_t i = 0; i < scene.n_streams; i++) {
			left += scene.streams[i].stream != NULL;
		}
	} while (left > 0);
	while (run(&scene, 50) != PACKETS_END) {
	}
	outlet_flush_all(scene.outlet);
	drain(&scene);
	assert_int_equal(scene.n_read, scene.n_made);
	assert_int_equal(outlet_clamped(scene.outlet), 0);
	scene_release(&scene);
	return scene.checksum;
}

static void the_order_of_arrival_does_not_matter(void **state)
{
	uint64_t n = 0, most = 0;

	(void)state;
	for (uint32_t seed = 1; seed <= 60; seed++) {
		uint64_t checksum = read_in_one_go(seed * 977, &n);

		most = n > most ? n : most;
		assert_int_equal(read_by_chance(seed * 977), checksum);
	}
	assert_true(most > 1000);
}

/* One stream's second packet says that it is longer than it is. */
static void damage_costs_its_stream_alone(void **state)
{
	static struct scene scene;
	uint32_t n_failed, waits = 0;
	size_t bytes;

	(void)state;
	scene_init(&scene, 4711);
	assert_true(scene.n_streams > 2 && scene.streams[1].n > 2);
	memset(scene.streams[1].packets[1].bytes + 24, 0xff, 4);
	begin(&scene, sizeof(metadata));
	do {
		for (uint32_t i = 0; i < scene.n_streams; i++) {
			if (scene.streams[i].stream) {
				give(&scene.streams[i]);
			}
		}
		waits += run(&scene, 4096) == PACKETS_WAIT;
		if (scene.streams[1].stream && waits == 3) {
			assert_false(packet_stream_wants(scene.streams[1].stream));
			assert_int_equal(packet_stream_held(scene.streams[1].stream, &bytes), 0);
		}
	} while (run(&scene, 4096) != PACKETS_END);
	assert_true(strstr(packets_fault(scene.packets, &n_failed), "contradict") != NULL);
	assert_int_equal(n_failed, 1);
	outlet_flush_all(scene.outlet);
	drain(&scene);
	assert_true(scene.n_read < scene.n_made && scene.n_read > scene.n_made / 2);
	scene_release(&scene);
}

/* Nothing goes out before all streams have been heard of; a quiet one lets the others go on. */
static void nothing_is_told_too_early(void **state)
{
	static struct scene scene;
	uint32_t i = 0;

	(void)state;
	scene_init(&scene, 4711);
	begin(&scene, sizeof(metadata));
	for (i = 1; i < scene.n_streams; i++) {
		give(&scene.streams[i]);
	}
	assert_int_equal(run(&scene, 4096), PACKETS_WAIT);
	assert_int_equal(scene.n_read, 0);
	packet_stream_quiet(scene.streams[0].stream, FIRST_NS + 60);
	assert_int_equal(run(&scene, 4096), PACKETS_WAIT);
	assert_true(scene.last_ns < FIRST_NS + 60);
	scene_release(&scene);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
			cmocka_unit_test(the_order_of_arrival_does_not_matter),
			cmocka_unit_test(damage_costs_its_stream_alone),
			cmocka_unit_test(nothing_is_told_too_early),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
