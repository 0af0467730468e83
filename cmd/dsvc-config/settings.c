/* SPDX-License-Identifier: MIT */
#include "settings.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/path.h"
#include "base/str.h"
#include "cli/context.h"
#include "net/address.h"
#include "trust/trust_file.h"
#include "value/format/format.h"
#include "value/mp.h"
#include "heed.h"

extern char **environ;

struct setting {
	char *name, *value, *from;
};
struct settings {
	struct setting *v;
	size_t n, cap;
};

static void
settings_add(struct settings *s, const char *name, const char *value, const char *from)
{
	s->v = mem_grow(s->v, &s->cap, s->n + 1, sizeof *s->v);
	s->v[s->n++] = (struct setting){ mem_strdup(name), mem_strdup(value), mem_strdup(from) };
}

/* A file of trust_file.h: where it is, and whether it is there. */
static void
settings_file(struct settings *s, const char *name)
{
	const char *home = getenv("XDG_CONFIG_HOME");
	struct buf path = { 0 };

	if (trust_path(name, &path, NULL) == ST_OK) {
		char *value = mem_printf("%s%s", (char *)path.data, access((char *)path.data, F_OK) ? " (none)" : "");
		settings_add(s, name, value, home && *home == '/' ? "XDG_CONFIG_HOME" : "the default");
		mem_free(value);
	}
	buf_clear(&path);
}

static void
settings_folders(struct settings *s)
{
	const char *run = getenv("XDG_RUNTIME_DIR"), *from;
	struct buf folder = { 0 };

	if (address_folder(&folder, false, NULL) == ST_OK)
		settings_add(s, "sockets", (char *)folder.data, run && *run == '/' ? "XDG_RUNTIME_DIR" : "the default");
	buf_reset(&folder);
	if ((from = path_state_folder(&folder)))
		settings_add(s, "logs", (char *)folder.data, from);
	buf_clear(&folder);
}

static int
settings_compare(const void *a, const void *b)
{
	return strcmp(((const struct setting *)a)->name, ((const struct setting *)b)->name);
}

/* The variables of the environment, each with the verbs that heed it. */
static void
settings_variables(struct settings *s)
{
	size_t first = s->n;
	struct heed heed;
	struct buf verbs = { 0 };

	heed_read(&heed);
	for (char **v = environ; *v; v++) {
		const char *eq = strchr(*v, '=');
		if (!eq || !str_starts(*v, "DSVC_"))
			continue;
		char *name = mem_strndup(*v, (size_t)(eq - *v));
		buf_reset(&verbs);
		buf_str(&verbs, "the environment, heeded by ");
		if (!heed_find(&heed, name, &verbs))
			buf_str(&verbs, "no verb");
		settings_add(s, name, eq + 1, (char *)verbs.data);
		mem_free(name);
	}
	if (s->n > first)
		qsort(s->v + first, s->n - first, sizeof *s->v, settings_compare);
	heed_clear(&heed);
	buf_clear(&verbs);
}

static void
settings_table(const struct settings *s, struct buf *out)
{
	int name = 0, value = 0;

	for (size_t i = 0; i < s->n; i++) {
		name = (int)strlen(s->v[i].name) > name ? (int)strlen(s->v[i].name) : name;
		int n = (int)strlen(s->v[i].value);
		value = n > value && n <= 60 ? n : value;
	}
	for (size_t i = 0; i < s->n; i++)
		buf_printf(out, "%-*s  %-*s  %s\n", name, s->v[i].name, value, s->v[i].value, s->v[i].from);
}

static void
settings_json(const struct settings *s, struct buf *out)
{
	struct buf record = { 0 };
	uint8_t *p = buf_room(&record, MP_HEAD_MAX);

	record.len = (size_t)(mp_put_record_head(p, (uint32_t)s->n) - record.data);
	for (size_t i = 0; i < s->n; i++) {
		const char *text[] = { s->v[i].name, NULL, "value", s->v[i].value, "from", s->v[i].from };
		for (size_t k = 0; k < sizeof text / sizeof *text; k++) {
			p = buf_room(&record, MP_HEAD_MAX + (text[k] ? strlen(text[k]) : 0));
			p = text[k] ? mp_put_text(p, text[k], (uint32_t)strlen(text[k])) : mp_put_record_head(p, 2);
			record.len = (size_t)(p - record.data);
		}
	}
	json_print(record.data, record.len, out);
	buf_byte(out, '\n');
	buf_clear(&record);
}

void
settings_print(const struct endpoint *ep, bool json, struct buf *out)
{
	struct settings s = { 0 };
	char current[CONTEXT_NAME + 1];

	settings_add(&s, "dispatcher", ep->address, ep->from);
	if (context_current(current, NULL) == ST_OK && *current)
		settings_add(&s, "context", current, "dsvc-context use");
	settings_folders(&s);
	settings_file(&s, "key");
	settings_file(&s, "services");
	settings_file(&s, "allowed");
	settings_file(&s, "context");
	settings_variables(&s);
	(json ? settings_json : settings_table)(&s, out);
	for (size_t i = 0; i < s.n; i++) {
		mem_free(s.v[i].name);
		mem_free(s.v[i].value);
		mem_free(s.v[i].from);
	}
	mem_free(s.v);
}
