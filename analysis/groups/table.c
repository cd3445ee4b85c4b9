/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "field_words.h"
#include "groups/collect.h"
#include "groups/grouping.h"
#include "base/hash.h"

/* Which keys are taken first where there are too many. Nothing of it looks at durations. */
enum worth {
	WORTH_VARIES = 0,
	WORTH_UNIQUE,  /* a category that differs in every request */
	WORTH_ALIKE,   /* says the same as a column before it: the second ones, the third ones... */
	WORTH_NOTHING, /* never varies */
};

/* A key before it is known whether it is taken. */
struct column {
	enum explanation_source source;
	bool numeric;
	uint32_t context;
	const char *field; /* its name; "": it has none */
	uint32_t node;     /* of counts */
	uint32_t order;    /* in which they were met */
	uint32_t rows;     /* that have it */
	uint32_t copies;   /* columns before it that say the same; of the first, all that do */
	enum worth worth;
	bool of_kernel; /* of a kernel event */
	bool is_text;   /* see struct request_key */
	double *values; /* by row; categories: by first appearance, from 0 */
	uint32_t n_texts;
	uint64_t hash; /* of the values */
	double told;   /* see struct explain_key */
};

struct table_work {
	struct groups *groups;
	const struct group *group;
	uint32_t n_rows;
	struct sample *rows[SAMPLES_MAX];
	uint32_t n, room; /* columns */
	struct column *columns;
	double *values;  /* room of them by row */
	uint32_t *texts; /* of categories, by first appearance: n_rows for each of the room */
	struct arena *arena;
	struct explain_table *out;
};

/* ---- how often contexts ran ---- */

/* Of one node of the profile, over the rows. */
struct node_spans {
	uint32_t rows, first, last, least, most;
};

static void count_spans(const struct table_work *work, struct node_spans *nodes)
{
	for (uint32_t row = 0; row < work->n_rows; row++) {
		struct sample_reader reader = sample_read(work->rows[row]);
		struct profile_item item;

		while (sample_next(&reader, &item)) {
			struct node_spans *node = &nodes[item.node];

			if (!item.spans) {
				continue;
			}
			node->first = node->rows ? node->first : row;
			node->least = node->rows && node->least < item.spans ? node->least
									     : item.spans;
			node->most = node->most > item.spans ? node->most : item.spans;
			node->last = row;
			node->rows++;
		}
	}
}

static bool spans_vary(const struct node_spans *node)
{
	return node->rows &&
	       (node->least != node->most || node->rows < node->last - node->first + 1);
}

static struct column *column_add(struct table_work *work, enum explanation_source source)
{
	struct column *column = &work->columns[work->n];

	*column = (struct column){.source = source,
			.field = "",
			.order = work->n,
			.values = work->values + (size_t)work->n * work->n_rows};
	for (uint32_t row = 0; row < work->n_rows; row++) {
		column->values[row] = NAN;
	}
	work->n++;
	return column;
}

/* Columns of those that vary, as many as there is room for; but that a wait ("(in the socket)") was
 * there is no reason for it. */
static void add_counts(struct table_work *work, const struct node_spans *nodes, uint32_t *column_of)
{
	const struct profile *profile = &work->group->now.observed.profile;

	for (uint32_t i = 1; i < profile->n; i++) {
		struct column *column;

		column_of[i] = UINT32_MAX;
		if (!spans_vary(&nodes[i]) || work->n == work->room ||
				context_name(work->groups, profile->nodes[i].context)[0] == '(') {
			continue;
		}
		column_of[i] = work->n;
		column = column_add(work, EXPLANATION_COUNT);
		column->numeric = true;
		column->context = profile->nodes[i].context;
		column->node = i;
		for (uint32_t row = nodes[i].first; row <= nodes[i].last; row++) {
			column->values[row] = 0;
		}
	}
}

static void read_counts(struct table_work *work, const uint32_t *column_of)
{
	for (uint32_t row = 0; row < work->n_rows; row++) {
		struct sample_reader reader = sample_read(work->rows[row]);
		struct profile_item item;

		while (sample_next(&reader, &item)) {
			uint32_t column = item.node ? column_of[item.node] : UINT32_MAX;

			if (item.spans && column != UINT32_MAX) {
				work->columns[column].values[row] = item.spans;
			}
		}
	}
}

/* ---- what was collected ---- */

/* A column a key, in the order they were met. */
static void add_keys(struct table_work *work)
{
	const struct collected *collected = work->group->collected;

	for (uint32_t i = 0; i < collected->n; i++) {
		const struct collected_key *key = &collected->keys[i];
		struct column *column = column_add(work, key->source);

		column->numeric = key->numeric;
		column->is_text = key->is_text;
		column->context = key->context;
		column->told = key->elapsed.variance > 0
					       ? key->elapsed.covariance / key->elapsed.variance
					       : 0;
		column->field = names_text(work->groups->names, key->name);
	}
}

/* Both are by serial. Of categories the number of their text, for the time being. */
static void read_keys(struct table_work *work)
{
	const struct collected *collected = work->group->collected;

	for (uint32_t row = 0; row < work->n_rows; row++) {
		struct sample_reader reader = sample_read_keys(work->rows[row]);
		struct sample_key key;
		uint32_t place = 0;

		while (sample_next_key(&reader, &key)) {
			while (place < collected->n && collected->keys[place].serial < key.serial) {
				place++;
			}
			if (place < collected->n && collected->keys[place].serial == key.serial) {
				work->columns[place].values[row] =
						key.numeric ? key.number : key.text;
			}
		}
	}
}

/* Texts get numbers by their first appearance in a column. */
static bool number_texts(struct table_work *work)
{
	uint32_t n = work->groups->samples.texts.n + 1;
	struct {
		uint32_t column, number;
	} *seen = calloc(n, sizeof(*seen));

	for (uint32_t i = 0; seen && i < work->n; i++) {
		struct column *column = &work->columns[i];
		uint32_t *texts = work->texts + (size_t)i * work->n_rows;

		for (uint32_t row = 0; !column->numeric && row < work->n_rows; row++) {
			uint32_t text = isnan(column->values[row]) ? 0
								   : (uint32_t)column->values[row];

			if (text && seen[text].column != i + 1) {
				seen[text].column = i + 1;
				seen[text].number = column->n_texts;
				texts[column->n_texts++] = text;
			}
			if (text) {
				column->values[row] = seen[text].number;
			}
		}
	}
	free(seen);
	return seen != NULL;
}

/* ---- which columns are taken ---- */

static void measure_column(struct column *column, uint32_t n_rows)
{
	double first = NAN;
	bool varies = false;

	for (uint32_t row = 0; row < n_rows; row++) {
		double value = column->values[row];
		uint64_t bits = 0;

		if (isnan(value)) {
			column->hash = hash_pair(column->hash, UINT64_MAX);
			continue;
		}
		value += 0.0; /* -0 becomes 0 */
		memcpy(&bits, &value, sizeof(bits));
		column->hash = hash_pair(column->hash, bits);
		varies |= column->rows > 0 && value != first;
		first = column->rows++ ? first : value;
	}
	varies |= column->rows > 0 && column->rows < n_rows;
	column->worth = !varies ? WORTH_NOTHING
			: !column->numeric && column->n_texts == column->rows && column->rows > 1
					? WORTH_UNIQUE
					: WORTH_VARIES;
}

static bool is_alike(const struct column *a, const struct column *b, uint32_t n_rows)
{
	for (uint32_t row = 0; row < n_rows; row++) {
		bool none = isnan(a->values[row]);

		if (none != isnan(b->values[row]) || (!none && a->values[row] != b->values[row])) {
			return false;
		}
	}
	return true;
}

/* Those like one before them, found by their hash. */
static bool find_alike(struct table_work *work)
{
	uint32_t room = 4;
	uint32_t *table;

	while (room < 2 * work->n) {
		room *= 2;
	}
	table = calloc(room, sizeof(*table));
	for (uint32_t i = 0; table && i < work->n; i++) {
		struct column *column = &work->columns[i];
		uint64_t at = column->hash;

		for (; table[at & (room - 1)]; at++) {
			struct column *other = &work->columns[table[at & (room - 1)] - 1];

			if (other->hash == column->hash && is_alike(other, column, work->n_rows)) {
				column->copies = ++other->copies;
				break;
			}
		}
		if (!table[at & (room - 1)]) {
			table[at & (room - 1)] = i + 1;
		} else if (column->worth != WORTH_NOTHING) {
			column->worth = WORTH_ALIKE;
		}
	}
	free(table);
	return table != NULL;
}

static int by_worth(const void *left, const void *right)
{
	const struct column *a = left, *b = right;

	if (a->worth != b->worth) {
		return a->worth < b->worth ? -1 : 1;
	}
	if (a->worth == WORTH_ALIKE && a->copies != b->copies) {
		return a->copies < b->copies ? -1 : 1;
	}
	if (a->of_kernel != b->of_kernel) {
		return a->of_kernel ? 1 : -1;
	}
	if (a->rows != b->rows) {
		return a->rows > b->rows ? -1 : 1;
	}
	return a->order < b->order ? -1 : a->order > b->order;
}

static int by_key(const void *left, const void *right)
{
	const struct column *a = left, *b = right;

	if (a->source != b->source) {
		return a->source < b->source ? -1 : 1;
	}
	if (a->context != b->context) {
		return a->context < b->context ? -1 : 1;
	}
	/* Not by number: those follow from when a name was first read. */
	return strcmp(a->field, b->field);
}

/* The best come first afterwards; returns how many are taken. Keys that no row has are none. */
static uint32_t choose(struct table_work *work)
{
	uint32_t n = 0, i;

	for (i = 0; i < work->n; i++) {
		struct column *column = &work->columns[i];

		column->of_kernel =
				column->source != EXPLANATION_RESOURCE && column->context &&
				contexts_get(work->groups->contexts, column->context)->provider ==
						0;
	}
	qsort(work->columns, work->n, sizeof(*work->columns), by_worth);
	for (i = 0; i < work->n && n < EXPLAIN_MAX_KEYS; i++) {
		if (work->columns[i].rows) {
			work->columns[n++] = work->columns[i];
		}
	}
	qsort(work->columns, n, sizeof(*work->columns), by_key);
	return n;
}

/* ---- the table ---- */

static const char *key_name(const struct table_work *work, const struct column *column)
{
	const char *context = context_name(work->groups, column->context);
	const char *name = NULL;

	switch (column->source) {
	case EXPLANATION_FIELD:
		name = arena_printf(work->arena, "%s.%s", context, column->field);
		break;
	case EXPLANATION_HOST:
		name = arena_printf(work->arena, "host of %s", context);
		break;
	case EXPLANATION_COUNT:
		name = arena_printf(work->arena, "count of %s", context);
		break;
	case EXPLANATION_RESOURCE:
		name = arena_text(work->arena, column->field);
		break;
	}
	return name;
}

/* See struct explain_key. Of a request that is a system call itself, its fields are what it brings.
 */
static bool is_done(const struct table_work *work, const struct column *column)
{
	if (!column->of_kernel ||
			contexts_get(work->groups->contexts, column->context)->depth == 1) {
		return false;
	}
	return column->source == EXPLANATION_COUNT ||
	       (column->source == EXPLANATION_FIELD && !column->is_text &&
			       is_system_call(context_name(work->groups, column->context)));
}

static double *copy_values(struct table_work *work, const double *values)
{
	double *copy = arena_alloc(work->arena, (work->n_rows + 1) * sizeof(*copy));

	if (copy) {
		memcpy(copy, values, work->n_rows * sizeof(*copy));
	}
	return copy;
}

static bool put_key(struct table_work *work, const struct column *column, struct explain_key *out)
{
	/* Its number among columns before they were ordered. */
	const uint32_t *numbers = work->texts + (size_t)column->order * work->n_rows;
	const char **texts = arena_alloc(work->arena, (column->n_texts + 1) * sizeof(*texts));

	*out = (struct explain_key){.name = key_name(work, column),
			.where = context_chain(work->groups, column->context, work->arena),
			.source = column->source,
			.numeric = column->numeric,
			.told = column->told,
			.done = is_done(work, column),
			.values = copy_values(work, column->values),
			.n_texts = column->n_texts,
			.texts = texts};
	for (uint32_t i = 0; texts && i < column->n_texts; i++) {
		texts[i] = arena_text(
				work->arena, texts_get(&work->groups->samples.texts, numbers[i]));
		if (!texts[i]) {
			return false;
		}
	}
	return texts && out->name && out->values;
}

static bool put_keys(struct table_work *work)
{
	uint32_t n;
	struct explain_key *keys;

	for (uint32_t i = 0; i < work->n; i++) {
		measure_column(&work->columns[i], work->n_rows);
	}
	if (!find_alike(work)) {
		return false;
	}
	n = choose(work);
	keys = arena_alloc(work->arena, (n + 1) * sizeof(*keys));
	for (uint32_t i = 0; keys && i < n; i++) {
		if (!put_key(work, &work->columns[i], &keys[i])) {
			return false;
		}
	}
	work->out->n_keys = n;
	work->out->keys = keys;
	return keys != NULL;
}

/* Of which segments Var(T) of just these rows is made. */
static bool list_nodes(const struct table_work *work, uint32_t *nodes, uint32_t *n)
{
	struct observed of_rows = {.changes = 0};
	bool done;

	if (!profile_copy(&of_rows.profile, &work->group->now.observed.profile)) {
		return false;
	}
	profile_clear(&of_rows.profile, HORIZON_ALL);
	for (uint32_t row = 0; row < work->n_rows; row++) {
		observed_count(&of_rows, HORIZON_ALL, work->rows[row], false);
	}
	done = location_list(&of_rows.profile, HORIZON_ALL, nodes, n);
	profile_release(&of_rows.profile);
	return done;
}

static bool put_segments(struct table_work *work)
{
	const struct profile *profile = &work->group->now.observed.profile;
	uint32_t nodes[LOCATE_LISTED], n;
	uint32_t *place_of = calloc(profile->n + 1, sizeof(*place_of));
	double **segments = arena_alloc(work->arena, (LOCATE_LISTED + 1) * sizeof(*segments));
	bool done = place_of && segments && list_nodes(work, nodes, &n);

	for (uint32_t i = 0; done && i < n; i++) {
		place_of[nodes[i]] = i + 1;
		segments[i] = arena_alloc(work->arena, (work->n_rows + 1) * sizeof(**segments));
		done = segments[i] != NULL;
	}
	for (uint32_t row = 0; done && row < work->n_rows; row++) {
		struct sample_reader reader = sample_read(work->rows[row]);
		struct profile_item item;

		while (sample_next(&reader, &item)) {
			if (place_of[item.node]) {
				segments[place_of[item.node] - 1][row] = (double)item.segment_ns;
			}
		}
	}
	work->out->n_segments = done ? n : 0;
	work->out->segments_ns = (const double *const *)segments;
	free(place_of);
	return done;
}

/* The samples of a group that make rows, of `rows` (NULL: they are only counted). */
static uint32_t list_rows(const struct group *group, uint64_t since_ns, struct sample **rows)
{
	const struct sample_ring *ring = &group->now.observed.ring;
	uint32_t n = 0;

	for (uint32_t i = 0; i < ring->n; i++) {
		struct sample *sample = ring_at(ring, i);

		if (!sample->keyed || !sample->request.counted || sample->start_ns < since_ns) {
			continue;
		}
		if (rows) {
			rows[n] = sample;
		}
		n++;
	}
	return n;
}

/* NULL: there is none, or its keys are not collected. */
static const struct group *collected_group(const struct groups *groups, uint32_t group_id)
{
	const struct group *group =
			group_id && group_id <= groups->n ? groups->items[group_id - 1] : NULL;

	return group && group->collected ? group : NULL;
}

uint32_t groups_table_rows(const struct groups *groups, uint32_t group_id, uint64_t since_ns)
{
	const struct group *group = collected_group(groups, group_id);

	return group ? list_rows(group, since_ns, NULL) : 0;
}

static bool put_times(struct table_work *work)
{
	uint64_t first_ns = UINT64_MAX;
	double *duration = arena_alloc(work->arena, (work->n_rows + 1) * sizeof(*duration));
	double *start = arena_alloc(work->arena, (work->n_rows + 1) * sizeof(*start));

	if (!duration || !start) {
		return false;
	}
	for (uint32_t row = 0; row < work->n_rows; row++) {
		first_ns = work->rows[row]->start_ns < first_ns ? work->rows[row]->start_ns
								: first_ns;
	}
	for (uint32_t row = 0; row < work->n_rows; row++) {
		duration[row] = (double)work->rows[row]->request.duration_ns;
		start[row] = (double)(work->rows[row]->start_ns - first_ns);
	}
	work->out->n_rows = work->n_rows;
	work->out->duration_ns = duration;
	work->out->start_ns = start;
	return true;
}

/* All columns that there may be: of what was collected, and as many counts. */
static bool make_columns(struct table_work *work)
{
	uint32_t n_nodes = work->group->now.observed.profile.n;
	struct node_spans *nodes = calloc(n_nodes + 1, sizeof(*nodes));
	uint32_t *column_of = calloc(n_nodes + 1, sizeof(*column_of));
	uint32_t n_counts = 0;
	bool done = false;

	if (nodes && column_of) {
		count_spans(work, nodes);
		for (uint32_t i = 1; i < n_nodes; i++) {
			n_counts += spans_vary(&nodes[i]);
		}
		n_counts = n_counts < SAMPLE_MAX_KEYS ? n_counts : SAMPLE_MAX_KEYS;
		work->room = work->group->collected->n + n_counts;
		work->columns = calloc(work->room + 1, sizeof(*work->columns));
		work->values = malloc(
				((size_t)work->room * work->n_rows + 1) * sizeof(*work->values));
		work->texts = malloc(
				((size_t)work->room * work->n_rows + 1) * sizeof(*work->texts));
		done = work->columns && work->values && work->texts;
	}
	if (done) {
		add_keys(work);
		read_keys(work);
		add_counts(work, nodes, column_of);
		read_counts(work, column_of);
		done = number_texts(work);
	}
	free(nodes);
	free(column_of);
	return done;
}

const struct explain_table *groups_table(
		struct groups *groups, uint32_t group_id, uint64_t since_ns, struct arena *arena)
{
	struct table_work work = {.groups = groups, .arena = arena};
	bool done;

	work.group = collected_group(groups, group_id);
	if (!work.group) {
		return NULL;
	}
	work.out = arena_alloc(arena, sizeof(*work.out));
	if (!work.out) {
		return NULL;
	}
	work.n_rows = list_rows(work.group, since_ns, work.rows);
	done = put_times(&work) && make_columns(&work) && put_keys(&work) && put_segments(&work);
	free(work.columns);
	free(work.values);
	free(work.texts);
	return done ? work.out : NULL;
}
