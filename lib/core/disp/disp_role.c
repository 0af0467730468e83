/* SPDX-License-Identifier: MIT
 *
 * Roles: what the sender of a message may say. The role of each message stands in
 * the tables of lib/wire; here is what depends on more than its type.
 */
#include <fnmatch.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "core/disp/disp_inner.h"
#include "core/disp/disp_role.h"
#include "wire/field.h"

static bool
role_error(struct disp *d, uint64_t id, const struct msg *m, const char *text, const char *help)
{
	struct peer stranger = { .id = id };

	if (m->type == MSG_HELLO) {
		struct msg *out = disp_send(d, &stranger, MSG_REFUSED, m->req);

		out->refused = (struct msg_refused){ WIRE_VERSION, ST_PERM, mem_strdup(text), mem_strdup(help) };
	} else {
		disp_error(d, &stranger, m->req, ST_PERM, text, help);
	}
	return false;
}

/* Says which role is missing. */
static bool
role_lacks(struct disp *d, uint64_t id, const struct disp_who *who, const struct msg *m, const char *what)
{
	char roles[ROLES_TEXT], *text;

	roles_print(who->may, roles);
	text = mem_printf("this key may: %s; %s", *roles ? roles : "nothing", what);
	role_error(d, id, m, text, "ask for an invitation with another role: dsvc-invite, where the dispatcher is");
	mem_free(text);
	return false;
}

static bool
role_of_hello(struct disp *d, uint64_t id, const struct disp_who *who, const struct msg *m)
{
	const struct peer *p = disp_peer(d, id);

	/* One that is awaited may come without a key, if the dispatcher was started again without. */
	if (p && (p->known || (p->user && who->user)) && strcmp(str_or_empty(p->user), str_or_empty(who->user)) != 0)
		return role_error(d, id, m, "this peer id is that of another key", "");
	if (m->hello.role == ROLE_WORKER && !(who->may & (MAY_WORK | MAY_ADMIN)))
		return role_lacks(d, id, who, m, "a worker needs the role work");
	if (m->hello.role == ROLE_READER && !(who->may & (MAY_USER | MAY_ADMIN)))
		return role_lacks(d, id, who, m, "a reader needs the role read");
	return true;
}

static bool
role_of_open(struct disp *d, uint64_t id, const struct disp_who *who, const struct msg *m)
{
	const char *name = str_or_empty(m->open.job.name), *glob = str_or_empty(who->jobs);

	/* a dataset may be named besides the pipeline, as that of a position */
	if ((*str_or_empty(m->open.spec) || !*str_or_empty(m->open.dataset)) && !(who->may & (MAY_REGISTER | MAY_ADMIN)))
		return role_lacks(d, id, who, m, "a pipeline needs the role register; read a dataset that is registered");
	const struct iteration *it = *glob && m->open.iteration ? iter_find(d, m->open.iteration) : NULL;
	if (it) /* it returns to a pass, whatever job it names */
		name = str_or_empty(it->job->opts.name);
	if (*glob && fnmatch(glob, name, 0) != 0)
		return role_lacks(d, id, who, m, *name ? "but not read this job" : "but only read jobs with certain names");
	return true;
}

/* False: it is refused, and was answered if that tells its sender anything. */
bool
role_admits(struct disp *d, uint64_t id, const struct disp_who *who, const struct msg *m)
{
	const struct msg_desc *desc = msg_desc(m->type);
	const struct peer *p = disp_peer(d, id);

	if (m->type == MSG_HELLO)
		return role_of_hello(d, id, who, m);
	if (!p || !p->known)
		return true; /* it is asked who it is, and its HELLO may be refused: an error it would take for a sign of life */
	if (strcmp(str_or_empty(p->user), str_or_empty(who->user)) != 0)
		return false; /* somebody else's connection that calls itself as this peer */
	if (desc && desc->may && !(desc->may & who->may)) {
		char *what = mem_printf("%s is not for it", desc->name);

		role_lacks(d, id, who, m, what);
		mem_free(what);
		return false;
	}
	return m->type != MSG_OPEN || role_of_open(d, id, who, m);
}

bool
role_may_have(struct disp *d, struct peer *p, const struct msg *m)
{
	uint64_t most = (uint64_t)DISP_SHARDS_SLOT * (d->slots ? d->slots : 1);

	if (p->all || m->open.job.shards <= most)
		return true;
	char *text = mem_printf("too many shards: %llu, where the workers have %u slot%s",
				(unsigned long long)m->open.job.shards, d->slots, d->slots == 1 ? "" : "s");
	char *help = mem_printf("a key without the role admin may ask for %d shards a slot, now %llu", DISP_SHARDS_SLOT,
				(unsigned long long)most);
	disp_error(d, p, m->req, ST_TEMP, text, help);
	mem_free(text);
	mem_free(help);
	return false;
}

/* Readers that are away, and to come back with a position: what they had is not kept for a key
 * that cannot come back. */
static size_t
role_review_away(struct disp *d, enum gc_kind kind, unsigned (*may)(void *arg, const char *user), void *arg)
{
	struct list_node *n = d->away[kind].next;
	size_t struck = 0;

	while (n != &d->away[kind]) {
		struct seat *r = LIST_OF(n, struct seat, away);
		struct job *j = r->iter->job;

		n = n->next;
		if (!*str_or_empty(r->user) || may(arg, r->user) & (MAY_USER | MAY_ADMIN))
			continue;
		struck++;
		r->struck = true;
		job_used(d, j);
		seat_gone(d, r);
		job_left(d, j); /* which may be the end of it, and of other seats */
		n = d->away[kind].next;
	}
	return struck;
}

size_t
disp_review(struct disp *d, int64_t now_ns, unsigned (*may)(void *arg, const char *user), void *arg,
	    void (*cut)(void *arg, uint64_t peer))
{
	struct list_node *n, *next;
	size_t struck = 0;

	disp_time(d, now_ns);
	for (n = d->by_heard.next; n != &d->by_heard; n = next) {
		struct peer *p = LIST_OF(n, struct peer, by_heard);
		unsigned needs = p->role == ROLE_WORKER ? MAY_WORK | MAY_ADMIN :
			p->role == ROLE_READER ? MAY_USER | MAY_ADMIN : MAY_ANY;

		next = n->next;
		if (!p->user || may(arg, p->user) & needs)
			continue;
		struck++;
		cut(arg, p->id);
		if (p->seat)
			p->seat->struck = true;
		disp_peer_lost(d, p, false);
	}
	for (unsigned k = 0; k < GC_KINDS; k++)
		struck += role_review_away(d, (enum gc_kind)k, may, arg);
	dataset_review(d, may, arg);
	return struck;
}
