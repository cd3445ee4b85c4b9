/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "layout.h"

int layout_width(const struct layout_item *items, int n, int gap)
{
	int i, width = -gap;

	for (i = 0; i < n; i++) {
		if (items[i].kept) {
			width += items[i].width + gap;
		}
	}
	return width < 0 ? 0 : width;
}

int layout_fit(struct layout_item *items, int n, int gap, int room)
{
	int i, worst;

	for (i = 0; i < n; i++) {
		items[i].kept = true;
	}
	while (layout_width(items, n, gap) > room) {
		worst = -1;
		for (i = 0; i < n; i++) {
			if (items[i].kept && items[i].priority > 0 &&
					(worst < 0 || items[i].priority >= items[worst].priority)) {
				worst = i;
			}
		}
		if (worst < 0) {
			break;
		}
		items[worst].kept = false;
	}
	return room - layout_width(items, n, gap);
}

struct area layout_cut_rows(struct area *area, int height)
{
	struct area cut = *area;
	bool bottom = height < 0;

	height = bottom ? -height : height;
	height = height > area->height ? area->height : height;
	cut.height = height;
	area->height -= height;
	if (bottom) {
		cut.y += area->height;
	} else {
		area->y += height;
	}
	return cut;
}

struct area layout_cut_columns(struct area *area, int width)
{
	struct area cut = *area;
	bool right = width < 0;

	width = right ? -width : width;
	width = width > area->width ? area->width : width;
	cut.width = width;
	area->width -= width;
	if (right) {
		cut.x += area->width;
	} else {
		area->x += width;
	}
	return cut;
}
