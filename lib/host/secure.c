/* SPDX-License-Identifier: MIT */
#include "host/secure.h"

#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "base/mem.h"
#include "net/address.h"
#include "net/address_list.h"
#include "trust/key_file.h"
#include "trust/services.h"

static bool secure_clear_said;

void
secure_say_clear(bool said)
{
	secure_clear_said = said;
}

static void
secure_help(const struct secure *s, const char *address, bool insecure, struct err *e)
{
	struct address a = { .host = "" };

	address_parse(address, &a, NULL);
	err_help(e, "ask for an invitation: dsvc-invite %s, on %.200s%s", s->role, a.host,
		 insecure ? "; or say --insecure, if the network is yours alone" : "");
}

/* The key of one address into *server, if there is one. */
static enum status
secure_find(const char *address, bool listens, struct secure *s, struct key *server, struct err *e)
{
	struct address a;
	struct service_pin pin;
	bool pinned;
	enum status st = address_parse(address, &a, e);

	if (st != ST_OK || a.ipc)
		return st;
	st = services_find(address, &pin, &pinned, e);
	if (st != ST_OK)
		return st;
	if (pinned) {
		*server = pin.key;
		s->keyed = true;
		return ST_OK;
	}
	if (secure_clear_said || (!listens && address_local(&a)))
		return ST_OK;
	err_set(e, ST_PERM, "no key is known for %s", address);
	secure_help(s, address, true, e);
	return ST_PERM;
}

enum status
secure_to(const char *addresses, bool listens, const char *role, struct secure *out, struct err *e)
{
	size_t n = address_list_count(addresses);
	enum status st = ST_OK;

	*out = (struct secure){ .role = role, .n = n, .servers = mem_array(n, sizeof *out->servers) };
	memset(out->servers, 0, n * sizeof *out->servers);
	for (size_t k = 0; k < n && st == ST_OK; k++) {
		char *address = address_list_at(addresses, k);

		st = secure_find(address, listens, out, &out->servers[k], e);
		mem_free(address);
	}
	if (st == ST_OK && out->keyed)
		st = key_file_read(NULL, true, &out->own, NULL, e);
	if (st != ST_OK)
		secure_clear(out);
	return st;
}

enum status
secure_moved(const struct secure *s, const char *addresses, bool listens, struct key **servers, struct err *e)
{
	size_t n = address_list_count(addresses);
	struct secure now = { .role = s->role };
	const struct key *before = NULL;
	enum status st = ST_OK;

	for (size_t k = 0; k < s->n && !before; k++)
		before = key_none(&s->servers[k]) ? NULL : &s->servers[k];
	*servers = mem_array(n, sizeof **servers);
	memset(*servers, 0, n * sizeof **servers);
	for (size_t k = 0; k < n && st == ST_OK; k++) {
		char *address = address_list_at(addresses, k);

		st = secure_find(address, listens, &now, &(*servers)[k], e);
		if (before && key_none(&(*servers)[k]) && (st == ST_OK || st == ST_PERM)) {
			(*servers)[k] = *before;
			st = ST_OK;
		}
		mem_free(address);
	}
	if (st == ST_OK && now.keyed && !before) /* our own key was never read */
		st = err_set(e, ST_PERM, "a key is known for an address of %s, and none was for those of before", addresses);
	return st;
}

void
secure_wipe(struct secure *s)
{
	struct key public = s->own.public; /* for messages */

	key_pair_wipe(&s->own);
	s->own.public = public;
}

void
secure_clear(struct secure *s)
{
	secure_wipe(s);
	mem_free(s->servers);
	s->servers = NULL;
	s->n = 0;
}

const struct key_pair *
secure_own(const struct secure *s)
{
	return s->keyed ? &s->own : NULL;
}

enum status
secure_denied(const struct secure *s, const char *addresses, bool met, enum sock_denied why, struct err *e)
{
	char key[KEY_SHORT], own[KEY_TEXT + 1];

	if (met && why != SOCK_DENIED_KEY)
		return ST_OK;
	if (s->n != 1) {
		log_say(LOG_WARN, "one of %s does not let us in", addresses);
		return ST_OK;
	}
	key_short(&s->servers[0], key);
	if (why == SOCK_DENIED_KEY) {
		key_print(&s->own.public, own);
		err_set(e, ST_PERM, "%s does not know this key %s", addresses, own);
		secure_help(s, addresses, false, e);
	} else if (why == SOCK_DENIED_SERVER) {
		err_set(e, ST_PERM, "the service at %s has not the key %s that it had before", addresses, key);
		err_help(e, "if it was set up anew: dsvc-join, with an invitation of it");
	} else if (s->keyed) {
		err_set(e, ST_PERM, "%s speaks without keys, and not with the key %s as before", addresses, key);
		err_help(e, "if that is right, remove its line from the file of services (dsvc-security.7)");
	} else {
		err_set(e, ST_PERM, "%s wants a key", addresses);
		secure_help(s, addresses, false, e);
	}
	return ST_PERM;
}

void
secure_endpoint(const char *address, const struct key *k, struct buf *out)
{
	char text[KEY_TEXT + 1];

	buf_reset(out);
	buf_str(out, address);
	if (!k)
		return;
	key_print(k, text);
	buf_printf(out, " %s", text);
}

bool
secure_endpoint_key(const char *endpoint, struct buf *address, struct key *k)
{
	const char *blank = strchr(endpoint, ' ');

	buf_reset(address);
	if (!blank || !key_parse(blank + 1, strlen(blank + 1), k)) {
		buf_str(address, endpoint);
		return false;
	}
	buf_put(address, endpoint, (size_t)(blank - endpoint));
	buf_byte(address, '\0');
	return true;
}
