/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Shapes of requests and the automaton of a type, against oracles written by the definition, and
 * against plans: what was planted among usual requests is found, whatever the order they come in.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/names.h"
#include "behaviour/automaton.h"
#include "behaviour/behaviour.h"
#include "behaviour/distance.h"
#include "behaviour/reading.h"
#include "behaviour/told.h"

#define NS_PER_S UINT64_C(1000000000)
#define T0       (UINT64_C(1700000000) * NS_PER_S)

static uint64_t random_state;

static uint32_t pick(uint32_t n)
{
	random_state = random_state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (uint32_t)((random_state >> 33) % n);
}

static bool chance(double p)
{
	return pick(1u << 20) < p * (1u << 20);
}

/* ---- the distance of strings ---- */

#define LONGEST 24u

/* All of the table, row by row. */
static uint32_t naive_distance(const uint32_t *a, uint32_t n, const uint32_t *b, uint32_t m)
{
	uint32_t d[LONGEST + 1][LONGEST + 1];

	for (uint32_t i = 0; i <= n; i++) {
		for (uint32_t j = 0; j <= m; j++) {
			if (i == 0 || j == 0) {
				d[i][j] = i + j;
				continue;
			}
			d[i][j] = d[i - 1][j - 1] + (a[i - 1] != b[j - 1]);
			d[i][j] = d[i - 1][j] + 1 < d[i][j] ? d[i - 1][j] + 1 : d[i][j];
			d[i][j] = d[i][j - 1] + 1 < d[i][j] ? d[i][j - 1] + 1 : d[i][j];
		}
	}
	return d[n][m];
}

static void distances_are_those_of_the_whole_table(void **state)
{
	(void)state;
	random_state = 1;
	for (int trial = 0; trial < 20000; trial++) {
		uint32_t a[LONGEST], b[LONGEST], n = pick(LONGEST), m = pick(LONGEST);
		uint32_t most = pick(LONGEST + 4), symbols = 2 + pick(4), told, is;

		for (uint32_t i = 0; i < LONGEST; i++) {
			a[i] = pick(symbols);
			b[i] = chance(0.8) ? a[i] : pick(symbols);
		}
		is = naive_distance(a, n, b, m);
		told = distance_edits(a, n, b, m, most);
		if (is <= most) {
			assert_int_equal(told, is);
		} else {
			assert_true(told > most);
		}
	}
}

/* ---- the automaton ---- */

#define MOST_PREFIXES 256u
#define SYMBOLS       4u

struct naive {
	uint32_t n;                             /* prefixes; 0 is the empty one */
	uint32_t child[MOST_PREFIXES][SYMBOLS]; /* UINT32_MAX: none */
	uint64_t count[MOST_PREFIXES], ends[MOST_PREFIXES];
	uint32_t block[MOST_PREFIXES];
	double bound;
};

struct sums {
	uint64_t n, ends, way[SYMBOLS];
	uint32_t to[SYMBOLS];
};

/* What all prefixes of a block have together. */
static struct sums sums_of(const struct naive *naive, uint32_t block)
{
	struct sums sums = {.n = 0};

	for (uint32_t a = 0; a < SYMBOLS; a++) {
		sums.to[a] = UINT32_MAX;
	}
	for (uint32_t p = 0; p < naive->n; p++) {
		if (naive->block[p] != block) {
			continue;
		}
		sums.n += naive->count[p];
		sums.ends += naive->ends[p];
		for (uint32_t a = 0; a < SYMBOLS; a++) {
			uint32_t c = naive->child[p][a];

			if (c != UINT32_MAX) {
				sums.way[a] += naive->count[c];
				sums.to[a] = naive->block[c];
			}
		}
	}
	return sums;
}

static bool differ(const struct naive *naive, uint64_t f1, uint64_t n1, uint64_t f2, uint64_t n2)
{
	double x = (double)n1, y = (double)n2;

	return fabs((double)f1 / x - (double)f2 / y) > (1 / sqrt(x) + 1 / sqrt(y)) * naive->bound;
}

static bool naive_compatible(const struct naive *naive, uint32_t p, uint32_t q)
{
	struct sums x = sums_of(naive, p), y = sums_of(naive, q);

	if (differ(naive, x.ends, x.n, y.ends, y.n)) {
		return false;
	}
	for (uint32_t a = 0; a < SYMBOLS; a++) {
		if (differ(naive, x.way[a], x.n, y.way[a], y.n)) {
			return false;
		}
		if (x.to[a] != UINT32_MAX && y.to[a] != UINT32_MAX &&
				!naive_compatible(naive, x.to[a], y.to[a])) {
			return false;
		}
	}
	return true;
}

/* Makes one of two blocks, and of all that then would not be told apart. */
static void naive_merge(struct naive *naive, uint32_t to, uint32_t from)
{
	bool again = true;

	for (uint32_t p = 0; p < naive->n; p++) {
		naive->block[p] = naive->block[p] == from ? to : naive->block[p];
	}
	while (again) {
		again = false;
		for (uint32_t p = 0; p < naive->n && !again; p++) {
			for (uint32_t q = 0; q < naive->n && !again; q++) {
				for (uint32_t a = 0; a < SYMBOLS && !again; a++) {
					uint32_t c = naive->child[p][a], d = naive->child[q][a];

					again = naive->block[p] == naive->block[q] &&
						c != UINT32_MAX && d != UINT32_MAX &&
						naive->block[c] != naive->block[d];
					if (again) {
						naive_merge(naive, naive->block[c],
								naive->block[d]);
					}
				}
			}
		}
	}
}

/* Blocks are named by their oldest prefix as far as they are red, so that merging keeps these. */
static void naive_learn(struct naive *naive)
{
	uint32_t red[MOST_PREFIXES], n_red = 1;

	red[0] = 0;
	for (;;) {
		uint32_t blue = UINT32_MAX, i;

		for (i = 0; i < n_red && blue == UINT32_MAX; i++) {
			struct sums sums = sums_of(naive, naive->block[red[i]]);

			for (uint32_t a = 0; a < SYMBOLS && blue == UINT32_MAX; a++) {
				bool is_red = sums.to[a] == UINT32_MAX;

				for (uint32_t k = 0; k < n_red; k++) {
					is_red |= sums.to[a] == naive->block[red[k]];
				}
				blue = is_red ? UINT32_MAX : sums.to[a];
			}
		}
		if (blue == UINT32_MAX) {
			return;
		}
		i = sums_of(naive, blue).n < AUTOMATON_LEAST ? n_red : 0;
		while (i < n_red && (sums_of(naive, naive->block[red[i]]).n < AUTOMATON_LEAST ||
						    !naive_compatible(naive, naive->block[red[i]],
								    blue))) {
			i++;
		}
		if (i < n_red) {
			naive_merge(naive, naive->block[red[i]], blue);
		} else {
			for (uint32_t p = 0; p < naive->n; p++) {
				if (naive->block[p] == blue) {
					red[n_red++] = p;
					break;
				}
			}
		}
	}
}

static void naive_add(struct naive *naive, const struct automaton_string *string)
{
	uint32_t at = 0;

	naive->count[0] += string->count;
	for (uint32_t i = 0; i < string->n; i++) {
		uint32_t *child = &naive->child[at][string->symbols[i]];

		if (*child == UINT32_MAX) {
			*child = naive->n++;
			memset(naive->child[*child], 0xff, sizeof(naive->child[*child]));
			naive->block[*child] = *child;
		}
		at = *child;
		naive->count[at] += string->count;
	}
	naive->ends[at] += string->count;
}

#define MOST_STRINGS 20u

static void automata_are_those_of_naive_merging(void **state)
{
	uint32_t merged = 0;

	(void)state;
	random_state = 2;
	for (int trial = 0; trial < 150; trial++) {
		static struct naive naive;
		static uint32_t symbols[MOST_STRINGS][12], prefix_state[MOST_PREFIXES];
		struct automaton_string strings[MOST_STRINGS];
		uint32_t n = 2 + pick(MOST_STRINGS - 2), used = 2 + pick(SYMBOLS - 1);
		struct automaton *automaton;

		memset(&naive, 0, sizeof(naive));
		naive.n = 1;
		memset(naive.child[0], 0xff, sizeof(naive.child[0]));
		naive.bound = sqrt(log(2 / AUTOMATON_ALPHA) / 2);
		memset(prefix_state, 0xff, sizeof(prefix_state));
		for (uint32_t i = 0; i < n; i++) {
			strings[i] = (struct automaton_string){.symbols = symbols[i],
					.n = pick(12),
					.count = 1 + pick(1u << pick(12))};
			for (uint32_t j = 0; j < strings[i].n; j++) {
				symbols[i][j] = pick(used);
			}
			naive_add(&naive, &strings[i]);
		}
		naive_learn(&naive);
		automaton = automaton_learn(strings, n, AUTOMATON_ALPHA);
		assert_non_null(automaton);
		for (uint32_t i = 0; i < n; i++) {
			uint32_t at = 0;

			for (uint32_t j = 0; j <= strings[i].n; j++) {
				prefix_state[at] = automaton_state(automaton, symbols[i], j);
				assert_true(prefix_state[at] != UINT32_MAX);
				at = j < strings[i].n ? naive.child[at][symbols[i][j]] : at;
			}
		}
		for (uint32_t p = 0; p < naive.n; p++) {
			for (uint32_t q = 0; q < p; q++) {
				assert_int_equal(naive.block[p] == naive.block[q],
						prefix_state[p] == prefix_state[q]);
				merged += naive.block[p] == naive.block[q];
			}
		}
		automaton_destroy(automaton);
	}
	assert_true(merged > 1000);
}

/* Of all strings the probabilities that an automaton gives add up to 1. */
static void probabilities_add_up(void **state)
{
	static const uint32_t ab[] = {0, 1, 2}, b[] = {0, 2}, a[] = {0, 1};
	const struct automaton_string strings[] = {{ab, 3, 700}, {b, 2, 250}, {a, 2, 50}};
	struct automaton *automaton = automaton_learn(strings, 3, AUTOMATON_ALPHA);
	struct automaton_walk walk;
	double sum = 0;

	(void)state;
	for (int i = 0; i < 3; i++) {
		automaton_follow(automaton, strings[i].symbols, strings[i].n, &walk);
		sum += exp(walk.log_probability);
		assert_true(fabs(exp(walk.log_probability) - (double)strings[i].count / 1000) <
				1e-9);
	}
	assert_true(fabs(sum - 1) < 1e-9);
	/* The least usual one ends where others go on. */
	assert_int_equal(walk.step, 2);
	assert_int_equal(walk.expected, 2);
	automaton_destroy(automaton);
}

/* ---- planted behaviour ---- */

enum { ROOT, AUTHENTICATE, CACHE, AUDIT, QUERY, COMMIT, RETRY, NOISE, N_NAMES = NOISE + 8 };
static const char *const texts[N_NAMES] = {"order", "authenticate", "cache_get", "audit", "query",
		"commit", "retry", "n0", "n1", "n2", "n3", "n4", "n5", "n6", "n7"};

#define REQUESTS   6000u
#define MOST_STEPS 16u

struct planned {
	struct sequence_step steps[MOST_STEPS];
	uint32_t n;
	bool planted;
	uint64_t start_ns, end_ns;
};

static struct planned plan[REQUESTS];
static struct names *names;
static uint32_t ids[N_NAMES];

static void step(struct planned *planned, uint32_t name)
{
	if (planned->n < MOST_STEPS) {
		planned->steps[planned->n] = (struct sequence_step){
				.name = ids[name], .above = planned->n ? 0 : SEQUENCE_NONE};
		planned->n++;
	}
}

static void noisy_step(struct planned *planned, uint32_t name, double noise)
{
	step(planned, name);
	if (chance(noise)) {
		step(planned, NOISE + pick(N_NAMES - NOISE));
	}
}

static void plan_usual(struct planned *planned, bool retries, double noise)
{
	noisy_step(planned, ROOT, noise);
	noisy_step(planned, AUTHENTICATE, noise);
	if (chance(0.85)) {
		step(planned, CACHE);
	}
	noisy_step(planned, QUERY, noise);
	if (retries) {
		step(planned, RETRY);
		step(planned, QUERY);
	}
	noisy_step(planned, COMMIT, noise);
	if (chance(0.3)) {
		step(planned, AUDIT);
	}
}

/* A step is left out, doubled, or in the wrong place. */
static void plan_odd(struct planned *planned)
{
	uint32_t at, other;

	plan_usual(planned, false, 0);
	at = 1 + pick(planned->n - 1);
	other = 1 + pick(planned->n - 1);
	switch (pick(3)) {
	case 0:
		planned->steps[at] = planned->steps[--planned->n];
		step(planned, AUTHENTICATE);
		break;
	case 1:
		step(planned, RETRY);
		break;
	default:
		planned->steps[at].name = ids[RETRY];
		planned->steps[other].name = ids[NOISE + pick(N_NAMES - NOISE)];
		break;
	}
}

static int set_up(void **state)
{
	(void)state;
	names = names_create(1000);
	for (uint32_t i = 0; names && i < N_NAMES; i++) {
		ids[i] = names_add(names, texts[i], strlen(texts[i]));
	}
	return names ? 0 : -1;
}

static int tear_down(void **state)
{
	(void)state;
	names_destroy(names);
	return 0;
}

static void make_plan(double share, double noise, bool odd)
{
	memset(plan, 0, sizeof(plan));
	for (uint32_t i = 0; i < REQUESTS; i++) {
		plan[i].planted = chance(share);
		if (odd && plan[i].planted) {
			plan_odd(&plan[i]);
		} else {
			plan_usual(&plan[i], plan[i].planted, noise);
		}
		plan[i].end_ns = T0 + (uint64_t)i * (8 * NS_PER_S / REQUESTS);
		plan[i].start_ns = plan[i].end_ns - 1000 - pick(1000000);
	}
}

static struct behaviour *feed_plan(const uint32_t *order)
{
	struct behaviour *behaviour = behaviour_create(
			&(struct behaviour_config){.window_ns = 10 * NS_PER_S}, names);

	assert_non_null(behaviour);
	for (uint32_t i = 0; i < REQUESTS; i++) {
		uint32_t at = order ? order[i] : i;
		const struct planned *planned = &plan[at];
		struct behaved behaved = {.type = ids[ROOT],
				.group_id = 1,
				.id = at + 1,
				.start_ns = planned->start_ns,
				.end_ns = planned->end_ns,
				.sequence = {.n = planned->n, .steps = planned->steps}};

		assert_true(behaviour_wants(
				behaviour, ids[ROOT], planned->start_ns, planned->end_ns));
		behaviour_add(behaviour, &behaved);
	}
	behaviour_advance(behaviour, T0 + 9 * NS_PER_S);
	return behaviour;
}

/* The string of a planned request, as the reading has it. */
static const struct reading_string *find_string(
		const struct reading *reading, const struct planned *planned)
{
	for (uint32_t i = 0; i < reading->n; i++) {
		const struct reading_string *string = &reading->strings[i];
		uint32_t j = 0;

		while (j < string->n && j < planned->n &&
				reading->alphabet->symbols[reading->symbol_of[string->ranks[j]]]
								.name == planned->steps[j].name) {
			j++;
		}
		if (j == string->n && j == planned->n) {
			return string;
		}
	}
	fail();
	return NULL;
}

static void planted_shapes_are_found(void **state)
{
	(void)state;
	for (uint64_t seed = 3; seed < 9; seed++) {
		struct arena arena = {.chunks = NULL};
		struct reading reading;
		struct behaviour *behaviour;
		uint32_t all[READING_SHAPES] = {0}, planted[READING_SHAPES] = {0};
		uint32_t total = 0, hits = 0, claimed = 0;

		random_state = seed;
		make_plan(0.02, 0.02, false);
		behaviour = feed_plan(NULL);
		assert_true(reading_make(&reading, behaviour, behaviour_find(behaviour, ids[ROOT]),
				HORIZON_WINDOW, &arena));
		assert_int_equal(reading.total, REQUESTS);
		for (uint32_t i = 0; i < REQUESTS; i++) {
			uint32_t shape = find_string(&reading, &plan[i])->shape;

			all[shape]++;
			planted[shape] += plan[i].planted;
			total += plan[i].planted;
		}
		for (uint32_t i = 0; i < reading.n_shapes; i++) {
			assert_int_equal(all[i], reading.shapes[i].count);
			if (planted[i] * 2 > all[i]) {
				claimed += all[i];
				hits += planted[i];
			}
		}
		assert_true(total > REQUESTS / 100);
		assert_true(hits >= 0.98 * total);
		assert_true(hits >= 0.98 * claimed);
		assert_true(reading.n_shapes <= 16);
		behaviour_destroy(behaviour);
		arena_release(&arena);
	}
}

/* Area under the curve of the probabilities of odd requests against usual ones. */
static void odd_requests_are_improbable(void **state)
{
	(void)state;
	for (uint64_t seed = 20; seed < 26; seed++) {
		struct arena arena = {.chunks = NULL};
		struct reading reading;
		struct behaviour *behaviour;
		double area = 0, pairs = 0;

		random_state = seed;
		make_plan(0.01, 0, true);
		behaviour = feed_plan(NULL);
		assert_true(reading_make(&reading, behaviour, behaviour_find(behaviour, ids[ROOT]),
				HORIZON_ALL, &arena));
		assert_true(reading_follow(&reading, &arena));
		for (uint32_t i = 0; i < REQUESTS; i++) {
			double odd = find_string(&reading, &plan[i])->walk.log_probability;

			for (uint32_t j = 0; plan[i].planted && j < REQUESTS; j += 7) {
				double usual = find_string(&reading, &plan[j])
							       ->walk.log_probability;

				if (!plan[j].planted) {
					area += odd < usual ? 1 : odd > usual ? 0 : 0.5;
					pairs++;
				}
			}
		}
		assert_true(pairs > 10000);
		if (area / pairs < 0.98) {
			fail_msg("seed %u: area %.4f", (unsigned)seed, area / pairs);
		}
		behaviour_destroy(behaviour);
		arena_release(&arena);
	}
}

static void same_rows(const struct shapes_view *a, const struct shapes_view *b)
{
	assert_int_equal(a->n, b->n);
	for (uint32_t i = 0; i < a->n; i++) {
		const struct shape_row *x = &a->rows[i], *y = &b->rows[i];

		assert_int_equal(x->count, y->count);
		assert_int_equal(x->request, y->request);
		assert_int_equal(x->variants, y->variants);
		assert_string_equal(x->differs, y->differs);
		assert_true(x->mean_ns == y->mean_ns);
	}
	assert_int_equal(a->n_improbable, b->n_improbable);
	for (uint32_t i = 0; i < a->n_improbable; i++) {
		const struct improbable_row *x = &a->improbable[i], *y = &b->improbable[i];

		assert_int_equal(x->request, y->request);
		assert_int_equal(x->step, y->step);
		assert_string_equal(x->at, y->at);
		assert_true(x->probability == y->probability);
	}
}

static void order_does_not_matter(void **state)
{
	(void)state;
	for (uint64_t seed = 40; seed < 46; seed++) {
		struct arena arena = {.chunks = NULL};
		struct shapes_view in_order, shuffled;
		static uint32_t order[REQUESTS];

		random_state = seed;
		/* With so much noise there are more strings than room. */
		make_plan(0.02, seed % 2 ? 0.6 : 0.02, false);
		for (uint32_t i = 0; i < REQUESTS; i++) {
			uint32_t j = pick(i + 1);

			order[i] = order[j];
			order[j] = i;
		}
		for (int way = 0; way < 2; way++) {
			struct behaviour *behaviour = feed_plan(way ? order : NULL);
			struct shapes_view *view = way ? &shuffled : &in_order;

			assert_true(behaviour_tell(behaviour, 0, HORIZON_WINDOW, &arena, view));
			assert_int_equal(view->n_types, 1);
			assert_int_equal(view->types[0].coarseness > 0, seed % 2);
			assert_int_equal(view->types[0].looked_at, REQUESTS);
			assert_true(behaviour_find(behaviour, ids[ROOT])->n <= BEHAVIOUR_STRINGS);
			behaviour_destroy(behaviour);
		}
		same_rows(&in_order, &shuffled);
		arena_release(&arena);
	}
}

/* What is out of the window is not in it; what is old goes, where there are many strings. */
static void strings_grow_old(void **state)
{
	struct behaviour *behaviour = behaviour_create(
			&(struct behaviour_config){.window_ns = 10 * NS_PER_S}, names);
	struct arena arena = {.chunks = NULL};
	struct shapes_view view;

	(void)state;
	random_state = 60;
	for (uint32_t second = 0; second < 300; second++) {
		for (uint32_t i = 0; i < 8; i++) {
			struct planned planned = {.n = 0};
			uint64_t at_ns = T0 + second * NS_PER_S + i;

			plan_usual(&planned, false, 0.5);
			if (behaviour_wants(behaviour, ids[ROOT], at_ns - 5, at_ns)) {
				behaviour_add(behaviour,
						&(struct behaved){.type = ids[ROOT],
								.start_ns = at_ns - 5,
								.end_ns = at_ns,
								.sequence = {.n = planned.n,
										.steps = planned.steps}});
			}
		}
		behaviour_advance(behaviour, T0 + second * NS_PER_S + 9);
		assert_true(behaviour_find(behaviour, ids[ROOT])->n <= BEHAVIOUR_STRINGS);
	}
	assert_true(behaviour_tell(behaviour, 0, HORIZON_WINDOW, &arena, &view));
	assert_in_range(view.types[0].looked_at, 80, 88);
	behaviour_advance(behaviour, T0 + 400 * NS_PER_S);
	assert_true(behaviour_tell(behaviour, 0, HORIZON_WINDOW, &arena, &view));
	assert_int_equal(view.n, 0);
	behaviour_begin_epoch(behaviour, T0 + 400 * NS_PER_S, NULL, NULL);
	assert_true(behaviour_tell(behaviour, 0, HORIZON_EPOCH, &arena, &view));
	assert_int_equal(view.n, 0);
	behaviour_destroy(behaviour);
	arena_release(&arena);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
			cmocka_unit_test(distances_are_those_of_the_whole_table),
			cmocka_unit_test(automata_are_those_of_naive_merging),
			cmocka_unit_test(probabilities_add_up),
			cmocka_unit_test(planted_shapes_are_found),
			cmocka_unit_test(odd_requests_are_improbable),
			cmocka_unit_test(order_does_not_matter),
			cmocka_unit_test(strings_grow_old),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
