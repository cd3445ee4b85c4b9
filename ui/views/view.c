/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "views/view.h"
#include "text.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/text_add.h"
#include "format.h"
#include "layout.h"

const struct view_ops *const all_views[N_VIEWS] = {
#define X(name) &view_##name,
		UI_VIEWS(X)
#undef X
};

/* The services of a path ("api>sched") with the sign shown between them. */
static void view_path(char *out, size_t size, const char *path)
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

/* Where the next part of a path begins: a service, or what the group adds, "+" and its name. */
static const char *next_part(const char *path)
{
	const char *service = strstr(path, "›"), *added = path[0] ? strchr(path + 1, '+') : NULL;

	if (service && (!added || service < added)) {
		return service + strlen("›");
	}
	return added;
}

int view_draw_path(struct canvas *canvas, int y, int x, int width, const char *path)
{
	const char *next;
	int dots;

	if (text_fits(path, canvas->ascii, width)) {
		return canvas_text(canvas, y, x, width, ROLE_PATH, path);
	}
	dots = text_width("…", canvas->ascii);
	while ((next = next_part(path)) && !text_fits(path, canvas->ascii, width - dots)) {
		path = next;
	}
	dots = canvas_text(canvas, y, x, width, ROLE_PATH, "…");
	return dots + canvas_text_middle(canvas, y, x + dots, width - dots, ROLE_PATH, path);
}

int view_draw_group(
		struct canvas *canvas, int y, int x, int width, const char *type, const char *path)
{
	const char *last, *next;
	char services[512];
	int need, used;

	view_path(services, sizeof(services), path);
	for (last = services; (next = strstr(last, "›")); last = next + strlen("›")) {
	}
	need = text_width(last, canvas->ascii);
	need += last == services ? 0 : text_width("…", canvas->ascii);
	need = need < width / 2 ? need : width / 2;
	used = canvas_text_middle(canvas, y, x, width - (need ? need + 1 : 0), ROLE_NAME,
			type[0] ? type : "(no name)");
	if (need > 0) {
		used += 1 + view_draw_path(canvas, y, x + used + 1, width - used - 1, services);
	}
	return used;
}

void view_group_name(char *out, size_t size, const char *type, const char *path)
{
	char services[512];

	view_path(services, sizeof(services), path);
	snprintf(out, size, "%s%s%s", type[0] ? type : "(no name)", services[0] ? " " : "",
			services);
}

void view_breadcrumbs(const struct view_frame *frame, struct area line, const char *group,
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

void view_warning(const struct view_frame *frame, struct area *area)
{
	struct area line;

	if (frame->snapshot->n_warnings > 0 && area->height > 1) {
		line = layout_cut_rows(area, 1);
		canvas_text(frame->canvas, line.y, line.x + 1, line.width - 2, ROLE_WARN,
				frame->snapshot->warnings[0]);
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

int view_keys(const struct view_frame *frame, struct area line, const enum action *actions, int n)
{
	struct canvas *canvas = frame->canvas;
	int x = line.x, end = line.x + line.width, i;
	char keys[64];

	for (i = 0; i < n; i++) {
		keymap_text(frame->keymap, actions[i], keys, sizeof(keys));
		if (x + text_width(keys, canvas->ascii) + 1 +
						text_width(action_label(actions[i]),
								canvas->ascii) >
				end) {
			break;
		}
		x += canvas_text(canvas, line.y, x, end - x, ROLE_KEY, keys) + 1;
		x += canvas_text(canvas, line.y, x, end - x, ROLE_KEY_LABEL,
				     action_label(actions[i])) +
		     2;
	}
	return x - line.x;
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

uint64_t view_chain_key(const char *provider, const char *name, uint64_t parent)
{
	/* Not the same for ("a", "bc") and ("ab", "c"). */
	return view_text_key(name, view_text_key(provider, parent) + 1);
}

void view_share(char *out, size_t size, double share, double low, double high)
{
	char text[FORMAT_BYTES];

	if (!isfinite(low) || !isfinite(high)) {
		snprintf(out, size, "%s", format_share(text, share));
		return;
	}
	snprintf(out, size, "%s ±%.0f", format_share(text, share), (high - low) * 50);
}

/* "three latencies: 412ms 61%  1.20s 27%  2.10s 12%" */
static void add_modes(char *out, size_t size, const struct groups_row *row)
{
	static const char *const words[] = {"no", "one", "two", "three", "four"};
	char peak[FORMAT_BYTES], share[FORMAT_BYTES];
	uint32_t i, n = row->n_modes < GROUPS_MAX_MODES ? row->n_modes : GROUPS_MAX_MODES;

	if (row->n_modes < 2) {
		text_add(out, size, "%s",
				row->n_modes == 1 ? "one latency" : "latencies not told apart");
		return;
	}
	if (row->n_modes > GROUPS_MAX_MODES) {
		text_add(out, size, "%" PRIu32 " latencies:", row->n_modes);
	} else {
		text_add(out, size, "%s latencies:", words[n]);
	}
	for (i = 0; i < n; i++) {
		text_add(out, size, "%s%s %s", i ? "  " : " ",
				format_duration(peak, (double)row->modes[i].peak_ns),
				format_share(share, row->modes[i].share));
	}
}

void view_verdict(char *out, size_t size, const struct groups_row *row)
{
	char number[FORMAT_BYTES], more[FORMAT_BYTES];

	out[0] = '\0';
	if (row->idle_wait) {
		text_add(out, size, "idle wait: a thread's own, for something to do; no variation");
		return;
	}
	if (row->lossy) {
		text_add(out, size, "%s of %s requests lost events: nothing is said of it",
				format_count(number, row->tainted),
				format_count(more, row->tainted + row->count));
		return;
	}
	if (row->missing > 0) {
		text_add(out, size, "not yet: %" PRIu32 " more request%s", row->missing,
				row->missing == 1 ? "" : "s");
		return;
	}
	if (row->detection & DETECTION_VARIES) {
		text_add(out, size, "varies: CoV ≥ %s; ", format_ratio(number, row->cov_low));
	} else {
		text_add(out, size, "%s", row->detection ? "" : "not flagged: ");
	}
	add_modes(out, size, row);
	if (row->detection & DETECTION_SLOW && row->objective_ns > 0 &&
			row->p50_ns > row->objective_ns) {
		text_add(out, size, "; slower than its objective of %s",
				format_duration(number, (double)row->objective_ns));
	} else if (row->detection & DETECTION_SLOW) {
		text_add(out, size, "; slower than the other groups");
	}
	if (row->detection & DETECTION_SHIFTED && row->shift > 0) {
		text_add(out, size, "; median %s times the baseline's",
				format_ratio(number, row->shift));
	}
}

/* "(blocked: futex)" names the system call that it is a part of. */
static bool names_call(const char *part, const char *call)
{
	static const char blocked[] = "(blocked: ";
	size_t length = strlen(call);

	return strncmp(part, blocked, sizeof(blocked) - 1) == 0 &&
	       strncmp(part + sizeof(blocked) - 1, call, length) == 0 &&
	       part[sizeof(blocked) - 1 + length] == ')';
}

void view_segment_name(char *out, size_t size, const struct group_segment *segment)
{
	static const char syscall[] = "syscall_";
	const char *caller = segment->where, *above = NULL, *next;
	int length = 0; /* of what is above the caller */

	while ((next = strstr(caller, "›"))) {
		above = caller;
		length = (int)(next - caller);
		caller = next + strlen("›");
	}
	if (segment->name[0] != '(' || !caller[0]) {
		text_copy(out, size, segment->name);
	} else if (!above || strncmp(caller, syscall, sizeof(syscall) - 1) != 0) {
		snprintf(out, size, "%.120s %.120s", caller, segment->name);
	} else if (names_call(segment->name, caller + sizeof(syscall) - 1)) {
		snprintf(out, size, "%.*s %.120s", length < 120 ? length : 120, above,
				segment->name);
	} else {
		snprintf(out, size, "%.*s›%.60s %.60s", length < 120 ? length : 120, above,
				caller + sizeof(syscall) - 1, segment->name);
	}
}

/* No span of what that context calls is recorded; a part that is no span counts as its caller. */
static bool nothing_deeper(const struct tree_view *tree, uint32_t context)
{
	uint32_t row, i;

	for (row = 0; row < tree->n && tree->rows[row].context != context; row++) {
	}
	if (row == tree->n) {
		return false;
	}
	if (tree->rows[row].mark == TREE_NO_POINT && tree->rows[row].parent < row) {
		row = tree->rows[row].parent;
	}
	for (i = row + 1; i < tree->n && i <= row + tree->rows[row].n_below; i++) {
		if (tree->rows[i].total_ns > 0) {
			return false;
		}
	}
	return true;
}

void view_location(char *out, size_t size, const struct group_location *location,
		const struct tree_view *tree)
{
	const struct group_segment *first = location->segments;
	char share[FORMAT_BYTES], low[FORMAT_BYTES], high[FORMAT_BYTES], name[256];

	out[0] = '\0';
	if (!location->located) {
		if (location->missing > 0) {
			text_add(out, size, "where: not yet, %" PRIu32 " more request%s",
					location->missing, location->missing == 1 ? "" : "s");
		}
		return;
	}
	if (location->common_cause) {
		text_add(out, size,
				"no single place: a common cause (%s) moves all; look at hosts and "
				"kernel",
				format_share(share, location->first_component));
		return;
	}
	if (location->n_segments == 0) {
		return;
	}
	view_segment_name(name, sizeof(name), first);
	text_add(out, size, "inside %s %s of the variance (%s to %s)", name,
			format_share(share, first->phi), format_share(low, first->phi_low),
			format_share(high, first->phi_high));
	if (tree && nothing_deeper(tree, first->context)) {
		text_add(out, size, "; nothing deeper is on");
	} else if (location->n_segments > 1 && location->segments[1].phi > 0.1) {
		view_segment_name(name, sizeof(name), &location->segments[1]);
		text_add(out, size, ", %s %s", name,
				format_share(share, location->segments[1].phi));
	}
}

bool view_answers(const struct view_frame *frame)
{
	return frame->snapshot->focus.serial >= frame->focus->serial;
}

void view_failed(char *out, size_t size, const struct groups_row *row)
{
	char low[FORMAT_BYTES], high[FORMAT_BYTES], share[FORMAT_BYTES], n[FORMAT_BYTES],
			of[FORMAT_BYTES];

	snprintf(out, size, "failed: %s of %s requests, %s (%s to %s)",
			format_count(n, row->failed), format_count(of, row->ended),
			format_share(share, (double)row->failed / (double)row->ended),
			format_share(low, row->failed_low), format_share(high, row->failed_high));
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
