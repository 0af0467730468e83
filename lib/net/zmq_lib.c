/* SPDX-License-Identifier: MIT */
#include "net/zmq_lib.h"

#include <errno.h>
#include <stdio.h>
#include <unistd.h>

#include "base/late.h"

#define ZMQ_LIB_NAME(name) "zmq_" #name,

struct zmq_lib zmq;

void
zmq_lib_need(void)
{
	static const char *const names[] = { ZMQ_LIB_FNS(ZMQ_LIB_NAME) NULL };
	static struct late late = { { "libzmq.so.5" }, "libzmq5", names, &zmq, LATE_LOCK };
	struct err e = { 0 };

	if (late_get(&late, &e))
		return;
	dprintf(STDERR_FILENO, "%s: %s\n  help: %s\n", program_invocation_short_name, e.text, e.help);
	_exit(ST_CONFIG);
}
