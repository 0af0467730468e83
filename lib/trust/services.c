/* SPDX-License-Identifier: MIT */
#include "trust/services.h"

#include <string.h>

#include "base/mem.h"
#include "net/address_list.h"
#include "trust/trust_file.h"

static char *told_list;
static struct key told_key;

int
service_line(const char *line, size_t n, struct service_pin *out)
{
	const char *at = line, *end = line + n, *word;
	size_t len;

	memset(out, 0, sizeof *out);
	if (!trust_word(&at, end, &word, &len) || word[0] == '#')
		return 0;
	if (len >= SERVICE_ADDRESS || len <= 6 || memcmp(word, "tcp://", 6) != 0 || memchr(word, '\0', len))
		return -1;
	memcpy(out->address, word, len);
	if (!trust_word(&at, end, &word, &len) || !key_parse(word, len, &out->key))
		return -1;
	if (!trust_word(&at, end, &word, &len) || word[0] == '#')
		return 1;
	if (!trust_name_ok(word, len))
		return -1;
	memcpy(out->name, word, len);
	return !trust_word(&at, end, &word, &len) || word[0] == '#' ? 1 : -1;
}

/* Calls back for each line, with the service in it, if there is one. */
static enum status
services_each(const char *text, size_t n,
	      void (*each)(void *arg, const char *line, size_t n, const struct service_pin *pin), void *arg,
	      struct err *e)
{
	const char *end = text + n;

	for (unsigned number = 1; text < end; number++) {
		const char *nl = memchr(text, '\n', (size_t)(end - text));
		size_t len = (size_t)((nl ? nl : end) - text);
		struct service_pin pin;
		int is = service_line(text, len, &pin);

		if (is < 0) {
			err_set(e, ST_CONFIG, "line %u of the file of services is none", number);
			err_help(e, "a line is: tcp://HOST:PORT KEY [NAME]");
			return ST_CONFIG;
		}
		each(arg, text, len, is ? &pin : NULL);
		text += len + 1;
	}
	return ST_OK;
}

struct services_search {
	const char *address;
	struct service_pin *out;
	bool found;
};

static void
services_seek(void *arg, const char *line, size_t n, const struct service_pin *pin)
{
	struct services_search *s = arg;

	(void)line, (void)n;
	if (!pin || s->found || (s->address && strcmp(pin->address, s->address) != 0))
		return;
	*s->out = *pin;
	s->found = true;
}

void
services_told(const char *addresses, const struct key *k)
{
	mem_free(told_list);
	told_list = mem_strdup(addresses);
	told_key = *k;
}

static bool
services_told_find(const char *address, struct service_pin *out)
{
	bool found = false;

	for (size_t i = 0; told_list && !found && i < address_list_count(told_list); i++) {
		char *one = address_list_at(told_list, i);

		found = !strcmp(one, address) && strlen(one) < sizeof out->address;
		mem_free(one);
	}
	if (!found)
		return false;
	*out = (struct service_pin){ .key = told_key };
	strcpy(out->address, address);
	return true;
}

enum status
services_find(const char *address, struct service_pin *out, bool *found, struct err *e)
{
	struct services_search s = { address, out, false };
	struct buf path = { 0 }, text = { 0 };
	enum status st = trust_path("services", &path, NULL);

	*found = false;
	if (st == ST_OK)
		st = trust_read((char *)path.data, &text, e);
	if (st == ST_OK)
		st = services_each((char *)text.data, text.len, services_seek, &s, e);
	else if (st == ST_NOINPUT || !path.len)
		st = ST_OK;
	*found = s.found || (st == ST_OK && address && services_told_find(address, out));
	buf_clear(&path);
	buf_clear(&text);
	return st;
}

struct services_change {
	const struct service_pin *pin;
	struct buf *out;
	struct key *old;
	bool anew, differs, done;
};

static void
services_keep(void *arg, const char *line, size_t n, const struct service_pin *pin)
{
	struct services_change *c = arg;

	if (pin && strcmp(pin->address, c->pin->address) == 0) {
		if (!key_same(&pin->key, &c->pin->key)) {
			c->differs = true;
			if (c->old)
				*c->old = pin->key;
		}
		return;
	}
	buf_put(c->out, line, n);
	buf_byte(c->out, '\n');
}

static enum status
services_edit(void *arg, const char *now, size_t n, struct buf *out, struct err *e)
{
	struct services_change *c = arg;
	char key[KEY_TEXT + 1];

	c->out = out;
	key_print(&c->pin->key, key);
	buf_printf(out, "%s %s%s%s\n", c->pin->address, key, c->pin->name[0] ? " " : "", c->pin->name);
	enum status st = services_each(now, n, services_keep, c, e);
	if (st == ST_OK && c->differs && !c->anew)
		st = err_set(e, ST_PERM, "%s is known with another key", c->pin->address);
	return st;
}

enum status
services_put(const struct service_pin *pin, bool anew, struct key *old, struct err *e)
{
	struct services_change c = { .pin = pin, .old = old, .anew = anew };
	struct buf path = { 0 };
	enum status st = trust_path("services", &path, e);

	if (st == ST_OK)
		st = trust_edit((char *)path.data, services_edit, &c, e);
	buf_clear(&path);
	return st;
}
