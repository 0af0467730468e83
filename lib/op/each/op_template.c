/* SPDX-License-Identifier: MIT
 * template: makes a text of each element, out of literal text and values of expressions.
 */
#include <string.h>

#include "base/mem.h"
#include "op/each/template_text.h"
#include "op/kit/expr_value.h"
#include "value/mp.h"

struct template {
	char *text;
	struct op_expr list;        /* the expressions of all places */
	struct template_text read;
	struct expr_value value;
	struct buf out;
};

static const struct param template_params[] = {
	{ "text", PARAM_WORD, offsetof(struct template, text),
	  .help = "text with places {EXPRESSION} and {EXPRESSION:%FORMAT}; {{ and }} are braces" },
	{ "list", PARAM_EXPR, offsetof(struct template, list), .flags = PARAM_KEY_ONLY | PARAM_OPTIONAL | PARAM_HIDDEN,
	  .help = "the list of the expressions in the text" },
	{ 0 }
};

static enum status
template_typing(struct op_node *n, struct op_typing *t, const struct type **type, struct err *e)
{
	struct template *s = n->params;
	struct template_text read = { 0 };
	enum status st = template_text_read(s->text, &read, e);

	*type = type_scalar(TYPE_TEXT);
	expr_ast_free(&s->list.ast);
	if (st == ST_OK) {
		struct expr_src src = { .file = TEMPLATE_NAME, .text = (char *)read.list.data, .len = read.list.len };

		s->list.ast = expr_parse(&src, e);
		st = s->list.ast ? ST_OK : e->kind;
	}
	if (st == ST_OK) {
		struct op_typing own = *t;

		/* Places in the list are those in the template. */
		own.file = TEMPLATE_NAME;
		own.text = s->text;
		own.text_len = strlen(s->text);
		st = op_compile(&own, &s->list, n->in[0]->type, NULL, e);
	}
	template_text_clear(&read);
	return st;
}

static int64_t
template_cardinality(const struct op_node *n, const int64_t *in)
{
	return typed_one_each(n) ? in[0] : -1;
}

static enum status
template_open(struct op_inst *self, struct err *e)
{
	struct template *s = self->state;

	expr_value_open(self, &s->value, &s->list);
	return template_text_read(s->text, &s->read, e);
}

/* Makes the text of a list of values. NULL, or what is wrong with one of them. */
static const char *
template_fill(struct template *s, const uint8_t *p, const uint8_t *end, const struct json_rules *rules)
{
	const uint8_t *literal = s->read.literal.data, *next;
	struct mp m;

	buf_reset(&s->out);
	p = mp_head(p, end, &m);
	for (size_t k = 0; k < s->read.n; k++, p = next) {
		const struct template_place *place = &s->read.v[k];

		if (place->len)
			buf_put(&s->out, literal + place->at, place->len);
		next = mp_skip(p, end);
		const char *why = template_text_put(place, p, (size_t)(next - p), rules, &s->out);
		if (why)
			return why;
	}
	if (s->read.literal.len > s->read.rest)
		buf_put(&s->out, literal + s->read.rest, s->read.literal.len - s->read.rest);
	return s->out.len > UINT32_MAX - MP_HEAD_MAX ? "the text would be larger than 4 GiB" : NULL;
}

static enum status
template_feed(struct op_inst *self, const struct run *in, struct run *out, struct err *e)
{
	struct template *s = self->state;
	const uint8_t *p;
	size_t len;

	for (; self->at < in->n; self->at++) {
		if (run_full(out))
			return ST_AGAIN;
		enum status st = expr_value_get(self, &s->value, in, self->at, out, &p, &len, e);
		if (st == ST_SKIP)
			continue;
		if (st != ST_OK)
			return st;
		const char *why = template_fill(s, p, p + len, &self->ctx->json);
		if (why) {
			st = expr_run_wrong(self, in, self->at, out, e, "%s", why);
			if (st != ST_OK)
				return st;
			continue;
		}
		uint8_t *w = mp_put_text_head(run_room(out, s->out.len + MP_HEAD_MAX), (uint32_t)s->out.len);
		if (s->out.len)
			memcpy(w, s->out.data, s->out.len);
		run_done(out, w + s->out.len, in->e[self->at].pos);
	}
	return ST_OK;
}

static void
template_close(struct op_inst *self)
{
	struct template *s = self->state;

	template_text_clear(&s->read);
	buf_clear(&s->out);
	expr_value_close(&s->value);
}

static const struct state_row template_state[] = {
	{ &expr_value_state, offsetof(struct template, value), 0 },
	{ 0 }
};

const struct op_desc op_template = {
	.name = "template",
	.brief = "makes a text of each element, from a template",
	.doc = "A value is written as a text, or as printf would with a format after a colon: %d, %x, %X and %o for "
	       "ints, %e, %f and %g for numbers, %s for any value; with the flags - + 0, a width and a precision. "
	       "Each text is a line of the output; -t raw writes nothing between them, and \\t, \\n and the like "
	       "are written as in other texts.",
	.kind = OP_TRANSFORM,
	.scope = OP_ELEMENT,
	.flags = OP_BY_EXPR | OP_EACH,
	.params = template_params,
	.state_size = sizeof(struct template),
	.typing = template_typing,
	.cardinality = template_cardinality,
	.open = template_open,
	.feed = template_feed,
	.close = template_close,
	.state_rows = template_state,
	.example = "elements [{id: 7, ms: 12.5}, {id: 8, ms: 3}] | template \"{.id}: {.ms:%6.2f} ms\"",
	.output = "7:  12.50 ms\n8:   3.00 ms\n",
};
