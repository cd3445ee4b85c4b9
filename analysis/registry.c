/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "registry.h"

#define FIRST_TYPE_SLOTS 256u

void registry_init(struct registry *registry)
{
	*registry = (struct registry){.n_hosts = 0};
}

void registry_release(struct registry *registry)
{
	free(registry->hosts);
	free(registry->sessions);
	free(registry->streams);
	free(registry->types);
	free(registry->type_links);
	free(registry->type_slots);
	arena_release(&registry->arena);
	registry_init(registry);
}

/* Room for one more item of `size` bytes; the new items are zeroed. */
static void *reserve(void *items, uint32_t n, uint32_t *room, size_t size)
{
	uint32_t more = *room ? *room * 2 : 16;
	unsigned char *grown;

	if (n < *room) {
		return items;
	}
	if (n >= REGISTRY_MAX_TYPES) {
		return NULL;
	}
	grown = realloc(items, more * size);
	if (!grown) {
		return NULL;
	}
	memset(grown + *room * size, 0, (more - *room) * size);
	*room = more;
	return grown;
}

static bool same_text(const char *a, const char *b)
{
	return strcmp(a ? a : "", b ? b : "") == 0;
}

static bool same_field(const struct field *a, const struct field *b)
{
	uint32_t i;

	if (a->kind != b->kind || a->scope != b->scope || a->base != b->base ||
			a->n_labels != b->n_labels || !same_text(a->name, b->name)) {
		return false;
	}
	for (i = 0; i < a->n_labels; i++) {
		const struct field_label *la = &a->labels[i], *lb = &b->labels[i];

		if (la->lower != lb->lower || la->upper != lb->upper ||
				!same_text(la->name, lb->name)) {
			return false;
		}
	}
	return true;
}

/* Of two types of one name. */
static bool same_type(const struct event_type *a, const struct event_type *b)
{
	uint32_t i;

	if (a->n_fields != b->n_fields) {
		return false;
	}
	for (i = 0; i < a->n_fields; i++) {
		if (!same_field(&a->fields[i], &b->fields[i])) {
			return false;
		}
	}
	return true;
}

static bool copy_field(struct arena *arena, struct field *to, const struct field *from)
{
	struct field_label *labels = NULL;
	uint32_t i;

	*to = *from;
	to->name = arena_text(arena, from->name ? from->name : "");
	to->labels = NULL;
	if (!to->name) {
		return false;
	}
	if (from->n_labels > 0) {
		labels = arena_alloc(arena, from->n_labels * sizeof(*labels));
		if (!labels) {
			return false;
		}
		for (i = 0; i < from->n_labels; i++) {
			labels[i] = from->labels[i];
			labels[i].name = arena_text(arena, from->labels[i].name);
			if (!labels[i].name) {
				return false;
			}
		}
		to->labels = labels;
	}
	return true;
}

static bool copy_type(struct arena *arena, struct event_type *to, const struct event_type *from)
{
	uint32_t n = from->n_fields > EVENT_MAX_FIELDS ? EVENT_MAX_FIELDS : from->n_fields;
	struct field *fields = arena_alloc(arena, (n + 1) * sizeof(*fields));
	uint32_t i;

	to->name = arena_text(arena, from->name);
	if (!fields || !to->name) {
		return false;
	}
	for (i = 0; i < n; i++) {
		if (!copy_field(arena, &fields[i], &from->fields[i])) {
			return false;
		}
	}
	to->n_fields = n;
	to->fields = fields;
	return true;
}

/* Where the first type of this name is, or would be. There must be slots. */
static uint32_t *type_slot(const struct registry *registry, const char *name)
{
	uint32_t mask = registry->type_slot_room - 1;
	uint32_t at = (uint32_t)hash_bytes(name, strlen(name)) & mask;

	while (registry->type_slots[at] &&
			strcmp(registry->types[registry->type_slots[at] - 1].name, name) != 0) {
		at = (at + 1) & mask;
	}
	return &registry->type_slots[at];
}

static uint32_t first_of_name(const struct registry *registry, const char *name)
{
	uint32_t slot = registry->type_slot_room ? *type_slot(registry, name) : 0;

	return slot ? slot - 1 : ID_NONE;
}

static bool reserve_slot(struct registry *registry)
{
	uint32_t room = registry->type_slot_room ? registry->type_slot_room * 2 : FIRST_TYPE_SLOTS;
	uint32_t *slots, i;

	if (2 * (registry->n_type_names + 1) <= registry->type_slot_room) {
		return true;
	}
	slots = calloc(room, sizeof(*slots));
	if (!slots) {
		return false;
	}
	free(registry->type_slots);
	registry->type_slots = slots;
	registry->type_slot_room = room;
	for (i = 0; i < registry->n_types; i++) {
		if (registry->type_links[i].first == i) {
			*type_slot(registry, registry->types[i].name) = i + 1;
		}
	}
	return true;
}

static bool reserve_type(struct registry *registry)
{
	struct type_link *links = reserve(registry->type_links, registry->n_types,
			&registry->type_link_room, sizeof(*links));
	struct event_type *types;

	if (!links) {
		return false;
	}
	registry->type_links = links;
	types = reserve(registry->types, registry->n_types, &registry->type_room, sizeof(*types));
	if (!types) {
		return false;
	}
	registry->types = types;
	return reserve_slot(registry);
}

uint32_t registry_add_type(struct registry *registry, const struct event_type *type, bool *fresh)
{
	uint32_t number = registry->n_types, first = first_of_name(registry, type->name), i;
	uint32_t last = ID_NONE;

	*fresh = false;
	for (i = first; i != ID_NONE; i = registry->type_links[i].next) {
		if (same_type(&registry->types[i], type)) {
			return i;
		}
		last = i;
	}
	if (!reserve_type(registry) ||
			!copy_type(&registry->arena, &registry->types[number], type)) {
		return ID_NONE;
	}
	registry->type_links[number] = (struct type_link){
			.first = first == ID_NONE ? number : first, .next = ID_NONE};
	if (last != ID_NONE) {
		registry->type_links[last].next = number;
	} else {
		*type_slot(registry, type->name) = number + 1;
		registry->n_type_names++;
	}
	*fresh = true;
	return registry->n_types++;
}

uint32_t registry_add_alternative(
		struct registry *registry, uint32_t of, const struct field *fields, uint32_t n)
{
	uint32_t number = registry->n_types;
	struct event_type type;

	if (!reserve_type(registry)) {
		return ID_NONE;
	}
	type = (struct event_type){
			.name = registry->types[of].name, .n_fields = n, .fields = fields};
	if (!copy_type(&registry->arena, &registry->types[number], &type)) {
		return ID_NONE;
	}
	registry->type_links[number] = (struct type_link){
			.first = registry->type_links[of].first, .next = ID_NONE};
	return registry->n_types++;
}

uint32_t registry_host(const struct registry *registry, const char *name)
{
	uint32_t i;

	for (i = 0; i < registry->n_hosts; i++) {
		if (strcmp(registry->hosts[i].name, name) == 0) {
			return i;
		}
	}
	return ID_NONE;
}

static uint32_t add_host(struct registry *registry, const char *name)
{
	uint32_t known = registry_host(registry, name);
	struct host *hosts;

	if (known != ID_NONE) {
		return known;
	}
	hosts = reserve(registry->hosts, registry->n_hosts, &registry->host_room, sizeof(*hosts));
	if (!hosts) {
		return ID_NONE;
	}
	registry->hosts = hosts;
	hosts[registry->n_hosts].name = arena_text(&registry->arena, name);
	return hosts[registry->n_hosts].name ? registry->n_hosts++ : ID_NONE;
}

/* How many sessions of the host are attached, and which domains several of them have. */
static void share(struct registry *registry, uint32_t host)
{
	uint32_t seen = 0, shared = 0, attached = 0;

	for (uint32_t i = 0; i < registry->n_sessions; i++) {
		const struct session *session = &registry->sessions[i];

		if (session->attached && session->host == host) {
			shared |= seen & session->domains;
			seen |= session->domains;
			attached++;
		}
	}
	registry->hosts[host].shared = shared;
	registry->hosts[host].n_attached = attached;
}

uint32_t registry_find_session(const struct registry *registry, const char *host, const char *name)
{
	for (uint32_t i = 0; i < registry->n_sessions; i++) {
		const struct session_desc *desc = &registry->sessions[i].desc;

		if (same_text(desc->host, host) && same_text(desc->name, name)) {
			return i;
		}
	}
	return ID_NONE;
}

uint32_t registry_add_session(struct registry *registry, const struct session_desc *desc)
{
	struct session *sessions, *session;
	uint32_t i, host = add_host(registry, desc->host ? desc->host : "");

	if (host == ID_NONE) {
		return ID_NONE;
	}
	i = registry_find_session(registry, registry->hosts[host].name, desc->name);
	if (i != ID_NONE) {
		registry->sessions[i].desc.ours = desc->ours;
		registry->sessions[i].desc.live = desc->live;
		registry_attach_session(registry, i);
		return i;
	}
	sessions = reserve(registry->sessions, registry->n_sessions, &registry->session_room,
			sizeof(*sessions));
	if (!sessions) {
		return ID_NONE;
	}
	registry->sessions = sessions;
	session = &sessions[registry->n_sessions];
	session->desc = *desc;
	session->host = host;
	session->desc.host = registry->hosts[host].name;
	session->desc.name = arena_text(&registry->arena, desc->name ? desc->name : "");
	if (!session->desc.name) {
		return ID_NONE;
	}
	registry->n_sessions++;
	registry_attach_session(registry, registry->n_sessions - 1);
	return registry->n_sessions - 1;
}

uint32_t registry_add_stream(struct registry *registry, const struct stream_desc *desc)
{
	struct stream *streams, *stream;

	if (desc->session >= registry->n_sessions) {
		return ID_NONE;
	}
	streams = reserve(registry->streams, registry->n_streams, &registry->stream_room,
			sizeof(*streams));
	if (!streams) {
		return ID_NONE;
	}
	registry->streams = streams;
	stream = &streams[registry->n_streams];
	stream->desc = *desc;
	stream->host = registry->sessions[desc->session].host;
	stream->desc.channel = arena_text(&registry->arena, desc->channel ? desc->channel : "");
	stream->desc.kernel_release = arena_text(
			&registry->arena, desc->kernel_release ? desc->kernel_release : "");
	if (!stream->desc.channel || !stream->desc.kernel_release) {
		return ID_NONE;
	}
	registry->sessions[desc->session].domains |= 1u << desc->domain;
	share(registry, stream->host);
	return registry->n_streams++;
}

void registry_attach_session(struct registry *registry, uint32_t session)
{
	if (!registry->sessions[session].attached) {
		registry->sessions[session].attached = true;
		share(registry, registry->sessions[session].host);
	}
}

bool registry_end_session(struct registry *registry, uint32_t session)
{
	if (session >= registry->n_sessions || !registry->sessions[session].attached) {
		return false;
	}
	registry->sessions[session].attached = false;
	share(registry, registry->sessions[session].host);
	return true;
}
