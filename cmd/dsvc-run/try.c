/* SPDX-License-Identifier: MIT */
#include "try.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/rng.h"
#include "cli/stop.h"
#include "value/format/format.h"
#include "op/facts.h"
#include "op/pull.h"

enum {
	TRY_BYTES = 8192, /* an element larger than this is told by its size */
	TRY_CHARS = 160,  /* characters shown of an element */
	TRY_ROW = 56,     /* elements whose texts take more stand on lines of their own */
	TRY_STAGE = 32, TRY_TYPE = 24
};

struct try_tap {
	struct op_node *node;  /* node of the tap, part of the plan while it runs */
	struct op_node *stage; /* the stage that the tap follows */
	struct buf text;       /* texts of the elements, a NUL after each */
	int64_t seen, most;
};

struct try_state {
	struct try_tap *tap;
};

/* At most `chars` characters of s. */
static void
try_cut(const char *s, size_t chars, struct buf *out)
{
	for (; *s && chars; chars--)
		do
			buf_byte(out, (uint8_t)*s++);
		while (((unsigned char)*s & 0xc0) == 0x80);
	if (*s)
		buf_str(out, "…");
}

static void
try_keep(struct try_tap *t, const struct elem *x)
{
	struct buf text = { 0 };

	if (x->len > TRY_BYTES) {
		buf_printf(&t->text, "(%" PRIu32 " bytes)", x->len);
	} else {
		json_print(x->p, x->len, &text);
		try_cut(text.data ? (char *)text.data : "", TRY_CHARS, &t->text);
		buf_clear(&text);
	}
	buf_byte(&t->text, '\0');
}

static enum status
try_feed(struct op_inst *self, const struct run *in, struct run *out, struct err *e)
{
	struct try_tap *t = ((struct try_state *)self->state)->tap;

	(void)out, (void)e;
	for (uint32_t i = self->at; i < in->n && t->seen + (i - self->at) < t->most; i++)
		try_keep(t, &in->e[i]);
	t->seen += in->n - self->at;
	self->give = self->in[0]->lent;
	return ST_OK;
}

static const struct op_desc try_desc = {
	.name = "tap",
	.kind = OP_TRANSFORM,
	.scope = OP_ELEMENT,
	.flags = OP_PASSES | OP_EACH,
	.state_size = sizeof(struct try_state),
	.feed = try_feed,
};

/* A tap behind the stage. Its text is empty: the marks by which operators know
 * their cached input again are made of texts, and a tap changes no element. */
static struct op_node *
try_node(struct try_tap *t)
{
	struct op_node *n = mem_zalloc(sizeof *n);

	n->desc = &try_desc;
	n->params = mem_dup(&(struct try_state){ t }, sizeof(struct try_state));
	n->in = mem_array(1, sizeof *n->in);
	n->in[0] = t->stage;
	n->n_in = 1;
	n->type = t->stage->type;
	n->place = t->stage->place;
	n->text = mem_strdup("");
	return n;
}

struct try {
	struct try_tap *taps; /* the last stage first */
	size_t n;
};

static void
try_join(struct try *t, struct plan *p, int64_t most)
{
	struct op_node **at = &p->top;
	size_t n = 0;

	for (struct op_node *m = p->top; m; m = m->desc->kind == OP_TRANSFORM && m->n_in ? m->in[0] : NULL)
		n++;
	t->taps = mem_array(n, sizeof *t->taps);
	t->n = n;
	for (size_t i = 0; i < n; i++) {
		struct try_tap *tap = &t->taps[i];
		tap->stage = *at;
		tap->most = most;
		tap->node = *at = try_node(tap);
		at = tap->stage->in;
	}
}

static void
try_leave(struct try *t, struct plan *p)
{
	struct op_node **at = &p->top;

	for (size_t i = 0; i < t->n; i++) {
		struct try_tap *tap = &t->taps[i];
		*at = tap->stage;
		tap->node->n_in = 0;
		op_node_free(&tap->node);
		buf_clear(&tap->text);
		at = tap->stage->in;
	}
	mem_free(t->taps);
}

static size_t
try_width(const char *s)
{
	size_t n = 0;

	for (; *s; s++)
		n += ((unsigned char)*s & 0xc0) != 0x80;
	return n;
}

static void
try_column(struct buf *out, const char *s, size_t width)
{
	buf_str(out, s);
	for (size_t n = try_width(s); n < width; n++)
		buf_byte(out, ' ');
	buf_str(out, "  ");
}

static void
try_row(const struct try_tap *t, size_t stage_width, size_t type_width, struct buf *out)
{
	const char *s = (char *)t->text.data, *end = s + t->text.len;
	struct buf name = { 0 }, type = { 0 };
	size_t width = 0;

	for (const char *c = s; c < end; c += strlen(c) + 1)
		width += try_width(c) + 3;
	type_print(t->stage->type, &type);
	try_cut(t->stage->text, TRY_STAGE - 1, &name);
	try_column(out, (char *)name.data, stage_width);
	if (width <= TRY_ROW)
		try_column(out, (char *)type.data, type_width);
	else
		buf_printf(out, "%s\n", (char *)type.data);
	for (const char *c = s; c < end; c += strlen(c) + 1)
		buf_printf(out, width > TRY_ROW ? "    %s\n" : c > s ? "   %s" : "%s", c);
	if (t->seen > t->most)
		buf_str(out, width > TRY_ROW ? "    …\n" : "   …");
	else if (!t->seen)
		buf_str(out, "nothing");
	if (width <= TRY_ROW)
		buf_byte(out, '\n');
	buf_clear(&name);
	buf_clear(&type);
}

static void
try_table(const struct try *t, struct buf *out)
{
	size_t stage = 0, width = 0;

	for (size_t i = 0; i < t->n; i++) {
		struct buf type = { 0 };
		size_t n = try_width(t->taps[i].stage->text);
		stage = n > stage ? n : stage;
		type_print(t->taps[i].stage->type, &type);
		n = try_width((char *)type.data);
		width = n > width && n <= TRY_TYPE ? n : width;
		buf_clear(&type);
	}
	for (size_t i = t->n; i-- > 0;)
		try_row(&t->taps[i], stage < TRY_STAGE ? stage : TRY_STAGE, width, out);
}

enum status
try_run(struct plan *p, const struct try_conf *conf, struct buf *out, struct err *e)
{
	int64_t seed = conf->seed != PARAM_AUTO ? conf->seed : p->options.seed;
	struct op_ctx ctx = {
		.seed = seed != PARAM_AUTO ? (uint64_t)seed : rng_seed_fresh(),
		.json = p->options.json,
		.element_max = (uint32_t)p->options.element_max,
		.stop = stop_flag(),
		.service = conf->service,
	};
	struct try t = { 0 };
	struct op_inst *chain = NULL;
	struct run *r;
	int64_t most = conf->count < TRY_MAX ? conf->count : TRY_MAX;

	try_join(&t, p, most);
	stop_install();
	enum status st = op_open(p->top, &ctx, &chain, e);
	while (!st && t.taps[0].seen < most)
		st = op_pull(chain, &r, e);
	op_close(&chain);
	try_table(&t, out);
	try_leave(&t, p);
	return st == ST_END || st == ST_AGAIN ? ST_OK : st;
}
