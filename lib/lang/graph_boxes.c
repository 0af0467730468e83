/* SPDX-License-Identifier: MIT */
#include "lang/graph_boxes.h"

#include <string.h>

#include "base/mem.h"
#include "value/format/table.h"

struct graph_walk {
	struct graph_boxes *out;
	const struct op_service *service;
	struct err *e;
};

static enum status graph_add(struct graph_walk *w, const struct op_node *n, size_t column, bool remote,
			     size_t *at);

/* Gives a text of at most GRAPH_TEXT_MAX columns without control characters. */
static char *
graph_short(struct buf *text)
{
	struct buf plain = { 0 };

	buf_plain(&plain, text->data ? (char *)text->data : "", text->len, ' ');
	size_t n = plain.len ? table_cut(plain.data, plain.len, GRAPH_TEXT_MAX) : 0;
	if (n < plain.len) {
		plain.len = n > 3 ? table_cut(plain.data, plain.len, GRAPH_TEXT_MAX - 3) : 0;
		buf_str(&plain, "...");
	}
	buf_clear(text);
	return buf_take(&plain);
}

/* Adds what n takes its elements from, and sets *inputs to the numbers of those boxes, and *n_inputs. */
static enum status
graph_inputs(struct graph_walk *w, const struct op_node *n, size_t column, bool remote, size_t **inputs,
	     size_t *n_inputs)
{
	enum status st = ST_OK;
	size_t cap = 0;

	for (size_t i = 0; i < n->n_in && !st; i++) {
		*inputs = mem_grow(*inputs, &cap, *n_inputs + 1, sizeof **inputs);
		st = graph_add(w, n->in[i], column + *n_inputs * GRAPH_STEP, remote, &(*inputs)[*n_inputs]);
		++*n_inputs;
	}
	for (const struct param *r = n->desc->params; r && r->kind && !st; r++) {
		struct op_node *const *pipe = (const void *)((const char *)n->params + r->offset);

		if (r->kind != PARAM_PIPE || !*pipe)
			continue;
		*inputs = mem_grow(*inputs, &cap, *n_inputs + 1, sizeof **inputs);
		st = graph_add(w, *pipe, column + *n_inputs * GRAPH_STEP, remote, &(*inputs)[*n_inputs]);
		++*n_inputs;
	}
	if (!n->remote_spec || st)
		return st;
	/* The part before the border exists as text only. */
	struct spec_src src = { .text = n->remote_spec, .len = strlen(n->remote_spec), .file = "<workers>",
				.service = w->service, .flags = SPEC_NO_CHECK };
	struct plan *part;
	st = plan_make(&src, &part, w->e);
	if (st)
		return st;
	*inputs = mem_grow(*inputs, &cap, *n_inputs + 1, sizeof **inputs);
	st = graph_add(w, part->top, column + *n_inputs * GRAPH_STEP, true, &(*inputs)[*n_inputs]);
	++*n_inputs;
	plan_free(&part);
	return st;
}

static enum status
graph_add(struct graph_walk *w, const struct op_node *n, size_t column, bool remote, size_t *at)
{
	struct buf text = { 0 }, type = { 0 };
	size_t *inputs = NULL, n_inputs = 0;
	enum status st = graph_inputs(w, n, column, remote, &inputs, &n_inputs);
	struct graph_boxes *b = w->out;

	*at = b->n;
	for (size_t i = 0; i < n_inputs && !st; i++)
		b->v[inputs[i]].to = *at;
	mem_free(inputs);
	if (!st && b->n == GRAPH_BOXES)
		st = err_set(w->e, ST_DATA, "a picture has at most %d operators", GRAPH_BOXES);
	if (st)
		return st;
	canon_print_stage(n, 0, &text);
	type_print(n->type, &type);
	b->v = mem_grow(b->v, &b->cap, b->n + 1, sizeof *b->v);
	b->v[b->n++] = (struct graph_box){ .text = graph_short(&text), .type = graph_short(&type), .column = column,
					   .inputs = n_inputs, .to = *at, .remote = remote };
	return ST_OK;
}

enum status
graph_boxes_of(const struct plan *p, const struct op_service *service, struct graph_boxes *out, struct err *e)
{
	struct graph_walk w = { out, service, e };
	size_t last;

	return graph_add(&w, p->top, 0, false, &last);
}

void
graph_boxes_clear(struct graph_boxes *b)
{
	for (size_t i = 0; i < b->n; i++) {
		mem_free(b->v[i].text);
		mem_free(b->v[i].type);
	}
	mem_free(b->v);
	*b = (struct graph_boxes){ 0 };
}
