/* SPDX-License-Identifier: MIT */
#include "op/remote/remote.h"

#include <string.h>

#include "base/mem.h"
#include "base/pool.h"
#include "op/program_row.h"
#include "value/mp.h"

const struct remote *
remote_of(const struct op_node *n)
{
	return n->params;
}

void
remote_address(struct op_node *n)
{
	struct remote *r = n->params;
	char *at = r->at;

	if (!at || strstr(at, "://"))
		return;
	r->at = mem_printf("%s://%s", strchr(at, '/') ? "ipc" : "tcp", at);
	mem_free(at);
}

static enum status
remote_start(struct op_inst *self, struct err *e)
{
	struct remote *r = self->state;
	struct op_remote what = { .node = self->node, .dataset = r->dataset, .pass = self->epoch,
		.same = self->ctx->repeatable, .seed = op_rng_key(self, PARAM_AUTO, false),
		.from = r->from.len ? &r->from : NULL };

	return self->ctx->service->open(self->ctx->service->arg, &what, &r->handle, e);
}

enum status
remote_open(struct op_inst *self, struct err *e)
{
	struct remote *r = self->state;

	r->handle = NULL;
	run_init(&r->records);
	r->from = (struct buf){ 0 };
	if (!self->ctx->service) {
		err_set(e, ST_UNAVAIL, "`%s` needs the service, and there is no connection to one",
			self->desc->name);
		err_help(e, "start dsvc-dispatch and dsvc-work, and name the dispatcher with -d");
		return ST_UNAVAIL;
	}
	self->elsewhere = false;
	/* Where a saved state may follow, it begins with the first element. */
	return self->ctx->repeatable ? ST_OK : remote_start(self, e);
}

/* Tells the row of a record, and gives its answers. */
static enum status
remote_answers(const struct op_programs *told, const struct elem *record, struct run *out, struct err *e)
{
	struct program_row row;
	const uint8_t *p, *end;
	uint32_t many;
	enum status st = program_row_get(record->p, record->len, &row, &p, &end, &many, e);

	if (st != ST_OK)
		return st;
	for (uint32_t i = 0; i < many; i++) {
		const uint8_t *next = mp_past(p);

		run_push(out, (struct elem){ .p = p, .block = record->block, .len = (uint32_t)(next - p) });
		p = next;
	}
	if (told && told->row)
		told->row(told->arg, &row, many > 0);
	return ST_OK;
}

static bool
remote_closed(const struct op_programs *told)
{
	return told && atomic_load_explicit(&told->closed, memory_order_relaxed) != PROGRAMS_OPEN;
}

static enum status
remote_next_logged(struct op_inst *self, struct run *out, struct err *e)
{
	struct remote *r = self->state;
	const struct op_programs *told = self->ctx->programs;
	enum status st = ST_OK;

	if (told && told->given)
		told->given(told->arg, self->node);
	while (st == ST_OK && !out->n) {
		run_reset(&r->records);
		st = remote_closed(told) ? ST_END : self->ctx->service->next(r->handle, &r->records, e);
		for (uint32_t i = 0; st == ST_OK && i < r->records.n && !remote_closed(told); i++)
			st = remote_answers(told, &r->records.e[i], out, e);
	}
	return st;
}

enum status
remote_next(struct op_inst *self, struct run *out, struct err *e)
{
	struct remote *r = self->state;
	enum status st = ST_OK;

	pool_wait_begin();
	if (!r->handle)
		st = remote_start(self, e);
	if (st == ST_OK)
		st = self->node->logged.is ? remote_next_logged(self, out, e) : self->ctx->service->next(r->handle, out, e);
	pool_wait_end();
	if (st == ST_END)
		self->elsewhere = self->ctx->service->had_any(r->handle);
	return st;
}

void
remote_close(struct op_inst *self)
{
	struct remote *r = self->state;

	if (r->handle)
		self->ctx->service->close(r->handle);
	r->handle = NULL;
	run_clear(&r->records);
	buf_clear(&r->from);
}

void
remote_save(struct op_inst *self, struct buf *out)
{
	struct remote *r = self->state;
	size_t before = out->len;

	if (r->handle)
		self->ctx->service->save(r->handle, out);
	if (out->len == before) /* nothing has come yet */
		buf_put(out, r->from.data, r->from.len);
}

enum status
remote_restore(struct op_inst *self, const uint8_t *p, size_t n, struct err *e)
{
	struct remote *r = self->state;

	(void)e;
	buf_reset(&r->from);
	buf_put(&r->from, p, n);
	return ST_OK;
}
