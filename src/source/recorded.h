/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PT_SOURCE_RECORDED_H
#define PT_SOURCE_RECORDED_H

#include "outlet.h"
#include "reader_choice.h"

/*
 * Reads one recorded CTF trace directory to its end, as fast as the console takes it.
 *
 * States: ACTIVE while reading, ENDED and RECORD_END after it. REFUSED with a sentence, as the last
 * record, if the directory is no trace that can be read, or if some of it could not be: what could
 * be read has been sent by then. Returns the exit status of the process.
 *
 * tell_progress: tells on the way how far it is. To find out, the library has to open the trace a
 * second time.
 *
 * READER_CHOICE_OWN reads without libbabeltrace2, and does not tell on the way how far it is.
 * READER_CHOICE_AUTO is the library where it knows the format of the trace, else that.
 */
int recorded_read(struct outlet *outlet, const char *directory, bool tell_progress,
		enum reader_choice reader);

#endif
