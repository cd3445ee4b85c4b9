/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PT_CTF_PARSER_H
#define PT_CTF_PARSER_H

#include "base/arena.h"
#include "tsdl.h"

/* Reading TSDL token by token. After a failure there are no more: the token is END. */

#define NAME_BYTES 256 /* of a name or path, with its 0 */

enum token { END, WORD, NUMBER, TEXT, SIGN };

struct alias {
	char name[NAME_BYTES];
	struct ctf_type *type;
};

struct document { /* what tsdl_release() and tsdl_append() find again */
	struct ctf_metadata metadata;
	struct arena arena;
	size_t bytes; /* of text so far */
	bool has_preamble;
	uint32_t lines;
	struct alias *aliases; /* of the outermost block */
	uint32_t n_aliases, aliases_room;
	struct ctf_event_class **last_event;
	struct ctf_stream_class **last_stream;
	struct ctf_clock **last_clock;
	struct ctf_variable **last_variable;
};

struct parser {
	const char *at, *end;
	uint32_t line, depth;
	enum token token;
	const char *start; /* of the token */
	size_t length;
	uint64_t number;
	bool negative;
	struct alias *aliases; /* of the blocks around; the innermost last */
	uint32_t n_aliases, aliases_room;
	struct document *document;
	char *error;
	size_t error_room;
	bool failed;
};

void parser_fail(struct parser *p, const char *what);
void parser_next(struct parser *p);
bool parser_is(const struct parser *p, const char *text);
bool parser_accept(struct parser *p, const char *text);
void parser_expect(struct parser *p, const char *text);
void *parser_alloc(struct parser *p, size_t size);
const char *parser_text(struct parser *p);
uint64_t parser_number(struct parser *p);
void parser_add_piece(struct parser *p, char *path, const char *piece, size_t length);
void parser_path(struct parser *p, char path[NAME_BYTES]);
const char *parser_keep_path(struct parser *p);

#endif
