/* SPDX-License-Identifier: MIT */
#include "value/json/json_tape.h"

#include <string.h>

#include "base/hash.h"
#include "base/mem.h"
#include "value/json/json_wanted.h"
#include "value/mp.h"

enum {
	TAPE_MANY = 0xffffff,      /* limit of the tape's count of items: this many or more */
	TAPE_FEW = 16              /* fields compared each with each */
};

struct tape_pair {
	size_t key, value; /* indices of tape words */
};

static inline size_t
tape_next(const uint64_t *tape, size_t i)
{
	switch (tape[i] >> 56) {
	case '{': case '[': return (uint32_t)tape[i];
	case 'l': case 'u': case 'd': return i + 2;
	default: return i + 1;
	}
}

static inline const uint8_t *
tape_text(const struct simd_doc *d, size_t i, uint32_t *n)
{
	const uint8_t *s = d->strings + (d->tape[i] & 0xffffffffffffffu);

	memcpy(n, s, 4);
	return s + 4;
}

static inline uint8_t *
tape_put_text(const struct simd_doc *d, size_t i, uint8_t *w)
{
	uint32_t n;
	const uint8_t *s = tape_text(d, i, &n);

	return mp_put_text_slack(w, s, n);
}

/* Number of items of the list, or fields of the record, at i. */
static uint32_t
tape_count(const uint64_t *tape, size_t i)
{
	uint32_t n = (uint32_t)(tape[i] >> 32) & TAPE_MANY;

	if (n < TAPE_MANY)
		return n;
	size_t end = (uint32_t)tape[i] - 1;
	n = 0;
	for (size_t k = i + 1; k < end; k = tape_next(tape, k))
		n++;
	return (tape[i] >> 56) == '{' ? n / 2 : n;
}

/* Cheap test: false when all keys of the record at i are certainly different. */
static bool
tape_suspect(const struct simd_doc *d, size_t i)
{
	size_t end = (uint32_t)d->tape[i] - 1;
	uint64_t seen = 0;
	bool suspect = false;

	for (size_t k = i + 1; k < end; k = tape_next(d->tape, k + 1)) {
		uint32_t n;
		const uint8_t *s = tape_text(d, k, &n);
		/* for an empty key both are the NUL after it */
		uint64_t bit = 1ull << ((n * 7 + s[0] + s[n - (n > 0)] * 3u) & 63);

		suspect = suspect || (seen & bit);
		seen |= bit;
	}
	return suspect;
}

static bool
tape_same_text(const struct simd_doc *d, size_t a, size_t b)
{
	uint32_t n, m;
	const uint8_t *s = tape_text(d, a, &n), *t = tape_text(d, b, &m);

	return n == m && json_same_bytes(s, t, n);
}

struct tape_keys {
	const struct simd_doc *d;
	const struct tape_pair *pairs;
};

static inline bool
tape_same_key(const void *keys, uint32_t j, const void *k)
{
	const struct tape_keys *t = keys;

	return tape_same_text(t->d, t->pairs[j].key, *(const size_t *)k);
}

/* Index in pairs, m of which are filled, of the field with the key at k; m when it is new. */
static size_t
tape_find(const struct tape_keys *t, size_t m, struct slots *slots, size_t k)
{
	uint32_t n;

	if (!slots->n) {
		for (size_t j = 0; j < m; j++)
			if (tape_same_text(t->d, t->pairs[j].key, k))
				return j;
		return m;
	}
	const uint8_t *s = tape_text(t->d, k, &n);
	size_t at = slots_find(slots, hash_bytes(s, n), tape_same_key, t, &k);
	if (!slots->v[at])
		slots->v[at] = (uint32_t)m + 1;
	return slots->v[at] - 1;
}

/* Fills pairs with the fields, each key once, at its first place and with its last value;
 * gives their number. */
static uint32_t
tape_unique(const struct simd_doc *d, size_t i, uint32_t n, struct tape_pair *pairs)
{
	size_t end = (uint32_t)d->tape[i] - 1, m = 0;
	struct tape_keys keys = { d, pairs };
	struct slots slots = { 0 };

	if (n > TAPE_FEW)
		slots_widen(&slots, 2 * (size_t)n, 0, NULL, NULL);
	for (size_t k = i + 1; k < end; k = tape_next(d->tape, k + 1)) {
		size_t j = tape_find(&keys, m, &slots, k);

		if (j == m)
			pairs[m++].key = k;
		pairs[j].value = k + 1;
	}
	slots_clear(&slots);
	return (uint32_t)m;
}

static uint8_t *tape_put_record(const struct simd_doc *d, size_t i, uint8_t *w);
static uint8_t *tape_put_list(const struct simd_doc *d, size_t i, uint8_t *w);

/* Inlined into the loops over fields and items: most values are not containers, and cost less
 * than a call. */
static inline __attribute__((always_inline)) uint8_t *
tape_put(const struct simd_doc *d, size_t i, uint8_t *w)
{
	double f;

	switch (d->tape[i] >> 56) {
	case '"': return tape_put_text(d, i, w);
	case 'l': return mp_put_int(w, (int64_t)d->tape[i + 1]);
	case 'u': return mp_put_uint(w, d->tape[i + 1]);
	case 'd':
		memcpy(&f, &d->tape[i + 1], 8);
		return mp_put_float(w, f);
	case 't': return mp_put_bool(w, true);
	case 'f': return mp_put_bool(w, false);
	case '{': return tape_put_record(d, i, w);
	case '[': return tape_put_list(d, i, w);
	default: return mp_put_nil(w);
	}
}

static uint8_t *
tape_put_pairs(const struct simd_doc *d, const struct tape_pair *pairs, uint32_t m, uint8_t *w)
{
	w = mp_put_record_head(w, m);
	for (uint32_t k = 0; k < m; k++) {
		w = tape_put_text(d, pairs[k].key, w);
		w = tape_put(d, pairs[k].value, w);
	}
	return w;
}

/* Repeated keys are found before anything is written: taking back and writing again, record
 * within record, would double the work at each level. */
static __attribute__((noinline)) uint8_t *
tape_put_unique(const struct simd_doc *d, size_t i, uint32_t n, uint8_t *w)
{
	struct tape_pair few[TAPE_FEW], *pairs = few;

	if (n > TAPE_FEW)
		pairs = mem_array(n, sizeof *pairs);
	w = tape_put_pairs(d, pairs, tape_unique(d, i, n, pairs), w);
	if (pairs != few)
		mem_free(pairs);
	return w;
}

static __attribute__((noinline)) uint8_t *
tape_put_record(const struct simd_doc *d, size_t i, uint8_t *w)
{
	uint32_t n = tape_count(d->tape, i);
	size_t k = i + 1;

	if (n > TAPE_FEW || tape_suspect(d, i))
		return tape_put_unique(d, i, n, w);
	w = mp_put_record_head(w, n);
	while (n--) {
		w = tape_put_text(d, k, w);
		w = tape_put(d, k + 1, w);
		k = tape_next(d->tape, k + 1);
	}
	return w;
}

static __attribute__((noinline)) uint8_t *
tape_put_list(const struct simd_doc *d, size_t i, uint8_t *w)
{
	uint32_t n = tape_count(d->tape, i);

	w = mp_put_list_head(w, n);
	for (size_t k = i + 1; n--; k = tape_next(d->tape, k))
		w = tape_put(d, k, w);
	return w;
}

size_t
json_tape_room(const struct simd_doc *d, size_t text_len)
{
	/* A word is at most 5 bytes: the head of a text, list or record, half a
	 * number. The contents of texts are no longer than the text. */
	size_t words = d->tape[0] & 0xffffffffffffffu;

	return words * 5 + text_len + MP_TEXT_SLACK + MP_HEAD_MAX;
}

uint8_t *
json_tape_put(const struct simd_doc *d, const struct json_fields *f, uint8_t *w)
{
	struct tape_pair few[TAPE_FEW], *pairs = few;
	uint32_t place_few[TAPE_FEW] = { 0 }, *place = place_few; /* index + 1 in pairs */
	uint32_t m = 0;

	if (!f || d->tape[1] >> 56 != '{')
		return tape_put(d, 1, w);
	if (f->n > TAPE_FEW) {
		pairs = mem_array(f->n, sizeof *pairs);
		place = mem_array(f->n, sizeof *place);
	}
	size_t end = (uint32_t)d->tape[1] - 1, hint = 0;
	for (size_t k = 2; k < end; k = tape_next(d->tape, k + 1)) {
		uint32_t n;
		const uint8_t *s = tape_text(d, k, &n);
		size_t name = json_wanted(f, hint, s, n);

		if (name == f->n)
			continue;
		hint = name + 1;
		if (!place[name]) {
			pairs[m].key = k;
			place[name] = ++m;
		}
		pairs[place[name] - 1].value = k + 1;
	}
	w = tape_put_pairs(d, pairs, m, w);
	if (f->n > TAPE_FEW) {
		mem_free(pairs);
		mem_free(place);
	}
	return w;
}
