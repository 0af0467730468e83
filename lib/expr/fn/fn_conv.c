/* SPDX-License-Identifier: MIT
 *
 * Functions: from one kind to another.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/str.h"
#include "expr/fn.h"
#include "expr/vm.h"
#include "value/format/format.h"
#include "value/num.h"

static const char *
conv_shown(const struct val *v, char out[48])
{
	size_t n = v->n < 40 ? v->n : 40;

	snprintf(out, 48, "%.*s%s", (int)n, (const char *)v->p, v->n > 40 ? "..." : "");
	return out;
}

/* Removes the blanks around a number. */
static struct val
conv_trim(struct val v)
{
	while (v.n && (v.p[0] == ' ' || (v.p[0] >= '\t' && v.p[0] <= '\r')))
		v.p++, v.n--;
	while (v.n && (v.p[v.n - 1] == ' ' || (v.p[v.n - 1] >= '\t' && v.p[v.n - 1] <= '\r')))
		v.n--;
	return v;
}

static int
conv_digit(uint8_t c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c |= 32;
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : 99;
}

/* Reads [+-]digits, with _ between them, or 0x and hex digits. */
static bool
conv_parse_int(const struct val *text, struct val *out)
{
	struct val v = conv_trim(*text);
	bool minus = v.n && v.p[0] == '-';
	uint64_t u = 0;
	uint32_t at = minus || (v.n && v.p[0] == '+'), first;
	int base = 10;

	if (v.n > at + 2 && v.p[at] == '0' && (v.p[at + 1] | 32) == 'x') {
		base = 16;
		at += 2;
	}
	first = at;
	for (; at < v.n; at++) {
		int d = conv_digit(v.p[at]);

		if (v.p[at] == '_' && at > first && at + 1 < v.n && v.p[at - 1] != '_')
			continue;
		if (d >= base || __builtin_mul_overflow(u, (uint64_t)base, &u)
		    || __builtin_add_overflow(u, (uint64_t)d, &u))
			return false;
	}
	if (at == first || (minus && u > 1ull << 63))
		return false;
	*out = minus ? val_int((int64_t)(0 - u)) : val_uint(u);
	return true;
}

static enum status
conv_int(struct expr_vm *vm, struct val *out, const struct val *a, unsigned n)
{
	char shown[48];
	double f;

	(void)n;
	switch (a->kind) {
	case VAL_TEXT:
		if (conv_parse_int(a, out))
			return ST_OK;
		return vm_fault(vm, "int(): \"%s\" is not an int", conv_shown(a, shown));
	case VAL_FLOAT:
		f = trunc(a->f);
		if (!(f >= -0x1p63 && f < 0x1p64))
			return vm_fault(vm, "int(): %g does not fit 64 bits", a->f);
		*out = f < 0 ? val_int((int64_t)f) : val_uint((uint64_t)f);
		return ST_OK;
	case VAL_BOOL:
		*out = val_int(a->b);
		return ST_OK;
	default:
		*out = *a;
		return ST_OK;
	}
}

static enum status
conv_float(struct expr_vm *vm, struct val *out, const struct val *a, unsigned n)
{
	char shown[48];
	double f;

	(void)n;
	if (a->kind == VAL_TEXT) {
		struct val v = conv_trim(*a);

		if (!num_parse_float((const char *)v.p, v.n, &f))
			return vm_fault(vm, "float(): \"%s\" is not a number",
					conv_shown(a, shown));
	} else {
		f = a->kind == VAL_BOOL ? a->b : val_to_float(a);
	}
	*out = val_float(f);
	return ST_OK;
}

static enum status
conv_bool(struct expr_vm *vm, struct val *out, const struct val *a, unsigned n)
{
	char shown[48];
	bool b;

	(void)n;
	if (a->kind == VAL_BOOL)
		b = a->b;
	else if (a->kind == VAL_INT && (a->i == 0 || a->i == 1))
		b = a->i;
	else if (a->kind != VAL_TEXT)
		return vm_fault(vm, "bool() takes 0 and 1, of numbers");
	else if (!str_bool((const char *)a->p, a->n, &b))
		return vm_fault(vm, "bool(): \"%s\" is neither true nor false",
				conv_shown(a, shown));
	*out = val_bool(b);
	return ST_OK;
}

static enum status
conv_str(struct expr_vm *vm, struct val *out, const struct val *a, unsigned n)
{
	(void)n;
	if (a->kind == VAL_TEXT) {
		*out = *a;
		return ST_OK;
	}
	if (a->kind == VAL_BYTES) {
		if (str_utf8_valid(a->p, a->n) != a->n)
			return vm_fault(vm, "str(): these bytes are not UTF-8 "
					"(hex() or base64() makes text of any)");
		*out = val_text(a->p, a->n);
		return ST_OK;
	}
	buf_reset(&vm->tmp);
	buf_reset(&vm->tmp2);
	val_put(a, &vm->tmp2);
	if (!vm_json(vm, "str", true))
		return ST_DATA;
	return vm_take_tmp(vm, VAL_TEXT, out);
}

static enum status
conv_bytes(struct expr_vm *vm, struct val *out, const struct val *a, unsigned n)
{
	(void)vm;
	(void)n;
	*out = val_bytes(a->p, a->n);
	return ST_OK;
}

static enum status
conv_type(struct expr_vm *vm, struct val *out, const struct val *a, unsigned n)
{
	const char *name = val_kind_name(a->kind);

	(void)vm;
	(void)n;
	*out = val_text(name, strlen(name));
	return ST_OK;
}

const struct fn fn_conv[] = {
	{ "int", "v", "int", .call = conv_int, .args = "number|text|bool",
	  .brief = "the value as an int; a fraction is cut off",
	  .example = "[int(\"0x1f\"), int(-2.7), int(true)]", .output = "[31,-2,1]" },
	{ "float", "v", "float", .call = conv_float, .args = "number|text|bool",
	  .brief = "the value as a float", .example = "float(\"1e3\")", .output = "1000.0" },
	{ "bool", "v", "bool", .call = conv_bool, .args = "bool|text|0|1",
	  .brief = "the value as a bool; texts may be true, yes, on, 1 or their opposites",
	  .example = "bool(\"yes\")", .output = "true" },
	{ "str", "a", "text", .call = conv_str, .args = "any",
	  .brief = "the value as text; lists and records as JSON",
	  .example = "\"n=\" ++ str(3)", .output = "n=3" },
	{ "bytes", "s", "bytes", .call = conv_bytes, .args = "text",
	  .brief = "the bytes of a text", .example = "len(bytes(\"é\"))", .output = "2" },
	{ "type", "a", "text", .call = conv_type, .args = "any",
	  .brief = "the type of the value: null, bool, int, float, text, bytes, list, record "
		  "or tensor",
	  .example = "type([1, 2])", .output = "list" },
	{ 0 }
};
