/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PT_SOURCE_READER_CHOICE_H
#define PT_SOURCE_READER_CHOICE_H

#include <stdbool.h>
#include <string.h>

/* Who reads a source's packets. */
enum reader_choice {
	READER_CHOICE_AUTO = 0, /* what suits the source; the other one takes over where it can */
	READER_CHOICE_OWN,      /* packets.h */
	READER_CHOICE_LIBRARY,  /* libbabeltrace2 */
};

/* own, babeltrace2, auto. False: something else. */
static inline bool reader_choice_parse(const char *text, enum reader_choice *choice)
{
	static const char *const names[] = {"auto", "own", "babeltrace2"};

	for (unsigned int i = 0; i < sizeof(names) / sizeof(*names); i++) {
		if (strcmp(text, names[i]) == 0) {
			*choice = (enum reader_choice)i;
			return true;
		}
	}
	return false;
}

#endif
