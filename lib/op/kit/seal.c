/* SPDX-License-Identifier: MIT */
#include "op/kit/seal.h"

#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
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

bool
seal_is(const char *name)
{
	return !strcmp(name, SEAL_NAME) || str_starts(name, SEAL_ENDED);
}

void
seal_break(const char *dir, uint32_t stream)
{
	char *mark = seal_mark(dir, stream), *seal = mem_printf("%s/" SEAL_NAME, dir);

	gate_unlink(seal); /* removed first: a seal must not stand without its marks */
	gate_unlink(mark);
	mem_free(mark);
	mem_free(seal);
}

/* The number at the start of a file of the folder, or after `key` in it; 0: none. */
static uint64_t
seal_read(int dir, const char *name, const char *key)
{
	char text[SEAL_TEXT] = "";
	int fd = openat(dir, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof text - 1);
	const char *at = n > 0 ? strstr(text, key) : NULL;

	if (fd >= 0)
		close(fd);
	return at ? strtoull(at + strlen(key), NULL, 10) : 0;
}

struct seal_look {
	uint64_t *ended;          /* numbers of the streams that have a mark */
	size_t n_ended, cap;
	uint64_t streams, files;  /* streams: the highest number of streams that a mark tells */
};

static enum status
seal_look(enum gate side, const char *dir, struct seal_look *l, struct err *e)
{
	DIR *d = gate_opendir(side, dir);
	struct dirent *entry;

	if (!d)
		return err_errno(e, "cannot read %s", dir);
	while ((entry = readdir(d))) {
		const char *name = entry->d_name;
		char *end = NULL;

		l->files += str_starts(name, SEAL_DATA);
		uint64_t stream = str_starts(name, SEAL_ENDED) ? strtoull(name + strlen(SEAL_ENDED), &end, 10) : 0;
		/* Behind the number of a mark that is being written more follows. */
		if (!end || *end)
			continue;
		l->ended = mem_grow(l->ended, &l->cap, l->n_ended + 1, sizeof *l->ended);
		l->ended[l->n_ended++] = stream;
		if (!l->streams)
			l->streams = seal_read(dirfd(d), name, "");
	}
	closedir(d);
	return ST_OK;
}

enum status
seal_end(const char *dir, uint32_t stream, uint32_t streams, uint64_t seed, struct err *e)
{
	struct seal_look l = { .streams = streams };
	char *mark = seal_mark(dir, stream), *seal = mem_printf("%s/" SEAL_NAME, dir), text[SEAL_TEXT];
	uint64_t ended = 0;

	snprintf(text, sizeof text, "%" PRIu32 "\n", streams);
	enum status st = replace_file(mark, text, strlen(text), e);
	if (st == ST_OK)
		st = seal_look(GATE_WRITE, dir, &l, e);
	for (size_t i = 0; i < l.n_ended; i++)
		ended += l.ended[i] < l.streams;
	if (st == ST_OK && l.streams && ended == l.streams) {
		snprintf(text, sizeof text, "{\"streams\": %" PRIu64 ", \"files\": %" PRIu64 ", \"seed\": %" PRIu64 "}\n",
			 l.streams, l.files, seed);
		st = replace_file(seal, text, strlen(text), e);
	}
	mem_free(l.ended);
	mem_free(mark);
	mem_free(seal);
	return st;
}

enum status
seal_check(const char *dir, struct err *e)
{
	struct seal_look l = { .streams = 1 };
	int fd = gate_open(GATE_READ, dir, O_RDONLY | O_DIRECTORY, 0);
	bool sealed = fd >= 0 && faccessat(fd, SEAL_NAME, F_OK, 0) == 0;
	uint64_t files = sealed ? seal_read(fd, SEAL_NAME, "\"files\": ") : 0;
	enum status st = fd < 0 ? err_errno(e, "cannot read '%s'", dir) : seal_look(GATE_READ, dir, &l, e);

	if (fd >= 0)
		close(fd);
	mem_free(l.ended);
	if (st != ST_OK || (sealed && l.files >= files))
		return st;
	if (sealed)
		err_set(e, ST_NOINPUT, "'%s' is not complete: %" PRIu64 " of its %" PRIu64 " files are there", dir,
			l.files, files);
	else
		err_set(e, ST_NOINPUT, "'%s' is not complete: the save has not ended, and %" PRIu64 " file%s there",
			dir, l.files, l.files == 1 ? " is" : "s are");
	err_help(e, "save it again, or read the complete files with partial=true");
	return ST_NOINPUT;
}
