/* SPDX-License-Identifier: MIT */
#include "host/work/produce_service.h"

#include <poll.h>

enum { PRODUCE_LOOK_MS = 20 };

/* Until elements of another service come; in between it looks whether the stream is to stop. */
static enum status
produce_wait(void *arg, int fd, struct err *e)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };
	(void)e;
	poll(&p, 1, PRODUCE_LOOK_MS);
	return atomic_load((atomic_bool *)arg) ? ST_AGAIN : ST_OK;
}

void
produce_service_init(struct service *s, atomic_bool *stop)
{
	service_init(s, NULL, NULL);
	s->wait = produce_wait;
	s->wait_arg = stop;
}
