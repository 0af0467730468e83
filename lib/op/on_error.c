/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <string.h>

#include "base/str.h"
#include "op/chain.h"
#include "value/format/excerpt.h"
#include "value/mp.h"

/* Adds where the error came from: the operator in front of the text, the source file and line
 * as its place, unless it has a place already. */
static void
fault_complete(const struct op_inst *self, const char *file, uint64_t line, struct err *e)
{
	if (!e->line && (file || line)) {
		if (file && line && line <= UINT32_MAX) {
			snprintf(e->file, sizeof e->file, "%s", file);
			e->line = (unsigned)line;
			e->col = 0;
		} else if (file) {
			err_wrap(e, "%s", file);
		} else {
			err_wrap(e, "line %llu", (unsigned long long)line);
		}
	}
	op_blame(self->node, e);
}

static void
fault_tell(struct op_inst *self, const char *file, uint64_t line, const struct elem *elem,
	   bool fatal, const struct err *e)
{
	struct op_failure f = {
		.node = self->node, .e = e, .file = file, .line = line, .fatal = fatal
	};

	if (elem)
		f.elem = *elem;
	op_stat_add(&self->stats.failed, 1);
	if (self->ctx->failure)
		self->ctx->failure(self->ctx->arg, &f);
}

/* Whether the element is to be tried again: at most `retries` times in a row. */
static bool
fault_again(struct op_inst *self, const struct elem *elem)
{
	if (!self->node->retries)
		return false;
	if (chain_of(self)->retry_p != elem->p) {
		chain_of(self)->retry_p = elem->p;
		chain_of(self)->retried = 0;
	}
	return chain_of(self)->retried++ < self->node->retries;
}

void
op_fault_fresh(struct op_inst *self)
{
	chain_of(self)->retry_p = NULL;
}

void
op_fault_last(struct op_inst *self, const struct elem *x)
{
	chain_of(self)->retry_p = x->p;
	chain_of(self)->retried = self->node->retries;
}

bool
op_fault_later(const struct op_inst *self, const struct run *out, struct err *e)
{
	enum { FAULT_EXACT = 1000 };

	if (!out->n || !self->ctx->failure || self->stats.failed >= FAULT_EXACT)
		return false;
	err_clear(e);
	return true;
}

int
op_member(const uint8_t *p, size_t len, const char **name)
{
	enum { MEMBER_MOST = 200 };
	const uint8_t *value;
	size_t n;
	struct mp h;

	if (!mp_field(p, p + len, "__key__", 7, &value, &n) || !mp_head(value, value + n, &h) || h.kind != MP_TEXT)
		return 0;
	*name = (const char *)h.p;
	return h.n < MEMBER_MOST ? (int)h.n : MEMBER_MOST;
}

void
op_fault_name(const struct elem *x, uint64_t number, struct err *e)
{
	enum { NAME_SHOWN = 60 };
	struct buf value = { 0 };
	char which[32] = "";

	excerpt_print(x->p, x->len, &value);
	size_t n = value.len <= NAME_SHOWN ? value.len : str_utf8_valid(value.data, NAME_SHOWN);
	if (number)
		snprintf(which, sizeof which, "%llu ", (unsigned long long)number);
	err_wrap(e, "element %s(%.*s%s)", which, (int)n, (const char *)value.data, n < value.len ? "..." : "");
	buf_clear(&value);
}

/* The number of the element among those that the operator was given, from 1. 0: that is not known, as by split,
 * where each stream has a part of them, or where the operator has put together its own runs. The input itself is not
 * asked: a thread of the operator's may be at it. */
static uint64_t
fault_number(const struct op_inst *self, const struct run *in, uint32_t i)
{
	if (self->n_in != 1 || self->outer || self->ctx->next_split)
		return 0;
	if (self->number || chain_of(self)->fed != in)
		return self->number;
	return chain_of(self)->fed_before + i + 1;
}

enum status
op_fault(struct op_inst *self, const struct run *in, uint32_t i, struct run *out, struct err *e)
{
	enum op_policy policy = self->node->on_error;
	const struct elem *elem = &in->e[i];
	const char *file, *name;
	uint64_t line;
	int n;

	if (fault_again(self, elem)) {
		err_clear(e);
		return ST_AGAIN;
	}
	run_place(in, elem, &file, &line);
	if ((n = op_member(elem->p, elem->len, &name)))
		err_wrap(e, "member %.*s", n, name);
	bool fatal = policy != OP_SKIP && policy != OP_KEEP;
	if (fatal && !file && !line && !n && self->desc->kind != OP_SOURCE && !(self->desc->flags & OP_EXEC))
		op_fault_name(elem, fault_number(self, in, i), e);
	fault_complete(self, file, line, e);
	fault_tell(self, file, line, elem, fatal, e);
	if (fatal)
		return e->kind;
	if (policy == OP_KEEP)
		run_push(out, *elem);
	err_clear(e);
	return ST_OK;
}

enum status
op_source_fault(struct op_inst *self, const char *file, uint64_t line, struct err *e)
{
	bool fatal = self->node->on_error != OP_SKIP;

	if (self->node->on_error == OP_KEEP)
		err_help(e, "on_error=keep has no element to keep here; on_error=skip continues without it");
	fault_complete(self, file, line, e);
	fault_tell(self, file, line, NULL, fatal, e);
	if (fatal)
		return e->kind;
	err_clear(e);
	return ST_OK;
}
