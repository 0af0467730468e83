/* SPDX-License-Identifier: MIT */
#include "heed.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/path.h"
#include "cli/beside.h"

static void
heed_program(void *arg, const char *file, const char *verb)
{
	struct heed *h = arg;

	if (strchr(verb, '.'))
		return;
	struct heed_program p = { .verb = mem_strdup(verb) };
	beside_ask((const char *const[]){ file, "--help", NULL }, true, &p.help);
	buf_byte(&p.help, 0);
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
	struct buf own = { 0 };

	*h = (struct heed){ 0 };
	if (path_own_folder(&own))
		beside_each((const char *)own.data, heed_program, h);
	buf_clear(&own);
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
