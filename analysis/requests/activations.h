/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PT_REQUESTS_ACTIVATIONS_H
#define PT_REQUESTS_ACTIVATIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "requests/requests.h"

/*
 * What threads do where nothing but a kernel is traced: activations, from when a thread is woken
 * until it waits for something to do again.
 *
 * A thread is idle while it is blocked, interruptibly, in a system call by which threads wait for
 * something to do or for input (waits.h); one that was in no call so far (the kernel's own have
 * none) while it is blocked interruptibly at all. Whatever else it is blocked in is a wait within
 * its activation. A thread that is idle, is woken and sleeps again without returning from its call
 * did nothing. A new thread is active from its creation; a program that is executed begins a new
 * activation, and a thread's end is its last one's.
 *
 * Each becomes two events of their own, that the request engine takes as any others: system calls
 * become part of it, and are no requests.
 *
 * Units: event time in ns. Threads: one at a time. Memory: ACTIVATIONS_MAX_THREADS threads; beyond,
 * further ones have no activations.
 */
struct activations;

#define ACTIVATIONS_MAX_THREADS 65536u

struct activations_config {
	struct registry *registry;
	struct names *names;
	struct threads *threads;
	struct model *model;
	struct requests *requests;
	/* Adds a type as any other; ID_NONE if out of memory. */
	uint32_t (*add_type)(void *context, const struct event_type *type);
	void *context;
};

struct activations *activations_create(const struct activations_config *config);
void activations_destroy(struct activations *activations);
/* A type was added to the registry. False if out of memory. */
bool activations_add_type(struct activations *activations);
/* Before the request engine takes an event, and after. */
void activations_before(struct activations *activations);
void activations_after(struct activations *activations, const struct event *event);
/* Events were lost: what threads of that host were doing is not known any more. */
void activations_lose(struct activations *activations, uint32_t stream, uint64_t now_ns);

/* Is it the entry or the exit of an activation? For the inference of schemas. */
bool activation_event(const char *event, bool *exit);

#endif
