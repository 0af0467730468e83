/* SPDX-License-Identifier: MIT
 *
 * Functions: texts of known forms to values, and JSON back.
 */
#include <string.h>

#include "base/mem.h"
#include "expr/fn.h"
#include "expr/vm.h"
#include "value/csv/csv.h"
#include "value/format/format.h"
#include "value/format/textform.h"
#include "value/json/json.h"

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
		return caught ? ST_DATA : vm_fault(vm, "parse_json(): %.400s", why.text);
	uint8_t *p = vm_room(vm, vm->tmp.len);
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
	if (!vm_json(vm, "to_json", false))
		return ST_DATA;
	return vm_take_tmp(vm, VAL_TEXT, out);
}

/* Reads the argument that says whether values are typed, like types= of operators. */
static enum status
parse_types(struct expr_vm *vm, const char *name, const struct val *a, bool *typed)
{
	*typed = a->n == 4 && !memcmp(a->p, "auto", 4);
	if (*typed || (a->n == 4 && !memcmp(a->p, "text", 4)))
		return ST_OK;
	return vm_fault(vm, "%s(): types are \"auto\" or \"text\", not \"%.*s\"", name,
			a->n < 100 ? (int)a->n : 100, (const char *)a->p);
}

static enum status
parse_take(struct expr_vm *vm, const uint8_t *bytes, size_t len, struct val *out)
{
	uint8_t *p = vm_room(vm, len);

	if (!p)
		return ST_DATA;
	memcpy(p, bytes, len);
	scratch_done(&vm->scratch, p + len);
	val_load(p, out);
	out->n = (uint32_t)len; /* a list or a record */
	return ST_OK;
}

static enum status
parse_csv(struct expr_vm *vm, struct val *out, const struct val *a, unsigned n)
{
	struct csv_conf conf = { .delim = ',', .quote = '"' };
	bool typed = true;
	struct elem row;
	struct err why;

	if (n > 1 && (a[1].n != 1 || *a[1].p == '"' || *a[1].p == '\n' || *a[1].p == '\r'))
		return vm_fault(vm, "parse_csv(): a separator is one byte, and no quote or end of line; "
				"split() takes any text");
	if (n > 1)
		conf.delim = *a[1].p;
	if (n > 2 && parse_types(vm, "parse_csv", &a[2], &typed))
		return ST_DATA;
	conf.text = !typed;
	if (vm->csv && (vm->csv_delim != conf.delim || vm->csv_text != conf.text))
		csv_free(&vm->csv);
	if (!vm->csv)
		vm->csv = csv_new(&conf, NULL, 0);
	vm->csv_delim = conf.delim;
	vm->csv_text = conf.text;
	if (csv_row_of(vm->csv, a->p, a->n, &row, &why))
		return vm_fault(vm, "parse_csv(): %.400s", why.text);
	return parse_take(vm, row.p, row.len, out);
}

static enum status
parse_kv(struct expr_vm *vm, struct val *out, const struct val *a, unsigned n)
{
	struct textform_conf conf = { .typed = true };
	struct err why;

	if ((n > 1 && !a[1].n) || (n > 2 && !a[2].n))
		return vm_fault(vm, "parse_kv() with an empty separator");
	if (n > 1 && !(a[1].n == 1 && *a[1].p == ' ')) {
		conf.pair = (const char *)a[1].p;
		conf.pair_len = a[1].n;
	}
	if (n > 2) {
		conf.is = (const char *)a[2].p;
		conf.is_len = a[2].n;
	}
	if (n > 3 && parse_types(vm, "parse_kv", &a[3], &conf.typed))
		return ST_DATA;
	if (!vm->form)
		vm->form = mem_zalloc(sizeof *vm->form);
	buf_reset(&vm->tmp);
	if (textform_kv(vm->form, &conf, a->p, a->n, &vm->tmp, &why))
		return vm_fault(vm, "parse_kv(): %.400s", why.text);
	return parse_take(vm, vm->tmp.data, vm->tmp.len, out);
}

const struct fn fn_parse[] = {
	{ "parse_json", "s", "any", .call = parse_json, .args = "text|bytes",
	  .brief = "the value of a JSON text",
	  .example = "parse_json(\"{\\\"a\\\": [1]}\").a[0]", .output = "1" },
	{ "to_json", "a", "text", .call = parse_to_json, .args = "any",
	  .brief = "the value as JSON text; bytes become base64; `options nonfinite=` and `invalid_utf8=` of the "
		  "spec say what becomes of inf and nan, else null, and of texts that are not UTF-8, else an error",
	  .example = "to_json({a: [1, null]})",
	  .output = "{\"a\":[1,null]}" },
	{ "parse_csv", "t?tt", "[any]", .call = parse_csv, .args = "text[, separator[, types]]",
	  .brief = "the fields of one line of CSV, typed as in the csv source; with the types "
		  "\"text\" all stay texts",
	  .example = "[parse_csv(\"a,\\\"b,c\\\",1\"), parse_csv(\"7;\", \";\", \"text\")]",
	  .output = "[[\"a\",\"b,c\",1],[\"7\",\"\"]]" },
	{ "parse_kv", "t?ttt", "{...}", .call = parse_kv,
	  .args = "text[, between pairs[, between key and value[, types]]]",
	  .brief = "a record of key=value words, typed as in the csv source; a word without a value is true; "
		  "if a key occurs more than once, the last value counts; the separator \" \" matches any "
		  "blanks; with the types \"text\" values stay texts",
	  .example = "parse_kv(\"level=info ms=12 msg=\\\"all well\\\"\")",
	  .output = "{\"level\":\"info\",\"ms\":12,\"msg\":\"all well\"}" },
	{ 0 }
};
