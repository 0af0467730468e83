/* SPDX-License-Identifier: MIT */
#include "op/bind.h"

#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "op/chain.h"
#include "value/mp.h"

void
bind_clear(struct op_inst *self)
{
	words_clear(&chain_of(self)->bound);
	mem_free(chain_of(self)->bound_v);
	chain_of(self)->bound_v = NULL;
}

static char *
bind_text(struct op_inst *self, const uint8_t *p, size_t n)
{
	words_add(&chain_of(self)->bound, (const char *)p, n);
	return chain_of(self)->bound.v[chain_of(self)->bound.n - 1];
}

static enum status
bind_wrong(const struct param *row, const char *what, struct err *e)
{
	return err_set(e, ST_DATA, "%s of the inner pipeline cannot be %s", row->name, what);
}

static enum status
bind_word(struct op_inst *self, const struct param *row, const struct mp *v, char **out,
	  struct err *e)
{
	if (v->kind != MP_TEXT && v->kind != MP_BYTES)
		return bind_wrong(row, "what is not text", e);
	if (memchr(v->p, 0, v->n))
		return bind_wrong(row, "text with a NUL in it", e);
	/* A value out of the data names a file literally, so a leading `-` is not standard
	 * input. */
	if (row->flags & PARAM_PATH && v->n == 1 && *v->p == '-')
		*out = bind_text(self, (const uint8_t *)"./-", 3);
	else
		*out = bind_text(self, v->p, v->n);
	return ST_OK;
}

/* Binds a parameter of words to the value: one text, or a list of texts. */
static enum status
bind_words(struct op_inst *self, const struct param *row, const struct mp *v,
	   const uint8_t *end, struct words *out, struct err *e)
{
	uint32_t n = v->kind == MP_LIST ? v->n : 1;
	const uint8_t *p = v->p;
	struct mp item = *v;
	enum status st = ST_OK;

	mem_free(chain_of(self)->bound_v);
	chain_of(self)->bound_v = mem_array((size_t)n + 1, sizeof(char *));
	for (uint32_t k = 0; st == ST_OK && k < n; k++) {
		if (v->kind == MP_LIST)
			p = mp_head(p, end, &item);
		st = bind_word(self, row, &item, &chain_of(self)->bound_v[k], e);
	}
	*out = (struct words){ chain_of(self)->bound_v, n };
	return st;
}

/* Sets a number, a size or a switch from the value's text, so that its limits are checked. */
static enum status
bind_scalar(const struct param *row, void *state, const struct mp *v, struct err *e)
{
	char text[64];
	int n;
	enum status st;

	switch (v->kind) {
	case MP_TEXT:
		st = param_set(row, state, (const char *)v->p, v->n, e);
		return st == ST_OK ? ST_OK : (e->kind = ST_DATA, err_wrap(e, "%s", row->name));
	case MP_INT:
		n = v->unsigned_big ? snprintf(text, sizeof text, "%llu", (unsigned long long)v->u)
				    : snprintf(text, sizeof text, "%lld", (long long)v->i);
		break;
	case MP_FLOAT:
		n = snprintf(text, sizeof text, "%.17g", v->f);
		break;
	case MP_BOOL:
		n = snprintf(text, sizeof text, "%s", v->b ? "true" : "false");
		break;
	default:
		return bind_wrong(row, "a value of this kind", e);
	}
	st = param_set(row, state, text, (size_t)n, e);
	if (st == ST_OK)
		return ST_OK;
	e->kind = ST_DATA;
	return err_wrap(e, "%s", row->name);
}

static enum status
bind_set(struct op_inst *self, const struct param *row, const uint8_t *p, size_t len,
	 struct err *e)
{
	void *field = (char *)self->state + row->offset;
	const uint8_t *end = p + len;
	struct mp v;

	mp_head(p, end, &v);
	switch (row->kind) {
	case PARAM_WORD:
		return bind_word(self, row, &v, field, e);
	case PARAM_WORDS:
		return bind_words(self, row, &v, end, field, e);
	case PARAM_VALUE:
		*(struct buf *)field = (struct buf){ (uint8_t *)bind_text(self, p, len), len, len };
		return ST_OK;
	default:
		return bind_scalar(row, self->state, &v, e);
	}
}

enum status
bind_apply(struct op_inst *self, struct err *e)
{
	enum status st = ST_OK;

	for (size_t k = 0; st == ST_OK && k < self->node->n_binds; k++) {
		const struct op_bind *b = &self->node->binds[k];
		/* Random numbers here depend on this outer element, as those of its pipeline do. */
		struct expr_vm *vm = expr_vm_new(b->value.code, op_rng_key(self, PARAM_AUTO, true));
		const uint8_t *p;
		size_t len;

		st = expr_value(vm, self->outer, &p, &len, e);
		if (st == ST_OK)
			st = bind_set(self, b->row, p, len, e);
		else if (st == ST_SKIP)
			st = err_set(e, ST_DATA, "%s of the inner pipeline is skip()", b->row->name);
		expr_vm_free(&vm);
	}
	return st;
}
