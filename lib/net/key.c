/* SPDX-License-Identifier: MIT */
#include "net/key.h"

#include <string.h>
#include <sys/prctl.h>

#include "net/zmq_lib.h"

static const char key_alphabet[] = "abcdefghijklmnopqrstuvwxyz234567";

enum { KEY_Z85 = 41, KEY_SHOWN = 6 };

void
key_pair_wipe(struct key_pair *p)
{
	memset(p, 0, sizeof *p);
	__asm__ volatile("" : : "r"(p) : "memory");
}

void
key_guard(void)
{
#ifndef __SANITIZE_ADDRESS__ /* its search for leaks looks into the process from another one */
	prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
#endif
}

void
key_pair_new(struct key_pair *out)
{
	char z[2][KEY_Z85];

	key_guard();
	zmq_lib_need();
	memset(out, 0, sizeof *out);
	if (zmq.curve_keypair(z[0], z[1]) == 0) {
		zmq.z85_decode(out->public.b, z[0]);
		zmq.z85_decode(out->secret.b, z[1]);
	}
	memset(z, 0, sizeof z);
	__asm__ volatile("" : : "r"(z) : "memory");
}

bool
key_pair_fits(const struct key_pair *p)
{
	char secret[KEY_Z85], public[KEY_Z85];
	struct key k;

	zmq_lib_need();
	bool fits = zmq.z85_encode(secret, p->secret.b, KEY_BYTES) && zmq.curve_public(public, secret) == 0 &&
		    zmq.z85_decode(k.b, public) && key_same(&k, &p->public);

	memset(secret, 0, sizeof secret);
	__asm__ volatile("" : : "r"(secret) : "memory");
	return fits;
}

bool
key_none(const struct key *k)
{
	static const struct key none;

	return key_same(k, &none);
}

bool
key_same(const struct key *a, const struct key *b)
{
	return memcmp(a->b, b->b, KEY_BYTES) == 0;
}

void
key_letters(const uint8_t *p, size_t n, char *out)
{
	unsigned bits = 0, have = 0;

	for (size_t i = 0; i < n; i++) {
		bits = (bits << 8 | p[i]) & 0xffff;
		for (have += 8; have >= 5; have -= 5)
			*out++ = key_alphabet[bits >> (have - 5) & 31];
	}
	if (have)
		*out++ = key_alphabet[bits << (5 - have) & 31];
	*out = '\0';
}

bool
key_unletter(const char *text, size_t len, uint8_t *p, size_t n)
{
	unsigned bits = 0, have = 0;
	size_t made = 0;

	if (len != KEY_LETTERS(n) - 1)
		return false;
	for (size_t i = 0; i < len; i++) {
		const char *at = text[i] ? strchr(key_alphabet, text[i]) : NULL;

		if (!at)
			return false;
		bits = (bits << 5 | (unsigned)(at - key_alphabet)) & 0xffff;
		have += 5;
		if (have >= 8) {
			have -= 8;
			p[made++] = (uint8_t)(bits >> have);
		}
	}
	return (bits & ((1u << have) - 1)) == 0; /* one way only to write each */
}

void
key_print(const struct key *k, char out[KEY_TEXT + 1])
{
	key_letters(k->b, KEY_BYTES, out);
}

void
key_short(const struct key *k, char out[KEY_SHORT])
{
	char text[KEY_TEXT + 1];

	key_print(k, text);
	memcpy(out, text, KEY_SHOWN);
	strcpy(out + KEY_SHOWN, "…");
}

bool
key_parse(const char *text, size_t n, struct key *out)
{
	return n == KEY_TEXT && key_unletter(text, n, out->b, KEY_BYTES);
}
