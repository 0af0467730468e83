/* SPDX-License-Identifier: MIT
 *
 * Whether SQLite's write-ahead log beside the state is whole.
 *
 * SQLite reads the log up to the first frame that is wrong and takes that for the
 * end: right after a power cut, when the last transaction may be half written and
 * was promised to nobody, wrong when something was changed in the middle. The two are
 * told apart by what follows: each transaction is synced before the next is begun, so
 * behind a torn one there is no other.
 */
#ifndef STORE_LOG_H
#define STORE_LOG_H

#include "base/err.h"

enum log_state { STORE_LOG_NONE, STORE_LOG_THERE, STORE_LOG_DAMAGED };

/* Looks at the log of the database `path`. NONE: it has none, or an empty one. What
 * cannot be read counts as there: SQLite will say why. */
enum log_state store_log(const char *path);

#endif
