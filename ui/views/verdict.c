/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "views/verdict.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/text_add.h"
#include "explain_text.h"
#include "format.h"
#include "layout.h"
#include "step_text.h"
#include "widgets/bar.h"
#include "widgets/paragraph.h"

#define TEXT_BYTES   2048
#define LABEL_LEAST  5
#define LABEL_MOST   24 /* columns of a value */
#define LEAST_MORE   70 /* columns from which on the count of a value is shown, too */
#define LEAST_MEAN   100
#define WIDEST       4 /* columns of a bin */
#define FURTHER      8 /* added to the priority of what takes more than two lines */
#define VALUES_FIRST 2 /* these and the last one matter more than the others */

static struct verdict_line *add(struct verdict *verdict, enum verdict_kind kind, int priority)
{
	struct verdict_line *line;

	if (verdict->n >= VERDICT_LINES) {
		line = &verdict->lines[VERDICT_LINES - 1];
		*line = (struct verdict_line){
				.role = ROLE_DIM, .text = "… there is no room for more"};
		return line;
	}
	line = &verdict->lines[verdict->n++];
	*line = (struct verdict_line){.kind = kind, .role = ROLE_TEXT, .priority = priority};
	return line;
}

/* What text is broken for. */
struct style {
	enum role role;
	int indent;
	int priority; /* of the first line; the second goes before it, further ones long before */
	int width;
	bool ascii;
};

static void add_text(struct verdict *verdict, const struct style *style, const char *text)
{
	int priority = style->priority;

	do {
		struct verdict_line *line = add(verdict, VERDICT_TEXT, priority);
		size_t length = paragraph_line(text, style->ascii, style->width - style->indent);

		if (length == 0 || length >= sizeof(line->text)) {
			length = strnlen(text, sizeof(line->text) - 1); /* cut as it is drawn */
		}
		line->role = style->role;
		line->indent = style->indent;
		snprintf(line->text, sizeof(line->text), "%.*s", (int)length, text);
		text += length;
		text += strspn(text, " ");
		line->goes_on = *text != '\0';
		priority += priority == style->priority ? 1 : FURTHER;
	} while (*text);
}

__attribute__((format(printf, 3, 4))) static void add_format(
		struct verdict *verdict, const struct style *style, const char *format, ...)
{
	char text[TEXT_BYTES];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	add_text(verdict, style, text);
}

static void add_heading(struct verdict *verdict, const char *text)
{
	struct verdict_line *line;

	if (verdict->n > 0) {
		add(verdict, VERDICT_TEXT, 0);
	}
	line = add(verdict, VERDICT_TEXT, 0);
	line->role = ROLE_HORIZON;
	snprintf(line->text, sizeof(line->text), "%s", text);
}

static const struct explanation *explanation_of(const struct verdict *verdict)
{
	const struct explanation *explanation = verdict->finding->explanation;

	return explanation && explanation->state == EXPLANATION_DONE ? explanation : NULL;
}

static void begin(
		struct verdict *verdict, const struct steps_finding *finding, int width, bool ascii)
{
	const struct explanation *explanation;
	int label;

	verdict->finding = finding;
	verdict->width = width;
	verdict->ascii = ascii;
	verdict->n = 0;
	verdict->label = LABEL_LEAST;
	explanation = explanation_of(verdict);
	for (uint32_t i = 0; explanation && i < explanation->n_values; i++) {
		label = text_width(explanation->values[i].text, ascii);
		verdict->label = label > verdict->label ? label : verdict->label;
	}
	verdict->label = verdict->label < LABEL_MOST ? verdict->label : LABEL_MOST;
}

static void add_values(struct verdict *verdict, const struct explanation *explanation)
{
	uint32_t n = explanation->n_values;

	for (uint32_t i = 0; i < n; i++) {
		bool is_end = i < VALUES_FIRST || i == n - 1;

		add(verdict, VERDICT_VALUE, is_end ? 2 : 4)->at = i;
	}
	if (explanation->n_values > 0) {
		add(verdict, VERDICT_AXIS, 3);
	}
}

/* "explained by queue_len        92% of the variance held out, n 444+444, p <= 0.001" */
static void add_explained(struct verdict *verdict, struct style style)
{
	const struct explanation *explanation = verdict->finding->explanation;
	char head[512], evidence[sizeof(verdict->lines[0].right)];
	struct verdict_line *line;

	explain_head(head, sizeof(head), explanation);
	if (!head[0]) {
		return;
	}
	explain_evidence(evidence, sizeof(evidence), explanation);
	style.priority = 1;
	style.role = explain_found(explanation) ? ROLE_NEXT : ROLE_TEXT;
	if (text_width(head, style.ascii) + 2 + text_width(evidence, style.ascii) <= style.width) {
		line = add(verdict, VERDICT_TEXT, 1);
		line->role = style.role;
		text_copy(line->text, sizeof(line->text), head);
		snprintf(line->right, sizeof(line->right), "%s", evidence);
	} else {
		add_text(verdict, &style, head);
		style.role = ROLE_TEXT;
		if (evidence[0]) {
			add_text(verdict, &style, evidence);
		}
	}
}

static void add_stop(struct verdict *verdict, struct style style, uint32_t known)
{
	char text[512];

	step_stop(text, sizeof(text), verdict->finding, known);
	style.role = verdict->finding->rule == STOP_NONE ? ROLE_DIM : ROLE_NEXT;
	add_text(verdict, &style, text);
}

static void add_ruled_out(struct verdict *verdict, const struct style *style)
{
	const struct steps_finding *finding = verdict->finding;
	char text[TEXT_BYTES] = "ruled out: ";

	for (uint32_t i = 0; i < finding->n_ruled_out; i++) {
		text_add(text, sizeof(text), "%s%s", i ? "; " : "", finding->ruled_out[i]);
	}
	if (finding->n_ruled_out > 0) {
		add_text(verdict, style, text);
	}
}

/* Services vary by themselves: where nothing tells what is normal, that is told. */
static void add_normal(struct verdict *verdict, struct style style)
{
	style.priority = 2;
	if (verdict->finding->no_normal) {
		add_text(verdict, &style,
				verdict->finding->rule == STOP_PEER
						? "whether that is normal is not known: no "
						  "baseline, nothing learned"
						: "it varies; whether more than normal is not "
						  "known: no baseline, nothing learned");
	}
}

void verdict_brief(struct verdict *verdict, const struct steps_finding *finding, uint32_t known,
		int width, bool ascii)
{
	const struct style dim = {ROLE_DIM, 0, 6, width, ascii};
	const struct style text = {
			finding->rule == STOP_NONE ? ROLE_TEXT : ROLE_STRONG, 0, 0, width, ascii};
	struct style plain = {ROLE_TEXT, 0, 1, width, ascii};

	begin(verdict, finding, width, ascii);
	add_text(verdict, &text, finding->text);
	if (finding->where[0]) {
		add_format(verdict, &dim, "where: %s", finding->where);
	}
	add_normal(verdict, dim);
	add_explained(verdict, plain);
	if (explain_found(finding->explanation)) {
		add_values(verdict, finding->explanation);
	}
	add_stop(verdict, plain, known);
	if (finding->next && finding->next[0]) {
		plain.priority = 3;
		add_format(verdict, &plain, "look next: %s", finding->next);
	}
	plain = dim;
	plain.priority = 7;
	add_ruled_out(verdict, &plain);
}

/* --- all of it --- */

static void add_key(struct verdict *verdict, const struct style *style, uint32_t at)
{
	const struct explained_key *key = &verdict->finding->explanation->keys[at];
	char text[TEXT_BYTES] = "cannot be told from: ";

	add(verdict, VERDICT_KEY, 0)->at = at;
	if (key->where[0]) {
		add_format(verdict, style, "of %s", key->where);
	}
	for (uint32_t i = 0; i < key->n_together; i++) {
		text_add(text, sizeof(text), "%s%s", i ? ", " : "", key->together[i]);
	}
	if (key->n_together > 0) {
		add_text(verdict, style, text);
	}
}

static void add_keys(struct verdict *verdict, const struct style *style,
		const struct explanation *explanation)
{
	if (explanation->n_keys > 0) {
		add_heading(verdict, "how much of the variance between requests goes with each "
				     "variable");
		add(verdict, VERDICT_KEYS, 0);
	}
	for (uint32_t i = 0; i < explanation->n_keys; i++) {
		add_key(verdict, style, i);
	}
}

static void add_joint(struct verdict *verdict, const struct style *style,
		const struct explanation *explanation)
{
	char p[FORMAT_BYTES];

	if (explanation->n_columns == 0) {
		return;
	}
	add_heading(verdict, "all variables together");
	explain_tail(p, sizeof(p), explanation->f_p);
	add_format(verdict, style,
			"duration: R2 %.2f by %" PRIu32 " columns, F %.3g, %s (multiple "
			"correlation)",
			explanation->r2, explanation->n_columns, explanation->f, p);
	if (explanation->n_segments > 0) {
		explain_tail(p, sizeof(p), explanation->chi2_p);
		add_format(verdict, style,
				"%" PRIu32
				" segments of the critical path: correlation %.2f, Wilks "
				"%.3g, chi2 %.4g of %" PRIu32 ", %s (canonical correlation)",
				explanation->n_segments, explanation->canonical, explanation->wilks,
				explanation->chi2, explanation->df, p);
	}
}

static void add_out(struct verdict *verdict, const struct style *style,
		const struct explanation *explanation)
{
	if (explanation->n_out > 0) {
		add_heading(verdict, "variables left out");
	}
	for (uint32_t i = 0; i < explanation->n_out; i++) {
		add_format(verdict, style, "%s: %s", explanation->out[i].name,
				explanation->out[i].why);
	}
}

static void add_list(struct verdict *verdict, const struct style *style, const char *heading,
		const char *const *lines, uint32_t n)
{
	if (n > 0) {
		add_heading(verdict, heading);
	}
	for (uint32_t i = 0; i < n; i++) {
		add_text(verdict, style, lines[i]);
	}
}

void verdict_whole(struct verdict *verdict, const struct steps_finding *finding, uint32_t known,
		int width, bool ascii)
{
	const struct style text = {
			finding->rule == STOP_NONE ? ROLE_TEXT : ROLE_STRONG, 0, 0, width, ascii};
	const struct style plain = {ROLE_TEXT, 0, 0, width, ascii};
	const struct style dim = {ROLE_DIM, 2, 0, width, ascii};
	const struct explanation *explanation;
	char share[64], cost[128];

	begin(verdict, finding, width, ascii);
	add_text(verdict, &text, finding->text);
	add_normal(verdict, plain);
	if (finding->where[0] && finding->requests == 0) {
		add_format(verdict, &plain, "where: %s", finding->where);
	} else if (finding->where[0]) {
		view_share(share, sizeof(share), finding->phi, finding->phi_low, finding->phi_high);
		add_format(verdict, &plain, "where: %s", finding->where);
		add_format(verdict, &plain, "share: %s of the variance of %" PRIu64 " requests",
				share, finding->requests);
	}
	add_stop(verdict, plain, known);
	step_cost_of_search(cost, sizeof(cost), finding);
	add_format(verdict, &plain, "cost of these points: %s", cost);
	if (finding->next && finding->next[0]) {
		add_format(verdict, &plain, "look next: %s", finding->next);
	}
	add_explained(verdict, plain);
	explanation = explanation_of(verdict);
	if (explanation) {
		if (explanation->n_values > 0 && explanation->n_keys > 0) {
			char heading[TEXT_BYTES];

			snprintf(heading, sizeof(heading), "latency by value of %s",
					explanation->keys[0].name);
			add_heading(verdict, heading);
			add(verdict, VERDICT_VALUES, 0);
			add_values(verdict, explanation);
		}
		add_keys(verdict, &dim, explanation);
		add_joint(verdict, &plain, explanation);
		add_out(verdict, &plain, explanation);
	}
	add_list(verdict, &plain, "ruled out", finding->ruled_out, finding->n_ruled_out);
	add_list(verdict, &plain, "what was tried, and what it showed", finding->history,
			finding->n_history);
}

/* --- drawing --- */

/* Columns of a value: what is not there has no width. */
struct value_columns {
	int count, share, mean, p50, strip, strip_x;
};

static struct value_columns place_value(const struct verdict *verdict, int width)
{
	struct value_columns columns = {.count = width >= LEAST_MORE ? 6 : 0,
			.share = 6,
			.mean = width >= LEAST_MEAN ? 7 : 0,
			.p50 = 7};
	int bins = (int)EXPLANATION_BINS, room;

	columns.strip_x = 2 + verdict->label + columns.count + columns.share + columns.mean +
			  columns.p50 + 2;
	room = width - columns.strip_x;
	/* As many columns for each of the bins: no step is wider than another. */
	columns.strip = room >= bins ? room / bins * bins : room > 0 ? room : 0;
	columns.strip = columns.strip < WIDEST * bins ? columns.strip : WIDEST * bins;
	return columns;
}

static int put(struct canvas *canvas, struct area area, int x, int width, enum role role,
		const char *text)
{
	if (width > 0) {
		canvas_text_right(canvas, area.y, area.x + x, width, role, text);
	}
	return x + width;
}

static void draw_value(const struct verdict *verdict, const struct explained_value *value,
		struct canvas *canvas, struct area area)
{
	struct value_columns columns = place_value(verdict, area.width);
	char text[FORMAT_BYTES];
	int x = 2 + verdict->label;

	canvas_text(canvas, area.y, area.x + 2, verdict->label, ROLE_NAME, value->text);
	x = put(canvas, area, x, columns.count, ROLE_TEXT, format_count(text, value->count));
	x = put(canvas, area, x, columns.share, ROLE_TEXT, format_share(text, value->share));
	x = put(canvas, area, x, columns.mean, ROLE_TEXT, format_duration(text, value->mean_ns));
	put(canvas, area, x, columns.p50, ROLE_STRONG,
			format_duration(text, (double)value->p50_ns));
	bar_strip(canvas, area.y, area.x + columns.strip_x, columns.strip, value->bins,
			(int)EXPLANATION_BINS);
}

static void draw_values_header(
		const struct verdict *verdict, struct canvas *canvas, struct area area)
{
	struct value_columns columns = place_value(verdict, area.width);
	int x = 2 + verdict->label;

	canvas_text(canvas, area.y, area.x + 2, verdict->label, ROLE_DIM, "VALUE");
	x = put(canvas, area, x, columns.count, ROLE_DIM, "N");
	x = put(canvas, area, x, columns.share, ROLE_DIM, "SHARE");
	x = put(canvas, area, x, columns.mean, ROLE_DIM, "MEAN");
	put(canvas, area, x, columns.p50, ROLE_DIM, "P50");
	canvas_text(canvas, area.y, area.x + columns.strip_x, columns.strip, ROLE_DIM,
			"LATENCY, in steps that grow evenly");
}

/* "300ms ──────────── 3.00s", below the plot; to its left how many values had no room. */
static void draw_axis(const struct verdict *verdict, uint32_t left_out, struct canvas *canvas,
		struct area area)
{
	const struct explanation *explanation = verdict->finding->explanation;
	struct value_columns columns = place_value(verdict, area.width);
	char low[FORMAT_BYTES], high[FORMAT_BYTES], more[64];
	int x = area.x + columns.strip_x, end = x + columns.strip;

	if (left_out > 0) {
		snprintf(more, sizeof(more), "and %" PRIu32 " more", left_out);
		canvas_text(canvas, area.y, area.x + 2, columns.strip_x - 4, ROLE_DIM, more);
	}
	format_duration(low, (double)explanation->low_ns);
	format_duration(high, (double)explanation->high_ns);
	if (columns.strip < text_width(low, true) + text_width(high, true) + 4) {
		return;
	}
	x += canvas_text(canvas, area.y, x, columns.strip, ROLE_DIM, low) + 1;
	end -= text_width(high, true) + 1;
	canvas_fill(canvas, area.y, x, end - x, ROLE_AXIS, "─");
	canvas_text(canvas, area.y, end + 1, columns.strip, ROLE_DIM, high);
}

enum key_column { K_EFFECT, K_HELD, K_RHO, K_P, K_SOURCE, K_COUNT_OF };

static const struct {
	const char *title;
	struct layout_item item;
} key_columns[K_COUNT_OF] = {
		[K_EFFECT] = {"EFFECT", {.width = 6, .priority = 0}},
		[K_HELD] = {"HELD OUT", {.width = 8, .priority = 2}},
		[K_RHO] = {"RHO", {.width = 5, .priority = 4}},
		[K_P] = {"P <=", {.width = 7, .priority = 1}},
		[K_SOURCE] = {"IS A", {.width = 8, .priority = 3}},
};

static void key_cell(const struct explained_key *key, int column, char *text, size_t size)
{
	char p[FORMAT_BYTES];

	switch (column) {
	case K_EFFECT:
		format_share(text, key->omega2);
		break;
	case K_HELD:
		format_share(text, key->omega2_held);
		break;
	case K_RHO:
		snprintf(text, size, key->numeric ? "%.2f" : "-", key->rho);
		break;
	case K_P:
		explain_p(p, sizeof(p), key);
		snprintf(text, size, "%s", strrchr(p, ' ') + 1);
		break;
	default:
		snprintf(text, size, "%s", explain_source(key->source));
		break;
	}
}

/* A key, or (NULL) the header of all. */
static void draw_key(const struct explained_key *key, struct canvas *canvas, struct area area)
{
	struct layout_item items[K_COUNT_OF];
	char text[FORMAT_BYTES];
	int x, i, width;

	for (i = 0; i < K_COUNT_OF; i++) {
		items[i] = key_columns[i].item;
	}
	layout_fit(items, K_COUNT_OF, 2, area.width / 2);
	width = layout_width(items, K_COUNT_OF, 2);
	x = area.x + area.width - width;
	canvas_text(canvas, area.y, area.x, area.width - width - 2,
			!key             ? ROLE_DIM
			: key->confirmed ? ROLE_NEXT
					 : ROLE_TEXT,
			key ? key->name : "VARIABLE");
	for (i = 0; i < K_COUNT_OF; i++) {
		if (!items[i].kept) {
			continue;
		}
		if (key) {
			key_cell(key, i, text, sizeof(text));
		}
		canvas_text_right(canvas, area.y, x, items[i].width,
				!key                            ? ROLE_DIM
				: key->confirmed && i == K_HELD ? ROLE_GOOD
								: ROLE_TEXT,
				key ? text : key_columns[i].title);
		x += items[i].width + 2;
	}
}

static void draw_text(const struct verdict_line *line, struct canvas *canvas, struct area area)
{
	int keep = line->right[0] ? text_width(line->right, canvas->ascii) + 2 : 0;

	canvas_text(canvas, area.y, area.x + line->indent, area.width - line->indent - keep,
			line->role, line->text);
	if (keep) {
		canvas_text_right(canvas, area.y, area.x, area.width, ROLE_TEXT, line->right);
	}
}

static void draw(const struct verdict *verdict, uint32_t at, uint32_t left_out,
		struct canvas *canvas, struct area area)
{
	const struct verdict_line *line = &verdict->lines[at];
	const struct explanation *explanation = verdict->finding->explanation;

	switch (line->kind) {
	case VERDICT_TEXT:
		draw_text(line, canvas, area);
		break;
	case VERDICT_VALUES:
		draw_values_header(verdict, canvas, area);
		break;
	case VERDICT_VALUE:
		draw_value(verdict, &explanation->values[line->at], canvas, area);
		break;
	case VERDICT_AXIS:
		draw_axis(verdict, left_out, canvas, area);
		break;
	case VERDICT_KEYS:
		draw_key(NULL, canvas, area);
		break;
	case VERDICT_KEY:
		draw_key(&explanation->keys[line->at], canvas, area);
		break;
	}
}

void verdict_draw_line(const struct verdict *verdict, uint32_t line, struct canvas *canvas,
		struct area area)
{
	draw(verdict, line, 0, canvas, area);
}

/* The text goes on in a line that has no room. */
static void draw_cut(const struct verdict_line *line, struct canvas *canvas, struct area area)
{
	int dots = text_width("…", canvas->ascii), used = text_width(line->text, canvas->ascii);

	used = used < area.width - dots ? used : area.width - dots;
	canvas_text(canvas, area.y, area.x + used, dots, line->role, "…");
}

int verdict_draw(const struct verdict *verdict, struct canvas *canvas, struct area area)
{
	struct layout_item items[VERDICT_LINES];
	uint32_t i, left_out = 0;
	struct area line;
	int used = 0;

	for (i = 0; i < verdict->n; i++) {
		items[i] = (struct layout_item){.width = 1, .priority = verdict->lines[i].priority};
	}
	layout_fit(items, (int)verdict->n, 0, area.height);
	for (i = 0; i < verdict->n; i++) {
		if (!items[i].kept) {
			left_out += verdict->lines[i].kind == VERDICT_VALUE;
			continue;
		}
		line = layout_cut_rows(&area, 1);
		if (line.height > 0) {
			draw(verdict, i, left_out, canvas, line);
			used++;
		}
		if (verdict->lines[i].goes_on && i + 1 < verdict->n && !items[i + 1].kept) {
			draw_cut(&verdict->lines[i], canvas, line);
		}
	}
	return used;
}
