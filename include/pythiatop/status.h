/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PYTHIATOP_STATUS_H
#define PYTHIATOP_STATUS_H

/*
 * What a call came to. 0 is ok, > 0 is "not yet" or "no more" (no error), < 0 is an error.
 * The caller builds the message for the person: it knows what was asked of which thing.
 */
enum status {
	STATUS_OK = 0,
	STATUS_NOT_YET = 1, /* no answer so far; ask again later */
	STATUS_END = 2,     /* nothing more will come */
	STATUS_NO_MEMORY = -1,
	STATUS_INVALID = -2, /* the input breaks its format or its bounds */
	STATUS_NOT_FOUND = -3,
	STATUS_FULL = -4, /* a stated bound is reached */
	STATUS_IO = -5,   /* see errno */
	STATUS_TIMEOUT = -6,
	STATUS_PROTOCOL = -7, /* the peer does not speak what was expected */
	STATUS_BUSY = -8,     /* somebody else holds it */
};

#endif
