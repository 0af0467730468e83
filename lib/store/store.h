/* SPDX-License-Identifier: MIT
 *
 * The dispatcher's durable state: rows of (kind, three numbers, bytes) in an
 * SQLite file DIR/state.db, in WAL mode, synced at each commit. The rows are the
 * dispatcher's own (core/disp/dispatcher.h); here they are only kept.
 *
 *	store_put ... store_put, store_commit      all of it or nothing
 *
 * Rows put wait in memory until a commit writes them in one transaction, so a
 * commit that fails (the disk is full) loses nothing: the next one tries again
 * with all of them. What rests on them must not be told before it succeeds.
 *
 * Every row has a checksum, and opening checks the whole file and its log: one that is
 * torn, empty, without its log or was changed by something else is refused, never half
 * understood. The file belongs to one program at a time.
 */
#ifndef STORE_STORE_H
#define STORE_STORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "core/disp/dispatcher.h"

struct store;

enum { STORE_VERSION = 2 };

/* Opens or makes DIR (mode 0700) and the file in it. Gives. ST_UNAVAIL: another
 * program has it; ST_DATA: it is not, or no longer, what we wrote; ST_CONFIG: it was
 * written by a newer version. */
enum status store_open(const char *dir, struct store **out, struct err *e);
/* Whether another program has the state in DIR; false also when there is none. */
bool store_taken(const char *dir);
void store_close(struct store **s);
/* Calls back for every row; stops at the first error. */
enum status store_load(struct store *s,
		       enum status (*row)(void *arg, const struct disp_row *r, struct err *e),
		       void *arg, struct err *e);
/* For disp_changes: arg is the store. The row is copied. */
void store_put(void *arg, const struct disp_row *row);
/* One row as it was put last, committed or not: its bytes. ST_NOINPUT: there is none. */
enum status store_get(struct store *s, const struct disp_row *key, struct buf *out, struct err *e);
/* Writes what was put. ST_IO: nothing was written, and nothing is lost. */
enum status store_commit(struct store *s, struct err *e);
size_t store_waiting(const struct store *s); /* rows put and not yet committed */
/* Gives room that removed rows left back to the system; cheap, now and then. */
void store_tidy(struct store *s);
bool store_empty(struct store *s);           /* has never been written to */
int64_t store_bytes(struct store *s);        /* size of the file */
/* For struct disp_opts: arg is the store. Commits that failed do not count. */
void store_costs(void *arg, struct disp_costs *out);
void store_limit(struct store *s, int64_t bytes); /* refuses to grow beyond: tests */

#endif
