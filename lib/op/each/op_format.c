/* SPDX-License-Identifier: MIT
 * format: makes texts of values.
 */
#include <string.h>

#include "op/op.h"
#include "value/format/textform.h"
#include "value/format/format.h"

enum format_form { FORM_JSON, FORM_CSV, FORM_TSV, FORM_KV, FORM_URL, FORM_TEXT };

struct format_op {
	int form;
	struct buf text;
};

static const struct param format_params[] = {
	{ "format", PARAM_CHOICE, offsetof(struct format_op, form),
	  .choices = "json|csv|tsv|kv|url|text",
	  .help = "the output format: kv is a=1 b=\"two words\", url is a=1&b=two%20words" },
	{ 0 }
};

static enum status
format_typing(struct op_node *n, struct op_typing *t, const struct type **type, struct err *e)
{
	(void)n, (void)t, (void)e;
	*type = type_scalar(TYPE_TEXT);
	return ST_OK;
}

static int64_t
format_cardinality(const struct op_node *n, const int64_t *in)
{
	return n->on_error == OP_SKIP ? -1 : in[0];
}

static enum status
format_one(struct format_op *s, const struct json_rules *rules, const struct elem *x, struct run *out, struct err *e)
{
	enum status st = ST_OK;

	buf_reset(&s->text);
	switch ((enum format_form)s->form) {
	case FORM_JSON: st = json_write(x->p, x->len, rules, &s->text, e); break;
	case FORM_TEXT: st = text_write(x->p, x->len, rules, &s->text, e); break;
	case FORM_CSV: st = textform_put_csv(x->p, x->len, ',', rules, &s->text, e); break;
	case FORM_TSV: st = textform_put_csv(x->p, x->len, '\t', rules, &s->text, e); break;
	case FORM_KV: st = textform_put_kv(x->p, x->len, rules, &s->text, e); break;
	case FORM_URL: st = textform_put_url(x->p, x->len, rules, &s->text, e); break;
	}
	if (st == ST_OK && s->text.len > UINT32_MAX - MP_HEAD_MAX)
		st = err_set(e, ST_DATA, "the text would be larger than 4 GiB");
	if (st != ST_OK)
		return st;
	uint8_t *p = mp_put_text_head(run_room(out, s->text.len + MP_HEAD_MAX), (uint32_t)s->text.len);
	if (s->text.len)
		memcpy(p, s->text.data, s->text.len);
	run_done(out, p + s->text.len, x->pos);
	return ST_OK;
}

static enum status
format_feed(struct op_inst *self, const struct run *in, struct run *out, struct err *e)
{
	struct format_op *s = self->state;

	for (uint32_t i = self->at; i < in->n; i++) {
		if (run_full(out)) {
			self->at = i;
			return ST_AGAIN;
		}
		enum status st = format_one(s, &self->ctx->json, &in->e[i], out, e);

		if (st == ST_OK)
			continue;
		if (op_fault_later(self, out, e)) {
			self->at = i;
			return ST_AGAIN;
		}
		do {
			st = op_fault(self, in, i, out, e);
		} while (st == ST_AGAIN && format_one(s, &self->ctx->json, &in->e[i], out, e) != ST_OK);
		if (st != ST_OK && st != ST_AGAIN)
			return st;
	}
	return ST_OK;
}

static void
format_close(struct op_inst *self)
{
	struct format_op *s = self->state;

	buf_clear(&s->text);
}

const struct op_desc op_format = {
	.name = "format",
	.brief = "turns values into texts: json, csv, tsv, kv, url, text",
	.doc = "csv and tsv take records and lists and make one row of each, without a header; kv "
	       "and url take records; json and text take any value.",
	.kind = OP_TRANSFORM,
	.scope = OP_ELEMENT,
	.flags = OP_EACH,
	.params = format_params,
	.state_size = sizeof(struct format_op),
	.typing = format_typing,
	.cardinality = format_cardinality,
	.feed = format_feed,
	.close = format_close,
	.example = "elements [{id: 7, name: \"Lee, Ann\"}] | format csv",
	.output = "7,\"Lee, Ann\"\n",
};
