/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <msgpack.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/rng.h"
#include "value/mp.h"

static const uint64_t edges[] = {
	0, 1, 31, 32, 127, 128, 129, 255, 256, 32767, 32768, 65535, 65536, 2147483647,
	2147483648, 4294967295, 4294967296, 9223372036854775807u, 9223372036854775808u,
	18446744073709551615u
};

/* msgpack-c's encoding of what was packed equals ours, and both heads agree. */
static void
same_as_peer(msgpack_sbuffer *peer, const uint8_t *p, const uint8_t *end)
{
	assert_int_equal(peer->size, end - p);
	assert_memory_equal(peer->data, p, peer->size);
	assert_true(mp_check(p, (size_t)(end - p)));
	assert_ptr_equal(mp_skip(p, end), end);
	msgpack_sbuffer_clear(peer);
}

static void
ints_are_as_msgpack_c_writes_them(void **state)
{
	msgpack_sbuffer sb;
	msgpack_packer pk;
	struct rng r = { 3, 0 };
	uint8_t m[16];
	struct mp h;

	(void)state;
	msgpack_sbuffer_init(&sb);
	msgpack_packer_init(&pk, &sb, msgpack_sbuffer_write);
	for (size_t i = 0; i < 20000; i++) {
		uint64_t v = i < sizeof edges / sizeof *edges ? edges[i]
			: rng_next(&r) >> rng_below(&r, 64);
		uint8_t *end = mp_put_uint(m, v);

		msgpack_pack_uint64(&pk, v);
		same_as_peer(&sb, m, end);
		assert_ptr_equal(mp_head(m, end, &h), end);
		assert_int_equal(h.kind, MP_INT);
		assert_true(h.u == v && h.unsigned_big == (v > INT64_MAX));
		for (int minus = 0; minus < 3; minus++) {
			int64_t s = (int64_t)(minus ? 0 - v - (minus > 1) : v);

			end = mp_put_int(m, s);
			msgpack_pack_int64(&pk, s);
			same_as_peer(&sb, m, end);
			mp_head(m, end, &h);
			assert_true(h.i == s && !h.unsigned_big);
		}
	}
	msgpack_sbuffer_destroy(&sb);
}

static void
floats_words_and_heads_are_as_msgpack_c_writes_them(void **state)
{
	static const uint32_t sizes[] = { 0, 1, 2, 3, 4, 5, 8, 15, 16, 17, 31, 32, 255, 256, 65535, 65536 };
	msgpack_sbuffer sb;
	msgpack_packer pk;
	uint8_t *m = mem_zalloc(70000);
	char *body = mem_zalloc(70000);
	struct mp h;

	(void)state;
	msgpack_sbuffer_init(&sb);
	msgpack_packer_init(&pk, &sb, msgpack_sbuffer_write);
	msgpack_pack_double(&pk, -0.1);
	same_as_peer(&sb, m, mp_put_float(m, -0.1));
	mp_head(m, m + 9, &h);
	assert_true(h.kind == MP_FLOAT && h.f == -0.1);
	msgpack_pack_nil(&pk);
	same_as_peer(&sb, m, mp_put_nil(m));
	msgpack_pack_true(&pk);
	same_as_peer(&sb, m, mp_put_bool(m, true));
	for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
		uint32_t n = sizes[i];
		uint8_t *end = mp_put_text(m, body, n);

		msgpack_pack_str(&pk, n);
		msgpack_pack_str_body(&pk, body, n);
		same_as_peer(&sb, m, end);
		assert_ptr_equal(mp_head(m, end, &h), end);
		assert_true(h.kind == MP_TEXT && h.n == n && h.p + n == end);
		assert_null(mp_head(m, end - 1, &h));
		assert_int_equal(h.kind, MP_BAD);

		end = mp_put_bytes_head(m, n);
		memset(end, 0, n);
		msgpack_pack_bin(&pk, n);
		msgpack_pack_bin_body(&pk, body, n);
		same_as_peer(&sb, m, end + n);
		mp_head(m, end + n, &h);
		assert_true(h.kind == MP_BYTES && h.n == n && h.p == end);

		end = mp_put_ext_head(m, -7, n);
		memset(end, 0, n);
		msgpack_pack_ext(&pk, n, -7);
		msgpack_pack_ext_body(&pk, body, n);
		same_as_peer(&sb, m, end + n);
		mp_head(m, end + n, &h);
		assert_true(h.kind == MP_EXT && h.ext == -7 && h.n == n && h.p == end);

		end = mp_put_list_head(m, n);
		memset(end, 0, n);
		msgpack_pack_array(&pk, n);
		msgpack_sbuffer_write(&sb, body, n);
		same_as_peer(&sb, m, end + n);
		mp_head(m, end + n, &h);
		assert_true(h.kind == MP_LIST && h.n == n && h.p == end);

		if (n > 30000)
			continue;
		end = mp_put_record_head(m, n);
		memset(end, 0, 2 * (size_t)n);
		msgpack_pack_map(&pk, n);
		msgpack_sbuffer_write(&sb, body, 2 * (size_t)n);
		same_as_peer(&sb, m, end + 2 * n);
		mp_head(m, end + n, &h);
		assert_true(h.kind == MP_RECORD && h.n == n && h.p == end);
	}
	msgpack_sbuffer_destroy(&sb);
	mem_free(m);
	mem_free(body);
}

/* Heads and order of both trees are the same. */
static const uint8_t *
walk_same(const msgpack_object *o, const uint8_t *p, const uint8_t *end)
{
	struct mp h;

	p = mp_head(p, end, &h);
	assert_non_null(p);
	switch (o->type) {
	case MSGPACK_OBJECT_NIL: assert_int_equal(h.kind, MP_NIL); break;
	case MSGPACK_OBJECT_BOOLEAN: assert_true(h.kind == MP_BOOL && h.b == o->via.boolean); break;
	case MSGPACK_OBJECT_POSITIVE_INTEGER:
		assert_true(h.kind == MP_INT && h.u == o->via.u64);
		assert_int_equal(h.unsigned_big, o->via.u64 > INT64_MAX);
		break;
	case MSGPACK_OBJECT_NEGATIVE_INTEGER: assert_true(h.kind == MP_INT && h.i == o->via.i64); break;
	case MSGPACK_OBJECT_FLOAT32:
	case MSGPACK_OBJECT_FLOAT64:
		assert_true(h.kind == MP_FLOAT && !memcmp(&h.f, &o->via.f64, 8));
		break;
	case MSGPACK_OBJECT_STR:
		assert_true(h.kind == MP_TEXT && h.n == o->via.str.size && !memcmp(h.p, o->via.str.ptr, h.n));
		break;
	case MSGPACK_OBJECT_BIN:
		assert_true(h.kind == MP_BYTES && h.n == o->via.bin.size);
		break;
	case MSGPACK_OBJECT_EXT:
		assert_true(h.kind == MP_EXT && h.n == o->via.ext.size && h.ext == o->via.ext.type);
		break;
	case MSGPACK_OBJECT_ARRAY:
		assert_true(h.kind == MP_LIST && h.n == o->via.array.size);
		for (uint32_t i = 0; i < h.n; i++)
			p = walk_same(&o->via.array.ptr[i], p, end);
		break;
	case MSGPACK_OBJECT_MAP:
		assert_true(h.kind == MP_RECORD && h.n == o->via.map.size);
		for (uint32_t i = 0; i < h.n; i++) {
			p = walk_same(&o->via.map.ptr[i].key, p, end);
			p = walk_same(&o->via.map.ptr[i].val, p, end);
		}
		break;
	default: fail();
	}
	return p;
}

/* A value out of random choices, all wire forms, not only the shortest. */
static void
random_value(struct rng *r, struct buf *b, int depth)
{
	static const uint8_t firsts[] = {
		0xc0, 0xc2, 0xc3, 0xca, 0xcb, 0xcc, 0xcd, 0xce, 0xcf, 0xd0, 0xd1, 0xd2, 0xd3,
		0xc4, 0xc5, 0xc7, 0xc8, 0xd4, 0xd5, 0xd8, 0xd9, 0xda, 0xdc, 0xde, 0x83, 0x94, 0xa5, 0x07, 0xf0
	};
	static const uint8_t widths[] = { 0, 0, 0, 4, 8, 1, 2, 4, 8, 1, 2, 4, 8 };
	size_t k = rng_below(r, sizeof firsts);
	uint32_t n = (uint32_t)rng_below(r, 5), extra = 0, items = 0;
	uint8_t c = firsts[k];

	if (depth > 5 && (c == 0xdc || c == 0xde || c == 0x83 || c == 0x94))
		c = 0xc0;
	buf_byte(b, c);
	switch (c) {
	case 0xc4: case 0xd9: buf_byte(b, (uint8_t)n); extra = n; break;
	case 0xc5: case 0xda: buf_byte(b, 0); buf_byte(b, (uint8_t)n); extra = n; break;
	case 0xc7: buf_byte(b, (uint8_t)n); extra = n + 1; break;
	case 0xc8: buf_byte(b, 0); buf_byte(b, (uint8_t)n); extra = n + 1; break;
	case 0xd4: extra = 2; break;
	case 0xd5: extra = 3; break;
	case 0xd8: extra = 17; break;
	case 0xdc: buf_byte(b, 0); buf_byte(b, (uint8_t)n); items = n; break;
	case 0xde: buf_byte(b, 0); buf_byte(b, (uint8_t)n); items = 2 * n; break;
	case 0x83: items = 6; break;
	case 0x94: items = 4; break;
	case 0xa5: extra = 5; break;
	default: extra = k < sizeof widths && c >= 0xc0 && c < 0xe0 ? widths[k] : 0; break;
	}
	while (extra--)
		buf_byte(b, (uint8_t)rng_next(r));
	while (items--)
		random_value(r, b, depth + 1);
}

static void
random_values_read_as_msgpack_c_reads_them(void **state)
{
	struct rng r = { 11, 0 };
	struct buf b = { 0 };

	(void)state;
	for (int i = 0; i < 5000; i++) {
		msgpack_unpacked u;
		size_t off = 0;

		buf_reset(&b);
		random_value(&r, &b, 0);
		msgpack_unpacked_init(&u);
		assert_int_equal(msgpack_unpack_next(&u, (char *)b.data, b.len, &off), MSGPACK_UNPACK_SUCCESS);
		assert_int_equal(off, b.len);
		assert_true(mp_check(b.data, b.len));
		assert_ptr_equal(mp_skip(b.data, b.data + b.len), b.data + b.len);
		assert_ptr_equal(walk_same(&u.data, b.data, b.data + b.len), b.data + b.len);
		/* any cut is noticed; so is anything behind */
		for (size_t cut = 0; cut < b.len; cut++) {
			uint8_t *part = mem_dup(b.data, cut ? cut : 1);

			assert_false(mp_check(part, cut));
			assert_null(mp_skip(part, part + cut));
			mem_free(part);
		}
		buf_byte(&b, 0);
		assert_false(mp_check(b.data, b.len));
		msgpack_unpacked_destroy(&u);
	}
	buf_clear(&b);
}

static void
malformed_values_are_refused(void **state)
{
	static const uint8_t bad[] = { 0xc1 };
	static const uint8_t huge[] = { 0xdf, 0xff, 0xff, 0xff, 0xff, 0, 0 };
	static const uint8_t deep_bad[] = { 0x91, 0x91, 0xc1 };
	struct mp h;

	(void)state;
	assert_false(mp_check(bad, 1));
	assert_null(mp_head(bad, bad + 1, &h));
	assert_false(mp_check(huge, sizeof huge));
	assert_null(mp_skip(huge, huge + sizeof huge));
	assert_false(mp_check(deep_bad, 3));
	assert_null(mp_skip(deep_bad, deep_bad + 3));
	assert_false(mp_check(bad, 0));
}

static void
depth_is_bounded(void **state)
{
	uint8_t m[1000];

	(void)state;
	memset(m, 0x91, sizeof m);
	m[MP_DEPTH_MAX] = 0;
	assert_true(mp_check(m, MP_DEPTH_MAX + 1));
	m[MP_DEPTH_MAX] = 0x91;
	m[MP_DEPTH_MAX + 1] = 0;
	assert_false(mp_check(m, MP_DEPTH_MAX + 2));
	/* skipping, of checked bytes, does not care */
	assert_ptr_equal(mp_skip(m, m + sizeof m), m + MP_DEPTH_MAX + 2);
}

static void
values_end_to_end_are_walked(void **state)
{
	uint8_t m[64], *w = m;
	const uint8_t *p = m;
	int n = 0;

	(void)state;
	w = mp_put_int(w, 300);
	w = mp_put_list_head(w, 2);
	w = mp_put_text(w, "ab", 2);
	w = mp_put_nil(w);
	w = mp_put_float(w, 1);
	while (p < w) {
		assert_ptr_equal(mp_skip(p, w), mp_check_next(p, w));
		p = mp_check_next(p, w);
		n++;
	}
	assert_int_equal(n, 3);
	assert_null(mp_check_next(p, w));
}

static void
fields_are_found_by_key(void **state)
{
	char long_key[300];
	uint8_t m[1024], *w = m;
	const uint8_t *v;
	size_t n;

	(void)state;
	memset(long_key, 'k', sizeof long_key);
	w = mp_put_record_head(w, 4);
	w = mp_put_int(w, 5); /* a key that is no text */
	w = mp_put_text(w, "five", 4);
	w = mp_put_text(w, "id", 2);
	w = mp_put_list_head(w, 1);
	w = mp_put_int(w, 1000);
	w = mp_put_text(w, long_key, sizeof long_key);
	w = mp_put_bool(w, true);
	w = mp_put_text(w, "", 0);
	w = mp_put_nil(w);
	assert_true(mp_field(m, w, "id", 2, &v, &n));
	assert_int_equal(n, 4);
	assert_int_equal(*v, 0x91);
	assert_true(mp_field(m, w, long_key, sizeof long_key, &v, &n));
	assert_int_equal(*v, 0xc3);
	assert_true(mp_field(m, w, "", 0, &v, &n));
	assert_int_equal(*v, 0xc0);
	assert_false(mp_field(m, w, "five", 4, &v, &n));
	assert_false(mp_field(m, w, "i", 1, &v, &n));
	assert_false(mp_field(m, w - 1, "", 0, &v, &n)); /* cut short */
	assert_false(mp_field((const uint8_t *)"\x01", (const uint8_t *)"\x01" + 1, "a", 1, &v, &n));
}
