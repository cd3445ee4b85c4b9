/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/text_add.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void text_add(char *out, size_t size, const char *format, ...)
{
	size_t used = strlen(out);
	va_list args;

	va_start(args, format);
	vsnprintf(out + used, size - used, format, args);
	va_end(args);
}

void text_add_duration(char *out, size_t size, double ns)
{
	static const struct {
		double ns;
		const char *unit;
	} units[] = {{1e9, "s"}, {1e6, "ms"}, {1e3, "us"}, {1, "ns"}};
	size_t i = 0;

	while (i < 3 && fabs(ns) < 0.9995 * units[i].ns) {
		i++;
	}
	text_add(out, size, "%.3g%s", ns / units[i].ns, units[i].unit);
}

void text_add_clock(char *out, size_t size, uint64_t ns)
{
	uint32_t second = (uint32_t)(ns / 1000000000u % 86400);

	text_add(out, size, "%02u:%02u:%02u", second / 3600, second / 60 % 60, second % 60);
}
