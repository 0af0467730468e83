/* SPDX-License-Identifier: MIT */
#include "value/type.h"

bool
type_holds(const struct type *wide, const struct type *a)
{
	struct types *arena = types_new();
	bool holds = type_equal(type_join(arena, wide, a), wide);

	types_free(&arena);
	return holds;
}

enum status
type_expect(const struct type *want, const struct type *has, const char *from, struct err *e)
{
	struct buf w = { 0 }, h = { 0 };

	if (type_holds(want, has))
		return ST_OK;
	type_print(want, &w);
	type_print(has, &h);
	err_set(e, ST_DATA, "%s%s, but the elements are %s", from, (char *)w.data,
		(char *)h.data);
	err_help(e, "ask for %s or for a wider type; any fits all", (char *)h.data);
	buf_clear(&w);
	buf_clear(&h);
	return ST_DATA;
}
