/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "pythia/steps.h"

static void step_release(struct step *step)
{
	free(step->title);
	free(step->why);
	free(step->effect);
	for (uint32_t i = 0; step->parts && i < step->n_parts; i++) {
		free(step->parts[i].filter);
	}
	free(step->parts);
}

void steps_release(struct steps *steps)
{
	for (uint32_t i = 0; i < steps->n; i++) {
		step_release(&steps->items[i]);
	}
	free(steps->items);
	free(steps->events);
	*steps = (struct steps){.items = NULL};
}

static bool is_over(const struct step *step)
{
	return step->state == STEP_UNDONE || step->state == STEP_REJECTED ||
	       step->state == STEP_FAILED;
}

/* Room for one more; the oldest that is over goes where there are too many. */
static bool make_room(struct steps *steps)
{
	uint32_t i;

	if (steps->n == STEPS_MAX) {
		for (i = 0; i < steps->n && !is_over(&steps->items[i]); i++) {
		}
		if (i == steps->n) {
			return false;
		}
		step_release(&steps->items[i]);
		memmove(&steps->items[i], &steps->items[i + 1],
				(steps->n - i - 1) * sizeof(*steps->items));
		steps->n--;
	}
	return array_reserve(&steps->items, &steps->room, steps->n + 1);
}

static bool copy_parts(struct step *step, const struct step_part *parts)
{
	bool whole = step->parts != NULL;

	for (uint32_t i = 0; step->parts && i < step->n_parts; i++) {
		step->parts[i] = parts[i];
		step->parts[i].filter = parts[i].filter ? strdup(parts[i].filter) : NULL;
		whole &= !parts[i].filter == !step->parts[i].filter;
	}
	return whole;
}

struct step *steps_add(struct steps *steps, enum step_kind kind, const struct step_part *parts,
		uint32_t n_parts, const char *title, const char *why, uint64_t now_ns)
{
	struct step step = {.kind = kind,
			.proposed_ns = now_ns,
			.n_parts = n_parts,
			.title = strdup(title),
			.title_bytes = strlen(title),
			.why = strdup(why),
			.effect = strdup(""),
			.predicted = {-1, -1, -1},
			.actual = {-1, -1, -1}};

	step.parts = calloc(n_parts ? n_parts : 1, sizeof(*step.parts));
	if (!step.title || !step.why || !step.effect || !copy_parts(&step, parts) ||
			!make_room(steps)) {
		step_release(&step);
		return NULL;
	}
	step.id = ++steps->last_id;
	steps->items[steps->n] = step;
	return &steps->items[steps->n++];
}

struct step *steps_find(struct steps *steps, uint32_t id)
{
	for (uint32_t i = steps->n; i > 0; i--) {
		if (steps->items[i - 1].id == id) {
			return &steps->items[i - 1];
		}
	}
	return NULL;
}

struct step *steps_proposed(struct steps *steps)
{
	for (uint32_t i = steps->n; i > 0; i--) {
		if (steps->items[i - 1].state == STEP_PROPOSED) {
			return &steps->items[i - 1];
		}
	}
	return NULL;
}

bool steps_busy(const struct steps *steps)
{
	for (uint32_t i = 0; i < steps->n; i++) {
		enum step_state state = steps->items[i].state;

		if (state == STEP_APPROVED || state == STEP_WATCHED || state == STEP_UNDOING) {
			return true;
		}
	}
	return false;
}

void step_say(struct step *step, const char *format, ...)
{
	char text[512];
	char *copy;
	va_list list;

	va_start(list, format);
	vsnprintf(text, sizeof(text), format, list);
	va_end(list);
	copy = strdup(text);
	if (copy) {
		free(step->effect);
		step->effect = copy;
	}
}

void step_undo(struct step *step, enum step_by by, uint64_t now_ns)
{
	if (step->state == STEP_PROPOSED || (step->state == STEP_APPROVED && !step->ordered)) {
		step->state = STEP_REJECTED;
		step->ended_ns = now_ns;
	} else if (!is_over(step) && step->state != STEP_UNDOING) {
		/* One that is with the hosts is undone after they have answered. */
		step->state = STEP_UNDOING;
	} else {
		return;
	}
	step->undone_by = by;
}

enum status step_decide(struct step *step, enum step_decision decision, enum step_by by,
		uint64_t now_ns, char *error, size_t size)
{
	if (decision == STEP_UNDO) {
		if (is_over(step)) {
			snprintf(error, size, "step %u is over: there is nothing to undo",
					step->id);
			return STATUS_INVALID;
		}
		step_undo(step, by, now_ns);
		return STATUS_OK;
	}
	if (step->state != STEP_PROPOSED) {
		snprintf(error, size, "step %u has been decided already", step->id);
		return STATUS_INVALID;
	}
	step->decided_ns = now_ns;
	step->by = by;
	if (decision == STEP_REJECT) {
		step->state = STEP_REJECTED;
		step->ended_ns = now_ns;
	} else {
		step->state = STEP_APPROVED;
	}
	return STATUS_OK;
}

uint32_t step_count_kept(const struct step *step)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < step->n_parts; i++) {
		n += !step->parts[i].left_out;
	}
	return n;
}

/* Without memory for it the title stays as it is: it only tells. */
static void tell_kept(struct step *step)
{
	size_t size = step->title_bytes + 48;
	uint32_t kept = step_count_kept(step);
	char *title = realloc(step->title, size);

	if (!title) {
		return;
	}
	step->title = title;
	title[step->title_bytes] = '\0';
	if (kept < step->n_parts) {
		snprintf(title + step->title_bytes, size - step->title_bytes, " (%u of %u points)",
				kept, step->n_parts);
	}
}

enum status step_edit(struct step *step, uint32_t part, bool keep, char *error, size_t size)
{
	if (step->state != STEP_PROPOSED) {
		snprintf(error, size, "step %u has been decided already", step->id);
		return STATUS_INVALID;
	}
	if (step->kind == STEP_LEARN) {
		snprintf(error, size, "step %u learns from all points at once: none is left out",
				step->id);
		return STATUS_INVALID;
	}
	if (part == 0 || part > step->n_parts) {
		snprintf(error, size, "step %u has no point %u; they count from 1 to %u", step->id,
				part, step->n_parts);
		return STATUS_INVALID;
	}
	if (!keep && !step->parts[part - 1].left_out && step_count_kept(step) == 1) {
		snprintf(error, size, "one point must stay; to do none of it, reject step %u",
				step->id);
		return STATUS_INVALID;
	}
	step->parts[part - 1].left_out = !keep;
	tell_kept(step);
	return STATUS_OK;
}

static bool events_reserve(struct steps *steps, uint32_t n)
{
	return array_reserve(&steps->events, &steps->events_room, n);
}

/* What was uninformative, and was disabled along with enabling others, stays off when these are undone. */
static bool comes_back(const struct step *step, const struct step_part *part)
{
	return part->enable || step->kind == STEP_DISABLE;
}

/* The events of a part on each of its hosts, to `out` unless that is NULL. */
static uint32_t part_events(const struct points *points, const struct step_part *part, bool undo,
		struct step_event *out)
{
	const struct point *point = &points->items[part->point];
	const uint32_t names[2] = {point->entry, point->exit};
	uint32_t n = 0;

	for (uint32_t host = 0; host < points->n_hosts; host++) {
		if (!(part->hosts >> host & 1)) {
			continue;
		}
		for (uint32_t i = 0; i < 2; i++) {
			if (!names[i]) {
				continue;
			}
			if (out) {
				out[n] = (struct step_event){.host = names_text(points->names,
									     points->hosts[host]),
						.name = names_text(points->names, names[i]),
						.kernel = point->kernel,
						.enable = part->enable != undo,
						.filter = part->filter};
			}
			n++;
		}
	}
	return n;
}

uint32_t step_events(const struct points *points, const struct step *step, bool undo,
		struct step_event *out)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < step->n_parts; i++) {
		if (step->parts[i].left_out || (undo && !comes_back(step, &step->parts[i]))) {
			continue;
		}
		n += part_events(points, &step->parts[i], undo, out ? out + n : NULL);
	}
	return n;
}

const struct step_order *steps_next_order(struct steps *steps, const struct points *points)
{
	bool watched = false;

	for (uint32_t i = 0; i < steps->n; i++) {
		watched |= steps->items[i].state == STEP_WATCHED;
	}
	for (uint32_t i = 0; i < steps->n && !steps->in_flight; i++) {
		struct step *step = &steps->items[i];
		bool undo = step->state == STEP_UNDOING;
		uint32_t n;

		/* What one step costs is seen before the next; undoing waits for nothing. */
		if ((!undo && (step->state != STEP_APPROVED || watched)) || step->ordered) {
			continue;
		}
		n = step_events(points, step, undo, NULL);
		if (!events_reserve(steps, n)) {
			return NULL;
		}
		step_events(points, step, undo, steps->events);
		steps->order = (struct step_order){.step = step->id,
				.undo = undo,
				.kind = step->kind,
				.watch_s = step->kind == STEP_LEARN ? step->learn_s : STEP_WATCH_S,
				.n = n,
				.events = steps->events};
		step->ordered = true;
		steps->in_flight = true;
		return &steps->order;
	}
	return NULL;
}

void step_host_gone(struct step *step, uint64_t bit, const char *host, uint64_t now_ns)
{
	bool touched = false, left = false;

	if (step->ordered || (step->state != STEP_KEPT && step->state != STEP_WATCHED)) {
		return; /* an order that is out is answered by itself */
	}
	for (uint32_t i = 0; i < step->n_parts; i++) {
		if (step->parts[i].left_out) {
			continue;
		}
		touched |= (step->parts[i].hosts & bit) != 0;
		step->parts[i].hosts &= ~bit;
		left |= step->parts[i].hosts != 0;
	}
	if (touched && !left) {
		step->state = STEP_UNDONE;
		step->undone_by = STEP_BY_WATCH;
		step->ended_ns = now_ns;
	}
	if (touched) {
		step_say(step, "undone on %s: its control, or our session there, has ended", host);
	}
}

/* The points as they are after a step was carried out, or undone. */
static void take_effect(struct points *points, const struct step *step, bool undo, uint64_t now_ns)
{
	for (uint32_t i = 0; i < step->n_parts; i++) {
		const struct step_part *part = &step->parts[i];
		struct point *point = &points->items[part->point];

		if (part->left_out || (undo && !comes_back(step, part))) {
			continue;
		}
		if (part->enable != undo) {
			point->ours |= part->hosts;
			point->ever |= step->kind != STEP_LEARN && step->kind != STEP_SKELETON;
			point->enabled_ns = now_ns;
			point->uninformative = 0;
		} else {
			point_undo(point, part->hosts, now_ns);
		}
	}
}

struct step *steps_order_done(struct steps *steps, struct points *points,
		const struct step_outcome *outcome, uint64_t now_ns)
{
	struct step *step = steps_find(steps, outcome->step);

	if (!step || !step->ordered || !steps->in_flight) {
		return NULL;
	}
	step->ordered = false;
	steps->in_flight = false;
	if (outcome->undo) {
		take_effect(points, step, true, now_ns);
		step->state = step->failed || !outcome->ok ? STEP_FAILED : STEP_UNDONE;
		step->ended_ns = now_ns;
		if (!outcome->ok) {
			step_say(step, "not undone everywhere: %s", outcome->error);
		}
		return step;
	}
	take_effect(points, step, false, now_ns);
	step->done_ns = now_ns;
	if (!outcome->ok) {
		step->failed = true;
		step_say(step, "failed: %s", outcome->error);
		step->state = STEP_UNDOING; /* what some hosts did all the same */
		step->undone_by = STEP_BY_WATCH;
	} else if (step->state == STEP_APPROVED) {
		step->state = STEP_WATCHED;
	}
	return step;
}
