/* SPDX-License-Identifier: MIT */
#include "value/json/json_skim.h"

#include "value/json/json_wanted.h"
#include "value/mp.h"
#include "value/num.h"

enum {
	SKIM_FIELDS = 16,  /* most fields wanted */
	SKIM_DIGITS = 15   /* digits of a number that fit a double exactly, like the power of ten */
};

/* A field that is wanted: indices into simd_marks.v. */
struct skim_pair {
	size_t key, value;
};

/* Whether the byte may follow a number or a word. */
static inline bool
skim_ends(uint8_t c)
{
	return c == ',' || c == '}' || c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

static inline uint8_t *
skim_put_number(const uint8_t *p, uint8_t *w)
{
	bool minus = *p == '-';
	struct num_plain x;

	p = num_plain_read(p + minus, NULL, &x);
	if (!p || x.digits > SKIM_DIGITS || !skim_ends(*p))
		return NULL;
	if (!x.places)
		return mp_put_int(w, minus ? -(int64_t)x.all : (int64_t)x.all);
	return mp_put_float(w, num_quotient(x.all, x.places, minus));
}

/* The text whose quote opens at `at`, up to `next`; only blanks may follow it. */
static inline const uint8_t *
skim_text(const uint8_t *text, size_t at, size_t next, uint32_t *n)
{
	size_t end = next - 1;

	while (end > at && text[end] != '"')
		end--;
	*n = (uint32_t)(end > at ? end - at - 1 : 0);
	return text + at + 1;
}

/* Puts the value at `at`; NULL: json_skim does not handle it. */
static inline uint8_t *
skim_put(const uint8_t *text, size_t at, size_t next, uint8_t *w)
{
	const uint8_t *p = text + at;
	uint32_t n;

	switch (*p) {
	case '"':
		p = skim_text(text, at, next, &n);
		return mp_put_text_slack(w, p, n);
	case 't':
		return memcmp(p, "true", 4) || !skim_ends(p[4]) ? NULL : mp_put_bool(w, true);
	case 'f':
		return memcmp(p, "false", 5) || !skim_ends(p[5]) ? NULL : mp_put_bool(w, false);
	case 'n':
		return memcmp(p, "null", 4) || !skim_ends(p[4]) ? NULL : mp_put_nil(w);
	default:
		return skim_put_number(p, w);
	}
}

/* Whether the value is one that skim_put takes. */
static inline bool
skim_valid(const uint8_t *text, size_t at, size_t next)
{
	uint8_t waste[MP_HEAD_MAX + 8];

	return text[at] == '"' || skim_put(text, at, next, waste);
}

/* Walks the fields of the record; checks each and collects the wanted ones in pairs. Gives
 * their number; -1: json_skim does not handle the record. *at moves to the bracket at the end. */
static inline int
skim_fields(const uint8_t *text, const struct simd_marks *x, size_t line_end,
	    const struct json_fields *f, struct skim_pair *pairs, size_t *at)
{
	const uint32_t *v = x->v;
	size_t i = x->at, hint = 0;
	uint32_t seen = 0, n;
	int m = 0;

	/* At i is { or a comma: then "name" : value, and a comma or }. */
	do {
		if (i + 4 >= x->n || v[i + 4] >= line_end || text[v[i + 1]] != '"'
		    || text[v[i + 2]] != ':')
			return -1;
		const uint8_t *s = skim_text(text, v[i + 1], v[i + 2], &n);
		size_t name = json_wanted(f, hint, s, n);

		if (name == f->n) {
			if (!skim_valid(text, v[i + 3], v[i + 4]))
				return -1;
		} else {
			if (seen & 1u << name)
				return -1;
			seen |= 1u << name;
			hint = name + 1;
			pairs[m++] = (struct skim_pair){ i + 1, i + 3 };
		}
		i += 4;
	} while (text[v[i]] == ',');
	*at = i;
	return text[v[i]] == '}' ? m : -1;
}

size_t
json_skim_room(size_t line_len)
{
	/* A value is at most 9 bytes, or a text with its head. */
	return line_len + SKIM_FIELDS * (MP_HEAD_MAX + 9) + MP_HEAD_MAX + MP_TEXT_SLACK;
}

bool
json_skim(const uint8_t *text, struct simd_marks *x, size_t line_end,
	  const struct json_fields *f, uint8_t **wp)
{
	struct skim_pair pairs[SKIM_FIELDS];
	const uint32_t *v = x->v;
	uint8_t *w = *wp;
	size_t end;
	uint32_t n;

	if (f->n > SKIM_FIELDS || x->at >= x->n || text[v[x->at]] != '{')
		return false;
	int m = skim_fields(text, x, line_end, f, pairs, &end);
	if (m < 0 || (end + 1 < x->n && v[end + 1] < line_end))
		return false;
	w = mp_put_record_head(w, (uint32_t)m);
	for (int k = 0; k < m; k++) {
		const struct skim_pair *p = &pairs[k];
		const uint8_t *s = skim_text(text, v[p->key], v[p->key + 1], &n);

		w = mp_put_text_slack(w, s, n);
		w = skim_put(text, v[p->value], v[p->value + 1], w);
		if (!w)
			return false;
	}
	*wp = w;
	x->at = end + 1;
	return true;
}
