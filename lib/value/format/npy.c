/* SPDX-License-Identifier: MIT */
#include "value/format/npy.h"

#include <stdio.h>
#include <string.h>

enum {
	NPY_ALIGN = 64, /* alignment of the data, as in numpy */
	NPY_DIGITS = 20 /* digits of the largest length */
};

static const char npy_magic[6] = "\x93NUMPY";

/* Names by dtype, without the byte order; empty: numpy has none. */
static const char npy_names[DTYPE_COUNT][3] = {
	[DTYPE_U8] = "u1", [DTYPE_U16] = "u2", [DTYPE_U32] = "u4", [DTYPE_U64] = "u8",
	[DTYPE_I8] = "i1", [DTYPE_I16] = "i2", [DTYPE_I32] = "i4", [DTYPE_I64] = "i8",
	[DTYPE_F32] = "f4", [DTYPE_F64] = "f8", [DTYPE_BOOL] = "b1", [DTYPE_F16] = "f2",
};

struct npy_text {
	const char *p, *end;
};

static void
npy_blank(struct npy_text *t)
{
	while (t->p < t->end && (*t->p == ' ' || *t->p == '\n' || *t->p == '\t'))
		t->p++;
}

static bool
npy_char(struct npy_text *t, char c)
{
	npy_blank(t);
	if (t->p == t->end || *t->p != c)
		return false;
	t->p++;
	return true;
}

/* Reads 'word'; lends it. */
static bool
npy_quoted(struct npy_text *t, const char **s, size_t *n)
{
	npy_blank(t);
	if (t->p == t->end || (*t->p != '\'' && *t->p != '"'))
		return false;
	const char *stop = memchr(t->p + 1, *t->p, (size_t)(t->end - t->p - 1));
	if (!stop)
		return false;
	*s = t->p + 1;
	*n = (size_t)(stop - *s);
	t->p = stop + 1;
	return true;
}

static bool
npy_word(struct npy_text *t, const char *word)
{
	size_t n = strlen(word);

	npy_blank(t);
	if ((size_t)(t->end - t->p) < n || memcmp(t->p, word, n))
		return false;
	t->p += n;
	return true;
}

static bool
npy_shape(struct npy_text *t, struct npy *a)
{
	a->n_dims = 0;
	if (!npy_char(t, '('))
		return false;
	while (!npy_char(t, ')')) {
		uint64_t v = 0;
		bool digits = false;

		if (a->n_dims == TYPE_DIMS_MAX)
			return false;
		npy_blank(t);
		for (; t->p < t->end && *t->p >= '0' && *t->p <= '9'; t->p++, digits = true)
			if (__builtin_mul_overflow(v, 10u, &v)
			    || __builtin_add_overflow(v, (unsigned)(*t->p - '0'), &v) || v > INT64_MAX)
				return false;
		npy_word(t, "L"); /* Python 2 */
		if (!digits)
			return false;
		a->dims[a->n_dims++] = v;
		if (!npy_char(t, ',') && t->p < t->end && *t->p != ')')
			return false;
	}
	return true;
}

static bool
npy_dtype(const char *s, size_t n, struct npy *a)
{
	if (n == 1 && *s == '?') {
		a->dtype = DTYPE_BOOL;
		return true;
	}
	/* Without an order it is this machine's, as with =. */
	bool order = n == 3 && memchr("<>|=", *s, 4);
	if (n != 2 && !order)
		return false;
	for (int d = 0; d < DTYPE_COUNT; d++) {
		if (!*npy_names[d] || memcmp(npy_names[d], s + order, 2))
			continue;
		a->dtype = (enum dtype)d;
		a->swapped = order && *s == '>' && dtype_size(a->dtype) > 1;
		return true;
	}
	return false;
}

static enum status
npy_no_dtype(const char *s, size_t n, struct err *e)
{
	err_set(e, ST_DATA, "its type is %.*s, which no tensor has", n < 60 ? (int)n : 60, s);
	err_help(e, "ints, floats of 2, 4 and 8 bytes and bools are read: in numpy, a.astype('f4')");
	return ST_DATA;
}

/* Reads the dict. *seen: one bit for each key. */
static enum status
npy_dict(struct npy_text *t, struct npy *a, struct err *e)
{
	static const char bad[] = "its header is malformed";
	unsigned seen = 0;
	const char *key, *s;
	size_t key_n, n;

	if (!npy_char(t, '{'))
		return err_set(e, ST_DATA, bad);
	while (!npy_char(t, '}')) {
		bool good = npy_quoted(t, &key, &key_n) && npy_char(t, ':');

		if (good && key_n == 5 && !memcmp(key, "descr", 5)) {
			npy_blank(t);
			if (t->p < t->end && *t->p == '[')
				return npy_no_dtype("structured", 10, e);
			good = npy_quoted(t, &s, &n);
			if (good && !npy_dtype(s, n, a))
				return npy_no_dtype(s, n, e);
			seen |= 1;
		} else if (good && key_n == 13 && !memcmp(key, "fortran_order", 13)) {
			a->fortran = npy_word(t, "True");
			good = a->fortran || npy_word(t, "False");
			seen |= 2;
		} else if (good && key_n == 5 && !memcmp(key, "shape", 5)) {
			good = npy_shape(t, a);
			seen |= 4;
		} else {
			good = false;
		}
		if (!good)
			return err_set(e, ST_DATA, bad);
		npy_char(t, ',');
	}
	return seen == 7 ? ST_OK : err_set(e, ST_DATA, bad);
}

enum status
npy_head(const uint8_t *p, size_t n, struct npy *out, struct err *e)
{
	struct npy a = { 0 };
	size_t fixed = 10, len;

	if (memcmp(p, npy_magic, n < sizeof npy_magic ? n : sizeof npy_magic))
		return err_set(e, ST_DATA, "it is not a .npy file");
	if (n < NPY_FIXED)
		return ST_END;
	if (p[6] < 1 || p[6] > 3)
		return err_set(e, ST_DATA, "it is a .npy file of version %d, not 1 to 3", p[6]);
	len = p[8] | (size_t)p[9] << 8;
	if (p[6] > 1) {
		len |= (size_t)p[10] << 16 | (size_t)p[11] << 24;
		fixed = 12;
	}
	if (len > NPY_HEAD_MAX)
		return err_set(e, ST_DATA, "its header of %zu bytes is too long", len);
	if (n < fixed + len)
		return ST_END;
	struct npy_text t = { (const char *)p + fixed, (const char *)p + fixed + len };
	enum status st = npy_dict(&t, &a, e);
	if (st != ST_OK)
		return st;
	int longer = 0;
	bool numbers = true;
	for (int i = 0; i < a.n_dims; i++) {
		longer += a.dims[i] > 1;
		numbers = numbers && a.dims[i];
	}
	a.fortran = a.fortran && longer > 1 && numbers;
	a.head = fixed + len;
	*out = a;
	return ST_OK;
}

bool
npy_slice(const struct npy *a, uint64_t *count)
{
	uint64_t size;

	*count = 1;
	for (int i = 1; i < a->n_dims; i++)
		if (__builtin_mul_overflow(*count, a->dims[i], count))
			return false;
	return !__builtin_mul_overflow(*count, dtype_size(a->dtype), &size) && size <= UINT32_MAX;
}

enum status
npy_has(enum dtype d, struct err *e)
{
	if (*npy_names[d])
		return ST_OK;
	err_set(e, ST_DATA, "numpy has no dtype %s", dtype_name(d));
	err_help(e, "cast(x, \"f32\") holds the same numbers");
	return ST_DATA;
}

size_t
npy_put_head(const struct npy *a, uint8_t *p)
{
	char text[NPY_HEAD_PUT], *w = text;
	bool one = dtype_size(a->dtype) == 1;
	int first = 0;

	w += sprintf(w, "{'descr': '%c%s', 'fortran_order': False, 'shape': (", one ? '|' : '<',
		     npy_names[a->dtype]);
	for (int i = 0; i < a->n_dims; i++) {
		int n = sprintf(w, i ? ", %llu" : "%llu", (unsigned long long)a->dims[i]);

		w += n;
		first = i ? first : n;
	}
	w += sprintf(w, a->n_dims == 1 ? ",), }" : "), }");
	size_t most = 10 + (size_t)(w - text) + (size_t)(a->n_dims ? NPY_DIGITS - first : 0) + 1;
	size_t size = (most + NPY_ALIGN - 1) / NPY_ALIGN * NPY_ALIGN;
	memcpy(p, npy_magic, sizeof npy_magic);
	p[6] = 1;
	p[7] = 0;
	p[8] = (uint8_t)(size - 10);
	p[9] = (uint8_t)((size - 10) >> 8);
	memset(p + 10, ' ', size - 10);
	memcpy(p + 10, text, (size_t)(w - text));
	p[size - 1] = '\n';
	return size;
}

void
npy_swap(uint8_t *p, size_t n, size_t size)
{
	for (; n--; p += size) {
		uint16_t v16;
		uint32_t v32;
		uint64_t v64;

		if (size == 2) {
			memcpy(&v16, p, 2);
			v16 = __builtin_bswap16(v16);
			memcpy(p, &v16, 2);
		} else if (size == 4) {
			memcpy(&v32, p, 4);
			v32 = __builtin_bswap32(v32);
			memcpy(p, &v32, 4);
		} else if (size == 8) {
			memcpy(&v64, p, 8);
			v64 = __builtin_bswap64(v64);
			memcpy(p, &v64, 8);
		}
	}
}
