/* SPDX-License-Identifier: MIT
 *
 * log=true: in place of its answers, a record about each element (op/program_row.h). There is exactly
 * one for each, in their order, also for one that failed or has no answer.
 */
#include "op/exec/exec_op.h"
#include "op/program_row.h"
#include "op/typed.h"

enum status
exec_log_typing(struct op_node *n, struct op_typing *t, const struct type **type, struct err *e)
{
	const struct exec *x = n->params;

	if (!x->log)
		return ST_OK;
	if (x->proto == FRAME_STREAM) {
		typed_fail(t, n, e, "proto=stream takes no log=true: its answers belong to no element");
		err_help(e, "proto=line and arg give an answer for each element");
		return ST_DATA;
	}
	if (n->on_error == OP_KEEP)
		*type = type_join(t->arena, *type, n->in[0]->type);
	*type = program_row_type(t->arena, *type);
	return ST_OK;
}

void
exec_log_make(struct exec *x, uint64_t seq, const uint8_t *answers, size_t n, uint32_t many)
{
	struct op_program_run run;
	struct program_row row;

	exec_told_run(x, seq, true, &run);
	program_row_of(&run, 0, &x->log_texts, &row);
	buf_reset(&x->logged);
	program_row_put(&row, answers, n, many, &x->logged);
}
