/* SPDX-License-Identifier: MIT */
#include "op/whole/wide_sum.h"

#include <math.h>
#include <string.h>

enum { WIDE_SUM, WIDE_SQUARES };                     /* the two sums */
enum { WIDE_NAN = 1, WIDE_PLUS = 2, WIDE_MINUS = 4 }; /* numbers that are not finite were added */

struct wide_head {
	int8_t low[2];  /* the lowest limb of each sum */
	uint8_t n[2];   /* the number of its limbs */
	uint8_t flags;
	uint8_t zero[3];
};
_Static_assert(sizeof(struct wide_head) == WIDE_HEAD, "the head has no gaps");

/* A number that is added to a sum: words from the limb `low` on. */
struct wide_term {
	uint64_t w[3];
	int low, n; /* n: 0: nothing */
	bool negative;
};

static struct wide_head
wide_head(const uint8_t *p, size_t len)
{
	struct wide_head h = { 0 };

	if (len)
		memcpy(&h, p, sizeof h);
	return h;
}

static uint64_t
wide_get(const uint8_t *p, size_t k)
{
	uint64_t w;

	memcpy(&w, p + k * sizeof w, sizeof w);
	return w;
}

static void
wide_put(uint8_t *p, size_t k, uint64_t w)
{
	memcpy(p + k * sizeof w, &w, sizeof w);
}

/* m * 2 ** bit in n words. How many of them are 0 is not looked at: nobody could foretell it, and a branch that
 * is foretold wrongly costs more than adding 0. */
static inline struct wide_term
wide_term(unsigned __int128 m, int bit, int n, bool negative)
{
	enum { UP = 64 }; /* limbs; makes the quotient positive */
	int shift = (bit + UP * 64) % 64;
	uint64_t low = (uint64_t)m, high = (uint64_t)(m >> 64);
	struct wide_term t = { .low = (bit + UP * 64) / 64 - UP, .n = n, .negative = negative };

	t.w[0] = low << shift;
	t.w[1] = high << shift | (shift ? low >> (64 - shift) : 0);
	t.w[2] = shift ? high >> (64 - shift) : 0;
	return t;
}

/* ---- windows ---- */

/* The bytes that all limbs take. */
static size_t
wide_bytes(const struct wide_head *h)
{
	return WIDE_HEAD + ((size_t)h->n[0] + h->n[1]) * 8;
}

/* Widens sum k of the head, so that it has n limbs from `low` on; whether it was too narrow. */
static bool
wide_widen(struct wide_head *h, int k, int low, int n)
{
	int end = low + n, have = h->low[k] + h->n[k];

	if (h->n[k] && h->low[k] <= low && have >= end)
		return false;
	if (h->n[k] && h->low[k] < low)
		low = h->low[k];
	if (h->n[k] && have > end)
		end = have;
	h->low[k] = (int8_t)low;
	h->n[k] = (uint8_t)(end - low);
	return true;
}

/* Moves the limbs to where they are with the head `to`. */
static void
wide_move(uint8_t *p, const struct wide_head *from, const struct wide_head *to)
{
	uint64_t v[WIDE_LIMBS + WIDE_SQUARE_LIMBS];
	const uint8_t *at = p + WIDE_HEAD;
	size_t n = 0;

	for (int k = 0; k < 2; k++) {
		uint64_t sign = from->n[k] && wide_get(at, from->n[k] - 1u) >> 63 ? UINT64_MAX : 0;

		for (int i = to->low[k]; i < to->low[k] + to->n[k]; i++) {
			int place = i - from->low[k];

			v[n++] = !from->n[k] || place < 0 ? 0 : place >= from->n[k] ? sign : wide_get(at, (size_t)place);
		}
		at += from->n[k] * 8u;
	}
	memcpy(p, to, WIDE_HEAD);
	memcpy(p + WIDE_HEAD, v, n * 8);
}

/* ---- adding ---- */

/* Adds the term to the limbs at p; the window is wide enough. */
static void
wide_add_term(uint8_t *p, int low, int n, const struct wide_term *t)
{
	size_t at = (size_t)(t->low - low);
	unsigned carry = 0;

	for (int i = 0; i < t->n; i++, at++) {
		uint64_t old = wide_get(p, at), with, now;

		if (t->negative) {
			bool under = __builtin_sub_overflow(old, t->w[i], &with);
			carry = (unsigned)__builtin_sub_overflow(with, (uint64_t)carry, &now) | under;
		} else {
			bool over = __builtin_add_overflow(old, t->w[i], &with);
			carry = (unsigned)__builtin_add_overflow(with, (uint64_t)carry, &now) | over;
		}
		wide_put(p, at, now);
	}
	for (; carry && at < (size_t)n; at++) {
		uint64_t old = wide_get(p, at);

		wide_put(p, at, t->negative ? old - 1 : old + 1);
		carry = t->negative ? old == 0 : old == UINT64_MAX;
	}
}

/* Splits the number: false: it is not finite, and *flag says what it is. */
static bool
wide_split(const struct mp *m, uint64_t *mantissa, int *bit, bool *negative, uint8_t *flag)
{
	uint64_t bits;

	if (m->kind == MP_INT) {
		*negative = !m->unsigned_big && m->i < 0;
		*mantissa = *negative ? 0 - m->u : m->u;
		*bit = 0;
		return true;
	}
	memcpy(&bits, &m->f, sizeof bits);
	int exponent = (int)(bits >> 52 & 2047);
	*negative = bits >> 63;
	*mantissa = bits & (((uint64_t)1 << 52) - 1);
	if (exponent == 2047) {
		*flag = *mantissa ? WIDE_NAN : *negative ? WIDE_MINUS : WIDE_PLUS;
		return false;
	}
	*mantissa |= (uint64_t)(exponent != 0) << 52;
	*bit = (exponent ? exponent : 1) - 1075;
	return true;
}

size_t
wide_add(uint8_t *p, size_t len, size_t cap, const struct mp *number, bool squares)
{
	struct wide_head old = wide_head(p, len), h = old;
	struct wide_term t[2] = { { .n = 0 }, { .n = 0 } };
	uint64_t mantissa;
	uint8_t flag = 0;
	bool negative, moved = !len;
	int bit;

	if (wide_split(number, &mantissa, &bit, &negative, &flag)) {
		bool whole = number->kind == MP_INT;

		t[WIDE_SUM] = wide_term(mantissa, bit, whole ? 1 : 2, negative);
		if (squares)
			t[WIDE_SQUARES] = wide_term((unsigned __int128)mantissa * mantissa, 2 * bit, whole ? 2 : 3, false);
	}
	for (int k = 0; k < 2; k++)
		if (t[k].n && wide_widen(&h, k, t[k].low, t[k].n + 1))
			moved = true;
	if (moved) {
		if (wide_bytes(&h) > cap)
			return wide_bytes(&h);
		wide_move(p, &old, &h);
	}
	if (flag) /* a byte written anew would delay the next read of the head */
		p[offsetof(struct wide_head, flags)] |= flag;
	wide_add_term(p + WIDE_HEAD, h.low[0], h.n[0], &t[0]);
	if (squares)
		wide_add_term(p + WIDE_HEAD + h.n[0] * 8u, h.low[1], h.n[1], &t[1]);
	return wide_bytes(&h);
}

size_t
wide_join(uint8_t *p, size_t len, size_t cap, const uint8_t *q, size_t n)
{
	struct wide_head old = wide_head(p, len), h = old, from = wide_head(q, n);

	if (!n)
		return len;
	for (int k = 0; k < 2; k++)
		if (from.n[k])
			wide_widen(&h, k, from.low[k], from.n[k]);
	if (wide_bytes(&h) > cap)
		return wide_bytes(&h);
	wide_move(p, &old, &h);
	p[offsetof(struct wide_head, flags)] |= from.flags;
	q += WIDE_HEAD;

	uint8_t *to = p + WIDE_HEAD;
	for (int k = 0; k < 2; k++) {
		uint64_t sign = from.n[k] && wide_get(q, from.n[k] - 1u) >> 63 ? UINT64_MAX : 0;
		unsigned __int128 sum = 0;

		for (int i = from.n[k] ? from.low[k] : INT8_MAX; i < h.low[k] + h.n[k]; i++) {
			size_t at = (size_t)(i - from.low[k]), place = (size_t)(i - h.low[k]);

			sum += (unsigned __int128)wide_get(to, place) + (at < from.n[k] ? wide_get(q, at) : sign);
			wide_put(to, place, (uint64_t)sum);
			sum >>= 64;
		}
		to += h.n[k] * 8u;
		q += from.n[k] * 8u;
	}
	return wide_bytes(&h);
}

bool
wide_valid(const uint8_t *p, size_t len, bool squares)
{
	static const int limbs[] = { WIDE_LIMBS, WIDE_SQUARE_LIMBS };

	if (!len)
		return true;
	if (len < WIDE_HEAD || len > WIDE_MOST)
		return false;
	struct wide_head h = wide_head(p, len);
	for (int k = 0; k < 2; k++) {
		int lowest = WIDE_LOWEST * (k + 1);

		if (h.low[k] < lowest || h.low[k] + h.n[k] > lowest + limbs[k])
			return false;
	}
	return h.flags < 8 && !h.zero[0] && !h.zero[1] && !h.zero[2] && (squares || !h.n[1]) && wide_bytes(&h) == len;
}

/* ---- results ---- */

/* The limbs without their sign; gives whether they were negative. */
static bool
wide_absolute(const uint8_t *p, int n, uint64_t *v)
{
	bool negative = n && wide_get(p, (size_t)n - 1) >> 63;
	unsigned carry = negative;

	for (int i = 0; i < n; i++) {
		uint64_t w = wide_get(p, (size_t)i);

		v[i] = (negative ? ~w : w) + carry;
		carry = carry && !v[i];
	}
	return negative;
}

/* The highest 64 bits of the limbs from `low` on, as *m * 2 ** *exponent; the lowest of the bits is set if
 * anything below is, so that it is rounded as the whole. *m is 0 if all is. */
static void
wide_highest(const uint64_t *v, int n, int low, uint64_t *m, int *exponent)
{
	*m = 0;
	*exponent = 0;
	while (n && !v[n - 1])
		n--;
	if (!n)
		return;
	int up = __builtin_clzll(v[n - 1]);
	uint64_t next = n > 1 ? v[n - 2] : 0, below = up ? next << up : next;

	*m = v[n - 1] << up | (up ? next >> (64 - up) : 0);
	*exponent = (low + n - 1) * 64 - up;
	for (int i = 0; i < n - 2 && !below; i++)
		below = v[i];
	*m |= below != 0;
}

double
wide_round(const uint8_t *p, size_t len)
{
	struct wide_head h = wide_head(p, len);
	uint64_t v[WIDE_LIMBS] = { 0 }, m;
	int exponent;

	if (h.flags & WIDE_NAN || (h.flags & WIDE_PLUS && h.flags & WIDE_MINUS))
		return NAN;
	if (h.flags)
		return h.flags & WIDE_PLUS ? INFINITY : -INFINITY;
	bool negative = h.n[0] && wide_absolute(p + WIDE_HEAD, h.n[0], v);
	wide_highest(v, h.n[0], h.low[0], &m, &exponent);
	double x = ldexp((double)m, exponent);
	return negative ? -x : x;
}

bool
wide_int(const uint8_t *p, size_t len, int64_t more, int64_t *out)
{
	struct wide_head h = wide_head(p, len);
	unsigned __int128 bits = (unsigned __int128)(__int128)more;

	/* fewer than 2 ** 63 ints, so the limbs 0 and 1, which all sums of ints have, hold the sum */
	for (int i = 0; i < h.n[0] && h.low[0] + i < 2; i++)
		if (h.low[0] + i >= 0)
			bits += (unsigned __int128)wide_get(p + WIDE_HEAD, (size_t)i) << 64 * (h.low[0] + i);
	__int128 sum = (__int128)bits;
	*out = (int64_t)sum;
	return sum >= INT64_MIN && sum <= INT64_MAX;
}

/* n * the sum of squares - the square of the sum, each exact: n * n times the variance. acc has room for both from the
 * lowest limb of squares on. */
static bool
wide_spread(const uint8_t *p, const struct wide_head *h, uint64_t n, uint64_t *acc, int most)
{
	uint64_t v[WIDE_LIMBS];
	const uint8_t *squares = p + WIDE_HEAD + h->n[0] * 8u;
	unsigned __int128 carry = 0;
	int at = h->low[1] - 2 * WIDE_LOWEST;

	for (int i = 0; i < h->n[1]; i++, at++) {
		carry += (unsigned __int128)wide_get(squares, (size_t)i) * n;
		acc[at] = (uint64_t)carry;
		carry >>= 64;
	}
	acc[at] = (uint64_t)carry;
	wide_absolute(p + WIDE_HEAD, h->n[0], v);
	for (int i = 0; i < h->n[0]; i++) {
		uint64_t owed = 0;

		at = 2 * (h->low[0] - WIDE_LOWEST) + i;
		for (int k = 0; (k < h->n[0] || owed) && at < most; k++, at++) {
			unsigned __int128 product = (unsigned __int128)v[i] * (k < h->n[0] ? v[k] : 0) + owed;

			owed = (uint64_t)(product >> 64) + __builtin_sub_overflow(acc[at], (uint64_t)product, &acc[at]);
		}
		if (owed)
			return false;
	}
	return true;
}

double
wide_stddev(const uint8_t *p, size_t len, uint64_t n)
{
	struct wide_head h = wide_head(p, len);
	enum { MOST = WIDE_SQUARE_LIMBS + 4 };
	uint64_t acc[MOST] = { 0 }, m;
	int exponent;

	if (h.flags)
		return NAN;
	if (!h.n[1])
		return 0;
	/* only bytes that no numbers come to fail here */
	if (!wide_spread(p, &h, n, acc, MOST))
		return 0;
	wide_highest(acc, MOST, 2 * WIDE_LOWEST, &m, &exponent);
	double spread = (double)m;
	if (exponent % 2) {
		spread *= 2;
		exponent--;
	}
	return ldexp(sqrt(spread / ((double)n * (double)n)), exponent / 2);
}
