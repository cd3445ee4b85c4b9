/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "parser.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void parser_fail(struct parser *p, const char *what)
{
	if (!p->failed) {
		snprintf(p->error, p->error_room, "metadata line %u: %s", p->line, what);
	}
	p->failed = true;
	p->token = END;
}

static void skip_blank(struct parser *p)
{
	while (p->at < p->end) {
		if (*p->at == '\n') {
			p->line++;
			p->at++;
		} else if (isspace((unsigned char)*p->at)) {
			p->at++;
		} else if (p->end - p->at >= 2 && p->at[0] == '/' && p->at[1] == '/') {
			while (p->at < p->end && *p->at != '\n') {
				p->at++;
			}
		} else if (p->end - p->at >= 2 && p->at[0] == '/' && p->at[1] == '*') {
			p->at += 2;
			while (p->end - p->at >= 2 && !(p->at[0] == '*' && p->at[1] == '/')) {
				p->line += *p->at == '\n';
				p->at++;
			}
			p->at = p->end - p->at >= 2 ? p->at + 2 : p->end;
		} else {
			return;
		}
	}
}

static void read_number(struct parser *p)
{
	char digits[32], *rest;
	size_t n = 0;

	while (p->at < p->end && isalnum((unsigned char)*p->at) && n + 1 < sizeof(digits)) {
		digits[n++] = *p->at++;
	}
	digits[n] = '\0';
	p->number = strtoull(digits, &rest, 0);
	rest += strspn(rest, "uUlL");
	if (*rest) {
		parser_fail(p, "not a number");
	}
}

static void read_text(struct parser *p)
{
	p->start = ++p->at;
	while (p->at < p->end && *p->at != '"') {
		p->at += *p->at == '\\' && p->end - p->at >= 2 ? 2 : 1;
	}
	p->length = (size_t)(p->at - p->start);
	if (p->at >= p->end) {
		parser_fail(p, "a text without an end");
		return;
	}
	p->at++;
}

void parser_next(struct parser *p)
{
	static const char *const signs[] = {":=", "...", "->"};
	size_t i;

	if (p->failed) {
		return;
	}
	skip_blank(p);
	p->start = p->at;
	p->negative = false;
	if (p->at >= p->end) {
		p->token = END;
		return;
	}
	if (isalpha((unsigned char)*p->at) || *p->at == '_') {
		while (p->at < p->end && (isalnum((unsigned char)*p->at) || *p->at == '_')) {
			p->at++;
		}
		p->token = WORD;
	} else if (isdigit((unsigned char)*p->at) ||
			(*p->at == '-' && p->end - p->at >= 2 &&
					isdigit((unsigned char)p->at[1]))) {
		p->token = NUMBER;
		p->negative = *p->at == '-';
		p->at += p->negative;
		read_number(p);
		p->number = p->negative ? 0 - p->number : p->number;
	} else if (*p->at == '"') {
		p->token = TEXT;
		read_text(p);
		return;
	} else {
		p->token = SIGN;
		p->at++;
		for (i = 0; i < sizeof(signs) / sizeof(*signs); i++) {
			size_t n = strlen(signs[i]);

			if ((size_t)(p->end - p->start) >= n && !memcmp(p->start, signs[i], n)) {
				p->at = p->start + n;
			}
		}
	}
	p->length = (size_t)(p->at - p->start);
}

bool parser_is(const struct parser *p, const char *text)
{
	return !p->failed && (p->token == WORD || p->token == SIGN) && p->length == strlen(text) &&
	       !memcmp(p->start, text, p->length);
}

bool parser_accept(struct parser *p, const char *text)
{
	if (!parser_is(p, text)) {
		return false;
	}
	parser_next(p);
	return true;
}

void parser_expect(struct parser *p, const char *text)
{
	char what[64];

	if (!parser_accept(p, text)) {
		snprintf(what, sizeof(what), "'%s' expected", text);
		parser_fail(p, what);
	}
}

void *parser_alloc(struct parser *p, size_t size)
{
	void *memory = arena_alloc(&p->document->arena, size);

	if (!memory) {
		parser_fail(p, "out of memory");
	}
	return memory;
}

/* Of the token that is read next; without its escapes' backslashes. */
const char *parser_text(struct parser *p)
{
	char *text = p->failed ? NULL : arena_text_n(&p->document->arena, p->start, p->length);
	size_t from, to = 0;

	if (!text) {
		parser_fail(p, "out of memory");
		return "";
	}
	for (from = 0; p->token == TEXT && from < p->length; from++) {
		from += text[from] == '\\' && from + 1 < p->length;
		text[to++] = text[from];
	}
	if (p->token == TEXT) {
		text[to] = '\0';
	}
	parser_next(p);
	return text;
}

uint64_t parser_number(struct parser *p)
{
	uint64_t number = p->number;

	if (p->token != NUMBER) {
		parser_fail(p, "a number expected");
		return 0;
	}
	parser_next(p);
	return number;
}

void parser_add_piece(struct parser *p, char *path, const char *piece, size_t length)
{
	size_t have = strlen(path);

	if (have + length >= NAME_BYTES) {
		parser_fail(p, "a name is too long");
		return;
	}
	memcpy(path + have, piece, length);
	path[have + length] = '\0';
}

/* a.b.c, as is: of a field, or what is assigned to. */
void parser_path(struct parser *p, char path[NAME_BYTES])
{
	path[0] = '\0';
	do {
		if (p->token != WORD) {
			parser_fail(p, "a name expected");
			return;
		}
		parser_add_piece(p, path, p->start, p->length);
		parser_next(p);
		if (parser_is(p, ".") || parser_is(p, "->")) {
			parser_add_piece(p, path, ".", 1);
		}
	} while (parser_accept(p, ".") || parser_accept(p, "->"));
}

const char *parser_keep_path(struct parser *p)
{
	char path[NAME_BYTES];
	const char *kept;

	parser_path(p, path);
	kept = arena_text(&p->document->arena, path);
	if (!kept) {
		parser_fail(p, "out of memory");
	}
	return kept;
}
