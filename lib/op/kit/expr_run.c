/* SPDX-License-Identifier: MIT */
#include "op/kit/expr_run.h"

#include <stdio.h>
#include <string.h>

#include "op/state.h"

void
expr_run_open(struct op_inst *self, struct expr_run *b, const struct op_expr *ex)
{
	b->vm = op_vm_new(self, ex);
	b->seen = 0;
}

void
expr_run_close(struct expr_run *b)
{
	expr_vm_free(&b->vm);
}

enum status
expr_run_all(struct op_inst *self, struct expr_run *b, expr_run_fn *fn, const struct run *in,
	     struct run *out, struct err *e)
{
	uint32_t from = self->at, at = from;
	enum status st;

	while ((st = fn(b->vm, in, &at, out, e)) != ST_OK) {
		if (st == ST_AGAIN || (st != ST_SKIP && op_fault_later(self, out, e))) {
			b->seen += at - from;
			self->at = at;
			expr_vm_set_index(b->vm, (int64_t)b->seen);
			return ST_AGAIN;
		}
		if (st != ST_SKIP)
			st = op_fault(self, in, at, out, e);
		if (st != ST_OK && st != ST_SKIP && st != ST_AGAIN)
			return st;
		if (st != ST_AGAIN)
			at++;
		expr_vm_set_index(b->vm, (int64_t)(b->seen + (at - from)));
	}
	b->seen += in->n - from;
	return ST_OK;
}

enum status
expr_run_one(struct op_inst *self, struct expr_run *b, const struct run *in, uint32_t i,
	     struct run *out, const uint8_t **p, size_t *len, struct err *e)
{
	enum status st;

	for (;;) {
		st = expr_value(b->vm, &in->e[i], p, len, e);
		if (st == ST_OK || st == ST_SKIP)
			break;
		st = op_fault(self, in, i, out, e);
		expr_vm_set_index(b->vm, (int64_t)b->seen + (st == ST_OK));
		if (st == ST_OK)
			st = ST_SKIP;
		if (st != ST_AGAIN)
			break;
	}
	b->seen++;
	return st;
}

enum status
expr_run_wrong(struct op_inst *self, const struct run *in, uint32_t i, struct run *out,
	       struct err *e, const char *fmt, ...)
{
	char text[ERR_TEXT];
	enum status st;
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof text, fmt, ap);
	va_end(ap);
	do {
		err_set(e, ST_DATA, "%s", text);
		st = op_fault(self, in, i, out, e);
	} while (st == ST_AGAIN);
	return st;
}

void
expr_run_save(const struct expr_run *b, struct buf *out)
{
	state_put_u64(out, b->seen);
}

static void
expr_run_state_save(const void *field, struct buf *out)
{
	expr_run_save(field, out);
}

static void
expr_run_state_restore(void *field, struct state_in *in, uint64_t max)
{
	struct expr_run *b = field;

	b->seen = state_get_u64(in, max < INT64_MAX ? max : INT64_MAX);
	expr_vm_set_index(b->vm, (int64_t)b->seen);
}

const struct state_kind expr_run_state = { expr_run_state_save, expr_run_state_restore };

enum status
expr_run_restore(struct op_inst *self, struct expr_run *b, const uint8_t *p, size_t n,
		 struct err *e)
{
	struct state_in in = state_begin(p, n);

	expr_run_state_restore(b, &in, UINT64_MAX);
	return state_finish(self, &in, e);
}
