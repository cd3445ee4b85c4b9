/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "groups/grouping.h"
#include "groups/label.h"

/*
 * The text of a group's path follows from the groups that there are, not from the order in which
 * they came: of those of a type that visited the same services the one with the fewest contexts
 * goes by the services alone, the others by what tells them from it ("+x", "-x"). So texts of all
 * of these are made again when one of them is new, or when functions have got their names: with the
 * next look, not with every new group. A baseline knows groups by their key, which is of the
 * group's own path alone.
 */
#define SEPARATOR    "\u203a"
#define SERVES       " \u203a " /* before what a server was asked: "nginx:80 \u203a postgres:5432" */
#define LABEL_BYTES  256u       /* longer labels are cut, between names */
#define MAX_SERVICES 16u

struct label {
	char text[LABEL_BYTES];
	size_t length;
};

/* Adds a mark and a name, or neither where there is no room for both. */
static bool label_append(struct label *label, const char *mark, const char *name)
{
	size_t marks = strlen(mark), length = strlen(name);

	if (label->length + marks + length + 1 > LABEL_BYTES) {
		return false;
	}
	memcpy(label->text + label->length, mark, marks);
	memcpy(label->text + label->length + marks, name, length);
	label->length += marks + length;
	label->text[label->length] = '\0';
	return true;
}

static bool is_before(const struct groups *groups, uint32_t name, uint32_t other)
{
	return strcmp(names_text(groups->names, name), names_text(groups->names, other)) < 0;
}

static bool serves(const struct groups *groups, uint32_t name)
{
	return groups->config.serves && groups->config.serves(groups->config.measurer, name);
}

/*
 * Whose a context is: a provider of events, or a server that was asked by another one; 0: nobody's.
 * What a server's threads do has their program's name, which other requests of it may have as well:
 * it lies right below the request.
 */
static uint32_t service_of(const struct groups *groups, const struct context *context)
{
	if (!context || context->provider) {
		return context ? context->provider : 0;
	}
	return context->depth > 1 && serves(groups, context->name) &&
					       !serves(groups, contexts_get(groups->contexts,
									       context->parent)
									       ->name)
			       ? context->name
			       : 0;
}

/*
 * Next service of the path by depth, then by name, not named so far; 0 if none is left. Which of
 * several came first is another one in the next request.
 */
static uint32_t next_service(const struct groups *groups, const struct group *group,
		const uint32_t *named, uint32_t n_named)
{
	uint32_t best = 0, best_depth = UINT32_MAX;

	for (uint32_t i = 0; i < group->n_path; i++) {
		const struct context *context = contexts_get(groups->contexts, group->path[i]);
		uint32_t service = service_of(groups, context);
		bool known = service == 0;

		for (uint32_t k = 0; !known && k < n_named; k++) {
			known = named[k] == service;
		}
		if (!known && (context->depth < best_depth ||
					      (context->depth == best_depth &&
							      is_before(groups, service, best)))) {
			best = service;
			best_depth = context->depth;
		}
	}
	return best;
}

static void append_services(
		const struct groups *groups, const struct group *group, struct label *label)
{
	uint32_t named[MAX_SERVICES], n = 0, service;

	while (n < MAX_SERVICES && (service = next_service(groups, group, named, n)) != 0) {
		const char *name = names_text(groups->names, service);
		const char *mark = n ? SEPARATOR : "";

		/* The first server is the type of the request, which stands before. */
		if (serves(groups, service)) {
			mark = n ? SERVES : &SERVES[1];
		}
		if (!label_append(label, mark, name)) {
			return;
		}
		named[n++] = service;
	}
}

/* ---- keys ---- */

static uint64_t hash_name(const struct groups *groups, uint32_t name)
{
	const char *text = name ? names_own_text(groups->names, name) : "";

	return hash_bytes(text, strlen(text));
}

/* Of a context and those above it, by their names. */
static uint64_t hash_chain(const struct groups *groups, uint32_t id)
{
	uint64_t hash = 0;

	while (id) {
		const struct context *context = contexts_get(groups->contexts, id);

		hash = hash_pair(hash, hash_pair(hash_name(groups, context->name),
						       hash_name(groups, context->provider)));
		id = context->parent;
	}
	return hash;
}

/* The same in every run, whatever the order of contexts; never 0. */
static uint64_t key_of(const struct groups *groups, const struct group *group)
{
	uint64_t sum = group->variant ? hash_pair(1, hash_name(groups, group->variant)) : 0;

	for (uint32_t i = 0; i < group->n_path; i++) {
		sum += hash_chain(groups, group->path[i]);
	}
	return sum ? sum : 1;
}

/* ---- what tells groups apart ---- */

/* Those of a type that visited the same services, the one with the fewest contexts first. */
struct likes {
	struct group **items;
	uint32_t n;
	uint64_t *taken; /* hashes of labels given so far; 0: free */
	uint32_t room;
};

static int by_path(const void *left, const void *right)
{
	const struct group *a = *(struct group *const *)left, *b = *(struct group *const *)right;

	if (a->n_path != b->n_path) {
		return a->n_path < b->n_path ? -1 : 1;
	}
	return (a->key > b->key) - (a->key < b->key);
}

static bool likes_list(const struct groups *groups, const struct group *group, struct likes *likes)
{
	uint32_t n = 0, room = 4;

	*likes = (struct likes){.n = 0};
	for (uint32_t i = groups->newest_of_type[group->type]; i;
			i = groups->items[i - 1]->same_type) {
		n += !strcmp(groups->items[i - 1]->services, group->services);
	}
	while (room < 2 * n) {
		room *= 2;
	}
	likes->items = calloc(n + 1u, sizeof(struct group *));
	likes->taken = calloc(room, sizeof(*likes->taken));
	likes->room = room;
	for (uint32_t i = groups->newest_of_type[group->type];
			likes->items && likes->taken && i && likes->n < n;
			i = groups->items[i - 1]->same_type) {
		if (!strcmp(groups->items[i - 1]->services, group->services)) {
			likes->items[likes->n++] = groups->items[i - 1];
		}
	}
	if (!likes->items || !likes->taken) {
		free(likes->items);
		free(likes->taken);
		return false;
	}
	qsort(likes->items, likes->n, sizeof(struct group *), by_path);
	return true;
}

static uint64_t *label_place(const struct likes *likes, const struct label *label)
{
	uint64_t hash = hash_bytes(label->text, label->length), at;

	hash = hash ? hash : 1;
	for (at = hash; likes->taken[at & (likes->room - 1)]; at++) {
		if (likes->taken[at & (likes->room - 1)] == hash) {
			break;
		}
	}
	return &likes->taken[at & (likes->room - 1)];
}

static bool label_is_taken(const struct likes *likes, const struct label *label)
{
	return *label_place(likes, label) != 0;
}

static void label_take(const struct likes *likes, const struct label *label)
{
	uint64_t hash = hash_bytes(label->text, label->length);

	*label_place(likes, label) = hash ? hash : 1;
}

/* By depth, then by name, then by the names above: never by which was seen first. */
static int compare_contexts(const struct groups *groups, uint32_t left, uint32_t right)
{
	const struct context *a = contexts_get(groups->contexts, left);
	const struct context *b = contexts_get(groups->contexts, right);
	uint64_t hashes[2];
	int order;

	if (a->depth != b->depth) {
		return a->depth < b->depth ? -1 : 1;
	}
	order = strcmp(names_text(groups->names, a->name), names_text(groups->names, b->name));
	if (order || left == right) {
		return order;
	}
	hashes[0] = hash_chain(groups, left);
	hashes[1] = hash_chain(groups, right);
	return (hashes[0] > hashes[1]) - (hashes[0] < hashes[1]);
}

/* The first context of `group` after `after` (0: of all) that `other` lacks; 0: none. */
static uint32_t next_difference(const struct groups *groups, const struct group *group,
		const struct group *other, uint32_t after)
{
	uint32_t best = 0, k = 0;

	for (uint32_t i = 0; i < group->n_path; i++) {
		uint32_t id = group->path[i];

		while (k < other->n_path && other->path[k] < id) {
			k++;
		}
		if (!contexts_get(groups->contexts, id) ||
				(k < other->n_path && other->path[k] == id) ||
				(after && compare_contexts(groups, id, after) <= 0)) {
			continue;
		}
		if (!best || compare_contexts(groups, id, best) < 0) {
			best = id;
		}
	}
	return best;
}

/* Appends contexts that one of the two lacks, until none before it has the same label. */
static void append_differences(const struct groups *groups, const struct likes *likes,
		const struct group *group, struct label *label)
{
	const struct group *other = likes->items[0];
	const struct group *sides[2][2] = {{group, other}, {other, group}};
	const char *marks[2] = {"+", "-"};
	bool first = true;

	for (uint32_t side = 0; side < 2; side++) {
		uint32_t id = 0;

		while (label_is_taken(likes, label) && (id = next_difference(groups, sides[side][0],
									sides[side][1], id)) != 0) {
			const struct context *context = contexts_get(groups->contexts, id);

			if (first && label->length && !label_append(label, " ", "")) {
				return;
			}
			first = false;
			if (!label_append(label, marks[side],
					    names_text(groups->names, context->name))) {
				return;
			}
		}
	}
}

/* The last resort, by the key: what differs has the same names, or long ones. */
static void append_key(const struct group *group, struct label *label)
{
	char id[20];

	snprintf(id, sizeof(id), "#%08" PRIx32, (uint32_t)(group->key >> 32));
	while (label->length && (label->length + sizeof(id) > LABEL_BYTES ||
						(label->text[label->length] & 0xc0) == 0x80)) {
		label->length--; /* never within a character */
	}
	label->text[label->length] = '\0';
	label_append(label, id, "");
}

/* Gives the group its label. Out of memory: it keeps the one it has. */
static void label_give(struct groups *groups, const struct likes *likes, struct group *group)
{
	struct label label = {.length = 0};
	char *text;

	label_append(&label, group->services, "");
	if (group != likes->items[0]) {
		append_differences(groups, likes, group, &label);
	}
	if (label_is_taken(likes, &label)) {
		append_key(group, &label);
	}
	label_take(likes, &label);
	if (!strcmp(label.text, group->label)) {
		return;
	}
	text = strdup(label.text);
	if (text) {
		free(group->label);
		group->label = text;
		group_named(groups, group);
	}
}

static char *services_text(const struct groups *groups, const struct group *group)
{
	struct label label = {.length = 0};

	append_services(groups, group, &label);
	if (group->variant) {
		label_append(&label, label.length ? " " : "",
				names_text(groups->names, group->variant));
	}
	return strdup(label.text);
}

bool label_group(struct groups *groups, struct group *group)
{
	group->key = key_of(groups, group);
	group->services = services_text(groups, group);
	group->label = group->services ? strdup(group->services) : NULL;
	group->unlabelled = groups->unlabelled = true;
	return group->label != NULL;
}

/* ---- again ---- */

/* Is something else shown of a name than its own text? */
static bool is_renamed(const struct groups *groups, uint32_t name)
{
	return names_text(groups->names, name) != names_own_text(groups->names, name);
}

static bool has_renamed(const struct groups *groups, const struct group *group)
{
	for (uint32_t i = 0; i < group->n_path; i++) {
		const struct context *context = contexts_get(groups->contexts, group->path[i]);

		if (context && is_renamed(groups, context->name)) {
			return true;
		}
	}
	return is_renamed(groups, group->type);
}

static void rename_services(struct groups *groups)
{
	for (uint32_t i = 0; i < groups->n; i++) {
		struct group *group = groups->items[i];
		char *services = has_renamed(groups, group) ? services_text(groups, group) : NULL;

		if (services) {
			free(group->services);
			group->services = services;
			group->unlabelled = groups->unlabelled = true;
			group_named(groups, group); /* the type may be shown otherwise, too */
		}
	}
}

void label_again(struct groups *groups)
{
	if (groups->renamed) {
		groups->renamed = false;
		rename_services(groups);
	} else if (groups->pin.on) {
		return; /* new groups are not shown, and do not rename those that are */
	}
	if (!groups->unlabelled) {
		return;
	}
	groups->unlabelled = false;
	for (uint32_t i = 0; i < groups->n; i++) {
		struct likes likes;

		if (!groups->items[i]->unlabelled ||
				!likes_list(groups, groups->items[i], &likes)) {
			continue;
		}
		for (uint32_t k = 0; k < likes.n; k++) {
			likes.items[k]->unlabelled = false;
			label_give(groups, &likes, likes.items[k]);
		}
		free(likes.items);
		free(likes.taken);
	}
}
