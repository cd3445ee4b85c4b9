/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "state/fds.h"

/* An fd as it was at an instant: later uses are taken back, later names are not its own yet. */

static bool fd_was_open(const struct fd *fd, uint64_t at_ns)
{
	return fd->known_ns <= at_ns && (!fd->closed_ns || fd->closed_ns > at_ns);
}

static const char *path_at(const struct fd *fd, uint64_t at_ns)
{
	const struct making *making = fd->making;
	const struct fd_name *name;

	for (name = fd->names; name && name->until_ns > at_ns; name = name->older) {
		making = name->making;
	}
	return making_path(making);
}

static void take_back(struct fd_io *total, const struct fd_op *op)
{
	uint64_t bytes = op->bytes & ~FD_OP_WRITE;

	if (op->bytes & FD_OP_WRITE) {
		total->writes--;
		total->write_bytes -= bytes;
		total->write_ns -= op->duration_ns;
	} else {
		total->reads--;
		total->read_bytes -= bytes;
		total->read_ns -= op->duration_ns;
	}
}

bool fd_at(const struct fd *fd, uint64_t from_ns, uint64_t at_ns, struct fd_at *out)
{
	uint32_t i;

	if (fd->known_ns > at_ns || (fd->closed_ns && fd->closed_ns <= from_ns)) {
		return false;
	}
	*out = (struct fd_at){.open = fd_was_open(fd, at_ns), .path = path_at(fd, at_ns)};
	if (!fd->io) {
		return true;
	}
	out->total = *fd->io;
	out->total.ops = (struct series){.ring = NULL};
	for (i = fd->io->ops.n; i-- > 0;) {
		const struct fd_op *op = series_at(&fd->io->ops, i);

		if (op->at_ns > at_ns) {
			take_back(&out->total, op);
		} else if (op->at_ns <= from_ns) {
			break;
		} else if (op->bytes & FD_OP_WRITE) {
			out->window_write_bytes += op->bytes & ~FD_OP_WRITE;
		} else {
			out->window_read_bytes += op->bytes;
		}
	}
	return true;
}
