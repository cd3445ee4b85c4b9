/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PT_BASE_SORT_H
#define PT_BASE_SORT_H

#include <stddef.h>
#include <stdlib.h>

/* For qsort(): numbers, the smallest first. */
static inline int sort_by_size(const void *left, const void *right)
{
	const double *a = left, *b = right;

	return (*a > *b) - (*a < *b);
}

static inline void sort_doubles(double *numbers, size_t n)
{
	qsort(numbers, n, sizeof(*numbers), sort_by_size);
}

#endif
