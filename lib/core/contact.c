/* SPDX-License-Identifier: MIT */
#include "core/contact.h"

void
contact_init(struct contact *c, int64_t now_ns, int64_t give_up_ns, const char *where)
{
	*c = (struct contact){ .beat_ns = 1000000000, .loss_ns = 5000000000, .give_up_ns = give_up_ns,
		.now = now_ns, .heard = now_ns, .since = now_ns, .hello_due = now_ns, .where = where };
}

void
contact_time(struct contact *c, int64_t now_ns)
{
	int64_t due = contact_deadline(c), late;

	if (due < c->now)
		due = c->now;
	late = now_ns - due;
	if (late > 0) {
		c->heard += late;
		c->since += late;
		c->late += late;
	}
	if (now_ns > c->now)
		c->now = now_ns;
}

void
contact_heard(struct contact *c, int64_t now_ns)
{
	contact_time(c, now_ns);
	c->heard = now_ns;
}

void
contact_gone(struct contact *c, int64_t now_ns)
{
	contact_time(c, now_ns);
	if (!c->connected)
		return;
	c->connected = false;
	c->since = now_ns;
	c->hello_due = now_ns;
}

void
contact_reached(struct contact *c, int64_t now_ns)
{
	contact_time(c, now_ns);
	if (!c->connected)
		c->hello_due = now_ns;
}

void
contact_who(struct contact *c, int64_t now_ns)
{
	/* Several messages may be answered so: one HELLO is enough. */
	if (c->connected)
		contact_gone(c, now_ns);
}

enum contact_welcome
contact_welcome(struct contact *c, int64_t now_ns, const struct msg_welcome *w)
{
	enum contact_welcome is = !c->welcomed ? CONTACT_NEW :
		c->instance == w->instance ? CONTACT_SAME : CONTACT_OTHER;

	contact_time(c, now_ns);
	c->connected = c->welcomed = true;
	c->instance = w->instance;
	c->durable = w->durable;
	c->beat_ns = (w->beat_ms < 10 ? 10 : w->beat_ms) * 1000000ll;
	c->loss_ns = (w->loss_ms < 20 ? 20 : w->loss_ms) * 1000000ll;
	c->heard = now_ns;
	c->beat_due = now_ns + c->beat_ns;
	return is;
}

/* When it is given up; INT64_MAX: never. */
static int64_t
contact_end(const struct contact *c)
{
	if (c->connected)
		return INT64_MAX;
	if (!c->welcomed)
		return c->since + CONTACT_FIRST_NS;
	if (!c->durable)
		return c->since + c->loss_ns;
	return c->give_up_ns ? c->since + c->give_up_ns : INT64_MAX;
}

enum contact_event
contact_tick(struct contact *c, int64_t now_ns, struct err *e)
{
	contact_time(c, now_ns);
	if (c->connected && now_ns >= c->heard + c->loss_ns) {
		contact_gone(c, now_ns);
		c->since = c->heard;
	}
	if (now_ns >= contact_end(c)) {
		if (!c->welcomed) {
			err_set(e, ST_UNAVAIL, "no dispatcher%s%s: no answer within %d s",
				c->where ? " at " : "", c->where ? c->where : "",
				(int)(CONTACT_FIRST_NS / 1000000000));
			err_help(e, "check that it is a dispatcher that listens there");
		} else {
			err_set(e, ST_TEMP, "lost contact with the dispatcher");
			if (!c->durable)
				err_help(e, "a dispatcher with --state DIR can be started again, and everything resumes");
		}
		return CONTACT_LOST;
	}
	if (!c->connected && now_ns >= c->hello_due) {
		c->hello_due = now_ns + c->beat_ns;
		return CONTACT_HELLO;
	}
	if (c->connected && now_ns >= c->beat_due) {
		c->beat_due = now_ns + c->beat_ns;
		return CONTACT_BEAT;
	}
	return CONTACT_NONE;
}

int64_t
contact_deadline(const struct contact *c)
{
	int64_t end = contact_end(c), at;

	if (!c->connected)
		return end < c->hello_due ? end : c->hello_due;
	at = c->heard + c->loss_ns;
	return at < c->beat_due ? at : c->beat_due;
}
