/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Writes the manual page from the tables of options, keys and commands; with the word "probe" that
 * of pythiatop-probe. Runs while building.
 */
#include <stdio.h>
#include <string.h>

#include "options.h"
#include "probe/options.h"
#include "pythiatop/action.h"
#include "pythiatop/command.h"

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
		".br\n.B pythiatop\n[\\fIOPTION\\fR]... \\fB\\-p\\fR \\fIPID\\fR|\\fINAME\\fR\n"
		".br\n.B pythiatop\n[\\fIOPTION\\fR]... \\fB\\-\\-\\fR \\fICOMMAND\\fR "
		"[\\fIARGUMENT\\fR]...\n"
		".br\n.B pythiatop\n[\\fIOPTION\\fR]... \\fBcompare\\fR \\fIBEFORE AFTER\\fR...\n"
		".SH DESCRIPTION\n"
		"pythiatop attaches to live LTTng relay daemons, or reads recorded CTF traces, "
		"turns "
		"events into requests, groups requests that should perform alike, and shows where "
		"their performance varies: down to one request, its spans, and its original "
		"events.\n"
		".PP\nWith \\fB\\-p\\fR it watches a program that runs, as it is, and with "
		"\\fB\\-\\-\\fR one that it starts: a relay daemon of its own and "
		"pythiatop\\-probe run beside it, and end with it. That needs root, or the "
		"capabilities that pythiatop\\-probe(1) names.\n"
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
		".PP\nWithout any, the sessions of localhost's relay daemon are offered.\n"
		".PP\n\\fBcompare\\fR tells what is otherwise in \\fIAFTER\\fR, a SOURCE, than in "
		"\\fIBEFORE\\fR, a baseline or a directory of recordings: which place, of which "
		"service, adds how much: on a screen of its own, or without a terminal as a page.\n";

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

static const char probe_head[] =
		".SH NAME\npythiatop\\-probe \\- record kernel events without LTTng's modules\n"
		".SH SYNOPSIS\n.B pythiatop\\-probe\n\\fB\\-\\-relay\\fR=\\fIURL\\fR "
		"\\fB\\-\\-kernel\\fR "
		"[\\fIOPTION\\fR]...\n"
		".SH DESCRIPTION\n"
		"pythiatop\\-probe records kernel events by BPF, under LTTng's names and with its "
		"fields, and streams them to a relay daemon as a live session of this host, until "
		"it "
		"is ended by SIGINT or SIGTERM. Nothing of it stays.\n"
		".PP\nIt needs Linux 5.8 or later on x86_64 with BTF, and root or the capabilities "
		"cap_bpf and cap_perfmon; to dump the state at the beginning also cap_sys_ptrace "
		"and "
		"cap_dac_read_search.\n"
		".PP\nEvents that find no room in a CPU's ring buffer, or no relay daemon, are "
		"dropped "
		"and counted, and told as discarded events. A relay daemon that comes back gets a "
		"new "
		"session.\n";

static const char probe_tail[] =
		".SH EXIT STATUS\n0: done. 1: failed, with a word why. 2: wrong usage.\n"
		".SH SEE ALSO\n.BR pythiatop (1),\n.BR lttng\\-relayd (8),\n.BR babeltrace2 (1)\n";

static void put_probe(void)
{
	printf(".TH PYTHIATOP\\-PROBE 1 \"\" \"pythiatop %s\" \"User Commands\"\n%s", PT_VERSION,
			probe_head);
	puts(".SH OPTIONS");
#define X(id, letter, name, argument, help) put_option(letter, name, argument, help);
	PROBE_OPTIONS(X)
#undef X
	fputs(probe_tail, stdout);
}

static void put_console(void)
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
#define X(id, name, arguments, help) put_term(name, arguments, help);
	PYTHIATOP_COMMANDS(X)
#undef X
	fputs(tail, stdout);
}

int main(int argc, char **argv)
{
	if (argc == 2 && strcmp(argv[1], "probe") == 0) {
		put_probe();
	} else {
		put_console();
	}
	return ferror(stdout) || fflush(stdout) != 0;
}
