/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "library.h"

#include "work.h"

#define TURN_NS 1000000

void library_convert(uint64_t ns)
{
	uint64_t start_ns = clock_ns();

	for (uint64_t spent_ns = 0; spent_ns < ns; spent_ns = clock_ns() - start_ns) {
		uint64_t left_ns = ns - spent_ns;

		work_cpu(100);
		sleep_ns(left_ns < TURN_NS ? left_ns / 2 : TURN_NS * 9 / 10);
		if (left_ns < TURN_NS) {
			break;
		}
	}
}
