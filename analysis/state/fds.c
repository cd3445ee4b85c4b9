/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "state/socket_table.h"

#define FIRST_SLOTS 256u

bool fds_init(struct fds *fds, struct store *store, struct event_log *log)
{
	*fds = (struct fds){.store = store, .log = log, .next_id = 1, .n_slots = FIRST_SLOTS};
	fds->slots = calloc(fds->n_slots, sizeof(*fds->slots));
	return fds->slots != NULL;
}

/* --- makings --------------------------------------------------------------------------------- */

struct making *making_create(struct fds *fds, uint64_t entry, uint64_t exit, const char *path,
		uint32_t length, struct making *origin)
{
	struct making *making;

	if (length > FDS_MAX_PATH) {
		length = FDS_MAX_PATH;
	}
	making = pool_alloc(&fds->store->pool, sizeof(*making) + length + 1);
	if (!making) {
		fds->store->failed++;
		making_release(fds, origin);
		return NULL;
	}
	*making = (struct making){.refs = 1,
			.holds = 1,
			.length = length,
			.entry = entry,
			.exit = exit,
			.origin = origin};
	memcpy(making->path, path, length);
	making->path[length] = '\0';
	if (entry) {
		log_hold(fds->log, entry);
	}
	if (exit) {
		log_hold(fds->log, exit);
	}
	return making;
}

struct making *making_share(struct making *making)
{
	if (making) {
		making->refs++;
		making->holds++;
	}
	return making;
}

/* The reference stays, its hold goes. */
static void making_let_go(struct fds *fds, struct making *making)
{
	for (; making && --making->holds == 0; making = making->origin) {
		if (making->entry) {
			log_release(fds->log, making->entry);
		}
		if (making->exit) {
			log_release(fds->log, making->exit);
		}
	}
}

static void making_drop(struct fds *fds, struct making *making)
{
	while (making && --making->refs == 0) {
		struct making *origin = making->origin;

		pool_free(&fds->store->pool, making, sizeof(*making) + making->length + 1);
		making = origin;
	}
}

void making_release(struct fds *fds, struct making *making)
{
	making_let_go(fds, making);
	making_drop(fds, making);
}

const char *making_path(const struct making *making)
{
	for (; making; making = making->origin) {
		if (making->length > 0) {
			return making->path;
		}
	}
	return "";
}

/* --- open fds by table and number ------------------------------------------------------------ */

static struct fd **slot_of(const struct fds *fds, const struct file_table *table, int32_t number)
{
	return &fds->slots[hash_pair((uintptr_t)table, (uint32_t)number) & (fds->n_slots - 1)];
}

struct fd *fds_find(const struct fds *fds, const struct file_table *table, int32_t number)
{
	struct fd *fd;

	for (fd = *slot_of(fds, table, number); fd; fd = fd->next_hash) {
		if (fd->table == table && fd->number == number) {
			return fd;
		}
	}
	return NULL;
}

static const struct fd *id_in(const struct fd *fd, uint64_t id)
{
	while (fd && fd->id != id) {
		fd = fd->next;
	}
	return fd;
}

const struct fd *fds_by_id(const struct fds *fds, uint64_t id)
{
	const struct file_table *table;
	const struct fd *fd = NULL;

	for (table = fds->tables; table && !fd; table = table->next) {
		fd = id_in(table->open_first, id);
		fd = fd ? fd : id_in(table->closed_first, id);
	}
	return fd;
}

static void resize(struct fds *fds, uint32_t n_slots)
{
	struct fd **old = fds->slots, *fd, *next;
	uint32_t i, n_old = fds->n_slots;
	struct fd **slots = calloc(n_slots, sizeof(*slots));

	if (!slots) {
		return; /* chains become longer */
	}
	fds->slots = slots;
	fds->n_slots = n_slots;
	for (i = 0; i < n_old; i++) {
		for (fd = old[i]; fd; fd = next) {
			struct fd **slot = slot_of(fds, fd->table, fd->number);

			next = fd->next_hash;
			fd->next_hash = *slot;
			*slot = fd;
		}
	}
	free(old);
}

static void add_slot(struct fds *fds, struct fd *fd)
{
	struct fd **slot;

	if (fds->n_open >= fds->n_slots) {
		resize(fds, fds->n_slots * 2);
	}
	slot = slot_of(fds, fd->table, fd->number);
	fd->next_hash = *slot;
	*slot = fd;
	fds->n_open++;
}

static void remove_slot(struct fds *fds, struct fd *fd)
{
	struct fd **at;

	for (at = slot_of(fds, fd->table, fd->number); *at != fd; at = &(*at)->next_hash) {
	}
	*at = fd->next_hash;
	fd->next_hash = NULL;
	fds->n_open--;
	if (fds->n_slots > FIRST_SLOTS && fds->n_open * 8 < fds->n_slots) {
		resize(fds, fds->n_slots / 2);
	}
}

/* --- lists ----------------------------------------------------------------------------------- */

static struct fd **list_of(const struct fd *fd)
{
	return fd->closed_ns ? &fd->table->closed_first : &fd->table->open_first;
}

static void link_table(struct file_table *table, struct fd *fd)
{
	struct fd **first;

	fd->table = table;
	first = list_of(fd);
	fd->prev = NULL;
	fd->next = *first;
	if (*first) {
		(*first)->prev = fd;
	}
	*first = fd;
}

static void unlink_table(struct fd *fd)
{
	*(fd->prev ? &fd->prev->next : list_of(fd)) = fd->next;
	if (fd->next) {
		fd->next->prev = fd->prev;
	}
}

static void link_history(struct fds *fds, struct fd *fd)
{
	if (fd->has_history || fd->closed_ns) {
		return;
	}
	fd->has_history = true;
	fd->older = NULL;
	fd->newer = fds->history;
	if (fds->history) {
		fds->history->older = fd;
	}
	fds->history = fd;
}

static void unlink_history(struct fds *fds, struct fd *fd)
{
	if (!fd->has_history) {
		return;
	}
	fd->has_history = false;
	if (fd->older) {
		fd->older->newer = fd->newer;
	} else {
		fds->history = fd->newer;
	}
	if (fd->newer) {
		fd->newer->older = fd->older;
	}
	fd->older = fd->newer = NULL;
}

static void link_closed(struct fds *fds, struct fd *fd)
{
	fd->newer = NULL;
	fd->older = fds->closed_newest;
	if (fds->closed_newest) {
		fds->closed_newest->newer = fd;
	} else {
		fds->closed_oldest = fd;
	}
	fds->closed_newest = fd;
	if (!fds->closed_holding) {
		fds->closed_holding = fd;
	}
}

static void unlink_closed(struct fds *fds, struct fd *fd)
{
	if (fds->closed_holding == fd) {
		fds->closed_holding = fd->newer;
	}
	if (fd->older) {
		fd->older->newer = fd->newer;
	} else {
		fds->closed_oldest = fd->newer;
	}
	if (fd->newer) {
		fd->newer->older = fd->older;
	} else {
		fds->closed_newest = fd->older;
	}
}

/* --- tables ---------------------------------------------------------------------------------- */

struct file_table *table_create(
		struct fds *fds, uint32_t host, int32_t pid, struct thread_state *owner)
{
	struct file_table *table = pool_alloc(&fds->store->pool, sizeof(*table));

	if (!table) {
		fds->store->failed++;
		return NULL;
	}
	*table = (struct file_table){
			.host = host, .pid = pid, .owner = owner, .users = 1, .next = fds->tables};
	if (fds->tables) {
		fds->tables->prev = table;
	}
	fds->tables = table;
	return table;
}

void table_set_cwd(struct fds *fds, struct file_table *table, const char *path, uint32_t length)
{
	struct making *before = table->cwd;

	table->cwd = length > 0 ? making_create(fds, 0, 0, path, length, NULL) : NULL;
	making_release(fds, before);
}

static uint32_t bucket_of(uint32_t host, uint64_t address)
{
	return (uint32_t)hash_pair(address, host) & (FDS_ADDRESSES - 1);
}

void table_set_address(struct fds *fds, struct file_table *table, uint64_t address)
{
	struct file_table **at;

	if (table->address) {
		at = &fds->addresses[bucket_of(table->host, table->address)];
		while (*at != table) {
			at = &(*at)->next_address;
		}
		*at = table->next_address;
	}
	table->address = address;
	if (address) {
		at = &fds->addresses[bucket_of(table->host, address)];
		table->next_address = *at;
		*at = table;
	}
}

struct file_table *table_at(const struct fds *fds, uint32_t host, uint64_t address)
{
	struct file_table *table = fds->addresses[bucket_of(host, address)];

	while (table && (table->address != address || table->host != host)) {
		table = table->next_address;
	}
	return table;
}

/* With its last fd and its last thread a table goes. */
static void drop_table_if_unused(struct fds *fds, struct file_table *table)
{
	if (table->users || table->ghosts || table->open_first || table->closed_first) {
		return;
	}
	if (table->prev) {
		table->prev->next = table->next;
	} else {
		fds->tables = table->next;
	}
	if (table->next) {
		table->next->prev = table->prev;
	}
	making_release(fds, table->cwd);
	attribute_release(fds->store, &table->open);
	pool_free(&fds->store->pool, table, sizeof(*table));
}

static void count_open(struct fds *fds, struct file_table *table, int more, uint64_t now_ns)
{
	table->n_open = (uint32_t)((int)table->n_open + more);
	attribute_set(fds->store, &table->open, now_ns, table->n_open);
}

/* --- life of an fd --------------------------------------------------------------------------- */

static void drop_names(struct fds *fds, struct fd_name **first)
{
	struct fd_name *name = *first;

	*first = NULL;
	while (name) {
		struct fd_name *older = name->older;

		making_drop(fds, name->making);
		pool_free(&fds->store->pool, name, sizeof(*name));
		name = older;
	}
}

/* Frees an fd that is in no list but its table's. */
static void drop_fd(struct fds *fds, struct fd *fd)
{
	struct file_table *table = fd->table;

	socket_release(fds, fd->socket);
	unlink_table(fd);
	if (fd->holds) {
		making_let_go(fds, fd->making);
	}
	making_drop(fds, fd->making);
	drop_names(fds, &fd->names);
	if (fd->io) {
		series_release(fds->store, &fd->io->ops);
		pool_free(&fds->store->pool, fd->io, sizeof(*fd->io));
	}
	pool_free(&fds->store->pool, fd, sizeof(*fd));
	fds->n_all--;
	drop_table_if_unused(fds, table);
}

static void drop_oldest_closed(struct fds *fds)
{
	struct fd *fd = fds->closed_oldest;

	unlink_closed(fds, fd);
	drop_fd(fds, fd);
}

static bool make_room(struct fds *fds)
{
	if (fds->n_all < FDS_MAX) {
		return true;
	}
	if (fds->closed_oldest) {
		fds->trimmed_ns = fds->closed_oldest->closed_ns;
		drop_oldest_closed(fds);
		return true;
	}
	fds->refused++;
	return false;
}

struct fd *fds_open(struct fds *fds, struct file_table *table, int32_t number,
		struct making *making, uint64_t now_ns)
{
	struct fd *fd = fds_find(fds, table, number);

	if (fd) {
		fds_close(fds, fd, now_ns);
	}
	table->users++; /* making room must not drop it */
	fd = make_room(fds) ? pool_alloc(&fds->store->pool, sizeof(*fd)) : NULL;
	table->users--;
	if (!fd) {
		making_release(fds, making);
		return NULL;
	}
	*fd = (struct fd){.id = fds->next_id++,
			.making = making,
			.holds = true,
			.known_ns = now_ns,
			.number = number,
			.close_on_exec = FD_MAYBE,
			.network = FD_MAYBE};
	link_table(table, fd);
	add_slot(fds, fd);
	fds->n_all++;
	count_open(fds, table, 1, now_ns);
	return fd;
}

void fds_close(struct fds *fds, struct fd *fd, uint64_t now_ns)
{
	remove_slot(fds, fd);
	unlink_history(fds, fd);
	unlink_table(fd);
	socket_release(fds, fd->socket);
	fd->socket = NULL;
	fd->closed_ns = now_ns;
	link_table(fd->table, fd);
	link_closed(fds, fd);
	count_open(fds, fd->table, -1, now_ns);
}

void fds_rename(struct fds *fds, struct fd *fd, struct making *making, uint64_t now_ns)
{
	struct fd_name *name = pool_alloc(&fds->store->pool, sizeof(*name));

	if (!name) {
		fds->store->failed++;
		fds_tell(fds, fd, making);
		return;
	}
	*name = (struct fd_name){.older = fd->names, .making = fd->making, .until_ns = now_ns};
	fd->names = name;
	making_let_go(fds, fd->making);
	fd->making = making;
	link_history(fds, fd);
}

void fds_tell(struct fds *fds, struct fd *fd, struct making *making)
{
	making_release(fds, fd->making);
	fd->making = making;
}

void fds_count(struct fds *fds, struct fd *fd, bool write, uint64_t bytes, uint64_t duration_ns,
		uint64_t now_ns)
{
	struct fd_io *io = fd->io;
	struct fd_op *op;

	if (!io) {
		io = fd->io = pool_alloc(&fds->store->pool, sizeof(*io));
		if (!io) {
			fds->store->failed++;
			return;
		}
		*io = (struct fd_io){.reads = 0};
	}
	op = series_push(fds->store, &io->ops, sizeof(*op), now_ns);
	if (op) {
		op->bytes = write ? bytes | FD_OP_WRITE : bytes;
		op->duration_ns = duration_ns;
	}
	if (write) {
		io->writes++;
		io->write_bytes += bytes;
		io->write_ns += duration_ns;
	} else {
		io->reads++;
		io->read_bytes += bytes;
		io->read_ns += duration_ns;
	}
	link_history(fds, fd);
}

/* --- tables as a whole ----------------------------------------------------------------------- */

struct file_table *table_copy(struct fds *fds, const struct file_table *table, int32_t pid,
		struct thread_state *owner, uint64_t now_ns)
{
	struct file_table *copy = table_create(fds, table->host, pid, owner);
	const struct fd *fd;

	for (fd = table->open_first; copy && fd; fd = fd->next) {
		struct fd *twin;

		twin = fds_open(fds, copy, fd->number, making_share(fd->making), now_ns);
		if (twin) {
			twin->opened_ns = fd->opened_ns;
			twin->uncertain_ns = fd->uncertain_ns;
			twin->kind = fd->kind;
			twin->confidence = fd->confidence;
			twin->close_on_exec = fd->close_on_exec;
			twin->network = fd->network;
			twin->socket = socket_share(fd->socket);
		}
	}
	if (copy) {
		copy->cwd = making_share(table->cwd);
	}
	return copy;
}

static void close_all(struct fds *fds, struct file_table *table, uint64_t now_ns)
{
	while (table->open_first) {
		fds_close(fds, table->open_first, now_ns);
	}
}

void table_leave(struct fds *fds, struct file_table *table, bool ghost, uint64_t now_ns)
{
	if (table->users == 1) {
		close_all(fds, table, now_ns);
		table_set_address(fds, table, 0);
	}
	table->users--;
	table->ghosts += ghost;
	drop_table_if_unused(fds, table);
}

void table_forget(struct fds *fds, struct file_table *table)
{
	table->ghosts--;
	drop_table_if_unused(fds, table);
}

void table_exec(struct fds *fds, struct file_table *table, uint64_t now_ns)
{
	struct fd *fd, *next;

	for (fd = table->open_first; fd; fd = next) {
		next = fd->next;
		if (fd->close_on_exec == FD_YES) {
			fds_close(fds, fd, now_ns);
		} else if (fd->close_on_exec == FD_MAYBE && !fd->uncertain_ns) {
			fd->uncertain_ns = now_ns;
		}
	}
}

/* The operations of both, in the order of time, into `into`. */
static void merge_ops(struct fds *fds, struct series *into, const struct series *from)
{
	struct series both = {.ring = NULL};
	uint32_t i = 0, j = 0;

	while (i < into->n || j < from->n) {
		const struct fd_op *a = i < into->n ? series_at(into, i) : NULL;
		const struct fd_op *b = j < from->n ? series_at(from, j) : NULL;
		const struct fd_op *next = !b || (a && a->at_ns <= b->at_ns) ? a : b;
		struct fd_op *op = series_push(fds->store, &both, sizeof(*op), next->at_ns);

		if (op) {
			*op = *next;
		}
		i += next == a;
		j += next == b;
	}
	series_release(fds->store, into);
	*into = both;
}

/* One fd was seen through two tables: `from` goes, what it did is added to `into`. */
static void merge_fd(struct fds *fds, struct fd *from, struct fd *into)
{
	if (!into->io) {
		into->io = from->io;
		from->io = NULL;
	} else if (from->io) {
		into->io->reads += from->io->reads;
		into->io->writes += from->io->writes;
		into->io->read_bytes += from->io->read_bytes;
		into->io->write_bytes += from->io->write_bytes;
		into->io->read_ns += from->io->read_ns;
		into->io->write_ns += from->io->write_ns;
		merge_ops(fds, &into->io->ops, &from->io->ops);
	}
	if (into->io) {
		link_history(fds, into);
	}
	if (from->confidence < into->confidence) { /* the surer one tells what it is */
		struct making *making = into->making;

		into->making = from->making;
		from->making = making;
		into->confidence = from->confidence;
		into->kind = from->kind;
		into->opened_ns = from->opened_ns;
		into->close_on_exec = from->close_on_exec;
		into->network = from->network;
	}
	if (!into->socket) {
		into->socket = from->socket;
		from->socket = NULL;
	}
	if (from->known_ns < into->known_ns) {
		into->known_ns = from->known_ns;
	}
	remove_slot(fds, from);
	unlink_history(fds, from);
	drop_fd(fds, from);
}

/* Of a table to another; open ones have gone from the slots meanwhile. */
static void move_fd(struct fds *fds, struct fd *fd, struct file_table *into, uint64_t now_ns)
{
	struct file_table *from = fd->table;

	unlink_table(fd);
	link_table(into, fd);
	if (!fd->closed_ns) {
		count_open(fds, from, -1, now_ns);
		add_slot(fds, fd);
		count_open(fds, into, 1, now_ns);
	}
}

void table_merge(struct fds *fds, struct file_table *from, struct file_table *into, uint64_t now_ns)
{
	struct fd *fd;

	from->users++; /* it must not go with its last fd */
	while ((fd = from->open_first)) {
		struct fd *same = fds_find(fds, into, fd->number);

		if (same) {
			count_open(fds, from, -1, now_ns);
			merge_fd(fds, fd, same);
		} else {
			remove_slot(fds, fd);
			move_fd(fds, fd, into, now_ns);
		}
	}
	while ((fd = from->closed_first)) {
		move_fd(fds, fd, into, now_ns);
	}
	from->users--;
	if (!into->cwd) {
		into->cwd = from->cwd;
		from->cwd = NULL;
	}
}

/* --- forgetting ------------------------------------------------------------------------------ */

static void expire_names(struct fds *fds, struct fd *fd)
{
	struct fd_name **at = &fd->names;

	while (*at && (*at)->until_ns > fds->store->horizon_ns) {
		at = &(*at)->older;
	}
	drop_names(fds, at);
}

void fds_let_go(struct fds *fds, uint64_t closed_ns)
{
	struct fd *fd;

	while ((fd = fds->closed_holding) && fd->closed_ns <= closed_ns) {
		fds->closed_holding = fd->newer;
		fd->holds = false;
		making_let_go(fds, fd->making);
	}
}

void fds_expire(struct fds *fds)
{
	struct fd *fd, *next;
	struct file_table *table;

	while (fds->closed_oldest && fds->closed_oldest->closed_ns <= fds->store->horizon_ns) {
		drop_oldest_closed(fds);
	}
	for (fd = fds->history; fd; fd = next) {
		next = fd->newer;
		expire_names(fds, fd);
		if (fd->io) {
			series_expire(fds->store, &fd->io->ops);
		}
		if (!fd->names && (!fd->io || fd->io->ops.n == 0)) {
			unlink_history(fds, fd);
		}
	}
	for (table = fds->tables; table; table = table->next) {
		attribute_expire(fds->store, &table->open);
	}
}

void fds_release(struct fds *fds)
{
	struct file_table *table;

	while ((table = fds->tables)) {
		table->users = 1;
		table->ghosts = 0;
		close_all(fds, table, UINT64_MAX);
		while (table->closed_first) {
			unlink_closed(fds, table->closed_first);
			drop_fd(fds, table->closed_first);
		}
		table->users = 0;
		table_set_address(fds, table, 0);
		drop_table_if_unused(fds, table);
	}
	free(fds->slots);
	fds->slots = NULL;
}
