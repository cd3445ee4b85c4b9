/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "fault.h"

#include <babeltrace2/babeltrace.h>
#include <stdio.h>

void fault_take(struct fault *fault, const char *otherwise)
{
	const bt_error *error = bt_current_thread_take_error();

	snprintf(fault->text, sizeof(fault->text), "%s", otherwise);
	if (!error) {
		return;
	}
	if (bt_error_get_cause_count(error) > 0) {
		/* The first cause is the innermost one: what really happened. */
		const bt_error_cause *cause = bt_error_borrow_cause_by_index(error, 0);

		snprintf(fault->text, sizeof(fault->text), "%s", bt_error_cause_get_message(cause));
	}
	bt_error_release(error);
}
