/* SPDX-License-Identifier: MIT */
#ifndef EVENTS_FOLLOW_H
#define EVENTS_FOLLOW_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "cli/endpoint.h"

struct follow {
	char *dispatcher, *context;
	bool on;       /* until told to stop */
	bool json, quiet, insecure;
	int64_t connect_timeout, last;  /* number of events to begin with */
	int64_t timeout, verbose;
};

/* Prints the events; with `on`, asks for new ones until a signal comes (stop_fd). */
enum status follow_run(const struct follow *o, const struct endpoint *ep, struct err *e);

#endif
