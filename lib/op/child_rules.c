/* SPDX-License-Identifier: MIT */
#include "op/child_rules.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/mem.h"
#include "op/child_filter.h"

/* A program is known by the real path of its folder and its own name, which may be a link:
 * several programs may be one file (busybox), and only one of them be allowed. */
static struct {
	struct child_rules rules;
	struct words folders;  /* real paths */
	struct words programs; /* real path of the folder, and the name */
	atomic_bool clean;
	struct words wrap;
	char *wrapper;         /* path of its program */
} now;

static char *
rules_place(const char *path)
{
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
	char *folder = slash ? mem_strndup(path, slash == path ? 1 : (size_t)(slash - path)) : mem_strdup(".");
	char *real = realpath(folder, NULL);
	char *out = real ? mem_printf("%s/%s", strcmp(real, "/") ? real : "", name) : NULL;

	mem_free(folder);
	free(real);
	return out;
}

/* The path of a program that is named as in a command: with a slash, or to be found in PATH. */
static char *
rules_find(const char *name)
{
	const char *dirs = getenv("PATH"), *end;

	if (strchr(name, '/'))
		return mem_strdup(name);
	for (dirs = dirs ? dirs : "/usr/bin:/bin"; *name && *dirs; dirs = *end ? end + 1 : end) {
		end = strchrnul(dirs, ':');
		char *try = mem_printf("%.*s/%s", (int)(end - dirs), dirs, name);
		if (!access(try, X_OK))
			return try;
		mem_free(try);
	}
	return mem_strdup(name);
}

static enum status
rules_add(const char *name, struct err *e)
{
	char *path = rules_find(name), *real;
	struct stat st;
	enum status rc = ST_OK;

	if (stat(path, &st)) {
		rc = err_errno(e, "--allow-exec %s", name);
		err_help(e, "a program in PATH or with its path, a folder of programs, or `any`");
	} else if (S_ISDIR(st.st_mode)) {
		real = realpath(path, NULL);
		words_add(&now.folders, real ? real : path, strlen(real ? real : path));
		free(real);
	} else if ((real = rules_place(path))) {
		words_add(&now.programs, real, strlen(real));
		mem_free(real);
	}
	mem_free(path);
	return rc;
}

static enum status
rules_wrap(const char *wrap, struct err *e)
{
	for (const char *at = wrap; at && *(at += strspn(at, " \t")); at += strcspn(at, " \t"))
		words_add(&now.wrap, at, strcspn(at, " \t"));
	if (!now.wrap.n)
		return ST_OK;
	now.wrapper = rules_find(now.wrap.v[0]);
	return access(now.wrapper, X_OK) ? err_errno(e, "--exec-wrap %s", now.wrap.v[0]) : ST_OK;
}

enum status
child_rules_set(const struct child_rules *r, struct err *e)
{
	enum status st = ST_OK;

	words_clear(&now.folders);
	words_clear(&now.programs);
	now.rules = *r;
	atomic_store(&now.clean, r->clean);
	for (size_t i = 0; i < r->programs.n && st == ST_OK; i++)
		st = rules_add(r->programs.v[i], e);
	words_clear(&now.wrap);
	mem_free(now.wrapper);
	now.wrapper = NULL;
	return st == ST_OK ? rules_wrap(r->wrap, e) : st;
}

static bool
rules_have(const char *place)
{
	for (size_t i = 0; i < now.programs.n; i++)
		if (!strcmp(place, now.programs.v[i]))
			return true;
	for (size_t i = 0; i < now.folders.n; i++) {
		size_t n = strlen(now.folders.v[i]);

		if (!strncmp(place, now.folders.v[i], n) && (place[n] == '/' || n == 1))
			return true;
	}
	return false;
}

enum status
child_rules_check(const char *path, const char *name, struct err *e)
{
	if (!now.rules.list)
		return ST_OK;
	char *place = rules_place(path);
	bool ok = place && rules_have(place);

	mem_free(place);
	if (ok)
		return ST_OK;
	struct buf list = { 0 };
	for (size_t i = 0; i < now.rules.programs.n && i < 4; i++)
		buf_printf(&list, i < 3 ? " %.100s" : " ...", now.rules.programs.v[i]);
	buf_byte(&list, 0);
	err_set(e, ST_PERM, "cannot run %s: it is not among --allow-exec%s", name, (const char *)list.data);
	err_help(e, "workers run the programs that their --allow-exec PROGRAM names, or all of a folder");
	buf_clear(&list);
	return ST_PERM;
}

void
child_rules_clean(void)
{
	atomic_store(&now.clean, true);
}

bool
child_rules_passes(const char *variable)
{
	static const char *const usual[] = { "PATH", "HOME", "LANG", "TZ", "TMPDIR", "DSVC_DISPATCHER" };
	size_t n = strcspn(variable, "=");

	if (!atomic_load(&now.clean))
		return true;
	for (size_t i = 0; i < sizeof usual / sizeof *usual; i++)
		if (strlen(usual[i]) == n && !strncmp(variable, usual[i], n))
			return true;
	for (size_t i = 0; i < now.rules.env.n; i++)
		if (strlen(now.rules.env.v[i]) == n && !strncmp(variable, now.rules.env.v[i], n))
			return true;
	return false;
}

char **
child_rules_wrap(const char **path, char *const *argv)
{
	size_t n = 0, k = 0;

	if (!now.wrap.n)
		return NULL;
	while (argv[n])
		n++;
	char **v = mem_array(now.wrap.n + n + 1, sizeof *v);
	for (; k < now.wrap.n; k++)
		v[k] = now.wrap.v[k];
	for (size_t i = 0; i < n; i++)
		v[k++] = i ? argv[i] : (char *)*path;
	*path = now.wrapper;
	return v;
}

static int
rules_limit(int what, int64_t most)
{
	struct rlimit r;

	if (getrlimit(what, &r))
		return errno;
	if (r.rlim_max > (rlim_t)most)
		r.rlim_max = (rlim_t)most;
	if (r.rlim_cur > r.rlim_max)
		r.rlim_cur = r.rlim_max;
	return setrlimit(what, &r) ? errno : 0;
}

int
child_rules_apply(void)
{
	int error = 0;

	if (now.rules.memory)
		error = rules_limit(RLIMIT_DATA, now.rules.memory);
	if (!error && now.rules.files)
		error = rules_limit(RLIMIT_NOFILE, now.rules.files);
	if (!error && now.rules.confine)
		error = rules_limit(RLIMIT_CORE, 0);
	return !error && now.rules.confine ? child_filter() : error;
}
