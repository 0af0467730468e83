/* SPDX-License-Identifier: MIT */
#include "host/advertise.h"

#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "base/mem.h"

/* Whether the address is that of every interface, which can be bound but not connected to. */
static bool
advertise_anywhere(const struct address *a)
{
	return !a->ipc && (strcmp(a->host, "*") == 0 || strcmp(a->host, "0.0.0.0") == 0 || strcmp(a->host, "::") == 0);
}

enum status
advertise_check(const char *as, const struct address *at, const struct address_answer *met, struct err *e)
{
	struct address a = *at;
	enum status st = as ? address_parse(as, &a, e) : ST_OK;
	const char *host = met->local[0] ? met->local : "127.0.0.1";

	if (st == ST_OK && !as && met->away && address_local(&a))
		log_say(LOG_WARN, "only readers on this machine can reach %s, and the dispatcher is on another one: bind an address "
			"such as tcp://%s:*, or say --advertise %s if that is meant", a.text, host, a.text);
	if (st != ST_OK || !advertise_anywhere(&a))
		return st;
	err_set(e, ST_USAGE, "%s does not say where readers find this worker", a.text);
	if (as)
		err_help(e, "name the host that readers connect to, such as --advertise %s:*", host);
	else
		err_help(e, "bind one address of this machine, such as tcp://%s:*, or name one with --advertise", host);
	return ST_USAGE;
}

enum status
advertise_check_name(const char *as, struct err *e)
{
	struct address a;
	enum status st = as ? address_parse(as, &a, e) : ST_OK;

	if (st != ST_OK || !as || !advertise_anywhere(&a))
		return st;
	err_set(e, ST_USAGE, "%s does not say where others find this dispatcher", a.text);
	err_help(e, "name the host that they connect to, such as --advertise login1:*");
	return ST_USAGE;
}

enum status
advertise_tell(const char *as, const char *bound, struct buf *out, struct err *e)
{
	struct address a, b;
	enum status st = address_parse(bound, &b, e);

	if (st == ST_OK)
		st = address_parse(as ? as : bound, &a, e);
	if (st != ST_OK)
		return st;
	if (!as || a.ipc || strcmp(a.port, "*") != 0) {
		buf_str(out, a.text);
		return ST_OK;
	}
	if (b.ipc) {
		err_set(e, ST_USAGE, "--advertise %s: %s, which was bound, has no port", as, b.text);
		err_help(e, "name the port that others are to connect to");
		return ST_USAGE;
	}
	buf_printf(out, "%.*s%s", (int)(strrchr(as, ':') + 1 - as), as, b.port);
	return ST_OK;
}

enum status
advertise_tell_host(const char *as, const char *bound, struct buf *out, struct err *e)
{
	struct address a;
	char host[256] = "";
	enum status st = address_parse(bound, &a, e);

	if (st != ST_OK)
		return st;
	if (as || !advertise_anywhere(&a) || gethostname(host, sizeof host - 1) != 0 || !host[0])
		return advertise_tell(as, bound, out, e);
	char *named = mem_printf("tcp://%s:%s", host, a.port);
	st = advertise_tell(named, bound, out, e);
	mem_free(named);
	return st;
}
