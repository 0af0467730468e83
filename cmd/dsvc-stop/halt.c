/* SPDX-License-Identifier: MIT */
#include "halt.h"

#include <poll.h>
#include <signal.h>
#include <string.h>

#include "base/log.h"
#include "host/own.h"

/* Readers learn from a dispatcher without a state that the service is over; those of one with a
 * state would wait for it to come back. */
#define HALT_READERS_NS 2000000000ll
enum { HALT_LOOK_MS = 200, HALT_ROUNDS = 5 };

/* Waits until the dispatcher says that there are no readers. */
static enum status
halt_readers(const char *address, struct own *is, struct err *e)
{
	enum status st = ST_OK;

	while (st == ST_OK && is->answers && is->readers) {
		poll(NULL, 0, HALT_LOOK_MS);
		own_clear(is);
		st = own_look(address, is, e);
	}
	return st;
}

/* Tells them to end, and to go on if they stand still; kills those that do not. */
static void
halt_end(struct own *is, unsigned roles, int64_t grace)
{
	own_tell(is, roles, SIGTERM);
	own_tell(is, roles, SIGCONT);
	if (own_wait(is, roles, grace, -1))
		return;
	log_say(LOG_WARN, own_count(is, roles) == 1 ? "%zu process does not end; it is killed" :
		"%zu processes do not end; they are killed", own_count(is, roles));
	own_tell(is, roles, SIGKILL);
	own_wait(is, roles, INT64_MAX, -1);
}

static void
halt_all(const struct halt *o, struct own *is)
{
	if (o->now) {
		own_tell(is, OWN_ALL, SIGKILL);
		own_wait(is, OWN_ALL, INT64_MAX, -1);
		return;
	}
	if (o->drain)
		halt_end(is, OWN_WORKER, o->grace);
	own_tell(is, OWN_DISPATCHER, SIGTERM);
	own_tell(is, OWN_DISPATCHER, SIGCONT);
	/* Without a state, workers and readers are told by it. */
	if (!is->durable && own_wait(is, OWN_DISPATCHER, HALT_READERS_NS, -1))
		own_wait(is, OWN_ALL, HALT_READERS_NS, -1);
	halt_end(is, OWN_ALL, o->grace);
}

static void
halt_say(const struct own *was)
{
	size_t count[3] = { 0 };

	for (size_t i = 0; i < was->n; i++)
		count[was->v[i].role == OWN_WORKER ? 1 : was->v[i].role == OWN_READER ? 2 : 0]++;
	log_say(LOG_INFO, "ended %s, %zu worker%s and %zu reader%s", count[0] ? "a dispatcher" : "no dispatcher", count[1],
		count[1] == 1 ? "" : "s", count[2], count[2] == 1 ? "" : "s");
}

enum status
halt_run(const struct halt *o, const char *address, struct err *e)
{
	struct own is = { 0 };
	bool any = false;
	enum status st = own_look(address, &is, e);

	if (st == ST_OK && o->wait)
		st = halt_readers(address, &is, e);
	/* Again, for one that was just starting when the others ended. */
	for (int i = 0; st == ST_OK && is.n && i < HALT_ROUNDS; i++) {
		any = true;
		halt_all(o, &is);
		halt_say(&is);
		own_clear(&is);
		st = own_look(address, &is, e);
	}
	if (st == ST_OK && is.n)
		st = err_set(e, ST_TEMP, "%zu processes of the service came back each time", is.n);
	if (st == ST_OK && !any)
		log_say(LOG_INFO, "nothing is running");
	own_clear(&is);
	own_sweep();
	return st;
}
