/* SPDX-License-Identifier: MIT
 * ignore_errors: elements that fail anywhere before it are dropped, counted and,
 * where asked for, written down.
 *
 * What drops them is the policy of the operators themselves, which is set to
 * skip here when the pipeline is planned. Failures are counted by standing
 * between them and the program's own callback: the chain before this operator
 * runs in a context of its own.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/gate.h"
#include "base/str.h"
#include "op/kit/expr_value.h"
#include "op/pull.h"

enum { IGNORE_ERRORS_FEW = 1000 }; /* number of elements below which a share means nothing */

struct ignore_errors {
	char *max, *log;
	int64_t most;        /* failures allowed; INT64_MAX: any number */
	double share;        /* share of all elements that may fail; 0: any share */
	struct op_ctx ctx;   /* context of the operators before this one */
	struct op_ctx *outer;
	int fd;              /* descriptor of the log; -1: none */
	_Atomic uint64_t failed; /* written by another thread when there is a prefetch */
	_Atomic bool log_bad;
	uint64_t seen;
};

static const struct param ignore_errors_params[] = {
	{ "max", PARAM_WORD, offsetof(struct ignore_errors, max), "inf", .flags = PARAM_KEY_ONLY,
	  .help = "how many failures to tolerate: a number, or a share such as 1%" },
	{ "log", PARAM_WORD, offsetof(struct ignore_errors, log),
	  .flags = PARAM_KEY_ONLY | PARAM_OPTIONAL | PARAM_PATH,
	  .help = "file to which each failure is added, one per line" },
	{ 0 }
};

static enum status
ignore_errors_max(const char *text, int64_t *most, double *share, struct err *e)
{
	size_t n = strlen(text);

	*most = INT64_MAX;
	*share = 0;
	if (!strcmp(text, "inf"))
		return ST_OK;
	if (n && text[n - 1] == '%') {
		if (str_float(text, n - 1, share) && *share > 0 && *share <= 100) {
			*share /= 100;
			return ST_OK;
		}
	} else if (str_int(text, n, most) && *most >= 0) {
		return ST_OK;
	}
	err_set(e, ST_DATA, "max='%.20s' is neither a number nor a share", text);
	err_help(e, "max=100, max=1%%");
	return ST_DATA;
}

static void
ignore_errors_set(struct op_node *n)
{
	for (; n; n = n->n_in ? n->in[0] : NULL) {
		if (n->on_error == OP_FAIL && !n->retries)
			n->on_error = OP_SKIP;
		for (size_t k = 1; k < n->n_in; k++)
			ignore_errors_set(n->in[k]);
	}
}

static enum status
ignore_errors_typing(struct op_node *n, struct op_typing *t, const struct type **type,
		     struct err *e)
{
	const struct ignore_errors *s = n->params;
	int64_t most;
	double share;

	(void)t;
	*type = n->in[0]->type;
	ignore_errors_set(n->in[0]);
	return ignore_errors_max(s->max, &most, &share, e);
}

static int64_t
ignore_errors_cardinality(const struct op_node *n, const int64_t *in)
{
	(void)n;
	return in[0] == INT64_MAX || in[0] == 0 ? in[0] : -1;
}

static enum status
ignore_errors_next_split(void *arg, struct split *out, struct err *e)
{
	const struct ignore_errors *s = arg;

	return s->outer->next_split(s->outer->arg, out, e);
}

static void
ignore_errors_write(struct ignore_errors *s, const struct op_failure *f)
{
	struct buf line = { 0 };

	if (f->file)
		buf_printf(&line, "%s:%llu: ", f->file, (unsigned long long)f->line);
	buf_printf(&line, "%s\n", f->e->text);
	/* One write per line, so that lines of several threads and processes do not mix. */
	if (write(s->fd, line.data, line.len) != (ssize_t)line.len)
		s->log_bad = true;
	buf_clear(&line);
}

static void
ignore_errors_failure(void *arg, const struct op_failure *f)
{
	struct ignore_errors *s = arg;

	if (!f->fatal) {
		s->failed++;
		if (s->fd >= 0)
			ignore_errors_write(s, f);
	}
	if (s->outer->failure)
		s->outer->failure(s->outer->arg, f);
}

/* Puts this operator's context between its inputs and the program, again whenever a prefetch
 * after it has given the chain another context. */
static void
ignore_errors_stand_between(struct op_inst *self)
{
	struct ignore_errors *s = self->state;

	if (self->in[0]->ctx == &s->ctx && s->outer == self->ctx)
		return;
	s->outer = self->ctx;
	s->ctx = *self->ctx;
	s->ctx.failure = ignore_errors_failure;
	s->ctx.arg = s;
	if (s->ctx.next_split)
		s->ctx.next_split = ignore_errors_next_split;
	op_set_ctx(self->in[0], &s->ctx);
}

static enum status
ignore_errors_open(struct op_inst *self, struct err *e)
{
	struct ignore_errors *s = self->state;
	enum status st = ignore_errors_max(s->max, &s->most, &s->share, e);

	s->fd = -1;
	if (st == ST_OK && s->log) {
		s->fd = gate_open(GATE_WRITE, s->log, O_WRONLY | O_CREAT | O_APPEND, 0666);
		if (s->fd < 0)
			st = err_errno(e, "cannot open %s", s->log);
	}
	return st;
}

static enum status
ignore_errors_judge(struct op_inst *self, bool end, struct err *e)
{
	struct ignore_errors *s = self->state;
	uint64_t failed = s->failed, all = s->seen + failed;

	if (s->log_bad) {
		err_set(e, ST_IO, "cannot write to %s", s->log);
		return op_blame(self->node, e);
	}
	if (s->most != INT64_MAX && failed > (uint64_t)s->most)
		err_set(e, ST_DATA, "%llu elements have failed, more than max=%s",
			(unsigned long long)failed, s->max);
	else if (s->share > 0 && (end || all >= IGNORE_ERRORS_FEW)
		 && (double)failed > s->share * (double)all)
		err_set(e, ST_DATA, "%llu of %llu elements have failed, more than max=%s",
			(unsigned long long)failed, (unsigned long long)all, s->max);
	else
		return ST_OK;
	err_help(e, "log=FILE records why");
	return op_blame(self->node, e);
}

static enum status
ignore_errors_next(struct op_inst *self, struct run *out, struct err *e)
{
	struct ignore_errors *s = self->state;

	(void)out;
	ignore_errors_stand_between(self);
	enum status st = op_pull(self->in[0], &self->give, e), bad;

	if (st == ST_OK)
		s->seen += self->give->n;
	else
		self->give = NULL;
	if (st != ST_OK && st != ST_END)
		return st;
	bad = ignore_errors_judge(self, st == ST_END, e);
	if (bad != ST_OK)
		self->give = NULL;
	return bad == ST_OK ? st : bad;
}

static void
ignore_errors_close(struct op_inst *self)
{
	struct ignore_errors *s = self->state;

	/* The inputs are closed after this operator, and must not use its context any more. */
	if (s->outer && self->in[0])
		op_set_ctx(self->in[0], s->outer);
	if (s->fd >= 0)
		close(s->fd);
}

static void
ignore_errors_save(struct op_inst *self, struct buf *out)
{
	struct ignore_errors *s = self->state;

	state_put_u64(out, s->failed);
	state_put_u64(out, s->seen);
}

static enum status
ignore_errors_restore(struct op_inst *self, const uint8_t *p, size_t n, struct err *e)
{
	struct ignore_errors *s = self->state;
	struct state_in in = state_begin(p, n);

	s->failed = state_get_u64(&in, UINT64_MAX);
	s->seen = state_get_u64(&in, UINT64_MAX);
	return state_finish(self, &in, e);
}

static bool
ignore_errors_partwise(const struct op_node *n, const char **remedy)
{
	(void)n, (void)remedy;
	return true;
}

const struct op_desc op_ignore_errors = {
	.name = "ignore_errors",
	.brief = "drops the elements that fail in any operator before it",
	.doc = "It has the effect of on_error=skip on every operator before it, except for those "
	       "with on_error=keep or retry. max= limits how many elements may fail, as a number "
	       "or as a share of all elements; a share is checked from the thousandth element on "
	       "and at the end.",
	.kind = OP_TRANSFORM,
	.scope = OP_STREAM,
	.flags = OP_PASSES | OP_BY_EXPR,
	.params = ignore_errors_params,
	.state_size = sizeof(struct ignore_errors),
	.partwise = ignore_errors_partwise,
	.typing = ignore_errors_typing,
	.cardinality = ignore_errors_cardinality,
	.open = ignore_errors_open,
	.next = ignore_errors_next,
	.close = ignore_errors_close,
	.save = ignore_errors_save,
	.restore = ignore_errors_restore,
	.example = "elements [4, 0, 2] | map 8 // x | ignore_errors",
	.output = "2\n4\n",
};
