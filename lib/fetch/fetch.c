/* SPDX-License-Identifier: MIT */
#include "fetch/fetch.h"

#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "fetch/kept.h"

enum {
	FETCH_PARTS = 2,
	FETCH_FIRST = 1024 * 1024,     /* bytes of the first part, when it is not known how many are wanted */
	FETCH_PART = 8 * 1024 * 1024,
	FETCH_ALONE = FETCH_PART / 2,  /* up to here two requests side by side are not worth it */
	FETCH_TAIL = 64 * 1024,        /* bytes of parts behind the end of what is wanted */
	FETCH_ROOM = 1024 * 1024       /* for bytes of a server that gives no parts */
};

enum part_state { PART_IDLE, PART_BUSY, PART_WAITS, PART_DONE, PART_FAILED };

struct part {
	struct fetch *f;
	struct http http;
	enum part_state state;
	uint64_t first, next, to; /* offsets in the object of its first byte, of the next one to come, and of the end */
	uint64_t coming;     /* offset of the next byte of the request's body; UINT64_MAX: not known yet */
	uint8_t *buf;        /* bytes [from, from + n) were not read yet */
	size_t cap, from, n;
	uint8_t *all;        /* n_all bytes of a small part, those that were read, too; else NULL */
	size_t n_all;
	bool full;           /* the request stands still, since there was no room */
	bool untold;         /* this part is dropped, since nothing tells whether the next one is of the same object */
	int tries;           /* requests that gave nothing, in a row */
	int64_t again;       /* PART_WAITS: when it is asked again (clock_mono_ns) */
	struct err *e;       /* PART_FAILED: why; else what a try has failed with */
};

struct fetch {
	struct target target;
	char *url;           /* the one that was given */
	struct fetch_wait wait;
	struct link *link;   /* NULL: nothing was asked yet */
	struct fetch_about about;
	bool answered;       /* `about` is known */
	bool whole;          /* the server gives no parts */
	uint64_t ask;        /* where the next part begins */
	uint64_t until, tail; /* little is wanted behind it; bytes of the next part there */
	size_t step;
	struct part part[FETCH_PARTS];
	int head;            /* the one that is read */
};

enum status
fetch_open(const char *url, const char *tag, const struct fetch_wait *w, struct fetch **out, struct err *e)
{
	struct fetch *f = mem_zalloc(sizeof *f);
	enum status st = target_init(&f->target, url, GATE_READ, e);

	f->url = mem_strdup(url);
	f->about.tag = mem_strdup(tag);
	f->until = UINT64_MAX;
	f->tail = FETCH_TAIL;
	f->step = FETCH_FIRST;
	if (w)
		f->wait = *w;
	for (int i = 0; i < FETCH_PARTS && st == ST_OK; i++) {
		f->part[i].f = f;
		st = http_init(&f->part[i].http, e);
	}
	*out = f;
	if (st != ST_OK)
		fetch_close(out);
	return st;
}

/* ---- small parts ---- */

static void
part_keep_not(struct part *p)
{
	mem_free(p->all);
	p->all = NULL;
	p->n_all = 0;
}

/* Notes bytes of a small part that have come. */
static void
part_note(struct part *p, const uint8_t *bytes, size_t n)
{
	if (p->f->whole || p->to - p->first > KEPT_PART) {
		part_keep_not(p);
		return;
	}
	if (!p->all)
		p->all = mem_alloc((size_t)(p->to - p->first));
	memcpy(p->all + p->n_all, bytes, n);
	p->n_all += n;
}

/* A part is done: a small one is kept for others. */
static void
part_keep(struct part *p)
{
	const struct fetch_about *a = &p->f->about;

	if (!p->all || p->f->whole || !a->tag || !a->sized || p->n_all != p->next - p->first) {
		part_keep_not(p);
		return;
	}
	kept_put(p->f->url, a->tag, a->size, p->first, p->all, p->n_all);
	p->all = NULL;
	p->n_all = 0;
}

/* Takes what was kept as the head, which is to be asked for. False: there is nothing. */
static bool
part_kept(struct part *p)
{
	struct fetch *f = p->f;
	uint64_t size;
	size_t n;
	uint8_t *had = f->about.tag && !f->whole ? kept_get(f->url, f->about.tag, f->ask, &n, &size) : NULL;

	if (!had)
		return false;
	mem_free(p->buf);
	p->buf = had;
	p->cap = p->n = n;
	p->from = 0;
	p->first = f->ask;
	p->next = p->to = f->ask = f->ask + n;
	p->state = PART_DONE;
	f->answered = f->about.sized = f->about.parts = true;
	f->about.size = size;
	return true;
}

/* ---- requests ---- */

static void
part_stop(struct part *p)
{
	if (p->state == PART_BUSY)
		p->f->link->lib->curl_multi_remove_handle(p->f->link->multi, p->http.easy);
	p->state = PART_IDLE;
	p->n = p->from = 0;
	p->full = p->untold = false;
	p->tries = 0;
	part_keep_not(p);
}

/* Keeps the first answer's facts about the object. */
static void
fetch_learn(struct fetch *f, const struct http *h)
{
	if (f->answered)
		return;
	f->answered = true;
	f->about.sized = h->sized;
	f->about.size = h->sized ? h->length : 0;
	f->about.parts = h->code == 206;
	if (!f->about.tag && *h->tag)
		f->about.tag = mem_strdup(h->tag);
}

static void
part_room(struct part *p)
{
	size_t want = p->to - p->next + p->n < FETCH_PART ? (size_t)(p->to - p->next) + p->n : FETCH_PART;

	if (p->f->whole && want > FETCH_ROOM)
		want = FETCH_ROOM;
	if (p->cap < want) {
		p->buf = mem_realloc(p->buf, want);
		p->cap = want;
	}
}

static bool
part_body(void *arg, const uint8_t *bytes, size_t n)
{
	struct part *p = arg;
	struct fetch *f = p->f;

	fetch_learn(f, &p->http);
	if (p->http.code == 200 && !f->whole) {
		/* It gives the whole object, whatever is asked for. */
		f->whole = true;
		p->to = f->about.sized && f->about.size > p->next ? f->about.size : UINT64_MAX;
	}
	/* Parts that nothing tells from those of another object are not put together: it is asked for as a whole. */
	p->untold |= !f->whole && !f->about.tag && (!f->about.sized || f->about.size > p->to);
	if (p->untold)
		return true;
	uint64_t at = p->coming == UINT64_MAX ? p->http.begins : p->coming;
	size_t skip = at < p->next ? (p->next - at < n ? (size_t)(p->next - at) : n) : 0, take = n - skip;
	if (take > p->to - p->next)
		take = (size_t)(p->to - p->next);
	if (p->from + p->n + take > p->cap) {
		memmove(p->buf, p->buf + p->from, p->n);
		p->from = 0;
		part_room(p);
	}
	if (p->n + take > p->cap && p->n) {
		p->full = true;
		return false;
	}
	if (p->n + take > p->cap) { /* a piece of the body that is larger than the usual room */
		p->buf = mem_realloc(p->buf, take);
		p->cap = take;
	}
	if (take) {
		memcpy(p->buf + p->from + p->n, bytes + skip, take);
		part_note(p, bytes + skip, take);
	}
	p->n += take;
	p->next += take;
	p->coming = at + n;
	if (take)
		p->tries = 0;
	return true;
}

static void
part_ask(struct part *p)
{
	struct fetch *f = p->f;
	/* The whole object is asked for from its beginning, and what was had is passed over. */
	struct http_ask ask = { .ranged = !f->whole, .from = p->next, .to = p->to, .tag = f->about.tag,
		.body = part_body, .arg = p };

	p->coming = UINT64_MAX;
	p->full = false;
	http_ask(&p->http, &f->target, &ask);
	f->link->lib->curl_easy_setopt(p->http.easy, CURLOPT_PRIVATE, p);
	p->state = PART_BUSY;
	f->link->lib->curl_multi_add_handle(f->link->multi, p->http.easy);
}

/* The request has given what it had. */
static void
part_over(struct part *p)
{
	struct fetch *f = p->f;

	fetch_learn(f, &p->http);
	if (p->untold) {
		p->untold = false;
		f->whole = true;
		p->to = UINT64_MAX;
		part_ask(p);
		return;
	}
	if (p->http.code == 416 && p->next > f->about.size) {
		err_set(p->e, ST_DATA, "it ends at byte %llu, before byte %llu", (unsigned long long)f->about.size,
			(unsigned long long)p->next);
		p->state = PART_FAILED;
		return;
	}
	if (p->http.code != 416 && !f->whole && p->next < p->to && (!f->about.sized || p->next < f->about.size)) {
		err_set(p->e, ST_IO, "the server gave fewer bytes than it promised");
		p->state = PART_FAILED;
		return;
	}
	if (!f->about.sized) { /* the end of a body without a length is the end of the object */
		f->about.sized = true;
		f->about.size = p->next;
	}
	part_keep(p);
	p->state = PART_DONE;
}

static void
part_judge(struct part *p, CURLcode rc)
{
	if (!p->e)
		p->e = mem_zalloc(sizeof *p->e);
	switch (http_judge(&p->http, rc, &p->f->target, p->e)) {
	case HTTP_DONE:
		part_over(p);
		return;
	case HTTP_MOVED:
		part_ask(p);
		return;
	case HTTP_FAILED:
		p->state = PART_FAILED;
		return;
	case HTTP_AGAIN:
		break;
	}
	if (p->f->whole && !p->f->about.tag && p->next > p->first) {
		err_help(p->e, "the server does not tell one version of it from another, so it cannot be asked for the rest");
		p->state = PART_FAILED;
		return;
	}
	if (++p->tries >= LINK_TRIES) {
		err_wrap(p->e, "after %d tries", p->tries);
		p->state = PART_FAILED;
		return;
	}
	p->state = PART_WAITS;
	p->again = clock_mono_ns() + link_pause_of(p->tries, p->http.wait_ns);
}

/* How many bytes to ask for next of those that are known to be wanted: as many in each part, in two parts at least
 * where they are many. */
static uint64_t
fetch_share(struct fetch *f)
{
	uint64_t rest = f->until - f->ask, parts;

	if (f->step != FETCH_FIRST || rest <= FETCH_ALONE) /* the others go on with the step of the first */
		return rest <= f->step || rest <= FETCH_ALONE ? rest + FETCH_TAIL : f->step;
	parts = (rest + FETCH_PART - 1) / FETCH_PART;
	f->step = (size_t)((rest + (parts > 1 ? parts : 2) - 1) / (parts > 1 ? parts : 2));
	return f->step;
}

/* Begins as many requests as there may be. */
static void
fetch_begin(struct fetch *f)
{
	for (int i = 0; i < FETCH_PARTS; i++) {
		struct part *p = &f->part[(f->head + i) % FETCH_PARTS];

		if (p->state == PART_WAITS && p->again <= clock_mono_ns())
			part_ask(p);
		/* More than one only when it is known what there is. */
		if (p->state != PART_IDLE || (i && (!f->answered || f->whole || !f->about.tag)) ||
		    (f->about.sized && f->answered && f->ask >= f->about.size))
			continue;
		if (!i && part_kept(p))
			continue;
		uint64_t size = f->step;
		if (f->ask >= f->until) {
			if (i)
				continue;
			size = f->tail;
			f->tail = f->tail < FETCH_PART / 2 ? f->tail * 2 : FETCH_PART;
		} else if (f->until != UINT64_MAX) {
			size = fetch_share(f);
		} else {
			f->step = FETCH_PART;
		}
		if (f->about.sized && f->answered && f->about.size - f->ask < size)
			size = f->about.size - f->ask;
		p->first = p->next = f->ask;
		p->to = f->whole ? UINT64_MAX : f->ask + size;
		p->n = p->from = 0;
		f->ask = p->to;
		part_room(p);
		part_ask(p);
	}
}

/* Has requests go on; waits for bytes of the head's when there are none. */
static enum status
fetch_work(struct fetch *f)
{
	int64_t until = INT64_MAX;
	int running, left;
	CURLMsg *m;

	f->link->lib->curl_multi_perform(f->link->multi, &running);
	while ((m = f->link->lib->curl_multi_info_read(f->link->multi, &left))) {
		struct part *p = NULL;
		CURLcode rc = m->data.result;

		if (m->msg != CURLMSG_DONE)
			continue;
		f->link->lib->curl_easy_getinfo(m->easy_handle, CURLINFO_PRIVATE, (char **)&p);
		f->link->lib->curl_multi_remove_handle(f->link->multi, p->http.easy);
		p->state = PART_DONE;
		part_judge(p, rc);
	}
	struct part *head = &f->part[f->head];
	if (f->whole) /* one request gives all there is */
		for (int i = 1; i < FETCH_PARTS; i++)
			part_stop(&f->part[(f->head + i) % FETCH_PARTS]);
	if (head->n || (head->state != PART_BUSY && head->state != PART_WAITS))
		return ST_OK;
	for (int i = 0; i < FETCH_PARTS; i++)
		if (f->part[i].state == PART_WAITS && f->part[i].again < until)
			until = f->part[i].again;
	return link_wait(f->link, until, &f->wait);
}

/* ---- reading ---- */

static size_t
part_take(struct part *p, uint8_t *to, size_t room)
{
	size_t n = p->n < room ? p->n : room;

	memcpy(to, p->buf + p->from, n);
	p->from += n;
	p->n -= n;
	if (!p->n)
		p->from = 0;
	if (p->full && p->state == PART_BUSY && !p->n) {
		p->full = false;
		http_go_on(&p->http);
	}
	return n;
}

enum status
fetch_read(struct fetch *f, uint8_t *p, size_t room, size_t *n, struct err *e)
{
	*n = 0;
	if (!f->link && !(f->link = link_take(e)))
		return e->kind;
	for (;;) {
		struct part *head = &f->part[f->head];

		if (head->n) {
			*n = part_take(head, p, room);
			return ST_OK;
		}
		if (head->state == PART_FAILED) {
			*e = *head->e;
			return e->kind;
		}
		if (head->state == PART_DONE) {
			bool last = f->whole || head->next >= f->about.size;

			if (last)
				return ST_END;
			head->state = PART_IDLE;
			head->tries = 0;
			f->head = (f->head + 1) % FETCH_PARTS;
			continue;
		}
		fetch_begin(f);
		if (head->state == PART_IDLE)
			return ST_END;
		enum status st = fetch_work(f);
		if (st != ST_OK)
			return st;
	}
}

void
fetch_seek(struct fetch *f, uint64_t offset)
{
	for (int i = 0; i < FETCH_PARTS; i++)
		part_stop(&f->part[i]);
	f->head = 0;
	f->ask = offset;
	f->tail = FETCH_TAIL;
	f->step = FETCH_FIRST;
}

void
fetch_until(struct fetch *f, uint64_t end)
{
	f->until = end;
}

const struct fetch_about *
fetch_known(const struct fetch *f)
{
	return &f->about;
}

void
fetch_close(struct fetch **fp)
{
	struct fetch *f = *fp;

	*fp = NULL;
	if (!f)
		return;
	for (int i = 0; i < FETCH_PARTS; i++) {
		part_stop(&f->part[i]);
		http_clear(&f->part[i].http);
		mem_free(f->part[i].buf);
		mem_free(f->part[i].e);
	}
	link_give_back(f->link);
	target_clear(&f->target);
	fetch_about_clear(&f->about);
	mem_free(f->url);
	mem_free(f);
}
