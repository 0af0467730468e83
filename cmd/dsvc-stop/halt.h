/* SPDX-License-Identifier: MIT */
#ifndef STOP_HALT_H
#define STOP_HALT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

struct halt {
	bool drain, now, wait, quiet;
	int64_t grace, connect_timeout, verbose, timeout; /* ns */
	char *dispatcher, *context; /* NULL: the service at the private socket */
	bool insecure;
};

/* Ends the service at the private socket and says what has ended. */
enum status halt_run(const struct halt *o, const char *address, struct err *e);

#endif
