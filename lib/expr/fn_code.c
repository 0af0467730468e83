/* SPDX-License-Identifier: MIT
 *
 * Functions: hex, base64, hashes.
 */
#include <stdio.h>
#include <string.h>

#include "expr/fn.h"
#include "expr/machine.h"

static enum status
code_hex(struct expr_vm *vm, struct val *out, const struct val *a, unsigned n)
{
	static const char digits[] = "0123456789abcdef";
	char text[32];

	(void)n;
	if (a->kind == VAL_INT || a->kind == VAL_BIG) {
		bool minus = a->kind == VAL_INT && a->i < 0;
		int len = snprintf(text, sizeof text, "%s%llx", minus ? "-" : "",
				   (unsigned long long)(minus ? 0 - a->u : a->u));
		buf_reset(&vm->tmp);
		buf_put(&vm->tmp, text, (size_t)len);
		return machine_take_tmp(vm, VAL_TEXT, out);
	}
	uint8_t *p = machine_room(vm, (size_t)a->n * 2);
	if (!p)
		return ST_DATA;
	for (uint32_t i = 0; i < a->n; i++) {
		p[2 * i] = (uint8_t)digits[a->p[i] >> 4];
		p[2 * i + 1] = (uint8_t)digits[a->p[i] & 15];
	}
	scratch_done(&vm->scratch, p + (size_t)a->n * 2);
	*out = val_text(p, (size_t)a->n * 2);
	return ST_OK;
}

static int
code_hex_digit(uint8_t c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c |= 32;
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static enum status
code_unhex(struct expr_vm *vm, struct val *out, const struct val *a, unsigned n)
{
	uint8_t *p = machine_room(vm, a->n / 2);

	(void)n;
	if (!p)
		return ST_DATA;
	if (a->n % 2)
		return machine_fault(vm, "unhex() of an odd number of digits");
	for (uint32_t i = 0; i < a->n / 2; i++) {
		int high = code_hex_digit(a->p[2 * i]), low = code_hex_digit(a->p[2 * i + 1]);

		if (high < 0 || low < 0)
			return machine_fault(vm, "unhex() of a text that is not hex");
		p[i] = (uint8_t)(high << 4 | low);
	}
	scratch_done(&vm->scratch, p + a->n / 2);
	*out = val_bytes(p, a->n / 2);
	return ST_OK;
}

static const char code_base64_digits[] =
	"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

static enum status
code_base64(struct expr_vm *vm, struct val *out, const struct val *a, unsigned n)
{
	size_t len = ((size_t)a->n + 2) / 3 * 4;
	uint8_t *start = machine_room(vm, len), *w = start;
	const uint8_t *p = a->p;

	(void)n;
	if (!start)
		return ST_DATA;
	for (uint32_t left = a->n; left; p += 3) {
		uint32_t k = left < 3 ? left : 3;
		uint32_t v = (uint32_t)p[0] << 16 | (k > 1 ? (uint32_t)p[1] << 8 : 0)
			| (k > 2 ? p[2] : 0u);

		*w++ = (uint8_t)code_base64_digits[v >> 18];
		*w++ = (uint8_t)code_base64_digits[v >> 12 & 63];
		*w++ = k > 1 ? (uint8_t)code_base64_digits[v >> 6 & 63] : '=';
		*w++ = k > 2 ? (uint8_t)code_base64_digits[v & 63] : '=';
		left -= k;
	}
	scratch_done(&vm->scratch, w);
	*out = val_text(start, len);
	return ST_OK;
}

/* The usual alphabet and that for addresses (-_), padding or none. */
static enum status
code_unbase64(struct expr_vm *vm, struct val *out, const struct val *a, unsigned n)
{
	uint8_t *start = machine_room(vm, (size_t)a->n), *w = start;
	uint32_t len = a->n, v = 0, bits = 0;

	(void)n;
	if (!start)
		return ST_DATA;
	while (len && a->p[len - 1] == '=')
		len--;
	if (a->n - len > 2 || len % 4 == 1)
		return machine_fault(vm, "unbase64() of a text that is not base64");
	for (uint32_t i = 0; i < len; i++) {
		uint8_t c = a->p[i] == '-' ? '+' : a->p[i] == '_' ? '/' : a->p[i];
		const char *digit = c ? strchr(code_base64_digits, c) : NULL;

		if (!digit)
			return machine_fault(vm, "unbase64() of a text that is not base64");
		v = v << 6 | (uint32_t)(digit - code_base64_digits);
		bits += 6;
		if (bits >= 8) {
			bits -= 8;
			*w++ = (uint8_t)(v >> bits);
		}
	}
	scratch_done(&vm->scratch, w);
	*out = val_bytes(start, (size_t)(w - start));
	return ST_OK;
}

/* FNV-1a over the encoding, then mixed so that the low bits are as good as the
 * high ones. Part of the language: what it gives must not change. */
static enum status
code_hash(struct expr_vm *vm, struct val *out, const struct val *a, unsigned n)
{
	uint64_t h = 0xcbf29ce484222325u;

	buf_reset(&vm->tmp);
	val_put(a, &vm->tmp);
	for (size_t i = 0; i < vm->tmp.len; i++)
		h = (h ^ vm->tmp.data[i]) * 0x100000001b3u;
	h = (h ^ h >> 30) * 0xbf58476d1ce4e5b9u;
	h = (h ^ h >> 27) * 0x94d049bb133111ebu;
	h ^= h >> 31;
	if (n > 1 && a[1].i < 1)
		return machine_fault(vm, "hash() into %lld parts", (long long)a[1].i);
	*out = val_int((int64_t)(n > 1 ? h % a[1].u : h >> 1));
	return ST_OK;
}

const struct fn fn_code[] = {
	{ "hex", "h", "text", .call = code_hex, .args = "int|bytes|text",
	  .brief = "in hex digits", .example = "[hex(255), hex(\"az\")]",
	  .output = "[\"ff\",\"617a\"]" },
	{ "unhex", "t", "bytes", .call = code_unhex, .args = "text",
	  .brief = "the bytes that hex digits stand for", .example = "str(unhex(\"617a\"))",
	  .output = "az" },
	{ "base64", "s", "text", .call = code_base64, .args = "bytes|text",
	  .brief = "in base64", .example = "base64(\"light\")", .output = "bGlnaHQ=" },
	{ "unbase64", "t", "bytes", .call = code_unbase64, .args = "text",
	  .brief = "the bytes that base64 stands for", .example = "str(unbase64(\"bGlnaHQ=\"))",
	  .output = "light" },
	{ "hash", "a?i", "int", .call = code_hash, .args = "any[, n]",
	  .brief = "a number that is the same for equal values, on every machine; with n "
		   "from 0 to n - 1", .example = "hash(\"user-7\", 10)", .output = "9" },
	{ 0 }
};
