/* SPDX-License-Identifier: MIT
 *
 * Functions: hex, base64, hashes.
 */
#include <sodium.h>
#include <stdio.h>
#include <string.h>

#include "expr/fn.h"
#include "expr/vm.h"
#include "value/normal.h"

enum status
fn_hex(struct expr_vm *vm, const uint8_t *bytes, size_t n, struct val *out)
{
	size_t len = n * 2;
	char *p = (char *)vm_room(vm, len + 1);

	if (!p)
		return ST_DATA;
	sodium_bin2hex(p, len + 1, bytes, n);
	scratch_done(&vm->scratch, (uint8_t *)p + len);
	*out = val_text((uint8_t *)p, len);
	return ST_OK;
}

static enum status
code_hex(struct expr_vm *vm, struct val *out, const struct val *a, unsigned n)
{
	char text[32];

	(void)n;
	if (a->kind == VAL_INT || a->kind == VAL_BIG) {
		bool minus = a->kind == VAL_INT && a->i < 0;
		int len = snprintf(text, sizeof text, "%s%llx", minus ? "-" : "",
				   (unsigned long long)(minus ? 0 - a->u : a->u));
		buf_reset(&vm->tmp);
		buf_put(&vm->tmp, text, (size_t)len);
		return vm_take_tmp(vm, VAL_TEXT, out);
	}
	return fn_hex(vm, a->p, a->n, out);
}

static enum status
code_unhex(struct expr_vm *vm, struct val *out, const struct val *a, unsigned n)
{
	uint8_t *p = vm_room(vm, a->n / 2);
	size_t len;

	(void)n;
	if (!p)
		return ST_DATA;
	if (a->n % 2)
		return vm_fault(vm, "unhex() of an odd number of digits");
	if (sodium_hex2bin(p, a->n / 2, (const char *)a->p, a->n, NULL, &len, NULL) || len != a->n / 2)
		return vm_fault(vm, "unhex() of a text that is not hex");
	scratch_done(&vm->scratch, p + len);
	*out = val_bytes(p, len);
	return ST_OK;
}

static enum status
code_base64(struct expr_vm *vm, struct val *out, const struct val *a, unsigned n)
{
	size_t len = sodium_base64_encoded_len(a->n, sodium_base64_VARIANT_ORIGINAL);
	char *p = (char *)vm_room(vm, len);

	(void)n;
	if (!p)
		return ST_DATA;
	sodium_bin2base64(p, len, a->p, a->n, sodium_base64_VARIANT_ORIGINAL);
	scratch_done(&vm->scratch, (uint8_t *)p + len - 1); /* without the NUL */
	*out = val_text((uint8_t *)p, len - 1);
	return ST_OK;
}

/* Decodes base64 in the usual alphabet or that for addresses (-_), with padding or without. */
static enum status
code_unbase64(struct expr_vm *vm, struct val *out, const struct val *a, unsigned n)
{
	uint8_t *p = vm_room(vm, a->n);
	const char *text = (const char *)a->p;
	size_t in = a->n, len = 0;
	bool url;

	(void)n;
	if (!p)
		return ST_DATA;
	url = memchr(a->p, '-', in) || memchr(a->p, '_', in);
	while (in && a->n - in < 2 && text[in - 1] == '=')
		in--;
	if (in < a->n && a->n % 4)
		return vm_fault(vm, "unbase64() of a text with too little or too much padding");
	if (sodium_base642bin(p, a->n, text, in, NULL, &len, NULL,
			      url ? sodium_base64_VARIANT_URLSAFE_NO_PADDING :
				    sodium_base64_VARIANT_ORIGINAL_NO_PADDING))
		return vm_fault(vm, "unbase64() of a text that is not base64");
	scratch_done(&vm->scratch, p + len);
	*out = val_bytes(p, len);
	return ST_OK;
}

/* FNV-1a over the one encoding that equal values share, then mixed so that the low bits are as
 * good as the high ones. Part of the language: its results must not change. */
static enum status
code_hash(struct expr_vm *vm, struct val *out, const struct val *a, unsigned n)
{
	uint64_t h = 0xcbf29ce484222325u;

	buf_reset(&vm->tmp);
	val_put(a, &vm->tmp);
	size_t len = vm->tmp.len;
	const uint8_t *p = normal_key(vm->tmp.data, &len, &vm->tmp2);
	for (size_t i = 0; i < len; i++)
		h = (h ^ p[i]) * 0x100000001b3u;
	h = (h ^ h >> 30) * 0xbf58476d1ce4e5b9u;
	h = (h ^ h >> 27) * 0x94d049bb133111ebu;
	h ^= h >> 31;
	if (n > 1 && a[1].i < 1)
		return vm_fault(vm, "hash() into %lld parts", (long long)a[1].i);
	*out = val_int((int64_t)(n > 1 ? h % a[1].u : h >> 1));
	return ST_OK;
}

const struct fn fn_code[] = {
	{ "hex", "h", "text", .call = code_hex, .args = "int|bytes|text",
	  .brief = "the value in hexadecimal digits", .example = "[hex(255), hex(\"az\")]",
	  .output = "[\"ff\",\"617a\"]" },
	{ "unhex", "t", "bytes", .call = code_unhex, .args = "text",
	  .brief = "the bytes that hexadecimal digits stand for", .example = "str(unhex(\"617a\"))",
	  .output = "az" },
	{ "base64", "s", "text", .call = code_base64, .args = "bytes|text",
	  .brief = "the value in base64", .example = "base64(\"light\")", .output = "bGlnaHQ=" },
	{ "unbase64", "t", "bytes", .call = code_unbase64, .args = "text",
	  .brief = "decodes base64 to bytes", .example = "str(unbase64(\"bGlnaHQ=\"))",
	  .output = "light" },
	{ "hash", "a?i", "int", .call = code_hash, .args = "any[, n]",
	  .brief = "a number that is the same for equal values, on every machine; with n a number "
		  "from 0 to n - 1",
	  .example = "hash(\"user-7\", 10)", .output = "9" },
	{ 0 }
};
