/* SPDX-License-Identifier: MIT */
#include "op/file/file_npy.h"

#include <endian.h>
#include <string.h>

#include "base/mem.h"
#include "op/file/file_glob.h"
#include "value/dtype.h"
#include "value/half.h"
#include "value/mp.h"

enum {
	NPY_LOOK = 10000, /* most files whose headers are read to count slices */
	NPY_LARGE = 64 * 1024, /* bytes of a slice that is read to where its element lies */
	NPY_RUN = 512 * 1024 /* bytes of such slices in a run, which stay in a cache */
};

/* ---- headers ---- */

enum status
file_npy_cut_off(struct err *e)
{
	return err_set(e, ST_DATA, "the file is cut off");
}

/* Reads a header like npy_head, but an array without axes, a single number, gets one axis of
 * length 1. */
static enum status
npy_head_of(const uint8_t *p, size_t n, struct npy *out, struct err *e)
{
	enum status st = npy_head(p, n, out, e);

	if (st == ST_OK && !out->n_dims) {
		out->n_dims = 1;
		out->dims[0] = 1;
	}
	return st;
}

enum status
file_npy_head_at(const char *path, bool as_is, struct npy *head, struct err *e)
{
	struct file_bytes *bytes = file_bytes_new();
	uint8_t *p = mem_alloc(NPY_FIXED + NPY_HEAD_MAX + FILE_SNIFF);
	size_t have = 0, n;
	enum status st = file_bytes_open(bytes, path, NULL, as_is, NULL, e);

	if (st == ST_OK)
		st = ST_END;
	while (st == ST_END) {
		size_t want = have < NPY_FIXED + NPY_HEAD_MAX ? 4096 : FILE_SNIFF;
		enum status got = file_bytes_read(bytes, p + have, want, &n, e);

		have += n;
		if (got != ST_OK && got != ST_END) {
			st = got;
			break;
		}
		st = npy_head_of(p, have, head, e);
		if (st == ST_END && got == ST_END)
			st = have ? file_npy_cut_off(e) : err_set(e, ST_DATA, "empty file, not .npy");
	}
	file_bytes_free(&bytes);
	mem_free(p);
	return st;
}

/* Checks that slices of the array can be elements. */
static enum status
npy_check(const struct npy *a, size_t max, struct err *e)
{
	uint64_t count;

	if (a->fortran) {
		err_set(e, ST_DATA, "it is in Fortran order, in which slices are not contiguous");
		err_help(e, "in numpy: np.save(name, np.ascontiguousarray(a))");
		return ST_DATA;
	}
	if (!npy_slice(a, &count) || count * dtype_size(a->dtype) > max - TENSOR_HEAD_MAX)
		return err_set(e, ST_DATA, "its slices are larger than the element limit");
	return ST_OK;
}

static const struct type *
npy_type(struct types *arena, const struct npy *a)
{
	int64_t dims[TYPE_DIMS_MAX];

	if (a->n_dims == 1)
		return type_scalar(a->dtype == DTYPE_BOOL ? TYPE_BOOL
				   : dtype_is_float(a->dtype) ? TYPE_FLOAT : TYPE_INT);
	for (int i = 1; i < a->n_dims; i++)
		dims[i - 1] = (int64_t)a->dims[i];
	return type_tensor(arena, a->dtype, dims, a->n_dims - 1);
}

static bool
npy_alike(const struct npy *a, const struct npy *b)
{
	return a->dtype == b->dtype && a->n_dims == b->n_dims
		&& !memcmp(a->dims + 1, b->dims + 1, (size_t)(a->n_dims - 1) * sizeof *a->dims);
}

/* The type comes from the first file, if it exists; the others must match it. */
enum status
file_npy_typing(struct op_node *n, struct op_typing *t, const struct type **type, struct err *e)
{
	struct file_npy *f = n->params;
	struct words files = { 0 };
	enum status st = ST_OK;
	struct err ignored;

	*type = type_scalar(TYPE_ANY);
	if (n->n_binds || file_glob(&f->src.names, false, &files, &ignored) != ST_OK)
		return file_named_type(&f->src.with_name, "record", t->arena, type, e);
	if (files.n && strcmp(files.v[0], "-")) {
		st = file_npy_head_at(files.v[0], false, &f->want, e);
		if (st == ST_OK)
			st = npy_check(&f->want, UINT32_MAX, e);
		if (st == ST_OK) {
			*type = npy_type(t->arena, &f->want);
			f->typed = true;
		} else if (st == ST_DATA) {
			err_wrap(e, "%s", files.v[0]);
		} else {
			st = ST_OK; /* file_source_check reports it */
		}
	}
	words_clear(&files);
	return st == ST_OK ? file_named_type(&f->src.with_name, "record", t->arena, type, e) : st;
}

static int64_t
npy_slices(const struct op_node *n, bool plain)
{
	const struct file_npy *f = n->params;
	struct words files = { 0 };
	int64_t count = 0;
	struct npy head;
	struct err e;

	if (n->n_binds || file_glob(&f->src.names, false, &files, &e) != ST_OK || files.n > NPY_LOOK)
		count = -1;
	for (size_t i = 0; i < files.n && count >= 0; i++) {
		bool good = strcmp(files.v[i], "-")
			&& (!plain || file_packing_at(files.v[i]) == FILE_PLAIN) && file_npy_head_at(files.v[i], false, &head, &e) == ST_OK
			&& !__builtin_add_overflow(count, (int64_t)head.dims[0], &count);
		if (!good)
			count = -1;
	}
	words_clear(&files);
	return count;
}

int64_t
file_npy_cardinality(const struct op_node *n, const int64_t *in)
{
	(void)in;
	return npy_slices(n, false);
}

int64_t
file_npy_indexed(const struct op_node *n)
{
	const struct file_npy *f = n->params;

	return file_named_is(&f->src.with_name) ? -1 : npy_slices(n, true); /* by index no file is known */
}

/* ---- running ---- */

enum status
file_npy_start(struct op_inst *self, struct file_npy *f, struct err *e)
{
	const struct npy *a = &f->head;
	struct buf want = { 0 }, is = { 0 };
	enum status st = npy_check(a, file_source_element_max(self), e);

	if (st != ST_OK)
		return st;
	if (f->typed && !npy_alike(a, &f->want)) {
		struct types *arena = types_new();

		type_print(npy_type(arena, a), &is);
		type_print(npy_type(arena, &f->want), &want);
		st = err_set(e, ST_DATA, "its slices are %s%s, those of the first file %s%s", is.data,
			     a->n_dims == 1 ? dtype_name(a->dtype) : "", want.data,
			     f->want.n_dims == 1 ? dtype_name(f->want.dtype) : "");
		buf_clear(&want);
		buf_clear(&is);
		types_free(&arena);
		return st;
	}
	npy_slice(a, &f->count);
	f->slice = (size_t)f->count * dtype_size(a->dtype);
	f->tensor_len = 0;
	if (a->n_dims > 1) {
		struct tensor t = { .dtype = a->dtype, .n_dims = a->n_dims - 1 };

		memcpy(t.dims, a->dims + 1, (size_t)t.n_dims * sizeof *t.dims);
		f->tensor_len = (size_t)(tensor_put_head(f->tensor, &t) - f->tensor);
	}
	f->known = true;
	return ST_OK;
}

static enum status
npy_begin(struct op_inst *self, struct file_source *s, const char *path, bool inside, struct err *e)
{
	struct file_npy *f = self->state;

	f->known = s->straight = false;
	s->unit = 0;
	if (!strcmp(path, "-") && inside)
		return err_set(e, ST_DATA, "cannot resume in the middle of standard input: the header is gone");
	if (!strcmp(path, "-"))
		return ST_OK; /* the header comes with the window */
	enum status st = file_npy_head_at(path, s->as_is, &f->head, e);
	if (st == ST_OK)
		st = file_npy_start(self, f, e);
	if (st != ST_OK)
		return st;
	/* Slices without bytes all lie where the header ends. They belong to the split that
	 * begins the file, and `line` counts them. */
	s->bare = !f->slice && f->head.dims[0] && !s->start;
	s->straight = f->slice >= NPY_LARGE && f->tensor_len && !f->head.swapped;
	s->unit = f->slice ? f->slice : 1;
	s->unit_base = f->head.head;
	/* A split does not see the end of the file, so its length is checked here. */
	if (s->as_is && f->slice && (file_bytes_size(s->bytes) - s->unit_base) / f->slice < f->head.dims[0])
		return file_npy_cut_off(e);
	return ST_OK;
}

/* Number of slices not yet given, by the position. */
static uint64_t
npy_left(const struct file_npy *f)
{
	uint64_t given = f->slice ? (f->src.offset - f->head.head) / f->slice : f->src.line - 1;

	if (!f->slice && !f->src.bare)
		return 0;
	return given < f->head.dims[0] ? f->head.dims[0] - given : 0;
}

static enum status
npy_finish(struct op_inst *self, struct file_source *s, struct err *e)
{
	struct file_npy *f = self->state;

	(void)s;
	return !f->known || npy_left(f) ? file_npy_cut_off(e) : ST_OK;
}

/* Gives up the rest of this file. */
static enum status
npy_lost(struct op_inst *self, struct file_source *s, struct err *e)
{
	struct file_npy *f = self->state;
	enum status st = file_source_bad(self, s, e);

	f->known = true;
	f->slice = 0;
	s->bare = false;
	f->head.dims[0] = 0; /* so that the end is not a second error */
	file_source_take(s, s->to - s->from, 0);
	s->eof = true;
	return st;
}

/* One loop per type, so that nothing is decided number by number. */
#define NPY_LOOP(TYPE, PUT)                                                                 \
	for (uint32_t i = 0; i < n; i++, p += sizeof(TYPE)) {                                \
		TYPE v;                                                                      \
		memcpy(&v, p, sizeof v);                                                     \
		run_done(out, PUT, i);                                                       \
	}                                                                                    \
	break

/* Copies little-endian numbers, on a little-endian machine. */
static void
npy_put_plain(enum dtype d, const uint8_t *p, uint32_t n, struct run *out)
{
	/* room for all numbers, so that the loops need not check */
	run_room(out, (size_t)n * MP_FLOAT_MAX);
#define W (out->arena->data + out->arena->len)
	switch (d) {
	case DTYPE_U8: NPY_LOOP(uint8_t, mp_put_uint(W, v));
	case DTYPE_U16: NPY_LOOP(uint16_t, mp_put_uint(W, v));
	case DTYPE_U32: NPY_LOOP(uint32_t, mp_put_uint(W, v));
	case DTYPE_U64: NPY_LOOP(uint64_t, mp_put_uint(W, v));
	case DTYPE_I8: NPY_LOOP(int8_t, mp_put_int(W, v));
	case DTYPE_I16: NPY_LOOP(int16_t, mp_put_int(W, v));
	case DTYPE_I32: NPY_LOOP(int32_t, mp_put_int(W, v));
	case DTYPE_I64: NPY_LOOP(int64_t, mp_put_int(W, v));
	case DTYPE_F32: NPY_LOOP(float, mp_put_float(W, (double)v));
	case DTYPE_F64: NPY_LOOP(double, mp_put_float(W, v));
	case DTYPE_BOOL: NPY_LOOP(uint8_t, mp_put_bool(W, v != 0));
	case DTYPE_F16: NPY_LOOP(uint16_t, mp_put_float(W, (double)f16_to_f32(v)));
	case DTYPE_BF16: NPY_LOOP(uint16_t, mp_put_float(W, (double)bf16_to_f32(v)));
	case DTYPE_COUNT: break;
	}
#undef W
}

static uint32_t
npy_put_numbers(const struct file_npy *f, const uint8_t *p, uint32_t n, struct run *out)
{
	enum dtype d = f->head.dtype;
	uint64_t one;

	if (!f->head.swapped && __BYTE_ORDER == __LITTLE_ENDIAN) {
		npy_put_plain(d, p, n, out);
		return n;
	}
	for (uint32_t i = 0; i < n; i++, p += f->slice) {
		memcpy(&one, p, f->slice);
		if (f->head.swapped)
			npy_swap((uint8_t *)&one, 1, f->slice);
		run_done(out, dtype_put(d, (uint8_t *)&one, run_room(out, MP_FLOAT_MAX)), i);
	}
	return n;
}

static uint32_t
npy_put_tensors(const struct file_npy *f, const uint8_t *p, uint32_t n, struct run *out)
{
	uint32_t i = 0;

	for (size_t bytes = 0; i < n && bytes < RUN_BYTES; i++, p += f->slice, bytes += f->slice) {
		uint8_t *w = run_room(out, f->tensor_len + f->slice);

		memcpy(w, f->tensor, f->tensor_len);
		w += f->tensor_len;
		if (f->slice)
			memcpy(w, p, f->slice);
		if (f->head.swapped)
			npy_swap(w, (size_t)f->count, dtype_size(f->head.dtype));
		run_done(out, w + f->slice, i);
	}
	return i;
}

/* Makes elements of up to n slices without a copy in between; gives their number. */
static uint32_t
npy_put_straight(const struct file_npy *f, struct file_source *s, uint64_t n, struct run *out)
{
	size_t each = f->tensor_len + f->slice;
	uint32_t i = 0, most = (uint32_t)(NPY_RUN / f->slice + 1);

	n = n < most ? n : most;
	run_room(out, n * each); /* one block for all */
	for (; i < n; i++) {
		uint8_t *w = run_room(out, each);

		memcpy(w, f->tensor, f->tensor_len);
		w += f->tensor_len;
		if (!file_source_straight(s, w, f->slice, 1))
			break;
		run_done(out, w + f->slice, i);
	}
	return i;
}

/* The file_decode of npy. */
static enum status
npy_decode(struct op_inst *self, struct file_source *s, struct run *out, struct err *e)
{
	struct file_npy *f = self->state;
	const uint8_t *p = s->window ? s->window->data + s->from : NULL;
	size_t here = s->to - s->from;

	if (!f->known) {
		enum status st = npy_head_of(p, here, &f->head, e);

		if (st == ST_END && !s->eof)
			return ST_END;
		if (st == ST_END)
			st = file_npy_cut_off(e);
		if (st == ST_OK)
			st = file_npy_start(self, f, e);
		if (st != ST_OK)
			return npy_lost(self, s, e);
		file_source_take(s, f->head.head, 0);
		s->bare = !f->slice && f->head.dims[0];
		return ST_OK;
	}
	uint64_t left = npy_left(f), ours = s->end - s->offset;
	if (s->bare) {
		uint32_t bare = left < RUN_USUAL ? (uint32_t)left : RUN_USUAL;

		s->bare = left > bare;
		file_source_take(s, 0, npy_put_tensors(f, NULL, bare, out));
		return ST_OK;
	}
	if (!left && !here && !s->eof)
		return ST_END;
	if (!left) {
		err_set(e, ST_DATA, "%s%zu bytes after the end of the array", s->eof ? "" : "at least ",
			here);
		return npy_lost(self, s, e);
	}
	ours = (ours - 1) / f->slice + (ours < UINT64_MAX);
	left = ours < left ? ours : left;
	if (s->straight && !s->eof && file_bytes_plain(s->bytes))
		return npy_put_straight(f, s, left, out) || s->eof ? ST_OK : ST_END;
	uint64_t whole = here / f->slice;
	uint32_t n = (uint32_t)(whole < left ? whole : left);
	n = whole >= RUN_USUAL && left >= RUN_USUAL ? RUN_USUAL : n;
	if (!n && s->eof) {
		file_npy_cut_off(e);
		return npy_lost(self, s, e);
	}
	if (!n)
		return ST_END;
	n = f->tensor_len ? npy_put_tensors(f, p, n, out) : npy_put_numbers(f, p, n, out);
	file_source_take(s, n * f->slice, n);
	return ST_OK;
}

enum status
file_npy_open(struct op_inst *self, struct err *e)
{
	struct file_npy *f = self->state;

	f->src.counts = "record";
	if (self->by_index)
		return file_at_open(self, &f->at, &f->src.names, file_npy_look, e);
	f->src.begin = npy_begin;
	f->src.finish = npy_finish;
	return file_source_open(self, e);
}

enum status
file_npy_next(struct op_inst *self, struct run *out, struct err *e)
{
	return file_source_next(self, npy_decode, out, e);
}

uint64_t
file_npy_pass(struct op_inst *self, uint64_t n)
{
	struct file_npy *f = self->state;

	return !f->known || f->src.bare || !f->slice ? 0 : file_source_pass(&f->src, n < npy_left(f) ? n : npy_left(f));
}
