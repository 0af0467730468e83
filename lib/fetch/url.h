/* SPDX-License-Identifier: MIT
 *
 * Addresses of data on other machines, as pipelines name them in place of files:
 *
 *	https://HOST[:PORT]/PATH[?QUERY]   http:// as well; written as it is sent
 *	s3://BUCKET/KEY                    an object; the key as it is, nothing is encoded
 *
 * An address never holds a password: canonical specs are shown, hashed and stored.
 */
#ifndef FETCH_URL_H
#define FETCH_URL_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/gate.h"

struct words;

enum url_scheme { URL_HTTP, URL_HTTPS, URL_S3 };
enum { URL_MAX = 4000 }; /* most bytes of an address */

struct url {
	enum url_scheme scheme;
	char *host;  /* with its port, if one is written; of s3 the bucket */
	char *path;  /* with the slash in front; of s3 the key, without it */
	char *query; /* NULL: there is none */
};

/* Whether a word that stands where a file is expected is the address of something elsewhere: a
 * scheme that is known, right or wrong, and `://`. */
bool url_is(const char *word);
/* Takes it apart. Fails (ST_DATA) with what to write instead where the scheme is one that is known
 * and not read. *out is to be cleared in either case. */
enum status url_parse(const char *text, struct url *out, struct err *e);
void url_clear(struct url *u);
/* Appends the address as it may be shown in messages: without its query, in which signatures stand. */
void url_show(const char *text, struct buf *out);
/* Appends n bytes; all that are not letters, digits or one of -._~ or of `also` are percent-encoded. */
void url_encode(const char *s, size_t n, const char *also, struct buf *out);

/* Says which addresses pipelines may read, or write to, for the rest of the process: those that begin with one of
 * these, as far as a slash. What may be written may be read. To be called before there are threads. Without it, all. */
enum status url_gate_close(enum gate side, const struct words *roots, struct err *e);
/* Shuts a side, also while other threads read, unless it was closed before. */
void url_gate_shut(enum gate side);
/* Whether the address may be read or written to; ST_PERM with what mends it. */
enum status url_gate_ask(enum gate side, const char *text, const struct url *u, struct err *e);

#endif
