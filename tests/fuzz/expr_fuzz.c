/* SPDX-License-Identifier: MIT
 * Expressions: any text gives a tree or an error with words. A tree printed and
 * parsed is the same tree; one that compiles gives, for any element, a well-formed
 * value, a skip or an error. The text ends at the first NUL, an encoded element
 * follows. */
#include <assert.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "expr/expr.h"
#include "expr/vm.h"
#include "value/mp.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { FUZZ_STEPS = 20000 };

/* {"a": 3, "t": "text é", "l": [1, 2.5], "r": {"k": null}, "b": true} */
static const uint8_t fuzz_element[] = "\x85\xa1" "a\x03\xa1t\xa7text \xc3\xa9\xa1l\x92\x01\xcb\x40\x04\0\0\0\0\0\0"
	"\xa1r\x81\xa1k\xc0\xa1" "b\xc3";
static const char *const fuzz_types[] = {
	"any", "{a: int, t: text, l: [any], r: {k: nil}, b: bool}"
};

static bool
fuzz_param(void *arg, const char *name, size_t n, struct buf *out)
{
	(void)arg;
	(void)name;
	if (n != 1)
		return false;
	buf_put(out, fuzz_element, sizeof fuzz_element - 1);
	return true;
}

static struct expr_ast *
fuzz_parse(const char *text, size_t n, size_t *end, struct err *e)
{
	struct expr_src src = { .text = text, .len = n, .param = fuzz_param };
	struct expr_ast *a = expr_parse(&src, e);

	*end = src.at;
	return a;
}

static void
fuzz_print(const struct expr_ast *a)
{
	struct buf one = { 0 }, two = { 0 };
	struct err e;
	size_t end;

	expr_print(a, &one);
	struct expr_ast *b = fuzz_parse((char *)one.data, one.len, &end, &e);
	assert(b && end == one.len && expr_ast_equal(a, b));
	expr_print(b, &two);
	assert(one.len == two.len && !memcmp(one.data, two.data, one.len));
	expr_print_tree(b, 0, &two);
	expr_ast_free(&b);
	buf_clear(&one);
	buf_clear(&two);
}

static void
fuzz_run(const struct expr *code, const uint8_t *p, size_t n)
{
	struct expr_vm *vm = expr_vm_new(code, 1);
	struct block *block = block_new(n ? n : 1);
	struct elem el[2] = { { block->data, block, (uint32_t)n, 0 }, { block->data, block, (uint32_t)n, 1 } };
	struct run in = { .e = el, .n = 2 }, out;
	const uint8_t *value;
	size_t len;
	struct err e;

	memcpy(block->data, p, n);
	run_init(&out);
	vm->limit = FUZZ_STEPS;
	enum status st = expr_value(vm, &el[0], &value, &len, &e);
	if (st == ST_OK)
		assert(mp_check(value, len));
	else
		assert(st == ST_SKIP || (st == ST_DATA && e.text[0]));
	for (uint32_t from = 0; from < in.n; from++)
		expr_map(vm, &in, &from, &out, &e);
	for (uint32_t i = 0; i < out.n; i++)
		assert(mp_check(out.e[i].p, out.e[i].len));
	run_reset(&out);
	for (uint32_t from = 0; from < in.n; from++)
		expr_filter(vm, &in, &from, &out, &e);
	run_clear(&out);
	expr_vm_free(&vm);
	block_unref(&block);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const uint8_t *zero = memchr(data, 0, size), *element = fuzz_element;
	size_t n = zero ? (size_t)(zero - data) : size, len = sizeof fuzz_element - 1, end;
	struct err e = { 0 };

	if (size > 4096)
		return 0;
	struct expr_ast *a = fuzz_parse((const char *)data, n, &end, &e);
	if (!a) {
		assert(e.kind == ST_DATA && e.text[0]);
		return 0;
	}
	assert(end <= n);
	fuzz_print(a);
	if (zero && mp_check(zero + 1, size - n - 1)) {
		element = zero + 1;
		len = size - n - 1;
	}
	for (size_t i = 0; i < 2; i++) {
		struct types *types = types_new();
		struct expr_env env = { .arena = types, .text = (const char *)data, .text_len = n };

		env.types[EXPR_X] = type_parse(types, fuzz_types[i], strlen(fuzz_types[i]), &e);
		env.types[EXPR_I] = type_scalar(TYPE_INT);
		struct expr *code = expr_compile(a, &env, &e);
		if (code)
			fuzz_run(code, element, len);
		else
			assert(e.text[0]);
		expr_free(&code);
		types_free(&types);
	}
	expr_ast_free(&a);
	return 0;
}
