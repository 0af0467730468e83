/* SPDX-License-Identifier: MIT */
#include "core/disp/disp_spent.h"

#include "base/mem.h"
#include "value/record_put.h"

/* NULL: there are too many. */
static struct msg_op_time *
spent_of(struct spent *s, uint32_t place)
{
	for (size_t i = 0; i < s->n; i++)
		if (s->v[i].place == place)
			return &s->v[i];
	if (s->n == WIRE_OPS_MAX)
		return NULL;
	if (!s->v)
		s->v = mem_array(WIRE_OPS_MAX, sizeof *s->v);
	s->v[s->n] = (struct msg_op_time){ .place = place };
	return &s->v[s->n++];
}

void
spent_add(struct spent *s, const struct msg_op_times *told)
{
	for (size_t i = 0; i < told->n; i++) {
		struct msg_op_time *op = spent_of(s, told->v[i].place);

		if (!op)
			continue;
		op->ns += told->v[i].ns;
		op->elements += told->v[i].elements;
	}
}

void
spent_report(struct buf *b, const struct spent *s)
{
	record_put_list(b, "operators", s->n);
	for (size_t i = 0; i < s->n; i++) {
		record_put_head(b, 3);
		record_put_uint(b, "operator", s->v[i].place);
		record_put_float(b, "busy_seconds", (double)s->v[i].ns * 1e-9);
		record_put_uint(b, "elements", s->v[i].elements);
	}
}

void
spent_clear(struct spent *s)
{
	mem_free(s->v);
	*s = (struct spent){ 0 };
}
