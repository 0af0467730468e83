/* SPDX-License-Identifier: MIT
 * tar: WebDataset. The fields of each record become files one after another, __key__.FIELD:
 * text and bytes as they are, tensors named npy as .npy, all else as JSON. */
#include <stdio.h>
#include <string.h>

#include "base/archive_lib.h"
#include "base/mem.h"
#include "value/format/format.h"
#include "value/format/format_desc.h"
#include "value/json/json_refuse.h"
#include "value/mp.h"
#include "value/format/npy.h"
#include "value/tensor.h"

struct tar_out {
	const struct archive_lib *lib;
	struct archive *a;
	struct archive_entry *entry;
	struct buf *out;       /* output of the call in progress; lent */
	struct buf name, body;
	struct json_rules rules;
};

static la_ssize_t
tar_write(struct archive *a, void *arg, const void *p, size_t n)
{
	struct tar_out *t = arg;

	(void)a;
	buf_put(t->out, p, n);
	return (la_ssize_t)n;
}

static enum status
tar_fault(const struct tar_out *t, struct err *e)
{
	const char *why = t->lib->archive_error_string(t->a);

	return err_set(e, ST_IO, "cannot write the archive: %s", why ? why : "it fails");
}

static enum status
tar_open(struct tar_out *t, struct err *e)
{
	t->lib = archive_lib(e);
	if (!t->lib)
		return e->kind;
	t->a = t->lib->archive_write_new();
	t->entry = t->lib->archive_entry_new();
	/* ustar where that holds the name, so that any tar reads it */
	if (t->lib->archive_write_set_format_pax_restricted(t->a) != ARCHIVE_OK
	    || t->lib->archive_write_set_bytes_per_block(t->a, 0) != ARCHIVE_OK
	    || t->lib->archive_write_open(t->a, t, NULL, tar_write, NULL) != ARCHIVE_OK)
		return tar_fault(t, e);
	return ST_OK;
}

/* Writes the field's contents as a file. */
static enum status
tar_body(struct tar_out *t, const struct mp *name, const struct mp *m, const uint8_t *p, size_t n,
	 struct err *e)
{
	struct tensor tensor;

	buf_reset(&t->body);
	if (m->kind == MP_TEXT || m->kind == MP_BYTES) {
		buf_put(&t->body, m->p, m->n);
	} else if (m->kind == MP_EXT && name->n >= 3 && !memcmp(name->p + name->n - 3, "npy", 3)
		   && tensor_read(m->p, m->n, &tensor)) {
		struct npy head = { .dtype = tensor.dtype, .n_dims = tensor.n_dims };

		if (npy_has(head.dtype, e) != ST_OK)
			return e->kind;
		memcpy(head.dims, tensor.dims, sizeof head.dims);
		t->body.len += npy_put_head(&head, buf_room(&t->body, NPY_HEAD_PUT));
		buf_put(&t->body, tensor.data, tensor.size);
	} else if (json_write(p, n, &t->rules, &t->body, NULL) != ST_OK) {
		char path[64];

		snprintf(path, sizeof path, ".%.*s", name->n < 60 ? (int)name->n : 60, (const char *)name->p);
		return json_refuse_in(path, p, n, &t->rules, e);
	}
	return ST_OK;
}

static enum status
tar_field(struct tar_out *t, const struct mp *key, const struct mp *name, const uint8_t *p, size_t n,
	  struct err *e)
{
	struct mp m;

	mp_head(p, p + n, &m);
	if (m.kind == MP_NIL) /* null counts as an absent field */
		return ST_OK;
	if (name->kind != MP_TEXT || !name->n || memchr(name->p, '/', name->n)
	    || memchr(name->p, 0, name->n))
		return err_set(e, ST_DATA, "a field's name becomes the end of a file's name, and `%.*s` cannot",
			       name->kind == MP_TEXT ? (int)(name->n < 100 ? name->n : 100) : 1,
			       name->kind == MP_TEXT ? (const char *)name->p : "?");
	buf_reset(&t->name);
	buf_put(&t->name, key->p, key->n);
	buf_byte(&t->name, '.');
	buf_put(&t->name, name->p, name->n);
	if (tar_body(t, name, &m, p, n, e) != ST_OK)
		return e->kind;
	t->lib->archive_entry_clear(t->entry);
	t->lib->archive_entry_set_pathname(t->entry, (char *)t->name.data);
	t->lib->archive_entry_set_filetype(t->entry, AE_IFREG);
	t->lib->archive_entry_set_perm(t->entry, 0644);
	t->lib->archive_entry_set_mtime(t->entry, 0, 0);
	t->lib->archive_entry_set_size(t->entry, (la_int64_t)t->body.len);
	if (t->lib->archive_write_header(t->a, t->entry) < ARCHIVE_WARN
	    || t->lib->archive_write_data(t->a, t->body.data, t->body.len) != (la_ssize_t)t->body.len
	    || t->lib->archive_write_finish_entry(t->a) < ARCHIVE_WARN)
		return tar_fault(t, e);
	return ST_OK;
}

static enum status
tar_set(void *state, const struct format_opts *o, const struct type *type, struct err *e)
{
	struct tar_out *t = state;

	(void)type, (void)e;
	t->rules = o->json;
	return ST_OK;
}

static enum status
tar_elem(void *state, const uint8_t *p, size_t n, struct buf *out, struct err *e)
{
	static const char key_name[] = "__key__";
	const uint8_t *end = p + n, *value;
	struct tar_out *t = state;
	struct mp m, key, name;
	size_t len;

	t->out = out;
	if (!t->a && tar_open(t, e) != ST_OK)
		return e->kind;
	const uint8_t *at = mp_head(p, end, &m);
	if (m.kind != MP_RECORD || !mp_field(p, end, key_name, sizeof key_name - 1, &value, &len)
	    || !mp_head(value, value + len, &key) || key.kind != MP_TEXT || !key.n
	    || memchr(key.p, 0, key.n)) {
		err_set(e, ST_DATA, m.kind == MP_RECORD ? "it has no text `__key__` to name its files by"
			: "it is not a record");
		err_help(e, "map {__key__: str(i), jpg: x}");
		return ST_DATA;
	}
	for (uint32_t i = 0; i < m.n; i++) {
		at = mp_head(at, end, &name);
		const uint8_t *next = mp_skip(at, end);
		bool is_key = name.kind == MP_TEXT && name.n == sizeof key_name - 1
			&& !memcmp(name.p, key_name, name.n);

		if (!is_key && tar_field(t, &key, &name, at, (size_t)(next - at), e) != ST_OK)
			return e->kind;
		at = next;
	}
	return ST_OK;
}

static enum status
tar_end(void *state, uint64_t count, struct buf *out, struct err *e)
{
	struct tar_out *t = state;
	enum status st;

	(void)count;
	t->out = out;
	st = t->a ? ST_OK : tar_open(t, e);
	if (st == ST_OK && t->lib->archive_write_close(t->a) != ARCHIVE_OK)
		st = err_set(e, ST_DATA, "cannot end the archive: %s", t->lib->archive_error_string(t->a));
	return st;
}

static void
tar_clear(void *state)
{
	struct tar_out *t = state;
	struct buf rest = { 0 };

	/* Output that closing an unfinished archive makes is dropped. */
	t->out = &rest;
	if (t->a)
		t->lib->archive_write_free(t->a);
	if (t->entry)
		t->lib->archive_entry_free(t->entry);
	buf_clear(&rest);
	buf_clear(&t->name);
	buf_clear(&t->body);
}

const struct format_desc format_tar = { .flags = FORMAT_IS_BINARY | FORMAT_IS_FRAMED,
				       .state_size = sizeof(struct tar_out), .set = tar_set, .elem = tar_elem,
				       .end = tar_end, .clear = tar_clear };
