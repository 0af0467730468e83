/* SPDX-License-Identifier: MIT */
#include "op/each/unseen.h"

#include <inttypes.h>
#include <string.h>

#include "base/mem.h"
#include "base/param.h"
#include "base/str.h"
#include "value/mp.h"

/* A part of a stream may well lack what others have: only a chain that reads everything knows. */
void
unseen_open(struct op_inst *self, struct unseen *u, const struct op_expr *ex)
{
	const struct op_ctx *ctx = self->ctx;

	*u = (struct unseen){ 0 };
	if (!ctx->note || ctx->pass || ctx->next_split || ctx->above || self->node->n_in != 1 ||
	    self->node->in[0]->type->kind != TYPE_ANY)
		return;
	int n = expr_fields(ex->code, u->field, UNSEEN_FIELDS);
	u->n = n > 0 ? (unsigned)n : 0;
}

static void
unseen_has(struct unseen *u, const struct mp *key)
{
	for (unsigned i = 0; i < u->n; i++)
		if (strlen(u->field[i]) == key->n && !memcmp(u->field[i], key->p, key->n)) {
			u->field[i] = u->field[--u->n];
			return;
		}
}

static void
unseen_element(struct unseen *u, const struct elem *e)
{
	const uint8_t *p = e->p, *end = p + e->len;
	struct mp m;

	p = mp_head(p, end, &m);
	uint32_t left = p && m.kind == MP_RECORD ? m.n : 0;
	while (left-- && u->n && (p = mp_head(p, end, &m))) {
		if (m.kind == MP_TEXT)
			unseen_has(u, &m);
		if (!(p = mp_skip(p, end)))
			return;
	}
}

void
unseen_look(struct unseen *u, const struct run *in, uint32_t from)
{
	if (u->n && !u->first && from < in->n) {
		u->first = mem_dup(in->e[from].p, in->e[from].len);
		u->first_len = in->e[from].len;
	}
	for (uint32_t i = from; i < in->n && u->n; i++)
		unseen_element(u, &in->e[i]);
	u->elements += in->n - from;
	if (!u->n)
		unseen_forget(u);
}

void
unseen_forget(struct unseen *u)
{
	mem_free((void *)u->first);
	u->first = NULL;
	u->n = 0;
}

/* Adds the names that the first element has. */
static void
unseen_names(const struct unseen *u, struct words *out)
{
	const uint8_t *p = u->first, *end = p + u->first_len;
	struct mp m;

	p = mp_head(p, end, &m);
	uint32_t left = p && m.kind == MP_RECORD ? m.n : 0;
	while (left-- && (p = mp_head(p, end, &m))) {
		if (m.kind == MP_TEXT)
			words_add(out, (const char *)m.p, m.n);
		if (!(p = mp_skip(p, end)))
			return;
	}
}

static const char *
unseen_name(void *arg, size_t i)
{
	const struct words *w = arg;

	return i < w->n ? w->v[i] : NULL;
}

void
unseen_tell(struct op_inst *self, struct unseen *u)
{
	struct words names = { 0 };
	char near[256];
	struct err e = { 0 };

	if (!u->n || !u->first)
		return;
	unseen_names(u, &names);
	if (u->elements == 1)
		err_set(&e, ST_DATA, "`%s` kept nothing: the only element has no field `%.60s`", self->node->text, u->field[0]);
	else
		err_set(&e, ST_DATA, "`%s` kept nothing: none of %" PRIu64 " elements has a field `%.60s`",
			self->node->text, u->elements, u->field[0]);
	if (str_suggest(u->field[0], unseen_name, &names, near, sizeof near))
		err_help(&e, "did you mean %s?", near);
	self->ctx->note(self->ctx->arg, self->node, &e);
	words_clear(&names);
	unseen_forget(u);
}
