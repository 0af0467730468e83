/* SPDX-License-Identifier: MIT */
#include "wire/msg.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "base/rng.h"
#include "wire/field.h"

struct any_list { void *v; size_t n; };

static void fill_rows(struct rng *r, const struct field *rows, void *base);

static char *
fill_text(struct rng *r, uint64_t max)
{
	size_t n = rng_below(r, (max < 40 ? max : 40) + 1);
	char *s = mem_zalloc(n + 1);

	for (size_t i = 0; i < n; i++)
		s[i] = (char)(1 + rng_below(r, 255));
	return s;
}

static void
fill_field(struct rng *r, const struct field *f, void *at)
{
	struct any_list *l = at;
	size_t n = rng_below(r, 4);

	switch (f->kind) {
	case FIELD_NONE: break;
	case FIELD_U32:
		*(uint32_t *)at = (uint32_t)(rng_next(r) >> rng_below(r, 32)) % (f->max ? (uint32_t)f->max + 1 : UINT32_MAX);
		break;
	case FIELD_U64: *(uint64_t *)at = (rng_next(r) >> rng_below(r, 64)) % (f->max ? f->max + 1 : UINT64_MAX); break;
	case FIELD_BOOL: *(bool *)at = rng_below(r, 2); break;
	case FIELD_TEXT: *(char **)at = fill_text(r, f->max); break;
	case FIELD_BYTES: {
		struct bytes *b = at;
		b->n = n;
		b->p = mem_zalloc(n);
		break;
	}
	case FIELD_RANGES: {
		struct ranges *s = at;
		uint64_t x = rng_below(r, 3);
		s->v = mem_array(n, sizeof *s->v);
		for (s->n = 0; s->n < n; s->n++) {
			s->v[s->n].start = x;
			x += 1 + rng_below(r, 1u << rng_below(r, 30));
			s->v[s->n].end = x;
			x += 1 + rng_below(r, 1000);
		}
		break;
	}
	case FIELD_WORDS:
		while (n--)
			words_add(at, "tag", n);
		break;
	case FIELD_SPLITS:
		while (n--) {
			struct split s = { .kind = SPLIT_FILE, .path = (char *)(uintptr_t)"/some/file",
				.start = rng_below(r, 1000), .count = 1 + rng_below(r, 1000), .times = 1 + n, .weight = 5 };
			split_list_add(at, &s);
		}
		break;
	case FIELD_LIST:
		l->v = mem_array(n, f->item_size);
		for (l->n = 0; l->n < n; l->n++)
			fill_rows(r, f->item, (char *)l->v + l->n * f->item_size);
		break;
	}
}

static void
fill_rows(struct rng *r, const struct field *rows, void *base)
{
	for (; rows->kind; rows++)
		fill_field(r, rows, (char *)base + rows->offset);
}

static void
fill_msg(struct rng *r, unsigned type, struct msg *m)
{
	*m = (struct msg){ .type = (enum msg_type)type, .req = rng_next(r) >> rng_below(r, 64) };
	fill_rows(r, msg_desc(type)->fields, &m->hello);
	if (type == MSG_HELLO)
		m->hello.version = WIRE_VERSION;
}

static void
every_message_survives_the_wire(void **state)
{
	struct rng r = { 7, 0 };

	(void)state;
	for (unsigned t = 1; t < MSG_TYPES; t++) {
		assert_non_null(msg_desc(t));
		for (int i = 0; i < 50; i++) {
			struct msg m, back;
			struct buf a = { 0 }, b = { 0 };
			struct err e;

			fill_msg(&r, t, &m);
			msg_encode(&m, &a);
			if (msg_decode(a.data, a.len, &back, &e))
				fail_msg("%s: %s", msg_name(m.type), e.text);
			msg_encode(&back, &b);
			assert_int_equal(a.len, b.len);
			assert_memory_equal(a.data, b.data, a.len);
			msg_clear(&m);
			msg_clear(&back);
			buf_clear(&a);
			buf_clear(&b);
		}
	}
}

static void
cut_or_lengthened_messages_are_refused(void **state)
{
	struct rng r = { 8, 0 };

	(void)state;
	for (unsigned t = 1; t < MSG_TYPES; t++) {
		struct msg m, back;
		struct buf a = { 0 };
		struct err e;

		fill_msg(&r, t, &m);
		msg_encode(&m, &a);
		for (size_t n = t == MSG_HELLO ? a.len : 0; n < a.len; n++) {
			uint8_t *part = mem_dup(a.data, n); /* so that the sanitizer sees its end */

			assert_int_equal(msg_decode(part, n, &back, &e), ST_PROTO);
			assert_int_equal(back.type, 0);
			mem_free(part);
		}
		buf_byte(&a, 0);
		assert_int_equal(msg_decode(a.data, a.len, &back, &e), ST_PROTO);
		msg_clear(&m);
		buf_clear(&a);
	}
}

static void
changed_bytes_do_no_harm(void **state)
{
	struct rng r = { 9, 0 };

	(void)state;
	for (int i = 0; i < 100000; i++) {
		struct msg m, back;
		struct buf a = { 0 };
		struct err e;

		fill_msg(&r, 1 + (unsigned)rng_below(&r, MSG_TYPES - 1), &m);
		msg_encode(&m, &a);
		for (uint64_t k = 1 + rng_below(&r, 3); k; k--)
			a.data[rng_below(&r, a.len)] = (uint8_t)rng_next(&r);
		if (!msg_decode(a.data, a.len, &back, &e))
			msg_clear(&back);
		msg_clear(&m);
		buf_clear(&a);
	}
}

static void
hello_of_another_version_tells_its_version(void **state)
{
	static const uint8_t other[] = { 0x94, MSG_HELLO, 5, 9, 0xa3, 'x', 'y', 'z' };
	struct msg m;
	struct err e;

	(void)state;
	assert_int_equal(msg_decode(other, sizeof other, &m, &e), ST_OK);
	assert_int_equal(m.hello.version, 9);
	assert_int_equal(m.req, 5);
	msg_clear(&m);
}

static void
limits_are_kept(void **state)
{
	struct msg m = { .type = MSG_GET }, back;
	struct buf b = { 0 };
	struct err e;

	(void)state;
	m.get.id = mem_zalloc(WIRE_NAME_MAX + 2);
	memset(m.get.id, 'a', WIRE_NAME_MAX + 1);
	msg_encode(&m, &b);
	assert_int_equal(msg_decode(b.data, b.len, &back, &e), ST_PROTO);
	assert_string_equal(e.text, "malformed GET message: field `id` is too long");
	msg_clear(&m);
	buf_reset(&b);

	struct range touching[] = { { 1, 2 }, { 2, 3 } };
	m = (struct msg){ .type = MSG_HELD, .held.ranges = { touching, 2 } };
	msg_encode(&m, &b);
	assert_int_equal(msg_decode(b.data, b.len, &back, &e), ST_PROTO);
	buf_reset(&b);

	struct range endless[] = { { 1, UINT64_MAX } };
	m = (struct msg){ .type = MSG_HELD, .held.ranges = { endless, 1 } };
	msg_encode(&m, &b);
	assert_int_equal(msg_decode(b.data, b.len, &back, &e), ST_PROTO);
	buf_clear(&b);
}

/* A message that a receiver would refuse is found before it is sent. */
static void
what_is_above_a_limit_does_not_fit(void **state)
{
	struct split s = { .kind = SPLIT_FILE, .whole = true, .path = (char *)(uintptr_t)"/a/name", .times = 1 };
	struct msg m = { .type = MSG_UNITS };
	struct buf b = { 0 };
	struct err e;

	(void)state;
	for (int i = 0; i < WIRE_UNITS_PART; i++)
		split_list_add(&m.units.units, &s);
	msg_encode(&m, &b);
	assert_int_equal(msg_fits(&m, b.len, &e), ST_OK);
	assert_int_equal(msg_fits(&m, WIRE_FRAME_MAX + 1, &e), ST_BUG);
	assert_string_equal(e.text, "message UNITS is not sent: it has 1048577 bytes, more than its limit of 1048576");
	split_list_add(&m.units.units, &s);
	assert_int_equal(msg_fits(&m, b.len, &e), ST_BUG);
	assert_string_equal(e.text, "message UNITS is not sent: its field `units` is above the limit of 4096");
	msg_clear(&m);

	/* in an item of a list, too */
	char name[WIRE_FAULT_TEXT + 2] = { 0 };
	struct msg_fault f = { .text = name };
	memset(name, 'a', sizeof name - 1);
	m = (struct msg){ .type = MSG_FAULTS, .faults.list = { &f, 1 } };
	assert_int_equal(msg_fits(&m, b.len, &e), ST_BUG);
	name[WIRE_FAULT_TEXT] = 0;
	assert_int_equal(msg_fits(&m, b.len, &e), ST_OK);
	buf_clear(&b);
}

/* The parts of a list are all of it, each within both bounds. */
static void
lists_of_units_come_apart_within_bounds(void **state)
{
	struct split_list all = { 0 };
	struct buf b = { 0 };
	char path[4000];

	(void)state;
	for (size_t i = 0; i < 10000; i++) {
		size_t n = 1 + i * 37 % (sizeof path - 1);
		memset(path, 'p', n);
		path[n] = 0;
		struct split s = { .kind = SPLIT_FILE, .whole = true, .path = path, .times = 1 };
		split_list_add(&all, &s);
	}
	for (size_t at = 0, n; at < all.n; at += n) {
		n = split_list_part(&all, at, 1000, WIRE_UNITS_BYTES);
		assert_in_range(n, 1, 1000);
		buf_reset(&b);
		for (size_t i = 0; i < n; i++)
			split_encode(&all.v[at + i], &b);
		assert_in_range(b.len, 1, WIRE_UNITS_BYTES);
	}
	assert_int_equal(split_list_part(&all, all.n, 1000, 1), 0);
	assert_int_equal(split_list_part(&all, 0, 1000, 1), 1);
	buf_clear(&b);
	split_list_clear(&all);
}

static void
protocol_doc_has_the_tables_as_they_are(void **state)
{
	struct buf want = { 0 }, have = { 0 };
	FILE *f = fopen("doc/protocol.md", "r");
	int c;

	(void)state;
	msg_print_tables(&want);
	if (getenv("UPDATE"))
		fputs((char *)want.data, stderr);
	assert_non_null(f);
	while ((c = getc(f)) != EOF)
		buf_byte(&have, (uint8_t)c);
	fclose(f);
	assert_non_null(strstr((char *)have.data, (char *)want.data));
	buf_clear(&want);
	buf_clear(&have);
}
