/* SPDX-License-Identifier: MIT */
#include "host/join.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/str.h"
#include "host/link.h"
#include "net/door.h"
#include "trust/invitation.h"
#include "trust/key_file.h"
#include "trust/services.h"
#include "trust/trust_file.h"

enum { JOIN_LINE_MAX = 4096, JOIN_WAIT_MS = 10000 };

struct join {
	const struct invitation *invitation;
	struct sock *sock;
	struct joined *out;
	bool done;
	enum status st;
	struct err *e;
	char where[LINK_WHERE];
	bool met, connected;
};

static enum status
join_line(const char *path, char line[JOIN_LINE_MAX], size_t *len, struct err *e)
{
	bool standard = strcmp(path, "-") == 0;
	int fd = standard ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
	size_t n = 0;
	ssize_t got = 0;

	if (fd < 0)
		return err_errno(e, "cannot open the invitation %s", path);
	/* To the end of the line only: what follows on standard input is for others. */
	while (n < JOIN_LINE_MAX - 1 && (!n || line[n - 1] != '\n')) {
		got = read(fd, line + n, 1);
		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			break;
		n++;
	}
	if (!standard)
		close(fd);
	if (got < 0)
		return err_errno(e, "cannot read the invitation");
	while (n && (line[n - 1] == '\n' || line[n - 1] == '\r'))
		n--;
	*len = n;
	return ST_OK;
}

static void
join_over(struct join *j, enum status st)
{
	j->done = true;
	j->st = st;
}

static void
join_told(void *arg, struct sock_msg *in)
{
	struct join *j = arg;
	struct msg m;
	enum status st = link_answer(in, &j->met, j->where, &m, j->e);

	if (st == ST_UNAVAIL)
		join_over(j, st);
	if (st != ST_OK)
		return;
	if (m.type == MSG_JOINED) {
		snprintf(j->out->roles, sizeof j->out->roles, "%s", str_or_empty(m.joined.roles));
		snprintf(j->out->name, sizeof j->out->name, "%s", str_or_empty(m.joined.name));
		join_over(j, ST_OK);
	} else if (m.type == MSG_ERROR) {
		err_set(j->e, status_from_code(m.error.code), "%s", str_or_empty(m.error.text));
		err_help(j->e, "%s", str_or_empty(m.error.help));
		join_over(j, j->e->kind);
	}
	msg_clear(&m);
}

/* A door that does not even let guests in: no invitation is open. */
static void
join_denied(void *arg, uint64_t peer, enum sock_denied why)
{
	struct join *j = arg;
	char until[TRUST_TIME];

	(void)peer;
	trust_time(j->invitation->until, until);
	if (why == SOCK_DENIED_WAY)
		err_set(j->e, ST_PERM, "the service at %s speaks without keys now", j->invitation->address);
	else if (why == SOCK_DENIED_SERVER)
		err_set(j->e, ST_PERM, "the service at %s has not the key of the invitation", j->invitation->address);
	else if ((int64_t)time(NULL) >= j->invitation->until)
		err_set(j->e, ST_PERM, "the invitation ended at %s", until);
	else
		err_set(j->e, ST_PERM, "the invitation was used");
	err_help(j->e, "ask for another one");
	join_over(j, ST_PERM);
}

static void
join_connected(void *arg, uint64_t peer)
{
	(void)peer;
	((struct join *)arg)->connected = true;
}

static void
join_broke(void *arg, uint64_t peer)
{
	struct join *j = arg;

	(void)peer;
	if (j->connected) /* else it does not let us in, which is told by itself */
		join_over(j, err_set(j->e, ST_UNAVAIL, "%s hangs up", j->invitation->address));
}

static void
join_ask(struct join *j, struct net *n, const char *name)
{
	struct link_out out = { 0 };
	struct msg m = { .type = MSG_JOIN, .req = 1, .join = { (char *)(uintptr_t)j->invitation->id,
		(char *)(uintptr_t)j->invitation->secret, (char *)(uintptr_t)name } };
	int64_t until = clock_mono_ns() + JOIN_WAIT_MS * 1000000LL;

	link_send(j->sock, LINK_DISPATCHER, &m, &out, NULL);
	link_out_clear(&out);
	while (!j->done && clock_mono_ns() < until)
		net_step(n, until);
	if (!j->done)
		join_over(j, err_set(j->e, ST_UNAVAIL, "no answer from %s within %d s", j->invitation->address,
				     JOIN_WAIT_MS / 1000));
}

static enum status
join_speak(const struct invitation *i, const struct key_pair *own, const char *name, struct joined *out,
	   struct err *e)
{
	struct join j = { .invitation = i, .out = out, .e = e };
	struct sock_opts o = { .self = sock_peer_new(), .keys = own, .message = join_told, .broke = join_broke,
		.connected = join_connected,
		.denied = join_denied, .arg = &j };
	struct link_reached at;
	enum status st = net_check_files(e);

	link_where(i->address, "the invitation", j.where);
	if (st == ST_OK)
		st = link_reach(i->address, "the invitation", &at, e);
	if (st != ST_OK)
		return st;
	if (at.answer.speech == ADDRESS_CLEAR) {
		join_denied(&j, LINK_DISPATCHER, SOCK_DENIED_WAY);
		return j.st;
	}
	struct net *n = net_new();
	j.sock = sock_new(n, &o);
	st = sock_connect_key(j.sock, i->address, &i->key, LINK_DISPATCHER, e);
	if (st == ST_OK) {
		join_ask(&j, n, name);
		st = j.st;
	}
	sock_free(&j.sock, 0);
	net_free(&n);
	return st;
}

/* Looks before anything is said. */
static enum status
join_pinned(const struct invitation *i, bool anew, struct err *e)
{
	struct service_pin pin;
	char is[KEY_SHORT], was[KEY_SHORT];
	bool found;
	enum status st = services_find(i->address, &pin, &found, e);

	if (st != ST_OK || !found || key_same(&pin.key, &i->key))
		return st;
	key_short(&i->key, is);
	key_short(&pin.key, was);
	if (anew) {
		log_say(LOG_WARN, "%s had the key %s before", i->address, was);
		return ST_OK;
	}
	err_set(e, ST_PERM, "the service at %s has the key %s, not %s as before", i->address, is, was);
	err_help(e, "if it was set up anew: dsvc-join");
	return ST_PERM;
}

enum status
join_with(const char *path, const char *name, bool anew, struct joined *out, struct err *e)
{
	char line[JOIN_LINE_MAX], own_name[TRUST_NAME_MAX + 1] = "";
	struct invitation i = { .address = "" };
	struct key_pair own = { 0 };
	size_t n = 0;

	memset(out, 0, sizeof *out);
	enum status st = join_line(path, line, &n, e);
	if (st == ST_OK)
		st = invitation_parse(line, n, &i, e);
	memset(line, 0, sizeof line);
	if (st == ST_OK)
		st = join_pinned(&i, anew, e);
	if (st == ST_OK)
		st = key_file_read(NULL, true, &own, own_name, e);
	if (st == ST_OK)
		st = join_speak(&i, &own, name ? name : own_name, out, e);
	key_short(&own.public, out->key);
	key_pair_wipe(&own);
	if (st == ST_OK) {
		struct service_pin pin = { .key = i.key };
		snprintf(pin.address, sizeof pin.address, "%s", i.address);
		snprintf(out->address, sizeof out->address, "%s", i.address);
		st = services_put(&pin, anew, NULL, e);
	}
	memset(&i, 0, sizeof i);
	return st;
}

enum status
join_first(const char *path, char **dispatcher, struct err *e)
{
	struct joined j;

	if (!path)
		return ST_OK;
	enum status st = join_with(path, NULL, false, &j, e);
	if (st != ST_OK)
		return st;
	log_say(LOG_INFO, "joined %s as %s (key %s), may: %s", j.address, j.name[0] ? j.name : "somebody", j.key, j.roles);
	if (!*dispatcher)
		*dispatcher = mem_strdup(j.address);
	return ST_OK;
}
