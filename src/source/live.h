/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PT_SOURCE_LIVE_H
#define PT_SOURCE_LIVE_H

#include <stdint.h>

#include "intake/url.h"
#include "outlet.h"
#include "reader_choice.h"

/*
 * Reads one live session of a relay daemon until it ends.
 *
 * States: CONNECTING, ATTACHED once the session is ours, ACTIVE with the first event. When it
 * fails, BROKEN (trying again may help) or REFUSED (it cannot) with one sentence is the last
 * record, without RECORD_END; a session that was destroyed ends with RECORD_END.
 *
 * `live_timer_us` (0: not known) sets how often an idle session is asked for news.
 *
 * It is read by own.h unless `reader` is the library. What of a session own.h does not understand
 * the library reads, if `reader` leaves that open; the states say so. May block in the library for
 * as long as a relay daemon that is stopped; the console ends it then.
 * Returns the exit status of the process.
 */
int live_read(struct outlet *outlet, const char *url_text, const struct url *url,
		uint64_t live_timer_us, enum reader_choice reader);

#endif
