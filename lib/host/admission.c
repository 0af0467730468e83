/* SPDX-License-Identifier: MIT */
#include "host/admission.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/hash.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/str.h"
#include "net/address.h"
#include "trust/allowed.h"
#include "trust/invitation.h"
#include "trust/key_file.h"
#include "trust/trust_file.h"

#define ADMISSION_GUEST "guest "
enum { ADMISSION_USER = sizeof ADMISSION_GUEST + KEY_TEXT + 64 };

struct admission {
	struct key_pair keys;
	char own[KEY_TEXT + 1];
	char *path, *kept;         /* allowed keys; invitations, NULL: they are not kept */
	char *address;
	struct allowed allowed;
	struct hash by_key;        /* letters of a key -> struct allowed_entry */
	struct hash tries;         /* letters of a guest's key -> how often it failed */
	struct invited_list invited;
	struct stat seen;          /* the file when it was read */
	bool there;
	int64_t until;             /* when the next entry ends, seconds; INT64_MAX: none does */
	int64_t look_ns;
	char user[ADMISSION_USER]; /* the answer given last */
};

static int64_t
admission_now(void)
{
	return (int64_t)time(NULL);
}

static void
admission_index(struct admission *a)
{
	int64_t now = admission_now();
	char text[KEY_TEXT + 1];

	hash_clear(&a->by_key);
	a->until = INT64_MAX;
	for (size_t i = 0; i < a->allowed.n; i++) {
		struct allowed_entry *entry = &a->allowed.v[i];

		key_print(&entry->key, text);
		hash_del(&a->by_key, text, KEY_TEXT);
		if (entry->until > now)
			hash_put(&a->by_key, text, KEY_TEXT, entry);
		if (entry->until > now && entry->until < a->until)
			a->until = entry->until;
	}
}

static void
admission_read(struct admission *a)
{
	struct err e;

	allowed_clear(&a->allowed);
	if (allowed_read(a->path, &a->allowed, &e) != ST_OK)
		log_say(LOG_ERROR, "nobody is let in over TCP: %s", e.text);
	admission_index(a);
}

bool
admission_look(struct admission *a, int64_t now_ns)
{
	struct stat s;

	if (now_ns < a->look_ns)
		return false;
	a->look_ns = now_ns + ADMISSION_LOOK_MS * 1000000LL;
	bool there = stat(a->path, &s) == 0;
	bool same = there == a->there && (!there || (s.st_ino == a->seen.st_ino && s.st_size == a->seen.st_size &&
		s.st_mode == a->seen.st_mode && s.st_mtim.tv_sec == a->seen.st_mtim.tv_sec &&
		s.st_mtim.tv_nsec == a->seen.st_mtim.tv_nsec));
	if (same && a->until > admission_now())
		return false;
	a->there = there;
	if (there)
		a->seen = s;
	admission_read(a);
	return true;
}

void
admission_again(struct admission *a)
{
	a->look_ns = 0;
	a->seen.st_ino = 0;
}

int64_t
admission_deadline(const struct admission *a)
{
	return a ? a->look_ns : INT64_MAX;
}

static enum status
admission_load(struct admission *a, struct err *e)
{
	struct buf text = { 0 };
	enum status st = a->kept ? trust_read(a->kept, &text, e) : ST_NOINPUT;

	if (st == ST_OK) {
		st = invited_parse((char *)text.data, text.len, &a->invited, e);
		if (st != ST_OK)
			err_wrap(e, "%s", a->kept);
	}
	buf_clear(&text);
	return st == ST_NOINPUT ? ST_OK : st;
}

static enum status
admission_print(void *arg, const char *now, size_t n, struct buf *out, struct err *e)
{
	const struct admission *a = arg;

	(void)now, (void)n, (void)e;
	invited_print(&a->invited, admission_now(), out);
	return ST_OK;
}

/* Before anything is promised or let in. */
static enum status
admission_keep(struct admission *a, struct err *e)
{
	return a->kept ? trust_edit(a->kept, admission_print, a, e) : ST_OK;
}

enum status
admission_open(const char *allowed, const char *state, struct admission **out, struct err *e)
{
	struct admission *a = mem_zalloc(sizeof *a);
	struct buf path = { 0 };
	enum status st = key_file_read(NULL, true, &a->keys, NULL, e);

	if (st == ST_OK && !allowed && !state)
		st = trust_path("allowed", &path, e);
	if (allowed)
		buf_str(&path, allowed);
	else if (state)
		buf_printf(&path, "%s/allowed", state);
	a->path = buf_take(&path);
	a->kept = state ? mem_printf("%s/invitations", state) : NULL;
	a->until = INT64_MAX;
	key_print(&a->keys.public, a->own);
	if (st == ST_OK)
		st = admission_load(a, e);
	if (st == ST_OK) /* in words at the start, in the log later */
		st = allowed_read(a->path, &a->allowed, e);
	if (st == ST_OK)
		admission_look(a, 0);
	else
		admission_free(&a);
	*out = a;
	return st;
}

void
admission_free(struct admission **ap)
{
	struct admission *a = *ap;

	if (!a)
		return;
	key_pair_wipe(&a->keys);
	hash_clear(&a->by_key);
	hash_clear(&a->tries);
	allowed_clear(&a->allowed);
	invited_clear(&a->invited);
	mem_free(a->path);
	mem_free(a->kept);
	mem_free(a->address);
	mem_free(a);
	*ap = NULL;
}

const struct key_pair *
admission_keys(const struct admission *a)
{
	return a ? &a->keys : NULL;
}

const char *
admission_allowed(const struct admission *a)
{
	return a->path;
}

bool
admission_any(const struct admission *a)
{
	return a->allowed.n > 0;
}

void
admission_bound(struct admission *a, const char *address)
{
	if (!a->address && !strncmp(address, "tcp://", 6))
		a->address = mem_strdup(address);
}

/* The door, and what follows from its answers */

static const struct allowed_entry *
admission_entry(const struct admission *a, const char *user)
{
	return strlen(user) == KEY_TEXT ? hash_get(&a->by_key, user, KEY_TEXT) : NULL;
}

const char *
admission_door(void *arg, const struct key *k, const char *address)
{
	struct admission *a = arg;
	char key[KEY_TEXT + 1];

	key_print(k, key);
	const struct allowed_entry *entry = admission_entry(a, key);
	if (!strcmp(key, a->own) || (entry && allowed_from_has(entry->from, address)))
		snprintf(a->user, sizeof a->user, "%s", key);
	else if (invited_open(&a->invited, admission_now()))
		snprintf(a->user, sizeof a->user, ADMISSION_GUEST "%s %.60s", key, address);
	else
		return NULL;
	return a->user;
}

struct disp_who
admission_who(const struct admission *a, const char *user)
{
	struct disp_who who = { .user = user, .may = MAY_ANY };

	if (!a || !user || !strcmp(user, a->own))
		return who;
	const struct allowed_entry *entry = admission_entry(a, user);
	who.may = entry ? entry->may : str_starts(user, ADMISSION_GUEST) ? MAY_GUEST : 0;
	who.jobs = entry ? entry->jobs : NULL;
	return who;
}

unsigned
admission_may(void *a, const char *user)
{
	return admission_who(a, user).may;
}

/* Messages */

static void
admission_error(struct msg *answer, const struct err *e)
{
	answer->type = MSG_ERROR;
	answer->error = (struct msg_error){ e->kind, mem_strdup(e->text), mem_strdup(e->help) };
}

static enum status
admission_invite(struct admission *a, const struct msg_invite *m, struct msg *answer, struct err *e)
{
	struct invited what = { .uses = m->uses, .until = admission_now() + m->lasts_s };
	struct invitation i = { .key = a->keys.public };
	const char *name = str_or_empty(m->name), *from = str_or_empty(m->from), *roles = str_or_empty(m->roles);
	const char *address = *str_or_empty(m->address) ? m->address : a->address;
	struct buf line = { 0 };

	if (!roles_parse(roles, strlen(roles), &what.may))
		return err_set(e, ST_USAGE, "there is an unknown role in `%.64s`", roles);
	if ((*name && !trust_name_ok(name, strlen(name))) || (*from && !allowed_from_ok(from)) || !m->uses || !m->lasts_s)
		return err_set(e, ST_USAGE, "an invitation cannot have this name, address, number of uses or time");
	if (!address || strlen(address) >= sizeof i.address)
		return err_set(e, ST_UNAVAIL, "the dispatcher listens at no address for others");
	snprintf(what.name, sizeof what.name, "%s", name);
	snprintf(what.from, sizeof what.from, "%s", from);
	snprintf(i.address, sizeof i.address, "%s", address);
	enum status st = invited_add(&a->invited, &what, admission_now(), &i, e);
	if (st == ST_OK) {
		st = admission_keep(a, e);
		if (st != ST_OK)
			a->invited.n--;
	}
	if (st != ST_OK)
		return st;
	invitation_print(&i, &line);
	line.data[--line.len] = '\0';
	answer->type = MSG_INVITED;
	answer->invited.line = buf_take(&line);
	memset(&i, 0, sizeof i);
	log_say(LOG_INFO, "invited: %s%s%s", roles, *name ? " as " : "", name);
	return ST_OK;
}

static enum status
admission_join(struct admission *a, const char *key, const char *address, const struct msg_join *m,
	       struct msg *answer, struct err *e)
{
	struct allowed_entry add = { .until = INT64_MAX };
	const char *name = str_or_empty(m->name);
	char roles[ROLES_TEXT];
	const struct allowed_entry *known = admission_entry(a, key);
	const struct invited *i = invited_use(&a->invited, str_or_empty(m->id), str_or_empty(m->secret), address,
					      admission_now(), e);

	if (!i)
		return e->kind;
	if (known) { /* with its options, too */
		add = *known;
		add.may |= i->may;
	} else {
		add.may = i->may;
		snprintf(add.name, sizeof add.name, "%s", i->name[0] ? i->name :
			 trust_name_ok(name, strlen(name)) ? name : "");
		key_parse(key, KEY_TEXT, &add.key);
	}
	enum status st = admission_keep(a, e);
	if (st == ST_OK)
		st = allowed_add(a->path, &add, e);
	if (st != ST_OK)
		return st;
	a->look_ns = 0;
	admission_look(a, clock_mono_ns());
	roles_print(add.may, roles);
	answer->type = MSG_JOINED;
	answer->joined = (struct msg_joined){ mem_strdup(roles), mem_strdup(add.name) };
	log_say(LOG_INFO, "%s joined from %s with the key %s; may: %s", add.name[0] ? add.name : "somebody", address, key,
		roles);
	return ST_OK;
}

/* Counts a failure of this key; true: it was one too many. */
static bool
admission_tried(struct admission *a, const char *key)
{
	uintptr_t n = (uintptr_t)hash_get(&a->tries, key, KEY_TEXT) + 1;

	if (a->tries.n > 10000) /* guests can have any number of keys */
		hash_clear(&a->tries);
	hash_put(&a->tries, key, KEY_TEXT, (void *)n);
	return n > ADMISSION_TRIES;
}

bool
admission_message(struct admission *a, const char *user, const char *address, const struct disp_who *who,
		  const struct msg *m, struct msg *answer, bool *cut)
{
	char key[KEY_TEXT + 1] = "";
	struct err e = { 0 };
	enum status st;

	*cut = false;
	*answer = (struct msg){ .req = m->req };
	if (m->type == MSG_INVITE && who->may & MAY_ADMIN) {
		if (a)
			st = admission_invite(a, &m->invite, answer, &e);
		else
			st = err_set(&e, ST_UNAVAIL, "this dispatcher uses no keys: nobody needs an invitation");
	} else if (user && (who->may & MAY_GUEST || m->type == MSG_JOIN)) {
		bool guest = who->may & MAY_GUEST; /* else it is known, and may get more roles */

		memcpy(key, guest ? user + strlen(ADMISSION_GUEST) : user, KEY_TEXT);
		st = m->type == MSG_JOIN ? admission_join(a, key, address, &m->join, answer, &e) :
			err_set(&e, ST_PERM, "this key is not known: all it can do is use an invitation");
		*cut = guest && st == ST_PERM && admission_tried(a, key);
		if (*cut)
			return true;
	} else {
		return false;
	}
	if (st != ST_OK)
		admission_error(answer, &e);
	return true;
}
