/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "behaviour/sketch.h"

#include "base/hash.h"

/* Two 32-bit halves of one hash make all functions: h1 + i h2 (Kirsch & Mitzenmacher 2008). */
void sketch_make(struct sketch *sketch, const uint32_t *string, uint32_t n)
{
	for (int i = 0; i < SKETCH_SIZE; i++) {
		sketch->least[i] = UINT32_MAX;
	}
	for (uint32_t at = 0; at <= n; at++) {
		uint64_t pair = (uint64_t)(at > 0 ? string[at - 1] + 1 : 0) << 32 |
				(at < n ? string[at] + 1 : 0);
		uint64_t hash = hash_u64(pair + 1);
		uint32_t value = (uint32_t)hash, more = (uint32_t)(hash >> 32) | 1;

		for (int i = 0; i < SKETCH_SIZE; i++, value += more) {
			/* Mixed once more: sums of the same two numbers have the same order. */
			uint32_t mixed = (value ^ value >> 15) * 0x2c1b3c6du;

			sketch->least[i] = mixed < sketch->least[i] ? mixed : sketch->least[i];
		}
	}
}

uint32_t sketch_common(const struct sketch *a, const struct sketch *b)
{
	uint32_t n = 0;

	for (int i = 0; i < SKETCH_SIZE; i++) {
		n += a->least[i] == b->least[i];
	}
	return n;
}
