/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "requests/ended.h"

#include <stdlib.h>

#include "base/array.h"

struct ended_slice {
	uint32_t first, n; /* strides, the newest first */
};

struct ended_stride {
	uint64_t first_start_ns; /* of it and all newer ones */
	uint32_t number;         /* of its newest span */
};

void ended_release(struct ended *ended)
{
	free(ended->items);
	*ended = (struct ended){.n = 0};
}

/* Those that there are keep their places: numbers begin at 1, and none is beyond the room so far.
 */
static bool make_room(struct ended *ended)
{
	uint32_t room = ended->room ? 2 * ended->room : 1024;

	if (ended->full || ended->n + 1 < ended->room) {
		return ended->room > 0;
	}
	if (room > ENDED_SPANS || !array_resize(&ended->items, room)) {
		ended->full = ended->room > 0;
		return ended->full;
	}
	ended->room = room;
	return true;
}

static bool is_there(const struct ended *ended, uint32_t number)
{
	return number && ended->n > 0 && ended->last - number < ended->n;
}

/* Goes on with the stride of the one before, or begins another at that one. */
static void take_stride(struct ended *ended, struct ended_span *item)
{
	struct ended_span *older = &ended->items[item->older & (ended->room - 1)];

	item->far = item->older;
	item->apart = 1;
	item->first_start_ns = item->start_ns;
	if (!item->older) {
		return;
	}
	older->newer = ended->last;
	if (older->far && older->apart < ENDED_STRIDE) {
		item->far = older->far;
		item->apart = older->apart + 1;
		if (older->first_start_ns < item->first_start_ns) {
			item->first_start_ns = older->first_start_ns;
		}
	}
}

void ended_add(struct ended *ended, const struct ended_span *span, uint32_t *of_thread)
{
	struct ended_span *item;

	if (!make_room(ended)) {
		return;
	}
	if (ended->n == ended->room) {
		ended->n--;
	}
	if (++ended->last == 0) { /* 0 is none: all begins anew */
		ended->last = 1;
		ended->n = 0;
	}
	ended->n++;
	item = &ended->items[ended->last & (ended->room - 1)];
	*item = *span;
	item->newer = 0;
	item->older = is_there(ended, *of_thread) ? *of_thread : 0;
	take_stride(ended, item);
	*of_thread = ended->last;
}

const struct ended_span *ended_get(const struct ended *ended, uint32_t number)
{
	return is_there(ended, number) ? &ended->items[number & (ended->room - 1)] : NULL;
}

const struct ended_span *ended_before(
		const struct ended *ended, const struct ended_span *span, uint64_t to_ns)
{
	const struct ended_span *far =
			span->first_start_ns >= to_ns ? ended_get(ended, span->far) : NULL;

	return far ? far : ended_get(ended, span->older);
}

void ended_index_release(struct ended_index *index)
{
	number_map_release(&index->threads);
	free(index->slices);
	free(index->strides);
	*index = (struct ended_index){.n_slices = 0};
}

/* NULL: out of memory. */
static const struct ended_slice *list_strides(
		struct ended_index *index, const struct ended *ended, uint32_t last)
{
	struct ended_slice slice = {.first = index->n_strides};
	uint64_t first_start_ns = UINT64_MAX;
	uint32_t number = last;

	for (const struct ended_span *span = ended_get(ended, last); span;
			number = span->far, span = ended_get(ended, number)) {
		if (!array_reserve(&index->strides, &index->stride_room, index->n_strides + 1)) {
			return NULL;
		}
		if (span->first_start_ns < first_start_ns) {
			first_start_ns = span->first_start_ns;
		}
		index->strides[index->n_strides++] = (struct ended_stride){first_start_ns, number};
	}
	slice.n = index->n_strides - slice.first;
	if (!array_reserve(&index->slices, &index->slice_room, index->n_slices + 1) ||
			!number_map_set(&index->threads, last, index->n_slices)) {
		return NULL;
	}
	index->slices[index->n_slices] = slice;
	return &index->slices[index->n_slices++];
}

const struct ended_span *ended_index_before(
		struct ended_index *index, const struct ended *ended, uint32_t last, uint64_t to_ns)
{
	uint32_t at = number_map_find(&index->threads, last), low = 0, high;
	const struct ended_slice *slice =
			at != NUMBER_NONE ? &index->slices[at] : list_strides(index, ended, last);

	if (!slice) {
		return ended_get(ended, last);
	}
	for (high = slice->n; low < high;) {
		uint32_t middle = low + (high - low) / 2;

		if (index->strides[slice->first + middle].first_start_ns >= to_ns) {
			low = middle + 1;
		} else {
			high = middle;
		}
	}
	return low < slice->n ? ended_get(ended, index->strides[slice->first + low].number) : NULL;
}
