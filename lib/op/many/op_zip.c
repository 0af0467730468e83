/* SPDX-License-Identifier: MIT
 * zip: takes one element of each input at a time, and makes a list of them, or
 * a record when the inputs have names.
 */
#include <string.h>

#include "base/mem.h"
#include "op/op.h"
#include "op/pull.h"
#include "value/mp.h"

enum zip_short { ZIP_STOP, ZIP_PAD, ZIP_ERROR };

struct zip {
	struct op_pipes pipes;
	int ends;             /* enum zip_short: what to do when inputs differ in length */
	struct buf *keys;     /* encoded names; NULL: rows are lists */
	struct elem *row;     /* holds one element of each input */
};

static const struct param zip_params[] = {
	{ "pipelines", PARAM_PIPES, offsetof(struct zip, pipes), .flags = PARAM_REST,
	  .help = "the pipelines: (range 3) becomes an item of a list, id=(range 3) a field "
		  "of a record" },
	{ "short", PARAM_CHOICE, offsetof(struct zip, ends), "stop", .flags = PARAM_KEY_ONLY,
	  .choices = "stop|pad|error",
	  .help = "what to do when one pipeline ends before the others; pad gives null" },
	{ 0 }
};

static enum status
zip_typing(struct op_node *n, struct op_typing *t, const struct type **type, struct err *e)
{
	struct zip *z = n->params;
	struct type_field *fields = mem_array(n->n_in + 1, sizeof *fields);
	const struct type *item = n->n_in ? n->in[0]->type : type_scalar(TYPE_ANY);

	(void)e;
	for (size_t k = 0; k < n->n_in; k++) {
		const struct type *x = n->in[k]->type;

		if (z->ends == ZIP_PAD)
			x = type_nullable(t->arena, x);
		fields[k] = (struct type_field){ z->pipes.names ? z->pipes.names[k] : NULL, x };
		item = k ? type_join(t->arena, item, x) : x;
	}
	*type = z->pipes.names ? type_record(t->arena, fields, n->n_in, false)
			       : type_list(t->arena, item);
	mem_free(fields);
	return ST_OK;
}

static enum status
zip_check(const struct op_node *n, struct err *e)
{
	const struct zip *z = n->params;

	if (z->pipes.n)
		return ST_OK;
	err_set(e, ST_DATA, "zip needs pipelines to read from");
	err_help(e, "zip (range 3) (lines names.txt)");
	return ST_DATA;
}

static int64_t
zip_cardinality(const struct op_node *n, const int64_t *in)
{
	const struct zip *z = n->params;
	int64_t least = INT64_MAX, most = 0;

	for (size_t k = 0; k < n->n_in && z->ends == ZIP_PAD; k++)
		if (in[k] == INT64_MAX)
			return INT64_MAX;
	for (size_t k = 0; k < n->n_in; k++) {
		if (in[k] == -1)
			return -1;
		least = in[k] < least ? in[k] : least;
		most = in[k] > most ? in[k] : most;
	}
	if (z->ends == ZIP_ERROR && least != most)
		return -1; /* fails where the shortest input ends */
	return z->ends == ZIP_PAD ? most : least;
}

static enum status
zip_open(struct op_inst *self, struct err *e)
{
	struct zip *z = self->state;

	(void)e;
	z->row = mem_array(self->n_in + 1, sizeof *z->row);
	if (!z->pipes.names)
		return ST_OK;
	z->keys = mem_array(self->n_in + 1, sizeof *z->keys);
	for (size_t k = 0; k < self->n_in; k++) {
		size_t n = strlen(z->pipes.names[k]);
		uint8_t *p = buf_room(&z->keys[k], n + MP_HEAD_MAX);

		z->keys[k].len = (size_t)(mp_put_text(p, z->pipes.names[k], (uint32_t)n) - p);
	}
	return ST_OK;
}

/* Makes sure that each input has an element or has ended. Tells how many have ended, and how
 * many rows can be made at once. Takes nothing yet, so that no input loses an element when
 * another has none. */
static enum status
zip_fill(struct op_inst *self, const struct run *out, size_t *ended, uint32_t *rows, struct err *e)
{
	*ended = 0;
	*rows = RUN_USUAL;
	for (size_t k = 0; k < self->n_in; k++) {
		struct op_inst *in = self->in[k];
		uint32_t n;

		if (out->n && !op_ready(in))
			return ST_AGAIN;
		enum status st = op_prime(in, e);
		if (st == ST_END) {
			++*ended;
			continue;
		}
		if (st != ST_OK)
			return st;
		op_untaken(in, &n);
		*rows = n < *rows ? n : *rows;
	}
	return ST_OK;
}

static void
zip_row(struct op_inst *self, struct run *out)
{
	struct zip *z = self->state;
	uint32_t n = (uint32_t)self->n_in;
	size_t size = MP_HEAD_MAX;

	for (uint32_t k = 0; k < n; k++) {
		struct op_inst *in = self->in[k];
		static const uint8_t nil = 0xc0;
		uint32_t left;
		const struct elem *x = op_untaken(in, &left);

		z->row[k] = left ? *x : (struct elem){ .p = &nil, .len = 1 };
		in->taken += left > 0;
		size += z->row[k].len + (z->keys ? z->keys[k].len : 0);
	}
	uint8_t *p = run_room(out, size);
	p = z->keys ? mp_put_record_head(p, n) : mp_put_list_head(p, n);
	for (uint32_t k = 0; k < n; k++) {
		if (z->keys) {
			memcpy(p, z->keys[k].data, z->keys[k].len);
			p += z->keys[k].len;
		}
		memcpy(p, z->row[k].p, z->row[k].len);
		p += z->row[k].len;
	}
	run_done(out, p, z->row[0].pos);
}

static enum status
zip_next(struct op_inst *self, struct run *out, struct err *e)
{
	struct zip *z = self->state;

	while (out->n < RUN_USUAL && (!out->arena || out->arena->len < RUN_BYTES)) {
		uint32_t rows;
		size_t ended;
		enum status st = zip_fill(self, out, &ended, &rows, e);

		if (st == ST_AGAIN && out->n)
			return ST_OK;
		if (st != ST_OK)
			return st;
		if (ended == self->n_in || (ended && z->ends == ZIP_STOP))
			return ST_END;
		if (ended && z->ends == ZIP_ERROR) {
			err_set(e, ST_DATA, "%zu of %zu inputs of zip have ended before the others",
				ended, self->n_in);
			err_help(e, "short=stop ends there, short=pad gives null");
			st = op_source_fault(self, NULL, 0, e);
			return st == ST_OK ? ST_END : st;
		}
		for (uint32_t k = 0; k < rows; k++)
			zip_row(self, out);
	}
	return ST_OK;
}

static void
zip_close(struct op_inst *self)
{
	struct zip *z = self->state;

	for (size_t k = 0; z->keys && k < self->n_in; k++)
		buf_clear(&z->keys[k]);
	mem_free(z->keys);
	mem_free(z->row);
}

/* Saves nothing: the places of the inputs, and their elements not yet taken, are part of the
 * inputs' states. */
static void
zip_save(struct op_inst *self, struct buf *out)
{
	(void)self, (void)out;
}

static enum status
zip_restore(struct op_inst *self, const uint8_t *p, size_t n, struct err *e)
{
	(void)self, (void)p, (void)n, (void)e;
	return ST_OK;
}

const struct op_desc op_zip = {
	.name = "zip",
	.brief = "combines one element of each of several pipelines",
	.doc = "zip (..) (..) gives lists, zip a=(..) b=(..) gives records.",
	.kind = OP_COMBINE,
	.scope = OP_GLOBAL,
	.flags = OP_ALONGSIDE,
	.params = zip_params,
	.state_size = sizeof(struct zip),
	.typing = zip_typing,
	.check = zip_check,
	.cardinality = zip_cardinality,
	.open = zip_open,
	.next = zip_next,
	.close = zip_close,
	.save = zip_save,
	.restore = zip_restore,
	.example = "zip id=(counter 1) name=(elements [\"a\", \"b\"])",
	.output = "{\"id\":1,\"name\":\"a\"}\n{\"id\":2,\"name\":\"b\"}\n",
};
