/* SPDX-License-Identifier: MIT */
#include "op/exec/exec_op.h"

#include <poll.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "op/kit/expr_run.h"
#include "base/pool.h"

enum { EXEC_POLLS = 3, EXEC_TICK_MS = 50 };

/* The words to start: those of the command, or a shell with the script. */
static void
exec_words(const struct exec *x, struct words *w)
{
	struct buf script = { 0 };

	if (!x->script && !x->shell) {
		for (size_t i = 0; i < x->command.n; i++)
			words_add(w, x->command.v[i], strlen(x->command.v[i]));
		return;
	}
	words_add(w, "/bin/sh", 7);
	words_add(w, "-c", 2);
	if (x->script)
		buf_str(&script, x->script);
	for (size_t i = 0; i < x->command.n; i++) {
		if (i)
			buf_byte(&script, ' ');
		buf_str(&script, x->command.v[i]);
	}
	char *text = buf_take(&script);
	words_add(w, text, strlen(text));
	mem_free(text);
}

static bool
exec_is_shell(const struct exec *x)
{
	return x->script || x->shell;
}

struct op_words
exec_words_are(const struct op_node *n)
{
	const struct exec *x = n->params;

	return (struct op_words){ .script = exec_is_shell(x), .places = x->proto == FRAME_ARG };
}

static enum frame_proto
exec_answers(const struct exec *x)
{
	return x->proto == FRAME_ARG && x->bytes ? FRAME_RAW : (enum frame_proto)x->proto;
}

static bool
exec_is_each(const struct exec *x)
{
	return x->proto == FRAME_ARG || x->proto == FRAME_RAW;
}

enum status
exec_typing(struct op_node *n, struct op_typing *t, const struct type **type, struct err *e)
{
	const struct exec *x = n->params;
	struct exec_args args;
	struct words words = { 0 };
	const char *name;
	size_t len;
	enum status st = ST_OK;

	*type = frame_type(exec_answers(x));
	exec_words(x, &words);
	exec_args_open(&args, &words, x->proto == FRAME_ARG, exec_is_shell(x));
	if (exec_args_lacks(&args, n->in[0]->type, &name, &len)) {
		st = typed_fail(t, n, e, "the elements have no field `%.*s`", (int)len, name);
		err_help(e, "--print=plan shows the types of all stages");
	} else if ((st = exec_field_typing(n, t, type, e)) != ST_OK || (st = exec_tag_typing(n, t, e)) != ST_OK ||
		   (st = exec_log_typing(n, t, type, e)) != ST_OK) {
		;
	} else if (x->bytes && x->proto != FRAME_ARG) {
		st = typed_fail(t, n, e, "bytes=true is for proto=arg");
		err_help(e, "proto=raw, netstring and len32 give bytes");
	} else if (x->pty && exec_is_each(x)) {
		st = typed_fail(t, n, e, "pty=true is for programs that keep running");
		err_help(e, "a process for a single element writes everything when it ends");
	} else if (x->command.n && !*x->command.v[0]) {
		st = typed_fail(t, n, e, "the name of the program is empty");
	} else if (n->retries && x->proto == FRAME_STREAM) {
		st = typed_fail(t, n, e, "proto=stream cannot try an element again");
		err_help(e, "its answers belong to no particular element; proto=line gives one for each element");
	}
	exec_args_clear(&args);
	words_clear(&words);
	return st;
}

int64_t
exec_cardinality(const struct op_node *n, const int64_t *in)
{
	const struct exec *x = n->params;

	if (x->log)
		return in[0];
	return x->proto == FRAME_STREAM || x->proto == FRAME_MSGPACK || n->on_error == OP_SKIP || exec_may_be_silent(x)
	       ? -1 : in[0];
}

bool
exec_partwise(const struct op_node *n, const char **remedy)
{
	const struct exec *x = n->params;

	*remedy = "proto=line has an answer for each element; or ";
	return x->proto != FRAME_STREAM;
}

static unsigned
exec_copies(const struct exec *x)
{
	if (x->proto == FRAME_STREAM)
		return 1;
	if (x->parallel != PARAM_AUTO)
		return (unsigned)x->parallel;
	return pool_size() < EXEC_PARALLEL_MAX ? pool_size() : EXEC_PARALLEL_MAX;
}

/* Prepares the command: its words, the path of the program, its name in messages. */
static enum status
exec_open_command(struct op_inst *self, struct exec *x, struct err *e)
{
	struct words words = { 0 };
	enum status st;

	exec_words(x, &words);
	/* The pieces of exec_args lie in these words, which live as long. */
	x->owned = words;
	exec_args_open(&x->args, &x->owned, x->proto == FRAME_ARG, exec_is_shell(x));
	x->args.rules = self->ctx->json;
	if (x->proto != FRAME_ARG)
		exec_args_plain(&x->args);
	const char *program = x->owned.v[0], *shown = x->command.n ? x->command.v[0] : "sh";
	const char *slash = strrchr(shown, '/');
	x->name = mem_strdup(x->shell || x->script ? "sh" : slash && slash[1] ? slash + 1 : shown);
	st = child_find(program, &x->path, e);
	x->kind = (struct child_kind){ .path = x->path, .name = x->name,
				       .feed = x->proto != FRAME_ARG, .pty = x->pty };
	return st == ST_OK ? ST_OK : exec_fatal(x, NULL, e);
}

enum status
exec_open(struct op_inst *self, struct err *e)
{
	struct exec *x = self->state;

	x->self = self;
	x->worker = exec_env_worker(self->ctx);
	x->opened = true;
	x->ordered = x->ordered || self->ctx->repeatable;
	x->n_slots = exec_copies(x);
	op_makes_ahead(self->ctx); /* its children work on what they were given, also when nobody asks */
	exec_feed_open(&x->feed, self);
	exec_env_open(&x->env, self, frame_name((enum frame_proto)x->proto), x->n_slots,
		      exec_is_each(x));
	if (x->pty)
		exec_env_plain(&x->env);
	x->slots = mem_array(x->n_slots, sizeof *x->slots);
	x->polls = mem_array(x->n_slots * EXEC_POLLS + 1, sizeof *x->polls);
	for (unsigned k = 0; k < x->n_slots; k++) {
		struct exec_slot *s = &x->slots[k];

		s->index = k;
		s->window = (uint32_t)x->window;
		child_init(&s->child);
		frame_init(&s->frame, exec_answers(x), self->ctx->element_max);
		if (x->proto == FRAME_MSGPACK)
			/* room for what a message adds around an element */
			s->frame.max += SPEAK_ROOM;
		if (!exec_is_each(x) && x->proto != FRAME_STREAM)
			s->fifo = mem_array(EXEC_WINDOW_MAX, sizeof *s->fifo);
	}
	exec_jobs_open(x, exec_is_each(x) ? 16 * (uint64_t)x->n_slots
					  : (uint64_t)x->window * x->n_slots);
	return exec_open_command(self, x, e);
}

/* Waits until something moves; false: asked to stop. */
static bool
exec_wait(struct exec *x)
{
	nfds_t n = 0;

	for (unsigned k = 0; k < x->n_slots; k++) {
		struct exec_slot *s = &x->slots[k];

		if (s->child.pid <= 0)
			continue;
		child_poll(&s->child, x->polls + n, s->w_at < s->w.len, !s->pour.eof);
		n += EXEC_POLLS;
	}
	x->polls[n] = (struct pollfd){ .fd = x->wants ? x->feed.fd : -1, .events = POLLIN };
	pool_wait_begin();
	int heard = poll(x->polls, n + 1, EXEC_TICK_MS);
	pool_wait_end();
	if (heard > 0 && x->polls[n].revents)
		exec_feed_heard(&x->feed);
	for (unsigned k = 0; k < x->n_slots; k++) {
		struct exec_slot *s = &x->slots[k];

		if (s->child.pid <= 0)
			continue;
		child_listen(&s->child);
		if (!exec_is_each(x))
			exec_hear_old(x, s);
	}
	return !op_stopped(x->self->ctx);
}

/* Ends the children after everything was given; a child told so may take a moment to go. */
static enum status
exec_finish(struct exec *x, struct err *e)
{
	bool any = false;

	for (unsigned k = 0; k < x->n_slots; k++)
		any = any || x->slots[k].child.pid > 0;
	if (!any) {
		exec_speak_stats(x);
		if (x->input != ST_END)
			*e = x->input_err;
		return x->input;
	}
	if (!x->closing_ns)
		x->closing_ns = exec_now();
	if (exec_now() - x->closing_ns < (int64_t)CHILD_GRACE_MS * 1000000)
		return ST_OK;
	for (unsigned k = 0; k < x->n_slots; k++)
		child_term(&x->slots[k].child);
	for (unsigned k = 0; k < x->n_slots; k++)
		child_reap(&x->slots[k].child, 0, NULL);
	return ST_OK;
}

/* Does one turn, with any proto= other than stream; a dry one with any. */
static enum status
exec_turn(struct exec *x, struct run *out, bool *moved, struct err *e)
{
	enum status st;

	if (!x->halted && exec_told_closed(x) == PROGRAMS_CLOSED_NOW)
		exec_halt(x);
	st = exec_jobs_emit(x, out, e);
	if (st != ST_OK || out->n >= RUN_USUAL || run_full(out))
		return st;
	if (exec_is_dry(x))
		return exec_dry_step(x, out, moved, e);
	st = exec_is_each(x) ? exec_each_step(x, out, moved, e) : exec_talk_step(x, out, moved, e);
	return st == ST_OK ? exec_jobs_emit(x, out, e) : st;
}

static enum status
exec_more(struct op_inst *self, struct run *out, struct err *e)
{
	struct exec *x = self->state;
	bool flows = x->proto == FRAME_STREAM && !exec_is_dry(x);
	enum status st;

	exec_told_taken(x);
	exec_jobs_release(x);
	x->stopped = x->idle = false;
	if (x->broken.kind) {
		*e = x->broken;
		return exec_fatal(x, NULL, e);
	}
	for (;;) {
		bool moved = false;

		st = flows ? exec_flow_next(x, out, e) : exec_turn(x, out, &moved, e);
		if (st == ST_END && x->input != ST_OK && x->input != ST_END) {
			*e = x->input_err;
			st = x->input;
		}
		if (st != ST_OK || out->n)
			return st;
		exec_jobs_release(x);
		if (moved || !x->idle) {
			x->idle = !moved;
			continue;
		}
		x->idle = false;
		if (exec_jobs_none(x) && !x->over)
			exec_feed_pass(&x->feed);
		if (x->over && exec_jobs_none(x) && !flows) {
			st = exec_finish(x, e);
			if (st != ST_OK)
				return st;
		}
		if (x->stopped || !exec_wait(x))
			return ST_AGAIN;
	}
}

enum status
exec_next(struct op_inst *self, struct run *out, struct err *e)
{
	enum status st = exec_more(self, out, e);

	if (st != ST_OK && st != ST_END && st != ST_AGAIN && self->ctx->programs)
		atomic_store(&self->ctx->programs->failed, true);
	return st;
}

void
exec_close(struct op_inst *self)
{
	struct exec *x = self->state;

	if (!x->opened)
		return;
	for (unsigned k = 0; k < x->n_slots; k++) {
		child_close_in(&x->slots[k].child);
		if (x->slots[k].child.pid > 0)
			child_term(&x->slots[k].child);
	}
	for (unsigned k = 0; k < x->n_slots; k++) {
		struct exec_slot *s = &x->slots[k];

		child_reap(&s->child, 0, NULL);
		child_clear(&s->child);
		frame_clear(&s->frame);
		child_output_clear(&s->pour);
		buf_clear(&s->w);
		buf_clear(&s->speak.state);
		mem_free(s->fifo);
	}
	exec_jobs_close(x);
	exec_feed_close(&x->feed);
	exec_args_clear(&x->args);
	exec_env_clear(&x->env);
	words_clear(&x->owned);
	buf_clear(&x->load);
	mem_free(x->slots);
	mem_free(x->polls);
	mem_free(x->path);
	mem_free(x->name);
}

void
exec_save(struct op_inst *self, struct buf *out)
{
	struct exec *x = self->state;

	/* With proto=stream there is no telling how much of its input the child has used. */
	if (x->proto != FRAME_STREAM)
		exec_state_save(x, out);
	/* Nor can the input be saved while its thread is in the middle of a pull. */
	if (x->proto == FRAME_STREAM || x->feed.border)
		self->unsaved = true;
}

enum status
exec_restore(struct op_inst *self, const uint8_t *p, size_t n, struct err *e)
{
	return exec_state_restore(self->state, p, n, e);
}
