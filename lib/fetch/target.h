/* SPDX-License-Identifier: MIT
 *
 * Where requests for an address go, which redirections change.
 */
#ifndef FETCH_TARGET_H
#define FETCH_TARGET_H

#include <stdbool.h>

#include "fetch/keys.h"
#include "fetch/url.h"

struct target {
	char *name;  /* the address as it is shown */
	char *url;   /* http and https: the address that is asked */
	struct url u;
	char *region; /* s3: the bucket's, as far as is known */
	enum gate side;
	int moves;   /* number of redirections followed */
};

/* Fails for what is no address, and where that side of the gate refuses it. */
enum status target_init(struct target *t, const char *text, enum gate side, struct err *e);
void target_clear(struct target *t);
/* Appends the address to be asked: of the object or the bucket (s3), with a query or NULL; it is encoded, and its
 * names are sorted, as S3 wants them signed. */
void target_request(const struct target *t, bool bucket, const char *query, struct buf *out);
/* Goes on at another address, or with another region (either may be NULL). Fails where that leads too
 * far, from https to http, or where the gate refuses it. */
enum status target_move(struct target *t, const char *url, const char *region, struct err *e);

#endif
