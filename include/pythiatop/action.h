/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PYTHIATOP_ACTION_H
#define PYTHIATOP_ACTION_H

/*
 * Everything a key can do, in the ONE table that the key map, the help screen, the key bar, the man
 * page and the shell completion are made from.
 *
 * X(ID, name, section, default keys, label in the key bar or "", help)
 *
 * `name` is what a person writes to rebind it (`key.freeze = p F5`). Keys are separated by blanks:
 * a printable character, or Space Enter Esc Tab BackTab Backspace Delete Up Down Left Right Home
 * End PgUp PgDn F1..F12 Ctrl-A..Ctrl-Z.
 */
#define PYTHIATOP_ACTIONS(X)                                                                       \
	X(GROUPS, "groups", SCREENS, "1", "groups", "request groups, the most varying first")      \
	X(GROUP, "group", SCREENS, "2", "group", "one group: latency over time, its requests")     \
	X(TREE, "tree", SCREENS, "3", "tree", "calling contexts: where the time varies")           \
	X(REQUEST, "request", SCREENS, "4", "request", "one request: its spans and events")        \
	X(STEPS, "steps", SCREENS, "5", "steps", "verdicts; steps proposed and done, undo; hosts") \
	X(STATE, "state", SCREENS, "6", "state", "the systems: CPU, I/O, processes, calls, disks") \
	X(SOURCES, "sources", SCREENS, "7", "sources", "sources, streams, unmatched events")       \
	X(CHANGES, "changes", SCREENS, "8", "changes", "what has changed since the baseline")      \
	X(SHAPES, "shapes", SCREENS, "b", "shapes",                                               \
			"behaviour: shapes of requests of this type, and those unlike them")       \
	X(HELP, "help", SCREENS, "? F1", "help", "this help")                                      \
	X(PANE, "pane", SCREENS, "Tab", "", "next pane of the screen")                             \
	X(PANE_BACK, "pane-back", SCREENS, "BackTab", "", "previous pane")                         \
	X(ENTER, "enter", SCREENS, "Enter", "", "go into what is selected")                        \
	X(BACK, "back", SCREENS, "Esc Backspace", "", "go back out")                               \
	X(THREAD, "thread", SCREENS, "o", "original",                                              \
			"the thread of this span at its start; a context's original events")       \
	X(ALL, "all", SCREENS, "A", "all", "tree: of this group, or of all groups together")       \
	X(TAG, "tag", SCREENS, "Space", "tag", "tag this request, to compare others with it")      \
	X(COMPARE, "compare", SCREENS, "c", "compare",                                             \
			"compare with the tagged request, else the group's median one")            \
	X(WORST, "worst", SCREENS, "w", "worst", "the worst here: group, cell, child, span, ...")  \
	X(UP, "up", MOVE, "k Up", "", "up")                                                        \
	X(DOWN, "down", MOVE, "j Down", "", "down")                                                \
	X(LEFT, "left", MOVE, "h Left", "", "left; fold what lies below")                          \
	X(RIGHT, "right", MOVE, "l Right", "", "right; unfold")                                    \
	X(PAGE_UP, "page-up", MOVE, "PgUp Ctrl-B", "", "a page up")                                \
	X(PAGE_DOWN, "page-down", MOVE, "PgDn Ctrl-F", "", "a page down")                          \
	X(FIRST, "first", MOVE, "g Home", "", "the first line")                                    \
	X(LAST, "last", MOVE, "G End", "", "the last line")                                        \
	X(SEARCH, "search", FIND, "/", "search", "search with a regular expression")               \
	X(NEXT, "next", FIND, "n F3", "", "next match")                                            \
	X(PREVIOUS, "previous", FIND, "N", "", "previous match")                                   \
	X(FILTER, "filter", FIND, "f F4", "filter", "show only what matches; a leading ! negates") \
	X(SORT, "sort", FIND, "s F6", "sort", "sort by the next column")                           \
	X(REVERSE, "reverse", FIND, "S", "", "reverse the order")                                  \
	X(METRIC, "metric", FIND, "v", "metric", "order groups by: variance, cov, modes")          \
	X(FOREST, "forest", FIND, "T", "forest",                                                   \
			"state: threads as a tree of processes, or by use")                        \
	X(FREEZE, "freeze", TIME, "p", "freeze", "freeze the picture, or let it go on")            \
	X(EARLIER, "earlier", TIME, ",", "", "one second back")                                    \
	X(LATER, "later", TIME, ".", "", "one second forth")                                       \
	X(HORIZON, "horizon", TIME, "t", "horizon", "statistics of: 10s, epoch, all")              \
	X(APPROVE, "approve", STEPS, "a", "approve",                                               \
			"approve the step that is proposed, after showing what it does")           \
	X(REJECT, "reject", STEPS, "r", "reject", "reject the step that is proposed")              \
	X(EDIT, "edit", STEPS, "e", "edit", "choose points of the step: leave out, take back")     \
	X(UNDO, "undo", STEPS, "u", "undo", "undo this step, or the newest in force")              \
	X(ENABLE, "enable", STEPS, "+", "", "tree: propose to enable this point")                  \
	X(DISABLE, "disable", STEPS, "-", "", "tree: propose to disable this point")               \
	X(MODE, "mode", STEPS, "m", "mode", "what may be done: observe, approve, autopilot")       \
	X(UNDO_ALL, "undo-all", STEPS, "X", "undo all", "undo everything now, back to observe")    \
	X(COMMAND, "command", PROGRAM, ":", "", "command line (Tab completes, Up recalls)")        \
	X(REDRAW, "redraw", PROGRAM, "Ctrl-L", "", "draw the screen afresh")                       \
	X(SUSPEND, "suspend", PROGRAM, "Ctrl-Z", "", "stop the program until `fg`")                \
	X(QUIT, "quit", PROGRAM, "q F10 Ctrl-C", "quit", "quit")

/* Headings the help is divided by, in this order. */
#define PYTHIATOP_ACTION_SECTIONS(X)                                                               \
	X(SCREENS, "screens")                                                                      \
	X(MOVE, "moving")                                                                          \
	X(FIND, "finding")                                                                         \
	X(TIME, "time")                                                                            \
	X(STEPS, "steps")                                                                          \
	X(PROGRAM, "program")

enum action {
#define X(id, name, section, keys, label, help) ACTION_##id,
	PYTHIATOP_ACTIONS(X)
#undef X
			ACTION_COUNT,
	ACTION_NONE = ACTION_COUNT,
};

enum action_section {
#define X(id, title) ACTION_SECTION_##id,
	PYTHIATOP_ACTION_SECTIONS(X)
#undef X
			ACTION_SECTION_COUNT,
};

#endif
