/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PT_GROUPS_SITES_H
#define PT_GROUPS_SITES_H

#include <stdbool.h>
#include <stdint.h>

#include "groups/groups.h"

/*
 * In which processes the time of a group's requests varies, and whether all that such a process
 * does is slow at the same times, for requests of any group: then no piece of code is at fault, but
 * the process or its host (stats/together.h).
 *
 * Where requests choose between sites a share may be above 1, and that of the others below 0: those
 * that take their time elsewhere take none here.
 *
 * A site is a process of a host, or the host where no trace tells processes. A place is what one
 * function, or waits in the same thing ("(blocked: fdatasync)"), take of the critical path there,
 * of any group and wherever they are called from; but waits for a processor are one for each
 * context.
 *
 * From kept requests of twice the window, at most SITES_OF_GROUP of a group and about
 * SITES_REQUESTS of all, fairly shared, the newest of each; each costs as much as measuring it.
 * Memory, while it works: 100 bytes a request and context. Shares are estimates without an
 * interval.
 */
#define SITES_MAX      32u
#define SITES_OF_GROUP 256u
#define SITES_REQUESTS 2048u
#define SITE_TELLS     64u

struct group_site {
	uint32_t host;          /* number in the registry */
	int32_t pid;            /* -1: not known */
	uint32_t process;       /* interned name; 0: not known */
	char tells[SITE_TELLS]; /* "compute-1": where another process of the host has the same name,
				   a value that all its events tell and none of that one's; or "" */
	double phi;             /* of the group's variance: what is there of it */
	uint32_t requests;      /* of the group: with a part of it there */
	uint32_t judged;        /* places that could be */
	uint32_t judged_along;  /* of these, slow when the others are */
	/* Likewise, of those that take a hundredth of the site's time or more: */
	uint32_t places, along;
	double of_group;        /* of those along, how many a group passes, where it passes any */
	uint32_t working;       /* of those, such in which code works, rather than waits */
	double most;  /* of what they take longer then, all together: of the one that adds most */
	double times; /* slower, in the middle of those along; 0: none is */
};

/*
 * The sites, at most SITES_MAX, and what each holds of the variance of the group's requests that
 * started at since_ns or later, the largest share first; returns how many, 0 if there are too few
 * requests, or no memory.
 */
uint32_t groups_sites(struct groups *groups, uint32_t group_id, uint64_t since_ns,
		struct group_site *out);
/*
 * Of n sites so told: sets phi to what one context alone holds there, and orders them by it. Only
 * the group's own requests are walked. False: as above, and they are as they were.
 */
bool groups_sites_weigh(struct groups *groups, uint32_t group_id, uint64_t since_ns,
		uint32_t context, struct group_site *sites, uint32_t n);

#endif
