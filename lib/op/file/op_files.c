/* SPDX-License-Identifier: MIT
 * files: names of files.
 */
#include <string.h>

#include "base/mem.h"
#include "base/path.h"
#include "base/rng.h"
#include "base/str.h"
#include "fetch/url.h"
#include "op/file/file_source.h"
#include "op/kit/ints.h"
#include "value/mp.h"

struct files {
	struct words names; /* the parameter; comes first, for file_source_check */
	bool shuffle;
	int64_t seed;
	struct words list;
	struct ints_walk walk;
};

static const struct param files_params[] = {
	{ "files", PARAM_WORDS, offsetof(struct files, names), .flags = PARAM_REST | PARAM_PATH | PARAM_URL,
	  .help = "names, patterns (*, ?, [a-z], {a,b}, **) and addresses (https://, s3://)" },
	{ "shuffle", PARAM_BOOL, offsetof(struct files, shuffle), "false", .flags = PARAM_KEY_ONLY,
	  .help = "list the files in random order, with another order in each pass" },
	{ "seed", PARAM_INT, offsetof(struct files, seed), "auto",
	  .flags = PARAM_ALLOW_AUTO | PARAM_KEY_ONLY,
	  .help = "equal seeds give equal orders; `auto` takes the seed of the run" },
	{ 0 }
};

static enum status
files_typing(struct op_node *n, struct op_typing *t, const struct type **type, struct err *e)
{
	(void)n, (void)t, (void)e;
	*type = type_scalar(TYPE_TEXT);
	return ST_OK;
}

/* Makes names absolute: they are passed to other operators to be opened, on any machine and in
 * any folder. */
static void
files_from_root(struct words *list)
{
	for (size_t i = 0; i < list->n; i++) {
		struct buf b = { 0 };

		if (*list->v[i] == '/' || !strcmp(list->v[i], "-") || url_is(list->v[i]))
			continue;
		path_absolute(list->v[i], "", &b);
		mem_free(list->v[i]);
		list->v[i] = buf_take(&b);
	}
}

static enum status
files_open(struct op_inst *self, struct err *e)
{
	struct files *f = self->state;
	enum status st = file_source_names(self, &f->names, &f->list, e);
	struct rng rng = { 0 };

	if (st == ST_OK)
		files_from_root(&f->list);

	f->walk = (struct ints_walk){ 0, f->list.n };
	/* Reading by index must find the same name at the same place in every stream. */
	if (st != ST_OK || !f->shuffle || self->by_index)
		return st;
	rng.key = op_rng_key(self, f->seed, true);
	for (size_t i = f->list.n; i > 1; i--) {
		size_t k = (size_t)rng_below(&rng, i);
		char *name = f->list.v[i - 1];

		f->list.v[i - 1] = f->list.v[k];
		f->list.v[k] = name;
	}
	return ST_OK;
}

static void
files_give(const struct files *f, uint64_t k, struct run *out)
{
	const char *name = f->list.v[k];
	size_t len = strlen(name);

	run_done(out, mp_put_text(run_room(out, MP_HEAD_MAX + len), name, (uint32_t)len), (uint32_t)k);
}

static enum status
files_at(struct op_inst *self, const uint64_t *index, uint32_t *k, struct run *out, struct err *e)
{
	const struct files *f = self->state;

	for (uint32_t i = 0; i < *k; i++) {
		if (index[i] >= f->list.n)
			return err_set(e, ST_DATA, "only %zu file%s left", f->list.n,
				       f->list.n == 1 ? " is" : "s are");
		files_give(f, index[i], out);
	}
	return ST_OK;
}

static enum status
files_next(struct op_inst *self, struct run *out, struct err *e)
{
	struct files *f = self->state;

	(void)e;
	for (uint32_t n = ints_walk_some(&f->walk); n; n--)
		files_give(f, f->walk.at++, out);
	return out->n ? ST_OK : ST_END;
}

static void
files_close(struct op_inst *self)
{
	struct files *f = self->state;

	words_clear(&f->list);
}

static const struct state_row files_state[] = {
	{ &ints_walk_state, offsetof(struct files, walk), 0 },
	{ 0 }
};

static bool
files_partwise(const struct op_node *n, const char **remedy)
{
	const struct files *f = n->params;

	*remedy = "files ... | shuffle all is one order of all names; or ";
	return !f->shuffle;
}

const struct op_desc op_files = {
	.name = "files",
	.brief = "lists the names of files",
	.doc = "The names that match a pattern are sorted. Folders are left out. Names are "
	       "absolute, so that they mean the same wherever they are opened; basename(x) is the "
	       "last part.",
	.kind = OP_SOURCE,
	.flags = OP_RANDOM | OP_RESHUFFLES,
	.params = files_params,
	.state_size = sizeof(struct files),
	.partwise = files_partwise,
	.typing = files_typing,
	.check = file_source_check,
	.list = file_source_list,
	.cardinality = file_source_count,
	.open = files_open,
	.next = files_next,
	.at = files_at,
	.close = files_close,
	.state_rows = files_state,
	.example = "files /etc/pass*d",
	.output = "/etc/passwd\n",
};
