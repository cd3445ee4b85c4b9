/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <string.h>

#include "requests/span_values.h"
#include "values.h"

static bool is_kept(const struct schema_event *source, const struct field *field)
{
	uint32_t i;

	if (field->kind == FIELD_TREE || field->scope != SCOPE_PAYLOAD) {
		i = source ? source->n_values : 0;
		if (i == 0) {
			return false;
		}
	}
	for (i = 0; source && i < source->n_values; i++) {
		if (strcmp(source->values[i], field->name) == 0) {
			return true;
		}
	}
	return !source || source->n_values == 0;
}

static bool is_key(const struct plan_key *keys, uint32_t n, uint32_t field)
{
	uint32_t i;

	for (i = 0; i < n; i++) {
		if ((keys[i].kind == KEY_FIELD_NUMBER || keys[i].kind == KEY_FIELD_BYTES) &&
				keys[i].field == field) {
			return true;
		}
	}
	return false;
}

/* Does a field tell which request, message or span it is? Then it differs, and explains nothing. */
static bool is_identity(const struct plan *plan, uint32_t field)
{
	uint32_t i;

	for (i = 0; i < plan->n_bind; i++) {
		if (is_key(plan->bind[i].keys, plan->bind[i].n_keys, field)) {
			return true;
		}
	}
	return is_key(plan->pair, plan->n_pair, field);
}

bool value_is_told(const struct requests *r, uint32_t type, uint32_t field, enum values which)
{
	const struct plan *plan = &r->plans[type];

	if (which != VALUES_ALL &&
			!is_kept(plan->source, &r->registry->types[type].fields[field])) {
		return false;
	}
	return which != VALUES_COMPARED || !is_identity(plan, field);
}

uint32_t event_values(struct requests *r, struct snapshot *snapshot, const struct event_copy *copy,
		enum values which, struct request_value *values)
{
	const struct event_type *type = &r->registry->types[copy->type];
	struct event event = copy_event(copy);
	uint32_t i, n = 0;

	for (i = 0; i < type->n_fields && (i + 1) * 8 <= copy->bytes; i++) {
		if (!value_is_told(r, copy->type, i, which)) {
			continue;
		}
		values[n++] = (struct request_value){
				.name = snapshot_text(snapshot, type->fields[i].name),
				.text = value_text(snapshot, &type->fields[i], &event, i),
		};
	}
	return n;
}

static uint32_t n_fields(const struct requests *r, const struct event_copy *copy)
{
	return copy ? r->registry->types[copy->type].n_fields : 0;
}

static enum status put_values(struct requests *r, struct snapshot *snapshot,
		const struct span *span, enum values which, const struct request_value **out,
		uint32_t *n_out)
{
	uint32_t room = n_fields(r, span->entry) + n_fields(r, span->exit), n = 0, i, j, m;
	struct request_value *values = snapshot_alloc(snapshot, (room + 1) * sizeof(*values));

	if (!values) {
		return STATUS_NO_MEMORY;
	}
	if (span->entry) {
		n = event_values(r, snapshot, span->entry, which, values);
	}
	if (span->exit) {
		m = n + event_values(r, snapshot, span->exit, which, values + n);
		for (i = j = n; i < m; i++) {
			uint32_t k;

			for (k = 0; k < n; k++) {
				if (strcmp(values[k].name, values[i].name) == 0) {
					break;
				}
			}
			if (k < n) {
				values[k] = values[i]; /* what it was in the end */
			} else {
				values[j++] = values[i];
			}
		}
		n = j;
	}
	*n_out = n;
	*out = values;
	return STATUS_OK;
}

enum status span_values(struct requests *r, struct snapshot *snapshot, const struct span *span,
		const struct request_value **values, uint32_t *n)
{
	return put_values(r, snapshot, span, VALUES_KEPT, values, n);
}

enum status span_compared(struct requests *r, struct snapshot *snapshot, const struct span *span,
		const struct request_value **values, uint32_t *n)
{
	return put_values(r, snapshot, span, VALUES_COMPARED, values, n);
}
