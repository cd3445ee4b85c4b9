/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PT_BASE_HASH_H
#define PT_BASE_HASH_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/*
 * Hashes for the tables of the analysis. Never shown and never ordered by, so that no output
 * depends on them.
 */

/* Finalizer of MurmurHash3 (Appleby 2011, public domain): every bit of x moves every bit out. */
static inline uint64_t hash_u64(uint64_t x)
{
	x ^= x >> 33;
	x *= UINT64_C(0xff51afd7ed558ccd);
	x ^= x >> 33;
	x *= UINT64_C(0xc4ceb9fe1a85ec53);
	x ^= x >> 33;
	return x;
}

static inline uint64_t hash_pair(uint64_t a, uint64_t b)
{
	return hash_u64(a * UINT64_C(0x9e3779b97f4a7c15) + b);
}

static inline uint64_t hash_bytes(const void *bytes, size_t size)
{
	const unsigned char *at = bytes;
	uint64_t hash = size * UINT64_C(0x9e3779b97f4a7c15);

	for (; size >= 8; size -= 8, at += 8) {
		uint64_t word;

		memcpy(&word, at, 8);
		hash = (hash ^ word) * UINT64_C(0xff51afd7ed558ccd);
		hash ^= hash >> 32;
	}
	if (size > 0) {
		uint64_t word = 0;

		memcpy(&word, at, size);
		hash = (hash ^ word) * UINT64_C(0xff51afd7ed558ccd);
	}
	return hash_u64(hash);
}

#endif
