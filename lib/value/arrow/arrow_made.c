/* SPDX-License-Identifier: MIT */
#include "value/arrow/arrow_made.h"

#include <string.h>

#include "base/mem.h"
#include "value/arrow/arrow_lib.h"
#include "value/arrow/made_inner.h"
#include "value/dtype.h"
#include "value/mp.h"
#include "value/tensor.h"

enum {
	MADE_ROWS = 1024, MADE_BYTES = 4 << 20, /* in a batch */
	MADE_HELD = 1 << 30,  /* most bytes that are held back */
	MADE_CELLS = 1 << 24, /* in a batch, where it is up to us */
	MADE_FIELDS = 10000, MADE_DEPTH = 32, MADE_NAME = 80
};

struct arrow_made {
	struct made_node *root;
	bool loose, begun;       /* begun: the first element fixed the fields */
	bool failed;             /* elements were lost */
	struct arrow_out *out;   /* NULL: the schema is not written yet */
	struct buf held;         /* elements end to end */
	struct buf written, plain; /* plain: an element without its tensors */
	size_t rows;
};

/* ---- types ---- */

static void
made_node_free(struct made_node **at)
{
	struct made_node *n = *at;

	if (!n)
		return;
	for (size_t i = 0; i < n->n; i++)
		made_node_free(&n->kids[i]);
	mem_free(n->kids);
	mem_free(n->name);
	mem_free(n);
	*at = NULL;
}

static struct made_node *
made_kid(struct made_node *n, const void *name, size_t len)
{
	struct made_node *kid = mem_zalloc(sizeof *kid);

	kid->kind = MP_NIL;
	kid->name = mem_strndup(name, len);
	kid->name_len = len;
	n->kids = mem_grow(n->kids, &n->cap, n->n + 1, sizeof *n->kids);
	n->kids[n->n++] = kid;
	return kid;
}

/* Takes over what is known of the elements beforehand. */
static void
made_seed(struct made_node *n, const struct type *t, int depth)
{
	static const int kinds[] = { [TYPE_BOOL] = MP_BOOL, [TYPE_INT] = MP_INT, [TYPE_FLOAT] = MP_FLOAT,
		[TYPE_TEXT] = MP_TEXT, [TYPE_BYTES] = MP_BYTES };

	if (depth > MADE_DEPTH)
		return;
	if (t->kind == TYPE_LIST) {
		n->kind = MP_LIST;
		made_seed(made_kid(n, "item", 4), t->item, depth + 1);
	} else if (t->kind == TYPE_RECORD && !t->open) {
		n->kind = MP_RECORD;
		for (size_t i = 0; i < t->n_fields; i++)
			made_seed(made_kid(n, t->fields[i].name, strlen(t->fields[i].name)), t->fields[i].type, depth + 1);
	} else if (t->kind == TYPE_BOOL || t->kind == TYPE_INT || t->kind == TYPE_FLOAT || t->kind == TYPE_TEXT
		   || t->kind == TYPE_BYTES) {
		n->kind = kinds[t->kind];
	}
}

struct arrow_made *
arrow_made_new(const struct type *type, bool loose)
{
	struct arrow_made *m = mem_zalloc(sizeof *m);

	m->loose = loose;
	m->root = mem_zalloc(sizeof *m->root);
	m->root->kind = MP_RECORD;
	if (type && type->kind == TYPE_RECORD && !type->open && !loose) {
		made_seed(m->root, type, 0);
		m->begun = true;
	}
	return m;
}

void
arrow_made_free(struct arrow_made **at)
{
	struct arrow_made *m = *at;
	struct err ignored;

	if (!m)
		return;
	if (m->out)
		arrow_lib(&ignored)->out_free(m->out);
	made_node_free(&m->root);
	buf_clear(&m->held);
	buf_clear(&m->written);
	buf_clear(&m->plain);
	mem_free(m);
	*at = NULL;
}

static const char *
made_word(int kind)
{
	static const char *const words[] = { [MP_NIL] = "null", [MP_BOOL] = "bool", [MP_INT] = "int",
		[MP_FLOAT] = "float", [MP_TEXT] = "text", [MP_BYTES] = "bytes", [MP_LIST] = "a list",
		[MP_RECORD] = "a record", [MP_EXT] = "a tensor", [MP_BAD] = "malformed" };

	return words[kind];
}

static enum status
made_differs(const struct arrow_made *m, const struct made_node *n, int kind, struct err *e)
{
	err_set(e, ST_DATA, "it is %s, and the field was %s before", made_word(kind), made_word(n->kind));
	if (m->out && n->kind == MP_NIL)
		err_set(e, ST_DATA, "it is %s, and the field was null in all elements of the first batch", made_word(kind));
	if (m->out && !m->loose)
		err_help(e, "--unsparsify looks at all elements before it writes; or convert it: float(.x)");
	else
		err_help(e, "make them alike: float(.x), str(.x)");
	return ST_DATA;
}

static enum status made_join(struct arrow_made *m, struct made_node *n, const uint8_t **p, const uint8_t *end,
			     int depth, struct err *e);

static enum status
made_join_record(struct arrow_made *m, struct made_node *n, uint32_t fields, const uint8_t **p, const uint8_t *end,
		 int depth, struct err *e)
{
	bool fixed = depth ? m->out != NULL : m->begun && !m->loose;
	enum status st = ST_OK;
	struct mp key;

	for (uint32_t i = 0; i < fields && st == ST_OK; i++) {
		size_t k = 0;

		*p = mp_head(*p, end, &key);
		if (key.kind != MP_TEXT || memchr(key.p, 0, key.n))
			return err_set(e, ST_DATA, "a key of a record is not text");
		for (; k < n->n; k++) {
			const struct made_node *kid = n->kids[(i + k) % n->n];

			if (kid->name_len == key.n && !memcmp(kid->name, key.p, key.n))
				break;
		}
		bool new = k == n->n;
		if (new && (fixed || n->n >= MADE_FIELDS)) {
			err_set(e, ST_DATA, "it has a field `%.*s`, which the first %s not", key.n < MADE_NAME ? (int)key.n :
				MADE_NAME, (const char *)key.p, depth ? "batch has" : "record has");
			err_help(e, "--unsparsify gives each field of any record a column; or make the records alike: "
				 "select id name");
			return ST_DATA;
		}
		struct made_node *kid = new ? made_kid(n, key.p, key.n) : n->kids[(i + k) % n->n];
		st = made_join(m, kid, p, end, depth + 1, e);
		if (st != ST_OK && st != ST_SKIP)
			err_wrap(e, ".%.*s", key.n < MADE_NAME ? (int)key.n : MADE_NAME, (const char *)key.p);
	}
	if (st == ST_OK && !depth && fixed && fields < n->n)
		st = err_set(e, ST_DATA, "it has %u of the %zu fields of the first record", fields, n->n),
			err_help(e, "--unsparsify makes those that are missing null");
	return st;
}

/* Widens a node by the value at *p, and moves past that. */
static enum status
made_join(struct arrow_made *m, struct made_node *n, const uint8_t **p, const uint8_t *end, int depth, struct err *e)
{
	enum status st = ST_OK;
	struct mp v;

	*p = mp_head(*p, end, &v);
	if (v.kind == MP_NIL && depth)
		return ST_OK;
	if (!depth && v.kind != MP_RECORD) {
		err_set(e, ST_DATA, "it is %s, and rows of Arrow are records", made_word(v.kind));
		err_help(e, "map {value: x}");
		return ST_DATA;
	}
	if (depth > MADE_DEPTH)
		return err_set(e, ST_DATA, "it nests deeper than %d", MADE_DEPTH);
	if (v.kind == MP_EXT)
		return ST_SKIP;
	if (v.kind == MP_INT && v.unsigned_big)
		return err_set(e, ST_DATA, "an int above 2^63-1 has no column: float() or str() makes one that has");
	if (n->kind == MP_NIL && !m->out)
		n->kind = (int)v.kind;
	else if (n->kind == MP_INT && v.kind == MP_FLOAT && !m->out)
		n->kind = MP_FLOAT;
	else if (n->kind != (int)v.kind && !(n->kind == MP_FLOAT && v.kind == MP_INT))
		return made_differs(m, n, (int)v.kind, e);
	if (v.kind == MP_RECORD)
		return made_join_record(m, n, v.n, p, end, depth, e);
	if (v.kind == MP_LIST && !n->n)
		made_kid(n, "item", 4);
	for (uint32_t i = 0; v.kind == MP_LIST && i < v.n && !st; i++)
		st = made_join(m, n->kids[0], p, end, depth + 1, e);
	return st;
}

/* ---- tensors ---- */

static void
made_put_head(struct buf *out, bool list, uint32_t n)
{
	uint8_t *w = buf_room(out, MP_HEAD_MAX);

	out->len += (size_t)((list ? mp_put_list_head(w, n) : mp_put_record_head(w, n)) - w);
}

/* Appends the axes of a tensor from `axis` on as nested lists. */
static const uint8_t *
made_put_tensor(const struct tensor *t, int axis, const uint8_t *data, struct buf *out)
{
	if (axis == t->n_dims) {
		uint8_t *w = buf_room(out, MP_FLOAT_MAX);

		out->len += (size_t)(dtype_put(t->dtype, data, w) - w);
		return data + dtype_size(t->dtype);
	}
	made_put_head(out, true, (uint32_t)t->dims[axis]);
	for (uint64_t i = 0; i < t->dims[axis]; i++)
		data = made_put_tensor(t, axis + 1, data, out);
	return data;
}

/* Appends the value at p with lists in place of tensors; gives its end. ST_DATA: it cannot be. */
static enum status
made_plain(const uint8_t **p, const uint8_t *end, struct buf *out, struct err *e)
{
	const uint8_t *start = *p, *next = mp_skip(start, end);
	enum status st = ST_OK;
	struct tensor t;
	struct mp v;

	*p = mp_head(start, end, &v);
	if (v.kind == MP_EXT) {
		if (v.ext != MP_EXT_TENSOR || !tensor_read(v.p, v.n, &t) || t.count > v.n)
			return err_set(e, ST_DATA, "an extension value has no column");
		if (t.count || !t.n_dims)
			made_put_tensor(&t, 0, t.data, out);
		else /* its axes may have any length but one */
			made_put_head(out, true, 0);
	} else if (v.kind == MP_LIST || v.kind == MP_RECORD) {
		made_put_head(out, v.kind == MP_LIST, v.n);
		for (uint64_t i = 0; i < (uint64_t)v.n * (v.kind == MP_LIST ? 1 : 2) && st == ST_OK; i++)
			st = made_plain(p, end, out, e);
		return st;
	} else {
		buf_put(out, start, (size_t)(next - start));
	}
	*p = next;
	return st;
}

/* ---- the stream ---- */

enum status
arrow_made_add(struct arrow_made *m, const uint8_t *p, size_t n, struct err *e)
{
	const uint8_t *at = p;

	buf_reset(&m->plain);
	if (n > MADE_HELD - m->held.len) {
		err_set(e, ST_DATA, "the records take more than 1 GiB, and --unsparsify holds all of them back");
		err_help(e, "name the columns instead: `select a b c` gives records that are alike");
		return ST_DATA;
	}
	enum status st = made_join(m, m->root, &at, p + n, 0, e);
	if (st == ST_SKIP) { /* there is a tensor in it */
		at = p;
		st = made_plain(&at, p + n, &m->plain, e);
		p = at = m->plain.data;
		n = m->plain.len;
		if (st == ST_OK)
			st = made_join(m, m->root, &at, p + n, 0, e);
	}
	if (st != ST_OK)
		return st;
	m->begun = true;
	buf_put(&m->held, p, n);
	m->rows++;
	return ST_OK;
}

bool
arrow_made_full(const struct arrow_made *m)
{
	return !m->loose && (m->rows >= MADE_ROWS || m->held.len >= MADE_BYTES);
}

static void
made_write(void *arg, const void *p, int64_t n)
{
	struct arrow_made *m = arg;

	buf_put(&m->written, p, (size_t)n);
}

static enum status
made_begin(struct arrow_made *m, const struct arrow_plugin *lib, struct err *e)
{
	struct ArrowSchema schema;
	struct arrow_why why;

	made_schema(m->root, &schema);
	int code = lib->out_new(made_write, m, &schema, &m->out, &why);
	if (schema.release)
		schema.release(&schema);
	return code ? arrow_lib_says(code, &why, e) : ST_OK;
}

/* Makes a batch of elements from *p on, and moves past them. */
static enum status
made_batch(struct arrow_made *m, const struct arrow_plugin *lib, const uint8_t **p, struct err *e)
{
	const uint8_t *end = buf_end(&m->held), *start = *p;
	size_t n = 0, cap = 0;
	const uint8_t **rows = NULL;
	struct ArrowArray batch;
	struct arrow_why why;

	size_t most = m->root->n > MADE_CELLS / (16 * MADE_ROWS) ? MADE_CELLS / m->root->n : 16 * MADE_ROWS;
	while (*p < end && n < most && *p - start < 16 * (ptrdiff_t)MADE_BYTES) {
		rows = mem_grow(rows, &cap, n + 1, sizeof *rows);
		rows[n++] = *p;
		*p = mp_skip(*p, end);
	}
	enum status st = made_column(m->root, rows, end, n, &batch, e);
	mem_free(rows);
	if (st != ST_OK)
		return st;
	int code = lib->out_put(m->out, &batch, &why);
	if (batch.release)
		batch.release(&batch);
	return code ? arrow_lib_says(code, &why, e) : ST_OK;
}

enum status
arrow_made_flush(struct arrow_made *m, struct buf *out, struct err *e)
{
	const struct arrow_plugin *lib = arrow_lib(e);
	const uint8_t *p = m->held.data;
	enum status st = !lib ? ST_UNAVAIL : m->out ? ST_OK : made_begin(m, lib, e);

	while (st == ST_OK && p < buf_end(&m->held))
		st = made_batch(m, lib, &p, e);
	buf_reset(&m->held);
	m->rows = 0;
	if (st == ST_OK && m->written.len)
		buf_put(out, m->written.data, m->written.len);
	buf_reset(&m->written);
	m->failed |= st != ST_OK;
	return st;
}

enum status
arrow_made_end(struct arrow_made *m, struct buf *out, struct err *e)
{
	enum status st = m->failed ? err_set(e, ST_DATA, "a batch could not be made") : arrow_made_flush(m, out, e);
	struct arrow_why why;

	if (st != ST_OK)
		return st;
	int code = arrow_lib(e)->out_end(m->out, &why);
	if (code)
		return arrow_lib_says(code, &why, e);
	buf_put(out, m->written.data, m->written.len);
	buf_reset(&m->written);
	return ST_OK;
}
