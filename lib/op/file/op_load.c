/* SPDX-License-Identifier: MIT
 * load: the elements that save or snapshot has written to a folder. What is in it
 * SNAPSHOT tells, with the checksum of each file.
 */
#include <stdlib.h>
#include <string.h>

#include "base/gate.h"
#include "base/mem.h"
#include "op/file/file_far.h"
#include "op/file/file_glob.h"
#include "op/file/file_source.h"
#include "op/file/load_about.h"
#include "op/file/load_wait.h"
#include "op/kit/far_wait.h"
#include "op/kit/seal.h"
#include "op/kit/seal_far.h"
#include "op/kit/shards.h"
#include "op/state.h"
#include "value/json/json.h"

struct load {
	struct file_source src; /* its names are made from dirs */
	struct words dirs;
	bool partial, wait;
	char *type;
	int codec;             /* for load_about_codec */
	struct load_wait *walk; /* wait: the way from file to file, */
	uint64_t from, until;  /* only to those with these numbers */
};

static const struct param load_params[] = {
	{ "files", PARAM_WORDS, offsetof(struct load, dirs), .flags = PARAM_REST | PARAM_PATH | PARAM_URL,
	  .help = "folders written by save or snapshot, or s3://BUCKET/PREFIX" },
	{ "partial", PARAM_BOOL, offsetof(struct load, partial), "false", .flags = PARAM_KEY_ONLY,
	  .help = "also read the complete files of a save that is still running "
		  "or was interrupted" },
	{ "wait", PARAM_BOOL, offsetof(struct load, wait), "false", .flags = PARAM_KEY_ONLY,
	  .help = "read the files of a save that is still running as they are completed, until "
		  "it has ended" },
	{ "type", PARAM_WORD, offsetof(struct load, type), .flags = PARAM_KEY_ONLY | PARAM_OPTIONAL | PARAM_NAME,
	  .help = "type that the elements must have; it may be wider than that in SNAPSHOT" },
	{ "compression", PARAM_CHOICE, offsetof(struct load, codec), "any", .flags = PARAM_KEY_ONLY,
	  .choices = LOAD_CODEC_CHOICES, .help = "compression that the files must have" },
	{ 0 }
};

/* Adds the pattern that matches such files of the folder. literal: the folder's name is data,
 * and nothing in it is a pattern. */
static void
load_pattern(const char *dir, bool literal, const char *files, struct words *out)
{
	struct buf b = { 0 };

	size_t n = strlen(dir);

	while (url_is(dir) && dir[n - 1] == '/')
		n--;
	for (const char *c = dir; c < dir + n; c++) {
		if (literal && strchr("*?[{\\", *c))
			buf_byte(&b, '\\');
		buf_byte(&b, (uint8_t)*c);
	}
	buf_printf(&b, "/%s", files);
	words_add(out, (char *)b.data, b.len);
	buf_clear(&b);
}

/* Adds the files of a folder that is complete. */
static enum status
load_whole(const char *dir, struct words *out, struct err *e)
{
	struct seal_files files = { 0 };
	enum status st = url_is(dir) ? seal_far_check(dir, &files, e) : seal_check(dir, e);

	if (st == ST_OK && !url_is(dir))
		st = seal_files_whole(dir, &files, e);
	for (size_t i = 0; st == ST_OK && i < files.n; i++)
		load_pattern(dir, url_is(dir), files.v[i].name, out);
	seal_files_clear(&files);
	return st;
}

static int
load_by_name(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Finds what tells a folder that is saved to: some of three files. A save that failed before its first element
 * has left the reason alone. */
static enum status
load_marks(const char *dir, bool literal, struct words *out, struct err *e)
{
	static const char *const names[] = { SEAL_LOCK, SEAL_NAME, SEAL_FAILED };
	enum status st = ST_OK;
	struct stat info;

	for (size_t k = 0; k < sizeof names / sizeof *names && st == ST_OK; k++) {
		struct words pattern = { 0 };

		load_pattern(dir, literal, names[k], &pattern);
		st = file_glob(&pattern, false, out, e);
		if (st == ST_NOINPUT)
			st = ST_OK;
		words_clear(&pattern);
	}
	if (st == ST_OK && !out->n) {
		st = gate_stat(dir, &info) ? err_errno(e, "cannot read '%s'", dir) :
		     err_set(e, ST_NOINPUT, "'%s' holds nothing that was saved", dir);
		err_help(e, "a folder that `save` wrote; wait=true waits until it does");
	}
	if (out->n)
		qsort(out->v, out->n, sizeof *out->v, load_by_name);
	return st;
}

/* Adds the seals of the places that match; of a place that is no pattern, whether it has one or not. */
static enum status
load_far_seals(const char *dir, bool literal, struct words *out, struct err *e)
{
	struct words pattern = { 0 };
	struct url u;
	enum status st = url_parse(dir, &u, e);

	if (st == ST_OK && u.scheme != URL_S3) {
		err_set(e, ST_DATA, "cannot load '%s': nobody can list what a web server has", dir);
		err_help(e, "msgpack ADDRESS... reads files of it that are named; s3://BUCKET/PREFIX is loaded");
		st = ST_DATA;
	}
	url_clear(&u);
	load_pattern(dir, literal, SEAL_NAME, &pattern);
	if (st == ST_OK)
		st = file_glob(&pattern, false, out, e);
	words_clear(&pattern);
	return st;
}

/* Adds the folders that match. */
static enum status
load_dirs(const char *dir, bool literal, struct words *out, struct err *e)
{
	struct words marks = { 0 };
	const char *last = NULL;
	size_t n_last = 0;
	enum status st = url_is(dir) ? load_far_seals(dir, literal, &marks, e) : load_marks(dir, literal, &marks, e);

	for (size_t k = 0; k < marks.n && st == ST_OK; k++) {
		const char *found = marks.v[k];
		size_t n = (size_t)(strrchr(found, '/') - found);

		if (!last || n != n_last || memcmp(last, found, n) != 0)
			words_add(out, found, n);
		last = found;
		n_last = n;
	}
	words_clear(&marks);
	return st;
}

/* Adds the files of the folders that match, folder by folder. */
static enum status
load_folders(const char *dir, bool literal, struct words *out, struct err *e)
{
	struct words dirs = { 0 };
	enum status st = load_dirs(dir, literal, &dirs, e);

	for (size_t k = 0; k < dirs.n && st == ST_OK; k++)
		st = load_whole(dirs.v[k], out, e);
	words_clear(&dirs);
	return st;
}

/* The folders that are whole; false: not all of them can be told now. */
static bool
load_told(const struct op_node *n, struct words *out)
{
	const struct load *s = n->params;
	struct err e;
	bool told = !n->n_binds && !file_far_any(&s->dirs); /* servers are not asked before anything is read */

	for (size_t k = 0; k < s->dirs.n && told; k++)
		told = load_dirs(s->dirs.v[k], false, out, &e) == ST_OK;
	return told;
}

static enum status
load_typing(struct op_node *n, struct op_typing *t, const struct type **type, struct err *e)
{
	const struct load *s = n->params;
	struct words dirs = { 0 };
	enum status st = ST_OK;

	*type = load_told(n, &dirs) ? load_about_type(&dirs, t->arena) : type_scalar(TYPE_ANY);
	words_clear(&dirs);
	if (!s->type)
		return ST_OK;
	const struct type *has = *type;
	*type = type_parse(t->arena, s->type, strlen(s->type), e);
	if (!*type)
		return err_wrap(e, "type="), e->kind;
	if (has->kind != TYPE_ANY)
		st = type_expect(*type, has, "type=", e);
	return st;
}

static int64_t
load_cardinality(const struct op_node *n, const int64_t *in)
{
	const struct load *s = n->params;
	struct words dirs = { 0 };
	bool sure = n->on_error == OP_FAIL && !s->partial && !s->wait && load_told(n, &dirs);
	int64_t count = sure ? load_about_count(&dirs) : -1;

	(void)in;
	words_clear(&dirs);
	return count;
}

/* Finds the files in the node's folders; literal: the folders' names come from an element. */
static enum status
load_find(const struct load *s, bool literal, struct words *out, struct err *e)
{
	struct words names = { 0 };
	enum status st = ST_OK;

	for (size_t k = 0; k < s->dirs.n && st == ST_OK; k++) {
		if (s->partial)
			load_pattern(s->dirs.v[k], literal, SHARDS_PATTERN, &names);
		else
			st = load_folders(s->dirs.v[k], literal, out, e);
	}
	if (s->partial)
		st = file_glob(&names, false, out, e);
	for (size_t k = 0; k < out->n && st == ST_OK; k++)
		st = load_about_codec(s->codec, out->v[k], e);
	if (st == ST_NOINPUT && s->partial)
		err_help(e, "a folder that `save` wrote, with files that are whole");
	words_clear(&names);
	return st;
}

/* Looks at places elsewhere without asking their server. */
static enum status
load_check_far(const struct load *s, struct err *e)
{
	struct words seals = { 0 };
	enum status st = ST_OK;

	if (s->wait) {
		err_set(e, ST_DATA, "wait=true follows the list of a folder, and s3:// has none");
		err_help(e, "load it when it is whole, or read the complete files with partial=true");
		return ST_DATA;
	}
	for (size_t k = 0; k < s->dirs.n && st == ST_OK; k++)
		if (url_is(s->dirs.v[k]) && !file_far_pattern(s->dirs.v[k]))
			st = load_far_seals(s->dirs.v[k], false, &seals, e);
	words_clear(&seals);
	return st;
}

/* Appends the files of a place as units, with the tags that its list has. */
static enum status
load_list_far(const struct load *s, const char *dir, struct split_list *out, struct err *e)
{
	struct words dirs = { 0 };
	enum status st = load_dirs(dir, false, &dirs, e);

	for (size_t k = 0; k < dirs.n && st == ST_OK; k++) {
		struct seal_files files = { 0 };

		st = seal_far_check(dirs.v[k], &files, e);
		for (size_t i = 0; i < files.n && st == ST_OK; i++) {
			char *path = mem_printf("%s/%s", dirs.v[k], files.v[i].name);
			struct split unit = { .kind = SPLIT_FILE, .whole = true, .path = path, .times = 1,
				.weight = files.v[i].bytes, .tag = files.v[i].tag };

			st = load_about_codec(s->codec, path, e);
			if (st == ST_OK)
				split_list_add(out, &unit);
			mem_free(path);
		}
		seal_files_clear(&files);
	}
	words_clear(&dirs);
	return st;
}

/* Lists the words one by one, those of folders as files are listed. */
static enum status
load_list_each(const struct op_node *n, struct load *copy, struct split_list *out, struct err *e)
{
	const struct words all = copy->dirs;
	enum status st = ST_OK;

	for (size_t k = 0; k < all.n && st == ST_OK; k++) {
		struct op_node node = *n;

		copy->dirs = (struct words){ all.v + k, 1 };
		memset(&copy->src.names, 0, sizeof copy->src.names);
		node.params = copy;
		node.n_binds = 0;
		if (url_is(all.v[k]) && !copy->partial) {
			st = load_list_far(copy, all.v[k], out, e);
			continue;
		}
		st = load_find(copy, false, &copy->src.names, e);
		if (st == ST_OK)
			st = file_source_list(&node, out, e);
		words_clear(&copy->src.names);
	}
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
	if (file_far_any(&copy.dirs)) {
		st = load_check_far(&copy, e);
		return st == ST_OK && out ? load_list_each(n, &copy, out, e) : st;
	}
	if (copy.wait) {
		struct split all = { .kind = SPLIT_RANGE, .grows = true, .cuttable = true, .count = INT64_MAX,
			.weight = INT64_MAX, .times = 1 };

		if (out)
			split_list_add(out, &all);
		return ST_OK;
	}
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

/* The file is compared with its checksum while it is read; before that, if what comes before the
 * place at which reading begins was read by another. */
static enum status
load_begin(struct op_inst *self, struct file_source *src, const char *path, bool inside, struct err *e)
{
	struct load *s = self->state;
	char *dir = mem_strdup(path), *name = strrchr(dir, '/');
	struct seal_file found;
	const struct seal_file *f = s->wait ? load_wait_last(s->walk) : NULL;
	enum status st = ST_OK;

	if (name)
		*name++ = '\0';
	struct fetch_wait w = far_wait(self->ctx);
	const struct fetch_wait *before = fetch_wait_thread(&w);
	if (!f && name && seal_files_find(dir, name, &found))
		f = &found;
	if (f && inside)
		st = seal_file_check(path, f, e);
	else if (f)
		file_bytes_expect(src->bytes, path, f);
	fetch_wait_thread(before);
	mem_free(dir);
	return st;
}

static void
load_walk_free(void *walk)
{
	load_wait_clear(walk);
	mem_free(walk);
}

/* Goes on where the split before this one left the walk. */
static void
load_walk_begin(struct op_inst *self, struct load *s)
{
	struct op_kept *kept = self->kept;

	s->from = self->split ? self->split->start : 0;
	s->until = self->split ? self->split->start + self->split->count : UINT64_MAX;
	if (kept && kept->p && load_wait_at(kept->p) <= s->from) {
		s->walk = kept->p;
		kept->p = NULL;
	} else {
		s->walk = mem_zalloc(sizeof *s->walk);
	}
}

static void
load_walk_end(struct op_inst *self, struct load *s)
{
	struct op_kept *kept = self->kept;

	if (s->walk && kept && !kept->p)
		*kept = (struct op_kept){ s->walk, load_walk_free };
	else if (s->walk)
		load_walk_free(s->walk);
	s->walk = NULL;
}

static enum status
load_open(struct op_inst *self, struct err *e)
{
	struct load *s = self->state;
	struct fetch_wait w = far_wait(self->ctx);
	const struct fetch_wait *before = fetch_wait_thread(&w);
	enum status st = s->wait || (self->split && self->split->kind == SPLIT_FILE) ? ST_OK :
			 load_find(s, self->node->n_binds > 0, &s->src.names, e);

	fetch_wait_thread(before);
	s->src.delim = '\n';
	s->src.pad = json_padding();
	s->src.begin = load_begin;
	if (s->wait)
		load_walk_begin(self, s);
	const struct split *split = self->split;
	if (s->wait) /* the walk finds the files */
		self->split = NULL;
	if (st == ST_OK)
		st = file_source_open(self, e);
	self->split = split;
	return st;
}

/* Decodes by the ending of the file's name. */
static enum status
load_decode(struct op_inst *self, struct file_source *s, struct run *out, struct err *e)
{
	char end[16];
	size_t n, k;
	const char *pack = shards_pack_end(shards_pack_of(s->name, &n));

	for (k = n; k > 0 && s->name[k - 1] != '.' && n - k < sizeof end - 1; k--)
		;
	memcpy(end, s->name + k, n - k);
	end[n - k] = '\0';
	if (!strcmp(end, "ndjson"))
		return file_ndjson(self, s, out, e);
	if (!strcmp(end, "txt"))
		return file_lines(self, s, out, e);
	if (!strcmp(end, "msgpack"))
		return file_msgpack(self, s, out, e);
	err_set(e, ST_DATA, "%s is for the source `%s`", s->name, end);
	err_help(e, "%s %s/*.%s%s", end, ((struct load *)self->state)->dirs.v[0], end, pack);
	return ST_DATA;
}

/* Adds the next file of those that are waited for. */
static enum status
load_more(struct op_inst *self, struct err *e)
{
	struct load *s = self->state;
	char *path;
	enum status st = load_wait_next(self, &s->dirs, s->walk, s->from, s->until, &path, e);

	if (st == ST_END && s->walk->dir == s->dirs.n && self->split && self->ctx->ended)
		*self->ctx->ended = (struct op_ended){ true, self->split->leaf, load_wait_at(s->walk) };
	if (st == ST_OK) {
		st = load_about_codec(s->codec, path, e);
		words_add(&s->src.files, path, strlen(path));
		mem_free(path);
	}
	return st;
}

static enum status
load_next(struct op_inst *self, struct run *out, struct err *e)
{
	const struct load *s = self->state;
	enum status st;

	do {
		st = file_source_next(self, load_decode, out, e);
	} while (st == ST_END && s->wait && (st = load_more(self, e)) == ST_OK);
	return st;
}

static void
load_close(struct op_inst *self)
{
	struct load *s = self->state;

	file_source_close(self);
	words_clear(&s->src.names);
	load_walk_end(self, s);
}

/* If files are waited for, the number of the current one comes first: their order is
 * always the same. */
static void
load_save(struct op_inst *self, struct buf *out)
{
	const struct load *s = self->state;

	if (s->wait)
		state_put_u64(out, s->src.files.n);
	file_source_save(self, out);
}

static enum status
load_restore(struct op_inst *self, const uint8_t *p, size_t n, struct err *e)
{
	struct load *s = self->state;
	struct state_in in = state_begin(p, n);
	enum status st = ST_OK;

	if (!s->wait)
		return file_source_restore(self, p, n, e);
	uint64_t files = state_get_u64(&in, UINT64_MAX);
	while (st == ST_OK && s->src.files.n < files)
		st = load_more(self, e);
	return st == ST_OK ? file_source_restore(self, in.p, (size_t)(in.end - in.p), e) : st;
}

const struct op_desc op_load = {
	.name = "load",
	.brief = "reads the elements that save or snapshot wrote to a folder",
	.doc = "Reads the files stream by stream and shard by shard. While a save is running, or if it was "
	       "interrupted, the folder has no file SNAPSHOT and is refused (66); with partial=true the files "
	       "that are complete when reading begins are read, and with wait=true all files, in the order in "
	       "which they are completed, until the save has ended; the streams of a job divide the files, "
	       "unless the job has an order. The type and the number of the elements are taken from SNAPSHOT. "
	       "A save that failed is refused (65) with its error. Each file is checked against its checksum "
	       "while it is read. If the two differ, reading ends with 65 before the last part of the file is "
	       "passed on; of a small file nothing is passed on. Elements saved by one process without shards "
	       "come in the order in which they were saved.",
	.kind = OP_SOURCE,
	.params = load_params,
	.state_size = sizeof(struct load),
	.list = load_list,
	.typing = load_typing,
	.cardinality = load_cardinality,
	.check = load_check,
	.open = load_open,
	.next = load_next,
	.close = load_close,
	.save = load_save,
	.restore = load_restore,
	.example = "load saved",
	.output = "{\"id\":0,\"name\":\"a\"}\n{\"id\":1,\"name\":\"b\"}\n",
};
