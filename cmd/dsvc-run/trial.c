/* SPDX-License-Identifier: MIT */
#include "trial.h"

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
	TRIAL_BYTES = 8192, /* an element larger than this is told by its size */
	TRIAL_CHARS = 160,  /* of an element's text */
	TRIAL_ROW = 56,     /* elements whose texts take more stand on lines of their own */
	TRIAL_STAGE = 32, TRIAL_TYPE = 24
};

struct trial_tap {
	struct op_node *node;  /* of the tap, in the plan while it runs */
	struct op_node *stage; /* what it stands behind */
	struct buf text;       /* of the elements, a NUL behind each */
	int64_t seen, most;
};

struct trial_state {
	struct trial_tap *tap;
};

/* At most `chars` characters of s. */
static void
trial_cut(const char *s, size_t chars, struct buf *out)
{
	for (; *s && chars; chars--)
		do
			buf_byte(out, (uint8_t)*s++);
		while (((unsigned char)*s & 0xc0) == 0x80);
	if (*s)
		buf_str(out, "…");
}

static void
trial_keep(struct trial_tap *t, const struct elem *x)
{
	struct buf text = { 0 };

	if (x->len > TRIAL_BYTES) {
		buf_printf(&t->text, "(%" PRIu32 " bytes)", x->len);
	} else {
		json_print(x->p, x->len, &text);
		trial_cut(text.data ? (char *)text.data : "", TRIAL_CHARS, &t->text);
		buf_clear(&text);
	}
	buf_byte(&t->text, '\0');
}

static enum status
trial_feed(struct op_inst *self, const struct run *in, struct run *out, struct err *e)
{
	struct trial_tap *t = ((struct trial_state *)self->state)->tap;

	(void)out, (void)e;
	for (uint32_t i = self->at; i < in->n && t->seen + (i - self->at) < t->most; i++)
		trial_keep(t, &in->e[i]);
	t->seen += in->n - self->at;
	self->give = self->in[0]->lent;
	return ST_OK;
}

static const struct op_desc trial_desc = {
	.name = "tap",
	.kind = OP_TRANSFORM,
	.scope = OP_ELEMENT,
	.flags = OP_PASSES | OP_EACH,
	.state_size = sizeof(struct trial_state),
	.feed = trial_feed,
};

/* A tap behind the stage. Its text is empty: the marks by which operators know
 * their cached input again are made of texts, and a tap changes no element. */
static struct op_node *
trial_node(struct trial_tap *t)
{
	struct op_node *n = mem_zalloc(sizeof *n);

	n->desc = &trial_desc;
	n->params = mem_dup(&(struct trial_state){ t }, sizeof(struct trial_state));
	n->in = mem_array(1, sizeof *n->in);
	n->in[0] = t->stage;
	n->n_in = 1;
	n->type = t->stage->type;
	n->place = t->stage->place;
	n->text = mem_strdup("");
	return n;
}

struct trial {
	struct trial_tap *taps; /* the last stage first */
	size_t n;
};

static void
trial_join(struct trial *t, struct plan *p, int64_t most)
{
	struct op_node **at = &p->top;
	size_t n = 0;

	for (struct op_node *m = p->top; m; m = m->desc->kind == OP_TRANSFORM && m->n_in ? m->in[0] : NULL)
		n++;
	t->taps = mem_array(n, sizeof *t->taps);
	t->n = n;
	for (size_t i = 0; i < n; i++) {
		struct trial_tap *tap = &t->taps[i];
		tap->stage = *at;
		tap->most = most;
		tap->node = *at = trial_node(tap);
		at = tap->stage->in;
	}
}

static void
trial_leave(struct trial *t, struct plan *p)
{
	struct op_node **at = &p->top;

	for (size_t i = 0; i < t->n; i++) {
		struct trial_tap *tap = &t->taps[i];
		*at = tap->stage;
		tap->node->n_in = 0;
		op_node_free(&tap->node);
		buf_clear(&tap->text);
		at = tap->stage->in;
	}
	mem_free(t->taps);
}

static size_t
trial_width(const char *s)
{
	size_t n = 0;

	for (; *s; s++)
		n += ((unsigned char)*s & 0xc0) != 0x80;
	return n;
}

static void
trial_column(struct buf *out, const char *s, size_t width)
{
	buf_str(out, s);
	for (size_t n = trial_width(s); n < width; n++)
		buf_byte(out, ' ');
	buf_str(out, "  ");
}

static void
trial_row(const struct trial_tap *t, size_t stage_width, size_t type_width, struct buf *out)
{
	const char *s = (char *)t->text.data, *end = s + t->text.len;
	struct buf name = { 0 }, type = { 0 };
	size_t width = 0;

	for (const char *c = s; c < end; c += strlen(c) + 1)
		width += trial_width(c) + 3;
	type_print(t->stage->type, &type);
	trial_cut(t->stage->text, TRIAL_STAGE - 1, &name);
	trial_column(out, (char *)name.data, stage_width);
	if (width <= TRIAL_ROW)
		trial_column(out, (char *)type.data, type_width);
	else
		buf_printf(out, "%s\n", (char *)type.data);
	for (const char *c = s; c < end; c += strlen(c) + 1)
		buf_printf(out, width > TRIAL_ROW ? "    %s\n" : c > s ? "   %s" : "%s", c);
	if (t->seen > t->most)
		buf_str(out, width > TRIAL_ROW ? "    …\n" : "   …");
	else if (!t->seen)
		buf_str(out, "nothing");
	if (width <= TRIAL_ROW)
		buf_byte(out, '\n');
	buf_clear(&name);
	buf_clear(&type);
}

static void
trial_table(const struct trial *t, struct buf *out)
{
	size_t stage = 0, width = 0;

	for (size_t i = 0; i < t->n; i++) {
		struct buf type = { 0 };
		size_t n = trial_width(t->taps[i].stage->text);
		stage = n > stage ? n : stage;
		type_print(t->taps[i].stage->type, &type);
		n = trial_width((char *)type.data);
		width = n > width && n <= TRIAL_TYPE ? n : width;
		buf_clear(&type);
	}
	for (size_t i = t->n; i-- > 0;)
		trial_row(&t->taps[i], stage < TRIAL_STAGE ? stage : TRIAL_STAGE, width, out);
}

enum status
trial_run(struct plan *p, const struct trial_conf *conf, struct buf *out, struct err *e)
{
	int64_t seed = conf->seed != PARAM_AUTO ? conf->seed : p->options.seed;
	struct op_ctx ctx = {
		.seed = seed != PARAM_AUTO ? (uint64_t)seed : rng_seed_fresh(),
		.element_max = (uint32_t)p->options.element_max,
		.stop = stop_flag(),
		.service = conf->service,
	};
	struct trial t = { 0 };
	struct op_inst *chain = NULL;
	struct run *r;
	int64_t most = conf->count < TRIAL_MAX ? conf->count : TRIAL_MAX;

	trial_join(&t, p, most);
	stop_install();
	enum status st = op_open(p->top, &ctx, &chain, e);
	while (!st && t.taps[0].seen < most)
		st = op_pull(chain, &r, e);
	op_close(&chain);
	trial_table(&t, out);
	trial_leave(&t, p);
	return st == ST_END || st == ST_AGAIN ? ST_OK : st;
}
