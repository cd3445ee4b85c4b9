/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "pythia/points.h"

void points_init(struct points *points, struct names *names)
{
	*points = (struct points){.names = names};
}

void points_release(struct points *points)
{
	free(points->items);
	number_map_release(&points->by_name);
	number_map_release(&points->by_event);
	*points = (struct points){.names = NULL};
}

uint64_t points_host(struct points *points, const char *host)
{
	uint32_t name = names_add(points->names, host, strlen(host));

	for (uint32_t i = 0; i < points->n_hosts; i++) {
		if (points->hosts[i] == name) {
			return UINT64_C(1) << i;
		}
	}
	if (!name || points->n_hosts == POINTS_MAX_HOSTS) {
		points->left_out = true;
		return 0;
	}
	points->hosts[points->n_hosts] = name;
	return UINT64_C(1) << points->n_hosts++;
}

static uint64_t key_of(uint32_t provider, uint32_t name)
{
	return (uint64_t)provider << 32 | name;
}

uint32_t points_find(const struct points *points, uint32_t provider, uint32_t name)
{
	return number_map_find(&points->by_name, key_of(provider, name));
}

uint32_t points_add(struct points *points, uint32_t provider, uint32_t name, bool kernel)
{
	uint32_t found = points_find(points, provider, name);

	if (found != NUMBER_NONE) {
		return found;
	}
	if (points->n == POINTS_MAX) {
		points->left_out = true;
		return POINT_NONE;
	}
	if (!array_reserve(&points->items, &points->room, points->n + 1)) {
		return POINT_NONE;
	}
	if (!number_map_set(&points->by_name, key_of(provider, name), points->n)) {
		return POINT_NONE;
	}
	points->items[points->n] =
			(struct point){.provider = provider, .name = name, .kernel = kernel};
	return points->n++;
}

void points_set_event(struct points *points, uint32_t point, uint32_t event, bool exit)
{
	uint32_t *at = exit ? &points->items[point].exit : &points->items[point].entry;

	if (event && *at != event && number_map_set(&points->by_event, event, point)) {
		*at = event;
	}
}

uint32_t points_of_event(const struct points *points, uint32_t event)
{
	return number_map_find(&points->by_event, event);
}
