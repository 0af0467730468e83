/* SPDX-License-Identifier: MIT
 *
 * Functions with a text or a regular expression to look for.
 */
#include <string.h>

#include "expr/fn.h"
#include "expr/needle.h"
#include "expr/run/seq.h"
#include "expr/vm.h"

/* A match of a pattern or text in `a`. */
struct match_at {
	size_t begin, end;
	const size_t *groups; /* groups as pattern_find gives them; NULL: the text is plain */
};

/* Finds the next match from byte `from` on. 1: found, 0: not found, below 0: failed, the fault
 * is set. */
static int
match_next(struct expr_vm *vm, const struct val *a, const struct val *what, size_t from,
	   struct match_at *m)
{
	if (what->kind == VAL_REGEX) {
		int rc = pattern_find(vm_pattern(vm, what->re), a->p, a->n, from,
				      &m->groups);

		if (rc < 0)
			vm_fault(vm, "%s", pattern_fault(rc));
		if (rc > 0) {
			m->begin = m->groups[0];
			m->end = m->groups[1];
			/* \K in a lookahead may put the end before the beginning */
			if (m->begin < from || m->end < m->begin || m->end > a->n)
				return 0;
		}
		return rc;
	}
	const uint8_t *p = needle_search(what->p, what->n, a->p + from, a->p + a->n);
	m->groups = NULL;
	if (!p)
		return 0;
	m->begin = (size_t)(p - a->p);
	m->end = m->begin + what->n;
	return 1;
}

/* Where to continue after a match: an empty one is stepped over by a character. */
static size_t
match_on(const struct val *a, const struct match_at *m)
{
	if (m->end > m->begin)
		return m->end;
	return (size_t)(seq_char(a->p + m->end, a->p + a->n, 1) - a->p) + (m->end == a->n);
}

static void
match_put(struct buf *b, const uint8_t *p, size_t n)
{
	struct val v = val_text(p, n);

	val_put(&v, b);
}

static enum status
match_first(struct expr_vm *vm, struct val *out, const struct val *a, unsigned n)
{
	struct match_at m;
	int rc = match_next(vm, &a[0], &a[1], 0, &m);

	(void)n;
	if (rc < 0)
		return ST_DATA;
	*out = rc ? val_text(a->p + m.begin, m.end - m.begin) : val_nil();
	return ST_OK;
}

static enum status
match_captures(struct expr_vm *vm, struct val *out, const struct val *a, unsigned n)
{
	const struct pattern *p = a[1].re;
	bool named = pattern_has_names(p);
	struct match_at m;
	uint32_t count = 0;
	int rc = match_next(vm, &a[0], &a[1], 0, &m);

	(void)n;
	if (rc < 0)
		return ST_DATA;
	*out = val_nil();
	if (!rc)
		return ST_OK;
	buf_reset(&vm->tmp);
	for (unsigned k = 1; k <= pattern_groups(p); k++) {
		const char *name = pattern_group_name(p, k);
		size_t begin = m.groups[2 * k], end = m.groups[2 * k + 1];

		if (named && !name)
			continue;
		if (named)
			match_put(&vm->tmp, (const uint8_t *)name, strlen(name));
		count++;
		if (begin == SIZE_MAX || end < begin)
			buf_byte(&vm->tmp, 0xc0);
		else
			match_put(&vm->tmp, a->p + begin, end - begin);
	}
	return vm_take_items(vm, named ? VAL_RECORD : VAL_LIST, count, out);
}

static enum status
match_find(struct expr_vm *vm, struct val *out, const struct val *a, unsigned n)
{
	struct match_at m;
	int64_t at = 0;

	(void)n;
	*out = val_nil();
	if (a->kind == VAL_LIST) {
		const uint8_t *p;
		struct val item = { 0 };

		for (uint32_t left = val_count(a, &p); left; left--, at++, p = mp_past(p)) {
			val_load(p, &item);
			if (val_equal(&item, &a[1])) {
				*out = val_int(at);
				break;
			}
		}
		return ST_OK;
	}
	if (a[1].kind != VAL_REGEX && a[1].kind != a[0].kind)
		return vm_fault(vm, "find() of %s in %s", val_kind_name(a[1].kind),
				val_kind_name(a->kind));
	int rc = match_next(vm, &a[0], &a[1], 0, &m);
	if (rc < 0)
		return ST_DATA;
	if (rc)
		*out = val_int(a->kind == VAL_BYTES ? (int64_t)m.begin
			       : (int64_t)seq_chars(a->p, m.begin));
	return ST_OK;
}

static enum status
match_split_blanks(struct expr_vm *vm, struct val *out, const struct val *a)
{
	uint32_t count = 0, at = 0, begin;

	for (;;) {
		while (at < a->n && (a->p[at] == ' ' || (a->p[at] >= '\t' && a->p[at] <= '\r')))
			at++;
		if (at == a->n)
			break;
		for (begin = at; at < a->n && a->p[at] != ' '
		     && !(a->p[at] >= '\t' && a->p[at] <= '\r'); at++)
			;
		match_put(&vm->tmp, a->p + begin, at - begin);
		count++;
	}
	return vm_take_items(vm, VAL_LIST, count, out);
}

enum { MATCH_SHORT = 31 }; /* bytes of the longest text whose head is one byte */

/* Puts a part of the text that ends at `end`. There is room for it, and for as many bytes as a short one may have. */
static inline uint8_t *
match_put_part(uint8_t *w, const uint8_t *p, size_t n, const uint8_t *end)
{
	if (n > MATCH_SHORT) {
		w = mp_put_text_head(w, (uint32_t)n);
		memcpy(w, p, n);
		return w + n;
	}
	*w++ = (uint8_t)(0xa0 | n);
	if (end - p >= MATCH_SHORT)
		memcpy(w, p, MATCH_SHORT); /* without a call: what is too much is written over */
	else if (n)
		memcpy(w, p, n);
	return w + n;
}

/* Splits at each byte c; the list is made where it is to lie. */
static enum status
match_split_byte(struct expr_vm *vm, struct val *out, const struct val *a, uint8_t c)
{
	const uint8_t *begin = a->p, *end = begin + a->n;
	size_t parts = 1 + needle_count(begin, end, c);
	/* the head of a text has fewer bytes than the separator and the text behind it, unless it is short */
	uint8_t *list = vm_room(vm, a->n + parts + a->n / MATCH_SHORT * MP_HEAD_MAX + 2 * MP_HEAD_MAX + MATCH_SHORT), *w;

	if (!list)
		return ST_DATA;
	w = mp_put_list_head(list, (uint32_t)parts);
	for (const uint8_t *p = begin; p < end; p += NEEDLE_PLACES) {
		size_t n = (size_t)(end - p) < NEEDLE_PLACES ? (size_t)(end - p) : NEEDLE_PLACES;

		for (uint64_t mask = needle_places(p, n, c); mask; mask &= mask - 1) {
			const uint8_t *at = p + __builtin_ctzll(mask);

			w = match_put_part(w, begin, (size_t)(at - begin), end);
			begin = at + 1;
		}
	}
	w = match_put_part(w, begin, (size_t)(end - begin), end);
	scratch_done(&vm->scratch, w);
	*out = val_whole(VAL_LIST, list, (size_t)(w - list));
	return ST_OK;
}

static enum status
match_split(struct expr_vm *vm, struct val *out, const struct val *a, unsigned n)
{
	struct match_at m;
	size_t begin = 0, from = 0;
	uint32_t count = 0;
	int rc;

	buf_reset(&vm->tmp);
	if (n < 2)
		return match_split_blanks(vm, out, a);
	if (a[1].kind == VAL_TEXT && a[1].n == 0) {
		for (size_t at = 0; at < a->n; at = from, count++) {
			from = (size_t)(seq_char(a->p + at, a->p + a->n, 1) - a->p);
			match_put(&vm->tmp, a->p + at, from - at);
		}
		return vm_take_items(vm, VAL_LIST, count, out);
	}
	if (a[1].kind == VAL_TEXT && a[1].n == 1)
		return match_split_byte(vm, out, a, *a[1].p);
	while (from <= a->n && (rc = match_next(vm, &a[0], &a[1], from, &m))) {
		if (rc < 0)
			return ST_DATA;
		from = match_on(a, &m);
		if (m.end == m.begin && (m.begin == begin || m.begin == a->n))
			continue; /* an empty match cuts only between characters */
		match_put(&vm->tmp, a->p + begin, m.begin - begin);
		count++;
		begin = m.end;
	}
	match_put(&vm->tmp, a->p + begin, a->n - begin);
	return vm_take_items(vm, VAL_LIST, count + 1, out);
}

/* Number of the group that $1, ${12} or ${name} at p refers to; *p moves past it. -1: there is
 * none. */
static int
match_group(const struct pattern *re, const uint8_t **p, const uint8_t *end)
{
	const uint8_t *at = *p + 1, *begin;
	unsigned k = 0;

	if (at < end && *at >= '0' && *at <= '9') {
		*p = at + 1;
		return *at - '0' <= (int)pattern_groups(re) ? *at - '0' : -1;
	}
	if (at >= end || *at != '{')
		return -1;
	for (begin = ++at; at < end && *at != '}'; at++)
		k = *at >= '0' && *at <= '9' && k < 1000 ? k * 10 + (*at - '0') : 1000;
	if (at == end || at == begin)
		return -1;
	*p = at + 1;
	if (k <= pattern_groups(re))
		return (int)k;
	for (k = 1; k <= pattern_groups(re); k++) {
		const char *name = pattern_group_name(re, k);

		if (name && strlen(name) == (size_t)(at - begin)
		    && !memcmp(name, begin, (size_t)(at - begin)))
			return (int)k;
	}
	return -1;
}

static enum status
match_substitute(struct expr_vm *vm, const struct val *a, const struct match_at *m)
{
	const uint8_t *p = a[2].p, *end = p + a[2].n;

	while (p < end) {
		const uint8_t *next = memchr(p, '$', (size_t)(end - p));

		if (!next)
			next = end;
		buf_put(&vm->tmp, p, (size_t)(next - p));
		p = next;
		if (p == end)
			break;
		if (p + 1 < end && p[1] == '$') {
			buf_byte(&vm->tmp, '$');
			p += 2;
			continue;
		}
		int k = match_group(a[1].re, &p, end);
		if (k < 0)
			return vm_fault(vm, "replace(): no such group after `$` "
					"($$ is the sign itself)");
		size_t begin = m->groups[2 * k], stop = m->groups[2 * k + 1];
		if (begin != SIZE_MAX && stop >= begin)
			buf_put(&vm->tmp, a->p + begin, stop - begin);
	}
	return ST_OK;
}

static enum status
match_replace(struct expr_vm *vm, struct val *out, const struct val *a, unsigned n)
{
	struct match_at m;
	size_t copied = 0, from = 0;
	int rc;

	(void)n;
	if (a[1].kind == VAL_TEXT && a[1].n == 0)
		return vm_fault(vm, "replace() of an empty text");
	buf_reset(&vm->tmp);
	while (from <= a->n && (rc = match_next(vm, &a[0], &a[1], from, &m))) {
		if (rc < 0)
			return ST_DATA;
		buf_put(&vm->tmp, a->p + copied, m.begin - copied);
		if (!m.groups)
			buf_put(&vm->tmp, a[2].p, a[2].n);
		else if (match_substitute(vm, a, &m))
			return ST_DATA;
		copied = m.end;
		from = match_on(a, &m);
		if (vm->tmp.len > SCRATCH_VALUE_MAX)
			break;
	}
	if (copied == 0 && from == 0) {
		*out = *a; /* nothing was found, so the text stays */
		return ST_OK;
	}
	buf_put(&vm->tmp, a->p + copied, a->n - copied);
	return vm_take_tmp(vm, VAL_TEXT, out);
}

static const struct type *
match_type_text(struct types *t, const struct type *const *a, unsigned n)
{
	(void)a;
	(void)n;
	return type_nullable(t, type_scalar(TYPE_TEXT));
}

static const struct type *
match_type_int(struct types *t, const struct type *const *a, unsigned n)
{
	(void)a;
	(void)n;
	return type_nullable(t, type_scalar(TYPE_INT));
}

const struct fn fn_match[] = {
	{ "match", "tR", NULL, match_type_text, match_first, .args = "text, /re/",
	  .brief = "the first part of the text that matches, or null",
	  .example = "match(\"id=42;\", /[0-9]+/)", .output = "42" },
	{ "captures", "tR", NULL, NULL, match_captures, .args = "text, /re/",
	  .brief = "what the groups of the first match contain, as a list, or as a record if they "
		  "have names; null without a match",
	  .example = "captures(\"k=v\", /(?<key>.)=(?<value>.)/)",
	  .output = "{\"key\":\"k\",\"value\":\"v\"}" },
	{ "find", "qf", NULL, match_type_int, match_find, .args = "text|bytes|list, text|/re/|item",
	  .brief = "index of the first match, from 0, or null",
	  .example = "[find(\"abc\", \"c\"), find([5, 6], 7)]", .output = "[2,null]" },
	{ "split", "t?p", "[text]", .call = match_split, .args = "text[, text|/re/]",
	  .brief = "the parts of the text between separators; by default the separators are blanks",
	  .example = "split(\"a, b\", /, */)", .output = "[\"a\",\"b\"]" },
	{ "replace", "tpt", "text", .call = match_replace, .args = "text, text|/re/, by",
	  .brief = "the text with each match replaced; $1 and ${name} are groups of a "
		  "regular expression",
	  .example = "replace(\"a-b\", /(.)-(.)/, \"$2-$1\")", .output = "b-a" },
	{ 0 }
};
