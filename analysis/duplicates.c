/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "duplicates.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/hash.h"

#define PROBES 8u /* slots that an event may be in */

/* An event that was told for the first time. */
struct told {
	uint64_t identity; /* 0: none */
	uint64_t ts_ns;
	uint64_t sessions; /* that told it too, a bit each, by number modulo 64 */
	uint32_t session;  /* that told it first */
};

/* The fields of a type that are the same whichever session records it. */
struct identity {
	uint32_t n_types; /* of the registry, when it was found out */
	uint32_t n;
	uint16_t *fields;
	bool of_thread; /* they tell the thread */
};

/* Contexts that are the same in each session; those that are first tell the thread. */
static const char *const contexts[] = {"vtid", "tid", "vpid", "pid", "pid_ns", "procname"};
#define THREAD_CONTEXTS 2u

void duplicates_release(struct duplicates *duplicates)
{
	for (uint32_t i = 0; i < duplicates->n_identities; i++) {
		free(duplicates->identities[i].fields);
	}
	free(duplicates->identities);
	free(duplicates->told);
	*duplicates = (struct duplicates){.registry = duplicates->registry};
}

/* ID_NONE if the type has no such context. */
static uint32_t context_of(const struct event_type *type, const char *name)
{
	for (uint32_t i = 0; i < type->n_fields; i++) {
		if (type->fields[i].scope == SCOPE_CONTEXT &&
				strcmp(type->fields[i].name, name) == 0) {
			return i;
		}
	}
	return ID_NONE;
}

/* Whether all types of the name have it: each session has contexts of its own. */
static bool is_common(const struct registry *registry, uint32_t type, const char *name)
{
	uint32_t i = registry->type_links[type].first;

	while (i != ID_NONE && context_of(&registry->types[i], name) != ID_NONE) {
		i = registry->type_links[i].next;
	}
	return i == ID_NONE;
}

static const struct identity *identity_of(struct duplicates *duplicates, uint32_t number)
{
	const struct registry *registry = duplicates->registry;
	const struct event_type *type = &registry->types[number];
	struct identity *identity;

	if (!array_extend(&duplicates->identities, &duplicates->n_identities, number + 1)) {
		return NULL;
	}
	identity = &duplicates->identities[number];
	if (identity->n_types == registry->n_types) {
		return identity;
	}
	if (!array_resize(&identity->fields, type->n_fields)) {
		return NULL;
	}
	identity->n_types = registry->n_types;
	identity->n = 0;
	identity->of_thread = false;
	for (uint32_t i = 0; i < type->n_fields; i++) {
		if (type->fields[i].scope == SCOPE_PAYLOAD) {
			identity->fields[identity->n++] = (uint16_t)i;
		}
	}
	for (uint32_t i = 0; i < sizeof(contexts) / sizeof(contexts[0]); i++) {
		if (is_common(registry, number, contexts[i])) {
			identity->fields[identity->n++] = (uint16_t)context_of(type, contexts[i]);
			identity->of_thread |= i < THREAD_CONTEXTS;
		}
	}
	return identity;
}

static uint64_t hash_event(const struct registry *registry, const struct identity *identity,
		const struct event *event)
{
	const struct event_type *type = &registry->types[event->type];
	uint64_t hash = hash_pair((uint64_t)registry->type_links[event->type].first << 32 |
						  registry->streams[event->stream].host,
			identity->of_thread ? 0 : (uint64_t)event->cpu + 1);

	for (uint32_t i = 0; i < identity->n; i++) {
		uint32_t at = identity->fields[i], length;
		uint64_t value = event->slots[at];

		if (type->fields[at].kind == FIELD_STRING || type->fields[at].kind == FIELD_TREE) {
			const char *bytes = event_bytes(event, at, &length);

			value = bytes ? hash_bytes(bytes, length) : EVENT_ABSENT;
		}
		hash = hash_pair(hash, value);
	}
	return hash ? hash : 1;
}

static bool is_over(const struct told *told, uint64_t now_ns)
{
	return told->identity == 0 || now_ns - told->ts_ns > DUPLICATES_NS;
}

bool duplicates_find(struct duplicates *duplicates, const struct event *event, uint32_t *teller)
{
	const struct registry *registry = duplicates->registry;
	uint32_t session = registry->streams[event->stream].desc.session;
	const struct identity *identity = identity_of(duplicates, event->type);
	uint64_t hash, bit = UINT64_C(1) << (session & 63);
	struct told *place = NULL;

	if (!duplicates->told) {
		duplicates->told = calloc(DUPLICATES_SLOTS, sizeof(*duplicates->told));
	}
	if (!identity || !duplicates->told) {
		return false;
	}
	hash = hash_event(registry, identity, event);
	for (uint32_t i = 0; i < PROBES; i++) {
		struct told *told = &duplicates->told[(hash + i) & (DUPLICATES_SLOTS - 1)];

		if (told->identity == hash && !is_over(told, event->ts_ns)) {
			if (told->session != session && !(told->sessions & bit)) {
				told->sessions |= bit;
				*teller = told->session;
				return true;
			}
			place = told;
			break;
		}
		if (!place || (is_over(told, event->ts_ns) && !is_over(place, event->ts_ns)) ||
				(is_over(told, event->ts_ns) == is_over(place, event->ts_ns) &&
						told->ts_ns < place->ts_ns)) {
			place = told;
		}
	}
	*place = (struct told){.identity = hash, .ts_ns = event->ts_ns, .session = session};
	return false;
}
