/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "views/view.h"

#include <stdio.h>
#include <string.h>

void view_path(char *out, size_t size, const char *path)
{
	size_t used = 0, length;
	const char *end;

	out[0] = '\0';
	while (*path && used + 4 < size) {
		end = strchr(path, '>');
		length = end ? (size_t)(end - path) : strlen(path);
		length = length < size - used - 4 ? length : size - used - 4;
		memcpy(out + used, path, length);
		used += length;
		path += length;
		if (*path == '>') {
			memcpy(out + used, "›", 3);
			used += 3;
			path++;
		}
		out[used] = '\0';
	}
}

void view_group_name(char *out, size_t size, const char *type, const char *path)
{
	char services[512];

	view_path(services, sizeof(services), path);
	snprintf(out, size, "%s%s%s", type[0] ? type : "(no name)", services[0] ? " " : "",
			services);
}

void view_crumbs(const struct view_frame *frame, struct area line, const char *group,
		const char *request, const char *right)
{
	struct canvas *canvas = frame->canvas;
	int keep = text_width(right, canvas->ascii) + 2;
	int x = line.x, end = line.x + line.width - (right[0] ? keep : 0);

	x += canvas_text(canvas, line.y, x, end - x, ROLE_CRUMB, "groups › ");
	if (request) {
		/* The request is what matters here: a long name of its group gives way. */
		int need = text_width(request, canvas->ascii) + 3;

		x += canvas_text(canvas, line.y, x, end - x - need, ROLE_CRUMB, group);
		x += canvas_text(canvas, line.y, x, end - x, ROLE_CRUMB, " › ");
		canvas_text(canvas, line.y, x, end - x, ROLE_CRUMB_HERE, request);
	} else {
		canvas_text(canvas, line.y, x, end - x, ROLE_CRUMB_HERE, group);
	}
	if (right[0]) {
		canvas_text_right(canvas, line.y, end + 1, keep - 2, ROLE_DIM, right);
	}
}

void view_pane(const struct view_frame *frame, struct area line, const char *title,
		const char *right, bool active)
{
	struct canvas *canvas = frame->canvas;
	enum role role = active ? ROLE_PANE_ACTIVE : ROLE_PANE;
	int x = line.x, end = line.x + line.width;
	int keep = text_width(right, canvas->ascii);

	canvas_fill(canvas, line.y, x, line.width, ROLE_AXIS, "─");
	x += 1 + canvas_text(canvas, line.y, x + 1, 2, role, active ? "▸ " : " ");
	x += canvas_text(canvas, line.y, x, end - x - 2, role, title);
	canvas_text(canvas, line.y, x, 1, role, " ");
	if (keep > 0 && x + keep + 5 < end) {
		canvas_text(canvas, line.y, end - keep - 3, 1, role, " ");
		canvas_text(canvas, line.y, end - keep - 2, keep, ROLE_DIM, right);
		canvas_text(canvas, line.y, end - 2, 1, role, " ");
	}
}

/* FNV-1a. */
uint64_t view_text_key(const char *text, uint64_t key)
{
	key ^= 0xcbf29ce484222325u;
	for (; *text; text++) {
		key = (key ^ (unsigned char)*text) * 0x100000001b3u;
	}
	return key;
}

bool view_answers(const struct view_frame *frame)
{
	return frame->snapshot->focus.serial >= frame->focus->serial;
}

const char *view_state_name(enum request_state state)
{
	switch (state) {
	case REQUEST_COMPLETE:
		return "complete";
	case REQUEST_TIMEOUT:
		return "timed out";
	case REQUEST_TRUNCATED:
		return "cut off";
	case REQUEST_MERGED:
		return "merged";
	}
	return "-";
}
