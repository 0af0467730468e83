/* SPDX-License-Identifier: MIT
 *
 * Whether workers see a folder of this machine: a file with a word that nobody can guess is put
 * there, and each worker reads it in a pass of its own.
 */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/path.h"
#include "base/rng.h"
#include "checkup.h"
#include "cli/beside.h"

/* A file with the word; its name, given, or NULL with the error said. */
static char *
shared_put(struct checkup *c, const char *folder, const char *word)
{
	struct buf path = { 0 };

	path_absolute(folder, "", &path);
	buf_printf(&path, "/.dsvc-doctor-%s", word);
	char *name = buf_take(&path);
	int fd = open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
	struct err e = { 0 };

	if (fd >= 0 && dprintf(fd, "%s\n", word) > 0 && close(fd) == 0)
		return name;
	err_errno(&e, "cannot write to %s", folder);
	err_help(&e, "name a folder that you can write to");
	check_error(c, "shared folder", &e);
	mem_free(name);
	return NULL;
}

/* The number of lines that are the word; others do not count. */
static unsigned
shared_count(struct buf *text, const char *word)
{
	unsigned n = 0;

	buf_byte(text, '\0');
	for (char *line = strtok((char *)text->data, "\n"); line; line = strtok(NULL, "\n"))
		n += !strcmp(line, word);
	return n;
}

void
shared_check(struct checkup *c, const struct endpoint *ep, const char *folder)
{
	struct buf out = { 0 }, program = { 0 };
	char word[20];

	snprintf(word, sizeof word, "%016llx", (unsigned long long)rng_seed_fresh());
	char *file = shared_put(c, folder, word);
	if (!file)
		return;
	char *set = mem_printf("file=%s", file);
	if (!path_own_folder(&program))
		buf_str(&program, ".");
	buf_str(&program, "/dsvc-read");
	const char *argv[] = { (char *)program.data, "-q", "-d", ep->address, "--sharding", "off", "-s", set,
		"-e", "param file\nlines @file", NULL };
	bool all = beside_ask(argv, true, &out);
	unlink(file);
	unsigned n = shared_count(&out, word);
	if (all && n)
		check_ok(c, "shared folder", "%s: %u worker%s see%s it", folder, n, n == 1 ? "" : "s", n == 1 ? "s" : "");
	else
		check_wrong(c, "shared folder", "mount it under the same name on each machine with a worker, and let workers "
			    "read it: dsvc-work --allow-read", "%s: some worker does not see it", folder);
	mem_free(file);
	mem_free(set);
	buf_clear(&out);
	buf_clear(&program);
}
