/* SPDX-License-Identifier: MIT
 *
 * Whether SQLite's write-ahead log beside the state is whole.
 *
 * A log that was cut between two transactions looks like a shorter one. So the file is made
 * STORE_LOG_BYTES long before anything is promised, and the state says how long: SQLite
 * fills it from the front, again and again, and never makes it shorter than that. A
 * shorter file has been cut. This costs nothing when a transaction is written; a count of them in
 * another file would have to be synced each time.
 *
 * SQLite reads the log up to the first frame that is wrong and takes that for the
 * end: right after a power cut, when the last transaction may be half written and
 * was promised to nobody, wrong when something was changed in the middle. The two are
 * distinguished by what follows: each transaction is synced before the next is begun, so
 * behind a torn one there is no other. When it is the last one that was changed, they cannot
 * be distinguished: TORN. The head of the log is synced before the first transaction.
 */
#ifndef STORE_WAL_H
#define STORE_WAL_H

#include <stdint.h>

#include "base/err.h"

enum wal_state { STORE_LOG_NONE, STORE_LOG_THERE, STORE_LOG_TORN, STORE_LOG_DAMAGED };

/* SQLite writes the log back when it has about 4 MiB; a transaction larger than the rest makes
 * the file longer, and what lies beyond may be cut without being missed. */
enum { STORE_LOG_BYTES = 8 << 20 };

struct wal_look {
	enum wal_state state;
	int64_t size;      /* size of the file */
};

/* Looks at the log of the database `path`. NONE: it has none, or an empty one. What
 * cannot be read counts as there: SQLite will say why. */
struct wal_look store_log(const char *path);
/* Makes the file as long as it will be, or as the process may make files, and fills size. */
enum status store_log_extend(const char *path, int64_t *size, struct err *e);

#endif
