/* SPDX-License-Identifier: MIT
 * load: the elements that save or snapshot has written to a folder.
 */
#include <string.h>

#include "base/mem.h"
#include "op/file/file_glob.h"
#include "op/file/file_source.h"
#include "op/kit/seal.h"
#include "op/kit/shards.h"
#include "value/json/json.h"

struct load {
	struct file_source src; /* its names are made from dirs */
	struct words dirs;
	bool partial;
};

static const struct param load_params[] = {
	{ "files", PARAM_WORDS, offsetof(struct load, dirs), .flags = PARAM_REST | PARAM_PATH,
	  .help = "folders written by save or snapshot" },
	{ "partial", PARAM_BOOL, offsetof(struct load, partial), "false", .flags = PARAM_KEY_ONLY,
	  .help = "also read the complete files of a save that is still running "
		  "or was interrupted" },
	{ 0 }
};

/* Makes the patterns that match the finished files of each folder. literal: the folder's name
 * is data, and nothing in it is a pattern. */
static void
load_names(const struct words *dirs, bool literal, struct words *out)
{
	for (size_t k = 0; k < dirs->n; k++) {
		struct buf b = { 0 };

		for (const char *c = dirs->v[k]; *c; c++) {
			if (literal && strchr("*?[{\\", *c))
				buf_byte(&b, '\\');
			buf_byte(&b, (uint8_t)*c);
		}
		buf_str(&b, "/" SHARDS_PATTERN);
		words_add(out, (char *)b.data, b.len);
		buf_clear(&b);
	}
}

/* Checks for the folder of each file that everything which was to be saved is there. Files of
 * a folder are adjacent. */
static enum status
load_whole(const struct words *files, struct err *e)
{
	enum status st = ST_OK;
	char *last = NULL;

	for (size_t k = 0; k < files->n && st == ST_OK; k++) {
		char *dir = mem_strndup(files->v[k], (size_t)(strrchr(files->v[k], '/') - files->v[k]));

		if (!last || strcmp(last, dir))
			st = seal_check(dir, e);
		mem_free(last);
		last = dir;
	}
	mem_free(last);
	return st;
}

/* Finds the files in the node's folders; literal: the folders' names come from an element. */
static enum status
load_find(const struct load *s, bool literal, struct words *out, struct err *e)
{
	struct words names = { 0 };

	load_names(&s->dirs, literal, &names);
	enum status st = file_glob(&names, false, out, e);
	if (st == ST_OK && !s->partial)
		st = load_whole(out, e);
	else if (st == ST_NOINPUT)
		err_help(e, "a folder that `save` wrote, with files that are whole");
	words_clear(&names);
	return st;
}

/* Checks and lists like the other sources, with a copy of the node that has the names of the
 * files in place of folders. */
static enum status
load_as_files(const struct op_node *n, struct split_list *out, struct err *e)
{
	struct load copy = *(const struct load *)n->params;
	struct op_node node = *n;
	enum status st;

	if (n->n_binds && !copy.dirs.n)
		return ST_OK;
	memset(&copy.src.names, 0, sizeof copy.src.names);
	st = load_find(&copy, false, &copy.src.names, e);
	node.params = &copy;
	node.n_binds = 0;
	if (st == ST_OK && out)
		st = file_source_list(&node, out, e);
	words_clear(&copy.src.names);
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
	enum status st = self->split && self->split->kind == SPLIT_FILE ? ST_OK :
			 load_find(s, self->node->n_binds > 0, &s->src.names, e);

	s->src.delim = '\n';
	s->src.pad = json_padding();
	return st == ST_OK ? file_source_open(self, e) : st;
}

static bool
load_ends(const char *name, const char *end)
{
	size_t n = strlen(name), k = strlen(end);

	return n >= k && !strcmp(name + n - k, end);
}

/* Decodes by the ending of the file's name. */
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
	.brief = "reads the elements that save or snapshot wrote to a folder",
	.doc = "Reads the files stream by stream and shard by shard. While a save is running, or "
	       "if it was interrupted, the folder has no file SNAPSHOT and is refused (66); with "
	       "partial=true the files that are complete when reading begins are read. Elements "
	       "saved by one process without shards come in the order in which they were saved.",
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
