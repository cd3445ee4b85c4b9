/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Writes the manual page from the tables of options, keys and commands. Runs while building. */
#include <stdio.h>

#include "options.h"
#include "pythiatop/action.h"

/* Text for roff: backslashes, hyphens, and dots or quotes that begin a line. */
static void put(const char *text)
{
	if (*text == '.' || *text == '\'') {
		fputs("\\&", stdout);
	}
	for (; *text; text++) {
		if (*text == '\\') {
			fputs("\\e", stdout);
		} else if (*text == '-') {
			fputs("\\-", stdout);
		} else {
			putchar(*text);
		}
	}
}

static void put_option(char letter, const char *name, const char *argument, const char *help)
{
	fputs(".TP\n", stdout);
	if (letter) {
		printf("\\fB\\-%c\\fR, ", letter);
	}
	fputs("\\fB\\-\\-", stdout);
	put(name);
	fputs("\\fR", stdout);
	if (argument) {
		printf("=\\fI%s\\fR", argument);
	}
	putchar('\n');
	put(help);
	putchar('\n');
}

static void put_term(const char *term, const char *argument, const char *help)
{
	fputs(".TP\n\\fB", stdout);
	put(term);
	fputs("\\fR", stdout);
	if (*argument) {
		fputs(" \\fI", stdout);
		put(argument);
		fputs("\\fR", stdout);
	}
	putchar('\n');
	put(help);
	putchar('\n');
}

static void put_key(const char *keys, const char *name, const char *help)
{
	put_term(keys, "", help);
	fputs("(\\fB", stdout);
	put(name);
	fputs("\\fR)\n", stdout);
}

static const char head[] =
		".SH NAME\npythiatop \\- find out why some requests of a distributed system are "
		"slow\n"
		".SH SYNOPSIS\n.B pythiatop\n[\\fIOPTION\\fR]... [\\fISOURCE\\fR]...\n"
		".SH DESCRIPTION\n"
		"pythiatop attaches to live LTTng relay daemons, or reads recorded CTF traces, "
		"turns "
		"events into requests, groups requests that should perform alike, and shows where "
		"their performance varies: down to one request, its spans, and its original "
		"events.\n"
		".PP\nA \\fISOURCE\\fR is one of\n"
		".TP\n\\fIHOST\\fR, \\fBnet://\\fIHOST\\fR[\\fB:\\fIPORT\\fR]\n"
		"all sessions of the relay daemon there, including those that appear later (port "
		"5344 "
		"unless given)\n"
		".TP\n\\fBnet://\\fIHOST\\fR[\\fB:\\fIPORT\\fR]\\fB/host/\\fITRACED\\fB/"
		"\\fISESSION\\fR\n"
		"one session\n"
		".TP\n\\fIDIRECTORY\\fR\na recorded CTF 1.8 trace, or a directory with such traces "
		"below it\n"
		".PP\nWithout any, the sessions of localhost's relay daemon are offered.\n";

static const char tail[] =
		".SH FILES\n"
		".TP\n\\fI~/.config/pythiatop/pythiatop.conf\\fR\n"
		"\\fIname\\fB = \\fIvalue\\fR lines: options that take an argument, and keys "
		"(\\fBkey.freeze = p F5\\fR). The directory is $XDG_CONFIG_HOME's if that is set.\n"
		".TP\n\\fI~/.config/pythiatop/themes/\\fR, \\fI~/.config/pythiatop/schemas/\\fR\n"
		"your own themes and schemas, found by name before the installed ones\n"
		".SH ENVIRONMENT\n"
		".TP\n.B NO_COLOR\nif set and not empty: no colours\n"
		".TP\n.B LANG, LC_ALL, LC_CTYPE\nif not UTF\\-8: ASCII only\n"
		".SH EXIT STATUS\n0: done. 1: failed, with a word why. 2: wrong usage. 128 + n: "
		"ended "
		"by signal n.\n"
		".SH SEE ALSO\n.BR lttng (1),\n.BR lttng-relayd (8),\n.BR babeltrace2 (1)\n";

int main(void)
{
	printf(".TH PYTHIATOP 1 \"\" \"pythiatop %s\" \"User Commands\"\n%s", PT_VERSION, head);
	puts(".SH OPTIONS");
#define X(id, letter, name, argument, help) put_option(letter, name, argument, help);
	OPTIONS(X)
#undef X
	puts(".SH KEYS\nCan all be changed in the configuration file.");
#define X(id, name, section, keys, label, help) put_key(keys, name, help);
	PYTHIATOP_ACTIONS(X)
#undef X
	puts(".SH COMMANDS\nTyped after a colon.");
#define X(name, arguments, help) put_term(name, arguments, help);
	PYTHIATOP_COMMANDS(X)
#undef X
	fputs(tail, stdout);
	return ferror(stdout) || fflush(stdout) != 0;
}
