/* SPDX-License-Identifier: MIT */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/flock_for.h"
#include "base/mem.h"
#include "base/replace.h"
#include "base/str.h"
#include "base/transfer.h"
#include "fetch/url.h"
#include "lang/spec.h"
#include "op/kit/seal_about.h"
#include "op/kit/seal_list.h"
#include "save.h"
#include "value/crc32c.h"

#define FOLDER_WHOLE "SNAPSHOT"
#define FOLDER_FAILED "SNAPSHOT.failed"
#define FOLDER_POSITION ".dsvc-position"
#define FOLDER_LOCK_NS 2000000000ll
enum { FOLDER_MOST = 64 << 20, FOLDER_TEXT = 1000, FOLDER_LITTLE = 64 * 1024, FOLDER_SEAL = 1 << 30 };

/* Reads a file of the folder; ST_NOINPUT: it is not there. */
static enum status
folder_read(const struct folder *f, const char *name, size_t most, struct buf *out, struct err *e)
{
	if (f->far)
		return store_read(f, name, most, out, e);
	char *path = mem_printf("%s/%s", f->path, name);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	enum status st = fd >= 0 && transfer_read_all(fd, most, out) ? ST_OK : err_errno(e, "cannot read %s", path);

	if (fd >= 0)
		close(fd);
	mem_free(path);
	return st;
}

static enum status
folder_there(const struct folder *f, const char *name, bool *there, struct err *e)
{
	if (f->far)
		return store_there(f, name, there, e);
	char *path = mem_printf("%s/%s", f->path, name);

	*there = access(path, F_OK) == 0;
	mem_free(path);
	return ST_OK;
}

/* Its error is ours; overwriting it is another matter. */
static enum status
folder_failed(const struct folder *f, struct err *e)
{
	struct buf b = { 0 };
	enum status st = folder_read(f, FOLDER_FAILED, FOLDER_TEXT, &b, e);

	if (st != ST_OK) {
		buf_clear(&b);
		if (f->far && st != ST_NOINPUT)
			return st;
		err_clear(e);
		return ST_OK;
	}
	buf_byte(&b, '\0');
	b.data[b.len > FOLDER_TEXT ? FOLDER_TEXT : b.len - 1] = '\0';
	b.data[strcspn((char *)b.data, "\n")] = '\0';
	err_set(e, ST_DATA, "the save to %s has failed: %s", f->path, (char *)b.data);
	err_help(e, "--overwrite begins anew");
	buf_clear(&b);
	return ST_DATA;
}

/* dsvc-save CHUNKS ELEMENTS BYTES SUM, and the reader's position, whose CRC-32C is SUM. */
static enum status
folder_position(struct folder *f, struct err *e)
{
	struct buf b = { 0 };
	unsigned sum = 0;
	int head = 0;

	enum status st = folder_read(f, FOLDER_POSITION, FOLDER_MOST, &b, e);

	if (st != ST_OK) {
		buf_clear(&b);
		if (st == ST_NOINPUT)
			err_clear(e);
		return st == ST_NOINPUT ? ST_OK : st;
	}
	uint8_t *end = memchr(b.data, '\n', b.len);
	if (end)
		*end = '\0';
	bool good = end && sscanf((char *)b.data, "dsvc-save %" SCNu64 " %" SCNu64 " %" SCNu64 " %8x%n", &f->sum.chunks,
				  &f->sum.elements, &f->sum.bytes, &sum, &head) == 4;
	if (good && (size_t)head == (size_t)(end - b.data)) {
		buf_put(&f->position, end + 1, b.len - (size_t)head - 1);
		good = crc32c(f->position.data, f->position.len) == sum;
	}
	f->begun = good;
	buf_clear(&b);
	if (good)
		return ST_OK;
	err_set(e, ST_DATA, "%s/" FOLDER_POSITION " is damaged", f->path);
	err_help(e, "--overwrite begins anew");
	return ST_DATA;
}

/* The job is named after the folder; a name that is too long, after a hash of it. */
static void
folder_name(struct folder *f)
{
	char hash[DATASET_ID_LEN + 1];

	if (strlen(f->path) + strlen("save ") <= PARAM_NAME_MAX) {
		snprintf(f->job, sizeof f->job, "save %s", f->path);
		return;
	}
	dataset_id(f->path, strlen(f->path), hash);
	snprintf(f->job, sizeof f->job, "save .../%s", hash);
}

/* Reads of which pipeline SNAPSHOT tells. */
static void
folder_saved(struct folder *f)
{
	struct seal_about about = { 0 };
	struct buf b = { 0 };
	struct err e;
	bool told = f->far ? f->whole && store_read(f, FOLDER_WHOLE, FOLDER_SEAL, &b, &e) == ST_OK &&
		seal_about_parse(&b, &about) : seal_about_read(f->path, &about);

	buf_clear(&b);
	if (told) {
		f->pipeline = about.pipeline;
		f->saved = about.spec;
		about.pipeline = about.spec = NULL;
	}
	seal_about_clear(&about);
}

/* Nothing that is written there ends where it should. */
static enum status
folder_cannot(const char *dir, const char *what, struct err *e)
{
	enum status st = err_errno(e, "cannot %s %s", what, dir);

	if (st == ST_NOINPUT)
		st = e->kind = ST_IO;
	err_help(e, "name a folder in which files can be written");
	return st;
}

/* The position is kept there as soon as the job has begun: whoever cannot keep it begins none. A full
 * disk may have room by then. */
static enum status
folder_try(const char *dir, struct err *e)
{
	char *name = mem_printf("%s/.dsvc-try-XXXXXX", dir);
	int fd = mkostemp(name, O_CLOEXEC);
	enum status st = fd >= 0 || errno == ENOSPC || errno == EDQUOT ? ST_OK : folder_cannot(dir, "write in", e);

	if (fd >= 0) {
		close(fd);
		unlink(name);
	}
	mem_free(name);
	return st;
}

/* Makes the folder unless it is there. */
static enum status
folder_make(const char *dir, struct folder *f, struct err *e)
{
	struct stat info;

	for (const char *c = dir; *c; c++)
		if (iscntrl((unsigned char)*c))
			return err_set(e, ST_USAGE, "the name of the folder has a control character");
	f->made = mkdir(dir, 0777) == 0;
	if (!f->made && errno != EEXIST)
		return folder_cannot(dir, "make the folder", e);
	if (stat(dir, &info))
		return folder_cannot(dir, "find", e);
	if (!S_ISDIR(info.st_mode)) {
		err_set(e, ST_USAGE, "%s is not a folder", dir);
		err_help(e, "a save is a folder of files; dsvc-read -o FILE writes one file");
		return ST_USAGE;
	}
	return folder_try(dir, e);
}

/* Finds out its name. */
static enum status
folder_path(const char *dir, struct folder *f, struct err *e)
{
	if (url_is(dir))
		return store_find(dir, f, e);
	enum status st = folder_make(dir, f, e);
	char *path = st == ST_OK ? realpath(dir, NULL) : NULL;

	if (st == ST_OK && !path)
		return err_errno(e, "cannot find %s", dir);
	f->path = mem_strdup(path);
	free(path);
	return st;
}

enum status
folder_find(const char *dir, bool overwrite, struct folder *f, struct err *e)
{
	enum status st = folder_path(dir, f, e);
	bool mark = false;

	if (st != ST_OK)
		return st;
	folder_name(f);
	st = folder_there(f, SEAL_LOCK, &mark, e);
	f->clean = !mark;
	if (st == ST_OK)
		st = folder_there(f, FOLDER_WHOLE, &f->whole, e);
	if (st != ST_OK)
		return st;
	folder_saved(f);
	if (overwrite)
		return ST_OK;
	st = folder_failed(f, e);
	return st == ST_OK ? folder_position(f, e) : st;
}

/* Removes all that a save writes. */
static enum status
folder_remove(struct folder *f, struct err *e)
{
	static const char *const prefixes[] = { "data-", ".data-", ".dsvc-ended-", ".dsvc-files", FOLDER_POSITION,
						FOLDER_WHOLE };
	DIR *d = opendir(f->path);
	struct dirent *entry;
	enum status st = ST_OK;

	if (!d)
		return err_errno(e, "cannot read %s", f->path);
	while (st == ST_OK && (entry = readdir(d)))
		for (size_t k = 0; k < sizeof prefixes / sizeof *prefixes; k++)
			if (str_starts(entry->d_name, prefixes[k]) && unlinkat(dirfd(d), entry->d_name, 0) && errno != ENOENT)
				st = err_errno(e, "cannot remove %s/%s", f->path, entry->d_name);
	closedir(d);
	return st;
}

/* The file that says whose the folder is stays, and says that it is nobody's: streams of the
 * earlier save that have not heard of its end yet do not get their files into it any more. */
enum status
folder_sweep(struct folder *f, struct err *e)
{
	f->whole = false;
	if (f->far)
		return store_sweep(f, e);
	char *path = mem_printf("%s/" SEAL_LOCK, f->path);
	int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
	bool locked = fd >= 0 && flock_for(fd, FOLDER_LOCK_NS);

	enum status st = locked && !ftruncate(fd, 0) ? ST_OK : err_errno(e, "cannot write %s", path);
	if (st == ST_OK)
		st = folder_remove(f, e);
	if (fd >= 0)
		close(fd);
	mem_free(path);
	return st;
}

void
folder_leave(struct folder *f)
{
	struct err e;
	bool mark = false;

	if (!f->clean || f->position.len)
		return;
	if (folder_there(f, SEAL_LOCK, &mark, &e) == ST_OK && mark)
		folder_sweep(f, &e);
	if (f->made)
		rmdir(f->path);
}

enum status
folder_keep(const struct folder *f, struct err *e)
{
	char *path = mem_printf("%s/" FOLDER_POSITION, f->path);
	struct buf b = { 0 };

	buf_printf(&b, "dsvc-save %" PRIu64 " %" PRIu64 " %" PRIu64 " %08" PRIx32 "\n", f->sum.chunks, f->sum.elements,
		   f->sum.bytes, crc32c(f->position.data, f->position.len));
	buf_put(&b, f->position.data, f->position.len);
	errno = 0;
	enum status st = f->far ? store_write(f, FOLDER_POSITION, &b, false, e) : replace_file(path, b.data, b.len, e);
	bool full = st == ST_IO && (errno == ENOSPC || errno == EDQUOT);
	buf_clear(&b);
	mem_free(path);
	return full ? ST_AGAIN : st;
}

bool
folder_full(const struct folder *f)
{
	struct statvfs s;

	return !f->far && !statvfs(f->path, &s) && s.f_blocks &&
		s.f_bavail * (s.f_frsize ? s.f_frsize : s.f_bsize) < FOLDER_LITTLE;
}

enum status
folder_end(struct folder *f, struct err *e)
{
	char *path = mem_printf("%s/" FOLDER_POSITION, f->path);
	bool there = false;
	enum status st = folder_there(f, FOLDER_WHOLE, &there, e);

	if (there && f->far)
		st = store_remove(f, FOLDER_POSITION, e);
	else if (there)
		unlink(path);
	mem_free(path);
	if (there || st != ST_OK)
		return st;
	err_set(e, ST_IO, "the workers have saved everything, but not here: %s has no " FOLDER_WHOLE, f->path);
	err_help(e, f->far ? "the workers' AWS_ENDPOINT_URL_S3 and keys must be those of this program" :
		 "name a folder that is shared with all workers, by the same path");
	return ST_IO;
}

void
folder_fail(const struct folder *f, const struct err *why)
{
	char *path = mem_printf("%s/" FOLDER_FAILED, f->path);
	struct buf b = { 0 };
	struct err e;

	buf_printf(&b, "%s\n", why->text);
	if (f->far)
		(void)store_write(f, FOLDER_FAILED, &b, true, &e);
	else if (access(path, F_OK))
		replace_file(path, b.data, b.len, &e);
	buf_clear(&b);
	mem_free(path);
}

void
folder_clear(struct folder *f)
{
	mem_free(f->path);
	mem_free(f->pipeline);
	mem_free(f->saved);
	buf_clear(&f->position);
}
