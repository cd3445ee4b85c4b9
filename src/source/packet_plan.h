/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PT_SOURCE_PACKET_PLAN_H
#define PT_SOURCE_PACKET_PLAN_H

#include "ctf/trace.h"
#include "outlet.h"
#include "tree_bytes.h"

/*
 * How the events of one event class become records, as plan.h, but from the bytes of packets: types
 * and records are the same, byte for byte.
 *
 * An event is read whole before its record is begun: what turns out to be damaged leaves nothing in
 * the ring. Texts and trees are copied from the packet, in the order of the slots.
 */
struct packet_plan;

/* Room for one event, shared by all plans. */
struct packet_desk {
	uint64_t slots[EVENT_MAX_FIELDS];
	struct ctf_late late[EVENT_MAX_FIELDS];
	struct tree tree;
};

/*
 * Compiles the plan and writes the RECORD_TYPE that announces it. NULL if out of memory or if the
 * console is gone.
 */
struct packet_plan *packet_plan_create(const struct ctf_stream *stream,
		const struct ctf_event *event, uint32_t type, struct outlet *outlet);
void packet_plan_destroy(struct packet_plan *plan);

/* Reads the event whose header the reader has just read. False with the reader's fault. */
bool packet_plan_read(const struct packet_plan *plan, struct ctf_reader *reader,
		struct packet_desk *desk);

/* Begins its record, filled, and left open: the caller commits it. NULL as outlet_begin(). */
struct record_event *packet_plan_write(const struct packet_plan *plan, struct ctf_reader *reader,
		struct packet_desk *desk, struct outlet *outlet);

#endif
