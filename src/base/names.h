/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PT_BASE_NAMES_H
#define PT_BASE_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Interned strings: the same text has the same number, from 1; 0 is "" and "no room".
 * Memory: grows with the distinct texts, at most `max`; further ones become 0.
 */
struct names;

struct names *names_create(uint32_t max);
void names_destroy(struct names *names);
uint32_t names_add(struct names *names, const char *text, size_t length);
/* What is shown of a name: its own text, or what was given in its place. Never NULL. */
const char *names_text(const struct names *names, uint32_t name);
/* Its own text, by which it is found. */
const char *names_own_text(const struct names *names, uint32_t name);
/* From now on `text` is shown of a name. It stays the same name. False if there is no room. */
bool names_show(struct names *names, uint32_t name, const char *text);

#endif
