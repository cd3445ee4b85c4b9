/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/hash.h"
#include "state/threads.h"

#define FIRST_SLOTS   1024u
#define MAX_CPUS      8192u
#define MAX_PROCESSES 65536u
#define PROCESS_SLOTS (MAX_PROCESSES * 2)
#define MAX_ALIASES   65536u
#define ALIAS_SLOTS   (MAX_ALIASES * 2)

struct cpu {
	bool known;
	uint64_t thread; /* key */
};

struct host_cpus {
	struct cpu *cpus;
	uint32_t n;
};

struct process {
	uint32_t host, name;
	int64_t pid; /* 0 and name 0: empty */
	int64_t parent;
	uint32_t made_in;
};

struct alias {
	uint64_t key, real_key; /* key 0: empty */
	uint32_t host;
};

struct threads {
	struct thread **slots;
	uint32_t n, room, max, hand;
	uint64_t generation;
	threads_release_fn *release;
	void *context;
	struct host_cpus *hosts;
	uint32_t n_hosts;
	struct process *processes;
	uint32_t n_processes;
	struct alias *aliases; /* NULL: there were none */
	uint32_t n_aliases;
};

struct threads *threads_create(uint32_t max, threads_release_fn *release, void *context)
{
	struct threads *threads = calloc(1, sizeof(*threads));

	if (!threads) {
		return NULL;
	}
	threads->max = max;
	threads->room = FIRST_SLOTS;
	threads->release = release;
	threads->context = context;
	threads->generation = 1;
	threads->slots = calloc(threads->room, sizeof(struct thread *));
	threads->processes = calloc(PROCESS_SLOTS, sizeof(*threads->processes));
	if (!threads->slots || !threads->processes) {
		threads_destroy(threads);
		return NULL;
	}
	return threads;
}

void threads_destroy(struct threads *threads)
{
	uint32_t i;

	if (!threads) {
		return;
	}
	for (i = 0; threads->slots && i < threads->room; i++) {
		if (threads->slots[i]) {
			threads->release(threads->context, threads->slots[i], true);
			free(threads->slots[i]);
		}
	}
	for (i = 0; i < threads->n_hosts; i++) {
		free(threads->hosts[i].cpus);
	}
	free(threads->hosts);
	free(threads->slots);
	free(threads->processes);
	free(threads->aliases);
	free(threads);
}

static uint32_t home_of(const struct threads *threads, uint32_t host, uint64_t key)
{
	return (uint32_t)hash_pair(key, host) & (threads->room - 1);
}

static void remove_slot(struct threads *threads, uint32_t hole)
{
	uint32_t mask = threads->room - 1, at;

	for (at = (hole + 1) & mask; threads->slots[at]; at = (at + 1) & mask) {
		uint32_t home = home_of(threads, threads->slots[at]->host, threads->slots[at]->key);

		if (((at - home) & mask) >= ((at - hole) & mask)) {
			threads->slots[hole] = threads->slots[at];
			hole = at;
		}
	}
	threads->slots[hole] = NULL;
	threads->n--;
}

/* Second chance: a thread seen since the hand came by last stays. (Corbato 1968.) */
static void evict_one(struct threads *threads)
{
	uint32_t steps;

	for (steps = 0; steps < threads->room * 3; steps++) {
		uint32_t at = threads->hand++ & (threads->room - 1);
		struct thread *thread = threads->slots[at];
		bool force = steps >= threads->room * 2;

		if (!thread) {
			continue;
		}
		if (thread->seen && !force) {
			thread->seen = false;
			continue;
		}
		if (threads->release(threads->context, thread, force)) {
			free(thread);
			remove_slot(threads, at);
			threads->generation++;
			return;
		}
	}
}

static bool grow(struct threads *threads)
{
	struct thread **old = threads->slots;
	uint32_t i, old_room = threads->room;
	struct thread **slots = calloc(old_room * 2, sizeof(struct thread *));

	if (!slots) {
		return false;
	}
	threads->slots = slots;
	threads->room = old_room * 2;
	for (i = 0; i < old_room; i++) {
		if (old[i]) {
			uint32_t at = home_of(threads, old[i]->host, old[i]->key);

			while (slots[at]) {
				at = (at + 1) & (threads->room - 1);
			}
			slots[at] = old[i];
		}
	}
	free(old);
	return true;
}

/* The slot of a thread, or the empty one where it would go. */
static uint32_t slot_of(const struct threads *threads, uint32_t host, uint64_t key)
{
	uint32_t at = home_of(threads, host, key);

	while (threads->slots[at] &&
			(threads->slots[at]->key != key || threads->slots[at]->host != host)) {
		at = (at + 1) & (threads->room - 1);
	}
	return at;
}

struct thread *threads_find(struct threads *threads, uint32_t host, uint64_t key)
{
	struct thread *thread = threads->slots[slot_of(threads, host, key)];

	if (thread) {
		thread->seen = true;
	}
	return thread;
}

void threads_remove(struct threads *threads, struct thread *thread)
{
	uint32_t at = slot_of(threads, thread->host, thread->key);

	threads->release(threads->context, thread, true);
	remove_slot(threads, at);
	threads->generation++;
	free(thread);
}

void threads_each(struct threads *threads, void (*each)(void *context, struct thread *thread),
		void *context)
{
	uint32_t i;

	for (i = 0; i < threads->room; i++) {
		if (threads->slots[i]) {
			each(context, threads->slots[i]);
		}
	}
}

struct thread *threads_get(struct threads *threads, uint32_t host, uint64_t key)
{
	struct thread *thread = threads_find(threads, host, key);

	if (thread) {
		return thread;
	}
	if (threads->n >= threads->max) {
		evict_one(threads);
	}
	if (threads->n * 2 >= threads->room && !grow(threads)) {
		return NULL;
	}
	thread = calloc(1, sizeof(*thread));
	if (!thread) {
		return NULL;
	}
	*thread = (struct thread){.key = key, .host = host, .pid = -1, .seen = true};
	thread->tid = key & THREAD_IDLE ? 0 : (int32_t)key;
	threads->slots[slot_of(threads, host, key)] = thread;
	threads->n++;
	return thread;
}

uint64_t threads_generation(const struct threads *threads)
{
	return threads->generation;
}

uint32_t threads_count(const struct threads *threads)
{
	return threads->n;
}

bool threads_current(const struct threads *threads, uint32_t host, uint32_t cpu, uint64_t *key)
{
	if (host >= threads->n_hosts || cpu >= threads->hosts[host].n ||
			!threads->hosts[host].cpus[cpu].known) {
		return false;
	}
	*key = threads->hosts[host].cpus[cpu].thread;
	return true;
}

static struct cpu *cpu_of(struct threads *threads, uint32_t host, uint32_t cpu)
{
	struct host_cpus *cpus;

	if (cpu >= MAX_CPUS) {
		return NULL;
	}
	if (!array_extend(&threads->hosts, &threads->n_hosts, host + 1)) {
		return NULL;
	}
	cpus = &threads->hosts[host];
	return array_extend(&cpus->cpus, &cpus->n, cpu + 1) ? &cpus->cpus[cpu] : NULL;
}

void threads_switch(struct threads *threads, uint32_t host, uint32_t cpu, uint64_t key)
{
	struct cpu *on = cpu_of(threads, host, cpu);

	if (on) {
		*on = (struct cpu){.known = true, .thread = key};
	}
}

static uint32_t process_slot(const struct threads *threads, uint32_t host, int64_t pid)
{
	uint32_t at = (uint32_t)hash_pair((uint64_t)pid, host) & (PROCESS_SLOTS - 1);

	while (threads->processes[at].name &&
			(threads->processes[at].pid != pid ||
					threads->processes[at].host != host)) {
		at = (at + 1) & (PROCESS_SLOTS - 1);
	}
	return at;
}

void threads_name_process(struct threads *threads, uint32_t host, int64_t pid, uint32_t name)
{
	uint32_t at = process_slot(threads, host, pid);

	if (name == 0 || pid < 0) {
		return;
	}
	if (!threads->processes[at].name) {
		if (threads->n_processes >= MAX_PROCESSES) {
			memset(threads->processes, 0, PROCESS_SLOTS * sizeof(*threads->processes));
			threads->n_processes = 0;
			at = process_slot(threads, host, pid);
		}
		threads->n_processes++;
	}
	if (!threads->processes[at].name) {
		threads->processes[at] = (struct process){.host = host, .pid = pid, .parent = -1};
	}
	threads->processes[at].name = name;
}

void threads_bear_process(struct threads *threads, uint32_t host, int64_t pid, int64_t parent,
		uint32_t made_in)
{
	struct process *process = &threads->processes[process_slot(threads, host, pid)];

	if (process->name) {
		process->parent = parent;
		process->made_in = made_in;
	}
}

bool threads_is_child(const struct threads *threads, uint32_t host, int64_t pid, int64_t parent,
		uint32_t *made_in)
{
	const struct process *process = &threads->processes[process_slot(threads, host, pid)];
	bool is = process->name && parent > 0 && process->parent == parent;

	*made_in = is ? process->made_in : 0;
	return is;
}

uint32_t threads_process_name(const struct threads *threads, uint32_t host, int64_t pid)
{
	return threads->processes[process_slot(threads, host, pid)].name;
}

static uint32_t alias_slot(const struct threads *threads, uint32_t host, uint64_t key)
{
	uint32_t at = (uint32_t)hash_pair(key, host) & (ALIAS_SLOTS - 1);

	while (threads->aliases[at].key &&
			(threads->aliases[at].key != key || threads->aliases[at].host != host)) {
		at = (at + 1) & (ALIAS_SLOTS - 1);
	}
	return at;
}

void threads_alias(struct threads *threads, uint32_t host, uint64_t key, uint64_t real_key)
{
	struct alias *alias;

	if (key == real_key || key == 0) {
		return;
	}
	if (!threads->aliases) {
		threads->aliases = calloc(ALIAS_SLOTS, sizeof(*threads->aliases));
		if (!threads->aliases) {
			return;
		}
	}
	alias = &threads->aliases[alias_slot(threads, host, key)];
	if (alias->key == key && alias->real_key == real_key) {
		return;
	}
	if (!alias->key && threads->n_aliases >= MAX_ALIASES) {
		memset(threads->aliases, 0, ALIAS_SLOTS * sizeof(*threads->aliases));
		threads->n_aliases = 0;
		alias = &threads->aliases[alias_slot(threads, host, key)];
	}
	threads->n_aliases += !alias->key;
	*alias = (struct alias){.key = key, .real_key = real_key, .host = host};
	threads->generation++;
}

uint64_t threads_resolve(const struct threads *threads, uint32_t host, uint64_t key)
{
	const struct alias *alias;

	if (!threads->aliases || key >> 32 == 0) {
		return key;
	}
	alias = &threads->aliases[alias_slot(threads, host, key)];
	return alias->key ? alias->real_key : key;
}

uint32_t threads_program(struct threads *threads, uint32_t host, uint64_t key)
{
	const struct thread *thread = threads_find(threads, host, key);
	uint32_t name = 0;

	if (thread && thread->pid >= 0 && (thread->pid != thread->tid || !thread->comm)) {
		name = threads_process_name(threads, host, thread->pid);
	}
	return name ? name : thread ? thread->comm : 0;
}
