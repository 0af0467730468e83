/* SPDX-License-Identifier: MIT
 *
 * Objects elsewhere, read as files are:
 *
 *	about    size and tag (an ETag, or size and time of change)
 *	open     the bytes from an offset on, of the object with that tag and no other
 *	list     the objects of a bucket whose keys begin with some words
 *
 *	reader <-- part [from, to) <-- request 1 --\
 *	           part [to, ...)  <-- request 2 ---- one or two connections to the server
 *
 * Bytes come in parts of up to 8 MiB, two of which are under way at once. A request that fails goes
 * on at the byte that it has; after six tries without a byte the read fails (ST_IO). An object that has
 * changed since is an error (ST_DATA), never a mixture; one that has no tag is asked for as a whole, and once.
 * Errors do not name the address: who knows the operator does. A server that gives no parts of objects is read
 * from front to back.
 */
#ifndef FETCH_FETCH_H
#define FETCH_FETCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/gate.h"
#include "fetch/link.h"

struct fetch_about {
	bool sized, parts; /* size is known; parts of it can be read */
	uint64_t size;
	char *tag;         /* NULL: nothing tells it from what may be there later */
};

/* side: what the gate is asked for. */
enum status fetch_about(const char *url, enum gate side, const struct fetch_wait *w, struct fetch_about *out,
			struct err *e);
void fetch_about_clear(struct fetch_about *a);
/* Makes a copy in *to. */
void fetch_about_copy(struct fetch_about *to, const struct fetch_about *from);

struct fetch;
/* Nothing is asked before the first read. tag NULL: that of the first answer counts from then on. */
enum status fetch_open(const char *url, const char *tag, const struct fetch_wait *w, struct fetch **out, struct err *e);
/* Gives what has come, at least a byte. ST_END: there are no more; ST_AGAIN: stopped. */
enum status fetch_read(struct fetch *f, uint8_t *p, size_t room, size_t *n, struct err *e);
/* Has the next read begin at the offset. */
void fetch_seek(struct fetch *f, uint64_t offset);
/* Says that little behind this offset will be wanted. */
void fetch_until(struct fetch *f, uint64_t end);
/* Gives the facts that are known so far; valid until the next call. */
const struct fetch_about *fetch_known(const struct fetch *f);
void fetch_close(struct fetch **f);

/* Calls `found` for each object whose key begins with the key of the address (s3), in the order of the keys'
 * bytes; flat: only for keys without a slash behind that. side: what the gate is asked for. */
typedef enum status fetch_found(void *arg, const char *key, const struct fetch_about *about, struct err *e);
enum status fetch_list(const char *url, bool flat, enum gate side, fetch_found *found, void *arg,
		       const struct fetch_wait *w, struct err *e);

#endif
