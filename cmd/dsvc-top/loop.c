/* SPDX-License-Identifier: MIT */
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "base/caught.h"
#include "base/clock.h"
#include "cli/quit.h"
#include "core/disp/dispatcher.h"
#include "top.h"

enum { TOP_RECENT = 5 }; /* jobs that nobody reads any more */

struct loop {
	const struct top *o;
	const struct endpoint *ep;
	struct tool *tool;
	struct model m;
	int signals;           /* -1: there is no screen */
	bool keys, quit;
};

static enum status
loop_ask(struct loop *p, struct err *e)
{
	struct msg reply;
	enum status st = tool_report(p->tool, &(struct msg_status){ .what = REPORT_BRIEF, .recent = TOP_RECENT }, &reply, e);

	if (st == ST_OK)
		model_update(&p->m, p->tool, &reply, clock_mono_ns());
	return st;
}

static enum status
loop_show(struct loop *p, struct err *e)
{
	const char *no_color = getenv("NO_COLOR");
	struct look look = { .plain = term_is_plain(), .keys = p->keys };
	struct buf out = { 0 };

	if (p->signals >= 0) {
		term_size(&look.width, &look.height);
		look.colour = !no_color || !*no_color;
		buf_str(&out, "\033[H\033[J");
	}
	if (p->o->json)
		top_json(&p->m, &out);
	else
		draw(&p->m, &look, p->ep->address, &out);
	if (!p->o->json && p->signals < 0)
		buf_byte(&out, '\n');
	enum status st = quit_say(&out, e);
	buf_clear(&out);
	return st;
}

static void
loop_key(struct loop *p, char key)
{
	struct model *m = &p->m;

	switch (key) {
	case 'q': p->quit = true; break;
	case 'p': case ' ': m->paused = !m->paused; break;
	case 's': model_sort(m, (m->sort + 1) % TOP_SORTS); break;
	case 'j': model_select(m, 1); break;
	case 'k': model_select(m, -1); break;
	case 'h': case '?': m->help = !m->help; break;
	default: break;
	}
}

/* Keys that are there; arrows come as ESC [ A. */
static void
loop_keys(struct loop *p)
{
	char keys[64];
	ssize_t n = read(STDIN_FILENO, keys, sizeof keys);

	if (n <= 0)
		p->keys = false; /* the terminal has gone */
	for (ssize_t i = 0; i < n; i++) {
		if (keys[i] == '\033' && i + 2 < n && (keys[i + 1] == '[' || keys[i + 1] == 'O')) {
			loop_key(p, keys[i + 2] == 'A' ? 'k' : keys[i + 2] == 'B' ? 'j' : '\0');
			i += 2;
		} else {
			loop_key(p, keys[i]);
		}
	}
}

/* Stopped by ^Z: the terminal is given back as it was, and taken again afterwards. */
static void
loop_signals(struct loop *p)
{
	struct signalfd_siginfo s;

	while (read(p->signals, &s, sizeof s) == sizeof s) {
		if (s.ssi_signo == SIGTSTP) {
			term_end();
			raise(SIGSTOP);
			term_begin();
		} else if (s.ssi_signo == SIGCONT) { /* after a SIGSTOP from elsewhere */
			term_end();
			term_begin();
		}
	}
}

/* Until the next interval begins: keys change what is shown at once. */
static enum status
loop_wait(struct loop *p, int64_t until, struct err *e)
{
	enum status st = ST_OK;

	while (st == ST_OK && !p->quit) {
		int64_t left = (until - clock_mono_ns() + 999999) / 1000000;
		struct pollfd f[3] = { { caught_fd(), POLLIN, 0 }, { p->signals, POLLIN, 0 },
				       { p->keys ? STDIN_FILENO : -1, POLLIN, 0 } };

		if (left <= 0)
			break;
		if (poll(f, 3, (int)(left < 60000 ? left : 60000)) <= 0)
			continue;
		p->quit = f[0].revents != 0;
		if (f[1].revents)
			loop_signals(p);
		if (f[2].revents)
			loop_keys(p);
		if (!p->quit)
			st = loop_show(p, e);
	}
	return st;
}

static enum status
loop_turn(struct loop *p, struct err *e)
{
	int64_t left = p->o->count;
	int64_t next = clock_mono_ns();
	enum status st = ST_OK;

	while (st == ST_OK && !p->quit) {
		if (!p->m.paused || !p->m.at)
			st = loop_ask(p, e);
		if (st == ST_OK)
			st = loop_show(p, e);
		if (st != ST_OK || (left != INT64_MAX && --left <= 0))
			break;
		next += p->o->interval;
		if (next < clock_mono_ns())
			next = clock_mono_ns() + p->o->interval;
		st = loop_wait(p, next, e);
	}
	return st == ST_AGAIN ? ST_OK : st; /* told to stop */
}

enum status
top_run(const struct top *o, const struct endpoint *ep, struct err *e)
{
	struct loop p = { .o = o, .ep = ep, .signals = -1 };
	enum status st = tool_open(ep->address, ep->from, &p.tool, e);

	if (st != ST_OK)
		return st == ST_AGAIN ? ST_OK : st;
	tool_stop_on(p.tool, caught_fd());
	if (term_is() && !o->json) {
		p.signals = term_signals();
		p.keys = isatty(STDIN_FILENO);
		term_begin();
	}
	st = loop_turn(&p, e);
	term_end();
	if (p.signals >= 0)
		close(p.signals);
	model_clear(&p.m);
	tool_close(&p.tool);
	return st;
}
