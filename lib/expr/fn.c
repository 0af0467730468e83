/* SPDX-License-Identifier: MIT */
#include "expr/fn.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "expr/vm.h"

/* The list of groups is the list of files fn_*.c, written by make. */
#define FN(name) extern const struct fn fn_##name[];
#include "fn_list.h"
#undef FN

static const struct fn *const fn_groups[] = {
#define FN(name) fn_##name,
#include "fn_list.h"
#undef FN
	NULL
};

static const struct fn **fn_sorted;    /* sorted by name */
static struct expr_fn_doc *fn_docs;    /* sorted by name, and a row without a name */
static size_t fn_count;
static pthread_once_t fn_once = PTHREAD_ONCE_INIT;

static int
fn_order(const void *a, const void *b)
{
	const struct fn *const *x = a, *const *y = b;

	return strcmp((*x)->name, (*y)->name);
}

static void
fn_join(void)
{
	size_t n = 0;

	for (size_t g = 0; fn_groups[g]; g++)
		for (const struct fn *f = fn_groups[g]; f->name; f++)
			n++;
	fn_sorted = mem_array(n, sizeof *fn_sorted);
	fn_docs = mem_array(n + 1, sizeof *fn_docs);
	for (size_t g = 0; fn_groups[g]; g++)
		for (const struct fn *f = fn_groups[g]; f->name; f++)
			fn_sorted[fn_count++] = f;
	qsort(fn_sorted, fn_count, sizeof *fn_sorted, fn_order);
	for (size_t i = 0; i < fn_count; i++)
		fn_docs[i] = (struct expr_fn_doc){
			.name = fn_sorted[i]->name, .args = fn_sorted[i]->args,
			.brief = fn_sorted[i]->brief, .example = fn_sorted[i]->example,
			.output = fn_sorted[i]->output
		};
}

const struct fn *
fn_at(size_t i)
{
	pthread_once(&fn_once, fn_join);
	return i < fn_count ? fn_sorted[i] : NULL;
}

const struct expr_fn_doc *
expr_functions(void)
{
	pthread_once(&fn_once, fn_join);
	return fn_docs;
}

const struct fn *
fn_find(const char *name, size_t n)
{
	size_t low = 0, high;

	pthread_once(&fn_once, fn_join);
	for (high = fn_count; low < high;) {
		size_t mid = (low + high) / 2;
		int c = strncmp(fn_sorted[mid]->name, name, n);

		if (c == 0 && fn_sorted[mid]->name[n])
			c = 1;
		if (c == 0)
			return fn_sorted[mid];
		if (c < 0)
			low = mid + 1;
		else
			high = mid;
	}
	return NULL;
}

char
fn_letter(const struct fn *f, unsigned k)
{
	char last = 0;

	for (const char *s = f->sig; *s; s++) {
		if (*s == '?')
			continue;
		if (*s == '*')
			return last;
		last = *s;
		if (k-- == 0)
			return last;
	}
	return 0;
}

unsigned
fn_least(const struct fn *f)
{
	unsigned n = 0;

	for (const char *s = f->sig; *s && *s != '?' && *s != '*'; s++)
		n++;
	return n;
}

/* ORDER fn_letters */
static const struct { char letter; const char *words; unsigned kinds; } fn_letters[] = {
	{ 'a', "any value", (1u << VAL_REGEX) - 1 },
	{ 'i', "int", VAL_BIT(VAL_INT) },
	{ 'n', "a number", VAL_BIT(VAL_INT) | VAL_BIT(VAL_BIG) | VAL_BIT(VAL_FLOAT) },
	{ 't', "text", VAL_BIT(VAL_TEXT) },
	{ 'b', "bytes", VAL_BIT(VAL_BYTES) },
	{ 's', "text or bytes", VAL_BIT(VAL_TEXT) | VAL_BIT(VAL_BYTES) },
	{ 'l', "a list", VAL_BIT(VAL_LIST) },
	{ 'r', "a record", VAL_BIT(VAL_RECORD) },
	{ 'o', "bool", VAL_BIT(VAL_BOOL) },
	{ 'q', "text, bytes or a list", VAL_BIT(VAL_TEXT) | VAL_BIT(VAL_BYTES) | VAL_BIT(VAL_LIST) },
	{ 'c', "text, bytes, a list or a record",
	  VAL_BIT(VAL_TEXT) | VAL_BIT(VAL_BYTES) | VAL_BIT(VAL_LIST) | VAL_BIT(VAL_RECORD) },
	{ 'v', "text, a number or a bool", VAL_BIT(VAL_TEXT) | VAL_BIT(VAL_INT) | VAL_BIT(VAL_BIG)
	  | VAL_BIT(VAL_FLOAT) | VAL_BIT(VAL_BOOL) },
	{ 'h', "an int, text or bytes", VAL_BIT(VAL_INT) | VAL_BIT(VAL_BIG) | VAL_BIT(VAL_TEXT)
	  | VAL_BIT(VAL_BYTES) },
	{ 'e', "an expression", (1u << VAL_REGEX) - 1 },
	{ 'k', "text or a list of text", VAL_BIT(VAL_TEXT) | VAL_BIT(VAL_LIST) },
	{ 'p', "text or a regular expression", VAL_BIT(VAL_TEXT) | VAL_BIT(VAL_REGEX) },
	{ 'f', "anything to look for", (1u << VAL_KINDS) - 1 },
	{ 'T', "a tensor", VAL_BIT(VAL_EXT) },
	{ 'N', "a number or a tensor", VAL_BIT(VAL_INT) | VAL_BIT(VAL_BIG) | VAL_BIT(VAL_FLOAT)
	  | VAL_BIT(VAL_EXT) },
	{ 'L', "a list or a tensor", VAL_BIT(VAL_LIST) | VAL_BIT(VAL_EXT) },
	{ 'C', "text, bytes, a list, a record or a tensor", VAL_BIT(VAL_TEXT) | VAL_BIT(VAL_BYTES)
	  | VAL_BIT(VAL_LIST) | VAL_BIT(VAL_RECORD) | VAL_BIT(VAL_EXT) },
	{ 'U', "a tensor, a number or a bool", VAL_BIT(VAL_INT) | VAL_BIT(VAL_BIG)
	  | VAL_BIT(VAL_FLOAT) | VAL_BIT(VAL_BOOL) | VAL_BIT(VAL_EXT) },
	{ 'M', "a list, a number, bytes or a tensor", VAL_BIT(VAL_INT) | VAL_BIT(VAL_BIG)
	  | VAL_BIT(VAL_FLOAT) | VAL_BIT(VAL_BOOL) | VAL_BIT(VAL_LIST) | VAL_BIT(VAL_BYTES)
	  | VAL_BIT(VAL_EXT) },
	{ 'D', "a box, channels or \"upright\"", VAL_BIT(VAL_LIST) | VAL_BIT(VAL_INT)
	  | VAL_BIT(VAL_TEXT) },
	{ 'R', "a regular expression", VAL_BIT(VAL_REGEX) },
};

const char *
fn_letter_words(char letter)
{
	for (size_t i = 0; i < sizeof fn_letters / sizeof *fn_letters; i++)
		if (fn_letters[i].letter == letter)
			return fn_letters[i].words;
	return "something else";
}

unsigned
fn_accepts(const struct fn *f, unsigned k)
{
	char letter = fn_letter(f, k);

	for (size_t i = 0; i < sizeof fn_letters / sizeof *fn_letters; i++)
		if (fn_letters[i].letter == letter)
			return fn_letters[i].kinds;
	return 0;
}

void
fn_use_init(struct fn_use *u, const struct fn *f)
{
	u->f = f;
	for (unsigned k = 0; k < FN_MASKS; k++)
		u->accepts[k] = fn_accepts(f, k);
}

enum status
fn_kind_fault(struct expr_vm *vm, const struct fn *f, const struct val *a, unsigned n)
{
	unsigned k = 0;

	while (k + 1 < n && fn_accepts(f, k) & VAL_BIT(a[k].kind))
		k++;
	return vm_fault(vm, "%s() takes %s, not %s", f->name,
			fn_letter_words(fn_letter(f, k)),
			a[k].kind == VAL_BIG ? "one above 2**63" : val_kind_name(a[k].kind));
}

const struct type *
fn_type_first(struct types *t, const struct type *const *a, unsigned n)
{
	(void)t;
	(void)n;
	return a[0]->nullable ? type_scalar(TYPE_ANY) : a[0];
}

const struct type *
fn_type_item(struct types *t, const struct type *const *a, unsigned n)
{
	(void)t;
	(void)n;
	return a[0]->kind == TYPE_LIST && a[0]->item->kind != TYPE_NEVER ? a[0]->item
		: type_scalar(TYPE_ANY);
}

const struct type *
fn_type_list(struct types *t, const struct type *const *a, unsigned n)
{
	return type_list(t, fn_type_item(t, a, n));
}
