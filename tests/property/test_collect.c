/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "groups/collect.h"
#include "groups/grouping.h"
#include "base/hash.h"
#include "support_request.h"

/*
 * Key-values of a group as a table: what a plain list of the requests says, whatever came in, was
 * switched, pinned or dropped in the meantime; and what of it costs memory.
 */
#define MS       UINT64_C(1000000)
#define S        UINT64_C(1000000000)
#define START    (1000 * S)
#define TYPES    3u
#define CONTEXTS 10u
#define KEYS     44u
#define MOST     6000u

/* What a request is measured as, and its key-values. */
struct fate {
	uint64_t id, start_ns, end_ns;
	uint32_t type;
	bool counted, tainted;
	uint32_t spans[CONTEXTS];
	uint64_t parts[CONTEXTS];
	bool has[KEYS];
	double numbers[KEYS];
	char texts[KEYS][24];
	bool keyed; /* by the model */
};

struct bench {
	struct request_source source;
	struct groups *groups;
	uint32_t contexts[CONTEXTS], names[KEYS], group_ids[TYPES];
	bool on[TYPES];
	uint64_t random, now_ns;
	struct fate *fates; /* by id - 1 */
	uint32_t n;
	struct measured_segment segments[CONTEXTS];
	struct measured_visit visits[CONTEXTS];
	struct request_key keys[KEYS];
};

static uint64_t below(struct bench *bench, uint64_t n)
{
	return hash_u64(bench->random++) % n;
}

/* ---- what is read of requests ---- */

static bool measure(void *context, const struct request *request, struct measured *out)
{
	struct bench *bench = context;
	const struct fate *fate = &bench->fates[request->id - 1];

	*out = (struct measured){.segments = bench->segments, .visits = bench->visits};
	for (uint32_t i = 0; i < CONTEXTS; i++) {
		if (fate->parts[i]) {
			bench->segments[out->n_segments++] = (struct measured_segment){
					.context = bench->contexts[i], .ns = fate->parts[i]};
			out->total_ns += fate->parts[i];
		}
		if (fate->spans[i]) {
			bench->visits[out->n_visits++] = (struct measured_visit){
					.context = bench->contexts[i], .count = fate->spans[i]};
		}
	}
	return true;
}

/* Fields, then hosts, then resources: as they are ordered. */
static enum explanation_source source_of(uint32_t key)
{
	return key < 30 ? EXPLANATION_FIELD : key < 34 ? EXPLANATION_HOST : EXPLANATION_RESOURCE;
}

static uint32_t place_of(uint32_t key)
{
	return key < 30 ? key / 3 : key - 30; /* among contexts, of all but resources */
}

static bool is_numeric(uint32_t key)
{
	return source_of(key) == EXPLANATION_RESOURCE || (key < 30 && key % 3 != 2);
}

/* So many times the duration, and something that has nothing to do with it. */
static uint64_t after_of(uint32_t key, const struct request *request)
{
	return (request->end_ns - request->start_ns) * (key % 10) + key;
}

static bool read_keys(void *context, const struct request *request, struct request_keys *out)
{
	struct bench *bench = context;
	const struct fate *fate = &bench->fates[request->id - 1];

	*out = (struct request_keys){.items = bench->keys};
	for (uint32_t k = 0; k < KEYS; k++) {
		enum explanation_source source = source_of(k);

		if (!fate->has[k]) {
			continue;
		}
		bench->keys[out->n++] = (struct request_key){.source = source,
				.context = source == EXPLANATION_RESOURCE
							   ? 0
							   : bench->contexts[place_of(k)],
				.name = bench->names[k],
				.numeric = is_numeric(k),
				.number = fate->numbers[k],
				.after_ns = after_of(k, request),
				.text = fate->texts[k],
				.length = (uint32_t)strlen(fate->texts[k])};
	}
	return true;
}

/* Numbers of all sizes and signs, whole and not; texts of a few kinds, and of as many as requests.
 */
static void choose_value(struct bench *bench, struct fate *fate, uint32_t k)
{
	static const uint64_t sizes[] = {2, 5, 300, 100000, UINT64_C(1) << 40, UINT64_C(1) << 62};
	double number = (double)below(bench, sizes[k % 6]);

	fate->has[k] = k % 5 == 0 || below(bench, 1 + k % 4) == 0;
	fate->numbers[k] = k % 7 == 0 ? -number : k % 7 == 1 ? number / 7 : number;
	if (k % 4 == 0) {
		snprintf(fate->texts[k], sizeof(fate->texts[k]), "text of %u", bench->n);
	} else {
		snprintf(fate->texts[k], sizeof(fate->texts[k]), "%.*s", (int)below(bench, 4),
				"abcd");
	}
}

static const char *const types[TYPES] = {"a", "b", "c"};

static const struct groups_config usual = {.window_ns = 10 * S,
		.max_groups = 1000,
		.max_kept_bytes = UINT64_C(64) << 20,
		.max_pin_bytes = UINT64_C(64) << 20};

static void bench_init(struct bench *bench, const struct groups_config *config, uint64_t seed)
{
	struct groups_config own = *config;

	memset(bench, 0, sizeof(*bench));
	request_source_init(&bench->source);
	own.measure = measure;
	own.read_keys = read_keys;
	own.measurer = bench;
	bench->groups = groups_create(
			&own, bench->source.names, bench->source.contexts, &bench->source.pool);
	bench->fates = calloc(MOST, sizeof(*bench->fates));
	assert_true(bench->groups && bench->fates);
	bench->random = seed << 32;
	bench->now_ns = START;
	for (uint32_t i = 0; i < CONTEXTS; i++) {
		char name[16];

		snprintf(name, sizeof(name), "span_%u", i);
		bench->contexts[i] = request_source_context(
				&bench->source, i ? bench->contexts[(i - 1) / 2] : 0, "app", name);
	}
	for (uint32_t k = 0; k < KEYS; k++) {
		char name[16];

		snprintf(name, sizeof(name), "field_%u", k);
		bench->names[k] = source_of(k) == EXPLANATION_HOST
						  ? 0
						  : names_add(bench->source.names, name,
								    strlen(name));
	}
	groups_advance(bench->groups, START);
}

static void bench_release(struct bench *bench)
{
	groups_destroy(bench->groups);
	assert_int_equal(request_source_bytes(&bench->source), 0);
	request_source_release(&bench->source);
	free(bench->fates);
}

/* Hands in the fate made last, with what the model says of it. */
static void add(struct bench *bench, struct fate *fate)
{
	struct request *request = request_source_make(&bench->source, types[fate->type],
			fate->end_ns, fate->end_ns - fate->start_ns, NULL, 0);

	fate->id = request->id;
	assert_int_equal(fate->id, bench->n);
	request->state = fate->counted ? REQUEST_COMPLETE : REQUEST_TRUNCATED;
	request->tainted = fate->tainted;
	fate->keyed = bench->on[fate->type] && fate->counted && !fate->tainted;
	groups_add(bench->groups, request);
	bench->group_ids[fate->type] = request->group_id;
	request_drop(&bench->source.pool, request);
}

static struct fate *fate_next(struct bench *bench)
{
	struct fate *fate = &bench->fates[bench->n++];

	assert_true(bench->n <= MOST);
	*fate = (struct fate){.counted = true, .end_ns = bench->now_ns};
	return fate;
}

static void add_random(struct bench *bench)
{
	struct fate *fate = fate_next(bench);
	uint64_t total = 0;

	fate->type = below(bench, 8) ? 0 : (uint32_t)below(bench, TYPES);
	fate->counted = below(bench, 20) != 0;
	fate->tainted = below(bench, 20) == 0;
	for (uint32_t i = 0; i < CONTEXTS; i++) {
		fate->spans[i] = i < 3 ? 1 : (uint32_t)below(bench, i);
		fate->parts[i] = fate->spans[i] ? 1 + below(bench, 100000) : 0;
		total += fate->parts[i];
	}
	for (uint32_t k = 0; k < KEYS; k++) {
		choose_value(bench, fate, k);
	}
	bench->now_ns += below(bench, 20 * MS);
	fate->end_ns = bench->now_ns - below(bench, 3 * MS);
	fate->start_ns = fate->end_ns - total;
	add(bench, fate);
}

/* ---- the model ---- */

/* Places in the ring of a group, oldest first; ring.n as it is, so that any bound may hold. */
static uint32_t in_ring(const struct bench *bench, uint32_t type, struct fate **ring)
{
	uint32_t id = bench->group_ids[type];
	uint32_t n = id ? bench->groups->items[id - 1]->now.observed.ring.n : 0, at = n;

	for (uint32_t i = bench->n; i > 0 && at > 0; i--) {
		if (bench->fates[i - 1].type == type && !bench->fates[i - 1].tainted) {
			ring[--at] = &bench->fates[i - 1];
		}
	}
	assert_int_equal(at, 0);
	return n;
}

static void switch_one(struct bench *bench, uint32_t type, bool on)
{
	static struct fate *ring[SAMPLES_MAX];
	uint32_t n = in_ring(bench, type, ring);

	if (!bench->group_ids[type]) {
		return;
	}
	for (uint32_t i = 0; i < n; i++) {
		bool kept = kept_find_any(&bench->groups->kept, ring[i]->id) != 0;

		ring[i]->keyed = on && ring[i]->counted &&
				 (kept || (ring[i]->keyed && bench->on[type]));
	}
	bench->on[type] = on;
	assert_true(groups_collect(bench->groups, bench->group_ids[type], on));
}

static const struct explain_key *find_key(
		const struct explain_table *table, enum explanation_source source, const char *name)
{
	for (uint32_t i = 0; i < table->n_keys; i++) {
		if (table->keys[i].source == source && strcmp(table->keys[i].name, name) == 0) {
			return &table->keys[i];
		}
	}
	fail_msg("the table lacks %s", name);
	abort();
}

static void key_name(uint32_t k, char *name, size_t size)
{
	if (source_of(k) == EXPLANATION_FIELD) {
		snprintf(name, size, "span_%u.field_%u", place_of(k), k);
	} else if (source_of(k) == EXPLANATION_HOST) {
		snprintf(name, size, "host of span_%u", place_of(k));
	} else {
		snprintf(name, size, "field_%u", k);
	}
}

/* Returns whether there is such a key. */
static bool check_key(const struct explain_table *table, struct fate *const *rows, uint32_t k)
{
	const struct explain_key *key;
	char name[40];
	bool any = false, alike = true;
	double duration = 0;

	for (uint32_t i = 0; i < table->n_rows; i++) {
		alike &= !rows[i]->has[k] || !any || table->duration_ns[i] == duration;
		duration = rows[i]->has[k] ? table->duration_ns[i] : duration;
		any |= rows[i]->has[k];
	}
	if (!any) {
		return false;
	}
	key_name(k, name, sizeof(name));
	key = find_key(table, source_of(k), name);
	assert_int_equal(key->numeric, is_numeric(k));
	assert_true((alike && key->told == 0) || fabs(key->told - k % 10) < 1e-3);
	assert_string_equal(key->where, source_of(k) == EXPLANATION_RESOURCE || place_of(k) == 0
							? ""
					: place_of(k) < 3 ? "span_0"
							  : key->where);
	for (uint32_t i = 0; i < table->n_rows; i++) {
		if (!rows[i]->has[k]) {
			assert_true(isnan(key->values[i]));
		} else if (key->numeric) {
			assert_true(key->values[i] == rows[i]->numbers[k]);
		} else {
			assert_true(key->values[i] < key->n_texts);
			assert_string_equal(
					key->texts[(uint32_t)key->values[i]], rows[i]->texts[k]);
		}
	}
	for (uint32_t i = 0; i < key->n_texts; i++) {
		for (uint32_t j = 0; j < i; j++) {
			assert_string_not_equal(key->texts[i], key->texts[j]);
		}
	}
	return true;
}

static bool check_count(const struct explain_table *table, struct fate *const *rows, uint32_t at)
{
	uint32_t first = UINT32_MAX, last = 0;
	const struct explain_key *key;
	bool varies = false;
	char name[40];

	for (uint32_t i = 0; i < table->n_rows; i++) {
		if (rows[i]->spans[at]) {
			first = first == UINT32_MAX ? i : first;
			last = i;
		}
	}
	for (uint32_t i = first; first != UINT32_MAX && i <= last; i++) {
		varies |= rows[i]->spans[at] != rows[first]->spans[at];
	}
	if (!varies) {
		return false;
	}
	snprintf(name, sizeof(name), "count of span_%u", at);
	key = find_key(table, EXPLANATION_COUNT, name);
	assert_true(key->numeric);
	for (uint32_t i = 0; i < table->n_rows; i++) {
		if (i < first || i > last) {
			assert_true(isnan(key->values[i]));
		} else {
			assert_true(key->values[i] == rows[i]->spans[at]);
		}
	}
	return true;
}

/* The share of a column, as the definition has it. */
static double phi_of(const struct explain_table *table, const double *part)
{
	double n = table->n_rows, mean = 0, mean_t = 0, cov = 0, var = 0;

	for (uint32_t i = 0; i < table->n_rows; i++) {
		mean += part[i] / n;
		mean_t += table->duration_ns[i] / n;
	}
	for (uint32_t i = 0; i < table->n_rows; i++) {
		double t = table->duration_ns[i] - mean_t;

		cov += (part[i] - mean) * t;
		var += t * t;
	}
	return cov / var;
}

/* Each part is a segment, once, and they are in the order of their shares. */
static void check_segments(const struct explain_table *table, struct fate *const *rows)
{
	uint32_t n = 0;
	bool varies = false;

	for (uint32_t i = 1; i < table->n_rows; i++) {
		varies |= table->duration_ns[i] != table->duration_ns[0];
	}
	for (uint32_t at = 0; varies && at < CONTEXTS; at++) {
		bool any = false;
		uint32_t found = 0;

		for (uint32_t i = 0; i < table->n_rows; i++) {
			any |= rows[i]->parts[at] > 0;
		}
		for (uint32_t s = 0; any && s < table->n_segments; s++) {
			bool same = true;

			for (uint32_t i = 0; i < table->n_rows; i++) {
				same &= table->segments_ns[s][i] == (double)rows[i]->parts[at];
			}
			found += same;
		}
		assert_int_equal(found, any);
		n += any;
	}
	assert_int_equal(table->n_segments, n);
	for (uint32_t s = 1; s < n; s++) {
		assert_true(phi_of(table, table->segments_ns[s]) <=
				phi_of(table, table->segments_ns[s - 1]) + 1e-9);
	}
}

/* In how many samples each key is, which decides who makes room for others. */
static void check_rows(const struct bench *bench, uint32_t type)
{
	const struct group *group = bench->groups->items[bench->group_ids[type] - 1];
	const struct sample_ring *ring = &group->now.observed.ring;

	for (uint32_t k = 0; k < group->collected->n; k++) {
		uint32_t rows = 0;

		for (uint32_t i = 0; i < ring->n; i++) {
			struct sample_reader reader = sample_read_keys(ring_at(ring, i));
			struct sample_key key;

			while (sample_next_key(&reader, &key)) {
				rows += key.serial == group->collected->keys[k].serial;
			}
		}
		assert_int_equal(group->collected->keys[k].rows, rows);
	}
}

static void check(struct bench *bench, uint32_t type, uint64_t since_ns)
{
	static struct fate *ring[SAMPLES_MAX];
	uint32_t n = 0, in = in_ring(bench, type, ring), n_keys = 0;
	struct arena arena = {.chunks = NULL};
	const struct explain_table *table =
			groups_table(bench->groups, bench->group_ids[type], since_ns, &arena);
	double first_ns = INFINITY;

	assert_true((table != NULL) == (bench->on[type] && bench->group_ids[type] != 0));
	if (!table) {
		return;
	}
	for (uint32_t i = 0; i < in; i++) {
		if (ring[i]->keyed && ring[i]->start_ns >= since_ns) {
			ring[n++] = ring[i];
			first_ns = fmin(first_ns, (double)ring[n - 1]->start_ns);
		}
	}
	assert_int_equal(table->n_rows, n);
	for (uint32_t i = 0; i < n; i++) {
		assert_true(table->duration_ns[i] == (double)(ring[i]->end_ns - ring[i]->start_ns));
		assert_true(fabs(table->start_ns[i] - ((double)ring[i]->start_ns - first_ns)) <
				1000);
	}
	for (uint32_t k = 0; k < KEYS; k++) {
		n_keys += check_key(table, ring, k);
	}
	for (uint32_t i = 0; i < CONTEXTS; i++) {
		n_keys += check_count(table, ring, i);
	}
	assert_int_equal(table->n_keys, n_keys);
	for (uint32_t i = 1; i < n_keys; i++) {
		assert_true(table->keys[i - 1].source <= table->keys[i].source);
	}
	check_segments(table, ring);
	check_rows(bench, type);
	arena_release(&arena);
}

/* ---- bytes ---- */

static void check_bytes(const struct bench *bench)
{
	const struct samples *samples = &bench->groups->samples;
	uint64_t bytes = 0;

	assert_true(samples->bytes + samples->texts.bytes <= samples->max_bytes);
	for (const struct sample *one = samples->oldest; one; one = one->newer) {
		bytes += one->taken;
	}
	assert_int_equal(bytes, samples->bytes);
	if (!bench->groups->pin.on) { /* else some are the pin's alone */
		assert_int_equal(bytes + samples->texts.bytes, samples->pool.in_use_bytes);
	}
}

/* The bytes that the samples of a group take. */
static uint64_t bytes_of(const struct bench *bench, uint32_t type)
{
	const struct samples *samples = &bench->groups->samples;
	uint64_t bytes = 0;

	for (const struct sample *one = samples->oldest; one; one = one->newer) {
		bytes += one->group + 1 == bench->group_ids[type] ? one->taken : 0;
	}
	return bytes;
}

/* ---- as a plain list ---- */

static void wander(struct bench *bench, uint32_t n)
{
	uint64_t epoch_ns = 0;

	for (uint32_t i = 0; i < n; i++) {
		add_random(bench);
		if (below(bench, 100) == 0) {
			switch_one(bench, (uint32_t)below(bench, TYPES), below(bench, 3) > 0);
		}
		if (below(bench, 300) == 0) {
			epoch_ns = bench->now_ns;
			groups_begin_epoch(bench->groups, epoch_ns, NULL, NULL);
		}
		if (below(bench, 300) == 0) {
			groups_pin(bench->groups, bench->now_ns);
		} else if (below(bench, 300) == 0) {
			groups_unpin(bench->groups);
		}
		check_bytes(bench);
		if (below(bench, 40) == 0) {
			check(bench, (uint32_t)below(bench, TYPES), below(bench, 2) ? 0 : epoch_ns);
		}
	}
	for (uint32_t type = 0; type < TYPES; type++) {
		check(bench, type, 0);
		check(bench, type, bench->now_ns + S);
		switch_one(bench, type, true);
		check(bench, type, 0);
	}
}

static void test_tables_are_those_of_a_plain_list(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 4; seed++) {
		struct groups_config config = usual;
		struct bench bench;

		config.max_kept_bytes = seed % 2 ? usual.max_kept_bytes : UINT64_C(100000);
		config.max_sample_bytes = seed > 2 ? UINT64_C(150000) << (seed - 3) : 0;
		bench_init(&bench, &config, seed);
		wander(&bench, 2500);
		bench_release(&bench);
	}
}

static char *print(struct bench *bench, uint32_t type)
{
	struct arena arena = {.chunks = NULL};
	const struct explain_table *table =
			groups_table(bench->groups, bench->group_ids[type], 0, &arena);
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	assert_true(table && out);
	for (uint32_t i = 0; i < table->n_rows; i++) {
		fprintf(out, "%a %a\n", table->start_ns[i], table->duration_ns[i]);
	}
	for (uint32_t k = 0; k < table->n_keys; k++) {
		const struct explain_key *key = &table->keys[k];

		fprintf(out, "%s in %s\n", key->name, key->where);
		for (uint32_t i = 0; i < table->n_rows; i++) {
			fprintf(out, "%a ", key->values[i]);
		}
		for (uint32_t i = 0; i < key->n_texts; i++) {
			fprintf(out, "'%s' ", key->texts[i]);
		}
	}
	for (uint32_t s = 0; s < table->n_segments; s++) {
		for (uint32_t i = 0; i < table->n_rows; i++) {
			fprintf(out, "%a ", table->segments_ns[s][i]);
		}
	}
	fclose(out);
	arena_release(&arena);
	return text;
}

/* What was collected from the first request on is what is read of them in the end. */
static void test_reading_later_gives_the_same(void **state)
{
	char *texts[3];

	(void)state;
	for (uint32_t round = 0; round < 3; round++) {
		struct bench bench;

		bench_init(&bench, &usual, 99);
		for (uint32_t i = 0; i < 900; i++) {
			add_random(&bench);
			if (round < 2 && bench.group_ids[0]) {
				switch_one(&bench, 0, true);
			}
		}
		switch_one(&bench, 0, true);
		texts[round] = print(&bench, 0);
		bench_release(&bench);
	}
	assert_string_equal(texts[0], texts[1]);
	assert_string_equal(texts[0], texts[2]);
	for (uint32_t round = 0; round < 3; round++) {
		free(texts[round]);
	}
}

/* ---- what is not collected ---- */

static void test_others_cost_nothing(void **state)
{
	struct bench with, without;

	(void)state;
	bench_init(&with, &usual, 5);
	bench_init(&without, &usual, 5);
	for (uint32_t i = 0; i < 3000; i++) {
		add_random(&with);
		add_random(&without);
		switch_one(&with, 1, true);
		assert_int_equal(bytes_of(&with, 0), bytes_of(&without, 0));
		assert_int_equal(bytes_of(&with, 2), bytes_of(&without, 2));
	}
	assert_true(bytes_of(&with, 1) > bytes_of(&without, 1));
	assert_null(with.groups->items[with.group_ids[0] - 1]->collected);
	/* What was collected is given back, to the byte. */
	switch_one(&with, 1, false);
	assert_int_equal(bytes_of(&with, 1), bytes_of(&without, 1));
	assert_int_equal(with.groups->samples.texts.bytes, 0);
	assert_int_equal(with.groups->samples.pool.in_use_bytes,
			without.groups->samples.pool.in_use_bytes);
	bench_release(&with);
	bench_release(&without);
}

static void test_nobody_to_ask(void **state)
{
	struct arena arena = {.chunks = NULL};
	const struct explain_table *table;
	struct fate *fate;
	struct bench bench;

	(void)state;
	bench_init(&bench, &usual, 6);
	assert_false(groups_collect(bench.groups, 0, true));
	assert_false(groups_collect(bench.groups, 1, true));
	add_random(&bench);
	assert_null(groups_table(bench.groups, 1, 0, &arena));
	assert_true(groups_collect(bench.groups, 1, false));
	bench.groups->config.read_keys = NULL;
	assert_false(groups_collect(bench.groups, 1, true));
	bench.groups->config.read_keys = read_keys;
	/* A group that nothing was ever measured of. */
	fate = fate_next(&bench);
	*fate = (struct fate){.type = 1, .tainted = true, .start_ns = START, .end_ns = START};
	add(&bench, fate);
	assert_true(groups_collect(bench.groups, 2, true));
	table = groups_table(bench.groups, 2, 0, &arena);
	assert_true(table && !table->n_rows && !table->n_keys && !table->n_segments);
	assert_null(groups_table(bench.groups, 1, 0, &arena));
	arena_release(&arena);
	bench_release(&bench);
}

/* Texts that differ in every request go with their requests. */
static void test_texts_go(void **state)
{
	struct bench bench;

	(void)state;
	bench_init(&bench, &usual, 7);
	for (uint32_t i = 0; i < 5000; i++) {
		struct fate *fate = fate_next(&bench);

		bench.now_ns += 2 * MS;
		fate->end_ns = bench.now_ns;
		fate->start_ns = bench.now_ns - 1 - i % 7;
		fate->parts[0] = 1 + i % 7;
		fate->has[2] = true;
		snprintf(fate->texts[2], sizeof(fate->texts[2]), "%u", i);
		add(&bench, fate);
		switch_one(&bench, 0, true);
		check_bytes(&bench);
		assert_true(bench.groups->samples.texts.n <= SAMPLES_MAX + 1);
	}
	assert_int_equal(bench.groups->samples.texts.bytes, SAMPLES_MAX * 64);
	check(&bench, 0, 0);
	bench_release(&bench);
}

/* What is pinned stays as it was shown, while others come, and are collected or no longer. */
static char *print_pinned(struct bench *bench, uint64_t at_ns)
{
	struct focus focus = {.parts = FOCUS_GROUPS | FOCUS_GROUP | FOCUS_TREE,
			.horizon = HORIZON_ALL,
			.group_id = bench->group_ids[0]};
	struct snapshot *snapshot = snapshot_create();
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	assert_true(snapshot && out);
	assert_int_equal(groups_fill(bench->groups, &focus, at_ns, snapshot), STATUS_OK);
	for (uint32_t i = 0; i < snapshot->groups.n; i++) {
		fprintf(out, "%lu %a\n", snapshot->groups.rows[i].count,
				snapshot->groups.rows[i].mean_ns);
	}
	for (uint32_t i = 0; i < snapshot->group.location.n_segments; i++) {
		const struct group_segment *one = &snapshot->group.location.segments[i];

		fprintf(out, "%s in %s: %a %a %a\n", one->name, one->where, one->phi, one->phi_low,
				one->tail_share);
	}
	for (uint32_t i = 0; i < snapshot->tree.n; i++) {
		fprintf(out, "%s %lu %a\n", snapshot->tree.rows[i].name,
				snapshot->tree.rows[i].count, snapshot->tree.rows[i].phi);
	}
	fclose(out);
	snapshot_destroy(snapshot);
	return text;
}

static void test_the_pin_stays(void **state)
{
	uint64_t at_ns;
	char *before[2];
	struct bench bench;

	(void)state;
	bench_init(&bench, &usual, 8);
	for (uint32_t i = 0; i < 1000; i++) {
		add_random(&bench);
	}
	switch_one(&bench, 0, true);
	at_ns = bench.now_ns;
	groups_pin(bench.groups, at_ns);
	before[0] = print_pinned(&bench, at_ns);
	before[1] = print_pinned(&bench, at_ns - 4 * S);
	for (uint32_t i = 0; i < 1500; i++) {
		if (i % 50 == 0) {
			char *now = print_pinned(&bench, at_ns);
			char *back = print_pinned(&bench, at_ns - 4 * S);

			assert_string_equal(before[0], now);
			assert_string_equal(before[1], back);
			free(now);
			free(back);
			check(&bench, 0, 0);
			switch_one(&bench, 0, i % 100 == 0);
		}
		add_random(&bench);
		check_bytes(&bench);
	}
	groups_unpin(bench.groups);
	switch_one(&bench, 0, true);
	check(&bench, 0, 0);
	check_bytes(&bench);
	free(before[0]);
	free(before[1]);
	bench_release(&bench);
}

/* ---- more keys than there is room for ---- */

#define MANY (SAMPLE_MAX_KEYS + 8)

struct crowd {
	struct bench bench;
	uint32_t n_always; /* keys of every request */
	uint32_t also;     /* and this one; 0: none */
	uint32_t names[MANY];
	struct request_key keys[MANY];
};

/* Key 0 varies; keys 1 to 9 say the same in other words; the others never vary. */
static bool read_crowd(void *context, const struct request *request, struct request_keys *out)
{
	struct crowd *crowd = context;
	double value = (double)(request->id % 11);

	*out = (struct request_keys){.items = crowd->keys};
	for (uint32_t i = 0; i < MANY; i++) {
		if (i >= crowd->n_always && (i != crowd->also || !i)) {
			continue;
		}
		crowd->keys[out->n++] = (struct request_key){.source = EXPLANATION_FIELD,
				.context = crowd->bench.contexts[0],
				.name = crowd->names[i],
				.numeric = true,
				.number = i < 10             ? value
					  : i == crowd->also ? value * value
							     : 1};
	}
	return true;
}

static void crowd_add(struct crowd *crowd, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		struct fate *fate = fate_next(&crowd->bench);

		crowd->bench.now_ns += 2 * MS;
		fate->end_ns = crowd->bench.now_ns;
		fate->start_ns = fate->end_ns - 10 - i % 3;
		fate->parts[0] = 10 + i % 3;
		add(&crowd->bench, fate);
	}
}

static bool crowd_has(struct crowd *crowd, uint32_t key)
{
	struct arena arena = {.chunks = NULL};
	const struct explain_table *table = groups_table(crowd->bench.groups, 1, 0, &arena);
	char name[40];
	bool found = false;

	assert_non_null(table);
	snprintf(name, sizeof(name), "span_0.many_%u", key);
	for (uint32_t i = 0; i < table->n_keys; i++) {
		found |= strcmp(table->keys[i].name, name) == 0;
	}
	assert_int_equal(table->n_keys, EXPLAIN_MAX_KEYS);
	arena_release(&arena);
	return found;
}

static void crowd_init(struct crowd *crowd)
{
	struct groups *groups;

	memset(crowd, 0, sizeof(*crowd));
	bench_init(&crowd->bench, &usual, 1);
	groups = crowd->bench.groups;
	for (uint32_t i = 0; i < MANY; i++) {
		char name[16];

		snprintf(name, sizeof(name), "many_%u", i);
		crowd->names[i] = names_add(crowd->bench.source.names, name, strlen(name));
	}
	groups->config.read_keys = read_crowd;
}

/*
 * All places are taken, two of them by keys of the first request alone. A new key has to wait until
 * these are in less than 1 % of the samples, and then is there for good.
 */
static void test_rare_keys_make_room(void **state)
{
	struct crowd *crowd = malloc(sizeof(*crowd));
	struct groups *groups;

	(void)state;
	assert_non_null(crowd);
	crowd_init(crowd);
	groups = crowd->bench.groups;
	crowd->n_always = SAMPLE_MAX_KEYS;
	crowd_add(crowd, 1);
	assert_true(groups_collect(groups, 1, true));
	crowd->n_always = SAMPLE_MAX_KEYS - 2;
	crowd_add(crowd, 50);
	crowd->also = SAMPLE_MAX_KEYS + 3;
	crowd_add(crowd, 30);
	assert_false(crowd_has(crowd, crowd->also));
	crowd_add(crowd, 30);
	assert_true(crowd_has(crowd, SAMPLE_MAX_KEYS + 3));
	crowd->also = SAMPLE_MAX_KEYS + 4;
	crowd_add(crowd, 1);
	assert_true(crowd_has(crowd, SAMPLE_MAX_KEYS + 4));
	/* Both were met a moment ago: no room for a third one, however rare they are. */
	crowd->also = SAMPLE_MAX_KEYS + 5;
	crowd_add(crowd, 90);
	assert_false(crowd_has(crowd, SAMPLE_MAX_KEYS + 5));
	crowd_add(crowd, 20);
	assert_true(crowd_has(crowd, SAMPLE_MAX_KEYS + 5));
	assert_true(crowd_has(crowd, SAMPLE_MAX_KEYS + 3)); /* 30 of 220 have it */
	assert_int_equal(groups->items[0]->collected->n, SAMPLE_MAX_KEYS);
	bench_release(&crowd->bench);
	free(crowd);
}

/* Of those that are too many for the table: what varies, then copies, then what never does. */
static void test_what_varies_is_taken(void **state)
{
	struct crowd *crowd = malloc(sizeof(*crowd));

	(void)state;
	assert_non_null(crowd);
	crowd_init(crowd);
	crowd->n_always = 200;
	crowd_add(crowd, 20);
	assert_true(groups_collect(crowd->bench.groups, 1, true));
	crowd->also = 300; /* enabled later: met last, in the fewest requests */
	crowd_add(crowd, 20);
	assert_true(crowd_has(crowd, 0));
	assert_true(crowd_has(crowd, 300));
	for (uint32_t i = 1; i < 10; i++) {
		assert_true(crowd_has(crowd, i));
	}
	for (uint32_t i = 10; i < 200; i++) {
		assert_int_equal(crowd_has(crowd, i), i < EXPLAIN_MAX_KEYS - 1);
	}
	bench_release(&crowd->bench);
	free(crowd);
}

/* ---- a field that changes its kind ---- */

struct fickle {
	struct bench bench;
	bool text;
	struct request_key key;
};

static bool read_fickle(void *context, const struct request *request, struct request_keys *out)
{
	struct fickle *fickle = context;

	fickle->key = (struct request_key){.context = fickle->bench.contexts[0],
			.name = fickle->bench.names[0],
			.numeric = !fickle->text,
			.number = (double)request->id,
			.text = "text",
			.length = 4};
	*out = (struct request_keys){.n = 1, .items = &fickle->key};
	return true;
}

static void test_a_key_stays_of_its_kind(void **state)
{
	struct fickle *fickle = malloc(sizeof(*fickle));
	struct arena arena = {.chunks = NULL};
	const struct explain_table *table;

	(void)state;
	assert_non_null(fickle);
	memset(fickle, 0, sizeof(*fickle));
	bench_init(&fickle->bench, &usual, 1);
	fickle->bench.groups->config.read_keys = read_fickle;
	for (uint32_t i = 0; i < 3; i++) {
		struct fate *fate = fate_next(&fickle->bench);

		fickle->text = i == 1;
		fate->parts[0] = 5 + i;
		fate->start_ns = fate->end_ns - 5 - i;
		add(&fickle->bench, fate);
		assert_true(groups_collect(fickle->bench.groups, 1, true));
	}
	table = groups_table(fickle->bench.groups, 1, 0, &arena);
	assert_true(table && table->n_rows == 3 && table->n_keys == 1);
	assert_true(table->keys[0].numeric && table->keys[0].n_texts == 0);
	assert_true(table->keys[0].values[0] == 1 && isnan(table->keys[0].values[1]) &&
			table->keys[0].values[2] == 3);
	assert_int_equal(fickle->bench.groups->samples.texts.bytes, 0);
	arena_release(&arena);
	bench_release(&fickle->bench);
	free(fickle);
}

/* ---- what was done, and what was brought ---- */

#define DOINGS 4u

struct doing {
	struct bench bench;
	uint32_t contexts[DOINGS];
	struct request_key keys[DOINGS];
};

/* A number of the request's own, one and a path that a system call tells, one of a socket. */
static bool read_doing(void *context, const struct request *request, struct request_keys *out)
{
	struct doing *doing = context;

	for (uint32_t i = 0; i < DOINGS; i++) {
		doing->keys[i] = (struct request_key){.context = doing->contexts[i],
				.name = doing->bench.names[i],
				.numeric = i != 2,
				.number = (double)request->id,
				.is_text = i == 2,
				.text = request->id % 2 ? "one" : "two",
				.length = 3};
	}
	*out = (struct request_keys){.n = DOINGS, .items = doing->keys};
	return true;
}

static void test_what_was_done_is_marked(void **state)
{
	static const char *const names[DOINGS] = {
			"syscall_write", "syscall_lseek", "syscall_openat", "socket_recv"};
	struct doing *doing = calloc(1, sizeof(*doing));
	struct arena arena = {.chunks = NULL};
	const struct explain_table *table;

	(void)state;
	assert_non_null(doing);
	bench_init(&doing->bench, &usual, 1);
	doing->bench.groups->config.read_keys = read_doing;
	for (uint32_t i = 0; i < DOINGS; i++) {
		/* The first is the request itself. */
		doing->contexts[i] = request_source_context(
				&doing->bench.source, i ? doing->contexts[0] : 0, "", names[i]);
	}
	for (uint32_t i = 0; i < 60; i++) {
		struct fate *fate = fate_next(&doing->bench);

		fate->parts[0] = 5 + i;
		fate->start_ns = fate->end_ns - 5 - i;
		add(&doing->bench, fate);
		assert_true(groups_collect(doing->bench.groups, 1, true));
	}
	table = groups_table(doing->bench.groups, 1, 0, &arena);
	assert_true(table && table->n_keys == DOINGS);
	for (uint32_t i = 0; i < DOINGS; i++) {
		bool is = strncmp(table->keys[i].name, "syscall_lseek.", 14) == 0;

		assert_int_equal(table->keys[i].done, is);
	}
	arena_release(&arena);
	bench_release(&doing->bench);
	free(doing);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
			cmocka_unit_test(test_tables_are_those_of_a_plain_list),
			cmocka_unit_test(test_reading_later_gives_the_same),
			cmocka_unit_test(test_others_cost_nothing),
			cmocka_unit_test(test_nobody_to_ask),
			cmocka_unit_test(test_texts_go),
			cmocka_unit_test(test_the_pin_stays),
			cmocka_unit_test(test_rare_keys_make_room),
			cmocka_unit_test(test_what_varies_is_taken),
			cmocka_unit_test(test_a_key_stays_of_its_kind),
			cmocka_unit_test(test_what_was_done_is_marked),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
