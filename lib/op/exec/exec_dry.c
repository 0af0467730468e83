/* SPDX-License-Identifier: MIT
 *
 * A dry run: the commands are told, and none is started.
 */
#include "base/shell_word.h"
#include "op/exec/exec_work.h"
#include "op/programs.h"

#include <string.h>

/* The command that puts the element on the program's stdin: printf, whose %s takes no NUL. */
static void
dry_stdin(const uint8_t *p, size_t n, struct buf *out)
{
	struct buf own = { 0 };

	if (!memchr(p, '\0', n)) {
		buf_str(out, "printf %s ");
		shell_word((const char *)p, n, false, out);
		return;
	}
	for (size_t i = 0; i < n; i++) {
		if (!p[i])
			buf_str(&own, "\\000");
		else if (p[i] == '\\' || p[i] == '%')
			buf_printf(&own, "%c%c", p[i], p[i]);
		else
			buf_byte(&own, p[i]);
	}
	/* A format that begins with a dash would be an option. */
	buf_str(out, "printf -- ");
	shell_word((const char *)own.data, own.len, false, out);
	buf_clear(&own);
}

static enum status
dry_command(struct exec *x, uint64_t seq, struct buf *out, struct err *e)
{
	const struct elem *el = exec_job_elem(x, seq);
	struct elem part;
	enum status st = exec_field_get(x, el, &part, e);

	if (st == ST_OK && x->proto == FRAME_ARG) {
		x->args.part = &part;
		st = exec_args_fill(&x->args, el, seq + 1, 1, e);
		x->args.part = NULL;
	} else if (st == ST_OK && x->proto == FRAME_RAW) {
		struct buf in = { 0 };

		st = frame_put(FRAME_RAW, &part, &x->self->ctx->json, &in, e);
		if (st == ST_OK) {
			dry_stdin(in.data ? in.data : (const uint8_t *)"", in.len, out);
			buf_str(out, " | ");
		}
		buf_clear(&in);
	}
	if (st == ST_OK)
		exec_words_quote(x->args.argv, false, out);
	return st;
}

enum status
exec_dry_step(struct exec *x, struct run *out, bool *moved, struct err *e)
{
	const struct op_programs *told = x->self->ctx->programs;
	bool each = x->proto == FRAME_ARG || x->proto == FRAME_RAW;
	enum status st = ST_OK;
	struct buf command = { 0 };
	uint64_t seq;

	x->wants = false;
	while (st == ST_OK && !x->over && exec_jobs_take(x, &seq) == ST_OK) {
		struct err bad = { 0 };

		*moved = true;
		buf_reset(&command);
		if (dry_command(x, seq, &command, &bad) != ST_OK) {
			exec_jobs_fail(x, seq, &bad);
			st = exec_jobs_emit(x, out, e);
			continue;
		}
		bool more = told->would(told->arg, x->self->node, (char *)command.data, command.len);
		exec_jobs_drop(x, seq);
		if (!more || !each) {
			x->over = true;
			x->input = ST_END;
		}
	}
	buf_clear(&command);
	return st;
}
