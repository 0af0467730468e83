/* SPDX-License-Identifier: MIT */
#include "trust/invitation.h"

#include <sodium.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "trust/trust_file.h"

static enum status
invitation_bad(struct err *e, const char *why)
{
	err_set(e, ST_DATA, "this is not an invitation: %s", why);
	err_help(e, "dsvc-invite prints one: a line that begins with " INVITATION_WORD);
	return ST_DATA;
}

static bool
invitation_letters(const char *p, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (!((p[i] >= 'a' && p[i] <= 'z') || (p[i] >= '2' && p[i] <= '7')))
			return false;
	return true;
}

enum status
invitation_parse(const char *line, size_t n, struct invitation *out, struct err *e)
{
	const char *at = line, *end = line + n, *w[6], *extra;
	size_t len[6], i = 0;

	memset(out, 0, sizeof *out);
	while (i < 6 && trust_word(&at, end, &w[i], &len[i]))
		i++;
	if (!i || len[0] != strlen(INVITATION_WORD) || memcmp(w[0], INVITATION_WORD, len[0]) != 0)
		return invitation_bad(e, "it does not begin with " INVITATION_WORD);
	if (i < 6 || trust_word(&at, end, &extra, &len[0]))
		return invitation_bad(e, "it has not six words; it may have been cut");
	if (len[1] <= 6 || len[1] >= sizeof out->address || memcmp(w[1], "tcp://", 6) != 0 ||
	    memchr(w[1], '\0', len[1]))
		return invitation_bad(e, "the second word is not an address");
	memcpy(out->address, w[1], len[1]);
	if (!key_parse(w[2], len[2], &out->key))
		return invitation_bad(e, "the third word is not a key");
	if (len[3] != INVITATION_ID + 1 + INVITATION_LETTERS || w[3][INVITATION_ID] != '.' ||
	    !invitation_letters(w[3], INVITATION_ID) ||
	    !invitation_letters(w[3] + INVITATION_ID + 1, INVITATION_LETTERS))
		return invitation_bad(e, "the fourth word is not a secret");
	memcpy(out->id, w[3], INVITATION_ID);
	memcpy(out->secret, w[3] + INVITATION_ID + 1, INVITATION_LETTERS);
	if (!roles_parse(w[4], len[4], &out->may) || w[5][len[5] - 1] != 'Z' ||
	    !trust_time_parse(w[5], len[5], &out->until))
		return invitation_bad(e, "its roles or its date cannot be read");
	return ST_OK;
}

void
invitation_print(const struct invitation *i, struct buf *out)
{
	char key[KEY_TEXT + 1], roles[ROLES_TEXT], until[TRUST_TIME];

	key_print(&i->key, key);
	roles_print(i->may, roles);
	trust_time(i->until, until);
	buf_printf(out, INVITATION_WORD " %s %s %s.%s %s %s\n", i->address, key, i->id, i->secret, roles, until);
}

static void
invited_hash(const char *secret, uint8_t out[INVITATION_HASH])
{
	crypto_generichash(out, INVITATION_HASH, (const uint8_t *)secret, strlen(secret), NULL, 0);
}

/* Drops those that have been over for long. */
static void
invited_tidy(struct invited_list *l, int64_t now)
{
	size_t kept = 0;

	for (size_t i = 0; i < l->n; i++)
		if (l->v[i].until > now - INVITATION_KEEP_S)
			l->v[kept++] = l->v[i];
	l->n = kept;
}

enum status
invited_add(struct invited_list *l, const struct invited *what, int64_t now, struct invitation *out, struct err *e)
{
	uint8_t id[5], secret[INVITATION_SECRET];

	invited_tidy(l, now);
	if (l->n >= INVITATIONS_MAX) {
		err_set(e, ST_TEMP, "there are %d invitations already", INVITATIONS_MAX);
		err_help(e, "they are forgotten a day after their end");
		return ST_TEMP;
	}
	randombytes_buf(id, sizeof id);
	randombytes_buf(secret, sizeof secret);
	key_letters(id, sizeof id, out->id);
	key_letters(secret, sizeof secret, out->secret);
	sodium_memzero(secret, sizeof secret);
	out->may = what->may;
	out->until = what->until;
	l->v = mem_grow(l->v, &l->cap, l->n + 1, sizeof *l->v);
	struct invited *i = &l->v[l->n++];
	*i = *what;
	memcpy(i->id, out->id, sizeof i->id);
	invited_hash(out->secret, i->hash);
	return ST_OK;
}

bool
invited_open(const struct invited_list *l, int64_t now)
{
	for (size_t i = 0; i < l->n; i++)
		if (l->v[i].uses && l->v[i].until > now)
			return true;
	return false;
}

static const struct invited *
invited_refuse(struct err *e, const char *why)
{
	err_set(e, ST_PERM, "%s", why);
	err_help(e, "ask for another one");
	return NULL;
}

const struct invited *
invited_use(struct invited_list *l, const char *id, const char *secret, const char *address, int64_t now,
	    struct err *e)
{
	uint8_t hash[INVITATION_HASH];
	struct invited *i = NULL;

	for (size_t k = 0; k < l->n && !i; k++)
		if (!strcmp(l->v[k].id, id))
			i = &l->v[k];
	invited_hash(secret, hash);
	if (!i || sodium_memcmp(hash, i->hash, sizeof hash) != 0)
		return invited_refuse(e, "there is no such invitation");
	if (!i->uses)
		return invited_refuse(e, "the invitation was used");
	if (i->until <= now) {
		char until[TRUST_TIME], text[96];
		trust_time(i->until, until);
		snprintf(text, sizeof text, "the invitation ended at %s", until);
		return invited_refuse(e, text);
	}
	if (!allowed_from_has(i->from, address))
		return invited_refuse(e, "the invitation is for another address than the one you come from");
	i->uses--;
	return i;
}

void
invited_print(const struct invited_list *l, int64_t now, struct buf *out)
{
	char hash[KEY_LETTERS(INVITATION_HASH)], roles[ROLES_TEXT];

	for (size_t k = 0; k < l->n; k++) {
		const struct invited *i = &l->v[k];

		if (i->until <= now - INVITATION_KEEP_S)
			continue;
		key_letters(i->hash, INVITATION_HASH, hash);
		roles_print(i->may, roles);
		buf_printf(out, "%s %s %s %u %lld %s %s\n", i->id, hash, roles, i->uses, (long long)i->until,
			   i->name[0] ? i->name : "-", i->from[0] ? i->from : "-");
	}
}

static bool
invited_line(const char *line, size_t n, struct invited *i)
{
	const char *at = line, *w[7];
	size_t len[7], k = 0;
	int64_t uses, until;

	memset(i, 0, sizeof *i);
	while (k < 7 && trust_word(&at, line + n, &w[k], &len[k]))
		k++;
	if (k < 7 || at != line + n || memchr(line, '\0', n) || len[0] != INVITATION_ID ||
	    !invitation_letters(w[0], len[0]) || !key_unletter(w[1], len[1], i->hash, INVITATION_HASH) ||
	    !roles_parse(w[2], len[2], &i->may) || !str_int(w[3], len[3], &uses) || uses < 0 ||
	    uses > INVITATION_USES || !str_int(w[4], len[4], &until) || !trust_name_ok(w[5], len[5]) ||
	    len[6] >= sizeof i->from)
		return false;
	memcpy(i->id, w[0], len[0]);
	i->uses = (uint32_t)uses;
	i->until = until;
	if (len[5] != 1 || w[5][0] != '-')
		memcpy(i->name, w[5], len[5]);
	if (len[6] != 1 || w[6][0] != '-')
		memcpy(i->from, w[6], len[6]);
	return !i->from[0] || allowed_from_ok(i->from);
}

enum status
invited_parse(const char *text, size_t n, struct invited_list *out, struct err *e)
{
	const char *end = text + n;

	*out = (struct invited_list){ 0 };
	while (text < end) {
		const char *nl = memchr(text, '\n', (size_t)(end - text));
		size_t len = (size_t)((nl ? nl : end) - text);
		struct invited i;

		if (out->n == 2 * INVITATIONS_MAX || !invited_line(text, len, &i)) {
			invited_clear(out);
			return err_set(e, ST_CONFIG, "the list of invitations is damaged");
		}
		out->v = mem_grow(out->v, &out->cap, out->n + 1, sizeof *out->v);
		out->v[out->n++] = i;
		text += len + 1;
	}
	return ST_OK;
}

void
invited_clear(struct invited_list *l)
{
	mem_free(l->v);
	*l = (struct invited_list){ 0 };
}
