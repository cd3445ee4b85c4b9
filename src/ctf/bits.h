/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PT_CTF_BITS_H
#define PT_CTF_BITS_H

#include <byteswap.h>
#include <endian.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* Numbers of 1 to 64 bits at any bit of a buffer. The caller has checked that they lie in it. */

#define CTF_HOST_IS_BIG (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__)

static inline uint16_t ctf_load_16(const unsigned char *at, bool is_big)
{
	uint16_t value;

	memcpy(&value, at, sizeof(value));
	return is_big == CTF_HOST_IS_BIG ? value : bswap_16(value);
}

static inline uint32_t ctf_load_32(const unsigned char *at, bool is_big)
{
	uint32_t value;

	memcpy(&value, at, sizeof(value));
	return is_big == CTF_HOST_IS_BIG ? value : bswap_32(value);
}

static inline uint64_t ctf_load_64(const unsigned char *at, bool is_big)
{
	uint64_t value;

	memcpy(&value, at, sizeof(value));
	return is_big == CTF_HOST_IS_BIG ? value : bswap_64(value);
}

/* Bit by bit of a byte: from its lowest bit on, or from its highest. At most 9 bytes. */
static inline uint64_t ctf_load_odd(
		const unsigned char *bytes, uint64_t at, uint32_t bits, bool is_big)
{
	const unsigned char *byte = bytes + at / 8;
	uint32_t skip = (uint32_t)(at % 8), have = 8 - skip < bits ? 8 - skip : bits;
	uint64_t value;

	if (is_big) {
		value = (uint64_t)(*byte & (0xffu >> skip)) >> (8 - skip - have);
		for (bits -= have; bits >= 8; bits -= 8) {
			value = value << 8 | *++byte;
		}
		return bits ? value << bits | (uint64_t)(byte[1] >> (8 - bits)) : value;
	}
	value = ((uint64_t)*byte >> skip) & ((1u << have) - 1);
	for (; bits - have >= 8; have += 8) {
		value |= (uint64_t) * ++byte << have;
	}
	return bits > have ? value | (uint64_t)(byte[1] & ((1u << (bits - have)) - 1)) << have
			   : value;
}

static inline uint64_t ctf_load(const unsigned char *bytes, uint64_t at, uint32_t bits, bool is_big)
{
	if (at % 8 == 0) {
		switch (bits) {
		case 8:
			return bytes[at / 8];
		case 16:
			return ctf_load_16(bytes + at / 8, is_big);
		case 32:
			return ctf_load_32(bytes + at / 8, is_big);
		case 64:
			return ctf_load_64(bytes + at / 8, is_big);
		default:
			break;
		}
	}
	return ctf_load_odd(bytes, at, bits, is_big);
}

static inline uint64_t ctf_extend_sign(uint64_t value, uint32_t bits)
{
	uint64_t sign = UINT64_C(1) << (bits - 1);

	return (value ^ sign) - sign;
}

#endif
