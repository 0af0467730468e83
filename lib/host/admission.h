/* SPDX-License-Identifier: MIT
 *
 * Admission to a dispatcher: its own key, the file of allowed keys, which is read again when
 * it changes, and the invitations, which it keeps beside its state.
 *
 *	a key of the file         its roles
 *	the dispatcher's own      everything: whoever has it is the same user
 *	any other key             a guest, while an invitation is open; else refused
 *	without a key             everything: it came over a private socket, or nobody asks
 */
#ifndef HOST_ADMISSION_H
#define HOST_ADMISSION_H

#include <stdbool.h>
#include <stdint.h>

#include "core/disp/dispatcher.h"
#include "net/key.h"

enum { ADMISSION_LOOK_MS = 500, ADMISSION_TRIES = 3 };

struct admission;

/* allowed NULL: in the folder of the state, or, without one (state NULL), beside the key. The
 * key is made when there is none. Gives. */
enum status admission_open(const char *allowed, const char *state, struct admission **out, struct err *e);
void admission_free(struct admission **a);
const struct key_pair *admission_keys(const struct admission *a);
const char *admission_allowed(const struct admission *a); /* path of the file; lends */
bool admission_any(const struct admission *a);            /* the file has some key */
/* For invitations: an address that others connect to; the first one by TCP is taken. */
void admission_bound(struct admission *a, const char *address);

/* The answer to the door. */
const char *admission_door(void *a, const struct key *k, const char *address);
/* About the sender of a message; user: of the door, or NULL. Lends until the file is read
 * again. */
struct disp_who admission_who(const struct admission *a, const char *user);
unsigned admission_may(void *a, const char *user);
/* Looks whether the file has changed, or an entry has come to its end: true. A file that
 * cannot be read, or is damaged, is as if it were empty, and is told in the log. */
bool admission_look(struct admission *a, int64_t now_ns);
/* Has admission_look read the file again, whether it looks changed or not. */
void admission_again(struct admission *a);
int64_t admission_deadline(const struct admission *a);

/* Answers JOIN of a guest, or of a key that gets more roles, and INVITE of who may: true, with the
 * answer, given. address: the sender's, without port; NULL if user is. *cut: the guest has tried too
 * often, and gets no answer. */
bool admission_message(struct admission *a, const char *user, const char *address, const struct disp_who *who,
		       const struct msg *m, struct msg *answer, bool *cut);

#endif
