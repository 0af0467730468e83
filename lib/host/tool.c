/* SPDX-License-Identifier: MIT */
#include "host/tool.h"

#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "host/link.h"
#include "host/way.h"

#define TOOL_AGAIN_NS 1000000000LL /* after this time without an answer, a message is sent again */

struct tool {
	struct way way;
	struct net *net;
	struct sock *sock;
	uint64_t self, req;     /* req: the question that is open */
	struct link_out out;
	struct msg *ask;        /* the question, to be said again; lent during tool_ask */
	bool met, welcome, answered, hello_due, ask_due;
	bool stopped;           /* tool_stop_on */
	enum status failed;     /* refused: with err */
	struct err err;
	struct msg reply;
	uint32_t beat_ms;       /* told by WELCOME */
};

static void
tool_hello(struct tool *t)
{
	struct msg m = { .type = MSG_HELLO, .hello = { .version = WIRE_VERSION,
		.role = ROLE_TOOL, .peer = t->self, .host = (char *)link_host(),
		.pid = (uint32_t)getpid() } };
	link_send(t->sock, LINK_DISPATCHER, &m, &t->out, NULL);
}

static void
tool_fail(struct tool *t, uint32_t code, const char *text, const char *help)
{
	t->failed = err_set(&t->err, status_from_code(code), "%s", text ? text : "refused");
	if (help && *help)
		err_help(&t->err, "%s", help);
}

static void
tool_told(void *arg, struct sock_msg *in)
{
	struct tool *t = arg;
	struct msg m;
	struct err e;
	enum status st = link_answer(in, &t->met, t->way.where, &m, &e);
	if (st == ST_UNAVAIL) {
		t->failed = st;
		t->err = e;
	}
	if (st != ST_OK)
		return;
	switch (m.type) {
	case MSG_WELCOME:
		t->welcome = true;
		t->beat_ms = m.welcome.beat_ms;
		t->ask_due = true; /* it may have been lost with the dispatcher of before */
		break;
	case MSG_REFUSED:
		tool_fail(t, m.refused.code, m.refused.text, m.refused.help);
		break;
	case MSG_WHO:
		t->hello_due = true;
		break;
	case MSG_BYE:
		tool_fail(t, ST_UNAVAIL, "the dispatcher has been ended", NULL);
		break;
	default:
		if (!t->req || m.req != t->req)
			break;
		if (m.type == MSG_ERROR) {
			tool_fail(t, m.error.code, m.error.text, m.error.help);
		} else {
			msg_clear(&t->reply);
			t->reply = m;
			m.type = 0;
			t->answered = true;
		}
	}
	if (m.type)
		msg_clear(&m);
}

static void
tool_stranger(void *arg, uint64_t peer)
{
	struct tool *t = arg;
	(void)peer;
	if (!t->met)
		t->failed = link_stranger(t->way.where, &t->err);
}

static void
tool_turned(void *arg, uint64_t peer)
{
	(void)peer;
	((struct tool *)arg)->hello_due = true;
}

static bool
tool_renew(void *arg, const char **list, const struct key **keys)
{
	return way_renew(&((struct tool *)arg)->way, list, keys);
}

static void
tool_denied(void *arg, uint64_t peer, enum sock_denied why)
{
	struct tool *t = arg;

	(void)peer;
	t->failed = secure_denied(&t->way.secure, t->way.list, false, why, &t->err);
}

static enum status
tool_silent(const struct tool *t, struct err *e)
{
	if (!t->welcome) {
		err_set(e, ST_UNAVAIL, "no dispatcher at %s: no answer within %d s", t->way.where,
			TOOL_WAIT_MS / 1000);
		err_help(e, "check that it is a dispatcher that listens there");
		return ST_UNAVAIL;
	}
	err_set(e, ST_TEMP, "no answer from the dispatcher at %s within %d s", t->way.where,
		TOOL_WAIT_MS / 1000);
	err_help(e, "it may be overloaded or stopped; running this again may help");
	return ST_TEMP;
}

/* Turns the loop until *done, an error, a signal or the time is over. */
static enum status
tool_wait(struct tool *t, const bool *done, struct err *e)
{
	int64_t until = clock_mono_ns() + (int64_t)TOOL_WAIT_MS * 1000000;
	int64_t again = clock_mono_ns() + TOOL_AGAIN_NS;
	while (!*done && !t->failed) {
		int64_t now = clock_mono_ns();
		if (t->hello_due || now >= again) {
			t->hello_due = false;
			again = now + TOOL_AGAIN_NS;
			tool_hello(t);
		}
		if (t->ask_due && t->ask) {
			if (t->ask->type == MSG_FORGET)
				t->ask->forget.again = true;
			link_send(t->sock, LINK_DISPATCHER, t->ask, &t->out, NULL);
		}
		t->ask_due = false;
		if (t->out.failed) {
			*e = t->out.err;
			return t->out.failed;
		}
		if (t->stopped)
			return ST_AGAIN;
		if (now >= until) {
			return tool_silent(t, e);
		}
		net_step(t->net, again < until ? again : until);
	}
	if (t->failed && e)
		*e = t->err;
	return t->failed;
}

enum status
tool_open(const char *dispatcher, const char *from, struct tool **out, struct err *e)
{
	struct way way = { 0 };
	enum status st = net_check_files(e);
	if (st == ST_OK)
		st = way_open(&way, dispatcher, from, false, "read,register", e);
	if (st == ST_OK)
		st = way_reach(&way, e);
	if (st != ST_OK) {
		way_close(&way);
		return st;
	}
	struct tool *t = mem_zalloc(sizeof *t);
	t->way = way;
	t->self = sock_peer_new();
	t->net = net_new();
	struct sock_opts o = { .self = t->self, .message = tool_told,
		.stranger = tool_stranger, .turned = tool_turned, .denied = tool_denied,
		.renew = way_renews(&t->way) ? tool_renew : NULL, .keys = secure_own(&way.secure), .arg = t };
	t->sock = sock_new(t->net, &o);
	secure_wipe(&way.secure);
	st = way_connect(&t->way, t->sock, e);
	if (st == ST_OK) {
		tool_hello(t);
		st = tool_wait(t, &t->welcome, e);
	}
	if (st != ST_OK)
		tool_close(&t);
	*out = t;
	return st;
}

/* One question and its one answer. */
static enum status
tool_ask_once(struct tool *t, struct msg *m, struct msg *reply, struct err *e)
{
	static uint64_t last;
	m->req = t->req = ++last;
	t->ask = m;
	t->answered = t->ask_due = false;
	link_send(t->sock, LINK_DISPATCHER, m, &t->out, NULL);
	enum status st = tool_wait(t, &t->answered, e);
	if (st == ST_OK) {
		*reply = t->reply;
		memset(&t->reply, 0, sizeof t->reply);
	}
	t->failed = ST_OK;
	t->req = 0;
	t->ask = NULL;
	return st;
}

enum status
tool_ask(struct tool *t, struct msg *m, struct msg *reply, struct err *e)
{
	struct buf all = { 0 };
	enum status st = tool_ask_once(t, m, reply, e);

	/* A report may come in parts: they are put together. */
	while (st == ST_OK && m->type == MSG_STATUS && reply->type == MSG_REPORT &&
	       reply->report.part == m->status.part) {
		bool last = reply->report.last;

		buf_put(&all, reply->report.value.p, reply->report.value.n);
		if (last) {
			mem_free(reply->report.value.p);
			reply->report.value.n = all.len;
			reply->report.value.p = (uint8_t *)buf_take(&all);
			break;
		}
		msg_clear(reply);
		m->status.part++;
		st = tool_ask_once(t, m, reply, e);
	}
	buf_clear(&all);
	if (m->type == MSG_STATUS)
		m->status.part = 0;
	return st;
}

enum status
tool_report(struct tool *t, const struct msg_status *what, struct msg *reply, struct err *e)
{
	struct msg ask = { .type = MSG_STATUS, .status = *what };
	char none[1] = "";

	if (!ask.status.job)
		ask.status.job = none;
	enum status st = tool_ask(t, &ask, reply, e);
	if (st != ST_OK)
		return st;
	struct slice r = tool_record(reply);
	if (reply->type == MSG_REPORT && mp_check(r.p, (size_t)(r.end - r.p)))
		return ST_OK;
	msg_clear(reply);
	return err_set(e, ST_PROTO, "the dispatcher sent an unexpected answer");
}

struct slice
tool_record(const struct msg *report)
{
	const struct bytes *b = &report->report.value;

	return report->type == MSG_REPORT && b->p ? (struct slice){ b->p, b->p + b->n } : (struct slice){ 0 };
}

uint32_t
tool_beat_ms(const struct tool *t)
{
	return t->beat_ms;
}

static void
tool_stop(void *arg, int fd, int events)
{
	(void)fd, (void)events;
	((struct tool *)arg)->stopped = true;
}

void
tool_stop_on(struct tool *t, int fd)
{
	net_watch(t->net, fd, NET_READ, tool_stop, t);
}

void
tool_close(struct tool **tp)
{
	struct tool *t = *tp;
	if (!t)
		return;
	sock_free(&t->sock, 100);
	net_free(&t->net);
	msg_clear(&t->reply);
	link_out_clear(&t->out);
	way_close(&t->way);
	mem_free(t);
	*tp = NULL;
}

enum status
tool_once(const char *dispatcher, const char *from, struct msg *m, enum msg_type want, struct msg *reply,
	  struct err *e)
{
	struct tool *t;
	enum status st = tool_open(dispatcher, from, &t, e);

	if (st != ST_OK)
		return st;
	st = tool_ask(t, m, reply, e);
	tool_close(&t);
	if (st != ST_OK || reply->type == want)
		return st;
	msg_clear(reply);
	return err_set(e, ST_PROTO, "the dispatcher answered with something else");
}

enum status
tool_dataset(const char *dispatcher, const char *from, const char *dataset, struct buf *spec, struct buf *type,
	     struct err *e)
{
	struct msg ask = { .type = MSG_GET, .get.id = (char *)dataset }, reply;
	enum status st = tool_once(dispatcher, from, &ask, MSG_DATASET, &reply, e);

	if (st != ST_OK)
		return st;
	if (spec)
		buf_str(spec, reply.dataset.spec ? reply.dataset.spec : "");
	if (type)
		buf_str(type, reply.dataset.type ? reply.dataset.type : "any");
	msg_clear(&reply);
	return ST_OK;
}
