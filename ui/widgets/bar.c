/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "widgets/bar.h"

#include <math.h>

static int clamp(int value, int low, int high)
{
	return value < low ? low : value > high ? high : value;
}

void bar_heat(struct canvas *canvas, int y, int x, int width, double heat)
{
	static const char *const glyphs[UI_HEAT_LEVELS] = {" ", "░", "▒", "▓", "█"};
	static const char *const ascii[] = {".", ":", "-", "=", "+", "*", "#", "%", "@"};
	static const int n_ascii = sizeof(ascii) / sizeof(ascii[0]);
	int level = heat <= 0 ? 0
			      : clamp((int)ceil(heat * (UI_HEAT_LEVELS - 1)), 1,
						UI_HEAT_LEVELS - 1);
	const char *glyph = glyphs[level];

	if (canvas->ascii && level > 0) {
		glyph = ascii[clamp((int)(heat * n_ascii), 0, n_ascii - 1)];
	}
	canvas_fill(canvas, y, x, width, (enum role)((int)ROLE_HEAT_0 + level), glyph);
}

void bar_share(struct canvas *canvas, int y, int x, int width, double share)
{
	static const double levels[] = {0, 0.03, 0.10, 0.30};
	int level = 0, length;

	if (!(share > 0)) {
		return;
	}
	while (level < 4 && share >= levels[level]) {
		level++;
	}
	length = clamp((int)ceil(share * width), 1, width);
	bar_heat(canvas, y, x, length, level / (double)(UI_HEAT_LEVELS - 1));
}

void bar_draw(struct canvas *canvas, int y, int x, int width, enum role role, double length)
{
	static const char *const parts[] = {"▏", "▎", "▍", "▌", "▋", "▊", "▉"};
	int eighths, whole;

	if (!(length > 0) || width <= 0) {
		return;
	}
	eighths = clamp((int)lround(fmin(length, 1) * width * 8), 1, width * 8);
	whole = eighths / 8;
	canvas_fill(canvas, y, x, whole, role, "█");
	if (eighths % 8 != 0) {
		canvas_fill(canvas, y, x + whole, 1, role, parts[eighths % 8 - 1]);
	}
}

static const char *const columns[] = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};

void bar_spark(struct canvas *canvas, int y, int x, int width, enum role role,
		const uint32_t *counts, int n)
{
	uint32_t most = 0;
	int i;

	for (i = 0; i < n; i++) {
		most = counts[i] > most ? counts[i] : most;
	}
	for (i = 0; i < n && i < width && most > 0; i++) {
		int level = (int)ceil(8.0 * counts[i] / most);

		canvas_fill(canvas, y, x + i, 1, role, level == 0 ? " " : columns[level - 1]);
	}
}

/* Counts of column i of `width`: the mean of those that it covers, so that height is density. */
static double density(const uint32_t *counts, int n, int width, int i)
{
	int from = i * n / width, to = (i + 1) * n / width;
	double sum = 0;

	to = to > from ? to : from + 1;
	for (int at = from; at < to; at++) {
		sum += counts[at];
	}
	return sum / (to - from);
}

void bar_strip(struct canvas *canvas, int y, int x, int width, const uint32_t *counts, int n)
{
	double most = 0;
	int i, level;

	for (i = 0; i < width; i++) {
		most = fmax(most, density(counts, n, width, i));
	}
	for (i = 0; i < width && most > 0; i++) {
		level = (int)ceil(8 * density(counts, n, width, i) / most);
		if (level > 0) {
			canvas_fill(canvas, y, x + i, 1,
					(enum role)((int)ROLE_HEAT_0 + (level + 1) / 2),
					columns[level - 1]);
		}
	}
}
