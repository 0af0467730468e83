/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "base/mem.h"
#include "base/path.h"
#include "checkup.h"
#include "cli/beside.h"

struct versions {
	char *ours;            /* last word of the first line of --version; NULL: not known */
	struct buf others;     /* verbs that have another */
	unsigned n;
};

/* The version in the first line of `PROGRAM --version`: its last word. Gives; NULL: it does not say. */
static char *
versions_ask(const char *file)
{
	struct buf out = { 0 };
	char *version = NULL;

	if (beside_ask((const char *const[]){ file, "--version", NULL }, true, &out) && out.len) {
		buf_byte(&out, '\0');
		char *line = (char *)out.data;
		line[strcspn(line, "\n")] = '\0';
		char *last = strrchr(line, ' ');
		version = mem_strdup(last ? last + 1 : line);
	}
	buf_clear(&out);
	return version;
}

static void
versions_each(void *arg, const char *file, const char *verb)
{
	struct versions *v = arg;
	char *version = versions_ask(file);

	v->n++;
	if (!version || !v->ours || strcmp(version, v->ours) != 0)
		buf_printf(&v->others, "%s" BESIDE_PREFIX "%s %s", v->others.len ? ", " : "", verb,
			   version ? version : "does not run");
	mem_free(version);
}

void
versions_check(struct checkup *c, const char *program)
{
	struct buf dir = { 0 };
	struct versions v = { 0 };

	if (path_own_folder(&dir)) {
		char *own = mem_printf("%s/%s", (char *)dir.data, program);
		v.ours = versions_ask(own);
		mem_free(own);
		beside_each((char *)dir.data, versions_each, &v);
	}
	if (v.others.len)
		check_wrong(c, "versions", "install all programs of one version", "%s is %s, but %.*s", program,
			    v.ours ? v.ours : "unknown", (int)v.others.len, (char *)v.others.data);
	else
		check_ok(c, "versions", "%u programs in %s, all %s", v.n, (char *)dir.data, v.ours ? v.ours : "unknown");
	mem_free(v.ours);
	buf_clear(&v.others);
	buf_clear(&dir);
}
