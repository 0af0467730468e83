/* SPDX-License-Identifier: MIT
 *
 * Room for temporary files: those of a process together may take a share of what is free in
 * their folder, or a number of bytes, so that nobody's disk fills because an operator sorts.
 */
#ifndef BASE_TMP_ROOM_H
#define BASE_TMP_ROOM_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

enum { TMP_ROOM_PERCENT = 75, TMP_ROOM_STEP = 16 << 20 };

/* The account of one temporary file. Zero: nothing yet. */
struct tmp_room {
	uint64_t taken;   /* bytes that are counted */
	uint64_t allowed; /* bytes that may be counted before the file system is asked again */
};

/* Sets the limit, before threads are started: bytes; -N: N percent of what is free and what is taken; 0: the
 * usual one, TMP_ROOM_PERCENT. */
void tmp_room_limit(int64_t max);
/* Counts n more bytes, to be called before they are written to fd, a file in `folder` (for messages). ST_IO: there
 * is no room for them; nothing is counted then. May be called from any thread. */
enum status tmp_room_take(struct tmp_room *t, uint64_t n, int fd, const char *folder, struct err *e);
/* The file is gone. */
void tmp_room_give_back(struct tmp_room *t);

/* Whether n more bytes fit a limit, with `taken` of ours and `left` free ones on the file system. */
bool tmp_room_fits(int64_t max, uint64_t taken, uint64_t n, uint64_t left);

#endif
