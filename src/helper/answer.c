/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "helper/answer.h"

#include <stdio.h>

bool answer_send(json_t *line)
{
	bool sent = line && json_dumpf(line, stdout, JSON_COMPACT) == 0 &&
		    putc('\n', stdout) != EOF && fflush(stdout) == 0;

	json_decref(line);
	return sent;
}

bool answer_ok(json_int_t id, json_t *more)
{
	json_t *line = json_pack("{sI sb}", "id", id, "ok", 1);

	if (more) {
		json_object_update(line, more);
		json_decref(more);
	}
	return answer_send(line);
}

bool answer_error(json_int_t id, const char *error, const char *help)
{
	return answer_send(json_pack(
			"{sI sb ss ss}", "id", id, "ok", 0, "error", error, "help", help));
}
