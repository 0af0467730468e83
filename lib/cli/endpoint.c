/* SPDX-License-Identifier: MIT */
#include "cli/endpoint.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/log.h"
#include "base/mem.h"
#include "cli/context.h"
#include "cli/ready.h"
#include "net/address.h"
#include "net/address_file.h"
#include "net/address_list.h"
#include "net/patience.h"
#include "trust/services.h"

static enum status
endpoint_bad(const struct endpoint *ep, const char *given, const char *why, struct err *e)
{
	err_set(e, ST_USAGE, "'%.100s' (from %s) is not an address: %s", given, ep->from, why);
	err_help(e, "write tcp://HOST:PORT or ipc:///PATH");
	return ST_USAGE;
}

/* One address, or several of one kind with commas between. */
static enum status
endpoint_list(struct endpoint *ep, const char *given, struct err *e)
{
	char *bad = NULL;
	const char *why = address_list_complete(given, ep->address, sizeof ep->address, &bad);

	if (why)
		endpoint_bad(ep, bad, why, e);
	mem_free(bad);
	return why ? ST_USAGE : ST_OK;
}

/* The dispatcher's public key, if it uses keys, in a file beside that of its address. Whoever could
 * write the file could put his own there. */
static bool
endpoint_key(const char *beside, struct key *out)
{
	char *path = ready_key_path(beside);
	char line[KEY_TEXT + 8] = "";
	struct stat s = { 0 };
	FILE *f = fopen(path, "re");
	bool is = f && fgets(line, sizeof line, f) && !fstat(fileno(f), &s);

	if (f)
		fclose(f);
	line[strcspn(line, "\n")] = '\0';
	is = is && key_parse(line, strlen(line), out);
	if (is && ((s.st_uid != geteuid() && s.st_uid != 0) || s.st_mode & 022)) {
		log_say(LOG_WARN, "others than you can write %.200s: the key in it is not used", path);
		is = false;
	}
	mem_free(path);
	return is;
}

/* The address in a file that a dispatcher writes when it is ready; it appears
 * whole. keyed: with a key. */
static enum status
endpoint_read(const char *path, char out[ENDPOINT_LIST], struct key *key, bool *keyed, struct err *e)
{
	struct patience p = patience_begin();
	char what[ENDPOINT_LIST];
	bool missing;
	FILE *f;

	snprintf(what, sizeof what, "a dispatcher to write its address to %.200s", path);
	do {
		f = fopen(path, "re");
		missing = !f && errno == ENOENT;
	} while (missing && patience_pause(&p, what));
	if (!f && !missing)
		return err_errno(e, "cannot read %s", path);
	if (!f && patience_cut())
		return err_set(e, ST_AGAIN, "told to end while it waited for %s", what);
	if (!f) {
		err_set(e, ST_UNAVAIL, "no dispatcher has written its address to %.200s", path);
		err_help(e, "dsvc-dispatch --ready-file %.200s does, when it is ready", path);
		return ST_UNAVAIL;
	}
	if (!fgets(out, ENDPOINT_LIST, f))
		out[0] = '\0';
	fclose(f);
	*keyed = endpoint_key(path, key);
	out[strcspn(out, "\n")] = '\0';
	return ST_OK;
}

static enum status
endpoint_fill(struct endpoint *ep, bool make, struct err *e)
{
	struct buf text = { 0 };
	enum status st = address_private("dispatch", make, &text, e);

	if (st == ST_OK)
		snprintf(ep->address, sizeof ep->address, "%s", (char *)text.data);
	buf_clear(&text);
	return st;
}

enum status
endpoint_private(struct endpoint *ep, struct err *e)
{
	*ep = (struct endpoint){ .own = true, .from = "the default" };
	return endpoint_fill(ep, false, e);
}

/* The service that was joined last, or else the private socket. */
static enum status
endpoint_usual(struct endpoint *ep, struct err *e)
{
	struct service_pin pin;
	bool found;
	enum status st = services_find(NULL, &pin, &found, e);

	if (st != ST_OK || !found)
		return st != ST_OK ? st : endpoint_private(ep, e);
	*ep = (struct endpoint){ .from = "the services joined" };
	snprintf(ep->address, sizeof ep->address, "%s", pin.address);
	return ST_OK;
}

enum status
endpoint_find(const char *given, const char *from, struct endpoint *ep, struct err *e)
{
	enum status st;

	*ep = (struct endpoint){ .own = !given || !*given };
	snprintf(ep->from, sizeof ep->from, "%s", ep->own || !from ? "the default" : from);
	if (ep->own)
		return endpoint_usual(ep, e);
	if (*given != '@')
		return endpoint_list(ep, given, e);
	char line[ENDPOINT_LIST];
	struct key key;
	bool keyed = false;
	st = endpoint_read(given + 1, line, &key, &keyed, e);
	if (st == ST_OK)
		st = endpoint_list(ep, line, e);
	if (st == ST_OK)
		address_file_keep(given + 1, ep->address);
	if (st == ST_OK && keyed)
		services_told(ep->address, &key);
	return st;
}

static enum status
endpoint_context(const char *name, struct endpoint *ep, struct err *e)
{
	char address[ENDPOINT_LIST], from[sizeof ep->from];
	enum status st = context_find(name, address, e);

	snprintf(from, sizeof from, "the context %.64s", name);
	return st == ST_OK ? endpoint_find(address, from, ep, e) : st;
}

enum status
endpoint_choose(const struct opt *opt, const struct program *p, const char *dispatcher, const char *context,
		struct endpoint *ep, struct err *e)
{
	const char *at = opt_from(opt, p, "dispatcher"), *named = opt_from(opt, p, "context");
	bool at_hand = at && *at == '-', named_by_hand = named && *named == '-';
	char current[CONTEXT_NAME + 1] = "";
	enum status st = ST_OK;

	if (at_hand && named_by_hand)
		return err_set(e, ST_USAGE, "%s and %s exclude each other", at, named);
	if (context && *context && (named_by_hand || !(dispatcher && *dispatcher)))
		return endpoint_context(context, ep, e);
	if (!(dispatcher && *dispatcher))
		st = context_current(current, e);
	if (st != ST_OK)
		return st;
	return *current ? endpoint_context(current, ep, e) : endpoint_find(dispatcher, at, ep, e);
}

enum status
endpoint_bind(char **given, const char *from, struct err *e)
{
	struct endpoint ep = { 0 };
	snprintf(ep.from, sizeof ep.from, "%s", from);
	const char *why = address_complete(*given, ep.address);

	if (why)
		return endpoint_bad(&ep, *given, why, e);
	mem_free(*given);
	*given = mem_strdup(ep.address);
	return ST_OK;
}

enum status
endpoint_prepare(const struct endpoint *ep, struct err *e)
{
	struct endpoint made;

	return ep->own ? endpoint_fill(&made, true, e) : ST_OK;
}

void
endpoint_export(const struct endpoint *ep)
{
	if (!ep->own)
		setenv("DSVC_DISPATCHER", ep->address, 1);
}
