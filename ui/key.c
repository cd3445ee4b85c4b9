/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "key.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "pythiatop/text.h"
#include "text.h"

static const struct {
	const char *name;
	uint32_t key;
} named[] = {
		{"Space", K_SPACE},
		{"Enter", K_ENTER},
		{"Esc", K_ESC},
		{"Tab", K_TAB},
		{"BackTab", K_BACKTAB},
		{"Backspace", K_BACKSPACE},
		{"Delete", K_DELETE},
		{"Up", K_UP},
		{"Down", K_DOWN},
		{"Left", K_LEFT},
		{"Right", K_RIGHT},
		{"Home", K_HOME},
		{"End", K_END},
		{"PgUp", K_PAGE_UP},
		{"PgDn", K_PAGE_DOWN},
};

uint32_t key_parse(const char *name)
{
	uint32_t code;
	char shown[TEXT_ESCAPE_BYTES];
	long number;
	size_t i;
	char *end;

	for (i = 0; i < sizeof(named) / sizeof(named[0]); i++) {
		if (strcasecmp(name, named[i].name) == 0) {
			return named[i].key;
		}
	}
	if (strncasecmp(name, "Ctrl-", 5) == 0 && name[5] && !name[6]) {
		code = (unsigned char)name[5] | 0x20u;
		return code >= 'a' && code <= 'z' ? K_CTRL(code) : K_NONE;
	}
	if ((name[0] == 'F' || name[0] == 'f') && name[1] >= '1' && name[1] <= '9') {
		number = strtol(name + 1, &end, 10);
		return *end == '\0' && number <= 12 ? K_F1 + (uint32_t)number - 1 : K_NONE;
	}
	text_escape_next(&name, shown, &code);
	return *name == '\0' ? code : K_NONE;
}

char *key_text(uint32_t key, char out[KEY_NAME_BYTES])
{
	size_t i;

	for (i = 0; i < sizeof(named) / sizeof(named[0]); i++) {
		if (named[i].key == key) {
			snprintf(out, KEY_NAME_BYTES, "%s", named[i].name);
			return out;
		}
	}
	if (key >= K_F1 && key <= K_F12) {
		snprintf(out, KEY_NAME_BYTES, "F%u", (unsigned int)(key - K_F1 + 1));
	} else if (key < 0x20) {
		snprintf(out, KEY_NAME_BYTES, "Ctrl-%c", (char)(key + 0x40));
	} else {
		out[0] = '\0';
		if (key <= 0x10ffff) {
			text_encode(key, out);
		}
	}
	return out;
}
