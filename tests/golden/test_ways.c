/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Where Esc leads to: from each screen, by each way that a person can have come there. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "support_cloud.h"
#include "support_console.h"

static const char *const keys[] = {"1", "2", "3", "4", "5", "6", "7", "8", "?", "c"};

#define N_KEYS ((int)(sizeof(keys) / sizeof(keys[0])))

static char letter_of(enum screen screen)
{
	return screen == SCREEN_COMPARE ? 'c' : screen == SCREEN_HELP ? '?' : (char)('0' + screen);
}

/* The screens seen after pressing the keys from the groups on, and then Esc until the top. */
static void walk(const char *first, const char *second, const char *third, char *seen)
{
	const char *const way[] = {first, second, third};
	struct cloud cloud = {0};
	struct bench bench = {.answer = cloud_snapshot, .context = &cloud};
	int n = 0, i;

	bench_open(&bench, 24, 80, false, false);
	bench_type(&bench, "");
	for (i = 0; i < 3; i++) {
		bench_type(&bench, way[i]);
	}
	seen[n++] = letter_of(bench.focus.screen);
	for (i = 0; i < 6; i++) {
		bench_type(&bench, "Esc");
		seen[n++] = letter_of(bench.focus.screen);
	}
	seen[n] = '\0';
	bench_close(&bench);
}

static void all_ways_back(void **state)
{
	char seen[16], path[512], line[64], expected[64];
	bool update = getenv("PT_GOLDEN_UPDATE") != NULL;
	FILE *file;
	int a, b, c;

	(void)state;
	snprintf(path, sizeof(path), "%s/tests/golden/ways.golden", PT_SOURCE_DIR);
	file = fopen(path, update ? "w" : "r");
	assert_non_null(file);
	for (a = 0; a < N_KEYS; a++) {
		for (b = 0; b < N_KEYS; b++) {
			for (c = 0; c < N_KEYS; c++) {
				walk(keys[a], keys[b], keys[c], seen);
				snprintf(line, sizeof(line), "%s%s%s %s\n", keys[a], keys[b],
						keys[c], seen);
				if (update) {
					fputs(line, file);
				} else {
					assert_non_null(fgets(expected, sizeof(expected), file));
					assert_string_equal(line, expected);
				}
			}
		}
	}
	fclose(file);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(all_ways_back)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
