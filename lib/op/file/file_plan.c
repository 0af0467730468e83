/* SPDX-License-Identifier: MIT
 *
 * Sources that read files, outside the run: which files, their splits, and the
 * position as bytes: [index, path, offset, line], or [index, nil, 0, 0] at the end;
 * of an object elsewhere, [index, address, offset, line, tag].
 */
#include <string.h>
#include <sys/stat.h>

#include "base/gate.h"
#include "base/mem.h"
#include "op/file/file_far.h"
#include "op/file/file_glob.h"
#include "op/file/file_source.h"
#include "op/kit/far_wait.h"
#include "value/mp.h"

enum {
	PLAN_CUT_MIN = 1024 * 1024, /* least size for which cutting a file pays */
	PLAN_CUT_FAR = 16 * 1024 * 1024, /* and an object elsewhere */
	PLAN_POSITION = 4           /* number of items in a saved position */
};

typedef bool file_may_cut(const char *path);

/* Whether the names come from an outer element, and so are data instead of patterns. */
static bool
plan_bound(const struct op_node *n)
{
	for (size_t i = 0; i < n->n_binds; i++)
		if (!strcmp(n->binds[i].row->name, "files"))
			return true;
	return false;
}

enum status
file_source_check(const struct op_node *n, struct err *e)
{
	return plan_bound(n) ? ST_OK : file_glob_any(n->params, e);
}

enum status
file_source_names(const struct op_inst *self, const struct words *names, struct words *out,
		  struct err *e)
{
	const struct split *s = self->split;

	if (!s || s->kind == SPLIT_ALL) {
		struct fetch_wait w = far_wait(self->ctx);
		const struct fetch_wait *before = fetch_wait_thread(&w);
		enum status st = file_glob(names, plan_bound(self->node), out, e);

		fetch_wait_thread(before);
		return st;
	}
	if (s->kind != SPLIT_FILE)
		return err_set(e, ST_PROTO, "%s has no such split: it reads files", self->desc->name);
	words_add(out, s->path, strlen(s->path));
	return ST_OK;
}

/* The unit of an object elsewhere; known: what its server's list says, NULL: it is asked. */
static enum status
plan_far(struct split *s, const struct fetch_about *known, file_may_cut *cut, struct err *e)
{
	struct fetch_about about = { 0 };
	enum status st = known ? ST_OK : fetch_about(s->path, GATE_READ, NULL, &about, e);

	if (known)
		fetch_about_copy(&about, known);
	if (st == ST_OK) {
		s->weight = about.size;
		s->tag = about.tag;
		/* Parts of what cannot be told from something else might be parts of two. */
		if (cut && about.parts && about.tag && about.size >= PLAN_CUT_FAR && cut(s->path)) {
			s->whole = false;
			s->cuttable = true;
			s->count = s->weight;
		}
	} else if (st != ST_AGAIN) {
		err_wrap(e, "cannot read '%s'", s->path);
	}
	if (st != ST_OK)
		fetch_about_clear(&about);
	return st;
}

static enum status
plan_list(const struct op_node *n, file_may_cut *cut, struct split_list *out, struct err *e)
{
	struct words files = { 0 };
	struct file_far far = { 0 };
	enum status st = file_glob_about(n->params, false, &files, &far, e);

	file_far_sort(&far);
	for (size_t i = 0; i < files.n && st == ST_OK; i++) {
		if (!strcmp(files.v[i], "-")) {
			/* Only the process that has this input can read it, and only once. */
			struct split all = { .kind = SPLIT_ALL, .times = 1 };

			split_list_add(out, &all);
			words_clear(&files);
			file_far_clear(&far);
			return ST_OK;
		}
	}
	for (size_t i = 0; i < files.n && st == ST_OK; i++) {
		struct split s = { .kind = SPLIT_FILE, .whole = true, .path = files.v[i], .times = 1 };
		struct stat info;

		if (url_is(s.path)) {
			st = plan_far(&s, file_far_find(&far, s.path), cut, e);
		} else if (gate_stat(s.path, &info) != 0) {
			st = err_errno(e, "cannot read '%s'", s.path);
		} else if (S_ISREG(info.st_mode)) {
			s.weight = (uint64_t)info.st_size;
			if (cut && info.st_size >= PLAN_CUT_MIN && cut(s.path)) {
				s.whole = false;
				s.cuttable = true;
				s.count = s.weight;
			}
		}
		if (st == ST_OK)
			split_list_add(out, &s);
		mem_free(s.tag);
	}
	words_clear(&files);
	file_far_clear(&far);
	return st;
}

enum status
file_source_list_lines(const struct op_node *n, struct split_list *out, struct err *e)
{
	const struct file_source *s = n->params;

	return plan_list(n, file_named_lines(&s->with_name) ? NULL : file_packing_text_at, out, e);
}

enum status
file_source_list_cut(const struct op_node *n, struct split_list *out, struct err *e)
{
	const struct file_source *s = n->params;

	return plan_list(n, file_named_lines(&s->with_name) ? NULL : file_packing_plain_at, out, e);
}

static bool
plan_anywhere(const char *path)
{
	(void)path;
	return true;
}

enum status
file_source_list_parts(const struct op_node *n, struct split_list *out, struct err *e)
{
	return plan_list(n, plan_anywhere, out, e);
}

enum status
file_source_list(const struct op_node *n, struct split_list *out, struct err *e)
{
	return plan_list(n, NULL, out, e);
}

int64_t
file_source_count(const struct op_node *n, const int64_t *in)
{
	struct words files = { 0 };
	struct err e;
	int64_t count = -1;

	(void)in;
	/* Servers are not asked for a number that is only nice to know. */
	if (!plan_bound(n) && !file_far_any(n->params) && file_glob(n->params, false, &files, &e) == ST_OK)
		count = (int64_t)files.n;
	words_clear(&files);
	return count;
}

void
file_source_save(struct op_inst *self, struct buf *out)
{
	const struct file_source *s = self->state;
	const char *path = s->at < s->files.n ? s->files.v[s->at] : NULL;
	/* A position that was restored, and not used by any read yet. */
	bool waits = !s->open && s->resume;
	const char *tag = waits ? s->resume_tag : s->open ? s->tag ? s->tag : file_bytes_tag(s->bytes) : NULL;
	size_t len = path ? strlen(path) : 0, tag_len = tag ? strlen(tag) : 0;
	uint8_t *start = buf_room(out, (PLAN_POSITION + 1) * MP_INT_MAX + 2 * MP_HEAD_MAX + len + tag_len), *p = start;

	p = mp_put_list_head(p, PLAN_POSITION + (tag != NULL));
	p = mp_put_uint(p, s->at);
	p = path ? mp_put_text(p, path, (uint32_t)len) : mp_put_nil(p);
	p = mp_put_uint(p, waits ? s->resume_offset : s->open ? s->offset : 0);
	p = mp_put_uint(p, waits ? s->resume_line : s->open ? s->line : 0);
	if (tag)
		p = mp_put_text(p, tag, (uint32_t)tag_len);
	out->len += (size_t)(p - start);
}

static bool
plan_uint(const uint8_t **p, const uint8_t *end, uint64_t *out)
{
	struct mp m;

	*p = mp_head(*p, end, &m);
	*out = *p ? m.u : 0;
	return *p && m.kind == MP_INT && !m.unsigned_big && m.i >= 0;
}

enum status
file_source_restore(struct op_inst *self, const uint8_t *p, size_t n, struct err *e)
{
	struct file_source *s = self->state;
	const uint8_t *end = p + n;
	uint64_t at, offset, line;
	struct mp m, path, tag = { .kind = MP_NIL };
	bool good = (p = mp_head(p, end, &m)) && m.kind == MP_LIST && (m.n == PLAN_POSITION || m.n == PLAN_POSITION + 1)
		&& plan_uint(&p, end, &at) && (p = mp_head(p, end, &path))
		&& (path.kind == MP_TEXT || path.kind == MP_NIL) && plan_uint(&p, end, &offset)
		&& plan_uint(&p, end, &line)
		&& (m.n == PLAN_POSITION || ((p = mp_head(p, end, &tag)) && tag.kind == MP_TEXT)) && p == end;

	if (!good)
		return err_set(e, ST_DATA, "%s: malformed position", self->desc->name);
	if (path.kind == MP_NIL) {
		s->at = s->files.n;
		return ST_OK;
	}
	/* Files may have come or gone since: the name decides, and the index is tried first
	 * because a name may occur twice. */
	size_t i = (size_t)at;
	for (size_t k = 0; k <= s->files.n; k++) {
		if (i < s->files.n && strlen(s->files.v[i]) == path.n
		    && !memcmp(s->files.v[i], path.p, path.n)) {
			s->at = i;
			s->resume = offset > 0;
			s->resume_offset = offset;
			s->resume_line = line;
			mem_free(s->resume_tag);
			s->resume_tag = tag.kind == MP_TEXT ? mem_strndup((const char *)tag.p, tag.n) : NULL;
			return ST_OK;
		}
		i = k;
	}
	return err_set(e, ST_NOINPUT, "cannot resume in '%.*s': it is no longer among the files",
		       (int)path.n, (const char *)path.p);
}
