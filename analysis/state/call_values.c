/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <string.h>

#include "state/file_calls.h"

/* --- values of the entry and the exit -------------------------------------------------------- */

bool call_use(struct using *using, struct state_cx *cx, const struct call_end *end)
{
	*using = (struct using){.cx = cx,
			.fds = &cx->files->fds,
			.end = end,
			.now_ns = end->exit->ts_ns,
			.began_ns = end->call->ts_ns};
	using->table = files_table(cx, end->thread);
	return using->table != NULL;
}

const struct field *call_field(const struct using *using, const struct event *event, uint16_t slot)
{
	return &using->cx->registry->types[event->type].fields[slot];
}

bool call_argument(const struct using *using, uint32_t i, int64_t *value)
{
	const struct call_end *end = using->end;

	if (!end->entry || end->in[i] == STATE_NO_FIELD ||
			call_field(using, end->entry, end->in[i])->kind > FIELD_INT) {
		return false;
	}
	*value = (int64_t)end->entry->slots[end->in[i]];
	return true;
}

int64_t call_argument_or(const struct using *using, uint32_t i, int64_t otherwise)
{
	int64_t value;

	return call_argument(using, i, &value) ? value : otherwise;
}

int32_t call_fd(const struct using *using, uint32_t i)
{
	return (int32_t)call_argument_or(using, i, -1);
}

const char *call_text(const struct using *using, uint32_t i, uint32_t *length)
{
	const struct call_end *end = using->end;

	*length = 0;
	if (!end->entry || end->in[i] == STATE_NO_FIELD ||
			call_field(using, end->entry, end->in[i])->kind != FIELD_STRING) {
		return NULL;
	}
	return event_bytes(end->entry, end->in[i], length);
}

uint32_t call_numbers(const struct state_cx *cx, const struct event *event, uint16_t slot,
		uint64_t *numbers, uint32_t max)
{
	uint32_t length, head[2], i;
	const char *tree;

	if (!event || slot == STATE_NO_FIELD ||
			cx->registry->types[event->type].fields[slot].kind != FIELD_TREE) {
		return 0;
	}
	tree = event_bytes(event, slot, &length);
	if (!tree || length < sizeof(head)) {
		return 0;
	}
	memcpy(head, tree, sizeof(head));
	if (head[0] != TREE_ARRAY || head[1] > max || length < 8 + head[1] * 16) {
		return 0;
	}
	for (i = 0; i < head[1]; i++) {
		memcpy(&numbers[i], tree + 8 + i * 16 + 8, sizeof(numbers[i]));
	}
	return head[1];
}

/* --- making fds ------------------------------------------------------------------------------ */

static void describe(struct fd *fd, const struct using *using, const struct made *made)
{
	fd->kind = (uint8_t)made->kind;
	fd->confidence = FD_OBSERVED;
	fd->close_on_exec = (uint8_t)made->close_on_exec;
	fd->network = (uint8_t)made->network;
	fd->opened_ns = using->now_ns;
}

struct fd *fd_make(const struct using *using, const struct made *made)
{
	struct making *making;
	struct fd *fd;

	if (made->number < 0 || made->number > INT32_MAX) {
		making_release(using->fds, made->origin);
		return NULL;
	}
	making = making_create(using->fds, using->end->call->number, using->cx->number,
			made->path ? made->path : "", made->path ? made->length : 0, made->origin);
	fd = fds_find(using->fds, using->table, (int32_t)made->number);
	if (fd && fd->confidence != FD_OBSERVED && fd->known_ns > using->began_ns) {
		fds_tell(using->fds, fd, making);
	} else {
		fd = fds_open(using->fds, using->table, (int32_t)made->number, making,
				using->now_ns);
	}
	if (fd) {
		describe(fd, using, made);
	}
	return fd;
}

struct fd *fd_use(const struct using *using, int32_t number)
{
	struct fd *fd;

	if (number < 0) {
		return NULL;
	}
	fd = fds_find(using->fds, using->table, number);
	if (!fd) {
		fd = fds_open(using->fds, using->table, number, NULL, using->now_ns);
		if (fd) {
			fd->confidence = FD_GUESSED;
		}
	}
	return fd;
}

enum { PAIR_FLAGS };
enum { PAIR_FDS };

bool fd_make_pair(struct state_cx *cx, const struct call_end *end, enum fd_kind kind,
		struct fd *made[2])
{
	struct using using;
	uint64_t numbers[2];

	if (end->ret < 0 || !call_use(&using, cx, end) ||
			call_numbers(cx, end->exit, end->out[PAIR_FDS], numbers, 2) != 2) {
		return false;
	}
	for (uint32_t i = 0; i < 2; i++) {
		made[i] = fd_make(&using,
				&(struct made){.number = (int32_t)numbers[i],
						.kind = kind,
						.close_on_exec = fd_yes_if(
								call_argument_or(&using, PAIR_FLAGS,
										0) &
								OPEN_CLOEXEC),
						.network = FD_NO});
	}
	return made[0] && made[1];
}
