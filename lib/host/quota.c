/* SPDX-License-Identifier: MIT */
#include "host/quota.h"

#include <stdbool.h>
#include <string.h>

#include "base/hash.h"
#include "base/mem.h"

enum { QUOTA_SECOND = 1000000000, QUOTA_STEPS = 100 };
#define QUOTA_STEP_NS (3600LL * QUOTA_SECOND / QUOTA_STEPS)

/* A quota, and how much of it is used. */
struct quota_account {
	char *user;               /* NULL: one connection */
	int64_t reports_ns;       /* when the reports that it has had would be due at the allowed pace */
	int64_t eased_ns;         /* until when datasets and bytes have become less */
	uint64_t spec;            /* hash of what was asked last */
	uint64_t bytes;           /* in its specs */
	uint32_t datasets, opens, peers;
};

struct quota_peer {
	uint64_t id;
	struct quota_account *of;
	uint64_t open;            /* hash of what was asked last */
	uint32_t opens, refused;
};

struct quota { struct hash peers, accounts; };

struct quota *
quota_new(void)
{
	return mem_zalloc(sizeof(struct quota));
}

static void
quota_account_free(struct quota *q, struct quota_account *a)
{
	if (a->user)
		hash_del_str(&q->accounts, a->user);
	mem_free(a->user);
	mem_free(a);
}

void
quota_free(struct quota **qp)
{
	struct quota *q = *qp;

	*qp = NULL;
	if (!q)
		return;
	while (q->peers.n)
		quota_forget(q, ((struct quota_peer *)q->peers.items[0].value)->id, 0);
	while (q->accounts.n)
		quota_account_free(q, q->accounts.items[0].value);
	hash_clear(&q->peers);
	hash_clear(&q->accounts);
	mem_free(q);
}

/* In an hour the whole quota. */
static void
quota_ease(struct quota_account *a, int64_t now_ns)
{
	int64_t passed = now_ns > a->eased_ns ? (now_ns - a->eased_ns) / QUOTA_STEP_NS : 0;
	uint64_t steps = passed < QUOTA_STEPS ? (uint64_t)passed : QUOTA_STEPS;
	uint64_t datasets = steps * (QUOTA_DATASETS / QUOTA_STEPS), bytes = steps * (QUOTA_SPECS / QUOTA_STEPS + 1);

	a->eased_ns += passed * QUOTA_STEP_NS;
	a->datasets -= datasets < a->datasets ? (uint32_t)datasets : a->datasets;
	a->bytes -= bytes < a->bytes ? bytes : a->bytes;
}

void
quota_forget(struct quota *q, uint64_t peer, int64_t now_ns)
{
	struct quota_peer *p = hash_del(&q->peers, &peer, sizeof peer);

	if (!p)
		return;
	struct quota_account *a = p->of;
	a->opens -= p->opens;
	quota_ease(a, now_ns);
	if (!--a->peers && (!a->user || !(a->datasets || a->bytes)))
		quota_account_free(q, a);
	mem_free(p);
}

static struct quota_peer *
quota_peer(struct quota *q, uint64_t peer, const char *user, int64_t now_ns)
{
	struct quota_peer *p = hash_get(&q->peers, &peer, sizeof peer);

	if (p)
		return p;
	p = mem_zalloc(sizeof *p);
	p->id = peer;
	p->of = user ? hash_get_str(&q->accounts, user) : NULL;
	if (!p->of) {
		p->of = mem_zalloc(sizeof *p->of);
		p->of->eased_ns = now_ns;
		p->of->user = user ? mem_strdup(user) : NULL;
		if (user)
			hash_put_str(&q->accounts, p->of->user, p->of);
	}
	p->of->peers++;
	hash_put(&q->peers, &p->id, sizeof p->id, p);
	return p;
}

static enum status
quota_over(struct quota_peer *p, const char *what, struct err *e)
{
	if (++p->refused > QUOTA_REFUSED)
		return ST_PERM;
	err_set(e, ST_TEMP, "too many %s from one %s", what, p->of->user ? "key" : "peer");
	err_help(e, "the dispatcher allows a %s %d reports a second, %d datasets an hour and %d jobs at once",
		 p->of->user ? "key" : "peer", QUOTA_REPORTS, QUOTA_DATASETS, QUOTA_OPENS);
	return ST_TEMP;
}

static bool
quota_report(struct quota_account *p, int64_t now_ns)
{
	int64_t each = QUOTA_SECOND / QUOTA_REPORTS;

	if (p->reports_ns < now_ns)
		p->reports_ns = now_ns;
	if (p->reports_ns - now_ns > QUOTA_SECOND)
		return false;
	p->reports_ns += each;
	return true;
}

static bool
quota_spec(struct quota_account *p, int64_t now_ns, const char *spec)
{
	size_t n = spec ? strlen(spec) : 0;
	uint64_t is = hash_bytes(spec, n);

	if (!n || is == p->spec)
		return true;
	quota_ease(p, now_ns);
	p->spec = is;
	p->bytes += n;
	return ++p->datasets <= QUOTA_DATASETS && p->bytes <= QUOTA_SPECS;
}

static bool
quota_open(struct quota_peer *p, const struct msg *m)
{
	uint64_t is = m->req ^ m->open.iteration;

	if (is == p->open && p->opens)
		return true;
	p->open = is;
	p->opens++;
	return ++p->of->opens <= QUOTA_OPENS;
}

enum status
quota_take(struct quota *q, uint64_t peer, const char *user, int64_t now_ns, const struct msg *m, struct err *e)
{
	struct quota_peer *p;

	if (m->type != MSG_STATUS && m->type != MSG_REGISTER && m->type != MSG_OPEN)
		return ST_OK;
	p = quota_peer(q, peer, user, now_ns);
	if (m->type == MSG_STATUS)
		return m->status.part || quota_report(p->of, now_ns) ? ST_OK : quota_over(p, "requests for reports", e);
	if (!quota_spec(p->of, now_ns, m->type == MSG_OPEN ? m->open.spec : m->reg.spec))
		return quota_over(p, "datasets", e);
	return m->type != MSG_OPEN || quota_open(p, m) ? ST_OK : quota_over(p, "OPENs", e);
}
