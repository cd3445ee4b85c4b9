/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <inttypes.h>

#include "output/formats.h"

/* Where the groups vary, for people: the segments that hold most of the variance of each. */
#define GROUPS   10
#define SEGMENTS 6
#define HOLDERS  4

static void write_segment(FILE *out, const struct group_segment *segment)
{
	char name[OUTPUT_CELL], where[OUTPUT_CELL], mean[OUTPUT_CELL], sd[OUTPUT_CELL];

	fprintf(out, "  %5.1f%% %5.1f%%..%5.1f%% %6.1f%%%s %8s %8s  ", segment->phi * 100,
			segment->phi_low * 100, segment->phi_high * 100, segment->tail_share * 100,
			segment->disagrees ? "!" : " ",
			output_duration(mean, true, segment->mean_ns),
			output_duration(sd, true, segment->sd_ns));
	fprintf(out, "%s ", output_fit(name, segment->name, 31));
	fprintf(out, "%s\n", output_safe(where, segment->where));
}

static void write_group(
		FILE *out, const struct groups_row *row, const struct group_location *location)
{
	char type[OUTPUT_CELL], path[OUTPUT_CELL];
	uint32_t i;

	fprintf(out, " %s  %s  of %" PRIu64 " requests%s\n", output_safe(type, row->type),
			output_safe(path, row->path), location->requests,
			location->common_cause ? ": a common cause, no segment stands out" : "");
	if (location->unlike) {
		fprintf(out,
				"  of a sample of %.3g %% whose standard deviation is %s, the "
				"group's %s\n",
				100 * location->sampled_share,
				output_duration(type, true, location->sample_sd_ns),
				output_duration(path, true, row->sd_ns));
	}
	for (i = 0; i < location->n_segments && i < SEGMENTS; i++) {
		write_segment(out, &location->segments[i]);
	}
}

static void write_wait(FILE *out, const struct group_waits *all, const struct group_wait *wait)
{
	char name[OUTPUT_CELL], of[OUTPUT_CELL], mean[OUTPUT_CELL];

	fprintf(out, "  %s %s: %" PRIu32 " waits of %s on average in %" PRIu32 " requests%s\n",
			output_safe(name, wait->name), output_safe(of, wait->what), wait->waits,
			output_duration(mean, true, wait->mean_ns), all->requests,
			wait->evidence == WAIT_INFERRED ? ", inferred" : "");
	if (wait->evidence == WAIT_INFERRED) {
		fprintf(out,
				"    %s of another thread ends just before %.0f%% of them (%.0f%%.."
				"%.0f%%; by chance %.1f%%)\n",
				output_safe(name, wait->ends_with), 100 * wait->fits,
				100 * wait->fits_low, 100 * wait->fits_high, 100 * wait->chance);
	}
	for (uint32_t i = 0; i < wait->n && i < HOLDERS; i++) {
		const struct group_holder *holder = &wait->holders[i];
		bool ran = wait->evidence == WAIT_RAN;
		bool spanless = !holder->name[0] && !holder->interrupt;
		char words[OUTPUT_CELL];

		group_holder_text(words, sizeof(words), holder, ran);
		output_safe(name, words);
		if (ran || (wait->evidence == WAIT_QUEUED && name[0])) {
			fprintf(out, "    %5.1f%% %s%s: %.0f%% of how they vary\n",
					100 * holder->share, name,
					ran ? " had the processor" : " is what its thread did",
					100 * holder->of_variation);
		} else {
			fprintf(out, "    %5.1f%% for %s%s%s%s\n", 100 * holder->share,
					spanless ? "no recorded span" : "",
					spanless && name[0] ? " of " : "", name,
					holder->same_place ? ", which had it" : "");
		}
	}
}

static void write_waits(FILE *out, const struct groups_row *row, const struct group_waits *all)
{
	char type[OUTPUT_CELL], path[OUTPUT_CELL];

	fprintf(out, " %s  %s\n", output_safe(type, row->type), output_safe(path, row->path));
	for (uint32_t i = 0; i < all->n; i++) {
		write_wait(out, all, &all->items[i]);
	}
}

void output_text_waits(FILE *out, const struct groups_view *groups)
{
	uint32_t n = 0;

	for (uint32_t i = 0; groups->waits && i < groups->n; i++) {
		if (groups->waits[i].n == 0) {
			continue;
		}
		if (n++ == 0) {
			fprintf(out, "\nWHO WAS WAITED FOR: SHARE OF THE TIME OF THE WAITS\n");
		}
		write_waits(out, &groups->rows[i], &groups->waits[i]);
	}
}

void output_text_location(FILE *out, const struct groups_view *groups)
{
	uint32_t i, n = 0;

	for (i = 0; groups->locations && i < groups->n && n < GROUPS; i++) {
		if (!groups->locations[i].located) {
			continue;
		}
		if (n++ == 0) {
			fprintf(out,
					"\nWHERE IT VARIES: %s, 90 %% INTERVAL, OF THE TAIL, MEAN, "
					"SD\n",
					"SHARE OF THE VARIANCE");
		}
		write_group(out, &groups->rows[i], &groups->locations[i]);
	}
}
