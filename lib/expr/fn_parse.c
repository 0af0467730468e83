/* SPDX-License-Identifier: MIT
 *
 * Functions: texts of known forms to values, and JSON back.
 */
#include <string.h>

#include "expr/fn.h"
#include "expr/machine.h"
#include "expr/needle.h"
#include "value/format.h"
#include "value/json.h"

static enum status
parse_json(struct expr_vm *vm, struct val *out, const struct val *a, unsigned n)
{
	struct err why;
	bool caught = !vm->e || (vm->x->guards && vm->x->guards[vm->ins - vm->x->code]);

	(void)n;
	if (!vm->json)
		vm->json = json_new();
	buf_reset(&vm->tmp);
	if (json_value(vm->json, a->p, a->n, &vm->tmp, caught ? NULL : &why))
		return caught ? ST_DATA : machine_fault(vm, "parse_json(): %.400s", why.text);
	uint8_t *p = machine_room(vm, vm->tmp.len);
	if (!p)
		return ST_DATA;
	memcpy(p, vm->tmp.data, vm->tmp.len);
	scratch_done(&vm->scratch, p + vm->tmp.len);
	val_load(p, out);
	if (out->kind >= VAL_LIST)
		out->n = (uint32_t)vm->tmp.len;
	return ST_OK;
}

static enum status
parse_to_json(struct expr_vm *vm, struct val *out, const struct val *a, unsigned n)
{
	(void)n;
	buf_reset(&vm->tmp);
	buf_reset(&vm->tmp2);
	val_put(a, &vm->tmp2);
	json_print(vm->tmp2.data, vm->tmp2.len, &vm->tmp);
	return machine_take_tmp(vm, VAL_TEXT, out);
}

static void
parse_put(struct buf *b, const uint8_t *p, size_t n)
{
	struct val v = val_text(p, n);

	val_put(&v, b);
}

/* A field in quotes, "" in it being one; *at behind the closing quote. */
static bool
parse_quoted(const uint8_t **at, const uint8_t *end, uint8_t escape, struct buf *out)
{
	const uint8_t *p = *at + 1;

	buf_reset(out);
	while (p < end) {
		if (*p == escape && p + 1 < end && (escape != '"' || p[1] == '"')) {
			buf_byte(out, p[1]);
			p += 2;
		} else if (*p == '"') {
			*at = p + 1;
			return true;
		} else {
			buf_byte(out, *p++);
		}
	}
	return false;
}

static enum status
parse_csv(struct expr_vm *vm, struct val *out, const struct val *a, unsigned n)
{
	const uint8_t *p = a->p, *end = p + a->n, *next;
	struct val sep = n > 1 ? a[1] : val_text(",", 1);
	uint32_t count = 0;

	if (sep.n == 0)
		return machine_fault(vm, "parse_csv() with an empty separator");
	while (end > p && (end[-1] == '\n' || end[-1] == '\r'))
		end--;
	buf_reset(&vm->tmp);
	for (;;) {
		if (p < end && *p == '"') {
			if (!parse_quoted(&p, end, '"', &vm->tmp2))
				return machine_fault(vm, "parse_csv(): a quote that does not end");
			parse_put(&vm->tmp, vm->tmp2.data, vm->tmp2.len);
			next = p;
			if (p < end && ((size_t)(end - p) < sep.n || memcmp(p, sep.p, sep.n) != 0))
				return machine_fault(vm, "parse_csv(): text behind a closing quote");
		} else {
			next = needle_search(sep.p, sep.n, p, end);
			if (!next)
				next = end;
			parse_put(&vm->tmp, p, (size_t)(next - p));
		}
		count++;
		if (next == end)
			return machine_take_items(vm, VAL_LIST, count, out);
		p = next + sep.n;
	}
}

/* The pairs so far: replaces the value of a key given before. */
static enum status
parse_kv_has(struct expr_vm *vm, const uint8_t *key, size_t n, uint32_t count, bool *has)
{
	const uint8_t *p = vm->tmp.data;
	struct val k = { 0 };

	*has = false;
	if (machine_steps(vm, count))
		return ST_DATA;
	for (; count && !*has; count--, p = val_skip(val_skip(p))) {
		val_load(p, &k);
		*has = k.n == n && !memcmp(k.p, key, n);
	}
	return ST_OK;
}

/* The end of a bare word: a blank or the separator of pairs. */
static const uint8_t *
parse_kv_end(const uint8_t *p, const uint8_t *end, const struct val *pair)
{
	if (pair) {
		const uint8_t *at = needle_search(pair->p, pair->n, p, end);
		return at ? at : end;
	}
	while (p < end && *p != ' ' && !(*p >= '\t' && *p <= '\r'))
		p++;
	return p;
}

/* key=value key="value with blanks" flag; of a key given twice the first counts. */
static enum status
parse_kv(struct expr_vm *vm, struct val *out, const struct val *a, unsigned n)
{
	const uint8_t *p = a->p, *end = p + a->n, *word, *eq;
	const struct val *pair = n > 1 ? &a[1] : NULL;
	struct val is = n > 2 ? a[2] : val_text("=", 1);
	uint32_t count = 0;
	bool has;

	if ((pair && !pair->n) || !is.n)
		return machine_fault(vm, "parse_kv() with an empty separator");
	buf_reset(&vm->tmp);
	while (p < end) {
		word = parse_kv_end(p, end, pair);
		if (word == p) {
			p += pair ? pair->n : 1;
			continue;
		}
		eq = needle_search(is.p, is.n, p, word);
		if (parse_kv_has(vm, p, (size_t)((eq ? eq : word) - p), count, &has))
			return ST_DATA;
		size_t before = vm->tmp.len;
		parse_put(&vm->tmp, p, (size_t)((eq ? eq : word) - p));
		p = word;
		if (!eq) {
			buf_byte(&vm->tmp, 0xc3);
		} else if (eq + is.n < end && eq[is.n] == '"') {
			p = eq + is.n;
			if (!parse_quoted(&p, end, '\\', &vm->tmp2))
				return machine_fault(vm, "parse_kv(): a quote that does not end");
			parse_put(&vm->tmp, vm->tmp2.data, vm->tmp2.len);
		} else {
			parse_put(&vm->tmp, eq + is.n, (size_t)(word - eq - is.n));
		}
		if (has)
			vm->tmp.len = before;
		else
			count++;
	}
	return machine_take_items(vm, VAL_RECORD, count, out);
}

const struct fn fn_parse[] = {
	{ "parse_json", "s", "any", .call = parse_json, .args = "text|bytes",
	  .brief = "the value that JSON text stands for",
	  .example = "parse_json(\"{\\\"a\\\": [1]}\").a[0]", .output = "1" },
	{ "to_json", "a", "text", .call = parse_to_json, .args = "any",
	  .brief = "as JSON text", .example = "to_json({a: [1, null]})",
	  .output = "{\"a\":[1,null]}" },
	{ "parse_csv", "t?t", "[text]", .call = parse_csv, .args = "text[, separator]",
	  .brief = "the fields of one line of CSV", .example = "parse_csv(\"a,\\\"b,c\\\"\")",
	  .output = "[\"a\",\"b,c\"]" },
	{ "parse_kv", "t?tt", "{...}", .call = parse_kv,
	  .args = "text[, between pairs[, between key and value]]",
	  .brief = "a record of key=value words; a word alone is true",
	  .example = "parse_kv(\"level=info msg=\\\"all well\\\"\")",
	  .output = "{\"level\":\"info\",\"msg\":\"all well\"}" },
	{ 0 }
};
