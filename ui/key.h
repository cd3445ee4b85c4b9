/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef UI_KEY_H
#define UI_KEY_H

#include <stddef.h>
#include <stdint.h>

/*
 * Keys, whatever library reads them. A key that writes a character is its code point; Ctrl-A is 1,
 * and so on. Others follow beyond the last code point.
 */
enum {
	K_NONE = 0,
	K_TAB = 9,
	K_ENTER = 13,
	K_ESC = 27,
	K_SPACE = 32,
	K_BACKSPACE = 127,
	K_UP = 0x110000,
	K_DOWN,
	K_LEFT,
	K_RIGHT,
	K_HOME,
	K_END,
	K_PAGE_UP,
	K_PAGE_DOWN,
	K_DELETE,
	K_BACKTAB,
	K_F1,
	K_F12 = K_F1 + 11,
};

#define K_CTRL(letter) ((letter)&0x1f)
#define KEY_NAME_BYTES 16

/* A key by its name ("p", "PgUp", "Ctrl-L"), or K_NONE. */
uint32_t key_parse(const char *name);

/* The name of a key, as key_parse() reads it. */
char *key_text(uint32_t key, char out[KEY_NAME_BYTES]);

#endif
