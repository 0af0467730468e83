/* SPDX-License-Identifier: MIT */
#include "trust/allowed.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "trust/trust_file.h"

/* Fills ip with 16 bytes, those of IPv4 as IPv6 has them. Returns how many bits an address of
 * its kind has before those; -1: it is none. */
static int
allowed_ip(const char *text, uint8_t ip[16])
{
	static const uint8_t four[12] = { [10] = 0xff, [11] = 0xff };
	struct in_addr v4;

	if (inet_pton(AF_INET6, text, ip) == 1)
		return 0;
	if (inet_pton(AF_INET, text, &v4) != 1)
		return -1;
	memcpy(ip, four, 12);
	memcpy(ip + 12, &v4, 4);
	return 96;
}

static bool
allowed_net(const char *from, uint8_t ip[16], int *bits)
{
	char text[ALLOWED_FROM];
	char *slash, *end;

	snprintf(text, sizeof text, "%s", from);
	if ((slash = strchr(text, '/')))
		*slash++ = '\0';
	int before = allowed_ip(text, ip);
	if (before < 0)
		return false;
	*bits = 128;
	if (!slash)
		return true;
	long n = strtol(slash, &end, 10);
	if (*slash < '0' || *slash > '9' || *end || n > 128 - before)
		return false;
	*bits = before + (int)n;
	return true;
}

bool
allowed_from_ok(const char *from)
{
	uint8_t ip[16];
	int bits;

	return strlen(from) < ALLOWED_FROM && allowed_net(from, ip, &bits);
}

bool
allowed_from_has(const char *from, const char *address)
{
	uint8_t net[16], ip[16];
	int bits;

	if (!*from)
		return true;
	if (!allowed_net(from, net, &bits) || allowed_ip(address, ip) < 0)
		return false;
	for (int i = 0; i < bits; i++)
		if ((net[i / 8] ^ ip[i / 8]) & (0x80 >> i % 8))
			return false;
	return true;
}

static bool
allowed_copy(char *to, size_t size, const char *p, size_t n)
{
	if (!n || n >= size)
		return false;
	memcpy(to, p, n);
	to[n] = '\0';
	return true;
}

/* One word among roles and options. */
static const char *
allowed_option(struct allowed_entry *a, const char *p, size_t n)
{
	unsigned may;

	if (n > 5 && !memcmp(p, "from=", 5))
		return allowed_copy(a->from, sizeof a->from, p + 5, n - 5) && allowed_from_ok(a->from) ? NULL :
			"from= takes an address, or one with /BITS";
	if (n > 6 && !memcmp(p, "until=", 6))
		return trust_time_parse(p + 6, n - 6, &a->until) ? NULL :
			"until= takes a date: 2026-11-22 or 2026-11-22T04:00Z";
	if (n > 5 && !memcmp(p, "jobs=", 5))
		return allowed_copy(a->jobs, sizeof a->jobs, p + 5, n - 5) ? NULL : "jobs= is too long";
	if (n == 4 && !memcmp(p, "exec", 4))
		may = MAY_EXEC;
	else if (!roles_parse(p, n, &may))
		return "there is an unknown role or option";
	a->may |= may;
	return NULL;
}

int
allowed_line(const char *line, size_t n, struct allowed_entry *out, const char **why)
{
	const char *at = line, *end = line + n, *word;
	size_t len;

	*out = (struct allowed_entry){ .until = INT64_MAX };
	*why = NULL;
	if (!trust_word(&at, end, &word, &len) || word[0] == '#')
		return 0;
	if (memchr(line, '\0', n)) {
		*why = "there is a NUL byte in it";
		return -1;
	}
	for (size_t i = 0; i <= len && !*why; ) {
		const char *comma = i < len ? memchr(word + i, ',', len - i) : NULL;
		size_t part = (comma ? (size_t)(comma - word) : len) - i;

		*why = allowed_option(out, word + i, part);
		i += part + 1;
	}
	if (!*why && !(out->may & MAY_ANY))
		*why = "there is no role";
	if (!*why && (!trust_word(&at, end, &word, &len) || !key_parse(word, len, &out->key)))
		*why = "the second word is no key";
	if (!*why && trust_word(&at, end, &word, &len) && word[0] != '#' &&
	    (!trust_name_ok(word, len) || !allowed_copy(out->name, sizeof out->name, word, len)))
		*why = "the name has characters that names may not have";
	if (!*why && out->name[0] && trust_word(&at, end, &word, &len) && word[0] != '#')
		*why = "something stands behind the name";
	return *why ? -1 : 1;
}

void
allowed_print(const struct allowed_entry *a, struct buf *out)
{
	char roles[ROLES_TEXT], key[KEY_TEXT + 1], until[TRUST_TIME];

	roles_print(a->may, roles);
	key_print(&a->key, key);
	buf_str(out, roles);
	if (a->from[0])
		buf_printf(out, ",from=%s", a->from);
	if (a->until != INT64_MAX) {
		trust_time(a->until, until);
		buf_printf(out, ",until=%s", until);
	}
	if (a->jobs[0])
		buf_printf(out, ",jobs=%s", a->jobs);
	buf_printf(out, " %s%s%s\n", key, a->name[0] ? " " : "", a->name);
}

/* Calls back for each line; the entry is NULL where there is none. */
static enum status
allowed_each(const char *text, size_t n,
	     enum status (*each)(void *arg, const char *line, size_t n, const struct allowed_entry *a), void *arg,
	     struct err *e)
{
	const char *end = text + n;

	for (unsigned number = 1; text < end; number++) {
		const char *nl = memchr(text, '\n', (size_t)(end - text)), *why;
		size_t len = (size_t)((nl ? nl : end) - text);
		struct allowed_entry a;
		int is = allowed_line(text, len, &a, &why);

		if (is < 0) {
			err_set(e, ST_CONFIG, "line %u of the allowed keys is none: %s", number, why);
			err_help(e, "a line is: ROLES[,OPTION...] KEY NAME; roles are " ROLES_HELP);
			return ST_CONFIG;
		}
		if (each(arg, text, len, is ? &a : NULL) != ST_OK)
			return err_set(e, ST_CONFIG, "there are more than %d allowed keys", ALLOWED_MAX);
		text += len + 1;
	}
	return ST_OK;
}

static enum status
allowed_take(void *arg, const char *line, size_t n, const struct allowed_entry *a)
{
	struct allowed *all = arg;

	(void)line, (void)n;
	if (!a)
		return ST_OK;
	if (all->n == ALLOWED_MAX)
		return ST_CONFIG;
	all->v = mem_grow(all->v, &all->cap, all->n + 1, sizeof *all->v);
	all->v[all->n++] = *a;
	return ST_OK;
}

enum status
allowed_parse(const char *text, size_t n, struct allowed *out, struct err *e)
{
	*out = (struct allowed){ 0 };
	enum status st = allowed_each(text, n, allowed_take, out, e);

	if (st != ST_OK)
		allowed_clear(out);
	return st;
}

enum status
allowed_read(const char *path, struct allowed *out, struct err *e)
{
	struct buf text = { 0 };
	enum status st = trust_read(path, &text, e);

	*out = (struct allowed){ 0 };
	if (st == ST_OK) {
		st = allowed_parse((char *)text.data, text.len, out, e);
		if (st != ST_OK)
			err_wrap(e, "%s", path);
	}
	buf_clear(&text);
	return st == ST_NOINPUT ? ST_OK : st;
}

void
allowed_clear(struct allowed *a)
{
	mem_free(a->v);
	*a = (struct allowed){ 0 };
}

const struct allowed_entry *
allowed_find(const struct allowed *a, const struct key *k, int64_t now)
{
	for (size_t i = a->n; i-- > 0;)
		if (key_same(&a->v[i].key, k))
			return a->v[i].until > now ? &a->v[i] : NULL;
	return NULL;
}

struct allowed_change {
	const struct allowed_entry *add;
	const char *strike;
	size_t struck;
	struct buf *out;
};

static enum status
allowed_keep(void *arg, const char *line, size_t n, const struct allowed_entry *a)
{
	struct allowed_change *c = arg;
	char key[KEY_TEXT + 1] = "";

	if (a)
		key_print(&a->key, key);
	bool strike = a && (c->add ? key_same(&a->key, &c->add->key) :
			    !strcmp(key, c->strike) || !strcmp(a->name, c->strike));
	c->struck += strike;
	if (!strike) {
		buf_put(c->out, line, n);
		buf_byte(c->out, '\n');
	}
	return ST_OK;
}

static enum status
allowed_edit(void *arg, const char *now, size_t n, struct buf *out, struct err *e)
{
	struct allowed_change *c = arg;

	c->out = out;
	enum status st = allowed_each(now, n, allowed_keep, c, e);
	if (st == ST_OK && c->add)
		allowed_print(c->add, out);
	return st == ST_OK && !c->add && !c->struck ? ST_SKIP : st;
}

enum status
allowed_add(const char *path, const struct allowed_entry *add, struct err *e)
{
	struct allowed_change c = { .add = add };

	return trust_edit(path, allowed_edit, &c, e);
}

enum status
allowed_strike(const char *path, const char *name_or_key, size_t *n, struct err *e)
{
	struct allowed_change c = { .strike = name_or_key };
	enum status st = trust_edit(path, allowed_edit, &c, e);

	*n = c.struck;
	return st;
}
