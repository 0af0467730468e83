/* SPDX-License-Identifier: MIT */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/signalfd.h>
#include <termios.h>
#include <unistd.h>

#include "cli/locale.h"
#include "top.h"

static struct termios term_before;
static bool term_on, term_keys;

/* Straight to the terminal, which is no file that could be full. */
static void
term_put(const char *text)
{
	ssize_t n = write(STDOUT_FILENO, text, strlen(text));
	(void)n;
}

bool
term_is(void)
{
	return isatty(STDOUT_FILENO);
}

bool
term_is_plain(void)
{
	return !locale_is_utf8();
}

void
term_begin(void)
{
	struct termios now;

	if (term_on)
		return;
	term_on = true;
	term_keys = isatty(STDIN_FILENO) && tcgetattr(STDIN_FILENO, &term_before) == 0;
	if (term_keys) {
		now = term_before;
		now.c_lflag &= ~(tcflag_t)(ICANON | ECHO); /* ISIG stays: ^C and ^Z are signals */
		now.c_cc[VMIN] = 0;
		now.c_cc[VTIME] = 0;
		tcsetattr(STDIN_FILENO, TCSADRAIN, &now);
	}
	term_put("\033[?1049h\033[?25l"); /* the other screen, no cursor */
}

void
term_end(void)
{
	if (!term_on)
		return;
	term_on = false;
	term_put("\033[?25h\033[?1049l");
	if (term_keys)
		tcsetattr(STDIN_FILENO, TCSADRAIN, &term_before);
}

void
term_size(unsigned *width, unsigned *height)
{
	struct winsize w;

	*width = 80;
	*height = 24;
	if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &w) == 0 && w.ws_col && w.ws_row) {
		*width = w.ws_col;
		*height = w.ws_row;
	}
}

int
term_signals(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGTSTP);
	sigaddset(&set, SIGCONT);
	sigaddset(&set, SIGWINCH);
	sigprocmask(SIG_BLOCK, &set, NULL);
	return signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}
