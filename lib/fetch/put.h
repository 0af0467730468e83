/* SPDX-License-Identifier: MIT
 *
 * Objects of s3:// written. One appears whole or not at all: in one piece with fetch_put, or as an
 * upload whose parts nobody sees before its end:
 *
 *	fetch_upload_begin --> id --> fetch_upload_part 1, 2, ... --> fetch_upload_end
 *	                                                          or  fetch_upload_cancel
 *
 * An upload outlives its process: whoever knows its id and the tags of its parts can go on with it, and
 * send a part once more. All requests are tried again as those of fetch.h. Errors do not name the address.
 */
#ifndef FETCH_PUT_H
#define FETCH_PUT_H

#include "base/buf.h"
#include "base/gate.h"
#include "fetch/link.h"

struct words;

/* Sizes of the parts but the last, and their number, as S3 has them. */
enum { PUT_PART_MIN = 5 * 1024 * 1024, PUT_PARTS_MAX = 10000 };

/* Whether something can be written there, without asking its server: ST_DATA: not s3://; ST_PERM: the gate. */
enum status put_check(const char *url, struct err *e);
/* Appends a small object. ST_NOINPUT: it is not there; ST_DATA: it has more than `most` bytes. tag: ST_NO if it still
 * has the tag *tag, which is replaced; NULL: it is not asked for. */
enum status fetch_get(const char *url, enum gate side, size_t most, char **tag, struct buf *out,
		      const struct fetch_wait *w, struct err *e);
/* fresh: ST_NO if there is one already. */
enum status fetch_put(const char *url, const void *p, size_t n, bool fresh, const struct fetch_wait *w, struct err *e);
/* One that is not there is removed. */
enum status fetch_remove(const char *url, const struct fetch_wait *w, struct err *e);

/* Gives the id. */
enum status fetch_upload_begin(const char *url, char **id, const struct fetch_wait *w, struct err *e);
/* Parts are numbered from 1. Gives its tag. ST_NOINPUT: there is no such upload any more. */
enum status fetch_upload_part(const char *url, const char *id, unsigned number, const void *p, size_t n, char **tag,
			      const struct fetch_wait *w, struct err *e);
/* Makes the object of the parts with these tags; ST_NOINPUT: there is no such upload any more. */
enum status fetch_upload_end(const char *url, const char *id, const struct words *tags, const struct fetch_wait *w,
			     struct err *e);
enum status fetch_upload_cancel(const char *url, const char *id, const struct fetch_wait *w, struct err *e);
/* Cancels all uploads to keys that begin with that of the address. */
enum status fetch_uploads_cancel(const char *url, const struct fetch_wait *w, struct err *e);

#endif
