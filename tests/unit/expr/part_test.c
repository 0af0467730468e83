/* SPDX-License-Identifier: MIT */
#include "expr_help.h"

/* A field is lent where that is what evaluating gives, byte by byte, in whatever form it and the record are. */
static void
a_field_is_lent_as_it_would_be_given(void **state)
{
	static const struct { const uint8_t *p; size_t n; bool lent; } rows[] = {
		{ (const uint8_t *)"\x81\xa1" "f\x07", 4, true }, /* int */
		{ (const uint8_t *)"\x81\xa1" "f\xff", 4, true },
		{ (const uint8_t *)"\x81\xa1" "f\xcc\x07", 5, false },
		{ (const uint8_t *)"\x81\xa1" "f\xcc\x80", 5, true },
		{ (const uint8_t *)"\x81\xa1" "f\xcd\x00\xff", 6, false },
		{ (const uint8_t *)"\x81\xa1" "f\xcd\x01\x00", 6, true },
		{ (const uint8_t *)"\x81\xa1" "f\xce\x00\x00\xff\xff", 8, false },
		{ (const uint8_t *)"\x81\xa1" "f\xce\x00\x01\x00\x00", 8, true },
		{ (const uint8_t *)"\x81\xa1" "f\xd0\x07", 5, false },
		{ (const uint8_t *)"\x81\xa1" "f\xca\x3f\x80\x00\x00", 8, false }, /* float */
		{ (const uint8_t *)"\x81\xa1" "f\xcb\x3f\xf8\x00\x00\x00\x00\x00\x00", 12, true },
		{ (const uint8_t *)"\x81\xa1" "f\xa2" "ab", 6, true }, /* text */
		{ (const uint8_t *)"\x81\xa1" "f\xd9\x02" "ab", 7, false },
		{ (const uint8_t *)"\x81\xa1" "f\xd9\x20" "abcdefghijklmnopqrstuvwxyz012345", 37, true },
		{ (const uint8_t *)"\x81\xa1" "f\xc4\x01" "a", 6, false }, /* bytes */
		{ (const uint8_t *)"\x81\xa1" "f\xc0", 4, true },
		{ (const uint8_t *)"\x81\xa1" "f\xc3", 4, true },
		{ (const uint8_t *)"\x81\xa1" "f\x92\x01\xcc\x02", 7, true }, /* list */
		{ (const uint8_t *)"\x81\xa1" "f\x81\xa1" "f\x01", 7, true },
		{ (const uint8_t *)"\x82\xa1" "e\x01\xa1" "f\x02", 7, true },
		{ (const uint8_t *)"\xde\x00\x01\xa1" "f\x02", 6, true },
		{ (const uint8_t *)"\xdf\x00\x00\x00\x01\xd9\x01" "f\x02", 9, true },
		{ (const uint8_t *)"\x81\xa1" "g\x02", 4, true }, /* no such field */
		{ (const uint8_t *)"\x80", 1, true },
		{ (const uint8_t *)"\xc0", 1, false },
		{ (const uint8_t *)"\xe0", 1, false },
		{ (const uint8_t *)"\x91\x01", 2, false },
	};
	struct help h;

	(void)state;
	assert_true(help_compile(&h, "x.f", NULL));
	struct expr_vm *vm = expr_vm_new(h.code, 1);
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct elem e = { rows[i].p, NULL, (uint32_t)rows[i].n, 0 };
		const uint8_t *p, *q;
		size_t n, m;

		assert_int_equal(expr_part(vm, &e, &p, &n), rows[i].lent);
		if (!rows[i].lent)
			continue;
		assert_int_equal(expr_value(vm, &e, &q, &m, &h.e), ST_OK);
		assert_int_equal(n, m);
		assert_memory_equal(p, q, n);
	}
	expr_vm_free(&vm);
	help_clear(&h);
}

/* Nothing but a field of the element itself. */
static void
other_expressions_lend_nothing(void **state)
{
	static const char *const texts[] = { "x", "x.f.g", "x.f + 1", "s.f", "i", "x.f ?? 1", "[x.f]", "1" };
	struct elem e = { (const uint8_t *)"\x81\xa1" "f\x01", NULL, 4, 0 };

	(void)state;
	for (size_t i = 0; i < COUNT(texts); i++) {
		struct help h;
		const uint8_t *p;
		size_t n;

		assert_true(help_compile(&h, texts[i], NULL));
		struct expr_vm *vm = expr_vm_new(h.code, 1);
		assert_false(expr_part(vm, &e, &p, &n));
		expr_vm_free(&vm);
		help_clear(&h);
	}
}
