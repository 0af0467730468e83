/* SPDX-License-Identifier: MIT */
#include "host/quota.h"

#include <stdbool.h>
#include <string.h>

#include "base/hash.h"
#include "base/mem.h"

enum { QUOTA_SECOND = 1000000000 };

struct quota_peer {
	uint64_t id;
	int64_t reports_ns;       /* when the reports that it has had would be due at the allowed pace */
	uint64_t spec, open;      /* hashes of what was asked last */
	uint64_t bytes;           /* in its specs */
	uint32_t datasets, opens, refused;
};

struct quota { struct hash peers; };

struct quota *
quota_new(void)
{
	return mem_zalloc(sizeof(struct quota));
}

void
quota_free(struct quota **qp)
{
	struct quota *q = *qp;

	*qp = NULL;
	if (!q)
		return;
	for (size_t i = 0; i < q->peers.n; i++)
		mem_free(q->peers.items[i].value);
	hash_clear(&q->peers);
	mem_free(q);
}

void
quota_forget(struct quota *q, uint64_t peer)
{
	mem_free(hash_del(&q->peers, &peer, sizeof peer));
}

static struct quota_peer *
quota_peer(struct quota *q, uint64_t peer)
{
	struct quota_peer *p = hash_get(&q->peers, &peer, sizeof peer);

	if (p)
		return p;
	p = mem_zalloc(sizeof *p);
	p->id = peer;
	hash_put(&q->peers, &p->id, sizeof p->id, p);
	return p;
}

static enum status
quota_over(struct quota_peer *p, const char *what, struct err *e)
{
	if (++p->refused > QUOTA_REFUSED)
		return ST_PERM;
	err_set(e, ST_TEMP, "too many %s from one peer", what);
	err_help(e, "the dispatcher allows a peer %d reports a second, %d datasets and %d jobs", QUOTA_REPORTS,
		 QUOTA_DATASETS, QUOTA_OPENS);
	return ST_TEMP;
}

static bool
quota_report(struct quota_peer *p, int64_t now_ns)
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
quota_spec(struct quota_peer *p, const char *spec)
{
	size_t n = spec ? strlen(spec) : 0;
	uint64_t is = hash_bytes(spec, n);

	if (!n || is == p->spec)
		return true;
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
	return ++p->opens <= QUOTA_OPENS;
}

enum status
quota_take(struct quota *q, uint64_t peer, int64_t now_ns, const struct msg *m, struct err *e)
{
	struct quota_peer *p;

	if (m->type != MSG_STATUS && m->type != MSG_REGISTER && m->type != MSG_OPEN)
		return ST_OK;
	p = quota_peer(q, peer);
	if (m->type == MSG_STATUS)
		return m->status.part || quota_report(p, now_ns) ? ST_OK : quota_over(p, "requests for reports", e);
	if (!quota_spec(p, m->type == MSG_OPEN ? m->open.spec : m->reg.spec))
		return quota_over(p, "datasets", e);
	return m->type != MSG_OPEN || quota_open(p, m) ? ST_OK : quota_over(p, "OPENs", e);
}
