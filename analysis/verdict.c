/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "verdict.h"
#include "row_fields.h"

#define RULE_NAME(id, name, words)  [STOP_##id] = name,
#define RULE_WORDS(id, name, words) [STOP_##id] = words,
const char *const stop_rule_names[] = {STOP_RULES(RULE_NAME)};
const char *const stop_rule_words[] = {STOP_RULES(RULE_WORDS)};

#define REASON_NAME(id, name) [REASON_##id] = #name,
#define DEEPER_NAME(id, name) [DEEPER_##id] = name,
static const char *const reason_names[] = {VERDICT_REASONS(REASON_NAME)};
static const char *const deeper_names[] = {VERDICT_DEEPER(DEEPER_NAME)};

DERIVED(verdict_reason_name, steps_verdict, row_text(reason_names[row->reason]))
DERIVED(verdict_deeper_name, steps_verdict, row_text(deeper_names[row->deeper]))

#define X(...) FIELD_OF(steps_verdict, __VA_ARGS__)
const struct row_field verdict_fields[] = {ROW_VERDICT_FIELDS(X)};
#undef X

/* --- its texts -------------------------------------------------------------------------------- */

static bool own(const char **text, struct arena *arena)
{
	*text = *text && **text ? arena_text(arena, *text) : "";
	return *text != NULL;
}

static bool own_key(struct verdict_key *key, struct arena *arena)
{
	bool owned = own(&key->name, arena) && own(&key->where, arena);

	for (uint32_t i = 0; i < VERDICT_KEY_TOGETHER && owned; i++) {
		owned = own(&key->together[i], arena);
	}
	for (uint32_t i = 0; i < VERDICT_KEY_VALUES && owned; i++) {
		owned = own(&key->values[i].text, arena);
	}
	return owned;
}

static bool own_holder(struct group_holder *holder, struct arena *arena)
{
	return own(&holder->name, arena) && own(&holder->provider, arena) &&
	       own(&holder->type, arena) && own(&holder->process, arena) &&
	       own(&holder->made_in, arena);
}

bool verdict_own(struct steps_verdict *verdict, struct arena *arena)
{
	bool owned = own_key(&verdict->key, arena);

	for (int i = 0; i < N_VERDICT_FIELDS && owned; i++) {
		if (verdict_fields[i].type == ROW_NAME) {
			owned = own((const char **)((char *)verdict + verdict_fields[i].offset),
					arena);
		}
	}
	for (uint32_t i = 0; i < VERDICT_PLACES && owned; i++) {
		owned = own(&verdict->places[i].name, arena);
	}
	for (uint32_t i = 0; i < verdict->n_holders && owned; i++) {
		owned = own_holder(&verdict->holders[i], arena);
	}
	return owned;
}

void verdict_keep(struct kept_verdict *kept, const struct steps_verdict *verdict)
{
	struct kept_verdict copy = {.verdict = *verdict};

	if (!verdict_own(&copy.verdict, &copy.words)) {
		arena_release(&copy.words);
		return;
	}
	arena_release(&kept->words);
	*kept = copy;
}

void verdict_release(struct kept_verdict *kept)
{
	arena_release(&kept->words);
	*kept = (struct kept_verdict){.verdict = {.reason = REASON_NONE}};
}
