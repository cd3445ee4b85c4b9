/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PT_STATE_STATE_SNAPSHOT_H
#define PT_STATE_STATE_SNAPSHOT_H

#include "state/cx.h"

/* From histories to what is shown, as of an instant and for the window that ends there. */

/* The user-space call stack of a thread, as of now; it lives with the request engine's spans. */
void fill_stack(const struct state_cx *cx, const struct thread *thread, uint64_t at_ns,
		struct snapshot *snapshot, struct state_thread *out);
/* Threads that only user space tells of, into *out; returns how many. */
uint32_t fill_users(struct state_cx *cx, uint64_t at_ns, struct snapshot *snapshot,
		struct state_thread *out);

enum status fill_state(struct state_cx *cx, const struct focus *focus, uint64_t at_ns,
		struct snapshot *snapshot);
/* See state_add_resources(). */
struct resources_of {
	uint32_t host, n_owners;
	uint64_t key, from_ns, to_ns;
	const uint64_t *owners;
};
/* See state_doing(). */
bool fill_doing(struct state_cx *cx, uint32_t host, int32_t tid, int32_t pid, uint64_t before_ns,
		struct state_doing *out);
void fill_resources(
		struct state_cx *cx, const struct resources_of *of, struct state_resources *out);

#endif
