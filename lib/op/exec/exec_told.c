/* SPDX-License-Identifier: MIT
 *
 * What is told of each element that a program has worked on (op/programs.h): when it
 * was sent, how its last try ended, and its command.
 */
#include <string.h>
#include <sys/wait.h>

#include "base/clock.h"
#include "base/shell_word.h"
#include "op/exec/exec_work.h"

enum { TOLD_BAD = 65 };

static const struct op_programs *
told_to(const struct exec *x)
{
	const struct op_programs *p = x->self->ctx->programs;

	return p && p->ended ? p : NULL;
}

/* Whether anybody wants to know how runs ended. */
static bool
told_wanted(const struct exec *x)
{
	return x->log || told_to(x);
}

void
exec_told_sent(struct exec *x, uint64_t seq, unsigned slot, size_t bytes)
{
	struct exec_job *j = exec_job(x, seq);

	if (!told_wanted(x))
		return;
	j->began = exec_now();
	j->slot = (uint16_t)slot;
	j->sent = (uint32_t)bytes;
	j->code = j->signal = 0;
}

void
exec_told_code(struct exec *x, uint64_t seq, int code)
{
	exec_job(x, seq)->code = (uint8_t)code;
}

void
exec_told_child(struct exec *x, uint64_t seq, const struct child *c)
{
	struct exec_job *j = exec_job(x, seq);

	if (WIFSIGNALED(c->status))
		j->signal = (uint8_t)WTERMSIG(c->status);
	else if (WIFEXITED(c->status))
		j->code = (uint8_t)WEXITSTATUS(c->status);
}

void
exec_told_answer(struct exec *x, uint64_t seq, size_t bytes)
{
	struct exec_job *j = exec_job(x, seq);

	if (!told_wanted(x))
		return;
	j->took = exec_now() - j->began;
	j->received = (uint32_t)bytes;
	j->code = j->signal = 0;
}

void
exec_words_quote(char *const *argv, bool line, struct buf *out)
{
	for (size_t i = 0; argv[i]; i++) {
		if (i)
			buf_byte(out, ' ');
		(line ? shell_word_line : shell_word)(argv[i], strlen(argv[i]), i == 0, out);
	}
}

void
exec_told_over(struct exec *x, bool good)
{
	const struct op_programs *p = x->self->ctx->programs;

	if (p && p->over)
		p->over(p->arg, x->self->node, good);
}

/* The command of a job; it was made before, so that it can be made. */
static void
told_command(struct exec *x, uint64_t seq, const struct elem *el)
{
	struct elem part;
	struct err none = { 0 };

	if (x->proto != FRAME_ARG && x->command_text.len)
		return;
	buf_reset(&x->command_text);
	if (x->proto == FRAME_ARG && exec_field_get(x, el, &part, &none) == ST_OK) {
		x->args.part = &part;
		enum status st = exec_args_fill(&x->args, el, seq + 1, exec_job(x, seq)->slot + 1u, &none);
		x->args.part = NULL;
		if (st != ST_OK)
			return;
	}
	if (x->args.argv)
		exec_words_quote(x->args.argv, true, &x->command_text);
}

void
exec_told_run(struct exec *x, uint64_t seq, bool answered, struct op_program_run *out)
{
	const struct exec_job *j = exec_job(x, seq);
	const struct elem *el = exec_job_elem(x, seq);
	int64_t age = j->began ? exec_now() - j->began : 0;

	told_command(x, seq, el);
	*out = (struct op_program_run){
		.node = x->self->node, .number = seq + 1, .elem = el, .worker = x->worker,
		.began = clock_wall_ns() - age, .took = j->began ? j->took : 0, .sent = j->sent, .received = j->received,
		.code = j->code, .signal = j->signal, .answered = answered, .command = (char *)x->command_text.data,
		.command_len = x->command_text.len };
}

void
exec_told_given(struct exec *x, uint64_t seq, bool answered)
{
	const struct op_programs *told = told_to(x);
	struct op_program_run r;

	if (!told)
		return;
	exec_told_run(x, seq, answered, &r);
	told->ended(told->arg, &r);
	x->telling = x->telling || answered;
}

void
exec_told_failed(struct exec *x, uint64_t seq)
{
	struct exec_job *j = exec_job(x, seq);

	exec_told_over(x, false);
	if (!told_wanted(x))
		return;
	if (!j->code && !j->signal)
		j->code = TOLD_BAD;
	j->took = exec_now() - j->began;
	j->received = 0;
	exec_told_given(x, seq, false);
}

void
exec_told_taken(struct exec *x)
{
	const struct op_programs *p = x->self->ctx->programs;

	if (x->telling && p->given)
		p->given(p->arg, x->self->node);
	x->telling = false;
}

bool
exec_told_before(struct exec *x, uint64_t seq)
{
	const struct op_programs *p = x->self->ctx->programs;

	return p && p->before && p->before(p->arg, x->self->node, exec_job_elem(x, seq));
}

enum op_programs_closed
exec_told_closed(const struct exec *x)
{
	const struct op_programs *p = x->self->ctx->programs;

	return p ? (enum op_programs_closed)atomic_load_explicit(&p->closed, memory_order_relaxed) : PROGRAMS_OPEN;
}
