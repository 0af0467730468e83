/* SPDX-License-Identifier: MIT
 *
 * Keys of CURVE, libzmq's encryption: 32 bytes, a public one and a secret one.
 * People see a public key as 52 lower-case letters and digits (base32 of RFC 4648,
 * without padding): libzmq's own way of writing, Z85, holds most of what a shell
 * takes for something else.
 */
#ifndef NET_KEY_H
#define NET_KEY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	KEY_BYTES = 32,
	KEY_TEXT = 52,   /* letters of a key */
	KEY_SHORT = 12   /* room for key_short, with its end */
};

struct key { uint8_t b[KEY_BYTES]; };
struct key_pair { struct key public, secret; };

/* From now on this process leaves no core file, and other programs of its user cannot look into
 * its memory: copies of a secret key are in libzmq, too. To be called before one is there. */
void key_guard(void);
/* A fresh pair; guards it. */
void key_pair_new(struct key_pair *out);
/* Whether the public key is that of the secret one. */
bool key_pair_fits(const struct key_pair *p);
/* Overwrites both with zeros, which the compiler does not leave out. */
void key_pair_wipe(struct key_pair *p);
bool key_none(const struct key *k); /* all zeros: no key */
bool key_same(const struct key *a, const struct key *b);
/* Fills out with KEY_TEXT letters and a NUL. */
void key_print(const struct key *k, char out[KEY_TEXT + 1]);
/* Fills out with the first letters and an ellipsis, for messages. */
void key_short(const struct key *k, char out[KEY_SHORT]);
/* False: not exactly KEY_TEXT letters of a key. */
bool key_parse(const char *text, size_t n, struct key *out);

/* Any bytes in the same letters; out has room for KEY_LETTERS(n). */
#define KEY_LETTERS(n) (((n) * 8 + 4) / 5 + 1)
void key_letters(const uint8_t *p, size_t n, char *out);
/* False: these are not the letters of n bytes. */
bool key_unletter(const char *text, size_t len, uint8_t *p, size_t n);

#endif
