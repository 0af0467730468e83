/* SPDX-License-Identifier: MIT
 * load: the elements that save or snapshot has written to a folder.
 */
#include <string.h>

#include "op/file_source.h"
#include "op/shards.h"
#include "value/json.h"

struct load {
	struct file_source src; /* its names are made of dirs */
	struct words dirs;
};

static const struct param load_params[] = {
	{ "files", PARAM_WORDS, offsetof(struct load, dirs), .flags = PARAM_REST | PARAM_PATH,
	  .help = "folders that save or snapshot wrote" },
	{ 0 }
};

/* What to look for: the files of each folder that are whole. */
static void
load_names(const struct words *dirs, struct words *out)
{
	for (size_t k = 0; k < dirs->n; k++) {
		struct buf b = { 0 };

		buf_str(&b, dirs->v[k]);
		buf_str(&b, "/" SHARDS_PATTERN);
		words_add(out, (char *)b.data, b.len);
		buf_clear(&b);
	}
}

/* The same node with names in place of folders, for what the sources share. */
static enum status
load_as_files(const struct op_node *n, struct split_list *out, struct err *e)
{
	struct load copy = *(const struct load *)n->params;
	struct op_node node = *n;
	enum status st;

	memset(&copy.src.names, 0, sizeof copy.src.names);
	load_names(&copy.dirs, &copy.src.names);
	node.params = &copy;
	node.n_binds = 0;
	if (n->n_binds && !copy.dirs.n)
		st = ST_OK;
	else
		st = out ? file_source_list(&node, out, e) : file_source_check(&node, e);
	words_clear(&copy.src.names);
	if (st == ST_NOINPUT)
		err_help(e, "a folder that `save` wrote, with files that are whole");
	return st;
}

static enum status
load_check(const struct op_node *n, struct err *e)
{
	return load_as_files(n, NULL, e);
}

static enum status
load_list(const struct op_node *n, struct split_list *out, struct err *e)
{
	return load_as_files(n, out, e);
}

static enum status
load_open(struct op_inst *self, struct err *e)
{
	struct load *s = self->state;

	load_names(&s->dirs, &s->src.names);
	s->src.delim = '\n';
	s->src.pad = json_padding();
	return file_source_open(self, e);
}

static bool
load_ends(const char *name, const char *end)
{
	size_t n = strlen(name), k = strlen(end);

	return n >= k && !strcmp(name + n - k, end);
}

/* By the name of the file at hand. */
static enum status
load_decode(struct op_inst *self, struct file_source *s, struct run *out, struct err *e)
{
	if (load_ends(s->name, ".ndjson"))
		return file_ndjson(self, s, out, e);
	if (load_ends(s->name, ".txt"))
		return file_lines(self, s, out, e);
	if (load_ends(s->name, ".msgpack"))
		return file_msgpack(self, s, out, e);
	const char *end = strrchr(s->name, '.') + 1;
	err_set(e, ST_DATA, "%s is for the source `%s`", s->name, end);
	err_help(e, "%s %s/*.%s", end, ((struct load *)self->state)->dirs.v[0], end);
	return ST_DATA;
}

static enum status
load_next(struct op_inst *self, struct run *out, struct err *e)
{
	return file_source_next(self, load_decode, out, e);
}

static void
load_close(struct op_inst *self)
{
	struct load *s = self->state;

	file_source_close(self);
	words_clear(&s->src.names);
}

const struct op_desc op_load = {
	.name = "load",
	.brief = "the elements that save or snapshot wrote to a folder",
	.doc = "Reads the files that are whole when it begins, stream after stream and shard "
	       "after shard. What one process saved without shards comes in the order it was "
	       "saved.",
	.kind = OP_SOURCE,
	.params = load_params,
	.state_size = sizeof(struct load),
	.list = load_list,
	.check = load_check,
	.open = load_open,
	.next = load_next,
	.close = load_close,
	.save = file_source_save,
	.restore = file_source_restore,
	.example = "load saved",
	.output = "{\"id\":0,\"name\":\"a\"}\n{\"id\":1,\"name\":\"b\"}\n",
};
