/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PYTHIATOP_IDS_H
#define PYTHIATOP_IDS_H

#include <stdint.h>

/*
 * Names of things, as small numbers. Hosts, sessions, streams and event types are numbered densely
 * from 0 by the engine in the order they are added and never reused. Groups and requests are
 * numbered from 1; 0 means "none" for them.
 */
#define ID_NONE  UINT32_MAX
#define CPU_NONE UINT32_MAX

#endif
