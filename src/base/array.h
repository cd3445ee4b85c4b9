/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PT_BASE_ARRAY_H
#define PT_BASE_ARRAY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Growing arrays: a pointer and the number of items it has room for, both kept by the owner.
 * Free the pointer with free(). What is there survives a failure. Not for several threads at once.
 */

/*
 * Makes room for at least n items. Grows to twice what was there, so that adding items one by one
 * costs the same for each. False if out of memory: nothing has changed.
 *
 *     if (!array_reserve(&list->items, &list->room, list->n + 1)) {
 *             return STATUS_NO_MEMORY;
 *     }
 *     list->items[list->n++] = item;
 */
#define array_reserve(items, room, n)                                                              \
	((n) <= *(room) || array_grow((items), (room), (n), sizeof(**(items)), false))

/* The same, and the new items are zero. For arrays that are looked up by number. */
#define array_reserve_zeroed(items, room, n)                                                       \
	((n) <= *(room) || array_grow((items), (room), (n), sizeof(**(items)), true))

/* Makes an array of *(length) items at least n long; the new ones are zero. For numbers from 0 on.
 */
#define array_extend(items, length, n)                                                             \
	((n) <= *(length) || array_lengthen((items), (length), (n), sizeof(**(items))))

/*
 * Makes room for exactly n items, for arrays whose length comes from elsewhere or that share one
 * length: the owner sets its room once all of them have it.
 */
#define array_resize(items, n) array_resize_bytes((items), (n), sizeof(**(items)))

/* How much room to give an array that has `room` and needs n: at least twice what it has. */
uint32_t array_room(uint32_t room, uint32_t n);

/* What the macros call; `items` is the address of a pointer to items of `size` bytes. */
bool array_grow(void *items, uint32_t *room, uint32_t n, size_t size, bool zeroed);
bool array_lengthen(void *items, uint32_t *length, uint32_t n, size_t size);
bool array_resize_bytes(void *items, size_t n, size_t size);

#endif
