/* SPDX-License-Identifier: MIT */
#include "lang/offer_fields.h"

#include <string.h>

#include "expr/ast.h"
#include "lang/spec.h"
#include "op/facts.h"
#include "op/pull.h"
#include "value/mp.h"

enum { FIELDS_ELEMENTS = 20, FIELDS_MOST = 200 };

static void
fields_add(struct words *out, const char *name, size_t n)
{
	bool there = false;

	for (size_t i = 0; i < out->n && !there; i++)
		there = strlen(out->v[i]) == n && !memcmp(out->v[i], name, n);
	if (!there && out->n < FIELDS_MOST && ast_is_word(name, n))
		words_add(out, name, n);
}

static void
fields_of_element(struct words *out, const struct elem *x)
{
	const uint8_t *p = x->p, *end = x->p + x->len;
	struct mp record, key;

	p = mp_head(p, end, &record);
	if (!p || record.kind != MP_RECORD)
		return;
	for (uint32_t i = 0; i < record.n && (p = mp_head(p, end, &key)); i++) {
		if (key.kind == MP_TEXT)
			fields_add(out, (const char *)key.p, key.n);
		if (!(p = mp_skip(p, end)))
			return;
	}
}

/* Whether the first elements can be had by running it, soon and without any effect. */
static bool
fields_may_run(const struct op_node *n)
{
	unsigned never = OP_EXEC | OP_STORES | OP_REMOTE | OP_LOCAL | OP_BORDER;
	bool may = !(n->desc->flags & never) && (n->n_in == 0 || n->desc->scope == OP_ELEMENT);

	for (size_t k = 0; k < n->n_in && may; k++)
		may = fields_may_run(n->in[k]);
	return may && !op_is_local(n) && !op_needs_exec(n);
}

static void
fields_run(const struct op_node *n, uint32_t element_max, struct words *out)
{
	struct op_ctx ctx = { .seed = 1, .element_max = element_max };
	struct op_inst *chain = NULL;
	struct err e;
	struct run *r;

	/* Others than the first may pass elements on as they came. */
	while (n->n_in == 1 && n->desc->flags & OP_PASSES && n->desc->scope != OP_ELEMENT)
		n = n->in[0];
	if (!fields_may_run(n))
		return;
	if (op_open(n, &ctx, &chain, &e) == ST_OK && op_pull(chain, &r, &e) == ST_OK)
		for (uint32_t i = 0; i < r->n && i < FIELDS_ELEMENTS; i++)
			fields_of_element(out, &r->e[i]);
	op_close(&chain);
}

void
offer_fields(const char *text, size_t n, struct words *out)
{
	struct spec_src src = { .text = text, .len = n };
	struct plan *p;
	struct err e;

	if (plan_make(&src, &p, &e) != ST_OK)
		return;
	if (p->type->kind == TYPE_RECORD)
		for (size_t i = 0; i < p->type->n_fields; i++)
			fields_add(out, p->type->fields[i].name, strlen(p->type->fields[i].name));
	if (p->type->kind == TYPE_ANY || (p->type->kind == TYPE_RECORD && p->type->open))
		fields_run(p->top, (uint32_t)p->options.element_max, out);
	plan_free(&p);
}

void
offer_params(const char *text, struct words *out)
{
	static const char word[] = "param ";

	for (const char *s = text; (s = strstr(s, word)); s++) {
		bool begins = s == text || strchr("; \n", s[-1]);
		const char *name = s + sizeof word - 1 + strspn(s + sizeof word - 1, " ");
		size_t n = strcspn(name, " :=;\n");

		if (begins && n)
			fields_add(out, name, n);
	}
}
