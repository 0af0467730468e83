/* SPDX-License-Identifier: MIT
 *
 * Functions of lists. Those with an expression for each item are loops in the
 * compiled code (compile_call.c); here are their rows.
 */
#include <stdlib.h>
#include <string.h>

#include "expr/fn.h"
#include "expr/fn/fn_tensor.h"
#include "expr/vm.h"
#include "expr/tensor/tensor_rule.h"

enum { LIST_RANGE_MAX = 10 * 1000 * 1000 };

/* A sum: ints are added exactly, floats in their order; and which of them there were. */
struct list_total {
	__int128 ints;
	double sum;
	bool floats, large; /* large: an int above INT64_MAX */
};

static enum status
list_add(struct expr_vm *vm, const struct val *a, const char *name, struct list_total *t)
{
	const uint8_t *p;
	struct val v = { 0 };

	memset(t, 0, sizeof *t);
	for (uint32_t n = val_count(a, &p); n; n--, p = mp_past(p)) {
		val_load(p, &v);
		if (!val_is_number(&v))
			return vm_fault(vm, "%s() of a list with %s in it", name,
					val_kind_name(v.kind));
		if (v.kind == VAL_FLOAT) {
			t->floats = true;
			t->sum += v.f;
		} else {
			t->large = t->large || v.kind == VAL_BIG;
			t->ints += val_to_wide(&v);
		}
	}
	return ST_OK;
}

static enum status
list_sum(struct expr_vm *vm, struct val *out, const struct val *a, unsigned n)
{
	struct list_total t;

	if (a->kind == VAL_EXT)
		return fn_tensor_total(vm, out, a, n, false);
	if (n > 1)
		return vm_fault(vm, "sum() along an axis is for tensors");
	if (list_add(vm, a, "sum", &t))
		return ST_DATA;
	if (t.floats)
		*out = val_float(t.sum + (double)t.ints);
	else if (t.ints < INT64_MIN || t.ints > (t.large ? (__int128)UINT64_MAX : INT64_MAX))
		return vm_fault(vm, "integer overflow: this sum does not fit 64 bits");
	else
		*out = t.ints < 0 ? val_int((int64_t)t.ints) : val_uint((uint64_t)t.ints);
	return ST_OK;
}

static enum status
list_mean(struct expr_vm *vm, struct val *out, const struct val *a, unsigned n)
{
	struct list_total t;
	const uint8_t *first;

	if (a->kind == VAL_EXT)
		return fn_tensor_total(vm, out, a, n, true);
	if (n > 1)
		return vm_fault(vm, "mean() along an axis is for tensors");
	if (list_add(vm, a, "mean", &t))
		return ST_DATA;
	if (!val_count(a, &first))
		return vm_fault(vm, "mean() of an empty list");
	*out = val_float((t.sum + (double)t.ints) / val_count(a, &first));
	return ST_OK;
}

struct list_item {
	const uint8_t *p;
	uint32_t len, nth;
};

static int
list_by_value(const void *x, const void *y)
{
	const struct list_item *a = x, *b = y;
	int c = mp_compare(a->p, a->len, b->p, b->len);

	return c ? c : a->nth < b->nth ? -1 : 1;
}

/* Once sorted by value, equal items are neighbours; repeated ones are marked, and the others
 * are taken in their original order. */
static enum status
list_uniq(struct expr_vm *vm, struct val *out, const struct val *a, unsigned n)
{
	const uint8_t *p;
	uint32_t count = val_count(a, &p), kept = 0;

	(void)n;
	buf_reset(&vm->tmp);
	buf_reset(&vm->tmp2);
	struct list_item *v = (void *)buf_room(&vm->tmp2, (count + 1ul) * (sizeof *v + 1));
	uint8_t *again = (uint8_t *)(v + count);
	for (uint32_t i = 0; i < count; i++) {
		const uint8_t *end = mp_past(p);

		v[i] = (struct list_item){ p, (uint32_t)(end - p), i };
		again[i] = 0;
		p = end;
	}
	qsort(v, count, sizeof *v, list_by_value);
	for (uint32_t i = 1; i < count; i++)
		again[v[i].nth] = !mp_compare(v[i - 1].p, v[i - 1].len, v[i].p, v[i].len);
	val_count(a, &p);
	for (uint32_t i = 0; i < count; i++) {
		const uint8_t *end = mp_past(p);

		if (!again[i]) {
			buf_put(&vm->tmp, p, (size_t)(end - p));
			kept++;
		}
		p = end;
	}
	return vm_take_items(vm, VAL_LIST, kept, out);
}

static enum status
list_zip(struct expr_vm *vm, struct val *out, const struct val *a, unsigned n)
{
	const uint8_t *p[FN_ARGS_MAX];
	uint32_t least = UINT32_MAX;

	for (unsigned k = 0; k < n; k++) {
		uint32_t count = val_count(&a[k], &p[k]);

		if (count < least)
			least = count;
		if (val_depth(&a[k]) >= MP_DEPTH_MAX)
			return vm_fault(vm, "lists and records are nested more than %d deep",
					MP_DEPTH_MAX);
	}
	buf_reset(&vm->tmp);
	for (uint32_t i = 0; i < least; i++) {
		uint8_t *head = buf_room(&vm->tmp, MP_HEAD_MAX);

		vm->tmp.len += (size_t)(mp_put_list_head(head, n) - head);
		for (unsigned k = 0; k < n; k++) {
			const uint8_t *end = mp_past(p[k]);

			buf_put(&vm->tmp, p[k], (size_t)(end - p[k]));
			p[k] = end;
		}
		if (vm->tmp.len > SCRATCH_VALUE_MAX)
			break; /* refused below */
	}
	return vm_take_items(vm, VAL_LIST, least, out);
}

static const struct type *
list_type_zip(struct types *t, const struct type *const *a, unsigned n)
{
	const struct type *item = type_scalar(TYPE_NEVER);

	for (unsigned k = 0; k < n; k++)
		item = type_join(t, item, fn_type_item(t, a + k, 1));
	return type_list(t, type_list(t, item));
}

static enum status
list_range(struct expr_vm *vm, struct val *out, const struct val *a, unsigned n)
{
	__int128 at = n > 1 ? a[0].i : 0, stop = n > 1 ? a[1].i : a[0].i;
	__int128 step = n > 2 ? a[2].i : 1, count;

	if (step == 0)
		return vm_fault(vm, "range() with a step of 0");
	count = step > 0 ? (stop - at + step - 1) / step : (at - stop - step - 1) / -step;
	if (count < 0)
		count = 0;
	if (count > LIST_RANGE_MAX)
		return vm_fault(vm, "range() of more than %d items", LIST_RANGE_MAX);
	uint8_t *start = vm_room(vm, (size_t)count * MP_INT_MAX + MP_HEAD_MAX), *w = start;
	if (!start)
		return ST_DATA;
	w = mp_put_list_head(w, (uint32_t)count);
	for (int64_t i = 0; i < (int64_t)count; i++, at += step)
		w = mp_put_int(w, (int64_t)at);
	scratch_done(&vm->scratch, w);
	*out = val_whole(VAL_LIST, start, (size_t)(w - start));
	return ST_OK;
}

const struct fn fn_list[] = {
	{ "sum", "L?i", .call = list_sum, .check = tensor_rule_sum, .args = "list|tensor[, axis]",
	  .brief = "the sum of the numbers; of a tensor, the sum of all or along an axis",
	  .example = "sum([1, 2, 3])", .output = "6" },
	{ "mean", "L?i", .call = list_mean, .check = tensor_rule_mean, .args = "list|tensor[, axis]",
	  .brief = "the average of the numbers; of a tensor, the average of all or along an axis",
	  .example = "mean([1, 2])", .output = "1.5" },
	{ "uniq", "l", NULL, fn_type_list, list_uniq, .args = "list",
	  .brief = "the list without repeated items; the first of equal ones stays",
	  .example = "uniq([2, 1, 2])",
	  .output = "[2,1]" },
	{ "zip", "l*", NULL, list_type_zip, list_zip, .args = "list, list, ...",
	  .brief = "a list of the first items, a list of the second, and so on, up to the end of "
		  "the shortest",
	  .example = "zip([1, 2], [\"a\", \"b\"])", .output = "[[1,\"a\"],[2,\"b\"]]" },
	{ "range", "i?ii", "[int]", .call = list_range, .args = "[start,] stop[, step]",
	  .brief = "the ints from start (or 0) up to, but not including, stop",
	  .example = "range(1, 4)",
	  .output = "[1,2,3]" },
	{ "map", "le", .special = FN_MAP, .args = "list, expression of it",
	  .brief = "the value of the expression for each item", .example = "map([1, 2], it * it)",
	  .output = "[1,4]" },
	{ "filter", "le", .special = FN_FILTER, .args = "list, test of it",
	  .brief = "the items for which the test is true", .example = "filter([1, 2, 3], it > 1)",
	  .output = "[2,3]" },
	{ "any", "l?e", .special = FN_ANY, .args = "list[, test of it]",
	  .brief = "true if the test holds for at least one item", .example = "any([1, 2], it > 1)",
	  .output = "true" },
	{ "all", "l?e", .special = FN_ALL, .args = "list[, test of it]",
	  .brief = "true if the test holds for every item", .example = "all([1, 2], it > 1)",
	  .output = "false" },
	{ "sorted", "l?e", .special = FN_SORTED, .args = "list[, expression of it]",
	  .brief = "the items in order, compared by the expression if there is one; equal items "
		  "keep their order",
	  .example = "sorted([\"bb\", \"a\", \"ccc\"], -len(it))",
	  .output = "[\"ccc\",\"bb\",\"a\"]" },
	{ 0 }
};
