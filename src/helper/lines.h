/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PT_HELPER_LINES_H
#define PT_HELPER_LINES_H

#include <stdbool.h>
#include <stddef.h>

#include "pythiatop/status.h"

/*
 * Lines in and out of pipes and sockets, for both ends of the control protocol. No call waits if
 * the descriptor is ready (or does not block).
 *
 * Memory: `limit` bytes each, fixed for what is read; grown as needed for what is written.
 */
struct line_in {
	char *bytes;
	size_t limit, start, scanned, end;
	bool skipping; /* the rest of a line that is too long */
};

bool line_in_init(struct line_in *in, size_t limit); /* false: out of memory */
void line_in_release(struct line_in *in);

/*
 * Reads once. STATUS_OK; STATUS_NOT_YET: nothing there; STATUS_END; STATUS_IO: see errno. Makes
 * lines that were given out before invalid.
 */
enum status line_in_read(struct line_in *in, int fd);

enum line {
	LINE_NONE = 0, /* none is complete: read */
	LINE_WHOLE,    /* *text, without its end; a 0 stands after it */
	LINE_TOO_LONG, /* one was longer than the limit, and is being left out; told once */
};

enum line line_in_next(struct line_in *in, char **text, size_t *length);

struct line_out {
	char *bytes;
	size_t limit, size, start, end;
};

void line_out_init(struct line_out *out, size_t limit);
void line_out_release(struct line_out *out);

/* False: no room within the limit, or out of memory; nothing was added then. */
bool line_out_add(struct line_out *out, const char *bytes, size_t length);
size_t line_out_pending(const struct line_out *out);

/*
 * Writes once, at most PIPE_BUF bytes: that much never blocks where poll() says POLLOUT. `socket`:
 * without SIGPIPE and without waiting. STATUS_OK; STATUS_NOT_YET: would wait; STATUS_IO: see errno.
 */
enum status line_out_write(struct line_out *out, int fd, bool socket);

#endif
