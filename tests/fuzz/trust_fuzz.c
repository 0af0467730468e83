/* SPDX-License-Identifier: MIT
 * Files of keys and rights, and invitations: any bytes are refused with words, or are read,
 * and come out the same after writing and reading them again. The first byte chooses:
 * 0 allowed keys, 1 a service, 2 an invitation, 3 the list of them, 4 letters of a key. */
#include <assert.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "trust/allowed.h"
#include "trust/invitation.h"
#include "trust/services.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void
fuzz_same(struct buf *a, struct buf *b)
{
	assert(a->len == b->len && (!a->len || !memcmp(a->data, b->data, a->len)));
	buf_clear(a);
	buf_clear(b);
}

static bool
fuzz_allowed(const char *p, size_t n, struct buf *out)
{
	struct allowed a;
	struct err e = { 0 };

	if (allowed_parse(p, n, &a, &e) != ST_OK) {
		assert(e.kind == ST_CONFIG && e.text[0]);
		return false;
	}
	for (size_t i = 0; i < a.n; i++) {
		allowed_print(&a.v[i], out);
		allowed_from_has(a.v[i].from, "10.0.0.1");
		allowed_find(&a, &a.v[i].key, 0);
	}
	allowed_clear(&a);
	return true;
}

static bool
fuzz_invitation(const char *p, size_t n, struct buf *out)
{
	struct invitation i;
	struct err e = { 0 };

	if (invitation_parse(p, n, &i, &e) != ST_OK) {
		assert(e.kind == ST_DATA && e.text[0]);
		return false;
	}
	invitation_print(&i, out);
	out->len--; /* the newline */
	return true;
}

static bool
fuzz_invited(const char *p, size_t n, struct buf *out)
{
	struct invited_list l;
	struct err e = { 0 };

	if (invited_parse(p, n, &l, &e) != ST_OK) {
		assert(e.kind == ST_CONFIG && e.text[0]);
		return false;
	}
	invited_print(&l, INT64_MIN / 2, out);
	invited_open(&l, 0);
	for (size_t i = 0; i < l.n; i++)
		assert(!invited_use(&l, l.v[i].id, "aaaaaaaaaaaaaaaaaaaaaaaaaa", "10.0.0.1", 0, &e));
	invited_clear(&l);
	return true;
}

static void
fuzz_letters(const char *p, size_t n)
{
	struct key k;
	char text[KEY_TEXT + 1];

	if (!key_parse(p, n, &k))
		return;
	key_print(&k, text);
	assert(!memcmp(text, p, KEY_TEXT));
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static bool (*const kinds[])(const char *p, size_t n, struct buf *out) = {
		fuzz_allowed, NULL, fuzz_invitation, fuzz_invited,
	};
	struct buf once = { 0 }, twice = { 0 };
	struct service_pin pin;

	if (!size)
		return 0;
	const char *p = (const char *)data + 1;
	unsigned kind = *data % 5;
	if (kind == 1 && service_line(p, size - 1, &pin) == 1)
		assert(pin.address[0]);
	else if (kind == 4)
		fuzz_letters(p, size - 1);
	else if (kind != 1 && kinds[kind](p, size - 1, &once)) {
		assert(kinds[kind](once.data ? (char *)once.data : "", once.len, &twice));
		fuzz_same(&once, &twice);
	}
	buf_clear(&once);
	buf_clear(&twice);
	return 0;
}
