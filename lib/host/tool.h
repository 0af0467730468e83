/* SPDX-License-Identifier: MIT
 *
 * One question to the dispatcher and its answer, for programs that need no
 * more: dsvc-register, dsvc-forget, dsvc-invite; or several, as for dsvc-status.
 */
#ifndef HOST_TOOL_H
#define HOST_TOOL_H

#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "value/record.h"
#include "wire/msg.h"

struct tool;

enum { TOOL_WAIT_MS = 10000 };

/* Looks for the dispatcher and says HELLO. Gives. */
enum status tool_open(const char *dispatcher, const char *from, struct tool **out, struct err *e);
/* Sends m and waits for the reply, given (msg_clear); an ERROR is returned as such. */
enum status tool_ask(struct tool *t, struct msg *m, struct msg *reply, struct err *e);
/* Asks for a report (MSG_STATUS; enum disp_report says which kinds there are) and checks that it is one. */
enum status tool_report(struct tool *t, const struct msg_status *ask, struct msg *reply, struct err *e);
/* Lends. */
struct slice tool_record(const struct msg *report);
/* How often workers and readers are to send a BEAT, as the dispatcher says. */
uint32_t tool_beat_ms(const struct tool *t);
/* Waiting for an answer ends with ST_AGAIN once fd is readable. */
void tool_stop_on(struct tool *t, int fd);
void tool_close(struct tool **t);
/* Does all of it for one question. An answer of another type than want is ST_PROTO. */
enum status tool_once(const char *dispatcher, const char *from, struct msg *m, enum msg_type want,
		      struct msg *reply, struct err *e);

/* Appends the canonical text of a registered dataset, and the type of its elements as text; either may be NULL. */
enum status tool_dataset(const char *dispatcher, const char *from, const char *dataset, struct buf *spec,
			 struct buf *type, struct err *e);

#endif
