/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "helper/lines.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

bool line_in_init(struct line_in *in, size_t limit)
{
	memset(in, 0, sizeof(*in));
	in->bytes = malloc(limit + 1);
	in->limit = limit;
	return in->bytes;
}

void line_in_release(struct line_in *in)
{
	free(in->bytes);
	memset(in, 0, sizeof(*in));
}

enum status line_in_read(struct line_in *in, int fd)
{
	ssize_t n;

	if (in->start == in->end) {
		in->start = in->scanned = in->end = 0;
	} else if (in->end == in->limit) {
		memmove(in->bytes, in->bytes + in->start, in->end - in->start);
		in->end -= in->start;
		in->scanned -= in->start;
		in->start = 0;
	}
	if (in->end == in->limit) {
		return STATUS_FULL; /* only if the caller does not take lines out */
	}
	n = read(fd, in->bytes + in->end, in->limit - in->end);
	if (n < 0) {
		return errno == EAGAIN || errno == EINTR ? STATUS_NOT_YET : STATUS_IO;
	}
	in->end += (size_t)n;
	return n > 0 ? STATUS_OK : STATUS_END;
}

enum line line_in_next(struct line_in *in, char **text, size_t *length)
{
	for (;;) {
		char *end = memchr(in->bytes + in->scanned, '\n', in->end - in->scanned);
		size_t start = in->start;

		if (!end) {
			in->scanned = in->end;
			if (in->skipping) {
				in->start = in->end;
			} else if (in->end - in->start == in->limit) {
				in->start = in->end;
				in->skipping = true;
				return LINE_TOO_LONG;
			}
			return LINE_NONE;
		}
		in->start = in->scanned = (size_t)(end - in->bytes) + 1;
		if (in->skipping) {
			in->skipping = false;
			continue;
		}
		*end = '\0';
		*text = in->bytes + start;
		*length = (size_t)(end - *text);
		return LINE_WHOLE;
	}
}

void line_out_init(struct line_out *out, size_t limit)
{
	memset(out, 0, sizeof(*out));
	out->limit = limit;
}

void line_out_release(struct line_out *out)
{
	free(out->bytes);
	memset(out, 0, sizeof(*out));
}

static bool make_room(struct line_out *out, size_t length)
{
	size_t size = out->size ? out->size : 4096;
	char *bytes;

	if (out->start > 0) {
		memmove(out->bytes, out->bytes + out->start, out->end - out->start);
		out->end -= out->start;
		out->start = 0;
	}
	while (size - out->end < length) {
		size *= 2;
	}
	bytes = size == out->size ? out->bytes : realloc(out->bytes, size);
	if (!bytes) {
		return false;
	}
	out->bytes = bytes;
	out->size = size;
	return true;
}

bool line_out_add(struct line_out *out, const char *bytes, size_t length)
{
	if (length > out->limit - line_out_pending(out) ||
			(out->size - out->end < length && !make_room(out, length))) {
		return false;
	}
	if (length > 0) {
		memcpy(out->bytes + out->end, bytes, length);
	}
	out->end += length;
	return true;
}

size_t line_out_pending(const struct line_out *out)
{
	return out->end - out->start;
}

enum status line_out_write(struct line_out *out, int fd, bool socket)
{
	size_t length = line_out_pending(out);
	ssize_t n;

	if (length == 0) {
		return STATUS_OK;
	}
	if (socket) {
		n = send(fd, out->bytes + out->start, length, MSG_NOSIGNAL | MSG_DONTWAIT);
	} else {
		n = write(fd, out->bytes + out->start, length < PIPE_BUF ? length : PIPE_BUF);
	}
	if (n < 0) {
		return errno == EAGAIN || errno == EINTR ? STATUS_NOT_YET : STATUS_IO;
	}
	out->start += (size_t)n;
	if (out->start == out->end) {
		out->start = out->end = 0;
	}
	return STATUS_OK;
}
