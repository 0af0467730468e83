/* SPDX-License-Identifier: MIT
 *
 * The examples of all operators, as specs that can be run anywhere: for tests that
 * hold for every operator. What an example reads from standard input lies in a file;
 * other files are those of tests/docs. Seen from the top folder of the project.
 */
#ifndef EXAMPLE_SPEC_H
#define EXAMPLE_SPEC_H

#include <errno.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/mem.h"
#include "lang/spec.h"

/* Why the stream of an operator's example has no state that could be taken along; NULL:
 * it has one. Nothing else may lack one. */
static inline const char *
example_no_state(const struct op_desc *d)
{
	if (d->flags & (OP_REMOTE | OP_BORDER))
		return "its elements come from the service";
	if (d->flags & OP_LOCAL)
		return "this process's standard input cannot be read again";
	return NULL;
}

/* The example, or what stands for it where the manual has none because it writes files:
 * DIR is a folder that is there. NULL: there is nothing that could be run. Gives. */
static inline char *
example_spec(const struct op_desc *d, const char *dir)
{
	const char *dash = d->input && d->example ? strstr(d->example, " -") : NULL;

	if (dash && !(d->flags & OP_LOCAL)) {
		int fd = memfd_create("input", 0); /* stays open: its name is that of the number */

		if (fd < 0 || write(fd, d->input, strlen(d->input)) != (ssize_t)strlen(d->input))
			abort();
		return mem_printf("%.*s /proc/self/fd/%d%s", (int)(dash - d->example), d->example, fd, dash + 2);
	}
	if (d->example)
		return mem_strdup(d->example);
	if (!strcmp(d->name, "save"))
		return mem_printf("range 5 | save %s/saved", dir);
	if (!strcmp(d->name, "split_files"))
		return mem_printf("range 5 | split_files %s x %% 3 overwrite=true", dir);
	if (!strcmp(d->name, "snapshot"))
		return mem_printf("range 5 | snapshot %s/snapshot", dir);
	return NULL;
}

static char example_dir[64];

static inline void
example_dir_remove(void)
{
	DIR *dir = opendir(example_dir);

	for (struct dirent *f; dir && (f = readdir(dir));)
		unlinkat(dirfd(dir), f->d_name, 0);
	if (dir)
		closedir(dir);
	rmdir(example_dir);
}

/* A folder in which the files of examples are, as tests/run-docs has them: links to those
 * of tests/docs and pipelines/data. Removed at the end. */
static inline const char *
example_files(void)
{
	static const char *const from[] = { "tests/docs", "pipelines/data" };

	if (example_dir[0])
		return example_dir;
	snprintf(example_dir, sizeof example_dir, "/tmp/dsvc-test-XXXXXX");
	if (!mkdtemp(example_dir))
		abort();
	atexit(example_dir_remove);
	for (size_t i = 0; i < 2; i++) {
		char *top = realpath(from[i], NULL);
		DIR *dir = top ? opendir(top) : NULL;

		for (struct dirent *f; dir && (f = readdir(dir));) {
			char *target = mem_printf("%s/%s", top, f->d_name);
			char *link = mem_printf("%s/%s", example_dir, f->d_name);

			if (f->d_name[0] != '.' && symlink(target, link) && errno != EEXIST)
				abort();
			mem_free(target);
			mem_free(link);
		}
		if (dir)
			closedir(dir);
		free(top);
	}
	return example_dir;
}

static inline enum status
example_plan(const char *spec, struct plan **plan, struct err *e)
{
	struct spec_src src = { .text = spec, .len = strlen(spec), .base_dir = example_files() };

	return plan_make(&src, plan, e);
}

#endif
