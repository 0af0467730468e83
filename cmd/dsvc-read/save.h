/* SPDX-License-Identifier: MIT
 *
 * Where reading is to go on (--checkpoint), and what the consumer says it has
 * finished (--ack-fd).
 *
 * The file is one MessagePack list: ["dsvc-position", version, bytes of the
 * output file, elements, the reader's position, CRC-32C of all before it]. With --joblog, which
 * is version 3, bytes and rows of the log stand before the CRC. It is replaced as a whole.
 */
#ifndef DSVC_READ_SAVE_H
#define DSVC_READ_SAVE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"

/* The end of the file of --joblog; bytes 0: there is none. */
struct logged_at { uint64_t bytes, rows; };

struct saved {
	bool there;          /* an earlier run left one */
	uint64_t bytes, elements;
	struct buf position;
	struct logged_at log;
};

/* A file that is not there is a fresh start. */
enum status saved_load(const char *file, struct saved *s, struct err *e);
/* Written beside it, synced and renamed: whole or as before, whatever happens. */
enum status saved_store(const char *file, const struct saved *s, struct err *e);

/* Lines of decimal numbers: how many elements the consumer has finished so far. */
struct acks {
	int fd;              /* -1: none, or ended */
	bool ended;
	uint64_t finished;
	uint64_t digits;     /* number in the line being read */
	bool any, over, bad; /* a digit has come; the number is over; no number */
};
enum status acks_open(struct acks *a, int64_t fd, struct err *e);
/* Reads what is there. */
enum status acks_read(struct acks *a, struct err *e);

#endif
