/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "format.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <time.h>

/* Decimals that make three significant digits of a value between 1 and 1000. */
static int decimals3(double value)
{
	return value < 9.995 ? 2 : value < 99.95 ? 1 : 0;
}

struct unit {
	double factor;
	const char *name;
};

/* The largest unit that leaves at least 1, so that rounding never shows 1000 of a smaller one. */
static const struct unit *pick_unit(double duration_ns)
{
	static const struct unit units[] = {
			{86400e9, "d"},
			{3600e9, "h"},
			{1e9, "s"},
			{1e6, "ms"},
			{1e3, "us"},
			{1, "ns"},
	};
	static const double from_ns[] = {1000 * 3600e9, 1000e9, 0.9995e9, 0.9995e6, 0.9995e3, 0};
	unsigned int i = 0;

	while (duration_ns < from_ns[i]) {
		i++;
	}
	return &units[i];
}

char *format_duration(char out[FORMAT_BYTES], double duration_ns)
{
	const struct unit *unit;
	double value;

	if (!isfinite(duration_ns)) {
		snprintf(out, FORMAT_BYTES, "-");
		return out;
	}
	if (fabs(duration_ns) < 0.9995e3) {
		snprintf(out, FORMAT_BYTES, "%.0fns", duration_ns);
		return out;
	}
	unit = pick_unit(fabs(duration_ns));
	value = duration_ns / unit->factor;
	snprintf(out, FORMAT_BYTES, "%.*f%s", decimals3(fabs(value)), value, unit->name);
	return out;
}

char *format_period(char out[FORMAT_BYTES], double duration_ns)
{
	const struct unit *unit;

	if (!isfinite(duration_ns) || duration_ns < 0) {
		snprintf(out, FORMAT_BYTES, "-");
		return out;
	}
	unit = pick_unit(duration_ns);
	/* Years of days, without an exponent. */
	snprintf(out, FORMAT_BYTES, duration_ns / unit->factor < 999.5 ? "%.3g%s" : "%.0f%s",
			duration_ns / unit->factor, unit->name);
	return out;
}

char *format_count(char out[FORMAT_BYTES], uint64_t count)
{
	static const char suffixes[] = "kMGTPE";
	double value = (double)count;
	int i = -1;

	if (count < 10000) {
		snprintf(out, FORMAT_BYTES, "%" PRIu64, count);
		return out;
	}
	while (value >= 999.5 && suffixes[i + 1]) {
		value /= 1000;
		i++;
	}
	snprintf(out, FORMAT_BYTES, "%.*f%c", decimals3(value), value, suffixes[i]);
	return out;
}

char *format_bytes(char out[FORMAT_BYTES], uint64_t bytes)
{
	static const char suffixes[] = "kMGTPE";
	double value = (double)bytes;
	int i = -1;

	if (bytes < 1000) {
		snprintf(out, FORMAT_BYTES, "%" PRIu64 "B", bytes);
		return out;
	}
	while (value >= 999.5 && suffixes[i + 1]) {
		value /= 1000;
		i++;
	}
	snprintf(out, FORMAT_BYTES, "%.*f%cB", decimals3(value), value, suffixes[i]);
	return out;
}

char *format_rate(char out[FORMAT_BYTES], double per_s)
{
	static const char suffixes[] = "kMGTPE";
	int i = -1;

	if (!isfinite(per_s) || per_s < 0) {
		snprintf(out, FORMAT_BYTES, "-");
	} else if (per_s < 9.95) {
		snprintf(out, FORMAT_BYTES, per_s < 0.0005 ? "%.0f/s" : "%.2g/s", per_s);
	} else if (per_s < 999.5) {
		snprintf(out, FORMAT_BYTES, "%.0f/s", per_s);
	} else {
		while (per_s >= 999.5 && suffixes[i + 1]) {
			per_s /= 1000;
			i++;
		}
		snprintf(out, FORMAT_BYTES, "%.*f%c/s", per_s < 9.95 ? 1 : 0, per_s, suffixes[i]);
	}
	return out;
}

char *format_share(char out[FORMAT_BYTES], double share)
{
	if (!isfinite(share)) {
		snprintf(out, FORMAT_BYTES, "-");
	} else if (share > 0 && share < 0.005) {
		snprintf(out, FORMAT_BYTES, "<1%%");
	} else if (share < 0 && share > -0.005) {
		snprintf(out, FORMAT_BYTES, "0%%"); /* not "-0%" */
	} else {
		snprintf(out, FORMAT_BYTES, "%.0f%%", share * 100);
	}
	return out;
}

char *format_ratio(char out[FORMAT_BYTES], double ratio)
{
	if (!isfinite(ratio)) {
		snprintf(out, FORMAT_BYTES, "-");
	} else {
		snprintf(out, FORMAT_BYTES, "%.*f", decimals3(fabs(ratio)), ratio);
	}
	return out;
}

char *format_clock(char out[FORMAT_BYTES], uint64_t time_ns)
{
	time_t seconds = (time_t)(time_ns / 1000000000);
	struct tm tm;

	if (!localtime_r(&seconds, &tm)) {
		snprintf(out, FORMAT_BYTES, "-");
		return out;
	}
	snprintf(out, FORMAT_BYTES, "%02d:%02d:%02d.%03u", tm.tm_hour, tm.tm_min, tm.tm_sec,
			(unsigned int)(time_ns / 1000000 % 1000));
	return out;
}
