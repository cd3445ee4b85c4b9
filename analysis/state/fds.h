/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PT_STATE_FDS_H
#define PT_STATE_FDS_H

#include <stdbool.h>
#include <stdint.h>

#include "pythiatop/snapshot/state.h"
#include "state/log.h"
#include "state/store.h"

/*
 * File tables and the file descriptors in them, open or closed within the window.
 *
 * An fd here is one generation of a number in a table: from the call that made it (or from what
 * first told of it) to its close. A number that is used again is another fd. What an fd did is kept
 * operation by operation over the window, so that it can be told as of any instant in it.
 *
 * The calls that made an fd (struct making) are shared by its copies in forked processes and by
 * its duplicates. They are held in the log of events until the last of these was closed a window
 * ago; what it was opened as stays as long as the fd can be asked for.
 *
 * Memory: from the store, which its owner bounds by the horizon; at most FDS_MAX fds; beyond, the
 * one closed longest ago goes, and where all are open a further one is not kept, but counted.
 */
#define FDS_MAX       (1u << 20)
#define FDS_MAX_PATH  4096u
#define FDS_ADDRESSES 1024u /* buckets */

struct thread_state;
struct file_table;
struct socket; /* socket_table.h */

/* The calls that made an fd, and what it was opened as. */
struct making {
	uint32_t refs, holds, length;
	uint64_t entry, exit;  /* numbers in the log, held while `holds`; 0: none */
	struct making *origin; /* of a duplicate: of the file it came from; of a connection: the
				  socket */
	char path[];           /* or peer, `length` bytes and a 0; "" if not told here */
};

enum fd_answer {
	FD_NO = 0,
	FD_YES,
	FD_MAYBE, /* nobody told */
};

struct fd_name { /* what an fd was before it was connected */
	struct fd_name *older;
	struct making *making;
	uint64_t until_ns;
};

struct fd_op {
	uint64_t at_ns; /* when the call ended */
	uint64_t bytes; /* FD_OP_WRITE added for a write */
	uint64_t duration_ns;
};
#define FD_OP_WRITE (UINT64_C(1) << 63)

struct fd_io {
	uint64_t reads, writes, read_bytes, write_bytes, read_ns, write_ns;
	struct series ops; /* of struct fd_op, of the window */
};

struct fd {
	struct fd *next_hash;
	struct fd *prev, *next;   /* in its table */
	struct fd *older, *newer; /* of those closed, by time; or of open ones with history */
	bool has_history, holds;  /* holds: its making's events in the log */
	struct file_table *table;
	uint64_t id;
	struct making *making;
	struct fd_io *io;
	struct fd_name *names;
	uint64_t known_ns, opened_ns, closed_ns;
	uint64_t uncertain_ns; /* from when on its own history is doubtful; 0: it is not */
	int32_t number;
	uint8_t kind, confidence;       /* enum fd_kind, enum fd_confidence */
	uint8_t close_on_exec, network; /* enum fd_answer */
	bool counted;                   /* among sockets of nobody known */
	struct socket *socket;          /* open ones: a reference; NULL: nothing is known of one */
};

struct file_table {
	struct file_table *prev, *next;
	struct fd *open_first, *closed_first;
	uint32_t host;
	uint32_t users;  /* threads */
	uint32_t ghosts; /* dead threads that still tell whose fds these were */
	uint32_t n_open;
	int32_t pid;      /* -1: not known so far */
	uint32_t name;    /* interned, of the owner when it went */
	uint64_t address; /* in the kernel, of the last statedump; 0: not told */
	struct file_table *next_address;
	struct thread_state *owner;
	struct attribute open; /* n_open over time */
	/*
	 * The working directory of those who use it, as an absolute path; NULL: not seen. (It is a
	 * process' own as the table is; only clone() could share one of the two.)
	 */
	struct making *cwd;
};

struct fds {
	struct store *store;
	struct event_log *log;
	struct file_table *tables;
	struct file_table *addresses[FDS_ADDRESSES];
	struct fd **slots; /* open ones by (table, number) */
	uint32_t n_slots, n_open, n_all;
	uint32_t n_sockets;
	struct fd *closed_oldest, *closed_newest;
	struct fd *closed_holding; /* the oldest of these that holds */
	struct fd *history;        /* open ones with operations or names to forget */
	uint64_t next_id;
	uint64_t refused;    /* fds that had no room */
	uint64_t trimmed_ns; /* closed ones had to go that were closed by then; 0: none */
};

bool fds_init(struct fds *fds, struct store *store, struct event_log *log);
void fds_release(struct fds *fds);
/* Forgets what ended before the store's horizon. */
void fds_expire(struct fds *fds);

/* Events that made fds closed by then are no longer held. Cheap: called for every event. */
void fds_let_go(struct fds *fds, uint64_t closed_ns);

/*
 * A making with one reference that holds the two events of the log. NULL if out of memory. Such a
 * reference to `origin` is taken over.
 */
struct making *making_create(struct fds *fds, uint64_t entry, uint64_t exit, const char *path,
		uint32_t length, struct making *origin);
struct making *making_share(struct making *making);
void making_release(struct fds *fds, struct making *making); /* a reference that holds */
const char *making_path(const struct making *making);        /* never NULL */

struct file_table *table_create(
		struct fds *fds, uint32_t host, int32_t pid, struct thread_state *owner);
/* A copy of all that is open, at a fork. */
struct file_table *table_copy(struct fds *fds, const struct file_table *table, int32_t pid,
		struct thread_state *owner, uint64_t now_ns);
/* Where the kernel has it; 0: nobody knows any more. Found by that as long as it has users. */
void table_set_address(struct fds *fds, struct file_table *table, uint64_t address);
struct file_table *table_at(const struct fds *fds, uint32_t host, uint64_t address);
/* One user less; the last one's going closes all. `ghost`: it stays to tell whose they were. */
void table_leave(struct fds *fds, struct file_table *table, bool ghost, uint64_t now_ns);
/* Its users work in this directory from now on; "" (of length 0): nobody knows where. */
void table_set_cwd(struct fds *fds, struct file_table *table, const char *path, uint32_t length);
void table_forget(struct fds *fds, struct file_table *table); /* one ghost less */
/* Closes what an exec closes. */
void table_exec(struct fds *fds, struct file_table *table, uint64_t now_ns);
/* Two tables turn out to be one: `from` gives all to `into`, and keeps its users. */
void table_merge(
		struct fds *fds, struct file_table *from, struct file_table *into, uint64_t now_ns);

/* Open or closed within the history; NULL: none. Looks at all. */
const struct fd *fds_by_id(const struct fds *fds, uint64_t id);
struct fd *fds_find(const struct fds *fds, const struct file_table *table, int32_t number);
/*
 * A new fd of that number; one that is open under it was closed by a call nobody saw. Takes over
 * the reference to `making`. Known since now_ns; the caller sets the rest. NULL: no room.
 */
struct fd *fds_open(struct fds *fds, struct file_table *table, int32_t number,
		struct making *making, uint64_t now_ns);
void fds_close(struct fds *fds, struct fd *fd, uint64_t now_ns);
/* Another making (a reference taken over) from now_ns on. */
void fds_rename(struct fds *fds, struct fd *fd, struct making *making, uint64_t now_ns);
/* Another making for all of its life: what it is was learned late. */
void fds_tell(struct fds *fds, struct fd *fd, struct making *making);
/* A read or write ended. */
void fds_count(struct fds *fds, struct fd *fd, bool write, uint64_t bytes, uint64_t duration_ns,
		uint64_t now_ns);

/* As of an instant; the window is (from_ns, at_ns]. False: it was not there, or closed before. */
struct fd_at {
	bool open;
	const char *path;
	struct fd_io total; /* without ops */
	uint64_t window_read_bytes, window_write_bytes;
};
bool fd_at(const struct fd *fd, uint64_t from_ns, uint64_t at_ns, struct fd_at *out);

#endif
