/* SPDX-License-Identifier: MIT */
#include "lang/constant.h"

#include <ctype.h>
#include <math.h>

#include "value/format/format.h"
#include "value/mp.h"

enum status
constant_value(const struct expr_ast *a, const char *file, const char *text, size_t text_len,
	       struct buf *out, struct err *e)
{
	struct types *arena = types_new();
	struct expr_env env = { .arena = arena, .file = file, .text = text, .text_len = text_len };
	struct expr *x = expr_compile(a, &env, e);
	size_t at, len;

	if (!x) {
		types_free(&arena);
		return e && e->kind ? e->kind : ST_DATA;
	}
	enum status st = ST_OK;
	if (!expr_constant(x, out)) {
		struct expr_vm *vm = expr_vm_new(x, 0);
		static const uint8_t nil[] = { 0xc0 };
		struct elem none = { nil, NULL, 1, 0 };
		const uint8_t *p;
		size_t n;

		st = expr_value(vm, &none, &p, &n, e);
		if (!st)
			buf_put(out, p, n);
		else if (st != ST_SKIP) {
			expr_ast_place(a, &at, &len);
			err_place(e, file, text, text_len, at, len);
		}
		if (st == ST_SKIP)
			st = err_set(e, ST_DATA, "a constant cannot be skip()");
		expr_vm_free(&vm);
	}
	expr_free(&x);
	types_free(&arena);
	return st;
}

enum status
constant_read(const char *text, size_t n, struct buf *out, struct err *e)
{
	struct expr_src src = { .file = "<value>", .text = text, .len = n };
	struct expr_ast *a = expr_parse(&src, e);

	if (!a)
		return e && e->kind ? e->kind : ST_DATA;
	while (src.at < n && isspace((unsigned char)text[src.at]))
		src.at++;
	enum status st = ST_OK;
	if (src.at < n) {
		st = err_set(e, ST_DATA, "unexpected `%c` in a value", text[src.at]);
		err_place(e, src.file, text, n, src.at, 1);
	} else {
		st = constant_value(a, src.file, text, n, out, e);
	}
	expr_ast_free(&a);
	return st;
}

bool
constant_text(const uint8_t *p, size_t n, struct buf *out)
{
	struct mp v;

	mp_head(p, p + n, &v);
	switch (v.kind) {
	case MP_BOOL:
	case MP_INT:
	case MP_FLOAT:
	case MP_TEXT:
		text_print(p, n, out);
		return true;
	default:
		return false;
	}
}

static void
constant_print_list(const struct mp *v, const uint8_t *end, struct buf *out)
{
	const uint8_t *at = v->p;

	for (uint32_t i = 0; i < v->n; i++) {
		const uint8_t *next = mp_skip(at, end);
		if (i)
			buf_str(out, ", ");
		if (v->kind == MP_RECORD) {
			constant_print(at, (size_t)(next - at), out);
			buf_str(out, ": ");
			at = next;
			next = mp_skip(at, end);
		}
		constant_print(at, (size_t)(next - at), out);
		at = next;
	}
}

void
constant_print(const uint8_t *p, size_t n, struct buf *out)
{
	struct mp v;

	mp_head(p, p + n, &v);
	switch (v.kind) {
	case MP_LIST:
	case MP_RECORD:
		buf_byte(out, v.kind == MP_LIST ? '[' : '{');
		constant_print_list(&v, p + n, out);
		buf_byte(out, v.kind == MP_LIST ? ']' : '}');
		break;
	case MP_BYTES:
		buf_str(out, "unhex(\"");
		for (uint32_t i = 0; i < v.n; i++)
			buf_printf(out, "%02x", v.p[i]);
		buf_str(out, "\")");
		break;
	case MP_FLOAT:
		if (isnan(v.f))
			buf_str(out, "float(\"nan\")");
		else if (isinf(v.f))
			buf_str(out, v.f < 0 ? "float(\"-inf\")" : "float(\"inf\")");
		else
			json_print(p, n, out);
		break;
	default:
		json_print(p, n, out);
	}
}
