/* SPDX-License-Identifier: MIT */
#include "cli/context.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/path.h"
#include "base/replace.h"
#include "trust/trust_file.h"

#define CONTEXT_CURRENT "current-context"

static enum status
context_name(const char *name, struct err *e)
{
	if (strlen(name) <= CONTEXT_NAME && trust_name_ok(name, strlen(name)) && *name != '.' && !strchr(name, '/'))
		return ST_OK;
	return err_set(e, ST_USAGE, "'%.80s' cannot be the name of a context: 1 to %d letters, no / and no . in front", name,
		       CONTEXT_NAME);
}

/* The path of a context, or with "" of the folder. */
static enum status
context_path(const char *name, struct buf *out, struct err *e)
{
	char file[CONTEXT_NAME + 16];
	enum status st = *name ? context_name(name, e) : ST_OK;

	snprintf(file, sizeof file, *name ? "context/%s" : "context%s", name);
	return st == ST_OK ? trust_path(file, out, e) : st;
}

/* The first line of a file; ST_NOINPUT: there is none. */
static enum status
context_line(const char *path, char *out, size_t size, struct err *e)
{
	struct buf all = { 0 };
	enum status st = trust_read(path, &all, e);

	if (st == ST_OK)
		snprintf(out, size, "%.*s", (int)strcspn((char *)all.data, "\n"), (char *)all.data);
	buf_clear(&all);
	return st;
}

static enum status
context_none(const char *name, struct err *e)
{
	err_set(e, ST_NOINPUT, "there is no context `%s`", name);
	err_help(e, "`dsvc context` lists those there are; `dsvc context set %s ENDPOINT` makes it", name);
	return ST_NOINPUT;
}

enum status
context_find(const char *name, char address[ENDPOINT_LIST], struct err *e)
{
	struct buf path = { 0 };
	enum status st = context_path(*name ? name : "/", &path, e);

	if (st == ST_OK)
		st = context_line((char *)path.data, address, ENDPOINT_LIST, e);
	if (st == ST_NOINPUT)
		context_none(name, e);
	buf_clear(&path);
	return st;
}

enum status
context_current(char name[CONTEXT_NAME + 1], struct err *e)
{
	struct buf path = { 0 };
	enum status st = ST_OK;

	*name = '\0';
	/* Where no home is known, there is none. */
	if (trust_path(CONTEXT_CURRENT, &path, NULL) == ST_OK)
		st = context_line((char *)path.data, name, CONTEXT_NAME + 1, e);
	buf_clear(&path);
	if (st == ST_NOINPUT) {
		err_clear(e);
		st = ST_OK;
	}
	return st;
}

static enum status
context_write(const char *path, const char *line, struct err *e)
{
	struct buf text = { 0 };
	enum status st = path_make_folders(path, e);

	buf_printf(&text, "%s\n", line);
	if (st == ST_OK)
		st = replace_file_mode(path, 0600, text.data, text.len, e);
	buf_clear(&text);
	return st;
}

enum status
context_use(const char *name, struct err *e)
{
	char address[ENDPOINT_LIST];
	struct buf path = { 0 };
	enum status st = *name ? context_find(name, address, e) : ST_OK;

	if (st == ST_OK)
		st = trust_path(CONTEXT_CURRENT, &path, e);
	if (st == ST_OK && *name)
		st = context_write((char *)path.data, name, e);
	else if (st == ST_OK && unlink((char *)path.data) != 0 && errno != ENOENT)
		st = err_errno(e, "cannot remove %s", (char *)path.data);
	buf_clear(&path);
	return st;
}

enum status
context_set(const char *name, const char *address, struct err *e)
{
	struct buf path = { 0 };
	struct endpoint ep;
	enum status st = context_path(*name ? name : "/", &path, e);

	if (st == ST_OK && *address == '@')
		st = err_set(e, ST_USAGE, "a context has an address, and no file with one");
	if (st == ST_OK)
		st = endpoint_find(address, "the context", &ep, e);
	if (st == ST_OK)
		st = context_write((char *)path.data, ep.address, e);
	buf_clear(&path);
	return st;
}

enum status
context_remove(const char *name, struct err *e)
{
	char current[CONTEXT_NAME + 1];
	struct buf path = { 0 };
	enum status st = context_path(*name ? name : "/", &path, e);

	if (st == ST_OK && unlink((char *)path.data) != 0)
		st = errno == ENOENT ? context_none(name, e) : err_errno(e, "cannot remove %s", (char *)path.data);
	if (st == ST_OK)
		st = context_current(current, e);
	if (st == ST_OK && !strcmp(current, name))
		st = context_use("", e);
	buf_clear(&path);
	return st;
}

static int
context_compare(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

enum status
context_each(void (*each)(void *arg, const char *name, const char *address), void *arg, struct err *e)
{
	char address[ENDPOINT_LIST], **names = NULL;
	size_t n = 0, cap = 0;
	struct buf folder = { 0 };
	enum status st = context_path("", &folder, e);
	DIR *d = st == ST_OK ? opendir((char *)folder.data) : NULL;

	for (struct dirent *f; d && (f = readdir(d));) {
		if (context_name(f->d_name, NULL) != ST_OK)
			continue;
		names = mem_grow(names, &cap, n + 1, sizeof *names);
		names[n++] = mem_strdup(f->d_name);
	}
	if (d)
		closedir(d);
	if (n)
		qsort(names, n, sizeof *names, context_compare);
	for (size_t i = 0; i < n; i++) {
		if (st == ST_OK && (st = context_find(names[i], address, e)) == ST_OK)
			each(arg, names[i], address);
		mem_free(names[i]);
	}
	mem_free(names);
	buf_clear(&folder);
	return st;
}
