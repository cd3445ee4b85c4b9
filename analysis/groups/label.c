/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "groups/internal.h"

/*
 * The text of a group's path is made when the group is, from what is known then: the same stream of
 * requests gives the same texts. It is made again when functions in it have got their names.
 */
#define SEPARATOR    "\u203a"
#define SERVES       " \u203a " /* before what a server was asked: "nginx:80 \u203a postgres:5432" */
#define LABEL_BYTES  256u /* longer labels are cut, between names */
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

/* Whose a context is: a provider of events, or a server that was asked by another one; 0: nobody's.
 */
static uint32_t service_of(const struct groups *groups, const struct context *context)
{
	const struct groups_config *config = &groups->config;

	if (!context || context->provider) {
		return context ? context->provider : 0;
	}
	return context->depth > 1 && config->serves &&
					       config->serves(config->measurer, context->name)
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
		if (groups->config.serves &&
				groups->config.serves(groups->config.measurer, service)) {
			mark = n ? SERVES : &SERVES[1];
		}
		if (!label_append(label, mark, name)) {
			return;
		}
		named[n++] = service;
	}
}

/* First context of `group`, by depth and first visit, after `after`, that `other` lacks; 0: none.
 */
static uint32_t next_difference(const struct groups *groups, const struct group *group,
		const struct group *other, uint32_t after)
{
	const struct context *last = after ? contexts_get(groups->contexts, after) : NULL;
	uint32_t best = 0, best_depth = UINT32_MAX, k = 0;

	for (uint32_t i = 0; i < group->n_path; i++) {
		uint32_t id = group->path[i];
		const struct context *context = contexts_get(groups->contexts, id);

		while (k < other->n_path && other->path[k] < id) {
			k++;
		}
		if (!context || (k < other->n_path && other->path[k] == id)) {
			continue;
		}
		if (last && (context->depth < last->depth ||
					    (context->depth == last->depth && id <= after))) {
			continue;
		}
		if (context->depth < best_depth) {
			best = id;
			best_depth = context->depth;
		}
	}
	return best;
}

static bool label_is_taken(
		const struct groups *groups, const struct group *group, const struct label *label)
{
	for (uint32_t i = group->same_type; i; i = groups->items[i - 1]->same_type) {
		if (!strcmp(groups->items[i - 1]->label, label->text)) {
			return true;
		}
	}
	return false;
}

/* The first group of the type that visited the same services; NULL if none did. */
static const struct group *first_like(const struct groups *groups, const struct group *group)
{
	const struct group *like = NULL;

	for (uint32_t i = group->same_type; i; i = groups->items[i - 1]->same_type) {
		if (!strcmp(groups->items[i - 1]->services, group->services)) {
			like = groups->items[i - 1];
		}
	}
	return like;
}

/* Appends contexts that one of the two lacks, until no group of the type has the same label. */
static void append_differences(const struct groups *groups, const struct group *group,
		const struct group *other, struct label *label)
{
	const struct group *sides[2][2] = {{group, other}, {other, group}};
	const char *marks[2] = {"+", "-"};
	bool first = true;

	for (uint32_t side = 0; side < 2; side++) {
		uint32_t id = 0;

		while (label_is_taken(groups, group, label) &&
				(id = next_difference(groups, sides[side][0], sides[side][1],
						 id)) != 0) {
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

/* The last resort: what differs has the same names, or long ones. */
static void append_id(const struct group *group, struct label *label)
{
	char id[16];

	snprintf(id, sizeof(id), "#%u", group->index + 1);
	while (label->length && (label->length + sizeof(id) > LABEL_BYTES ||
						(label->text[label->length] & 0xc0) == 0x80)) {
		label->length--; /* never within a character */
	}
	label_append(label, id, "");
}

bool label_group(struct groups *groups, struct group *group)
{
	struct label label = {.length = 0};
	const struct group *like;

	append_services(groups, group, &label);
	if (group->variant) {
		label_append(&label, label.length ? " " : "",
				names_text(groups->names, group->variant));
	}
	group->services = strdup(label.text);
	if (!group->services) {
		return false;
	}
	like = first_like(groups, group);
	if (like) {
		append_differences(groups, group, like, &label);
	}
	if (label_is_taken(groups, group, &label)) {
		append_id(group, &label);
	}
	group->label = strdup(label.text);
	return group->label != NULL;
}

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

void label_again(struct groups *groups)
{
	if (!groups->renamed) {
		return;
	}
	groups->renamed = false;
	/* Each looks at those before it, as when they were made. */
	for (uint32_t i = 0; i < groups->n; i++) {
		struct group *group = groups->items[i];
		char *services = group->services, *label = group->label;
		const struct group *like =
				strcmp(label, services) ? first_like(groups, group) : NULL;

		if (!has_renamed(groups, group) && !(like && has_renamed(groups, like))) {
			continue;
		}
		group->services = group->label = NULL;
		if (label_group(groups, group)) {
			free(services);
			free(label);
		} else {
			free(group->services);
			group->services = services;
			group->label = label;
		}
		group_named(groups, group);
	}
}
