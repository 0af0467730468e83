/* SPDX-License-Identifier: MIT */
#include "op/kit/seal.h"

#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/gate.h"
#include "base/mem.h"
#include "base/replace.h"
#include "base/str.h"

#define SEAL_ENDED ".dsvc-ended-"
enum { SEAL_TEXT = 200 };

static char *
seal_mark(const char *dir, uint32_t stream)
{
	return mem_printf("%s/" SEAL_ENDED "%05" PRIu32, dir, stream);
}

static char *
seal_failure(const char *dir)
{
	return mem_printf("%s/" SEAL_FAILED, dir);
}

bool
seal_is(const char *name)
{
	return !strcmp(name, SEAL_NAME) || !strcmp(name, SEAL_FAILED) || !strcmp(name, SEAL_LOG) ||
	       str_starts(name, SEAL_ENDED);
}

/* Removes the stream's unfinished files; all: and those it has finished. */
static enum status
seal_remove(const char *dir, uint32_t stream, bool all, struct err *e)
{
	char *prefix = mem_printf(".%s%05" PRIu32 "-", SEAL_DATA, stream);
	DIR *d = gate_opendir(GATE_WRITE, dir);
	struct dirent *entry;

	while (d && (entry = readdir(d)))
		if (str_starts(entry->d_name, prefix) || (all && str_starts(entry->d_name, prefix + 1)))
			unlinkat(dirfd(d), entry->d_name, 0);
	mem_free(prefix);
	if (!d)
		return err_errno(e, "cannot read %s", dir);
	closedir(d);
	return ST_OK;
}

enum status
seal_break(const char *dir, uint32_t stream, struct err *e)
{
	char *mark = seal_mark(dir, stream), *seal = mem_printf("%s/" SEAL_NAME, dir), *failed = seal_failure(dir);

	gate_unlink(seal); /* removed first: a seal must not stand without its marks */
	gate_unlink(mark);
	gate_unlink(failed);
	mem_free(mark);
	mem_free(seal);
	mem_free(failed);
	enum status st = seal_remove(dir, stream, true, e);
	return st == ST_OK ? seal_files_anew(dir, stream, e) : st;
}

bool
seal_ended(const char *dir, uint32_t stream)
{
	char *mark = seal_mark(dir, stream);
	struct stat info;
	bool ended = gate_stat(mark, &info) == 0;

	mem_free(mark);
	return ended;
}

void
seal_fail(const char *dir, const struct err *why)
{
	char *path = seal_failure(dir);
	struct buf b = { 0 };
	struct err e;

	buf_printf(&b, "%s\n", why->text);
	replace_file(path, b.data, b.len, &e); /* without it the folder is not whole, either */
	buf_clear(&b);
	mem_free(path);
}

enum status
seal_failed(const char *dir, struct err *e)
{
	char *path = seal_failure(dir), text[ERR_TEXT / 2];
	int fd = gate_open(GATE_READ, path, O_RDONLY, 0);
	ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof text - 1);

	if (fd >= 0)
		close(fd);
	mem_free(path);
	if (fd < 0)
		return ST_OK;
	text[n < 0 ? 0 : n] = '\0';
	text[strcspn(text, "\n")] = '\0';
	err_set(e, ST_DATA, "the save to '%s' has failed: %s", dir, text);
	err_help(e, "save it again, or read the complete files with partial=true");
	return ST_DATA;
}

bool
seal_there(const char *dir)
{
	char *path = mem_printf("%s/" SEAL_NAME, dir);
	struct stat info;
	bool there = gate_stat(path, &info) == 0;

	mem_free(path);
	return there;
}

/* Reads a stream's mark. */
static struct seal_stream
seal_read(int dir, const char *name, uint32_t stream)
{
	char text[SEAL_TEXT] = "", *at = text;
	int fd = openat(dir, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof text - 1);
	struct seal_stream s = { .stream = stream };

	if (fd >= 0)
		close(fd);
	if (n > 0) {
		s.streams = (uint32_t)strtoull(at, &at, 10);
		s.files = strtoull(at, &at, 10);
		s.elements = strtoull(at, NULL, 10);
	}
	return s;
}

struct seal_look {
	struct seal_stream *ended; /* the streams that have a mark */
	size_t n_ended, cap;
	uint64_t streams;         /* the highest number of streams that a mark tells */
};

static enum status
seal_look(const char *dir, struct seal_look *l, struct err *e)
{
	DIR *d = gate_opendir(GATE_WRITE, dir);
	struct dirent *entry;

	if (!d)
		return err_errno(e, "cannot read %s", dir);
	while ((entry = readdir(d))) {
		const char *name = entry->d_name;
		char *end = NULL;

		uint64_t stream = str_starts(name, SEAL_ENDED) ? strtoull(name + strlen(SEAL_ENDED), &end, 10) : 0;
		/* Behind the number of a mark that is being written more follows. */
		if (!end || *end || stream > UINT32_MAX)
			continue;
		l->ended = mem_grow(l->ended, &l->cap, l->n_ended + 1, sizeof *l->ended);
		l->ended[l->n_ended] = seal_read(dirfd(d), name, (uint32_t)stream);
		if (!l->streams)
			l->streams = l->ended[l->n_ended].streams;
		l->n_ended++;
	}
	closedir(d);
	return ST_OK;
}

/* Writes the seal, with all that the folder's list has. */
static enum status
seal_write(const char *dir, const struct seal_stream *all, uint64_t seed, struct seal_about *about, struct err *e)
{
	struct seal_files files = { 0 };
	struct buf rest = { 0 };
	char fields[SEAL_TEXT];
	enum status st = seal_files_now(dir, &files, e);

	snprintf(fields, sizeof fields, "\"streams\": %" PRIu64 ", \"files\": %zu, \"seed\": %" PRIu64,
		 (uint64_t)all->streams, files.n, seed);
	if (st == ST_OK && files.n < all->files)
		st = err_set(e, ST_IO, "%s/" SEAL_LOG " has %zu files of %" PRIu64, dir, files.n, all->files);
	about->elements = about->bytes = 0;
	for (size_t i = 0; i < files.n; i++) {
		about->elements += files.v[i].elements;
		about->bytes += files.v[i].bytes;
	}
	/* Else files of two writers were mixed. */
	if (st == ST_OK && about->elements != all->elements)
		st = err_set(e, ST_IO, "%s/" SEAL_LOG " has %" PRIu64 " elements of %" PRIu64, dir, about->elements,
			     all->elements);
	seal_about_put(about, &rest);
	if (st == ST_OK)
		st = seal_files_write(dir, fields, &files, (char *)rest.data, e);
	buf_clear(&rest);
	if (st == ST_OK) {
		char *failed = seal_failure(dir); /* by a writer that others went on from */

		gate_unlink(failed);
		mem_free(failed);
	}
	seal_files_clear(&files);
	return st;
}

enum status
seal_end(const char *dir, const struct seal_stream *s, uint64_t seed, struct seal_about *about, struct err *e)
{
	struct seal_look l = { .streams = s->streams };
	char *mark = seal_mark(dir, s->stream), text[SEAL_TEXT];
	struct seal_stream all = { .streams = 0 };
	uint64_t ended = 0;

	snprintf(text, sizeof text, "%" PRIu32 " %" PRIu64 " %" PRIu64 "\n", s->streams, s->files, s->elements);
	enum status st = replace_file(mark, text, strlen(text), e);
	/* Not before the mark: a writer that misses its file sees that the stream has ended. */
	if (st == ST_OK)
		st = seal_remove(dir, s->stream, false, e); /* writers that others went on from left some */
	if (st == ST_OK)
		st = seal_look(dir, &l, e);
	for (size_t i = 0; i < l.n_ended; i++)
		if (l.ended[i].stream < l.streams) {
			ended++;
			all.files += l.ended[i].files;
			all.elements += l.ended[i].elements;
		}
	all.streams = (uint32_t)l.streams;
	if (st == ST_OK && l.streams && ended == l.streams)
		st = seal_write(dir, &all, seed, about, e);
	mem_free(l.ended);
	mem_free(mark);
	return st;
}

/* Checks that each file of the seal is there, with its size. */
static enum status
seal_check_files(const char *dir, struct err *e)
{
	struct seal_files files = { 0 };
	enum status st = seal_files_whole(dir, &files, e);
	struct stat info;
	size_t there = 0;

	for (size_t i = 0; st == ST_OK && i < files.n; i++) {
		char *path = mem_printf("%s/%s", dir, files.v[i].name);

		if (!gate_stat(path, &info)) {
			there++;
			if ((uint64_t)info.st_size != files.v[i].bytes)
				st = err_set(e, ST_DATA, "'%s' has %lld bytes, and " SEAL_NAME " says %" PRIu64, path,
					     (long long)info.st_size, files.v[i].bytes);
		}
		mem_free(path);
	}
	if (st == ST_OK && there < files.n)
		st = err_set(e, ST_NOINPUT, "'%s' is not complete: %zu of its %zu files are there", dir, there, files.n);
	seal_files_clear(&files);
	return st;
}

enum status
seal_check(const char *dir, struct err *e)
{
	struct seal_files files = { 0 };
	int fd = gate_open(GATE_READ, dir, O_RDONLY | O_DIRECTORY, 0);
	enum status st = fd < 0 ? err_errno(e, "cannot read '%s'", dir) : seal_failed(dir, e);

	if (fd >= 0)
		close(fd);
	if (st != ST_OK)
		return st;
	if (seal_there(dir)) {
		st = seal_check_files(dir, e);
		if (st != ST_OK)
			err_help(e, "save it again, or read the complete files with partial=true");
		return st;
	}
	st = seal_files_now(dir, &files, e);
	if (st == ST_OK) {
		st = err_set(e, ST_NOINPUT, "'%s' is not finished: %zu file%s so far", dir, files.n,
			     files.n == 1 ? "" : "s");
		err_help(e, "wait for the rest with wait=true, or read the complete files with partial=true");
	}
	seal_files_clear(&files);
	return st;
}
