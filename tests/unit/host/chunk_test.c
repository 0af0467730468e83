/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "host/chunk.h"
#include "value/mp.h"
#include "wire/msg.h"

static void
fill(struct run *r, uint32_t n, size_t text_len)
{
	for (uint32_t i = 0; i < n; i++) {
		uint8_t *p = run_room(r, text_len + MP_HEAD_MAX);
		uint8_t *q = mp_put_text_head(p, (uint32_t)text_len);
		memset(q, 'a' + (int)(i % 26), text_len);
		run_done(r, q + text_len, i);
	}
}

static void
elements_lie_end_to_end(void **state)
{
	struct builder b = { 0 };
	struct run r;
	(void)state;
	run_init(&r);
	fill(&r, 500, 10);
	/* some of them somewhere else */
	struct elem e = r.e[499];
	r.e[499] = r.e[3];
	r.e[3] = e;
	assert_int_equal(builder_add(&b, &r, 0, r.n), 500);
	struct chunk *c = builder_cut(&b);
	assert_int_equal(c->count, 500);
	assert_int_equal(c->len, 500 * 11);
	assert_int_equal(c->p[3 * 11 + 1], 'a' + 499 % 26);
	const uint8_t *p = c->p;
	for (int i = 0; i < 500; i++)
		p = mp_check_next(p, c->p + c->len);
	assert_ptr_equal(p, c->p + c->len);
	assert_null(builder_cut(&b));
	chunk_free(&c);
	builder_clear(&b);
	run_clear(&r);
}

/* Elements of all sizes up to one that is copied by a call, of which every third is taken. */
static void
elements_are_picked_at_a_distance(void **state)
{
	enum { SIZES = 40, STEP = 3 };
	struct builder b = { 0 };
	struct run r;
	(void)state;
	run_init(&r);
	for (uint32_t i = 0; i < SIZES * STEP; i++) {
		uint8_t *p = run_room(&r, SIZES + MP_HEAD_MAX), *q = mp_put_text_head(p, i / STEP);
		for (uint32_t k = 0; k < i / STEP; k++)
			*q++ = (uint8_t)('a' + (k + i) % 26);
		run_done(&r, q, i);
	}
	assert_int_equal(builder_pick(&b, r.e + 1, STEP, SIZES), SIZES);
	struct chunk *c = builder_cut(&b);
	const uint8_t *p = c->p;
	assert_int_equal(c->count, SIZES);
	for (uint32_t i = 0; i < SIZES; i++) {
		const struct elem *e = &r.e[1 + i * STEP];
		assert_memory_equal(p, e->p, e->len);
		p += e->len;
	}
	assert_ptr_equal(p, c->p + c->len);
	chunk_free(&c);
	builder_clear(&b);
	run_clear(&r);
}

static void
picking_ends_where_adding_does(void **state)
{
	struct builder b = { 0 };
	struct run r;
	(void)state;
	run_init(&r);
	fill(&r, 20, 20000);
	assert_int_equal(builder_pick(&b, r.e, 1, r.n), CHUNK_BYTES / 20003);
	assert_int_equal(builder_pick(&b, r.e, 1, r.n), 0);
	struct chunk *c = builder_cut(&b);
	chunk_free(&c);
	fill(&r, 1, CHUNK_OWN); /* stands alone */
	assert_int_equal(builder_pick(&b, &r.e[20], 1, 1), 0);
	assert_int_equal(builder_pick(&b, &r.e[19], 1, 2), 1);
	c = builder_cut(&b);
	chunk_free(&c);
	run_reset(&r);
	fill(&r, 2, 0);
	for (uint32_t i = 0; i < CHUNK_ELEMENTS; i += 2)
		assert_int_equal(builder_pick(&b, r.e, 1, 2), 2);
	assert_int_equal(builder_pick(&b, r.e, 1, 2), 0);
	builder_clear(&b);
	run_clear(&r);
}

static void
chunk_is_full_at_its_bytes_and_elements(void **state)
{
	struct builder b = { 0 };
	struct run r;
	(void)state;
	run_init(&r);
	fill(&r, 20, 20000);
	uint32_t took = builder_add(&b, &r, 0, r.n);
	assert_int_equal(took, CHUNK_BYTES / 20003);
	struct chunk *c = builder_cut(&b);
	assert_int_equal(b.offset, took);
	assert_int_equal(builder_add(&b, &r, took, r.n), r.n - took);
	struct chunk *d = builder_cut(&b);
	assert_int_equal(d->offset, took);
	chunk_free(&c);
	chunk_free(&d);
	run_reset(&r);
	fill(&r, 512, 0);
	uint32_t n = 0;
	while (builder_add(&b, &r, 0, 512) == 512)
		n += 512;
	c = builder_cut(&b);
	assert_int_equal(c->count, CHUNK_ELEMENTS);
	chunk_free(&c);
	builder_clear(&b);
	run_clear(&r);
}

static void
large_element_is_a_slice_of_its_block(void **state)
{
	struct builder b = { 0 };
	struct run r;
	(void)state;
	run_init(&r);
	fill(&r, 1, CHUNK_OWN);
	assert_int_equal(builder_add(&b, &r, 0, 1), 0);
	struct chunk *c = builder_own(&b, &r.e[0]);
	assert_ptr_equal(c->p, r.e[0].p);
	assert_int_equal(c->offset, 0);
	assert_int_equal(b.offset, 1);
	run_clear(&r);
	assert_int_equal(c->p[CHUNK_OWN / 2], 'a'); /* the chunk holds the block */
	chunk_free(&c);
	builder_clear(&b);
}

static void
payload_outlives_its_chunk(void **state)
{
	struct builder b = { 0 };
	struct run r;
	(void)state;
	run_init(&r);
	fill(&r, 10, 5);
	builder_add(&b, &r, 0, 10);
	struct chunk *c = builder_cut(&b);
	struct sock_payload p = chunk_payload(c);
	chunk_free(&c);
	assert_int_equal(p.data[1], 'a');
	p.release(p.arg, (uint8_t *)p.data, p.len);
	builder_clear(&b);
	run_clear(&r);
}

static struct chunk *
packed(const char *text, size_t repeat, enum job_compression how, unsigned *pause)
{
	size_t n = strlen(text);
	struct block *k = block_new(n * repeat);
	for (size_t i = 0; i < repeat; i++)
		memcpy(k->data + i * n, text, n);
	k->len = n * repeat;
	struct chunk *c = chunk_new(k, k->data, k->len, 0, (uint32_t)repeat);
	chunk_pack(c, how, pause);
	return c;
}

static void
packing_is_undone_and_left_out_when_it_does_not_pay(void **state)
{
	unsigned pause = 0;
	struct block *raw = NULL;
	(void)state;
	struct chunk *c = packed("\xa5hello", 10000, PACK_AUTO, &pause);
	assert_int_equal(c->codec, CODEC_SNAPPY);
	assert_true(c->len < c->raw_len / 4);
	assert_true(chunk_unpack(c->p, c->len, c->raw_len, &raw));
	assert_int_equal(raw->len, 60000);
	assert_memory_equal(raw->data + 6, "\xa5hello", 6);
	block_unref(&raw);
	assert_false(chunk_unpack(c->p, c->len / 2, c->raw_len, &raw));
	assert_false(chunk_unpack(c->p, c->len, c->raw_len + 1, &raw));
	chunk_free(&c);
	c = packed("\xa7qx!7Zk.", 1, PACK_AUTO, &pause);
	assert_int_equal(c->codec, CODEC_NONE);
	assert_true(pause > 0);
	chunk_free(&c);
	unsigned before = pause;
	c = packed("\xa5hello", 10000, PACK_AUTO, &pause); /* left alone for a while */
	assert_int_equal(c->codec, CODEC_NONE);
	assert_int_equal(pause, before - 1);
	chunk_free(&c);
}

static void
an_element_made_in_shared_memory_is_not_copied(void **state)
{
	enum { LENT = ARENA_LENT_LEAST };
	struct arenas *as = arenas_new(16 * LENT);
	struct err err;
	(void)state;
	assert_int_equal(arenas_open(as, &err), ST_OK);
	arenas_use(as, true);
	struct block *b = arenas_lend(as, LENT);
	struct elem e = { .p = b->data + 64, .block = b, .len = LENT - 64 };
	struct builder at = { .arenas = as };
	struct chunk *c = builder_own(&at, &e);
	assert_ptr_equal(c->p, e.p);
	chunk_free(&c);
	e.len = LENT / 2 - 1; /* it would keep more than itself */
	c = builder_own(&at, &e);
	assert_ptr_not_equal(c->p, e.p);
	chunk_free(&c);
	block_unref(&b);
	arenas_free(&as);
}
