/* SPDX-License-Identifier: MIT
 *
 * Lists of units, which come from workers and lie in the store in parts.
 */
#include <string.h>

#include "base/mem.h"
#include "core/disp/disp_row.h"

void
units_forget(struct iteration *it)
{
	split_list_clear(&it->listed.units);
	it->listed = (struct units_listed){ 0 };
}

/* Moves the units of `from` to the end. */
static void
units_append(struct split_list *to, struct split_list *from)
{
	to->v = mem_grow(to->v, &to->cap, to->n + from->n, sizeof *to->v);
	if (from->n)
		memcpy(to->v + to->n, from->v, from->n * sizeof *to->v);
	to->n += from->n;
	mem_free(from->v);
	*from = (struct split_list){ 0 };
}

bool
units_add(struct iteration *it, struct msg_units *u)
{
	struct units_listed *l = &it->listed;

	if (u->listing > l->listing && !u->part) {
		units_forget(it);
		l->listing = u->listing;
	}
	if (u->listing != l->listing || u->part != l->parts || u->units.n > WIRE_UNITS_MAX - l->units.n)
		return false;
	l->parts++;
	units_append(&l->units, &u->units);
	return u->last;
}

enum status
units_load(struct iteration *it, uint64_t part, struct units_listed *r, struct err *e)
{
	if (part != it->listed.parts || it->units_loaded || r->units.n > WIRE_UNITS_MAX - it->listed.units.n)
		return err_set(e, ST_DATA, "a part of a list of units is missing");
	it->listed.parts++;
	units_append(&it->listed.units, &r->units);
	it->units_loaded = r->last;
	return ST_OK;
}
