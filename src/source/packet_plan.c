/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "packet_plan.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/array.h"
#include "event_bytes.h"
#include "packet_tree.h"
#include "type_record.h"

#define LABELS_GROUPED 256

#define DEPTH_MAX 8 /* structures inside structures that are flattened; deeper ones are trees */

/* A slot for a text or a tree. */
struct late_slot {
	const struct ctf_field *field;
	uint16_t slot;
};

struct packet_plan {
	uint32_t type, n_slots;
	struct ctf_program *event;  /* common context, specific context, payload */
	struct ctf_program *packet; /* the packet's context; NULL if nothing of it is shown */
	struct late_slot *late;     /* in the order of the slots */
	uint32_t n_late, late_room;
};

/* A field and where it goes: slots are given in another order than fields are read in. */
struct placed {
	const struct ctf_field *field;
	uint16_t slot;
};

struct compiler {
	struct packet_plan *plan;
	struct type_record type;
	struct placed *placed;
	uint32_t n_placed, placed_room;
	enum field_scope scope;
	bool of_packet;
	bool failed;
};

static enum field_kind kind_of(const struct ctf_field *field)
{
	if (ctf_field_is_number(field)) {
		return field->is_signed ? FIELD_INT : FIELD_UINT;
	}
	if (field->kind == CTF_FLOAT) {
		return FIELD_DOUBLE;
	}
	return field->kind == CTF_STRING || field->is_text ? FIELD_STRING : FIELD_TREE;
}

static uint8_t base_of(const struct ctf_field *field)
{
	bool is_text = field->is_text;

	while (!is_text && (field->kind == CTF_ARRAY || field->kind == CTF_SEQUENCE)) {
		field = field->inside;
		is_text = field->is_text;
	}
	return ctf_field_is_number(field) ? field->base : 10;
}

/* Whether one of the labels before it is called alike. */
static bool is_repeated(const struct ctf_label *labels, const struct ctf_label *label)
{
	while (labels != label && strcmp(labels->name, label->name) != 0) {
		labels = labels->next;
	}
	return labels != label;
}

/* Those of one name together, as the library has them; so many that it would take long, as is. */
static void add_labels(struct type_record *type, const struct ctf_type *enumeration)
{
	bool is_grouped = enumeration->n <= LABELS_GROUPED;

	for (const struct ctf_label *label = enumeration->labels; label; label = label->next) {
		if (is_grouped && is_repeated(enumeration->labels, label)) {
			continue;
		}
		type_record_add_label(type, label->name, label->lower, label->upper);
		for (const struct ctf_label *other = is_grouped ? label->next : NULL; other;
				other = other->next) {
			if (strcmp(other->name, label->name) == 0) {
				type_record_add_label(
						type, other->name, other->lower, other->upper);
			}
		}
	}
}

static void add_value(struct compiler *compiler, const struct ctf_field *field, const char *name)
{
	enum field_kind kind = kind_of(field);
	uint8_t width = (uint8_t)((field->bits + 7) / 8);
	int slot = type_record_add_field(
			&compiler->type, name, kind, compiler->scope, base_of(field), width);

	if (slot < 0) {
		return;
	}
	if (!array_reserve(&compiler->placed, &compiler->placed_room, compiler->n_placed + 1) ||
			!array_reserve(&compiler->plan->late, &compiler->plan->late_room,
					compiler->plan->n_late + 1)) {
		compiler->failed = true;
		return;
	}
	compiler->placed[compiler->n_placed++] = (struct placed){field, (uint16_t)slot};
	if (kind == FIELD_STRING || kind == FIELD_TREE) {
		compiler->plan->late[compiler->plan->n_late++] =
				(struct late_slot){field, (uint16_t)slot};
	}
	if (field->kind == CTF_ENUM) {
		add_labels(&compiler->type, field->type);
	}
	type_record_sort_labels(&compiler->type);
}

static void add_members(struct compiler *compiler, const struct ctf_field *structure,
		const char *prefix, unsigned depth)
{
	for (uint32_t i = 0; i < structure->n; i++) {
		const struct ctf_field *field = &structure->inside[i];
		char name[TYPE_MAX_NAME + 1];

		if (!field->is_shown) {
			continue;
		}
		snprintf(name, sizeof(name), "%s%s%s", prefix, prefix[0] ? "." : "", field->name);
		/* Every event has its CPU anyway. */
		if (compiler->of_packet && depth == 0 && strcmp(name, "cpu_id") == 0) {
			continue;
		}
		if (field->kind == CTF_STRUCT && depth + 1 < DEPTH_MAX) {
			add_members(compiler, field, name, depth + 1);
		} else {
			add_value(compiler, field, name);
		}
	}
}

static void add_root(
		struct compiler *compiler, const struct ctf_field *root, enum field_scope scope)
{
	if (root && root->is_shown) {
		compiler->scope = scope;
		add_members(compiler, root, "", 0);
	}
}

static uint16_t slot_of(const struct compiler *compiler, const struct ctf_field *field)
{
	for (uint32_t i = 0; i < compiler->n_placed; i++) {
		if (compiler->placed[i].field == field) {
			return compiler->placed[i].slot;
		}
	}
	return CTF_NO_SLOT;
}

/* Whether anything in a structure has a slot of its own. */
static bool is_entered(
		const struct compiler *compiler, const struct ctf_field *field, unsigned depth)
{
	return field->kind == CTF_STRUCT && field->is_shown && depth < DEPTH_MAX &&
	       slot_of(compiler, field) == CTF_NO_SLOT;
}

static void compile_members(const struct compiler *compiler, struct ctf_program *program,
		const struct ctf_field *structure, unsigned depth)
{
	ctf_program_scope(program, structure);
	for (uint32_t i = 0; i < structure->n; i++) {
		const struct ctf_field *field = &structure->inside[i];

		if (is_entered(compiler, field, depth + 1)) {
			compile_members(compiler, program, field, depth + 1);
		} else {
			ctf_program_add(program, field, slot_of(compiler, field));
		}
	}
}

static bool compile(struct compiler *compiler, const struct ctf_stream *stream,
		const struct ctf_event *event)
{
	const struct ctf_field *roots[] = {stream->event_context, event->context, event->fields};
	struct packet_plan *plan = compiler->plan;
	bool packet_has_slots = false;

	for (uint32_t i = 0; stream->packet_context && i < stream->packet_context->n; i++) {
		const struct ctf_field *field = &stream->packet_context->inside[i];

		packet_has_slots |= field->is_shown && field != stream->cpu;
	}
	plan->event = ctf_program_create();
	plan->packet = packet_has_slots ? ctf_program_create() : NULL;
	if (!plan->event || (packet_has_slots && !plan->packet)) {
		return false;
	}
	for (size_t i = 0; i < sizeof(roots) / sizeof(*roots); i++) {
		if (roots[i]) {
			compile_members(compiler, plan->event, roots[i], 0);
		}
	}
	if (plan->packet) {
		compile_members(compiler, plan->packet, stream->packet_context, 0);
	}
	return ctf_program_is_whole(plan->event) &&
	       (!plan->packet || ctf_program_is_whole(plan->packet));
}

static bool describe(struct compiler *compiler, const struct ctf_stream *stream,
		const struct ctf_event *event)
{
	add_root(compiler, event->fields, SCOPE_PAYLOAD);
	add_root(compiler, event->context, SCOPE_CONTEXT);
	add_root(compiler, stream->event_context, SCOPE_CONTEXT);
	compiler->of_packet = true;
	add_root(compiler, stream->packet_context, SCOPE_CONTEXT);
	return !compiler->failed;
}

struct packet_plan *packet_plan_create(const struct ctf_stream *stream,
		const struct ctf_event *event, uint32_t type, struct outlet *outlet)
{
	struct compiler *compiler = calloc(1, sizeof(*compiler));
	struct packet_plan *plan = calloc(1, sizeof(*plan));
	const char *name = event->name;
	char number[32];
	bool done;

	if (!compiler || !plan) {
		free(compiler);
		free(plan);
		return NULL;
	}
	if (!name[0]) {
		snprintf(number, sizeof(number), "event-%" PRIu64, event->id);
		name = number;
	}
	compiler->plan = plan;
	plan->type = type;
	type_record_init(&compiler->type, type, name);
	done = describe(compiler, stream, event) && compile(compiler, stream, event);
	plan->n_slots = compiler->type.head.n_fields;
	done = done && type_record_write(&compiler->type, outlet);
	type_record_release(&compiler->type);
	free(compiler->placed);
	free(compiler);
	if (!done) {
		packet_plan_destroy(plan);
		return NULL;
	}
	return plan;
}

void packet_plan_destroy(struct packet_plan *plan)
{
	if (plan) {
		ctf_program_destroy(plan->event);
		ctf_program_destroy(plan->packet);
		free(plan->late);
		free(plan);
	}
}

/* What is read a second time must not turn the clock. */
struct mark {
	uint64_t at, clock;
};

static struct mark go_to(struct ctf_place *place, uint64_t at)
{
	struct mark mark = {place->at, place->clock};

	place->at = at;
	return mark;
}

static void go_back(struct ctf_place *place, struct mark mark)
{
	place->at = mark.at;
	place->clock = mark.clock;
}

bool packet_plan_read(
		const struct packet_plan *plan, struct ctf_reader *reader, struct packet_desk *desk)
{
	struct ctf_place *place = &reader->place;
	struct mark mark;
	bool done;

	if (plan->packet) {
		mark = go_to(place, reader->context_at);
		done = ctf_program_run(plan->packet, place, desk->slots, desk->late);
		go_back(place, mark);
		if (!done) {
			return false;
		}
	}
	return ctf_program_run(plan->event, place, desk->slots, desk->late);
}

static bool put_tree(const struct ctf_field *field, struct ctf_place *place,
		struct packet_desk *desk, uint16_t slot, struct outlet *outlet, uint64_t *to,
		uint32_t *used)
{
	struct mark mark = go_to(place, desk->late[slot].at);
	uint64_t steps = place->steps;
	bool whole;

	place->steps = UINT64_MAX; /* as many as it took to find its end */
	whole = packet_tree_encode(&desk->tree, field, place);
	place->steps = steps;
	go_back(place, mark);
	if (!whole) {
		*to = EVENT_ABSENT;
		return true;
	}
	return event_put_tree(outlet, to, &desk->tree, used);
}

struct record_event *packet_plan_write(const struct packet_plan *plan, struct ctf_reader *reader,
		struct packet_desk *desk, struct outlet *outlet)
{
	uint32_t used = plan->n_slots * (uint32_t)sizeof(uint64_t);
	struct record_event *record = outlet_begin(outlet, sizeof(*record) + used, RECORD_EVENT);

	if (!record) {
		return NULL;
	}
	record->type = plan->type;
	memcpy(record->slots, desk->slots, used);
	for (uint32_t i = 0; i < plan->n_late; i++) {
		uint16_t slot = plan->late[i].slot;
		const struct ctf_late *late = &desk->late[slot];
		uint64_t *to = &record->slots[slot];

		if (late->text ? !event_put_bytes(outlet, to, late->text, late->length, &used)
			       : !put_tree(plan->late[i].field, &reader->place, desk, slot, outlet,
						 to, &used)) {
			return NULL;
		}
	}
	record->bytes = used;
	return record;
}
