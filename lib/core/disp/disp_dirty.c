/* SPDX-License-Identifier: MIT
 *
 * What the durable state lacks: objects that have changed since their rows were
 * written, and rows that are to go.
 */
#include "base/mem.h"
#include "core/disp/disp_inner.h"

void
disp_dirty(struct disp *d, struct dirty *x, unsigned what)
{
	x->what |= what;
	if (!x->node.next)
		ring_push(&d->dirty, &x->node);
}

static void
disp_delete_row(struct disp *d, struct disp_row row)
{
	if (!d->o.durable)
		return;
	if (d->n_deletes == d->cap_deletes)
		d->deletes = mem_grow(d->deletes, &d->cap_deletes, d->n_deletes + 1, sizeof *d->deletes);
	d->deletes[d->n_deletes++] = row;
}

void
disp_delete(struct disp *d, enum disp_row_kind kind, unsigned n, uint64_t a, uint64_t b, uint64_t c)
{
	disp_delete_row(d, (struct disp_row){ .kind = kind, .n_key = n, .key = { a, b, c } });
}

void
disp_delete_below(struct disp *d, enum disp_row_kind kind, uint64_t a, uint64_t b, uint64_t c)
{
	disp_delete_row(d, (struct disp_row){ .kind = kind, .n_key = 3, .below = true, .key = { a, b, c } });
}

uint64_t
disp_id(struct disp *d)
{
	d->meta_dirty = true;
	return d->next_id++;
}
