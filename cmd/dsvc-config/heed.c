/* SPDX-License-Identifier: MIT */
#include "heed.h"

#include <ctype.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/str.h"

static void
heed_program(struct heed *h, const char *file, const char *verb)
{
	struct heed_program p = { .verb = mem_strdup(verb) };
	char *command = mem_printf("exec '%s' --help 2>/dev/null", file);
	FILE *f = strchr(file, '\'') ? NULL : popen(command, "re");
	char part[4096];
	size_t n;

	while (f && (n = fread(part, 1, sizeof part, f)) > 0)
		buf_put(&p.help, part, n);
	if (f)
		pclose(f);
	buf_byte(&p.help, 0);
	mem_free(command);
	h->v = mem_grow(h->v, &h->cap, h->n + 1, sizeof *h->v);
	h->v[h->n++] = p;
}

static int
heed_compare(const void *a, const void *b)
{
	return strcmp(((const struct heed_program *)a)->verb, ((const struct heed_program *)b)->verb);
}

void
heed_read(struct heed *h)
{
	char self[4096];
	ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
	DIR *d = NULL;

	*h = (struct heed){ 0 };
	if (n > 0) {
		self[n] = '\0';
		*strrchr(self, '/') = '\0';
		d = opendir(self);
	}
	for (struct dirent *f; d && (f = readdir(d));) {
		if (!str_starts(f->d_name, "dsvc-") || strchr(f->d_name, '.'))
			continue;
		char *file = mem_printf("%s/%s", self, f->d_name);
		heed_program(h, file, f->d_name + strlen("dsvc-"));
		mem_free(file);
	}
	if (d)
		closedir(d);
	if (h->n)
		qsort(h->v, h->n, sizeof *h->v, heed_compare);
}

/* FOO_BAR as --foo-bar, with what follows an option in a help text. */
static bool
heed_has(const struct heed_program *p, const char *name)
{
	struct buf option = { 0 };
	bool found = false;

	buf_str(&option, "--");
	for (const char *c = name; *c; c++)
		buf_byte(&option, (uint8_t)(*c == '_' ? '-' : tolower((unsigned char)*c)));
	buf_byte(&option, 0);
	size_t n = option.len - 1;
	for (const char *at = (char *)p->help.data; !found && (at = strstr(at, (char *)option.data)); at += n)
		found = at > (char *)p->help.data && at[-1] == ' ' && strchr(" =[\n", at[n]);
	buf_clear(&option);
	return found;
}

/* Its name without DSVC_, and without VERB_ where that is this verb's. */
static bool
heed_heeds(const struct heed_program *p, const char *variable)
{
	const char *name = variable + strlen("DSVC_");
	size_t n = strlen(p->verb);

	if (heed_has(p, name))
		return true;
	for (size_t i = 0; i < n; i++)
		if (name[i] != (p->verb[i] == '-' ? '_' : toupper((unsigned char)p->verb[i])))
			return false;
	return name[n] == '_' && heed_has(p, name + n + 1);
}

bool
heed_find(const struct heed *h, const char *variable, struct buf *out)
{
	size_t start = out->len;

	for (size_t i = 0; i < h->n; i++)
		if (heed_heeds(&h->v[i], variable))
			buf_printf(out, "%s%s", out->len > start ? ", " : "", h->v[i].verb);
	return out->len > start;
}

void
heed_clear(struct heed *h)
{
	for (size_t i = 0; i < h->n; i++) {
		mem_free(h->v[i].verb);
		buf_clear(&h->v[i].help);
	}
	mem_free(h->v);
	*h = (struct heed){ 0 };
}
