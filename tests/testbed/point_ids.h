/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TESTBED_POINT_IDS_H
#define TESTBED_POINT_IDS_H

/* Numbers of all points of all services, from points.def: POINT_<provider>_<name>. */
enum point_id {
#define PT_TABLE_ALL
#define PT_PAIR(provider, name, kind)  POINT_##provider##_##name,
#define PT_POINT(provider, name, kind) POINT_##provider##_##name,
#include "points.def"
#undef PT_PAIR
#undef PT_POINT
#undef PT_TABLE_ALL
	POINT_COUNT
};

#endif
