/* SPDX-License-Identifier: MIT */
#include "expr_help.h"

#include "base/rng.h"
#include "expr/vm.h"

/* A run of elements from JSON texts, in a block of its own. */
static void
run_of(struct run *r, const char *const *texts, size_t n)
{
	run_init(r);
	for (size_t i = 0; i < n; i++) {
		struct buf b = { 0 };

		help_encode(texts[i], &b);
		uint8_t *p = run_room(r, b.len);
		memcpy(p, b.data, b.len);
		run_done(r, p + b.len, (uint32_t)i + 100);
		buf_clear(&b);
	}
	for (uint32_t i = 0; i < r->n; i++)
		assert_non_null(r->e[i].block);
}

static char *
run_text(const struct run *r)
{
	struct buf b = { 0 };

	for (uint32_t i = 0; i < r->n; i++) {
		assert_true(mp_check(r->e[i].p, r->e[i].len));
		if (i)
			buf_byte(&b, ' ');
		json_print(r->e[i].p, r->e[i].len, &b);
	}
	buf_str(&b, "");
	return buf_take(&b);
}

static void
run_expect(const struct run *r, const char *want)
{
	char *got = run_text(r);

	assert_string_equal(got, want);
	mem_free(got);
}

static void
a_map_stops_at_the_element_that_fails_or_is_skipped(void **state)
{
	static const char *const texts[] = { "1", "2", "\"a\"", "4", "null", "6" };
	struct run in, out;
	struct help h;
	struct err e = { 0 };
	uint32_t from = 0;

	(void)state;
	assert_true(help_compile(&h, "x == 4 ? skip() : [x * 10, i]", NULL));
	struct expr_vm *vm = expr_vm_new(h.code, 0);
	run_of(&in, texts, COUNT(texts));
	run_init(&out);
	assert_int_equal(expr_map(vm, &in, &from, &out, &e), ST_DATA);
	assert_int_equal(from, 2);
	assert_string_equal(e.text, "`*` of text and int");
	run_expect(&out, "[10,0] [20,1]");
	from++;
	assert_int_equal(expr_map(vm, &in, &from, &out, &e), ST_SKIP);
	assert_int_equal(from, 3);
	from++;
	assert_int_equal(expr_map(vm, &in, &from, &out, &e), ST_DATA);
	assert_int_equal(from, 4);
	from++;
	assert_int_equal(expr_map(vm, &in, &from, &out, &e), ST_OK);
	assert_int_equal(from, 6);
	run_expect(&out, "[10,0] [20,1] [60,5]");
	assert_int_equal(out.e[2].pos, 105);
	expr_vm_set_index(vm, 1000);
	from = 5;
	assert_int_equal(expr_map(vm, &in, &from, &out, NULL), ST_OK);
	run_expect(&out, "[10,0] [20,1] [60,5] [60,1000]");
	from = 2;
	assert_int_equal(expr_map(vm, &in, &from, &out, NULL), ST_DATA);
	run_clear(&in);
	run_clear(&out);
	expr_vm_free(&vm);
	help_clear(&h);
}

static void
a_filter_passes_elements_as_they_are(void **state)
{
	static const char *const texts[] = { "{\"n\": 1}", "{\"n\": 5}", "{}", "{\"n\": 9}" };
	struct run in, out;
	struct help h;
	struct err e = { 0 };
	uint32_t from = 0;

	(void)state;
	assert_true(help_compile(&h, "(.n ?? 7) > 4", NULL));
	struct expr_vm *vm = expr_vm_new(h.code, 0);
	run_of(&in, texts, COUNT(texts));
	run_init(&out);
	assert_int_equal(expr_filter(vm, &in, &from, &out, &e), ST_OK);
	assert_int_equal(from, 4);
	run_expect(&out, "{\"n\":5} {} {\"n\":9}");
	assert_ptr_equal(out.e[0].p, in.e[1].p);
	assert_int_equal(out.e[2].pos, 103);
	expr_vm_free(&vm);
	help_clear(&h);
	assert_true(help_compile(&h, ".n", NULL));
	vm = expr_vm_new(h.code, 0);
	from = 1;
	assert_int_equal(expr_filter(vm, &in, &from, &out, &e), ST_DATA);
	assert_int_equal(from, 1);
	assert_string_equal(e.text, "filter needs a test, not int");
	run_clear(&in);
	run_clear(&out);
	expr_vm_free(&vm);
	help_clear(&h);
}

static void
large_parts_are_passed_on_and_small_ones_copied(void **state)
{
	char *big = mem_alloc(70000);
	const char *texts[1];
	struct run in, out;
	struct help h;
	uint32_t from;
	static const struct { const char *text; bool shared; uint32_t len; } rows[] = {
		{ "x", true, 0 },
		{ ".big", true, 60003 },
		{ ".small", false, 2 },
		{ ".big ++ \"\"", false, 60003 },
		{ ".big[1:]", false, 60002 },
		{ ".list", true, 601 + 3 },
		{ "{big}", false, 60003 + 5 },
		{ ".list[0]", false, 1 },
	};

	(void)state;
	struct buf b = { 0 };
	buf_str(&b, "{\"small\":\"a\",\"big\":\"");
	memset(big, 'y', 60000);
	buf_put(&b, big, 60000);
	buf_str(&b, "\",\"list\":[0");
	for (int i = 0; i < 600; i++)
		buf_str(&b, ",1");
	buf_str(&b, "]}");
	texts[0] = (char *)b.data;
	run_of(&in, texts, 1);
	for (size_t i = 0; i < COUNT(rows); i++) {
		assert_true(help_compile(&h, rows[i].text, NULL));
		struct expr_vm *vm = expr_vm_new(h.code, 0);

		run_init(&out);
		from = 0;
		assert_int_equal(expr_map(vm, &in, &from, &out, NULL), ST_OK);
		assert_true(mp_check(out.e[0].p, out.e[0].len));
		bool within = out.e[0].p >= in.e[0].p && out.e[0].p < in.e[0].p + in.e[0].len;
		if (within != rows[i].shared || (rows[i].len && out.e[0].len != rows[i].len))
			fail_msg("%s: %d, %u bytes", rows[i].text, within, out.e[0].len);
		assert_true(!within || out.e[0].block == in.e[0].block);
		/* alone, the element may be gone before the result is */
		run_reset(&out);
		assert_int_equal(expr_eval(vm, &in.e[0], &out, NULL), ST_OK);
		within = out.e[0].p >= in.e[0].p && out.e[0].p < in.e[0].p + in.e[0].len;
		assert_false(within);
		assert_int_equal(out.e[0].pos, 100);
		run_clear(&out);
		expr_vm_free(&vm);
		help_clear(&h);
	}
	run_clear(&in);
	buf_clear(&b);
	mem_free(big);
}

static void
a_state_may_be_what_was_lent_before(void **state)
{
	struct help h;
	struct err e = { 0 };
	const uint8_t *p;
	size_t n;
	struct buf text = { 0 };

	(void)state;
	assert_true(help_compile(&h, "s ++ [x, xx] ++ s[0:1]", NULL));
	struct expr_vm *vm = expr_vm_new(h.code, 0);
	struct buf init = { 0 };
	help_encode("[0]", &init);
	expr_vm_set(vm, EXPR_S, init.data, init.len);
	expr_vm_set(vm, EXPR_XX, (const uint8_t *)"\xa1z", 2);
	for (uint8_t i = 1; i < 5; i++) {
		struct elem el = { &i, NULL, 1, 0 };

		assert_int_equal(expr_value(vm, &el, &p, &n, &e), ST_OK);
		expr_vm_set(vm, EXPR_S, p, n);
	}
	json_print(p, n, &text);
	assert_string_equal((char *)text.data, "[0,1,\"z\",0,2,\"z\",0,3,\"z\",0,4,\"z\",0]");
	buf_clear(&text);
	buf_clear(&init);
	expr_vm_free(&vm);
	help_clear(&h);
}

static void
random_numbers_come_from_seed_and_index(void **state)
{
	static const char *const texts[] = { "null", "null", "null", "null" };
	struct help h;
	struct run in, a, b;
	uint32_t from = 0;

	(void)state;
	assert_true(help_compile(&h, "[rand(1_000_000), rand(1_000_000)]", NULL));
	run_of(&in, texts, 4);
	run_init(&a);
	run_init(&b);
	struct expr_vm *one = expr_vm_new(h.code, 7), *two = expr_vm_new(h.code, 7);
	assert_int_equal(expr_map(one, &in, &from, &a, NULL), ST_OK);
	expr_vm_set_index(two, 2);
	from = 2;
	assert_int_equal(expr_map(two, &in, &from, &b, NULL), ST_OK);
	assert_int_equal(a.e[2].len, b.e[0].len);
	assert_memory_equal(a.e[2].p, b.e[0].p, a.e[2].len);
	assert_memory_equal(a.e[3].p, b.e[1].p, a.e[3].len);
	assert_int_not_equal(mp_compare(a.e[0].p, a.e[0].len, a.e[1].p, a.e[1].len), 0);
	expr_vm_free(&two);
	two = expr_vm_new(h.code, 8);
	from = 0;
	run_reset(&b);
	assert_int_equal(expr_map(two, &in, &from, &b, NULL), ST_OK);
	assert_int_not_equal(mp_compare(a.e[0].p, a.e[0].len, b.e[0].p, b.e[0].len), 0);
	run_clear(&in);
	run_clear(&a);
	run_clear(&b);
	expr_vm_free(&one);
	expr_vm_free(&two);
	help_clear(&h);
}

static void
now_is_one_time_for_all_elements(void **state)
{
	struct help h;
	const uint8_t *p;
	size_t n;
	struct elem e = { (const uint8_t *)"\xc0", NULL, 1, 0 };
	struct mp v;

	(void)state;
	assert_true(help_compile(&h, "now()", NULL));
	struct expr_vm *vm = expr_vm_new(h.code, 0);
	expr_vm_set_time(vm, 1500000000);
	assert_int_equal(expr_value(vm, &e, &p, &n, NULL), ST_OK);
	mp_head(p, p + n, &v);
	assert_true(v.f == 1.5);
	expr_vm_free(&vm);
	vm = expr_vm_new(h.code, 0);
	double first = 0;
	for (int i = 0; i < 3; i++) {
		assert_int_equal(expr_value(vm, &e, &p, &n, NULL), ST_OK);
		mp_head(p, p + n, &v);
		assert_true(i == 0 || v.f == first);
		first = v.f;
	}
	assert_true(first > 1.5e9);
	expr_vm_free(&vm);
	help_clear(&h);
}

static void
bytes_that_are_not_shortest_are_read_alike(void **state)
{
	/* {"a": 1, "n": 2.5f} with long heads, keys of other kinds before it */
	static const uint8_t strange[] = {
		0xdf, 0, 0, 0, 5, 0x07, 0x01, 0xc0, 0x02, 0xd9, 1, 'a', 0xd3, 0, 0, 0, 0, 0, 0, 0, 1,
		0xda, 0, 1, 'n', 0xca, 0x40, 0x20, 0, 0, 0xdb, 0, 0, 0, 1, 'l', 0xdd, 0, 0, 0, 1, 0xcf, 0, 0, 0, 0,
		0, 0, 0, 9
	};
	struct help h;
	const uint8_t *p;
	size_t n;
	struct elem e = { strange, NULL, sizeof strange, 0 };
	struct buf text = { 0 };

	(void)state;
	assert_true(mp_check(strange, sizeof strange));
	assert_true(help_compile(&h, "[.a + 1, .n, .l[0], .l == [9], .z, len(x), \"n\" in x, .a == 1]", NULL));
	struct expr_vm *vm = expr_vm_new(h.code, 0);
	assert_int_equal(expr_value(vm, &e, &p, &n, NULL), ST_OK);
	json_print(p, n, &text);
	assert_string_equal((char *)text.data, "[2,2.5,9,true,null,5,true,true]");
	buf_clear(&text);
	expr_vm_free(&vm);
	help_clear(&h);
}

/* Lines made of few letters, so that needles are near, within and across them. */
static void
run_of_lines(struct run *r, struct rng *rng, uint32_t n)
{
	run_reset(r);
	for (uint32_t i = 0; i < n; i++) {
		uint32_t len = (uint32_t)rng_below(rng, 60);
		uint8_t *p = run_room(r, len + 2 + 9), *w;

		if (rng_below(rng, 4) == 0) /* something between elements */
			r->arena->len += rng_below(rng, 9);
		p = run_room(r, len + 2);
		w = mp_put_text_head(p, len);
		for (uint32_t k = 0; k < len; k++)
			*w++ = (uint8_t)"abcERO-\xc3\xa9"[rng_below(rng, 9)];
		run_done(r, w, i);
	}
}

static void
filters_of_one_expression_are_as_the_machine_says(void **state)
{
	static const char *const patterns[] = {
		"/ERR/", "/ab|ba/", "/E.R/", "/^a/", "/abc?/", "/a{2}b/", "/(ab)+c/", "/a\\-b/",
		  "/[ab]cE/", "/ab|[cE]R/", "/é/", "/^.{3}$/",
		"/aé*b/", "/O+R/", "/(?:ER|RE)O/", "/ab(?=c)/", "/Ra$/", "/er/i", "/a b/x",
		"/[ab]c/", "/[ab][bc]*E/", "/a*/", "/(a|b)(c|E)/", "/\\w-\\w/", "/[^a]b/", "/$/",
	};
	struct rng rng = { 5, 0 };
	struct run in, fast, slow;
	size_t passed = 0;

	(void)state;
	run_init(&in);
	run_init(&fast);
	run_init(&slow);
	for (size_t k = 0; k < COUNT(patterns) * 40; k++) {
		char *quick = mem_printf(k % 2 ? "x !~ %s" : "x ~ %s", patterns[k / 40]);
		char *plain = mem_printf("%s and true == (i >= 0)", quick);
		struct help a, b;
		uint32_t from = 0;

		assert_true(help_compile(&a, quick, NULL));
		assert_true(help_compile(&b, plain, NULL));
		struct expr_vm *va = expr_vm_new(a.code, 0), *vb = expr_vm_new(b.code, 0);
		run_of_lines(&in, &rng, 50);
		run_reset(&fast);
		run_reset(&slow);
		assert_int_equal(expr_filter(va, &in, &from, &fast, NULL), ST_OK);
		from = 0;
		assert_int_equal(expr_filter(vb, &in, &from, &slow, NULL), ST_OK);
		if (fast.n != slow.n)
			fail_msg("%s passes %u, not %u", quick, fast.n, slow.n);
		for (uint32_t i = 0; i < fast.n; i++)
			assert_ptr_equal(fast.e[i].p, slow.e[i].p);
		passed += fast.n;
		expr_vm_free(&va);
		expr_vm_free(&vb);
		help_clear(&a);
		help_clear(&b);
		mem_free(quick);
		mem_free(plain);
	}
	assert_true(passed > 1000);
	run_clear(&in);
	run_clear(&fast);
	run_clear(&slow);
}

static void
a_quick_filter_fails_as_others_do(void **state)
{
	static const char *const texts[] = { "\"ab\"", "1",
	  "\"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaac\"", "\"ab\"" };
	struct run in, out;
	struct help h;
	struct err e = { 0 };
	uint32_t from = 0;

	(void)state;
	assert_true(help_compile(&h, "not x ~ /(a+)+[bd]$/", NULL));
	struct expr_vm *vm = expr_vm_new(h.code, 0);
	run_of(&in, texts, COUNT(texts));
	run_init(&out);
	assert_int_equal(expr_filter(vm, &in, &from, &out, &e), ST_DATA);
	assert_int_equal(from, 1);
	assert_string_equal(e.text, "`!~` of int, which is not text");
	from++;
	assert_int_equal(expr_filter(vm, &in, &from, &out, &e), ST_DATA);
	assert_int_equal(from, 2);
	assert_string_equal(e.text, "the regular expression tried too long");
	from++;
	assert_int_equal(expr_filter(vm, &in, &from, &out, &e), ST_OK);
	assert_int_equal(out.n, 0);
	run_clear(&in);
	run_clear(&out);
	expr_vm_free(&vm);
	help_clear(&h);
}

static void
memory_of_a_large_element_is_given_back(void **state)
{
	static const char *const texts[] = { "1", "3000000", "1", "1" };
	struct run in, out;
	struct help h;
	uint32_t from = 0;

	(void)state;
	assert_true(help_compile(&h, "[len(range(x)), len(\"a\" ++ pad(\"\", x)), "
				 "sum(map(range(x), len(str(it) ++ \"-\")))]", NULL));
	struct expr_vm *vm = expr_vm_new(h.code, 0);
	run_of(&in, texts, COUNT(texts));
	run_init(&out);
	assert_int_equal(expr_map(vm, &in, &from, &out, NULL), ST_OK);
	run_expect(&out, "[1,2,2] [3000000,3000001,22888890] [1,2,2] [1,2,2]");
	run_clear(&in);
	run_clear(&out);
	expr_vm_free(&vm);
	help_clear(&h);
}

/* Mostly what the type says; now and then something at the edges, or else. */
static void
run_of_numbers(struct run *r, struct rng *rng, uint32_t n, bool floats)
{
	static const int64_t edges[] = { 0, 1, -1, INT64_MAX, INT64_MIN, INT64_MAX - 1, 3037000500,
	  -3037000500, 1ll << 32, -(1ll << 32), 255, 256 };

	run_reset(r);
	for (uint32_t i = 0; i < n; i++) {
		uint8_t *p = run_room(r, MP_INT_MAX), *w;
		uint64_t what = rng_below(rng, 600);

		if (what == 0)
			w = mp_put_nil(p);
		else if (what == 1)
			w = mp_put_uint(p, UINT64_MAX - 5);
		else if (what == 2)
			w = mp_put_float(p, 2.5);
		else if (what < 12)
			w = mp_put_int(p, edges[rng_below(rng, COUNT(edges))]);
		else if (floats)
			w = mp_put_float(p, ((double)rng_below(rng, 200) - 100) / 4);
		else
			w = mp_put_int(p, (int64_t)(rng_next(rng) >> (8 + rng_below(rng, 56))) - 300);
		run_done(r, w, i);
	}
}

/* Runs over the whole of `in`, noting where and why elements fail. */
static char *
run_all(struct expr_vm *vm, const struct run *in, bool filter)
{
	struct run out;
	struct buf b = { 0 };
	struct err e;

	run_init(&out);
	for (uint32_t from = 0; from < in->n;) {
		enum status st = filter ? expr_filter(vm, in, &from, &out, &e)
			: expr_map(vm, in, &from, &out, &e);

		if (st)
			buf_printf(&b, "%u: %s\n", from++, st == ST_SKIP ? "skip" : e.text);
	}
	for (uint32_t i = 0; i < out.n; i++) {
		buf_printf(&b, "%u ", out.e[i].pos);
		json_print(out.e[i].p, out.e[i].len, &b);
		buf_byte(&b, '\n');
	}
	run_clear(&out);
	return buf_take(&b);
}

static void
columns_are_as_the_machine_says(void **state)
{
	static const struct { const char *text; bool filter; } rows[] = {
		{ "x * x", false },
		{ "x + 1", false },
		{ "x - i * 3", false },
		{ "x / 3", false },
		{ "x // 7", false },
		{ "x % 7", false },
		{ "x % -7", false },
		{ "x // x", false },
		{ "(x + 1) * (x - 1) % 1000", false },
		{ "x * 0.5 + i", false },
		{ "x / (x - 4)", false },
		{ "x == 3", false },
		{ "x % 2 == 0", true },
		{ "x < 100", true },
		{ "x >= i", true },
		{ "x * 2 != x + x", true },
		{ "x > 0.5", true },
		{ "x * 1.0 <= 2.5", true },
		{ "x + 1", true },
		{ "x", false },
		{ "x % 3 > 1", false },
		{ "x - x", false },
		{ "1.5 - x", false },
		{ "x * x * x * x", false },
		{ "7", false },
		{ "i * i + x", false },
		{ "x % 0", false },
		{ "9223372036854775807 - x", false },
	};
	struct rng rng = { 9, 0 };
	struct run in;
	size_t planned = 0;

	(void)state;
	run_init(&in);
	for (size_t k = 0; k < COUNT(rows) * 40; k++) {
		bool floats = k % 4 == 3;
		struct help a, b;

		assert_true(help_compile(&a, rows[k / 40].text, floats ? "float" : "int"));
		assert_true(help_compile(&b, rows[k / 40].text, NULL));
		planned += a.code->columns != NULL;
		struct expr_vm *va = expr_vm_new(a.code, 0), *vb = expr_vm_new(b.code, 0);
		run_of_numbers(&in, &rng, (uint32_t)rng_below(&rng, 500), floats);
		char *one = run_all(va, &in, rows[k / 40].filter), *two = run_all(vb, &in, rows[k / 40].filter);
		assert_string_equal(one, two);
		mem_free(one);
		mem_free(two);
		expr_vm_free(&va);
		expr_vm_free(&vb);
		help_clear(&a);
		help_clear(&b);
	}
	assert_true(planned > 600);
	run_clear(&in);
}

static void
steps_for_an_element_are_counted(void **state)
{
	static const struct { const char *text, *want; } rows[] = {
		{ "map(range(x), any(range(x), it < 0))", NULL },
		{ "map(range(x * x), 1)", NULL },
		{ "any(range(x), any(range(x), -1 - it in range(x)))", NULL },
		{ "map(range(900), it + x)", "" },
		{ "len(range(x * 1_000))", NULL },
		{ "merge({a: x}, {b: x})", "" },
	};
	static const char *const texts[] = { "100", "1" };
	struct run in, out;

	(void)state;
	run_of(&in, texts, COUNT(texts));
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct help h;
		struct err e = { 0 };
		uint32_t from = 0;

		assert_true(help_compile(&h, rows[i].text, NULL));
		struct expr_vm *vm = expr_vm_new(h.code, 0);
		vm->limit = 1000;
		run_init(&out);
		if (!rows[i].want) {
			assert_int_equal(expr_map(vm, &in, &from, &out, &e), ST_DATA);
			assert_string_equal(e.text, "this takes more than 100000000 steps");
			from++;
		}
		assert_int_equal(expr_map(vm, &in, &from, &out, &e), ST_OK);
		run_clear(&out);
		expr_vm_free(&vm);
		help_clear(&h);
	}
	run_clear(&in);
}
