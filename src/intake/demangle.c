/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "intake/demangle.h"

#include <ctype.h>
#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* Some 8 bytes can double what is told, so that a longer one could tell of gigabytes. */
#define MOST_MANGLED 160u

/* Of <cxxabi.h>. */
typedef char *(*demangler)(const char *mangled, char *out, size_t *room, int *status);

static pthread_once_t once = PTHREAD_ONCE_INIT;
static demangler by_library;

static void load(void)
{
	void *library = dlopen("libstdc++.so.6", RTLD_LAZY | RTLD_LOCAL);
	void *symbol = library ? dlsym(library, "__cxa_demangle") : NULL;

	/* ISO C has no conversion of one to the other. */
	_Static_assert(sizeof(symbol) == sizeof(by_library), "pointers of one size");
	memcpy(&by_library, &symbol, sizeof(by_library));
}

/* ---- Rust ---- */

#define HASH 19u /* "::h" and 16 digits */

/* The hash is cut off; false: there is none. */
static bool cut_hash(char *text)
{
	size_t length = strlen(text);
	const char *hash = text + length - HASH;

	if (length <= HASH || strncmp(hash, "::h", 3) != 0) {
		return false;
	}
	for (size_t i = 3; i < HASH; i++) {
		if (!isxdigit((unsigned char)hash[i])) {
			return false;
		}
	}
	text[length - HASH] = '\0';
	return true;
}

static const struct {
	const char *code, *text;
} escapes[] = {{"$LT$", "<"}, {"$GT$", ">"}, {"$LP$", "("}, {"$RP$", ")"}, {"$C$", ","},
		{"$RF$", "&"}, {"$BP$", "*"}, {"$SP$", "@"}, {"$u20$", " "}, {"$u27$", "'"},
		{"$u5b$", "["}, {"$u5d$", "]"}, {"$u7b$", "{"}, {"$u7d$", "}"}, {"$u3b$", ";"},
		{"$u2b$", "+"}, {"$u22$", "\""}, {"..", "::"}};

/* In place: no text is longer than its code. */
static void take_escapes_out(char *text)
{
	char *to = text;

	for (const char *from = text; *from;) {
		size_t i = 0, n = sizeof(escapes) / sizeof(escapes[0]);

		/* "_$" where a part would begin with an escape. */
		if (from[0] == '_' && from[1] == '$' && (from == text || from[-1] == ':')) {
			from++;
		}
		while (i < n && strncmp(from, escapes[i].code, strlen(escapes[i].code)) != 0) {
			i++;
		}
		if (i == n) {
			*to++ = *from++;
			continue;
		}
		from += strlen(escapes[i].code);
		memcpy(to, escapes[i].text, strlen(escapes[i].text));
		to += strlen(escapes[i].text);
	}
	*to = '\0';
}

/* ---- the whole ---- */

bool demangle(const char *name, char *out, size_t size)
{
	char *told = NULL;
	int status = 0;

	if (strncmp(name, "_Z", 2) == 0 && strnlen(name, MOST_MANGLED) < MOST_MANGLED &&
			pthread_once(&once, load) == 0 && by_library) {
		told = by_library(name, NULL, NULL, &status);
	}
	if (!told || strlen(told) >= size) {
		free(told);
		return false;
	}
	memcpy(out, told, strlen(told) + 1);
	free(told);
	if (cut_hash(out)) {
		take_escapes_out(out);
	}
	return true;
}
