/* SPDX-License-Identifier: MIT
 *
 * Invitations: a line of text that lets a key in that is not known yet.
 *
 *	dsvc-invitation-1 ADDRESS KEY ID.SECRET ROLES UNTIL
 *
 * KEY is the dispatcher's, so whoever joins knows whom to believe; SECRET shows that he was
 * invited. The dispatcher keeps the list: of each secret only a hash, how often it may be used,
 * and until when. Times are seconds since 1970.
 */
#ifndef TRUST_INVITATION_H
#define TRUST_INVITATION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "trust/allowed.h"
#include "trust/services.h"

#define INVITATION_WORD "dsvc-invitation-1"
enum {
	INVITATION_SECRET = 16, /* bytes of a secret */
	INVITATION_HASH = 32,
	INVITATION_ID = 8,      /* letters of an id */
	INVITATION_LETTERS = KEY_LETTERS(INVITATION_SECRET) - 1,
	INVITATIONS_MAX = 1000, INVITATION_USES = 1000,
	INVITATION_KEEP_S = 86400 /* one that is over is known for so long, to say why */
};

struct invitation {
	char address[SERVICE_ADDRESS];
	struct key key;
	char id[INVITATION_ID + 1];
	char secret[INVITATION_LETTERS + 1];
	unsigned may;
	int64_t until;
};
/* Reads a line, without its newline; ST_DATA: it is no invitation. */
enum status invitation_parse(const char *line, size_t n, struct invitation *out, struct err *e);
void invitation_print(const struct invitation *i, struct buf *out);

struct invited {
	char id[INVITATION_ID + 1];
	uint8_t hash[INVITATION_HASH]; /* BLAKE2b of the secret's letters */
	unsigned may;
	uint32_t uses;                 /* how often it may still be used */
	int64_t until;
	char name[ALLOWED_NAME], from[ALLOWED_FROM]; /* "": the guest's own name; any address */
};
struct invited_list { struct invited *v; size_t n, cap; };

/* Adds one; fills in id and secret of *out. ST_TEMP: there are too many. */
enum status invited_add(struct invited_list *l, const struct invited *what, int64_t now, struct invitation *out,
			struct err *e);
/* Whether some guest may come: one is open. */
bool invited_open(const struct invited_list *l, int64_t now);
/* Uses one. Lends what it gives; NULL, with an error of kind ST_PERM: it gives nothing. */
const struct invited *invited_use(struct invited_list *l, const char *id, const char *secret, const char *address,
				  int64_t now, struct err *e);
/* Writes them as lines of a file, and reads them back; a text that is none of ours is ST_CONFIG. */
void invited_print(const struct invited_list *l, int64_t now, struct buf *out);
enum status invited_parse(const char *text, size_t n, struct invited_list *out, struct err *e);
void invited_clear(struct invited_list *l);

#endif
