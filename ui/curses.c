/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <curses.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <term.h>
#undef columns /* a macro of <term.h> */
#include <termios.h>
#include <unistd.h>
#include <wchar.h>

#include "key.h"
#include "terminal.h"

/*
 * The one file that knows a terminal. Its state is global because the terminal is, and because a
 * signal handler has no other way to it.
 */

#define N_DEADLY ((int)(sizeof(deadly) / sizeof(deadly[0])))
#define N_CRASH  ((int)(sizeof(crash) / sizeof(crash[0])))

static const int deadly[] = {SIGTERM, SIGHUP, SIGINT};
static const int crash[] = {SIGSEGV, SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGQUIT};

static struct {
	SCREEN *screen;
	int pipe[2];
	volatile sig_atomic_t died; /* the deadly signal */
	volatile sig_atomic_t ours; /* the terminal is in our mode: a crash must restore it */
	struct termios saved;
	char restore[256]; /* what to write after a crash */
	size_t restore_length;
	struct sigaction old_deadly[sizeof(deadly) / sizeof(deadly[0])];
	struct sigaction old_crash[sizeof(crash) / sizeof(crash[0])];
	struct sigaction old_winch;
	void *alternate; /* stack for the handlers, where the thread's own is exhausted */
	attr_t styles[ROLE_COUNT];
} terminal;

static void on_signal(int signal)
{
	int error = errno;
	char byte = (char)signal;

	if (signal != SIGWINCH) {
		terminal.died = signal;
	}
	/* A full pipe wakes the loop as well. */
	if (write(terminal.pipe[1], &byte, 1) < 0) {
		errno = error;
	}
	errno = error;
}

/* Async-signal-safe: write(), tcsetattr(), sigaction(), raise(). */
static void on_crash(int signal, siginfo_t *info, void *context)
{
	int i;

	(void)context;
	if (terminal.ours) {
		terminal.ours = 0;
		if (write(STDOUT_FILENO, terminal.restore, terminal.restore_length) < 0) {
			/* Nothing is left to be done about it. */
		}
		tcsetattr(STDIN_FILENO, TCSANOW, &terminal.saved);
	}
	for (i = 0; i < N_CRASH; i++) {
		if (crash[i] == signal) {
			sigaction(signal, &terminal.old_crash[i], NULL);
		}
	}
	/* What the kernel raised comes again by itself, with its cause; what was sent must be
	 * resent. */
	if (info->si_code <= 0 || signal == SIGQUIT) {
		raise(signal);
	}
}

/* Appends a capability without its padding. */
static void add_capability(const char *name)
{
	const char *text = tigetstr(name);
	size_t used = terminal.restore_length;

	if (!text || text == (const char *)-1) {
		return;
	}
	while (*text && used + 1 < sizeof(terminal.restore)) {
		if (text[0] == '$' && text[1] == '<' && strchr(text, '>')) {
			text = strchr(text, '>') + 1;
			continue;
		}
		terminal.restore[used++] = *text++;
	}
	terminal.restore_length = used;
}

static void prepare_restore(void)
{
	static const char *const names[] = {"sgr0", "op", "rmkx", "cnorm", "rmcup"};
	size_t i;

	terminal.restore_length = 0;
	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		add_capability(names[i]);
	}
}

static void install_handlers(void)
{
	/* Restarted are the calls of other threads; poll() never is. */
	struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESTART};
	struct sigaction crash_action = {
			.sa_sigaction = on_crash, .sa_flags = SA_SIGINFO | SA_ONSTACK};
	stack_t stack = {.ss_size = 4 * (size_t)SIGSTKSZ};
	int i;

	sigemptyset(&action.sa_mask);
	sigemptyset(&crash_action.sa_mask);
	terminal.alternate = malloc(stack.ss_size);
	if (terminal.alternate) {
		stack.ss_sp = terminal.alternate;
		sigaltstack(&stack, NULL);
	}
	for (i = 0; i < N_DEADLY; i++) {
		sigaction(deadly[i], &action, &terminal.old_deadly[i]);
	}
	for (i = 0; i < N_CRASH; i++) {
		sigaction(crash[i], &crash_action, &terminal.old_crash[i]);
	}
	sigaction(SIGWINCH, &action, &terminal.old_winch);
}

static void remove_handlers(void)
{
	stack_t none = {.ss_flags = SS_DISABLE};
	int i;

	for (i = 0; i < N_DEADLY; i++) {
		sigaction(deadly[i], &terminal.old_deadly[i], NULL);
	}
	for (i = 0; i < N_CRASH; i++) {
		sigaction(crash[i], &terminal.old_crash[i], NULL);
	}
	sigaction(SIGWINCH, &terminal.old_winch, NULL);
	if (terminal.alternate) {
		sigaltstack(&none, NULL);
		free(terminal.alternate);
		terminal.alternate = NULL;
	}
}

/* Keys come as they are typed, Ctrl-C and Ctrl-Z too. */
static void set_modes(void)
{
	raw();
	noecho();
	nonl();
	keypad(stdscr, TRUE);
	nodelay(stdscr, TRUE);
	curs_set(0);
	leaveok(stdscr, TRUE);
	scrollok(stdscr, FALSE);
}

enum status terminal_open(void)
{
	memset(&terminal, 0, sizeof(terminal));
	if (tcgetattr(STDIN_FILENO, &terminal.saved) < 0 ||
			pipe2(terminal.pipe, O_NONBLOCK | O_CLOEXEC) < 0) {
		return STATUS_IO;
	}
	set_escdelay(25);
	terminal.screen = newterm(NULL, stdout, stdin);
	if (!terminal.screen) {
		close(terminal.pipe[0]);
		close(terminal.pipe[1]);
		return STATUS_NOT_FOUND;
	}
	set_term(terminal.screen);
	prepare_restore();
	install_handlers();
	terminal.ours = 1;
	set_modes();
	if (has_colors()) {
		start_color();
		use_default_colors();
	}
	return STATUS_OK;
}

void terminal_close(void)
{
	endwin();
	terminal.ours = 0;
	remove_handlers();
	delscreen(terminal.screen);
	close(terminal.pipe[0]);
	close(terminal.pipe[1]);
}

int terminal_signal_fd(void)
{
	return terminal.pipe[0];
}

int terminal_signal(bool *resized)
{
	struct winsize size;
	char bytes[64];
	ssize_t n, i;

	while ((n = read(terminal.pipe[0], bytes, sizeof(bytes))) > 0) {
		for (i = 0; i < n; i++) {
			*resized |= bytes[i] == SIGWINCH;
		}
	}
	if (*resized && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_row > 0 &&
			size.ws_col > 0) {
		resize_term(size.ws_row, size.ws_col);
	}
	return terminal.died;
}

void terminal_size(int *rows, int *columns)
{
	getmaxyx(stdscr, *rows, *columns);
}

static attr_t to_attributes(uint8_t style)
{
	attr_t attributes = A_NORMAL;

	attributes |= style & STYLE_BOLD ? A_BOLD : 0;
	attributes |= style & STYLE_DIM ? A_DIM : 0;
	attributes |= style & STYLE_UNDERLINE ? A_UNDERLINE : 0;
	attributes |= style & STYLE_REVERSE ? A_REVERSE : 0;
	return attributes;
}

/* The colour pair of a role is its number + 1; 0 is the terminal's own. */
static short pair_of(enum role role)
{
	return (short)(role + 1);
}

void terminal_theme(const struct theme *theme, bool no_color)
{
	int colors = has_colors() && !no_color && COLOR_PAIRS > ROLE_COUNT ? COLORS : 0;
	struct theme_cell_style style;
	int i;

	for (i = 0; i < ROLE_COUNT; i++) {
		style = theme_cell_style(theme, (enum role)i, colors);
		terminal.styles[i] = to_attributes(style.attributes);
		if (has_colors()) {
			init_pair(pair_of((enum role)i), style.fg, style.bg);
		}
	}
}

static void paint_cell(int y, int x, const struct canvas_cell *cell)
{
	wchar_t text[CCHARW_MAX + 1];
	const char *glyph = cell->glyph;
	mbstate_t state;
	cchar_t out;
	size_t n;

	memset(&state, 0, sizeof(state));
	n = mbsrtowcs(text, &glyph, CCHARW_MAX, &state);
	if (n == (size_t)-1) {
		wcscpy(text, L"?");
		n = 1;
	}
	text[n] = L'\0';
	setcchar(&out, text, terminal.styles[cell->role],
			has_colors() ? pair_of((enum role)cell->role) : 0, NULL);
	mvadd_wch(y, x, &out);
}

void terminal_paint(const struct canvas *canvas, bool afresh)
{
	const struct canvas_cell *cell;
	int y, x;

	if (afresh) {
		clearok(curscr, TRUE);
	}
	erase();
	for (y = 0; y < canvas->rows; y++) {
		for (x = 0; x < canvas->columns; x++) {
			cell = canvas_at(canvas, y, x);
			if (cell->width > 0) {
				paint_cell(y, x, cell);
			}
		}
	}
	refresh();
}

static uint32_t function_key(wint_t code)
{
	static const struct {
		wint_t code;
		uint32_t key;
	} keys[] = {
			{KEY_UP, K_UP},
			{KEY_DOWN, K_DOWN},
			{KEY_LEFT, K_LEFT},
			{KEY_RIGHT, K_RIGHT},
			{KEY_HOME, K_HOME},
			{KEY_END, K_END},
			{KEY_PPAGE, K_PAGE_UP},
			{KEY_NPAGE, K_PAGE_DOWN},
			{KEY_DC, K_DELETE},
			{KEY_BTAB, K_BACKTAB},
			{KEY_ENTER, K_ENTER},
			{KEY_BACKSPACE, K_BACKSPACE},
	};
	size_t i;

	for (i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		if (keys[i].code == code) {
			return keys[i].key;
		}
	}
	if (code >= KEY_F(1) && code <= KEY_F(12)) {
		return K_F1 + (code - KEY_F(1));
	}
	return K_NONE;
}

uint32_t terminal_key(void)
{
	wint_t code;
	uint32_t key;

	for (;;) {
		switch (get_wch(&code)) {
		case KEY_CODE_YES:
			key = function_key(code);
			break;
		case OK:
			/* Enter is CR in raw mode, Backspace one of two characters. */
			key = code == '\n' ? K_ENTER : code == 8 ? K_BACKSPACE : (uint32_t)code;
			break;
		default:
			return K_NONE;
		}
		if (key != K_NONE) {
			return key;
		}
	}
}

bool terminal_alive(void)
{
	struct termios now;

	return tcgetattr(STDIN_FILENO, &now) == 0;
}

void terminal_suspend(void)
{
	struct sigaction standard = {.sa_handler = SIG_DFL}, old;
	sigset_t stop, mask;

	endwin();
	terminal.ours = 0;
	sigemptyset(&stop);
	sigaddset(&stop, SIGTSTP);
	sigaction(SIGTSTP, &standard, &old);
	sigprocmask(SIG_UNBLOCK, &stop, &mask);
	raise(SIGTSTP);
	sigprocmask(SIG_SETMASK, &mask, NULL);
	sigaction(SIGTSTP, &old, NULL);
	terminal.ours = 1;
	set_modes();
	refresh();
	/* Its size may have changed meanwhile. */
	on_signal(SIGWINCH);
}
