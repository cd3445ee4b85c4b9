/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "behaviour/alphabet.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/hash.h"

void alphabet_release(struct alphabet *alphabet)
{
	free(alphabet->symbols);
	number_map_release(&alphabet->numbers);
	*alphabet = (struct alphabet){.n = 0};
}

static bool same(const struct symbol *a, const struct symbol *b)
{
	return a->name == b->name && a->provider == b->provider && a->above_name == b->above_name &&
	       a->above_provider == b->above_provider && a->many == b->many &&
	       a->failed == b->failed && a->no_end == b->no_end;
}

static uint64_t hash_of(const struct symbol *symbol)
{
	uint64_t hash = hash_pair((uint64_t)symbol->name << 32 | symbol->provider,
			(uint64_t)symbol->above_name << 32 | symbol->above_provider);

	return hash_pair(hash, (uint64_t)symbol->many << 2 | (uint64_t)symbol->failed << 1 |
					       symbol->no_end) >>
	       1; /* never NUMBER_NONE */
}

static uint32_t number_of(struct alphabet *alphabet, const struct symbol *symbol)
{
	uint64_t hash = hash_of(symbol);
	uint32_t number;

	for (;; hash = (hash + 1) & (UINT64_MAX >> 1)) {
		number = number_map_find(&alphabet->numbers, hash);
		if (number == NUMBER_NONE) {
			break;
		}
		if (same(&alphabet->symbols[number], symbol)) {
			return number;
		}
	}
	number = alphabet->n ? alphabet->n : 1;
	if (number >= ALPHABET_MAX ||
			!array_reserve_zeroed(&alphabet->symbols, &alphabet->room, number + 1) ||
			!number_map_set(&alphabet->numbers, hash, number)) {
		return 0;
	}
	alphabet->symbols[number] = *symbol;
	alphabet->n = number + 1;
	return number;
}

uint32_t alphabet_of_step(struct alphabet *alphabet, const struct sequence_step *step,
		const struct sequence_step *above)
{
	return number_of(alphabet, &(struct symbol){.name = step->name,
						   .provider = step->provider,
						   .above_name = above ? above->name : 0,
						   .above_provider = above ? above->provider : 0,
						   .many = step->many,
						   .failed = step->failed});
}

uint32_t alphabet_no_end(struct alphabet *alphabet)
{
	return number_of(alphabet, &(struct symbol){.no_end = true});
}

static int compare_names(const struct names *names, uint32_t a, uint32_t b)
{
	return a == b ? 0 : strcmp(names_own_text(names, a), names_own_text(names, b));
}

int alphabet_compare(
		const struct alphabet *alphabet, const struct names *names, uint32_t a, uint32_t b)
{
	const struct symbol *x = &alphabet->symbols[a], *y = &alphabet->symbols[b];
	int order = compare_names(names, x->name, y->name);

	order = order ? order : compare_names(names, x->provider, y->provider);
	order = order ? order : compare_names(names, x->above_name, y->above_name);
	order = order ? order : compare_names(names, x->above_provider, y->above_provider);
	order = order ? order : x->many - y->many;
	order = order ? order : x->failed - y->failed;
	return order ? order : x->no_end - y->no_end;
}
