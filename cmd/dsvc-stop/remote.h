/* SPDX-License-Identifier: MIT */
#ifndef STOP_REMOTE_H
#define STOP_REMOTE_H

#include "base/err.h"
#include "cli/endpoint.h"
#include "halt.h"

/* Has the dispatcher at ep end its service, wherever its processes are, and returns when it has ended. */
enum status remote_run(const struct halt *o, const struct endpoint *ep, struct err *e);

#endif
