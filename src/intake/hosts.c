/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "intake/hosts.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

#define UUID_BYTES 16

struct host {
	char *name, *relay, *shown;
	uint8_t clock_uuid[UUID_BYTES];
};

struct hosts {
	struct host *items;
	uint32_t n, max;
};

struct hosts *hosts_create(void)
{
	return calloc(1, sizeof(struct hosts));
}

static void host_release(struct host *host)
{
	free(host->name);
	free(host->relay);
	free(host->shown);
}

void hosts_destroy(struct hosts *hosts)
{
	uint32_t i;

	if (!hosts) {
		return;
	}
	for (i = 0; i < hosts->n; i++) {
		host_release(&hosts->items[i]);
	}
	free(hosts->items);
	free(hosts);
}

static bool clocks_differ(const uint8_t *a, const uint8_t *b)
{
	static const uint8_t unknown[UUID_BYTES];

	return memcmp(a, b, UUID_BYTES) != 0 && memcmp(a, unknown, UUID_BYTES) != 0 &&
	       memcmp(b, unknown, UUID_BYTES) != 0;
}

/* Another relay daemon knows another machine by this name. */
static bool is_taken(const struct hosts *hosts, const char *name, const char *relay,
		const uint8_t *clock_uuid)
{
	uint32_t i;

	for (i = 0; i < hosts->n && relay[0]; i++) {
		const struct host *other = &hosts->items[i];

		if (strcmp(other->name, name) == 0 && other->relay[0] &&
				strcmp(other->relay, relay) != 0 &&
				clocks_differ(other->clock_uuid, clock_uuid)) {
			return true;
		}
	}
	return false;
}

static bool reserve(struct hosts *hosts)
{
	return hosts->n < HOSTS_MAX && array_reserve(&hosts->items, &hosts->max, hosts->n + 1);
}

const char *hosts_name(
		struct hosts *hosts, const char *host, const char *relay, const uint8_t *clock_uuid)
{
	struct host *added;
	int length;
	uint32_t i;

	for (i = 0; i < hosts->n; i++) {
		if (strcmp(hosts->items[i].name, host) == 0 &&
				strcmp(hosts->items[i].relay, relay) == 0) {
			return hosts->items[i].shown;
		}
	}
	if (!reserve(hosts)) {
		return host;
	}
	added = &hosts->items[hosts->n];
	added->name = strdup(host);
	added->relay = strdup(relay);
	memcpy(added->clock_uuid, clock_uuid, UUID_BYTES);
	length = is_taken(hosts, host, relay, clock_uuid)
				 ? asprintf(&added->shown, "%s@%s", host, relay)
				 : asprintf(&added->shown, "%s", host);
	if (length < 0) {
		added->shown = NULL;
	}
	if (!added->name || !added->relay || !added->shown) {
		host_release(added);
		return host;
	}
	hosts->n++;
	return added->shown;
}
