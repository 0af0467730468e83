/* SPDX-License-Identifier: MIT
 *
 * Functions of records.
 */
#include <string.h>

#include "base/mem.h"
#include "expr/fn.h"
#include "expr/vm.h"

/* Makes a list of the keys, or of the values. */
static enum status
record_side(struct expr_vm *vm, struct val *out, const struct val *a, bool values)
{
	const uint8_t *p, *mid, *end;
	uint32_t n = val_count(a, &p);

	buf_reset(&vm->tmp);
	for (uint32_t i = 0; i < n; i++, p = end) {
		mid = mp_past(p);
		end = mp_past(mid);
		if (values)
			buf_put(&vm->tmp, mid, (size_t)(end - mid));
		else
			buf_put(&vm->tmp, p, (size_t)(mid - p));
	}
	return vm_take_items(vm, VAL_LIST, n, out);
}

static enum status
record_keys(struct expr_vm *vm, struct val *out, const struct val *a, unsigned n)
{
	(void)n;
	return record_side(vm, out, a, false);
}

static enum status
record_values(struct expr_vm *vm, struct val *out, const struct val *a, unsigned n)
{
	(void)n;
	return record_side(vm, out, a, true);
}

static const struct type *
record_type_values(struct types *t, const struct type *const *a, unsigned n)
{
	const struct type *item = type_scalar(TYPE_NEVER);

	(void)n;
	if (a[0]->kind != TYPE_RECORD || a[0]->open)
		return type_list(t, type_scalar(TYPE_ANY));
	for (size_t i = 0; i < a[0]->n_fields; i++)
		item = type_join(t, item, a[0]->fields[i].type);
	return type_list(t, item);
}

/* The place of the value of the text key at `key` in the record, or NULL. */
static const uint8_t *
record_lookup(const struct val *r, const struct val *key)
{
	const uint8_t *p;
	struct val k = { 0 };

	for (uint32_t n = val_count(r, &p); n; n--) {
		val_load(p, &k);
		p = mp_past(p);
		if (val_equal(&k, key))
			return p;
		p = mp_past(p);
	}
	return NULL;
}

static enum status
record_has(struct expr_vm *vm, struct val *out, const struct val *a, unsigned n)
{
	(void)vm;
	(void)n;
	*out = val_bool(record_lookup(a, &a[1]));
	return ST_OK;
}

/* Adds the pairs of a[k] to the output: a field that later records have, too, gets the value
 * of the last of them, and is left out when their turn comes. */
static void
record_merge_one(struct expr_vm *vm, const struct val *a, unsigned n, unsigned k, uint32_t *count)
{
	const uint8_t *p, *mid, *end, *v;
	struct val key = { 0 };

	for (uint32_t left = val_count(&a[k], &p); left; left--, p = end) {
		bool earlier = false;

		val_load(p, &key);
		mid = mp_past(p);
		end = mp_past(mid);
		for (unsigned j = 0; j < k && !earlier; j++)
			earlier = record_lookup(&a[j], &key);
		if (earlier)
			continue;
		buf_put(&vm->tmp, p, (size_t)(mid - p));
		v = NULL;
		for (unsigned j = n; !v && --j > k;)
			v = record_lookup(&a[j], &key);
		if (!v)
			v = mid;
		buf_put(&vm->tmp, v, (size_t)(mp_past(v) - v));
		++*count;
	}
}

static enum status
record_merge(struct expr_vm *vm, struct val *out, const struct val *a, unsigned n)
{
	const uint8_t *first;
	uint64_t all = 0;
	uint32_t count = 0;

	for (unsigned k = 0; k < n; k++)
		all += val_count(&a[k], &first);
	/* each key is looked up in the other records */
	if (n > 1 && (all > UINT32_MAX / 2 || vm_steps(vm, all * all)))
		return ST_DATA;
	buf_reset(&vm->tmp);
	for (unsigned k = 0; k < n; k++)
		record_merge_one(vm, a, n, k, &count);
	return vm_take_items(vm, VAL_RECORD, count, out);
}

/* Closed records give a closed one; later types override earlier ones. */
static enum status
record_pair(struct expr_vm *vm, struct val *out, const struct val *a, unsigned n)
{
	(void)n;
	buf_reset(&vm->tmp);
	val_put(&a[0], &vm->tmp);
	val_put(&a[1], &vm->tmp);
	return vm_take_items(vm, VAL_RECORD, 1, out);
}

static const struct type *
record_type_merge(struct types *t, const struct type *const *a, unsigned n)
{
	struct type_field *fields;
	const struct type *r;
	size_t most = 0, count = 0;
	bool open = false;

	for (unsigned k = 0; k < n; k++) {
		if (a[k]->kind != TYPE_RECORD)
			return type_scalar(TYPE_ANY);
		most += a[k]->n_fields;
		open = open || a[k]->open;
	}
	fields = mem_array(most + 1, sizeof *fields);
	for (unsigned k = 0; k < n && !open; k++)
		for (size_t i = 0; i < a[k]->n_fields; i++) {
			size_t at = 0;

			while (at < count && strcmp(fields[at].name, a[k]->fields[i].name) != 0)
				at++;
			fields[at] = a[k]->fields[i];
			count += at == count;
		}
	r = type_record(t, fields, count, open);
	mem_free(fields);
	return r;
}

static bool
record_named(const struct val *a, unsigned n, const struct val *key)
{
	for (unsigned k = 1; k < n; k++) {
		const uint8_t *p;
		struct val item = { 0 };

		if (a[k].kind == VAL_TEXT && val_equal(&a[k], key))
			return true;
		if (a[k].kind == VAL_TEXT)
			continue;
		for (uint32_t left = val_count(&a[k], &p); left; left--, p = mp_past(p)) {
			val_load(p, &item);
			if (val_equal(&item, key))
				return true;
		}
	}
	return false;
}

static enum status
record_without(struct expr_vm *vm, struct val *out, const struct val *a, unsigned n)
{
	const uint8_t *p, *mid, *end, *first;
	uint32_t count = 0, all = val_count(a, &p);
	uint64_t names = n;
	struct val key = { 0 };

	for (unsigned k = 1; k < n; k++)
		names += a[k].kind == VAL_LIST ? val_count(&a[k], &first) : 0;
	if (names * all > 1000 && vm_steps(vm, names * all))
		return ST_DATA;
	buf_reset(&vm->tmp);
	for (uint32_t i = 0; i < all; i++, p = end) {
		val_load(p, &key);
		mid = mp_past(p);
		end = mp_past(mid);
		if (record_named(a, n, &key))
			continue;
		buf_put(&vm->tmp, p, (size_t)(end - p));
		count++;
	}
	return vm_take_items(vm, VAL_RECORD, count, out);
}

const struct fn fn_record[] = {
	{ "keys", "r", "[text]", .call = record_keys, .args = "record",
	  .brief = "the names of the fields", .example = "keys({a: 1, b: 2})",
	  .output = "[\"a\",\"b\"]" },
	{ "values", "r", NULL, record_type_values, record_values, .args = "record",
	  .brief = "the values of the fields", .example = "values({a: 1, b: 2})",
	  .output = "[1,2]" },
	{ "has", "rt", "bool", .call = record_has, .args = "record, name",
	  .brief = "true if the record has a field of that name",
	  .example = "has({a: null}, \"a\")",
	  .output = "true" },
	{ "merge", "r*", NULL, record_type_merge, record_merge, .args = "record, record, ...",
	  .brief = "one record with the fields of all; if several have a field, the last one counts",
	  .example = "merge({a: 1, b: 2}, {b: 3})", .output = "{\"a\":1,\"b\":3}" },
	{ "pair", "ta", "{...}", .call = record_pair, .args = "name, value",
	  .brief = "a record with this one field; {(name): value} is short for it",
	  .example = "merge({a: 1}, pair(\"b\" ++ \"c\", 2))", .output = "{\"a\":1,\"bc\":2}" },
	{ "without", "rk*", "{...}", .call = record_without, .args = "record, name|list, ...",
	  .brief = "the record without the fields of these names",
	  .example = "without({a: 1, b: 2}, \"a\")",
	  .output = "{\"b\":2}" },
	{ 0 }
};
