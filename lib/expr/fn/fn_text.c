/* SPDX-License-Identifier: MIT
 *
 * Functions of text, where no regular expression is concerned.
 */
#include <locale.h>
#include <pthread.h>
#include <string.h>
#include <wctype.h>

#include "expr/fn.h"
#include "expr/needle.h"
#include "expr/run/seq.h"
#include "expr/tensor/tensor_val.h"
#include "expr/vm.h"
#include "value/format/format.h"

static enum status
text_len(struct expr_vm *vm, struct val *out, const struct val *a, unsigned n)
{
	const uint8_t *first;

	(void)n;
	if (a->kind == VAL_EXT) {
		int64_t length = tensor_length(vm, a);

		*out = val_int(length);
		return length < 0 ? ST_DATA : ST_OK;
	}
	if (a->kind == VAL_TEXT)
		*out = val_int((int64_t)seq_chars(a->p, a->n));
	else
		*out = val_int(a->kind == VAL_BYTES ? a->n : val_count(a, &first));
	return ST_OK;
}

/* Letters of other alphabets follow a locale of our own, since the user's environment must not
 * change the result of a spec. */
static locale_t text_locale;
static pthread_once_t text_once = PTHREAD_ONCE_INIT;

static void
text_locale_init(void)
{
	text_locale = newlocale(LC_CTYPE_MASK, "C.UTF-8", (locale_t)0);
}

/* The character at p, and its length; a byte that begins none counts as one. */
static unsigned
text_decode(const uint8_t *p, const uint8_t *end, uint32_t *c)
{
	unsigned n = *p < 0x80 ? 1 : *p < 0xc2 ? 0 : *p < 0xe0 ? 2 : *p < 0xf0 ? 3 : *p < 0xf5 ? 4 : 0;

	*c = *p;
	if (n < 2 || (size_t)(end - p) < n) {
		*c = n == 1 ? *p : UINT32_MAX;
		return 1;
	}
	*c = *p & (0x7fu >> n);
	for (unsigned i = 1; i < n; i++) {
		if ((p[i] & 0xc0) != 0x80) {
			*c = UINT32_MAX;
			return 1;
		}
		*c = *c << 6 | (p[i] & 0x3fu);
	}
	return n;
}

static void
text_put(struct buf *b, uint32_t c)
{
	uint8_t *p = buf_room(b, 4);
	unsigned n = c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;

	if (n == 1) {
		p[0] = (uint8_t)c;
	} else {
		for (unsigned i = n; --i; c >>= 6)
			p[i] = (uint8_t)(0x80 | (c & 0x3f));
		p[0] = (uint8_t)(0xf00 >> n | c);
	}
	b->len += n;
}

/* Changes ASCII letters; gives the bits of all bytes. `low` is the first of the letters to
 * change. */
static uint8_t
text_case_ascii(const uint8_t *p, uint32_t n, uint8_t low, uint8_t *out)
{
	const uint64_t ones = 0x0101010101010101u, high = 0x80 * ones;
	uint64_t w, all = 0;
	uint32_t i = 0;

	for (; i + 8 <= n; i += 8) {
		memcpy(&w, p + i, 8);
		all |= w;
		/* the high bit of each byte: from `low` on, and past `low` + 25 */
		uint64_t from = (w & ~high) + (0x80u - low) * ones;
		uint64_t past = (w & ~high) + (0x80u - low - 26) * ones;
		w ^= ((from ^ past) & ~w & high) >> 2;
		memcpy(out + i, &w, 8);
	}
	all = (all & high) ? 0x80 : 0;
	for (; i < n; i++) {
		all |= p[i] & 0x80;
		out[i] = (uint8_t)(p[i] - low) < 26 ? p[i] ^ 0x20 : p[i];
	}
	return (uint8_t)all;
}

static enum status
text_case(struct expr_vm *vm, struct val *out, const struct val *a, bool upper)
{
	const uint8_t *p = a->p, *end = p + a->n;
	uint8_t *room = vm_room(vm, a->n);
	uint8_t low = upper ? 'a' : 'A';

	if (!room)
		return ST_DATA;
	if (!text_case_ascii(p, a->n, low, room)) {
		scratch_done(&vm->scratch, room + a->n);
		*out = val_text(room, a->n);
		return ST_OK;
	}
	pthread_once(&text_once, text_locale_init);
	buf_reset(&vm->tmp);
	while (p < end) {
		uint32_t c;
		unsigned n = text_decode(p, end, &c);

		if (c == UINT32_MAX)
			buf_byte(&vm->tmp, *p);
		else if (c < 0x80 || !text_locale)
			text_put(&vm->tmp, (uint8_t)(c - low) < 26 && c < 0x80 ? c ^ 0x20 : c);
		else
			text_put(&vm->tmp, upper ? towupper_l((wint_t)c, text_locale)
				 : towlower_l((wint_t)c, text_locale));
		p += n;
	}
	return vm_take_tmp(vm, VAL_TEXT, out);
}

static enum status
text_lower(struct expr_vm *vm, struct val *out, const struct val *a, unsigned n)
{
	(void)n;
	return text_case(vm, out, a, false);
}

static enum status
text_upper(struct expr_vm *vm, struct val *out, const struct val *a, unsigned n)
{
	(void)n;
	return text_case(vm, out, a, true);
}

static enum status
text_trim(struct expr_vm *vm, struct val *out, const struct val *a, unsigned n)
{
	static const uint8_t blanks[] = " \t\n\v\f\r";
	const uint8_t *set = n > 1 ? a[1].p : blanks, *set_end = set + (n > 1 ? a[1].n : 6);
	const uint8_t *p = a->p, *end = p + a->n, *at;

	(void)vm;
	while (p < end) {
		at = seq_char(p, end, 1);
		if (!needle_search(p, (size_t)(at - p), set, set_end))
			break;
		p = at;
	}
	while (p < end) {
		for (at = end - 1; at > p && (*at & 0xc0) == 0x80; at--)
			;
		if (!needle_search(at, (size_t)(end - at), set, set_end))
			break;
		end = at;
	}
	*out = val_text(p, (size_t)(end - p));
	return ST_OK;
}

static enum status
text_join(struct expr_vm *vm, struct val *out, const struct val *a, unsigned n)
{
	const uint8_t *p, *next;
	uint32_t items = val_count(a, &p);

	buf_reset(&vm->tmp);
	for (uint32_t i = 0; i < items; i++, p = next) {
		struct val v = { 0 };

		val_load(p, &v);
		next = mp_past(p);
		if (i && n > 1)
			buf_put(&vm->tmp, a[1].p, a[1].n);
		if (v.kind == VAL_TEXT)
			buf_put(&vm->tmp, v.p, v.n);
		else if (v.kind == VAL_BOOL || val_is_number(&v))
			text_print(p, (size_t)(next - p), &vm->tmp);
		else
			return vm_fault(vm, "join(): item %u is %s, not text", i,
					val_kind_name(v.kind));
		if (vm->tmp.len > SCRATCH_VALUE_MAX)
			break;
	}
	return vm_take_tmp(vm, VAL_TEXT, out);
}

static enum status
text_same(struct expr_vm *vm, const char *name, const struct val *a)
{
	if (a[0].kind == a[1].kind)
		return ST_OK;
	return vm_fault(vm, "%s() of %s and %s", name, val_kind_name(a[0].kind),
			val_kind_name(a[1].kind));
}

static enum status
text_starts(struct expr_vm *vm, struct val *out, const struct val *a, unsigned n)
{
	(void)n;
	*out = val_bool(a[1].n <= a->n && !memcmp(a->p, a[1].p, a[1].n));
	return text_same(vm, "starts", a);
}

static enum status
text_ends(struct expr_vm *vm, struct val *out, const struct val *a, unsigned n)
{
	(void)n;
	*out = val_bool(a[1].n <= a->n && !memcmp(a->p + a->n - a[1].n, a[1].p, a[1].n));
	return text_same(vm, "ends", a);
}

static enum status
text_contains(struct expr_vm *vm, struct val *out, const struct val *a, unsigned n)
{
	(void)n;
	return seq_in(vm, out, &a[1], &a[0]);
}

static enum status
text_slice(struct expr_vm *vm, struct val *out, const struct val *a, unsigned n)
{
	struct val nil = val_nil();

	return seq_slice(vm, out, &a[0], &a[1], n > 2 ? &a[2] : &nil);
}

/* Pads as printf does: a width above 0 fills on the left, below 0 on the right. */
static enum status
text_pad(struct expr_vm *vm, struct val *out, const struct val *a, unsigned n)
{
	struct val fill = n > 2 ? a[2] : val_text(" ", 1), text = *a;
	int64_t width = a[1].i;

	if (fill.n == 0 || seq_chars(fill.p, fill.n) != 1)
		return vm_fault(vm, "pad() fills with one character");
	if (width > SCRATCH_VALUE_MAX || width < -(int64_t)SCRATCH_VALUE_MAX)
		return vm_fault(vm, "pad() to a width of %lld is too wide", (long long)width);
	if (text.kind != VAL_TEXT) {
		buf_reset(&vm->tmp);
		buf_reset(&vm->tmp2);
		val_put(a, &vm->tmp);
		text_print(vm->tmp.data, vm->tmp.len, &vm->tmp2);
		text = val_text(vm->tmp2.data, vm->tmp2.len);
	}
	int64_t lack = (width < 0 ? -width : width) - (int64_t)seq_chars(text.p, text.n);
	size_t filled = lack > 0 ? (size_t)lack * fill.n : 0;
	uint8_t *start = vm_room(vm, filled + text.n), *w = start;
	if (!start)
		return ST_DATA;
	if (width < 0)
		w = mempcpy(w, text.p, text.n);
	if (fill.n == 1)
		w = (uint8_t *)memset(w, *fill.p, filled) + filled;
	else
		for (; lack > 0; lack--)
			w = mempcpy(w, fill.p, fill.n);
	if (width >= 0)
		w = mempcpy(w, text.p, text.n);
	scratch_done(&vm->scratch, w);
	*out = val_text(start, filled + text.n);
	return ST_OK;
}

static enum status
text_reversed(struct expr_vm *vm, struct val *out, const struct val *a, unsigned n)
{
	const uint8_t *p = a->p, *end, *next;
	uint8_t *room, *at;

	(void)n;
	if (a->kind == VAL_LIST)
		val_count(a, &p);
	end = a->kind == VAL_LIST ? a->p + val_span(a) : a->p + a->n;
	size_t len = (size_t)(end - p), head = (size_t)(p - a->p);
	room = vm_room(vm, len + head);
	if (!room)
		return ST_DATA;
	memcpy(room, a->p, head);
	for (at = room + head + len; p < end; p = next) {
		next = a->kind == VAL_LIST ? mp_past(p) : a->kind == VAL_TEXT ? seq_char(p, end, 1)
			: p + 1;
		at -= next - p;
		memcpy(at, p, (size_t)(next - p));
	}
	scratch_done(&vm->scratch, room + head + len);
	*out = val_whole((enum val_kind)a->kind, room, head + len);
	return ST_OK;
}

const struct fn fn_text[] = {
	{ "len", "C", "int", .call = text_len, .args = "text|bytes|list|record|tensor",
	  .brief = "the number of characters, bytes, items or fields", .example = "len(\"größe\")",
	  .output = "5" },
	{ "lower", "t", "text", .call = text_lower, .args = "text",
	  .brief = "the text in lower case", .example = "lower(\"ÄRGER\")", .output = "ärger" },
	{ "upper", "t", "text", .call = text_upper, .args = "text",
	  .brief = "the text in upper case", .example = "upper(\"abc\")", .output = "ABC" },
	{ "trim", "t?t", "text", .call = text_trim, .args = "text[, characters]",
	  .brief = "the text without blanks, or the given characters, at both ends",
	  .example = "trim(\"  a b \")", .output = "a b" },
	{ "join", "l?t", "text", .call = text_join, .args = "list[, text]",
	  .brief = "the items as one text, with the second argument between them",
	  .example = "join([\"a\", 2, \"c\"], \"-\")", .output = "a-2-c" },
	{ "starts", "ss", "bool", .call = text_starts, .args = "text, text",
	  .brief = "true if the text begins with the other", .example = "starts(\"abc\", \"ab\")",
	  .output = "true" },
	{ "ends", "ss", "bool", .call = text_ends, .args = "text, text",
	  .brief = "true if the text ends with the other", .example = "ends(\"a.gz\", \".gz\")",
	  .output = "true" },
	{ "contains", "ca", "bool", .call = text_contains, .args = "text|list|record, what",
	  .brief = "the same as `what in x`", .example = "contains([1, 2], 2)",
	  .output = "true" },
	{ "slice", "qi?i", NULL, fn_type_first, text_slice, .args = "text|bytes|list, from[, to]",
	  .brief = "a part, as with [from:to]; a number below 0 counts from the end",
	  .example = "slice(\"abcdef\", 1, -1)", .output = "bcde" },
	{ "pad", "vi?t", "text", .call = text_pad, .args = "text|number, width[, fill]",
	  .brief = "the text filled up on the left to the width, or on the right if the width is "
		  "below 0",
	  .example = "pad(7, 3, \"0\")", .output = "007" },
	{ "reversed", "q", NULL, fn_type_first, text_reversed, .args = "list|text|bytes",
	  .brief = "the characters, bytes or items from last to first",
	  .example = "reversed([1, 2, 3])",
	  .output = "[3,2,1]" },
	{ 0 }
};
