/* SPDX-License-Identifier: MIT
 *
 * --standby: a dispatcher that waits until the one that has the state is gone.
 */
#ifndef STANDBY_H
#define STANDBY_H

#include <stdbool.h>

#include "base/err.h"
#include "store/store.h"

/* Opens the state as store_open does; `wait`: as soon as no other program has it. ST_END: a signal
 * came, or (until_eof) the end of standard input, before that. */
enum status standby_open(const char *dir, bool wait, bool until_eof, struct store **out, struct err *e);

#endif
