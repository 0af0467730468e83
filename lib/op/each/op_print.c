/* SPDX-License-Identifier: MIT
 * print: shows elements on standard error as they pass, for finding mistakes.
 *
 * This is the one operator that writes to the terminal: it is asked for.
 */
#include <errno.h>
#include <unistd.h>

#include "op/op.h"
#include "base/transfer.h"
#include "op/state.h"
#include "value/format/format.h"

enum { PRINT_BUF = 64 * 1024 };

struct print {
	char *label;
	int64_t every;
	uint64_t seen;
	struct buf text;
};

static const struct param print_params[] = {
	{ "label", PARAM_WORD, offsetof(struct print, label), .flags = PARAM_OPTIONAL,
	  .help = "text to put before each line" },
	{ "every", PARAM_INT, offsetof(struct print, every), "1", .flags = PARAM_KEY_ONLY,
	  .min = 1, .max = INT64_MAX, .help = "print only every N-th element" },
	{ 0 }
};

static int64_t
print_cardinality(const struct op_node *n, const int64_t *in)
{
	(void)n;
	return in[0];
}

/* Failing to show something is not worth ending the run. */
static void
print_flush(struct print *s)
{
	transfer_write(STDERR_FILENO, s->text.data, s->text.len);
	buf_reset(&s->text);
}

static enum status
print_feed(struct op_inst *self, const struct run *in, struct run *out, struct err *e)
{
	struct print *s = self->state;

	(void)out, (void)e;
	for (uint32_t i = 0; i < in->n; i++) {
		if (s->seen++ % (uint64_t)s->every)
			continue;
		if (s->label)
			buf_printf(&s->text, "%s: ", s->label);
		json_print(in->e[i].p, in->e[i].len, &s->text);
		buf_byte(&s->text, '\n');
		if (s->text.len > PRINT_BUF)
			print_flush(s);
	}
	print_flush(s);
	self->give = self->in[0]->lent;
	return ST_OK;
}

static void
print_close(struct op_inst *self)
{
	struct print *s = self->state;

	buf_clear(&s->text);
}

static const struct state_row print_state[] = {
	{ &state_number, offsetof(struct print, seen), 0 },
	{ 0 }
};

const struct op_desc op_print = {
	.name = "print",
	.brief = "prints the elements to standard error as they pass",
	.doc = "Each element is one line of JSON, after LABEL if there is one. On a worker, the "
	       "lines go to the worker's standard error.",
	.kind = OP_TRANSFORM,
	.scope = OP_ELEMENT,
	.flags = OP_PASSES | OP_EACH,
	.params = print_params,
	.state_size = sizeof(struct print),
	.cardinality = print_cardinality,
	.feed = print_feed,
	.close = print_close,
	.state_rows = print_state,
	.example = "range 2 | print seen | map x + 1",
	.output = "1\n2\n",
};
