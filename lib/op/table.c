/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "op/op.h"
#include "op/table.h"

/* The list of operators is the list of files op_*.c, written by make. */
#define OP(name) extern const struct op_desc op_##name;
#include "op_list.h"
#undef OP

static const struct op_desc *const table_ops[] = {
#define OP(name) &op_##name,
#include "op_list.h"
#undef OP
	NULL
};

static bool
table_is(const char *word, size_t n, const char *name, size_t name_n)
{
	return n == name_n && !memcmp(word, name, n);
}

static bool
table_alias(const struct op_desc *d, const char *name, size_t n)
{
	const char *a = d->aliases;

	while (a) {
		size_t len = strcspn(a, "|");

		if (table_is(name, n, a, len))
			return true;
		a = a[len] ? a + len + 1 : NULL;
	}
	return false;
}

const struct op_desc *
op_find(const char *name, size_t n)
{
	for (size_t i = 0; table_ops[i]; i++) {
		const struct op_desc *d = table_ops[i];

		if (table_is(name, n, d->name, strlen(d->name)) || table_alias(d, name, n) ||
		    (d->match && table_is(name, n, d->match, strlen(d->match))))
			return d;
	}
	return NULL;
}

const struct op_desc *
op_at(size_t i)
{
	return i < sizeof table_ops / sizeof *table_ops - 1 ? table_ops[i] : NULL;
}
