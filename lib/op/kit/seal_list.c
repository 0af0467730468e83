/* SPDX-License-Identifier: MIT */
#include "op/kit/seal_list.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/flock_for.h"
#include "base/gate.h"
#include "base/mem.h"
#include "base/replace.h"
#include "base/transfer.h"
#include "op/kit/seal_far.h"
#include "value/crc32c.h"

enum {
	SEAL_LINE = 512,         /* most bytes of a line */
	SEAL_OWN = 100,          /* and of one that says who writes a stream */
	SEAL_NAME_MAX = 255,
	SEAL_STREAMS_MAX = 1 << 20,
	SEAL_LIST_MAX = 1 << 30, /* most bytes of a list */
	SEAL_STEP = 256 * 1024
};

void
seal_files_clear(struct seal_files *l)
{
	for (size_t i = 0; i < l->n; i++) {
		mem_free(l->v[i].name);
		mem_free(l->v[i].tag);
	}
	mem_free(l->v);
	mem_free(l->gens);
	*l = (struct seal_files){ 0 };
}

static void
seal_put(struct buf *b, const struct seal_file *f)
{
	buf_printf(b, "{\"file\": \"%s\", \"elements\": %" PRIu64 ", \"bytes\": %" PRIu64, f->name, f->elements,
		   f->bytes);
	if (f->summed)
		buf_printf(b, ", \"crc32c\": \"%08" PRIx32 "\"", f->sum);
}

/* Names are those that save gives: letters, digits and . - _, perhaps within one folder. */
static bool
seal_name_ok(const char *name)
{
	for (const char *c = name; *c; c++)
		if (!isalnum((unsigned char)*c) && !strchr("._-/", *c))
			return false;
	return *name && *name != '/' && !strstr(name, "..");
}

/* Reads one line of at most SEAL_LINE bytes; false: it names no file. name has room for
 * SEAL_NAME_MAX + 1 bytes, and becomes f->name. */
static bool
seal_parse(const char *p, size_t n, char *name, struct seal_file *f)
{
	char line[SEAL_LINE + 1];

	if (n > SEAL_LINE)
		return false;
	memcpy(line, p, n);
	line[n] = '\0';
	*f = (struct seal_file){ .name = name };
	int got = sscanf(line, " {\"file\": \"%255[^\"]\", \"elements\": %" SCNu64 ", \"bytes\": %" SCNu64
			 ", \"crc32c\": \"%8" SCNx32 "\"}", name, &f->elements, &f->bytes, &f->sum);
	f->summed = got == 4;
	const char *by = strstr(line, ", \"by\": ");
	f->owned = by && sscanf(by, ", \"by\": %" SCNu32, &f->gen) == 1;
	return got >= 3 && seal_name_ok(name);
}

/* Whether the line says that a stream begins anew. */
static bool
seal_anew(const char *p, size_t n, unsigned long *stream)
{
	char line[40];

	if (n >= sizeof line)
		return false;
	memcpy(line, p, n);
	line[n] = '\0';
	return sscanf(line, "{\"anew\": %lu}", stream) == 1;
}

/* Reads a line that says who writes a stream. */
static bool
seal_own(const char *line, uint32_t *stream, struct seal_owner *o)
{
	return sscanf(line, "{\"writer\": \"%16" SCNx64 "\", \"stream\": %" SCNu32 ", \"gen\": %" SCNu32 "}", &o->writer,
		      stream, &o->gen) == 3 && *stream < SEAL_STREAMS_MAX;
}

/* Keeps the generation that such a line tells. */
static bool
seal_owned(struct seal_files *l, const char *p, size_t n)
{
	char line[SEAL_OWN + 1];
	struct seal_owner o;
	uint32_t stream;

	if (n > SEAL_OWN)
		return false;
	memcpy(line, p, n);
	line[n] = '\0';
	if (!seal_own(line, &stream, &o))
		return false;
	l->gens = mem_grow(l->gens, &l->cap_gens, stream + 1, sizeof *l->gens);
	while (l->n_gens <= stream)
		l->gens[l->n_gens++] = 0;
	if (o.gen > l->gens[stream])
		l->gens[stream] = o.gen;
	return true;
}

/* Whether a later generation had the stream before this file was listed. */
static bool
seal_late(const struct seal_files *l, const struct seal_file *f)
{
	uint32_t stream;

	return f->owned && sscanf(f->name, SEAL_DATA "%" SCNu32 "-", &stream) == 1 && stream < l->n_gens &&
		f->gen < l->gens[stream];
}

static void
seal_keep(struct seal_files *l, const struct seal_file *f)
{
	l->v = mem_grow(l->v, &l->cap, l->n + 1, sizeof *l->v);
	l->v[l->n] = *f;
	l->v[l->n].line = l->lines++;
	l->v[l->n++].name = mem_strdup(f->name);
}

/* Takes back the files of a stream that begins anew. */
static void
seal_take_back(struct seal_files *l, uint32_t stream)
{
	size_t n = 0, len;
	char *prefix = mem_printf(SEAL_DATA "%05" PRIu32 "-", stream);

	len = strlen(prefix);
	for (size_t i = 0; i < l->n; i++) {
		if (!strncmp(l->v[i].name, prefix, len))
			mem_free(l->v[i].name);
		else
			l->v[n++] = l->v[i];
	}
	l->n = n;
	mem_free(prefix);
}

/* Adds the files of all complete lines; gives the number of bytes of these. ever: also those
 * that a stream took back later. */
static size_t
seal_lines(const struct buf *b, bool ever, struct seal_files *out)
{
	size_t at = 0;
	const uint8_t *end;

	while (at < b->len && (end = memchr(b->data + at, '\n', b->len - at))) {
		const char *line = (const char *)b->data + at;
		size_t n = (size_t)(end - b->data) - at;
		char name[SEAL_NAME_MAX + 1];
		struct seal_file f;

		unsigned long stream;

		if (seal_parse(line, n, name, &f)) {
			if (!seal_late(out, &f))
				seal_keep(out, &f);
		} else if (!seal_owned(out, line, n) && !ever && seal_anew(line, n, &stream))
			seal_take_back(out, (uint32_t)stream);
		at += n + 1;
	}
	return at;
}

void
seal_files_parse(const struct buf *text, struct seal_files *out)
{
	seal_lines(text, true, out);
}

void
seal_files_line(const struct seal_file *f, struct buf *out)
{
	seal_put(out, f);
	buf_str(out, "}\n");
}

static int
seal_file_open(const char *dir, const char *name, int flags)
{
	char *path = mem_printf("%s/%s", dir, name);
	/* A save reads it, too, and may be allowed to write only; what may be written may be read. */
	enum gate side = flags == O_RDONLY && !gate_is_open(GATE_WRITE) ? GATE_READ : GATE_WRITE;
	int fd = gate_open(side, path, flags, 0666);

	mem_free(path);
	return fd;
}

/* Adds a line to the list, which is on disk when it returns. */
static enum status
seal_add(const char *dir, const struct buf *line, bool locked, struct err *e)
{
	int lock = locked ? -1 : seal_file_open(dir, SEAL_LOCK, O_RDWR | O_CREAT), fd = -1;
	struct buf b = { 0 };
	struct stat info;
	char last = '\n';
	bool good = locked || lock >= 0;

	good = good && (locked || flock_for(lock, SEAL_LOCK_NS));
	good = good && (fd = seal_file_open(dir, SEAL_LOG, O_RDWR | O_CREAT | O_APPEND)) >= 0 && !fstat(fd, &info);
	/* A line that was cut off is ended, so that it does not spoil the next one. */
	if (good && info.st_size)
		good = pread(fd, &last, 1, info.st_size - 1) == 1;
	if (last != '\n')
		buf_byte(&b, '\n');
	buf_put(&b, line->data, line->len);
	buf_byte(&b, '\n');
	good = good && transfer_write(fd, b.data, b.len) && (!fdatasync(fd) || errno == EINVAL);
	enum status st = good ? ST_OK : err_errno(e, "cannot write %s/" SEAL_LOG, dir);
	if (fd >= 0)
		close(fd);
	if (lock >= 0)
		close(lock);
	buf_clear(&b);
	return st;
}

enum status
seal_files_add(const char *dir, const struct seal_file *f, bool locked, struct err *e)
{
	struct buf line = { 0 };

	seal_put(&line, f);
	if (f->owned)
		buf_printf(&line, ", \"by\": %" PRIu32, f->gen);
	buf_str(&line, "}");
	enum status st = seal_add(dir, &line, locked, e);
	buf_clear(&line);
	return st;
}

enum status
seal_files_anew(const char *dir, uint32_t stream, struct err *e)
{
	struct buf line = { 0 };

	buf_printf(&line, "{\"anew\": %" PRIu32 "}", stream);
	enum status st = seal_add(dir, &line, false, e);
	buf_clear(&line);
	return st;
}

enum status
seal_files_own(const char *dir, uint32_t stream, const struct seal_owner *o, struct err *e)
{
	struct buf line = { 0 };

	buf_printf(&line, "{\"writer\": \"%016" PRIx64 "\", \"stream\": %" PRIu32 ", \"gen\": %" PRIu32 "}", o->writer,
		   stream, o->gen);
	enum status st = seal_add(dir, &line, true, e);
	buf_clear(&line);
	return st;
}

enum status
seal_files_promise(const char *dir, const char *name, uint64_t least, struct err *e)
{
	struct buf line = { 0 };

	buf_printf(&line, "{\"least\": %" PRIu64 ", \"of\": \"%s\"}", least, name);
	enum status st = seal_add(dir, &line, true, e);
	buf_clear(&line);
	return st;
}

/* Reads the list from byte *at on; nothing if there is none yet. */
static enum status
seal_rest(const char *dir, const off_t *at, struct buf *out, struct err *e)
{
	int fd = seal_file_open(dir, SEAL_LOG, O_RDONLY);
	struct stat info;
	enum status st = ST_OK;

	if (fd < 0)
		return *at == 0 && errno == ENOENT ? ST_OK : err_errno(e, "cannot read %s/" SEAL_LOG, dir);
	if (fstat(fd, &info) || lseek(fd, *at, SEEK_SET) < 0)
		st = err_errno(e, "cannot read %s/" SEAL_LOG, dir);
	else if (info.st_size < *at)
		st = err_set(e, ST_DATA, "'%s' was saved anew while it was being read", dir);
	else if (info.st_size > *at && !transfer_read_all(fd, SEAL_LIST_MAX, out))
		st = err_errno(e, "cannot read %s/" SEAL_LOG, dir);
	close(fd);
	return st;
}

/* By name; of those that were written several times the last one first. */
static int
seal_by_name(const void *a, const void *b)
{
	const struct seal_file *x = a, *y = b;

	int order = strcmp(x->name, y->name);

	return order ? order : x->line > y->line ? -1 : x->line < y->line;
}

/* Copies the line at *p, and moves behind it; false: there is no whole line of a usual length, which
 * *p has moved behind, or *p is NULL: none at all. */
static bool
seal_line_next(const char **p, size_t *left, char line[SEAL_LINE + 1])
{
	const char *end = *left ? memchr(*p, '\n', *left) : NULL;
	size_t n = end ? (size_t)(end - *p) : 0;
	bool usual = end && n <= SEAL_LINE;

	if (usual) {
		memcpy(line, *p, n);
		line[n] = '\0';
	}
	*left -= end ? n + 1 : *left;
	*p = end ? end + 1 : NULL;
	return usual;
}

enum status
seal_files_promised(const char *dir, struct seal_files *out, struct err *e)
{
	struct buf b = { 0 };
	off_t at = 0;
	enum status st = seal_rest(dir, &at, &b, e);
	const char *p = (const char *)b.data;
	char line[SEAL_LINE + 1], name[SEAL_NAME_MAX + 1];

	for (size_t left = b.len; left;) {
		struct seal_file f = { .name = name };

		if (seal_line_next(&p, &left, line) &&
		    sscanf(line, "{\"least\": %" SCNu64 ", \"of\": \"%255[^\"]\"}", &f.elements, name) == 2)
			seal_keep(out, &f);
	}
	if (out->n)
		qsort(out->v, out->n, sizeof *out->v, seal_by_name);
	buf_clear(&b);
	return st;
}

enum status
seal_files_owner(const char *dir, uint32_t stream, off_t *at, struct seal_owner *o, struct err *e)
{
	struct buf b = { 0 };
	enum status st = seal_rest(dir, at, &b, e);
	const char *p = (const char *)b.data;
	char line[SEAL_LINE + 1];

	for (size_t left = b.len; left;) {
		size_t before = left;
		struct seal_owner who;
		uint32_t of;
		bool usual = seal_line_next(&p, &left, line);

		if (!p) /* not whole yet */
			break;
		*at += (off_t)(before - left);
		if (usual && seal_own(line, &of, &who) && of == stream && who.gen >= o->gen)
			*o = who;
	}
	buf_clear(&b);
	return st;
}

enum status
seal_files_more(const char *dir, bool ever, off_t *at, struct seal_files *out, struct err *e)
{
	struct buf b = { 0 };
	enum status st = seal_rest(dir, at, &b, e);

	if (st == ST_OK)
		*at += (off_t)seal_lines(&b, ever, out);
	buf_clear(&b);
	return st;
}

enum status
seal_files_whole(const char *dir, struct seal_files *out, struct err *e)
{
	int fd = seal_file_open(dir, SEAL_NAME, O_RDONLY);
	struct buf b = { 0 };
	bool good = fd >= 0 && transfer_read_all(fd, SEAL_LIST_MAX, &b);

	if (!good)
		err_errno(e, "cannot read %s/" SEAL_NAME, dir);
	else
		seal_lines(&b, true, out);
	if (fd >= 0)
		close(fd);
	buf_clear(&b);
	return good ? ST_OK : e->kind;
}

enum status
seal_files_now(const char *dir, struct seal_files *out, struct err *e)
{
	off_t at = 0;
	size_t n = 0;
	enum status st = seal_files_more(dir, false, &at, out, e);

	if (out->n)
		qsort(out->v, out->n, sizeof *out->v, seal_by_name);
	for (size_t i = 0; i < out->n; i++) {
		if (n && !strcmp(out->v[n - 1].name, out->v[i].name))
			mem_free(out->v[i].name);
		else
			out->v[n++] = out->v[i];
	}
	out->n = n;
	return st;
}

void
seal_files_text(const char *fields, const struct seal_files *l, const char *rest, struct buf *out)
{
	buf_printf(out, "{%s, \"chunks\": [\n", fields);
	for (size_t i = 0; i < l->n; i++) {
		seal_put(out, &l->v[i]);
		buf_str(out, i + 1 < l->n ? "},\n" : "}\n");
	}
	buf_printf(out, "], %s\n", rest);
}

enum status
seal_files_write(const char *dir, const char *fields, const struct seal_files *l, const char *rest, struct err *e)
{
	char *path = mem_printf("%s/" SEAL_NAME, dir);
	struct buf b = { 0 };

	seal_files_text(fields, l, rest, &b);
	enum status st = replace_file(path, b.data, b.len, e);
	buf_clear(&b);
	mem_free(path);
	return st;
}

/* Reads the first whole line behind byte `at` of the list; gives where the line after it
 * begins, 0: there is none. */
static off_t
seal_line_after(int fd, off_t at, char *name, struct seal_file *f)
{
	char text[2 * SEAL_LINE + 2];
	ssize_t n = pread(fd, text, sizeof text, at);
	const char *begin = n > 0 ? memchr(text, '\n', (size_t)n) : NULL;
	const char *end = begin ? memchr(begin + 1, '\n', (size_t)(text + n - begin - 1)) : NULL;

	if (!end || !seal_parse(begin + 1, (size_t)(end - begin - 1), name, f))
		return 0;
	return at + (end - text);
}

bool
seal_files_find(const char *dir, char *name, struct seal_file *out)
{
	if (url_is(dir))
		return seal_far_find(dir, name, out);
	int fd = seal_file_open(dir, SEAL_NAME, O_RDONLY);
	char got[SEAL_NAME_MAX + 1];
	struct stat info;
	off_t from = 0, to = fd >= 0 && !fstat(fd, &info) ? info.st_size : 0;
	bool found = false;

	/* The line is one of those that begin in (from, to]. */
	while (from < to && !found) {
		off_t middle = from + (to - from) / 2;
		off_t next = seal_line_after(fd, middle, got, out);
		int order = next ? strcmp(got, name) : 1;

		found = order == 0;
		if (order < 0)
			from = next;
		else
			to = middle;
	}
	if (fd >= 0)
		close(fd);
	out->name = name;
	return found;
}

enum status
seal_file_check(const char *path, const struct seal_file *f, struct err *e)
{
	if (url_is(path))
		return seal_far_file_check(path, f, e);
	int fd = gate_open(GATE_READ, path, O_RDONLY, 0);
	uint8_t *b = fd < 0 ? NULL : mem_alloc(SEAL_STEP);
	uint64_t at = 0;
	uint32_t sum = 0;
	ssize_t n = 0;

	while (fd >= 0 && (n = transfer_read_at(fd, b, SEAL_STEP, at)) > 0) {
		sum = crc32c_more(sum, b, (size_t)n);
		at += (uint64_t)n;
	}
	enum status st = fd < 0 || n < 0 ? err_errno(e, "cannot read '%s'", path) : ST_OK;
	if (st == ST_OK && at != f->bytes)
		st = err_set(e, ST_DATA, "'%s' has %" PRIu64 " bytes, and " SEAL_NAME " says %" PRIu64, path, at, f->bytes);
	else if (st == ST_OK && f->summed && sum != f->sum)
		st = err_set(e, ST_DATA, "'%s' is damaged: its checksum is %08" PRIx32 ", and " SEAL_NAME " says %08" PRIx32,
			     path, sum, f->sum);
	if (st == ST_DATA)
		err_help(e, "save it again");
	if (fd >= 0)
		close(fd);
	mem_free(b);
	return st;
}
