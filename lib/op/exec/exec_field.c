/* SPDX-License-Identifier: MIT
 *
 * field=: the program is given one field of each record, and its answer goes
 * back into the record, in that field or in the one that into= names.
 */
#include <string.h>

#include "base/mem.h"
#include "op/kit/expr_run.h"
#include "op/exec/exec_op.h"
#include "op/kit/fields.h"
#include "value/mp.h"

static const char *
field_plain(const char *name)
{
	return name + (*name == '.');
}

static const char *
field_into(const struct exec *x)
{
	return field_plain(x->into ? x->into : x->field);
}

enum status
exec_field_typing(struct op_node *n, struct op_typing *t, const struct type **type, struct err *e)
{
	const struct exec *x = n->params;
	const struct type *in = n->in[0]->type;

	if (!x->field)
		return x->into ? typed_fail(t, n, e, "into= is for field=") : ST_OK;
	const char *field = field_plain(x->field), *into = field_into(x);
	if (x->proto == FRAME_STREAM)
		return typed_fail(t, n, e, "proto=stream takes no field=: its answers belong to no record");
	if (in->kind != TYPE_RECORD && in->kind != TYPE_ANY)
		return typed_fail(t, n, e, "field= is for records, but the elements are not records");
	if (in->kind == TYPE_RECORD && !in->open && !type_field_get(in, field, strlen(field))) {
		typed_fail(t, n, e, "the elements have no field `%s`", field);
		err_help(e, "--print=plan shows the types of all stages");
		return ST_DATA;
	}
	if (in->kind == TYPE_ANY) {
		*type = in;
		return ST_OK;
	}
	struct type_field *v = mem_array(in->n_fields + 1, sizeof *v);
	size_t n_v = in->n_fields, at = 0;
	if (n_v)
		memcpy(v, in->fields, n_v * sizeof *v);
	while (at < n_v && strcmp(v[at].name, into))
		at++;
	if (at == n_v)
		n_v++;
	v[at] = (struct type_field){ into, *type };
	*type = type_record(t->arena, v, n_v, in->open);
	mem_free(v);
	return ST_OK;
}

enum status
exec_field_get(const struct exec *x, const struct elem *in, struct elem *part, struct err *e)
{
	const uint8_t *v;
	size_t len;

	*part = *in;
	if (!x->field)
		return ST_OK;
	const char *field = field_plain(x->field);
	if (!mp_field(in->p, in->p + in->len, field, strlen(field), &v, &len))
		return err_set(e, ST_DATA, "the element has no field `%s`", field);
	part->p = v;
	part->len = (uint32_t)len;
	return ST_OK;
}

void
exec_field_put(const struct exec *x, const struct elem *in, const uint8_t *value, size_t n,
	       struct buf *out)
{
	const uint8_t *end = in->p + in->len, *p, *next, *old;
	const char *into = field_into(x);
	struct field_name name;
	uint32_t len = (uint32_t)strlen(into), pairs;
	struct mp m;

	mp_head(in->p, end, &m);
	pairs = m.kind == MP_RECORD ? m.n : 0;
	bool there = mp_field(in->p, end, into, len, &old, &(size_t){ 0 });
	uint8_t *w = buf_room(out, in->len + n + len + 3 * MP_HEAD_MAX);
	w = mp_put_record_head(w, pairs + !there);
	p = m.p;
	for (uint32_t k = 0; k < pairs; k++, p = next) {
		const uint8_t *v;

		next = fields_pair(p, end, &name, &v);
		const uint8_t *to = v == old && there ? v : next;
		memcpy(w, p, (size_t)(to - p));
		w += to - p;
		if (to == next)
			continue;
		memcpy(w, value, n);
		w += n;
	}
	if (!there) {
		w = mp_put_text(w, into, len);
		memcpy(w, value, n);
		w += n;
	}
	out->len = (size_t)(w - out->data);
}
