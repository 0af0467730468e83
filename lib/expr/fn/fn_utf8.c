/* SPDX-License-Identifier: MIT
 *
 * Functions: texts and bytes that are no UTF-8.
 */
#include <string.h>

#include "base/str.h"
#include "expr/fn.h"
#include "expr/vm.h"

static void
utf8_from_latin1(const uint8_t *p, size_t n, struct buf *out)
{
	uint8_t *w = buf_room(out, 2 * n);

	for (size_t i = 0; i < n; i++) {
		if (p[i] >= 0x80)
			*w++ = (uint8_t)(0xc0 | p[i] >> 6);
		*w++ = p[i] < 0x80 ? p[i] : (uint8_t)(0x80 | (p[i] & 0x3f));
	}
	out->len = (size_t)(w - out->data);
}

static void
utf8_replace(const uint8_t *p, size_t n, struct buf *out)
{
	while (n) {
		size_t valid = str_utf8_valid(p, n);

		buf_put(out, p, valid);
		if (valid == n)
			return;
		buf_str(out, "\xef\xbf\xbd");
		p += valid + 1;
		n -= valid + 1;
	}
}

static enum status
utf8_convert(struct expr_vm *vm, struct val *out, const struct val *a, unsigned n)
{
	bool latin1 = n > 1 && a[1].n == 6 && !memcmp(a[1].p, "latin1", 6);

	if (n > 1 && !latin1)
		return vm_fault(vm, "utf8(): it converts from \"latin1\", not from \"%.*s\"",
				a[1].n < 100 ? (int)a[1].n : 100, (const char *)a[1].p);
	if (!latin1 && str_utf8_valid(a->p, a->n) == a->n) {
		*out = val_text(a->p, a->n);
		return ST_OK;
	}
	buf_reset(&vm->tmp);
	if (latin1)
		utf8_from_latin1(a->p, a->n, &vm->tmp);
	else
		utf8_replace(a->p, a->n, &vm->tmp);
	return vm_take_tmp(vm, VAL_TEXT, out);
}

const struct fn fn_utf8[] = {
	{ "utf8", "s?t", "text", .call = utf8_convert, .args = "text|bytes[, \"latin1\"]",
	  .brief = "a text that is UTF-8: with U+FFFD in place of each byte that belongs to no character, or all "
		  "bytes read as ISO 8859-1",
	  .example = "utf8(unhex(\"636166e9\"), \"latin1\")", .output = "café" },
	{ 0 }
};
