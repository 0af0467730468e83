/* SPDX-License-Identifier: MIT
 * Arrays of the C Data Interface, made by hand: every type, offsets and nulls, and what does not fit together. The
 * buffers end where they should, so that the address sanitizer sees whoever reads past them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/buf.h"
#include "base/mem.h"
#include "value/arrow/arrow_inner.h"
#include "value/arrow/arrow_rows.h"
#include "value/json/json_print.h"
#include "value/mp.h"

enum { MAX = 1 << 20, POOL = 4096 };
#define COUNT(A) (sizeof (A) / sizeof *(A))

/* Whatever a test makes; freed at its end. */
static void *pool[POOL];
static size_t pooled;

static void *
keep(const void *p, size_t n)
{
	assert_true(pooled < POOL);
	pool[pooled] = malloc(n ? n : 1);
	if (n)
		memcpy(pool[pooled], p, n);
	return pool[pooled++];
}

static int
drop(void **state)
{
	(void)state;
	while (pooled)
		free(pool[--pooled]);
	return 0;
}
#define EACH_TEARDOWN drop

static struct ArrowSchema *
schema_of(const char *format, const char *name, struct ArrowSchema *const *kids, size_t n)
{
	struct ArrowSchema s = { .format = format, .name = name, .flags = ARROW_FLAG_NULLABLE, .n_children = (int64_t)n };

	s.children = n ? keep(kids, n * sizeof(struct ArrowSchema *)) : NULL;
	return keep(&s, sizeof s);
}
#define LEAF(FORMAT) schema_of(FORMAT, "c", NULL, 0)
#define NEST(FORMAT, NAME, ...)                                                                     \
	schema_of(FORMAT, NAME, (struct ArrowSchema *[]){ __VA_ARGS__ }, COUNT(((struct ArrowSchema *[]){ __VA_ARGS__ })))

static struct ArrowArray *
array_of(int64_t length, const void *const *buffers, size_t n, struct ArrowArray *const *kids, size_t n_kids)
{
	struct ArrowArray a = { .length = length, .n_buffers = (int64_t)n, .n_children = (int64_t)n_kids };

	a.null_count = n && buffers[0] ? -1 : 0;
	a.buffers = keep(buffers, n * sizeof *buffers);
	a.children = n_kids ? keep(kids, n_kids * sizeof(struct ArrowArray *)) : NULL;
	return keep(&a, sizeof a);
}
#define BUFFERS(...) (const void *const[]){ __VA_ARGS__ }, COUNT(((const void *const[]){ __VA_ARGS__ }))
#define KIDS(...) (struct ArrowArray *[]){ __VA_ARGS__ }, COUNT(((struct ArrowArray *[]){ __VA_ARGS__ }))
#define DATA(TYPE, ...) keep((TYPE[]){ __VA_ARGS__ }, sizeof (TYPE[]){ __VA_ARGS__ })
#define FLAT(N, ...) array_of(N, BUFFERS(NULL, __VA_ARGS__), NULL, 0)
#define BITS(...) DATA(uint8_t, __VA_ARGS__)

static struct arrow_as as;

static enum status
rows_text(const struct ArrowSchema *s, const struct ArrowArray *a, int64_t rows, size_t max, struct buf *text,
	  struct err *e)
{
	static const struct json_rules rules;
	struct arrow_rows *r = NULL;
	struct run run;
	enum status st = arrow_rows_new(s, as, &r, e);

	run_init(&run);
	if (st == ST_OK)
		st = arrow_rows_bind(r, a, e);
	for (int64_t i = 0; i < rows && st == ST_OK; i++)
		st = arrow_rows_put(r, i, max, &run, (uint32_t)i, e);
	for (uint32_t i = 0; i < run.n && st == ST_OK; i++) {
		assert_ptr_equal(mp_check_next(run.e[i].p, run.e[i].p + run.e[i].len), run.e[i].p + run.e[i].len);
		json_write(run.e[i].p, run.e[i].len, &rules, text, e);
		buf_byte(text, ' ');
	}
	buf_byte(text, 0);
	run_clear(&run);
	arrow_rows_free(&r);
	assert_null(r);
	return st;
}

/* The column as the only one of a table. */
static enum status
column_text(struct ArrowSchema *s, struct ArrowArray *a, struct buf *text, struct err *e)
{
	return rows_text(NEST("+s", "", s), array_of(a->length, BUFFERS(NULL), KIDS(a)), a->length, MAX, text, e);
}

static void
gives(struct ArrowSchema *s, struct ArrowArray *a, const char *want)
{
	struct buf text = { 0 };
	struct err e = { 0 };

	if (column_text(s, a, &text, &e) != ST_OK)
		fail_msg("%s: %s", s->format, e.text);
	assert_string_equal((char *)text.data, want);
	buf_clear(&text);
}

static void
refuses(struct ArrowSchema *s, struct ArrowArray *a, const char *why)
{
	struct buf text = { 0 };
	struct err e = { 0 };

	assert_int_equal(column_text(s, a, &text, &e), ST_DATA);
	if (!strstr(e.text, why))
		fail_msg("%s: %s", s->format, e.text);
	buf_clear(&text);
}

/* ---- what is read ---- */

static void
numbers_of_every_width(void **state)
{
	(void)state;
	gives(LEAF("n"), array_of(2, NULL, 0, NULL, 0), "{\"c\":null} {\"c\":null} ");
	gives(LEAF("b"), FLAT(3, BITS(5)), "{\"c\":true} {\"c\":false} {\"c\":true} ");
	gives(LEAF("c"), FLAT(1, DATA(int8_t, -128)), "{\"c\":-128} ");
	gives(LEAF("C"), FLAT(1, DATA(uint8_t, 255)), "{\"c\":255} ");
	gives(LEAF("s"), FLAT(1, DATA(int16_t, INT16_MIN)), "{\"c\":-32768} ");
	gives(LEAF("S"), FLAT(1, DATA(uint16_t, 65535)), "{\"c\":65535} ");
	gives(LEAF("i"), FLAT(1, DATA(int32_t, INT32_MIN)), "{\"c\":-2147483648} ");
	gives(LEAF("I"), FLAT(1, DATA(uint32_t, UINT32_MAX)), "{\"c\":4294967295} ");
	gives(LEAF("l"), FLAT(1, DATA(int64_t, INT64_MIN)), "{\"c\":-9223372036854775808} ");
	gives(LEAF("L"), FLAT(1, DATA(uint64_t, UINT64_MAX)), "{\"c\":18446744073709551615} ");
	gives(LEAF("e"), FLAT(1, DATA(uint16_t, 0xc000)), "{\"c\":-2.0} ");
	gives(LEAF("f"), FLAT(1, DATA(float, 0.5F)), "{\"c\":0.5} ");
	gives(LEAF("g"), FLAT(1, DATA(double, 0.1)), "{\"c\":0.1} ");
}

static void
texts_and_bytes_of_every_kind(void **state)
{
	(void)state;
	for (int wide = 0; wide < 2; wide++) {
		void *offsets = wide ? DATA(int64_t, 2, 2, 4) : DATA(int32_t, 2, 2, 4);

		gives(LEAF(wide ? "U" : "u"), FLAT(2, offsets, keep("--ab", 4)), "{\"c\":\"\"} {\"c\":\"ab\"} ");
		gives(LEAF(wide ? "Z" : "z"), FLAT(2, offsets, keep("--ab", 4)), "{\"c\":\"\"} {\"c\":\"YWI=\"} ");
	}
	/* No bytes at all need no buffer. */
	gives(LEAF("u"), FLAT(1, DATA(int32_t, 0, 0), NULL), "{\"c\":\"\"} ");
	gives(LEAF("u"), FLAT(0, NULL, NULL), "");
	gives(LEAF("w:2"), FLAT(2, keep("abcd", 4)), "{\"c\":\"YWI=\"} {\"c\":\"Y2Q=\"} ");
	gives(LEAF("w:0"), FLAT(1, NULL), "{\"c\":\"\"} ");
	/* A short text lies in its view, a long one in a buffer. */
	int32_t views[] = { 2, 0, 0, 0, 13, 0, 0, 1 };
	memcpy(views + 1, "hi", 2);
	gives(LEAF("vu"), FLAT(2, keep(views, sizeof views), keep("-abcdefghijklm", 14), DATA(int64_t, 14)),
	      "{\"c\":\"hi\"} {\"c\":\"abcdefghijklm\"} ");
}

static void
times_and_decimals(void **state)
{
	(void)state;
	gives(LEAF("tdD"), FLAT(1, DATA(int32_t, -1)), "{\"c\":-86400.0} ");
	as = (struct arrow_as){ ARROW_TIMES_TEXT, ARROW_DECIMALS_TEXT };
	gives(LEAF("tdD"), FLAT(2, DATA(int32_t, -1, INT32_MIN)), "{\"c\":\"1969-12-31\"} {\"c\":\"-5877641-06-23\"} ");
	gives(LEAF("tdm"), FLAT(1, DATA(int64_t, INT64_MIN)), "{\"c\":\"-292275055-05-16\"} ");
	gives(LEAF("tts"), FLAT(1, DATA(int32_t, 3661)), "{\"c\":\"01:01:01\"} ");
	gives(LEAF("ttn"), FLAT(1, DATA(int64_t, 1)), "{\"c\":\"00:00:00.000000001\"} ");
	gives(LEAF("tss:UTC"), FLAT(1, DATA(int64_t, INT64_MAX)), "{\"c\":\"+292277026596-12-04T15:30:07Z\"} ");
	gives(LEAF("tsn:"), FLAT(1, DATA(int64_t, -1)), "{\"c\":\"1969-12-31T23:59:59.999999999\"} ");
	gives(LEAF("tDn"), FLAT(1, DATA(int64_t, INT64_MIN)), "{\"c\":\"-PT9223372036.854775808S\"} ");
	gives(LEAF("d:5,2"), FLAT(1, DATA(int64_t, -125, -1)), "{\"c\":\"-1.25\"} ");
	gives(LEAF("d:5,-2,32"), FLAT(1, DATA(int32_t, 7)), "{\"c\":\"700\"} ");
	gives(LEAF("d:76,76,256"), FLAT(1, DATA(int64_t, 0, 0, 0, INT64_MIN)),
	      "{\"c\":\"-5.7896044618658097711785492504343953926634992332820282019728792003956564819968\"} ");
	as = (struct arrow_as){ 0 };
	gives(LEAF("d:18,3,64"), FLAT(1, DATA(int64_t, 1500)), "{\"c\":1.5} ");
}

static void
nulls_and_offsets(void **state)
{
	struct ArrowArray *a = array_of(3, BUFFERS(BITS(0xa), DATA(int16_t, 0, 1, 2, 3)), NULL, 0);

	(void)state;
	a->offset = 1;
	gives(LEAF("s"), a, "{\"c\":1} {\"c\":null} {\"c\":3} ");
	/* The offset of a struct counts in its fields, and is not theirs. */
	struct ArrowArray *s = array_of(2, BUFFERS(BITS(6)), KIDS(FLAT(3, DATA(int8_t, 1, 2, 3))));
	s->offset = 1;
	gives(NEST("+s", "c", LEAF("c")), s, "{\"c\":{\"c\":2}} {\"c\":{\"c\":3}} ");
	struct ArrowArray *four = array_of(1, BUFFERS(NULL), KIDS(FLAT(4, DATA(int8_t, 1, 2, 3, 4))));
	four->offset = 1;
	gives(NEST("+w:2", "c", LEAF("c")), four, "{\"c\":[3,4]} ");
}

static struct ArrowArray *
map_of(const void *entry_bits, const void *key_bits)
{
	struct ArrowArray *keys = array_of(3, BUFFERS(key_bits, DATA(int32_t, 0, 1, 2, 3), keep("aba", 3)), NULL, 0);
	struct ArrowArray *pairs = array_of(3, BUFFERS(entry_bits), KIDS(keys, FLAT(3, DATA(int8_t, 1, 2, 3))));

	return array_of(1, BUFFERS(NULL, DATA(int32_t, 0, 3)), KIDS(pairs));
}

static struct ArrowSchema *
map_schema(const char *key)
{
	return NEST("+m", "c", NEST("+s", "entries", LEAF(key), schema_of("c", "value", NULL, 0)));
}

static void
lists_maps_and_dictionaries(void **state)
{
	struct ArrowArray *items = FLAT(3, DATA(int8_t, 1, 2, 3));
	struct ArrowSchema *d = LEAF("C");
	struct ArrowArray *of = FLAT(2, BITS(1, 0));

	(void)state;
	gives(NEST("+l", "c", LEAF("c")), array_of(2, BUFFERS(BITS(1), DATA(int32_t, 1, 3, 3)), KIDS(items)),
	      "{\"c\":[2,3]} {\"c\":null} ");
	gives(NEST("+L", "c", LEAF("c")), array_of(1, BUFFERS(NULL, DATA(int64_t, 0, 1)), KIDS(items)), "{\"c\":[1]} ");
	/* A key that comes twice has its last value. */
	gives(map_schema("u"), map_of(NULL, NULL), "{\"c\":{\"b\":2,\"a\":3}} ");
	d->dictionary = LEAF("u");
	of->dictionary = FLAT(2, DATA(int32_t, 0, 1, 2), keep("xy", 2));
	gives(d, of, "{\"c\":\"y\"} {\"c\":\"x\"} ");
}

/* ---- what is refused ---- */

static void
schemas_that_are_malformed(void **state)
{
	static const char *const bad[] = { "", "?", "w:", "w:-1", "w:99999999999", "d:", "d:0,1", "d:99,1", "d:5,2,48",
		"d:5", "t", "tx", "tdx", "+", "+w:", "+w:-1", "+l", "+m", "+ud:0", "+r", "+vl", "tiM", "vx", "bb" };
	struct ArrowArray *none = FLAT(0, NULL);
	struct ArrowSchema *deep = LEAF("c"), *s;

	(void)state;
	for (size_t i = 0; i < COUNT(bad); i++)
		refuses(LEAF(bad[i]), none, "");
	refuses(LEAF("tiM"), none, "intervals");
	refuses(NEST("+m", "c", LEAF("u")), none, "a malformed map");
	refuses(NEST("+s", "c", LEAF("u"), LEAF("u")), none, "two fields are called `c`");
	for (int i = 0; i <= ARROW_DEPTH_MAX; i++)
		deep = NEST("+l", "c", deep);
	refuses(deep, none, "nests deeper");
	s = LEAF("+s");
	s->n_children = 1;
	refuses(s, none, "missing");
	s->n_children = -1;
	refuses(s, none, "it has more than");
	s->n_children = INT64_MAX;
	refuses(s, none, "it has more than");
	refuses(NEST("+l", "c", NULL), none, "missing");
	s = LEAF("g");
	s->dictionary = LEAF("u");
	refuses(s, none, "a malformed dictionary");
}

static void
arrays_that_do_not_fit(void **state)
{
	struct ArrowArray *a = FLAT(2, DATA(int8_t, 1, 2)), *list;

	(void)state;
	a->length = INT64_MAX;
	a->offset = 1;
	refuses(LEAF("c"), a, "fewer values");
	a->length = -1;
	a->offset = 0;
	refuses(LEAF("c"), a, "fewer values");
	a->length = 2;
	a->n_buffers = 1;
	refuses(LEAF("c"), a, "its buffers are others");
	refuses(LEAF("c"), FLAT(1, NULL), "its values are missing");
	refuses(LEAF("u"), FLAT(1, DATA(int32_t, 0, 1), NULL), "its bytes are missing");
	/* A struct of two rows whose field has one. */
	refuses(NEST("+s", "c", LEAF("c")), array_of(2, BUFFERS(NULL), KIDS(FLAT(1, DATA(int8_t, 1)))), "fewer values");
	refuses(NEST("+s", "c", LEAF("c")), array_of(1, BUFFERS(NULL), NULL, 0), "its parts are others");
	refuses(NEST("+s", "c", LEAF("c")), array_of(1, BUFFERS(NULL), KIDS(NULL)), "a part of it is missing");
	list = array_of(1, BUFFERS(NULL), KIDS(FLAT(1, DATA(int8_t, 1))));
	refuses(NEST("+w:2", "c", LEAF("c")), list, "fewer values");
	list->offset = INT64_MAX / 2;
	refuses(NEST("+w:1000", "c", LEAF("c")), list, "its items are too many");
	refuses(NEST("+l", "c", LEAF("c")), array_of(1, BUFFERS(NULL, DATA(int32_t, 0, 9)), KIDS(FLAT(1, BITS(1)))),
		"fewer values");
}

static void
offsets_that_do_not_fit(void **state)
{
	struct ArrowSchema *d = LEAF("c");
	struct ArrowArray *of = FLAT(2, DATA(int8_t, 0, -1));

	(void)state;
	refuses(LEAF("u"), FLAT(1, DATA(int32_t, 4, 2), keep("abcd", 4)), "its offsets");
	refuses(LEAF("u"), FLAT(1, DATA(int32_t, -1, 2), keep("abcd", 4)), "its offsets");
	/* The first and the last are right, those between them are not. */
	refuses(LEAF("u"), FLAT(2, DATA(int32_t, 0, INT32_MAX, 4), keep("abcd", 4)), "its offsets are malformed");
	refuses(LEAF("Z"), FLAT(3, DATA(int64_t, 0, 3, INT64_MIN, 4), keep("abcd", 4)), "its offsets are malformed");
	refuses(NEST("+l", "c", LEAF("c")), array_of(2, BUFFERS(NULL, DATA(int32_t, 0, 9, 1)), KIDS(FLAT(1, BITS(1)))),
		"its offsets are malformed");
	d->dictionary = LEAF("u");
	refuses(d, of, "its dictionary is missing");
	of->dictionary = FLAT(1, DATA(int32_t, 0, 1), keep("x", 1));
	refuses(d, of, "behind the end of its dictionary");
	static const int32_t views[][4] = { { -1, 0, 0, 0 }, { 13, 0, 1, 0 }, { 13, 0, -1, 0 }, { 13, 0, 0, -1 },
		{ 13, 0, 0, 8 }, { INT32_MAX, 0, 0, 1 } };
	for (size_t i = 0; i < COUNT(views); i++)
		refuses(LEAF("vz"), FLAT(1, keep(views[i], 16), keep("abcdefghijklm", 14), DATA(int64_t, 14)),
			"its offsets are malformed");
}

static void
maps_with_nulls_in_place_of_entries(void **state)
{
	(void)state;
	refuses(map_schema("u"), map_of(BITS(3), NULL), "a map with a null key");
	refuses(map_schema("u"), map_of(NULL, BITS(3)), "a map with a null key");
	refuses(map_schema("z"), map_of(BITS(3), NULL), "a map with a null key");
}

static void
elements_above_the_limit(void **state)
{
	struct ArrowSchema *list = NEST("+s", "", NEST("+l", "c", LEAF("n")));
	struct ArrowArray *items = array_of(INT32_MAX, NULL, 0, NULL, 0), *a;
	struct buf text = { 0 };
	struct err e = { 0 };

	(void)state;
	/* Two thousand million nulls take no memory in Arrow. */
	a = array_of(1, BUFFERS(NULL, DATA(int32_t, 0, INT32_MAX)), KIDS(items));
	assert_int_equal(rows_text(list, array_of(1, BUFFERS(NULL), KIDS(a)), 1, MAX, &text, &e), ST_DATA);
	assert_non_null(strstr(e.text, "larger than the element limit"));
	buf_reset(&text);
	a = FLAT(1, DATA(int32_t, 0, 100), keep((char[100]){ "x" }, 100));
	assert_int_equal(rows_text(NEST("+s", "", LEAF("z")), array_of(1, BUFFERS(NULL), KIDS(a)), 1, 90, &text, &e),
			 ST_DATA);
	assert_non_null(strstr(e.text, "larger than the element limit"));
	buf_clear(&text);
}
