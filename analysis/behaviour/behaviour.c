/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "behaviour/behaviour.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/number_map.h"
#include "behaviour/alphabet.h"

#define NS_PER_S    UINT64_C(1000000000)
#define MOST_STEPS  (SEQUENCE_MAX + 1) /* with that it fell silent */
#define HASH_CHAINS 4096u
#define BURST       2u /* seconds' worth that is taken in one before the share is halved */
#define LIFE        2u /* windows that a string stays that was seen once */
#define RENEWALS    (BEHAVIOUR_SLOTS / 2) /* slots in which the same request stays kept */

/* What is left of strings as they get coarser. */
static const struct {
	uint32_t depth;
	bool unordered;
} levels[] = {{UINT32_MAX, false}, {5, false}, {3, false}, {3, true}, {1, true}, {0, true}};
#define N_LEVELS (sizeof(levels) / sizeof(levels[0]))

/* What was seen of the requests that ended in a second, and which of them are looked at. */
struct pace {
	uint64_t second, seen, taken, threshold;
};
#define PACES 16u

struct behaviour {
	struct behaviour_config config;
	const struct names *names;
	struct alphabet alphabet;
	struct behaviour_type *types[BEHAVIOUR_TYPES];
	uint32_t n_types, n_strings;
	struct number_map by_type;
	struct behaviour_string *chains[HASH_CHAINS];
	uint64_t slot_ns, slot;
	struct pace paces[PACES];     /* by second modulo PACES */
	uint32_t symbols[MOST_STEPS]; /* scratch */
	uint8_t depths[MOST_STEPS];
};

struct behaviour *behaviour_create(const struct behaviour_config *config, const struct names *names)
{
	struct behaviour *b = calloc(1, sizeof(*b));

	if (b) {
		b->config = *config;
		b->names = names;
		b->slot_ns = config->window_ns / (BEHAVIOUR_SLOTS - 2);
		b->slot_ns = b->slot_ns ? b->slot_ns : 1;
	}
	return b;
}

static void drop(struct behaviour *b, uint32_t *held)
{
	if (*held && b->config.let_go) {
		b->config.let_go(b->config.context, *held);
	}
	*held = 0;
}

static void let_go(struct behaviour *b, struct behaviour_string *string)
{
	drop(b, &string->held);
	drop(b, &string->held_before);
	string->request = 0;
}

void behaviour_destroy(struct behaviour *b)
{
	if (!b) {
		return;
	}
	for (uint32_t i = 0; i < b->n_types; i++) {
		struct behaviour_string *string = b->types[i]->first, *next;

		for (; string; string = next) {
			next = string->next;
			let_go(b, string);
			free(string);
		}
		free(b->types[i]);
	}
	number_map_release(&b->by_type);
	alphabet_release(&b->alphabet);
	free(b);
}

/* ---- counting ---- */

static void tally_add(struct behaviour_tally *tally, uint64_t ns)
{
	tally->n++;
	tally->duration_ns += (double)ns;
}

static struct behaviour_tally tally_sum(struct behaviour_tally a, struct behaviour_tally b)
{
	return (struct behaviour_tally){
			.n = a.n + b.n, .duration_ns = a.duration_ns + b.duration_ns};
}

/* The slots between that nothing was counted in are empty. */
static void turn_to(struct behaviour_tallies *tallies, uint64_t slot)
{
	uint64_t passed = slot - tallies->slot;

	for (uint64_t i = 0; i < passed && i < BEHAVIOUR_SLOTS; i++) {
		tallies->slots[(slot - i) % BEHAVIOUR_SLOTS] = (struct behaviour_tally){.n = 0};
	}
	tallies->slot = slot;
}

static void count(const struct behaviour *b, const struct behaviour_type *type,
		struct behaviour_tallies *tallies, uint64_t start_ns, uint64_t end_ns)
{
	uint64_t slot = end_ns / b->slot_ns, ns = end_ns - start_ns;

	tally_add(&tallies->all, ns);
	if (!type->epoch || start_ns >= type->epoch_ns) {
		tally_add(&tallies->epoch, ns);
	}
	if (slot > tallies->slot) {
		turn_to(tallies, slot);
	}
	if (tallies->slot - slot < BEHAVIOUR_SLOTS) {
		tally_add(&tallies->slots[slot % BEHAVIOUR_SLOTS], ns);
	}
}

struct behaviour_tally behaviour_count(const struct behaviour *b, const struct behaviour_type *type,
		const struct behaviour_tallies *tallies, enum horizon horizon)
{
	struct behaviour_tally sum = {.n = 0};

	(void)type;
	if (horizon != HORIZON_WINDOW) {
		return horizon == HORIZON_ALL ? tallies->all : tallies->epoch;
	}
	for (uint64_t i = 0; i < BEHAVIOUR_SLOTS; i++) {
		uint64_t slot = tallies->slot - i;

		if (i <= tallies->slot && slot + BEHAVIOUR_SLOTS - 2 >= b->slot) {
			sum = tally_sum(sum, tallies->slots[slot % BEHAVIOUR_SLOTS]);
		}
	}
	return sum;
}

/* Two that turn out to be the same. */
static void tallies_join(struct behaviour_tallies *to, struct behaviour_tallies *from)
{
	uint64_t slot = to->slot > from->slot ? to->slot : from->slot;

	turn_to(to, slot);
	turn_to(from, slot);
	to->all = tally_sum(to->all, from->all);
	to->epoch = tally_sum(to->epoch, from->epoch);
	for (uint32_t i = 0; i < BEHAVIOUR_SLOTS; i++) {
		to->slots[i] = tally_sum(to->slots[i], from->slots[i]);
	}
}

/* ---- types ---- */

static struct behaviour_type *type_of(struct behaviour *b, uint32_t id)
{
	uint32_t at = number_map_find(&b->by_type, id);
	struct behaviour_type *type;

	if (at != NUMBER_NONE) {
		return b->types[at];
	}
	type = b->n_types < BEHAVIOUR_TYPES ? calloc(1, sizeof(*type)) : NULL;
	if (!type || !number_map_set(&b->by_type, id, b->n_types)) {
		free(type);
		return NULL;
	}
	type->type = id;
	b->types[b->n_types++] = type;
	return type;
}

const struct behaviour_type *behaviour_find(const struct behaviour *b, uint32_t type)
{
	uint32_t at = number_map_find(&b->by_type, type);

	return at != NUMBER_NONE ? b->types[at] : NULL;
}

uint32_t behaviour_types(const struct behaviour *b)
{
	return b->n_types;
}

const struct behaviour_type *behaviour_type_at(const struct behaviour *b, uint32_t i)
{
	return b->types[i];
}

const struct alphabet *behaviour_alphabet(const struct behaviour *b)
{
	return &b->alphabet;
}

const struct names *behaviour_names(const struct behaviour *b)
{
	return b->names;
}

/* The second of an instant; where nothing was told of it so far, what is expected of it. */
static struct pace *pace_of(struct behaviour *b, uint64_t second)
{
	struct pace *pace = &b->paces[second % PACES];
	const struct pace *before = &b->paces[(second - 1) % PACES];
	uint64_t expected = before->second + 1 == second ? before->seen : 0;

	if (pace->second < second) {
		*pace = (struct pace){.second = second, .threshold = UINT32_MAX};
		if (expected > BEHAVIOUR_PER_S) {
			pace->threshold = ((uint64_t)BEHAVIOUR_PER_S << 32) / expected;
		}
	}
	return pace;
}

bool behaviour_wants(struct behaviour *b, uint32_t id, uint64_t start_ns, uint64_t end_ns)
{
	struct behaviour_type *type = type_of(b, id);
	struct pace *pace = pace_of(b, end_ns / NS_PER_S);

	pace->seen++;
	if (!type) {
		return false;
	}
	count(b, type, &type->seen, start_ns, end_ns);
	arrivals_add(&type->arrivals, start_ns);
	if ((uint32_t)hash_pair(start_ns, end_ns) > pace->threshold) {
		return false;
	}
	if (++pace->taken % (BURST * BEHAVIOUR_PER_S) == 0) {
		pace->threshold /= 2;
	}
	return true;
}

/* ---- strings ---- */

/* Of a type, and of what they took. */
static uint64_t hash_of(const struct behaviour_type *type, uint32_t level, const uint32_t *symbols,
		uint32_t n)
{
	return hash_pair(hash_bytes(symbols, n * sizeof(*symbols)),
			(uint64_t)type->type << 32 | level);
}

static int by_number(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

/* Without order and doubles: of several of a symbol the least deep one is left. */
static uint32_t as_set(uint32_t *symbols, uint8_t *depths, uint32_t n)
{
	uint64_t both[MOST_STEPS];
	uint32_t kept = 0;

	for (uint32_t i = 0; i < n; i++) {
		both[i] = (uint64_t)symbols[i] << 8 | depths[i];
	}
	qsort(both, n, sizeof(*both), by_number);
	for (uint32_t i = 0; i < n; i++) {
		if (i == 0 || both[i] >> 8 != both[i - 1] >> 8) {
			symbols[kept] = (uint32_t)(both[i] >> 8);
			depths[kept++] = (uint8_t)both[i];
		}
	}
	return kept;
}

/*
 * Leaves out what is too deep for the type, then the order and doubles; returns how many are left.
 * Level by level it comes to the same as at once.
 */
static uint32_t coarsen(
		const struct behaviour_type *type, uint32_t *symbols, uint8_t *depths, uint32_t n)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < n; i++) {
		if (depths[i] <= levels[type->coarseness].depth) {
			symbols[kept] = symbols[i];
			depths[kept++] = depths[i];
		}
	}
	return type->unordered ? as_set(symbols, depths, kept) : kept;
}

static struct behaviour_string *find(struct behaviour *b, uint64_t hash, uint32_t level,
		const uint32_t *symbols, uint32_t n)
{
	struct behaviour_string *string = b->chains[hash % HASH_CHAINS];

	while (string && (string->hash != hash || string->level != level || string->n != n ||
					 memcmp(string->symbols, symbols, n * sizeof(*symbols)) !=
							 0)) {
		string = string->next_same_hash;
	}
	return string;
}

static void chain(struct behaviour *b, struct behaviour_type *type, struct behaviour_string *string)
{
	string->hash = hash_of(type, string->level, string->symbols, string->n);
	string->next_same_hash = b->chains[string->hash % HASH_CHAINS];
	b->chains[string->hash % HASH_CHAINS] = string;
	string->next = type->first;
	type->first = string;
	type->n++;
	b->n_strings++;
}

static void unchain(struct behaviour *b, const struct behaviour_string *string)
{
	struct behaviour_string **link = &b->chains[string->hash % HASH_CHAINS];

	while (*link != string) {
		link = &(*link)->next_same_hash;
	}
	*link = string->next_same_hash;
	b->n_strings--;
}

static struct behaviour_string *create(struct behaviour *b, struct behaviour_type *type,
		uint32_t level, const uint32_t *symbols, const uint8_t *depths, uint32_t n)
{
	struct behaviour_string *string;

	if (b->n_strings >= BEHAVIOUR_ALL_STRINGS) {
		return NULL;
	}
	string = calloc(1, sizeof(*string) + n * (sizeof(*symbols) + sizeof(*depths)));
	if (!string) {
		return NULL;
	}
	string->level = level;
	string->n = n;
	string->symbols = (uint32_t *)(string + 1);
	string->depths = (uint8_t *)(string->symbols + n);
	memcpy(string->symbols, symbols, n * sizeof(*symbols));
	memcpy(string->depths, depths, n * sizeof(*depths));
	chain(b, type, string);
	return string;
}

/* The number of the slots in which the same request stays kept. */
static uint64_t renewal_of(const struct behaviour *b, uint64_t end_ns)
{
	return end_ns / b->slot_ns / RENEWALS;
}

/* Of two requests the one that is kept, whichever came first: of the later slots, the earlier one.
 */
static bool is_better(const struct behaviour *b, const struct behaviour_string *string,
		uint64_t start_ns, uint64_t end_ns)
{
	uint64_t slots = renewal_of(b, end_ns);
	uint64_t known = renewal_of(b, string->request_end_ns);

	if (!string->request || slots != known) {
		return !string->request || slots > known;
	}
	return end_ns != string->request_end_ns ? end_ns < string->request_end_ns
						: start_ns < string->request_start_ns;
}

static enum request_kept held(const struct behaviour *b, const struct behaviour_string *string)
{
	if (!string->request) {
		return REQUEST_GONE;
	}
	return b->config.held ? b->config.held(b->config.context, string->held) : REQUEST_KEPT;
}

uint64_t behaviour_request(const struct behaviour *b, const struct behaviour_string *string)
{
	return held(b, string) == REQUEST_GONE ? 0 : string->request;
}

static void join(struct behaviour *b, struct behaviour_string *to, struct behaviour_string *from)
{
	tallies_join(&to->tallies, &from->tallies);
	to->measured += from->measured;
	for (int i = 0; i < RESOURCE_COUNT; i++) {
		to->resources.amount[i] += from->resources.amount[i];
	}
	to->resources.known |= from->resources.known;
	demands_join(&to->demands, &from->demands);
	to->last_ns = to->last_ns > from->last_ns ? to->last_ns : from->last_ns;
	to->cut |= from->cut;
	if (from->request && is_better(b, to, from->request_start_ns, from->request_end_ns)) {
		let_go(b, to);
		to->request = from->request;
		to->request_start_ns = from->request_start_ns;
		to->request_end_ns = from->request_end_ns;
		to->group_id = from->group_id;
		to->held = from->held;
		from->held = 0;
	}
	let_go(b, from);
	free(from);
}

/* Takes the type's strings apart and together again, one level coarser. */
static void get_coarser(struct behaviour *b, struct behaviour_type *type)
{
	struct behaviour_string *string = type->first, *next, *same;

	type->coarseness++;
	type->unordered = levels[type->coarseness].unordered;
	type->first = NULL;
	type->n = 0;
	for (same = string; same; same = same->next) {
		unchain(b, same);
	}
	for (; string; string = next) {
		next = string->next;
		string->n = coarsen(type, string->symbols, string->depths, string->n);
		same = find(b, hash_of(type, string->level, string->symbols, string->n),
				string->level, string->symbols, string->n);
		if (same) {
			join(b, same, string);
		} else {
			chain(b, type, string);
		}
	}
}

/* The string of a request, in the scratch; returns its length. */
static uint32_t write_string(struct behaviour *b, const struct behaved *request)
{
	uint32_t n = request->sequence.n < SEQUENCE_MAX ? request->sequence.n : SEQUENCE_MAX;

	for (uint32_t i = 0; i < n; i++) {
		const struct sequence_step *step = &request->sequence.steps[i];
		bool below = step->above < i;

		b->symbols[i] = alphabet_of_step(&b->alphabet, step,
				below ? &request->sequence.steps[step->above] : NULL);
		b->depths[i] = !below ? 0
				      : (uint8_t)(b->depths[step->above] +
							(b->depths[step->above] < UINT8_MAX));
	}
	if (request->no_end) {
		b->symbols[n] = alphabet_no_end(&b->alphabet);
		b->depths[n++] = 0;
	}
	return n;
}

/* Another one takes the place of one that is old early, while a screen still shows the old one. */
static void keep(
		struct behaviour *b, struct behaviour_string *string, const struct behaved *request)
{
	bool is_old = held(b, string) != REQUEST_KEPT;
	uint32_t kept;

	if (!is_old && !is_better(b, string, request->start_ns, request->end_ns)) {
		return;
	}
	kept = b->config.hold ? b->config.hold(b->config.context, request->id) : 0;
	if (b->config.hold && !kept) {
		return;
	}
	if (is_old || renewal_of(b, request->end_ns) != renewal_of(b, string->request_end_ns)) {
		drop(b, &string->held_before);
		string->held_before = string->held;
	} else {
		drop(b, &string->held);
	}
	string->held = kept;
	string->request = request->id;
	string->request_start_ns = request->start_ns;
	string->request_end_ns = request->end_ns;
	string->group_id = request->group_id;
}

static void count_string(struct behaviour *b, struct behaviour_type *type,
		struct behaviour_string *string, const struct behaved *request)
{
	count(b, type, &string->tallies, request->start_ns, request->end_ns);
	demands_add(&string->demands, request->start_ns, request->end_ns, &request->resources);
	string->cut |= request->sequence.cut;
	string->last_ns = request->end_ns > string->last_ns ? request->end_ns : string->last_ns;
	if (request->resources.known) {
		string->resources.known = true;
		string->measured++;
		for (int i = 0; i < RESOURCE_COUNT; i++) {
			string->resources.amount[i] += request->resources.amount[i];
		}
	}
	keep(b, string, request);
}

void behaviour_add(struct behaviour *b, const struct behaved *request)
{
	struct behaviour_type *type = type_of(b, request->type);
	uint32_t level = distance_level(&request->resources), n;
	struct behaviour_string *string;

	if (!type) {
		return;
	}
	type->hosts |= request->hosts;
	n = coarsen(type, b->symbols, b->depths, write_string(b, request));
	string = find(b, hash_of(type, level, b->symbols, n), level, b->symbols, n);
	while (!string && type->n >= BEHAVIOUR_STRINGS && type->coarseness + 1 < N_LEVELS) {
		get_coarser(b, type);
		n = coarsen(type, b->symbols, b->depths, n);
		string = find(b, hash_of(type, level, b->symbols, n), level, b->symbols, n);
	}
	if (!string && type->n < BEHAVIOUR_STRINGS) {
		string = create(b, type, level, b->symbols, b->depths, n);
	}
	if (!string) {
		type->others++;
		return;
	}
	count_string(b, type, string, request);
}

/* ---- time ---- */

static bool is_over(
		const struct behaviour *b, const struct behaviour_string *string, uint64_t now_ns)
{
	uint64_t windows = LIFE * string->tallies.all.n;

	return now_ns > string->last_ns &&
	       (now_ns - string->last_ns) / b->config.window_ns >= windows;
}

static void forget_old(struct behaviour *b, struct behaviour_type *type, uint64_t now_ns)
{
	struct behaviour_string **link = &type->first;

	while (*link) {
		struct behaviour_string *string = *link;

		if (!is_over(b, string, now_ns)) {
			link = &string->next;
			continue;
		}
		*link = string->next;
		unchain(b, string);
		type->n--;
		type->others += string->tallies.all.n;
		let_go(b, string);
		free(string);
	}
}

void behaviour_advance(struct behaviour *b, uint64_t now_ns)
{
	uint64_t slot = now_ns / b->slot_ns;

	if (slot <= b->slot) {
		return;
	}
	b->slot = slot;
	for (uint32_t i = 0; i < b->n_types; i++) {
		if (b->types[i]->n > BEHAVIOUR_STRINGS / 2 ||
				b->n_strings > BEHAVIOUR_ALL_STRINGS / 2) {
			forget_old(b, b->types[i], now_ns);
		}
	}
}

void behaviour_begin_epoch(struct behaviour *b, uint64_t from_ns,
		bool (*touches)(void *context, uint32_t type, uint64_t hosts), void *context)
{
	for (uint32_t i = 0; i < b->n_types; i++) {
		struct behaviour_type *type = b->types[i];
		struct behaviour_string *string;

		if (touches && !touches(context, type->type, type->hosts)) {
			continue;
		}
		type->epoch = true;
		type->epoch_ns = from_ns;
		type->seen.epoch = (struct behaviour_tally){.n = 0};
		for (string = type->first; string; string = string->next) {
			string->tallies.epoch = (struct behaviour_tally){.n = 0};
		}
	}
}
