/* SPDX-License-Identifier: MIT */
#include "op/file/file_source.h"

#include <string.h>

#include "base/mem.h"
#include "op/file/file_far.h"
#include "value/mp.h"

enum {
	SOURCE_WINDOW = 256 * 1024, /* fits the second-level cache; larger is not faster */
	SOURCE_READ_MIN = 32 * 1024,
	SOURCE_KEEP_MAX = 4 * 1024 * 1024, /* a window that one long line made larger is freed */
	SOURCE_HEAD = 64 /* room before the bytes of a whole file, so that these are aligned */
};

size_t
file_source_element_max(const struct op_inst *self)
{
	return self->ctx->element_max ? self->ctx->element_max : UINT32_MAX;
}

enum status
file_source_open(struct op_inst *self, struct err *e)
{
	struct file_source *s = self->state;
	const struct split *split = self->split;

	s->end = UINT64_MAX;
	if (split && split->kind == SPLIT_FILE && !split->whole) {
		s->as_is = true;
		s->start = split->start;
		s->end = split->start + split->count;
	}
	s->bytes = file_bytes_new();
	enum status st = file_named_new(&s->with_name, s->counts, &s->named, e);
	if (st != ST_OK)
		return st;
	return file_source_names(self, &s->names, &s->files, e);
}

void
file_source_close(struct op_inst *self)
{
	struct file_source *s = self->state;

	file_bytes_free(&s->bytes);
	file_named_free(&s->named);
	mem_free(s->resume_tag);
	s->resume_tag = NULL;
	block_unref(&s->window);
	words_clear(&s->files);
}

/* ---- one file ---- */

/* Empties the window. A run that somebody keeps may still lie in it; then the block is left to
 * that run. */
static void
source_empty(struct file_source *s)
{
	struct block *b = s->window;

	s->from = s->to = 0;
	if (b && (b->cap > SOURCE_KEEP_MAX || atomic_load_explicit(&b->refs, memory_order_acquire) > 1))
		block_unref(&s->window);
}

static void
source_file_done(struct file_source *s)
{
	file_bytes_close(s->bytes);
	s->open = s->bare = false;
	source_empty(s);
	s->pending = s->searched = 0;
	s->at++;
}

/* Reports that the file cannot be read, or not to its end. ST_OK: go on with the next file. */
static enum status
source_fault(struct op_inst *self, struct file_source *s, enum status st, struct err *e)
{
	if (st == ST_AGAIN) /* stopped, which is not an error */
		return st;
	st = op_source_fault(self, s->name, s->open ? s->line : 0, e);
	if (st == ST_OK)
		source_file_done(s);
	return st;
}

/* Makes room after `to`. Elements of older runs may lie in the window: then the unread bytes
 * move to a new one. */
static void
source_make_room(struct file_source *s)
{
	struct block *b = s->window;
	size_t tail = s->to - s->from, want = tail + SOURCE_READ_MIN + s->pad;

	if (b && b->cap - s->pad - s->to >= SOURCE_READ_MIN)
		return;
	bool alone = b && atomic_load_explicit(&b->refs, memory_order_acquire) == 1;
	bool huge = b && b->cap > SOURCE_KEEP_MAX && tail < SOURCE_WINDOW;
	if (alone && !huge && b->cap >= want && tail <= b->cap / 2) {
		memmove(b->data, b->data + s->from, tail);
	} else {
		size_t cap = tail < SOURCE_WINDOW / 2 ? SOURCE_WINDOW : tail * 2 + SOURCE_READ_MIN;
		struct block *bigger = block_new(cap + s->pad);

		if (tail)
			memcpy(bigger->data, b->data + s->from, tail);
		block_unref(&s->window);
		s->window = bigger;
	}
	s->from = 0;
	s->to = tail;
}

/* Reads once. ST_OK: there are more bytes, or eof is set. */
static enum status
source_more(struct file_source *s, struct err *e)
{
	size_t n, most = s->to - s->from > SOURCE_WINDOW ? s->to - s->from : SOURCE_WINDOW;

	source_make_room(s);
	size_t room = s->window->cap - s->pad - s->to;
	enum status st = file_bytes_read(s->bytes, s->window->data + s->to, room < most ? room : most,
					 &n, e);
	s->to += n;
	if (st == ST_END) {
		s->eof = true;
		st = ST_OK;
	}
	return st;
}

/* Puts n bytes that were read behind those of the window. */
static void
source_put_back(struct file_source *s, const uint8_t *p, size_t n)
{
	size_t tail = s->to - s->from;
	struct block *b = block_new(tail + n + SOURCE_READ_MIN + s->pad);

	if (tail)
		memcpy(b->data, s->window->data + s->from, tail);
	memcpy(b->data + tail, p, n);
	block_unref(&s->window);
	s->window = b;
	s->from = 0;
	s->to = tail + n;
}

bool
file_source_straight(struct file_source *s, uint8_t *p, size_t n, uint64_t lines)
{
	size_t here = s->to - s->from, have = here < n ? here : n, got = 0;
	enum status st = ST_OK;
	struct err ignored; /* the next read into the window meets it again */

	if (have)
		memcpy(p, s->window->data + s->from, have);
	for (size_t at = have; at < n && st == ST_OK; at += got)
		st = file_bytes_read(s->bytes, p + at, n - at, &got, &ignored), have = at + got;
	if (have < n) {
		s->eof = st == ST_END;
		source_put_back(s, p + here, have - here);
		return false;
	}
	size_t used = here < n ? here : n;
	file_source_take(s, used, lines);
	s->offset += n - used;
	return true;
}

const uint8_t *
file_source_lend(struct file_source *s, size_t most, size_t *n)
{
	/* The window has the end of the file. */
	if (!s->lends || s->eof)
		return NULL;
	return file_bytes_lend(s->bytes, s->offset, most, n);
}

bool
file_source_take_lent(struct file_source *s, size_t n, uint64_t lines)
{
	size_t here = s->to - s->from;
	struct err ignored;

	if (file_bytes_lost(s->bytes))
		return false;
	if (n > here && file_bytes_pass(s->bytes, s->offset + n, &ignored) != ST_OK)
		return false;
	file_source_take(s, n < here ? n : here, lines);
	if (n > here) {
		s->offset += n - here;
		source_empty(s);
	}
	return true;
}

static enum status
source_drop(struct file_source *s, struct err *e)
{
	for (;;) {
		size_t n = s->to - s->from;
		const uint8_t *p = n ? s->window->data + s->from : NULL;
		const uint8_t *end = n ? memchr(p, s->delim, n) : NULL;

		file_source_take(s, end ? (size_t)(end + 1 - p) : n, end || s->eof);
		/* Lines that begin after the end of the split belong to another. */
		if (end || s->eof || s->offset >= s->end)
			return ST_OK;
		enum status st = source_more(s, e);
		if (st != ST_OK)
			return st;
	}
}

static enum status
source_jump(struct file_source *s, uint64_t offset, uint64_t line, struct err *e)
{
	source_empty(s);
	source_make_room(s);
	enum status st = file_bytes_skip(s->bytes, offset, s->window->data,
					 s->window->cap - s->pad, &s->to, e);
	s->offset = offset;
	s->line = line;
	return st;
}

uint64_t
file_source_pass(struct file_source *s, uint64_t n)
{
	if (!s->open || s->eof || !s->unit || s->offset >= s->end)
		return 0;
	uint64_t have = (s->to - s->from + file_bytes_size(s->bytes)) / s->unit;
	uint64_t ours = (s->end - s->offset - 1) / s->unit + 1, most = have < ours ? have : ours;
	if (n >= most) /* the last one is read, so that the end is met as ever */
		n = most ? most - 1 : 0;
	if (n <= SOURCE_WINDOW / s->unit || !file_bytes_seek(s->bytes, s->offset + n * s->unit))
		return 0;
	source_empty(s);
	s->offset += n * s->unit;
	s->line += s->line ? n : 0;
	return n;
}

/* Goes to the first record that begins in the split. */
static enum status
source_align_unit(struct file_source *s, struct err *e)
{
	uint64_t offset = s->unit_base, past;

	if (s->start > offset) {
		past = (s->start - offset - 1) / s->unit + 1;
		offset += past * s->unit;
	}
	enum status st = offset > s->offset ? source_jump(s, offset, s->line, e) : ST_OK;
	if (st == ST_END && s->start) {
		s->eof = true;
		return ST_OK;
	}
	if (st == ST_OK && s->line)
		s->line = (offset - s->unit_base) / s->unit + 1;
	return st == ST_END ? err_set(e, ST_DATA, "it is shorter than its header of %llu bytes",
				      (unsigned long long)s->unit_base) : st;
}

/* Goes to the first element that begins in the split. */
static enum status
source_align(struct file_source *s, struct err *e)
{
	enum status st = ST_OK;

	if (s->resume) {
		s->resume = false;
		st = source_jump(s, s->resume_offset, s->resume_line, e);
		if (st == ST_END)
			st = err_set(e, ST_DATA, "cannot resume at byte %llu: the file is shorter now",
				     (unsigned long long)s->resume_offset);
		return st;
	}
	if (s->unit)
		return source_align_unit(s, e);
	for (uint64_t i = 0; i < s->skip && !s->eof && st == ST_OK; i++)
		st = source_drop(s, e);
	if (st != ST_OK || s->offset >= s->start)
		return st;
	/* Begins at the byte before: if that one ends a line, the first line begins right here. */
	st = source_jump(s, s->start - 1, 0, e);
	if (st == ST_END) {
		s->eof = true;
		return ST_OK;
	}
	return st == ST_OK ? source_drop(s, e) : st;
}

/* Makes sure that a file is open; ST_END: there are no more files. */
static enum status
source_ready(struct op_inst *self, struct file_source *s, bool align, struct err *e)
{
	while (!s->open) {
		if (s->at >= s->files.n)
			return ST_END;
		const char *path = s->files.v[s->at];
		s->name = file_far_origin(path);
		s->eof = false;
		s->offset = 0;
		s->line = 1;
		const char *tag = s->resume && s->resume_tag ? s->resume_tag : self->split ? self->split->tag : NULL;
		enum status st = file_bytes_open(s->bytes, path, tag, s->as_is, self->ctx, e);
		s->open = st == ST_OK;
		if (s->end != UINT64_MAX)
			file_bytes_until(s->bytes, s->end);
		if (s->text)
			file_bytes_text(s->bytes);
		if (st == ST_OK && s->begin)
			st = s->begin(self, s, path, s->resume || s->start > 0, e);
		if (st == ST_OK && align)
			st = source_align(s, e);
		if (st != ST_OK)
			st = source_fault(self, s, st, e);
		if (st != ST_OK)
			return st;
	}
	return ST_OK;
}

/* ---- elements ---- */

/* At the start of a text: passes over a byte order mark. False: more bytes are needed to tell. */
static bool
source_mark(struct file_source *s)
{
	static const uint8_t mark[3] = { 0xef, 0xbb, 0xbf };
	size_t n = s->to - s->from;

	if (n < sizeof mark)
		return s->eof || memcmp(s->window->data + s->from, mark, n) != 0;
	if (!memcmp(s->window->data + s->from, mark, sizeof mark))
		file_source_take(s, sizeof mark, 0);
	return true;
}

/* Has the decoder make a run; ST_END: it needs more bytes. */
static enum status
source_decode(struct op_inst *self, struct file_source *s, file_decode *decode, struct run *out,
	      struct err *e)
{
	struct run *plain = s->named ? file_named_plain(s->named) : out;

	if (s->text && !s->offset) {
		if (!source_mark(s))
			return ST_END;
		if (s->from == s->to)
			return ST_OK;
	}
	plain->file = out->file = s->name;
	plain->line = out->line = s->line;
	enum status st = decode(self, s, plain, e);
	/* An error comes without elements. */
	return !plain->n || plain == out ? st : file_named_put(s->named, self, s->files.v[s->at], out, e);
}

enum status
file_source_next(struct op_inst *self, file_decode *decode, struct run *out, struct err *e)
{
	struct file_source *s = self->state;

	for (;;) {
		enum status st = source_ready(self, s, true, e);
		if (st != ST_OK)
			return st;
		if (!s->bare && (s->offset >= s->end || (s->eof && s->from == s->to))) {
			if (s->offset < s->end && s->finish)
				st = s->finish(self, s, e);
			if (st == ST_OK)
				source_file_done(s);
			else if ((st = source_fault(self, s, st, e)) != ST_OK)
				return st;
			continue;
		}
		bool empty = s->straight || (s->lends && s->offset);
		if (s->bare || s->from < s->to || (empty && file_bytes_plain(s->bytes))) {
			st = source_decode(self, s, decode, out, e);
			if (out->n || (st != ST_OK && st != ST_END))
				return st == ST_END ? ST_OK : st;
			if (st == ST_OK)
				continue;
		}
		st = source_more(s, e);
		if (st != ST_OK && (st = source_fault(self, s, st, e)) != ST_OK)
			return st;
	}
}

enum status
file_source_bad(struct op_inst *self, struct file_source *s, struct err *e)
{
	if (!s->line)
		err_wrap(e, "at byte %llu", (unsigned long long)s->offset);
	return op_source_fault(self, s->name, s->line, e);
}

enum status
file_source_drop_line(struct op_inst *self, struct file_source *s, struct err *e)
{
	enum status st = source_drop(s, e);

	return st == ST_OK ? ST_OK : source_fault(self, s, st, e);
}

enum status
file_source_too_large(struct op_inst *self, struct file_source *s, const char *what, struct err *e)
{
	err_set(e, ST_DATA, "a %s of more than %zu bytes", what, file_source_element_max(self));
	err_help(e, "`options element_max=1Gi` at the start of the spec raises the limit");
	return file_source_bad(self, s, e);
}

/* Reads the rest of the current file into the window, after SOURCE_HEAD bytes. */
static enum status
source_slurp(struct op_inst *self, struct file_source *s, struct err *e)
{
	size_t max = file_source_element_max(self), n;
	uint64_t size = file_bytes_size(s->bytes);

	if (size > max)
		return file_source_too_large(self, s, "file", e) == ST_OK ? ST_SKIP : e->kind;
	/* More than the file holds, so that the end is seen without another block. */
	n = SOURCE_HEAD + (size_t)size + FILE_SNIFF;
	struct block *lent = block_lent(n);
	if (lent) {
		block_unref(&s->window);
		s->window = lent;
	} else {
		block_recycle(&s->window, n);
	}
	s->to = SOURCE_HEAD;
	for (;;) {
		struct block *b = s->window;

		if (b->cap - s->to < FILE_SNIFF) {
			struct block *bigger = block_new(b->cap * 2);

			memcpy(bigger->data + SOURCE_HEAD, b->data + SOURCE_HEAD, s->to - SOURCE_HEAD);
			block_unref(&s->window);
			s->window = b = bigger;
		}
		enum status st = file_bytes_read(s->bytes, b->data + s->to, b->cap - s->to, &n, e);
		if (st != ST_OK)
			return st == ST_END ? ST_OK : st;
		s->to += n;
		if (s->to - SOURCE_HEAD > max)
			return file_source_too_large(self, s, "file", e) == ST_OK ? ST_SKIP : e->kind;
	}
}

enum status
file_source_whole(struct op_inst *self, struct run *out, struct err *e)
{
	struct file_source *s = self->state;

	for (;;) {
		enum status st = source_ready(self, s, false, e);
		if (st != ST_OK)
			return st;
		st = source_slurp(self, s, e);
		if (st == ST_SKIP) {
			source_file_done(s);
			continue;
		}
		if (st == ST_OK)
			break;
		st = source_fault(self, s, st, e);
		if (st != ST_OK)
			return st;
	}
	uint32_t n = (uint32_t)(s->to - SOURCE_HEAD);
	uint8_t head[MP_HEAD_MAX], *p = s->window->data + SOURCE_HEAD;
	size_t head_len = (size_t)(mp_put_bytes_head(head, n) - head);

	memcpy(p - head_len, head, head_len);
	s->window->len = s->to;
	struct run *plain = s->named ? file_named_plain(s->named) : out;
	run_keep(plain, (struct elem){ p - head_len, s->window, n + (uint32_t)head_len, 0 });
	plain->file = out->file = s->name;
	if (s->named)
		plain->line = 1;
	enum status st = s->named ? file_named_put(s->named, self, s->files.v[s->at], out, e) : ST_OK;
	source_file_done(s);
	return st;
}

enum status
file_source_with_name(struct op_inst *self, struct file_source *s, file_read *read, struct run *out, struct err *e)
{
	struct run *plain = s->named ? file_named_plain(s->named) : out;
	enum status st = ST_OK;

	while (st == ST_OK && !plain->n)
		st = read(self, plain, e);
	if (st != ST_OK || plain == out)
		return st;
	out->file = plain->file;
	out->line = plain->line;
	return file_named_put(s->named, self, s->files.v[s->at], out, e);
}
