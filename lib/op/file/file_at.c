/* SPDX-License-Identifier: MIT */
#include "op/file/file_at.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/gate.h"
#include "base/mem.h"
#include "base/transfer.h"
#include "op/file/file_source.h"
#include "op/by_index.h"
#include "value/mp.h"
#include "value/origin.h"

enum {
	FILE_AT_OPEN = 128,       /* most files kept open */
	/* files are held in memory if all together have at most this many bytes ... */
	FILE_AT_HOLD = 32 << 20,
	FILE_AT_FEW = 256         /* ... and more than this many records have been read */
};

struct file_at_part {
	uint64_t first;    /* index of the file's first record */
	uint64_t base;     /* offset of that record */
	const char *name;
	unsigned tag;
	int fd;            /* descriptor; -1: closed */
	uint8_t *held;     /* all records of the file; NULL: each is read from the file */
};

/* Reports that something is wrong with a file. Each split looks at all files, so an error that
 * on_error skips is reported only by the one that begins the order. */
static enum status
file_at_fault(struct op_inst *self, struct file_at *a, const struct file_at_part *f, uint64_t record,
	      struct err *e)
{
	a->less = true;
	if (self->node->on_error != OP_FAIL && by_index_place(self->by_index)) {
		err_clear(e);
		return ST_OK;
	}
	return op_source_fault(self, f->name, record, e);
}

enum status
file_at_open(struct op_inst *self, struct file_at *a, const struct words *names, file_at_look *look,
	     struct err *e)
{
	enum status st = file_source_names(self, names, &a->files, e);

	a->v = mem_array(a->files.n + 1, sizeof *a->v);
	for (size_t i = 0; i < a->files.n; i++)
		a->v[i] = (struct file_at_part){ .fd = -1 };
	for (size_t i = 0; i < a->files.n && st == ST_OK; i++) {
		struct file_at_where where = { 0 };
		struct file_at_part *f = &a->v[i];

		f->first = a->count;
		f->name = origin_name(a->files.v[i]);
		st = look(self, a, a->files.v[i], &where, e);
		f->base = where.base;
		f->tag = where.tag;
		if (st != ST_OK)
			st = file_at_fault(self, a, f, where.bad, e);
		if (st == ST_OK && __builtin_add_overflow(a->count, where.count, &a->count))
			return err_set(e, ST_DATA, "the files have too many records");
	}
	if (st != ST_OK || a->count > UINT32_MAX)
		return st;
	a->parts = mem_array(a->files.n + 1, sizeof *a->parts);
	for (size_t i = 0; i < a->files.n; i++)
		a->parts[i] = (struct run_part){ (uint32_t)a->v[i].first, a->v[i].name, 1 };
	return ST_OK;
}

/* The last file whose first index is not above `index`. Files without records have the same
 * first index as the next one. */
static struct file_at_part *
file_at_find(struct file_at *a, uint64_t index)
{
	size_t lo = 0, hi = a->files.n;

	while (hi - lo > 1) {
		size_t mid = lo + (hi - lo) / 2;

		if (index < a->v[mid].first)
			hi = mid;
		else
			lo = mid;
	}
	return &a->v[lo];
}

/* When too many files are open, closes the next open one, going round. */
static void
file_at_make_room(struct file_at *a)
{
	while (a->n_open >= FILE_AT_OPEN) {
		struct file_at_part *f = &a->v[a->hand++ % a->files.n];

		if (f->fd < 0)
			continue;
		close(f->fd);
		f->fd = -1;
		a->n_open--;
	}
}

static enum status
file_at_pread(const struct file_at_part *f, uint8_t *p, size_t n, uint64_t offset, struct err *e)
{
	ssize_t got = transfer_read_at(f->fd, p, n, offset);

	if (got < 0)
		return err_errno(e, "cannot read it");
	if ((size_t)got < n)
		return err_set(e, ST_DATA, "the file is shorter now: it ends at byte %llu",
			       (unsigned long long)offset + (unsigned long long)got);
	return ST_OK;
}

/* Reads the whole file at once, instead of record by record. If the file has become too short,
 * nothing is held: reading the missing record will tell. */
static void
file_at_hold(struct file_at *a, struct file_at_part *f)
{
	uint64_t end = f < &a->v[a->files.n - 1] ? f[1].first : a->count;
	size_t bytes = (size_t)((end - f->first) * a->size);
	struct err ignored;

	f->held = mem_alloc(bytes);
	if (file_at_pread(f, f->held, bytes, f->base, &ignored) != ST_OK) {
		mem_free(f->held);
		f->held = NULL;
		a->read = 0;
	}
}

static enum status
file_at_read(struct file_at *a, struct file_at_part *f, uint64_t record, uint8_t *p, struct err *e)
{
	if (f->held) {
		memcpy(p, f->held + record * a->size, a->size);
		return ST_OK;
	}
	if (f->fd < 0) {
		file_at_make_room(a);
		f->fd = gate_open(GATE_READ, a->files.v[f - a->v], O_RDONLY, 0);
		if (f->fd < 0)
			return err_errno(e, "cannot open it");
		posix_fadvise(f->fd, 0, 0, POSIX_FADV_RANDOM);
		a->n_open++;
	}
	if (a->size && a->count <= FILE_AT_HOLD / a->size && ++a->read > FILE_AT_FEW)
		file_at_hold(a, f);
	return file_at_pread(f, p, a->size, f->base + record * a->size, e);
}

/* Tells the run where its elements come from; their pos are their indices. */
static void
file_at_tell(const struct file_at *a, struct run *out)
{
	if (!a->parts || !a->files.n)
		return;
	out->file = a->parts[0].file;
	out->line = 1;
	out->parts = a->parts;
	out->n_parts = (uint32_t)a->files.n;
}

enum status
file_at_give(struct op_inst *self, struct file_at *a, const uint8_t *head, size_t head_len,
	     file_at_made *made, const uint64_t *index, uint32_t *k, struct run *out, struct err *e)
{
	size_t room = head_len + a->size + MP_HEAD_MAX, bytes = 0;
	uint32_t i = 0;
	enum status st = ST_OK;

	file_at_tell(a, out);
	for (; i < *k && bytes < RUN_BYTES && st == ST_OK; i++) {
		if (index[i] >= a->count && a->less)
			continue; /* its file could not be read, which was reported */
		if (index[i] >= a->count) {
			err_set(e, ST_DATA, "only %llu record%s left", (unsigned long long)a->count,
				a->count == 1 ? " is" : "s are");
			st = op_source_fault(self, NULL, 0, e);
			continue;
		}
		struct file_at_part *f = file_at_find(a, index[i]);
		uint64_t record = index[i] - f->first;
		uint8_t *p = run_room(out, room);

		memcpy(p, head, head_len);
		st = file_at_read(a, f, record, p + head_len, e);
		if (st != ST_OK) {
			st = op_source_fault(self, f->name, record + 1, e);
			continue;
		}
		run_done(out, made ? made(self, f->tag, p, p + head_len) : p + head_len + a->size,
			 (uint32_t)index[i]);
		bytes += a->size;
	}
	*k = i;
	return st;
}

void
file_at_close(struct file_at *a)
{
	for (size_t i = 0; a->v && i < a->files.n; i++) {
		if (a->v[i].fd >= 0)
			close(a->v[i].fd);
		mem_free(a->v[i].held);
	}
	words_clear(&a->files);
	mem_free(a->v);
	mem_free(a->parts);
	*a = (struct file_at){ 0 };
}
