/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PT_SOURCE_FAULT_H
#define PT_SOURCE_FAULT_H

#include <stdbool.h>

#include <stddef.h>

#define FAULT_TEXT_MAX 768

/* What the library said went wrong, in one line, without its addresses. */
struct fault {
	char text[FAULT_TEXT_MAX];
	bool is_metadata; /* it is the metadata that the library could not read */
};

/* Takes the error of the current thread, if there is one; otherwise `otherwise` is the text. */
void fault_take(struct fault *fault, const char *otherwise);

#endif
