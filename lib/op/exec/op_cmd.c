/* SPDX-License-Identifier: MIT
 * cmd: what a command writes, as elements.
 */
#include <poll.h>
#include <string.h>
#include <sys/wait.h>

#include "base/clock.h"
#include "base/mem.h"
#include "op/exec_args.h"
#include "op/exec/exec_child.h"
#include "op/exec/exec_env.h"
#include "op/exec/exec_output.h"
#include "op/op.h"
#include "base/pool.h"
#include "value/origin.h"

enum { CMD_TICK_MS = 50 };

struct cmd {
	struct words command;
	int proto;
	bool shell;
	struct words owned;    /* the words to start */
	char **argv;
	char *path, *script;
	const char *origin;    /* the command, in place of a file's name */
	struct exec_env env;
	struct child child;
	struct child_output pour;
	struct frame frame;
	uint64_t count;        /* number of elements read */
	int64_t heard;         /* when it last gave something */
	bool opened, started, over;
};

#define CMD_CHOICES "line|ndjson|nul|msgpack|netstring|len32|raw"

static const struct param cmd_params[] = {
	{ "command", PARAM_COMMAND, offsetof(struct cmd, command),
	  .help = "the program and its arguments" },
	{ "proto", PARAM_CHOICE, offsetof(struct cmd, proto), "line", .flags = PARAM_KEY_ONLY,
	  .choices = CMD_CHOICES,
	  .help = "how the output is divided into elements: lines of text, one JSON value per "
		  "line, texts ended by NUL, MessagePack values, framed bytes, or all of it as one "
		  "element of bytes" },
	{ "shell", PARAM_BOOL, offsetof(struct cmd, shell), "false", .flags = PARAM_KEY_ONLY,
	  .help = "the words are a script for /bin/sh" },
	{ 0 }
};

static enum status
cmd_typing(struct op_node *n, struct op_typing *t, const struct type **type, struct err *e)
{
	const struct cmd *c = n->params;

	(void)t, (void)e;
	*type = frame_type((enum frame_proto)c->proto);
	return ST_OK;
}

static struct op_words
cmd_words_are(const struct op_node *n)
{
	const struct cmd *c = n->params;

	return (struct op_words){ .script = c->shell };
}

static int64_t
cmd_cardinality(const struct op_node *n, const int64_t *in)
{
	const struct cmd *c = n->params;

	(void)in;
	return c->proto == FRAME_RAW ? 1 : -1;
}

/* Makes the array of arguments that the child is started with. */
static void
cmd_words(struct cmd *c)
{
	struct buf script = { 0 };

	for (size_t i = 0; i < c->command.n; i++) {
		if (!c->shell) {
			words_add(&c->owned, c->command.v[i], strlen(c->command.v[i]));
			continue;
		}
		if (i)
			buf_byte(&script, ' ');
		buf_str(&script, c->command.v[i]);
	}
	if (c->shell) {
		char *text = buf_take(&script);

		words_add(&c->owned, "/bin/sh", 7);
		words_add(&c->owned, "-c", 2);
		words_add(&c->owned, text, strlen(text));
		mem_free(text);
	}
	c->argv = mem_array(c->owned.n + 1, sizeof *c->argv);
	memcpy(c->argv, c->owned.v, c->owned.n * sizeof *c->argv);
}

static const char *
cmd_name(const struct cmd *c)
{
	const char *name = c->shell ? "sh" : c->command.v[0], *slash = strrchr(name, '/');

	return slash && slash[1] ? slash + 1 : name;
}

static enum status
cmd_open(struct op_inst *self, struct err *e)
{
	struct cmd *c = self->state;

	c->opened = true;
	child_init(&c->child);
	frame_init(&c->frame, (enum frame_proto)c->proto, self->ctx->element_max);
	exec_env_open(&c->env, self, frame_name((enum frame_proto)c->proto), 1, false);
	cmd_words(c);
	c->origin = origin_name(cmd_name(c));
	enum status st = child_find(c->owned.v[0], &c->path, e);
	return st == ST_OK ? ST_OK : op_blame(self->node, e);
}

static void
cmd_tell(struct op_inst *self)
{
	struct cmd *c = self->state;
	const char *line;
	size_t n;

	while (self->ctx->note && (line = child_line(&c->child, &n))) {
		struct err e = { 0 };

		err_set(&e, ST_DATA, "%s: %.*s", cmd_name(c), (int)n, line);
		self->ctx->note(self->ctx->arg, self->node, &e);
	}
}

/* Reads how the command has ended. */
static enum status
cmd_end(struct op_inst *self, struct err *e)
{
	struct cmd *c = self->state;
	struct buf what = { 0 };

	c->over = true;
	child_reap(&c->child, CHILD_GRACE_MS, self->ctx->stop);
	int status = c->child.status;
	if (WIFEXITED(status) && WEXITSTATUS(status) == 0) {
		cmd_tell(self);
		return ST_END;
	}
	if (c->child.killed)
		buf_str(&what, "closed its output and did not end");
	else
		child_status_print(status, &what);
	err_set(e, WIFEXITED(status) && WEXITSTATUS(status) == ST_NORUN ? ST_NORUN
		   : WIFEXITED(status) && WEXITSTATUS(status) == ST_NOCMD ? ST_NOCMD : ST_DATA,
		"%s %s", cmd_name(c), (char *)what.data);
	buf_clear(&what);
	child_tell(&c->child, e);
	err_help(e, "on_error=skip ignores the exit status");
	enum status st = op_source_fault(self, NULL, 0, e);
	return st == ST_OK ? ST_END : st;
}

static enum status
cmd_wait(struct op_inst *self)
{
	struct cmd *c = self->state;
	struct pollfd p[3];

	child_poll(&c->child, p, false, true);
	pool_wait_begin();
	bool quiet = poll(p, 3, CMD_TICK_MS) == 0;
	pool_wait_end();
	child_listen(&c->child);
	/* The last lines before a bad end are part of the error, so they are not shown yet. */
	if (quiet || c->child.said.len - c->child.told > CHILD_TAIL / 4)
		cmd_tell(self);
	return op_stopped(self->ctx) ? ST_AGAIN : ST_OK;
}

/* Whether the command has gone, while what it started holds its output open and is silent. */
static bool
cmd_left(struct cmd *c)
{
	return child_held(&c->child, c->heard, CHILD_GRACE_MS);
}

static enum status
cmd_left_end(struct op_inst *self, struct err *e)
{
	struct cmd *c = self->state;

	c->over = true;
	child_reap(&c->child, 0, NULL);
	child_left(cmd_name(c), e);
	return op_source_fault(self, NULL, 0, e);
}

static enum status
cmd_start(struct op_inst *self, struct err *e)
{
	struct cmd *c = self->state;
	struct child_kind k = { .path = c->path, .name = cmd_name(c), .argv = c->argv,
				.envp = c->env.v };

	c->started = true;
	c->heard = clock_mono_ns();
	return child_spawn(&c->child, &k, e);
}

static enum status
cmd_next(struct op_inst *self, struct run *out, struct err *e)
{
	struct cmd *c = self->state;
	enum status st = c->started ? ST_OK : cmd_start(self, e);
	bool more;

	out->file = c->origin;
	while (st == ST_OK && out->n == 0) {
		if (c->over)
			return ST_END;
		if (!c->pour.fresh && !child_output_read(&c->pour, c->child.out)) {
			st = cmd_left(c) ? cmd_left_end(self, e) : cmd_wait(self);
			continue;
		}
		c->heard = clock_mono_ns();
		out->line = c->count + 1;
		st = child_output_all(&c->pour, &c->frame, out, &more, e);
		c->count += out->n;
		if (st != ST_OK) {
			c->count++;
			st = op_source_fault(self, c->origin, c->count, e);
		}
		if (c->proto == FRAME_RAW && c->pour.eof && c->count == 0 && st == ST_OK) {
			st = frame_get(&c->frame, (const uint8_t *)"", 0, 0, out, e);
			c->count++;
		}
		if (c->pour.eof && !more && st == ST_OK)
			st = cmd_end(self, e);
	}
	return st;
}

static void
cmd_close(struct op_inst *self)
{
	struct cmd *c = self->state;

	if (!c->opened)
		return;
	child_term(&c->child);
	child_reap(&c->child, 0, NULL);
	child_clear(&c->child);
	child_output_clear(&c->pour);
	frame_clear(&c->frame);
	exec_env_clear(&c->env);
	words_clear(&c->owned);
	mem_free(c->argv);
	mem_free(c->path);
}

const struct op_desc op_cmd = {
	.name = "cmd",
	.brief = "reads elements from the output of a command",
	.doc = "The command is started without a shell and gets no input; its elements are passed "
	       "on as they arrive. If its exit status is not 0, an error follows the last element "
	       "and includes the last lines of its standard error; with on_error=skip the error is "
	       "skipped. The output cannot be split: one stream reads all of it.",
	.kind = OP_SOURCE,
	.flags = OP_EXEC,
	.params = cmd_params,
	.state_size = sizeof(struct cmd),
	.typing = cmd_typing,
	.words = cmd_words_are,
	.cardinality = cmd_cardinality,
	.open = cmd_open,
	.next = cmd_next,
	.close = cmd_close,
	.example = "cmd -- seq 3 | map int(x) * 2",
	.output = "2\n4\n6\n",
};
