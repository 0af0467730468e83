/* SPDX-License-Identifier: MIT */
#include "base/path.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

void
path_absolute(const char *s, const char *special, struct buf *out)
{
	char *cwd = *s == '/' ? NULL : getcwd(NULL, 0);

	if (cwd) {
		for (const char *c = cwd; *c; c++) {
			if (strchr(special, *c))
				buf_byte(out, '\\');
			buf_byte(out, (uint8_t)*c);
		}
		while (s[0] == '.' && s[1] == '/')
			for (s += 2; *s == '/'; s++)
				;
		if (cwd[1])
			buf_byte(out, '/');
		free(cwd);
	}
	buf_str(out, s);
}

bool
path_own_folder(struct buf *out)
{
	char self[4096];
	ssize_t n = readlink("/proc/self/exe", self, sizeof self);
	const char *slash = n > 0 ? memrchr(self, '/', (size_t)n) : NULL;

	if (!slash)
		return false;
	buf_put(out, self, (size_t)(slash - self));
	return true;
}

const char *
path_state_folder(struct buf *out)
{
	const char *state = getenv("XDG_STATE_HOME"), *home = getenv("HOME");

	if (state && *state == '/') {
		buf_printf(out, "%s/dsvc", state);
		return "XDG_STATE_HOME";
	}
	if (!home || *home != '/')
		return NULL;
	buf_printf(out, "%s/.local/state/dsvc", home);
	return "the default";
}

enum status
path_make_folders_by(int (*make)(const char *path, mode_t mode), mode_t mode, const char *path, struct err *e)
{
	struct buf dir = { 0 };
	enum status st = ST_OK;

	for (const char *slash = strchr(path + 1, '/'); slash && st == ST_OK; slash = strchr(slash + 1, '/')) {
		buf_reset(&dir);
		buf_put(&dir, path, (size_t)(slash - path));
		const char *name = (const char *)dir.data;
		if (access(name, F_OK) != 0 && make(name, mode) != 0 && errno != EEXIST)
			st = err_errno(e, "cannot make the folder %s", name);
	}
	buf_clear(&dir);
	return st;
}

enum status
path_make_folders(const char *path, struct err *e)
{
	return path_make_folders_by(mkdir, 0700, path, e);
}
