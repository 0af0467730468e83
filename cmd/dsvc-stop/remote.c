/* SPDX-License-Identifier: MIT */
#include "remote.h"

#include <poll.h>
#include <stdbool.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/str.h"
#include "host/tool.h"

enum { REMOTE_LOOK_MS = 200 };

/* Asks the dispatcher, which has ended if it says BYE or is not there any more. */
static enum status
remote_ask(struct tool *t, enum wire_end how, struct msg_ending *out, bool *ended, struct err *e)
{
	struct msg reply, ask = { .type = MSG_END, .end.how = how };
	enum status st = tool_ask(t, &ask, &reply, e);

	if (st == ST_UNAVAIL) {
		*ended = true;
		return ST_OK;
	}
	if (st != ST_OK)
		return st;
	if (reply.type == MSG_ENDING)
		*out = reply.ending;
	else
		st = err_set(e, ST_PROTO, "the dispatcher answered with something else");
	msg_clear(&reply);
	return st;
}

enum status
remote_run(const struct halt *o, const struct endpoint *ep, struct err *e)
{
	enum wire_end how = END_ASK, then = o->drain ? END_DRAIN : END_NOW;
	struct msg_ending is = { 0 };
	struct tool *t = NULL;
	bool ended = false;
	int64_t until = INT64_MAX;
	uint32_t readers = 0;
	enum status st = tool_open(ep->address, ep->from, &t, e);

	while (st == ST_OK && !ended) {
		st = remote_ask(t, how, &is, &ended, e);
		if (st != ST_OK || ended)
			break;
		readers = is.readers;
		if (how == END_ASK && !(o->wait && is.readers)) {
			how = then;
			if (o->grace < INT64_MAX - clock_mono_ns())
				until = clock_mono_ns() + o->grace;
			continue;
		}
		if (how == END_DRAIN && clock_mono_ns() >= until) {
			log_say(LOG_WARN, "%u worker%s not handed over all; the service ends now", is.workers,
				is.workers == 1 ? " has" : "s have");
			how = END_NOW;
		}
		poll(NULL, 0, REMOTE_LOOK_MS);
	}
	if (st == ST_OK)
		log_say(LOG_INFO, "the service at %s has ended; there %s %u reader%s", ep->address,
			readers == 1 ? "was" : "were", readers, str_s(readers));
	tool_close(&t);
	return st;
}
