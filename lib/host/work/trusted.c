/* SPDX-License-Identifier: MIT */
#include "host/work/trusted.h"

#include <ctype.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/transfer.h"
#include "lang/spec.h"

enum { TRUSTED_BYTES = 16 << 20, TRUSTED_SIZE = DATASET_HASH_LEN + 1 };

/* Written once, before there are threads. */
static struct {
	char (*v)[TRUSTED_SIZE]; /* sorted */
	size_t n, cap;
	char *file;
} trusted;

static int
trusted_compare(const void *a, const void *b)
{
	return memcmp(a, b, DATASET_HASH_LEN);
}

static enum status
trusted_line(const char *line, size_t n, unsigned at, struct err *e)
{
	size_t digits = 0;

	while (n && isspace((unsigned char)*line))
		line++, n--;
	if (!n || *line == '#')
		return ST_OK;
	while (digits < n && isxdigit((unsigned char)line[digits]))
		digits++;
	if (digits != DATASET_HASH_LEN || (digits < n && !isspace((unsigned char)line[digits]))) {
		err_set(e, ST_CONFIG, "%s:%u: a line begins with the %d digits that dsvc-register --hash prints", trusted.file, at,
			DATASET_HASH_LEN);
		err_help(e, "other words follow after a blank, or the line begins with #");
		return ST_CONFIG;
	}
	trusted.v = mem_grow(trusted.v, &trusted.cap, trusted.n + 1, sizeof *trusted.v);
	for (size_t i = 0; i < DATASET_HASH_LEN; i++)
		trusted.v[trusted.n][i] = (char)tolower((unsigned char)line[i]);
	trusted.v[trusted.n++][DATASET_HASH_LEN] = '\0';
	return ST_OK;
}

enum status
trusted_load(const char *file, struct err *e)
{
	struct buf text = { 0 };
	int fd = open(file, O_RDONLY | O_CLOEXEC);
	enum status st = ST_OK;
	unsigned at = 0;

	if (fd < 0)
		return err_errno(e, "--datasets %s", file);
	if (!transfer_read_all(fd, TRUSTED_BYTES, &text))
		st = err_errno(e, "--datasets %s", file);
	close(fd);
	trusted.file = mem_strdup(file);
	buf_byte(&text, 0);
	for (const char *p = (const char *)text.data; st == ST_OK && *p; p += p[strcspn(p, "\n")] ? strcspn(p, "\n") + 1
			: strcspn(p, "\n"))
		st = trusted_line(p, strcspn(p, "\n"), ++at, e);
	buf_clear(&text);
	if (trusted.n)
		qsort(trusted.v, trusted.n, sizeof *trusted.v, trusted_compare);
	return st;
}

enum status
trusted_check(const char *canonical, struct err *e)
{
	char hash[TRUSTED_SIZE];

	if (!trusted.file)
		return ST_OK;
	dataset_hash(canonical, strlen(canonical), hash);
	if (trusted.n && bsearch(hash, trusted.v, trusted.n, sizeof *trusted.v, trusted_compare))
		return ST_OK;
	err_set(e, ST_PERM, "the pipeline is not among --datasets %s", trusted.file);
	err_help(e, "workers with that option run only what its file lists; this one's line: %s", hash);
	return ST_PERM;
}
