/* SPDX-License-Identifier: MIT
 * tar: the files of archives; those whose names begin alike are one record
 * (WebDataset).
 */
#include <ctype.h>
#include <string.h>

#include "base/hash.h"
#include "base/mem.h"
#include "op/file/file_far.h"
#include "op/file/file_source.h"
#include "op/file/tar_entries.h"
#include "value/format/member.h"
#include "value/mp.h"

struct tar {
	/* names, files, at, and the position: its offset counts files of the archive */
	struct file_source src;
	bool group, decode;
	struct tar_entries *entries;
	struct json *json;
	/* name of the file that begins the next group; NULL: not read yet */
	char *name;
	bool opened, ended;      /* state of the archive */
	struct buf raw;          /* contents of one file */
	struct buf body;         /* encoded fields of the record being made */
	struct hash keys;        /* the names of these fields */
	uint64_t read;           /* files of the archive in the records given so far */
	uint64_t pending;        /* files of the archive read since then */
};

static const struct param tar_params[] = {
	{ "files", PARAM_WORDS, offsetof(struct tar, src.names), .flags = PARAM_REST | PARAM_PATH | PARAM_URL,
	  .help = "names, patterns (*, ?, [a-z], {a,b}, **) and addresses (https://, s3://); `-` is standard input" },
	{ "group", PARAM_BOOL, offsetof(struct tar, group), "true", .flags = PARAM_KEY_ONLY,
	  .help = "true: files that share a name up to its first dot become one record; false: "
		  "each file becomes a record {name, data}" },
	{ "with_name", PARAM_VALUE, offsetof(struct tar, src.with_name), .flags = PARAM_KEY_ONLY | PARAM_OPTIONAL,
	  .help = "true adds the fields `file`, the archive, and `record`, the number of its first entry in the "
		  "archive; [\"a\", \"b\"] names them so, and [\"a\"] leaves out the number" },
	{ "decode", PARAM_BOOL, offsetof(struct tar, decode), "false", .flags = PARAM_KEY_ONLY,
	  .help = "decode json, txt, cls, npy and similar files according to their names; "
		  "otherwise all contents are bytes" },
	{ 0 }
};

static enum status
tar_typing(struct op_node *n, struct op_typing *t, const struct type **type, struct err *e)
{
	const struct tar *s = n->params;
	struct type_field f[] = { { s->group ? "__key__" : "name", type_scalar(TYPE_TEXT) },
				  { "data", type_scalar(s->decode ? TYPE_ANY : TYPE_BYTES) } };

	*type = type_record(t->arena, f, s->group ? 1 : 2, s->group);
	return file_named_type(&s->src.with_name, "record", t->arena, type, e);
}

static enum status
tar_open(struct op_inst *self, struct err *e)
{
	struct tar *s = self->state;

	s->src.counts = "record";
	s->entries = tar_entries_new();
	s->json = s->decode ? json_new() : NULL;
	return file_source_open(self, e);
}

static void
tar_close(struct op_inst *self)
{
	struct tar *s = self->state;

	tar_entries_free(&s->entries);
	json_free(&s->json);
	mem_free(s->name);
	buf_clear(&s->raw);
	buf_clear(&s->body);
	hash_clear(&s->keys);
	file_source_close(self);
}

/* ---- walking ---- */

static void
tar_done(struct tar *s)
{
	tar_entries_close(s->entries);
	mem_free(s->name);
	s->name = NULL;
	s->opened = s->src.open = s->ended = false;
	s->src.at++;
}

/* Gives up an archive that cannot be read on. ST_OK: go on with the next one. */
static enum status
tar_lost(struct op_inst *self, struct tar *s, struct err *e)
{
	enum status st = op_source_fault(self, s->src.name, 0, e);
	if (st == ST_OK)
		tar_done(s);
	return st;
}

/* Reads the next file's name into s->name; sets ended at the end of the archive. */
static enum status
tar_step(struct tar *s, struct err *e)
{
	const char *name;
	enum status st = tar_entries_next(s->entries, &name, e);

	mem_free(s->name);
	s->name = st == ST_OK ? mem_strdup(name) : NULL;
	s->ended = st == ST_END;
	return s->ended ? ST_OK : st;
}

/* Makes sure that there is an archive and the first file of a group; ST_END: no more archives. */
static enum status
tar_ready(struct op_inst *self, struct tar *s, struct err *e)
{
	enum status st = ST_OK;

	while (!s->opened || s->ended) {
		if (s->opened)
			tar_done(s);
		if (s->src.at >= s->src.files.n)
			return ST_END;
		const char *path = s->src.files.v[s->src.at];
		uint64_t skip = s->src.resume ? s->src.resume_offset : 0;

		s->src.name = file_far_origin(path);
		s->src.resume = false;
		s->src.line = 0;
		st = tar_entries_open(s->entries, path, self->split ? self->split->tag : NULL, self->ctx, e);
		s->opened = s->src.open = st == ST_OK;
		s->src.offset = skip;
		do {
			st = st == ST_OK ? tar_step(s, e) : st;
		} while (st == ST_OK && skip-- && !s->ended);
		s->opened = s->src.open = true;
		if (st == ST_AGAIN)
			return st;
		if (st != ST_OK && (st = tar_lost(self, s, e)) != ST_OK)
			return st;
	}
	return ST_OK;
}

/* ---- records ---- */

/* The first dot in the last part of the name; NULL: there is none, or it comes first. */
static const char *
tar_dot(const char *name)
{
	const char *slash = strrchr(name, '/'), *base = slash ? slash + 1 : name;
	const char *dot = strchr(base, '.');

	return dot && dot > base ? dot : NULL;
}

static void
tar_put_text(struct buf *b, const char *s, size_t n)
{
	uint8_t *w = buf_room(b, n + MP_HEAD_MAX);

	b->len += (size_t)(mp_put_text(w, s, (uint32_t)n) - w);
}

/* Appends the current file as the value of its field. ST_NO: the record becomes too large. */
static enum status
tar_value(struct op_inst *self, struct tar *s, const char *kind, struct err *e)
{
	size_t max = file_source_element_max(self);

	if (s->body.len >= max)
		return ST_NO;
	buf_reset(&s->raw);
	enum status st = tar_entries_read(s->entries, max - s->body.len, &s->raw, e);
	if (st != ST_OK)
		return st;
	if (s->decode)
		return member_decode(s->json, kind, s->raw.len ? s->raw.data : (const uint8_t *)"",
				     s->raw.len, &s->body, e) == ST_OK ? ST_OK : ST_SKIP;
	uint8_t *w = buf_room(&s->body, s->raw.len + MP_HEAD_MAX);
	size_t head = (size_t)(mp_put_bytes_head(w, (uint32_t)s->raw.len) - w);
	s->body.len += head;
	buf_put(&s->body, s->raw.data, s->raw.len);
	return ST_OK;
}

/* Appends one file of a group as a field; *fields counts up. ST_SKIP: it cannot be; e says why. */
static enum status
tar_field(struct op_inst *self, struct tar *s, const char *dot, uint32_t *fields, struct err *e)
{
	char *kind = mem_strdup(dot + 1);
	enum status st;

	for (char *c = kind; *c; c++)
		*c = (char)tolower((unsigned char)*c);
	if (!strcmp(kind, "__key__")) {
		err_set(e, ST_DATA, "the file %.200s would be the field __key__, which names its group", s->name);
		st = ST_SKIP;
	} else if (hash_put_str(&s->keys, kind, s)) {
		err_set(e, ST_DATA, "the archive has two files %.200s in this group", s->name);
		st = ST_SKIP;
	} else {
		tar_put_text(&s->body, kind, strlen(kind));
		++*fields;
		st = tar_value(self, s, kind, e);
		if (st == ST_SKIP)
			err_wrap(e, "%.200s", s->name);
	}
	mem_free(kind);
	return st;
}

/* Reads the group that begins with the current file into body. *bad: some file was bad, and
 * *first is the first error. */
static enum status
tar_group(struct op_inst *self, struct tar *s, uint32_t *fields, bool *bad, struct err *first,
	  struct err *e)
{
	const char *dot = tar_dot(s->name);
	size_t len = (size_t)(dot - s->name);
	char *key = mem_strndup(s->name, len);
	enum status st = ST_OK;

	tar_put_text(&s->body, "__key__", 7);
	tar_put_text(&s->body, key, len);
	*fields = 1;
	while (st == ST_OK && s->name) {
		dot = tar_dot(s->name);
		if (!dot || (size_t)(dot - s->name) != len || memcmp(s->name, key, len))
			break;
		st = *bad ? ST_OK : tar_field(self, s, dot, fields, e);
		if (st == ST_NO)
			err_set(e, ST_DATA, "the files of %.200s are larger than the element limit", key);
		if (st == ST_NO || st == ST_SKIP) {
			*bad = true;
			*first = *e;
			st = ST_OK;
		}
		s->pending++;
		if (st == ST_OK)
			st = tar_step(s, e);
	}
	mem_free(key);
	return st;
}

static enum status
tar_single(struct op_inst *self, struct tar *s, uint32_t *fields, bool *bad, struct err *first,
	   struct err *e)
{
	enum status st;

	tar_put_text(&s->body, "name", 4);
	tar_put_text(&s->body, s->name, strlen(s->name));
	tar_put_text(&s->body, "data", 4);
	*fields = 2;
	st = tar_value(self, s, s->name, e);
	if (st == ST_NO)
		err_set(e, ST_DATA, "it is larger than the element limit");
	if (st == ST_NO || st == ST_SKIP) {
		*bad = true;
		err_wrap(e, "%.200s", s->name);
		*first = *e;
		st = ST_OK;
	}
	s->pending++;
	return st == ST_OK ? tar_step(s, e) : st;
}

/* `at`: number of the record's first file in the archive, from 1; it is its place in messages. */
static void
tar_give(struct tar *s, uint32_t fields, uint64_t at, struct run *out)
{
	if (!out->n)
		out->line = at;
	uint8_t *p = run_room(out, s->body.len + MP_HEAD_MAX), *w = mp_put_record_head(p, fields);

	memcpy(w, s->body.data, s->body.len);
	run_done(out, w + s->body.len, (uint32_t)(at - out->line));
}

/* Reads records of one archive. */
static enum status
tar_read(struct op_inst *self, struct run *out, struct err *e)
{
	struct tar *s = self->state;
	struct err first;
	size_t bytes = 0;

	while (out->n < RUN_USUAL && bytes < RUN_BYTES) {
		bool bad = false;
		uint32_t fields;
		enum status st = out->n && (!s->opened || s->ended) ? ST_END : tar_ready(self, s, e);

		if (st == ST_END && out->n)
			break;
		if (st != ST_OK)
			return st;
		out->file = s->src.name;
		s->pending = 0;
		buf_reset(&s->body);
		hash_clear(&s->keys);
		if (s->group && !tar_dot(s->name)) { /* the file belongs to no group */
			s->pending++;
			st = tar_step(s, e);
			fields = 0;
		} else {
			st = s->group ? tar_group(self, s, &fields, &bad, &first, e)
				: tar_single(self, s, &fields, &bad, &first, e);
		}
		if (st == ST_AGAIN)
			return out->n ? ST_OK : st;
		if (st != ST_OK) {
			/* A group that is cut off is not given. */
			if ((st = tar_lost(self, s, e)) != ST_OK)
				return st;
			continue;
		}
		uint64_t at = s->src.offset + 1;
		s->src.offset += s->pending;
		if (bad && (st = op_source_fault(self, s->src.name, at, &first)) != ST_OK) {
			*e = first;
			return st;
		}
		if (bad || !fields)
			continue;
		tar_give(s, fields, at, out);
		bytes += s->body.len;
	}
	return ST_OK;
}

static enum status
tar_next(struct op_inst *self, struct run *out, struct err *e)
{
	struct tar *s = self->state;

	return file_source_with_name(self, &s->src, tar_read, out, e);
}

const struct op_desc op_tar = {
	.name = "tar",
	.brief = "reads tar archives and groups their files into records by name",
	.doc = "Follows WebDataset: consecutive files whose names are the same up to the first dot "
	       "of the last part become one record. The shared part is in `__key__`, and each file "
	       "is in a field named after the rest of its name, in lower case: 0001.jpg and "
	       "0001.cls give {__key__: \"0001\", jpg: ..., cls: ...}. Folders, links and names "
	       "without a dot are passed over. With group=false each file becomes a record {name, "
	       "data}.\n\nContents are bytes. With decode=true json and jsn files become values, "
	       "txt, text and transcript files text, cls, class, index, count and id files ints, "
	       "and npy files tensors. Compressed archives are decompressed, as with `lines`. An "
	       "archive that does not end with two empty blocks was cut off, and is an error. `-t "
	       "tar` writes such archives.",
	.kind = OP_SOURCE,
	.params = tar_params,
	.state_size = sizeof(struct tar),
	.typing = tar_typing,
	.check = file_source_check,
	.list = file_source_list,
	.open = tar_open,
	.next = tar_next,
	.close = tar_close,
	.save = file_source_save,
	.restore = file_source_restore,
	.example = "tar samples.tar decode=true",
	.output = "{\"__key__\":\"a/0\",\"cls\":7,\"txt\":\"seven\"}\n"
		  "{\"__key__\":\"a/1\",\"cls\":8,\"json\":{\"x\":[1,2]}}\n",
};
