/* SPDX-License-Identifier: MIT
 *
 * A worker's or reader's contact with its dispatcher: when to say HELLO and
 * BEAT, and when it is lost for good.
 *
 *	begin -> HELLO (repeated) -> WELCOME: connected
 *	connected -(broken, or silent for loss_ms)-> HELLO repeated -> WELCOME
 *
 * A dispatcher without a durable state that stays away for loss_ms is lost, a
 * durable one after give_up_ns (0: never).
 *
 * Only time in which this program could have heard something counts. When it wakes
 * later than its deadline asked for (stopped by Ctrl-Z, a machine that was moved,
 * no processor for a while), that delay is taken off: what came meanwhile has not
 * been read yet, and the dispatcher may have been there all the time.
 */
#ifndef CORE_CONTACT_H
#define CORE_CONTACT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "wire/msg.h"

#define CONTACT_FIRST_NS 10000000000ll  /* no WELCOME so long: nobody there */
#define CONTACT_AGAIN_NS 2000000000ll   /* requests are said again after */

struct contact {
	bool connected, welcomed; /* now; ever */
	bool durable;
	uint64_t instance;
	int64_t beat_ns, loss_ns, give_up_ns;
	int64_t now;              /* when it was called last */
	int64_t late;             /* woken late, in all: time that does not count */
	int64_t heard;            /* when anything came last */
	int64_t since;            /* not connected since */
	int64_t hello_due, beat_due;
	/* place of the dispatcher, for messages: "ADDRESS (from -d)"; lent, may be NULL */
	const char *where;
};

enum contact_event { CONTACT_NONE, CONTACT_HELLO, CONTACT_BEAT, CONTACT_LOST };
enum contact_welcome { CONTACT_NEW, CONTACT_SAME, CONTACT_OTHER };

void contact_init(struct contact *c, int64_t now_ns, int64_t give_up_ns, const char *where);
/* The time goes on: takes off what the program slept too long. All that follow call
 * it; for those who keep deadlines of their own, which move by what `late` grew. */
void contact_time(struct contact *c, int64_t now_ns);
void contact_heard(struct contact *c, int64_t now_ns);
/* It was reached, at another address than before: HELLO is due, if none was answered. */
void contact_reached(struct contact *c, int64_t now_ns);
/* The connection broke, or WHO came: HELLO is due. */
void contact_gone(struct contact *c, int64_t now_ns);
void contact_who(struct contact *c, int64_t now_ns);
enum contact_welcome contact_welcome(struct contact *c, int64_t now_ns, const struct msg_welcome *w);
/* The next thing that is due; call until CONTACT_NONE. With CONTACT_LOST e is filled. */
enum contact_event contact_tick(struct contact *c, int64_t now_ns, struct err *e);
int64_t contact_deadline(const struct contact *c);

#endif
