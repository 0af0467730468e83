/* SPDX-License-Identifier: MIT
 *
 * Cores on sockets: how they come, what they say, what they are told.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/str.h"
#include "host/feed/feed_host_inner.h"

enum { SEAT_GUESTS = 64, SEAT_DETAIL = 16 * 1024 /* bytes of a traceback that are shown */ };

/* Coming */

/* A socket of a feed that was killed may lie there. */
static void
seat_remove_stale(const struct sockaddr_un *a)
{
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (fd < 0)
		return;
	if (connect(fd, (const struct sockaddr *)a, sizeof *a) && errno == ECONNREFUSED)
		unlink(a->sun_path);
	close(fd);
}

/* A connection that whoever started us made for the only core. */
static enum status
seat_inherit(struct feed_host *h, const char *number, struct err *e)
{
	int64_t fd;
	int kind = 0;
	socklen_t n = sizeof kind;

	if (!str_int(number, strlen(number), &fd) || fd < 3 || fd > INT32_MAX ||
	    getsockopt((int)fd, SOL_SOCKET, SO_TYPE, &kind, &n) || kind != SOCK_STREAM)
		return err_set(e, ST_USAGE, "--listen fd:%s: there is no stream socket", number);
	if (h->c->machine.cores > 1 || h->c->argv)
		return err_set(e, ST_USAGE, "--listen fd:%s: one connection is for one core, and for no command", number);
	fcntl((int)fd, F_SETFD, FD_CLOEXEC);
	feed_link_init(&h->seat[0].link, (int)fd);
	return ST_OK;
}

enum status
feed_seat_listen(struct feed_host *h, struct err *e)
{
	struct sockaddr_un a = { .sun_family = AF_UNIX };
	const char *path = h->c->listen;

	if (!path)
		return ST_OK;
	if (str_starts(path, "fd:"))
		return seat_inherit(h, path + 3, e);
	if (strlen(path) >= sizeof a.sun_path)
		return err_set(e, ST_USAGE, "--listen: the path of a socket has at most %zu bytes", sizeof a.sun_path - 1);
	snprintf(a.sun_path, sizeof a.sun_path, "%s", path);
	seat_remove_stale(&a);
	h->listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (h->listener < 0)
		return err_errno(e, "cannot make a socket");
	mode_t mask = umask(0077);
	int failed = bind(h->listener, (const struct sockaddr *)&a, sizeof a) || listen(h->listener, SEAT_GUESTS);
	umask(mask);
	if (failed) {
		err_errno(e, "cannot listen on %s", path);
		if (errno == EADDRINUSE)
			err_help(e, "another feed listens there; --listen PATH takes another place");
		return e->kind;
	}
	return ST_OK;
}

static void
seat_refuse(struct feed_link *l, uint32_t code, const char *text, const char *help)
{
	struct feed_msg m = { .type = FEED_ERROR };

	m.error = (struct feed_error){ .code = code, .text = (char *)(uintptr_t)text, .help = (char *)(uintptr_t)help,
		.core = FEED_ANY_CORE };
	feed_link_send(l, &m, -1);
	feed_link_flush(l);
}

/* Only the feed's own user and root may join, though the socket's mode or its folder let others come so far. */
void
feed_seat_accept(struct feed_host *h)
{
	struct ucred who = { 0 };
	socklen_t n = sizeof who;
	struct feed_link l;
	int fd = accept4(h->listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

	if (fd < 0)
		return;
	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &who, &n) || h->n_guest == SEAT_GUESTS) {
		close(fd);
		return;
	}
	feed_link_init(&l, fd);
	if (who.uid != geteuid() && who.uid != 0) {
		feed_host_say(h, "a process of another user wanted to join, and was sent away");
		seat_refuse(&l, ST_PERM, "the feed is another user's", NULL);
		feed_link_clear(&l);
		return;
	}
	h->guest = mem_grow(h->guest, &h->cap_guest, h->n_guest + 1, sizeof *h->guest);
	h->guest[h->n_guest++] = l;
}

/* The seat that a guest asks for; FEED_ANY_CORE: there is none. */
static uint32_t
seat_find(const struct feed_host *h, uint32_t wanted)
{
	uint32_t n = h->c->machine.cores;

	if (wanted != FEED_ANY_CORE)
		return wanted < n && !h->seat[wanted].joined ? wanted : FEED_ANY_CORE;
	for (uint32_t i = 0; i < n; i++)
		if (!h->seat[i].joined)
			return i;
	return FEED_ANY_CORE;
}

/* With --each-loop a trainer brings the position that its last loop ended at. */
static bool
seat_is_here(const struct feed_host *h, uint32_t core, const struct bytes *b)
{
	struct feed_what what = h->what;
	struct feed_place place = { 0 };
	struct err e;

	if (!h->began || !h->c->machine.each_loop || feed_place_decode(b->p, b->n, &place, &what, &e) != ST_OK)
		return false;
	bool here = place.step == feed_core_step(h->machine, core);
	feed_place_clear(&place);
	return here;
}

/* Positions that cores bring must be the same. */
static enum status
seat_position(struct feed_host *h, uint32_t core, const struct bytes *b, struct err *e)
{
	struct feed_seat *s = &h->seat[core];
	struct feed_what what = h->what;

	if (!b->n || seat_is_here(h, core, b))
		return ST_OK;
	if (h->began || h->c->placed) {
		err_set(e, ST_USAGE, "core %u brings a position, and the feed was begun with one", core);
		err_help(e, "use either --from and --checkpoint, or load_state_dict");
		return ST_USAGE;
	}
	buf_put(&s->position, b->p, b->n);
	struct feed_place place = { 0 };
	enum status st = feed_place_decode(b->p, b->n, &place, &what, e);
	if (st == ST_OK && h->begin.epoch && h->begin.step != place.step)
		st = err_set(e, ST_DATA, "core %u brings the position of step %llu, and another one that of step %llu", core,
			     (unsigned long long)place.step, (unsigned long long)h->begin.step);
	if (st != ST_OK || h->begin.epoch) {
		feed_place_clear(&place);
		return st;
	}
	h->begin = place;
	h->what.seed = what.seed;
	return ST_OK;
}

static void
seat_joined(struct feed_host *h, uint32_t core, const struct feed_join *j)
{
	struct feed_seat *s = &h->seat[core];
	struct ucred who = { 0 };
	socklen_t n = sizeof who;
	struct err e;

	if (s->joined || j->version != FEED_VERSION) {
		err_set(&e, ST_PROTO, "%s speaks version %u of the protocol, this program %d", feed_name(h->machine, core),
			j->version, FEED_VERSION);
		feed_host_blame(h, core, &e);
		return;
	}
	getsockopt(s->link.fd, SOL_SOCKET, SO_PEERCRED, &who, &n);
	s->joined = true;
	enum status st = seat_position(h, core, &j->position, &e);
	feed_join(h->machine, h->now, core, s->child.pid ? s->child.pid : who.pid);
	if (st != ST_OK)
		feed_host_blame(h, core, &e);
	else if (h->began) /* started for another loop */
		feed_seat_welcome(h, core);
}

/* A guest's first message must be JOIN; others are sent away. */
static void
seat_guest_says(struct feed_host *h, size_t i, struct feed_msg *m)
{
	struct feed_link *l = &h->guest[i];
	uint32_t core = m->type == FEED_JOIN ? seat_find(h, m->join.core) : FEED_ANY_CORE;

	if (m->type == FEED_JOIN && m->join.version != FEED_VERSION) {
		seat_refuse(l, ST_PROTO, "the feed speaks another version of the protocol", NULL);
		core = FEED_ANY_CORE;
	} else if (m->type == FEED_JOIN && core == FEED_ANY_CORE) {
		seat_refuse(l, ST_UNAVAIL, m->join.core == FEED_ANY_CORE ? "all cores of the feed have joined" :
			    "the feed has no such core, or it has joined", "dsvc-feed -n N says how many there are");
	} else if (m->type != FEED_JOIN) {
		feed_host_say(h, "somebody who had not joined sent a message, and was sent away");
	}
	if (core == FEED_ANY_CORE) {
		feed_link_clear(l);
	} else {
		feed_link_clear(&h->seat[core].link);
		h->seat[core].link = *l;
		*l = (struct feed_link){ .fd = -1 };
		seat_joined(h, core, &m->join);
	}
}

void
feed_seat_guest(struct feed_host *h, size_t i)
{
	struct feed_msg m = { 0 };
	struct err e;
	enum status ended = feed_link_read(&h->guest[i]), st = feed_link_next(&h->guest[i], &m, &e);

	if (st == ST_OK)
		seat_guest_says(h, i, &m);
	else if (st != ST_AGAIN)
		feed_host_say(h, "somebody who had not joined sent nonsense, and was sent away");
	feed_msg_clear(&m);
	if (h->guest[i].fd >= 0 && (ended != ST_OK || (st != ST_OK && st != ST_AGAIN)))
		feed_link_clear(&h->guest[i]);
	if (h->guest[i].fd < 0)
		h->guest[i] = h->guest[--h->n_guest];
}

/* Messages of cores */

static void
seat_position_asked(struct feed_host *h, uint32_t core, uint64_t step)
{
	const struct feed_place *p = h->fill ? feed_fill_place(h->fill, step) : NULL;
	struct feed_msg m = { .type = FEED_HERE };
	struct buf b = { 0 };

	m.here.step = step;
	if (p) {
		feed_place_encode(p, &h->what, &b);
		m.here.position = (struct bytes){ b.data, b.len };
	}
	feed_link_send(&h->seat[core].link, &m, -1);
	buf_clear(&b);
}

/* The traceback of a core whose standard error is not ours, line by line; of a long one the end. */
static void
seat_detail(struct feed_host *h, uint32_t core, const char *detail)
{
	size_t n = detail ? strlen(detail) : 0;
	const char *p = detail;
	struct buf line = { 0 };

	if (n > SEAT_DETAIL)
		p += n - SEAT_DETAIL;
	for (; n && *p; p++) {
		buf_byte(&line, (uint8_t)(*p == '\n' || *p == '\t' || (unsigned char)*p >= ' ' ? *p : '?'));
		if (*p != '\n' && p[1])
			continue;
		if (*p != '\n')
			buf_byte(&line, '\n');
		h->c->heard(h->c->arg, core, (const char *)line.data, line.len);
		buf_reset(&line);
	}
	buf_clear(&line);
}

static void
seat_failed(struct feed_host *h, uint32_t core, const struct feed_fail *f)
{
	struct err e;

	if (!h->seat[core].child.pid)
		seat_detail(h, core, f->detail);
	err_set(&e, f->code >= 1 ? (enum status)f->code : ST_NO, "%s: %s", feed_name(h->machine, core), str_or_empty(f->text));
	if (f->help)
		err_help(&e, "%s", f->help);
	feed_core_failed(h->machine, h->now, core, FEED_SAID, &e);
}

static void
seat_says(struct feed_host *h, uint32_t core, struct feed_msg *m)
{
	struct err e = { 0 };
	enum status st = ST_OK;

	if (!h->seat[core].joined && m->type != FEED_JOIN)
		st = err_set(&e, ST_PROTO, "%s sent a message before it joined", feed_name(h->machine, core));
	else
		switch (m->type) {
		case FEED_JOIN: seat_joined(h, core, &m->join); break;
		case FEED_READY: st = feed_ready(h->machine, h->now, core, &m->ready, &e); break;
		case FEED_POSITION: seat_position_asked(h, core, m->position.step); break;
		case FEED_SAVED: break; /* positions are kept whatever is saved */
		case FEED_RESULT:
			st = feed_answer_take(h, core, m->result.step, m->result.value.p, m->result.value.n, &e);
			if (st == ST_OK)
				st = feed_result(h->machine, h->now, core, m->result.step, &e);
			break;
		case FEED_STOP: feed_host_stop(h, FEED_END_STOP, m->stop.why); break;
		case FEED_FAIL: seat_failed(h, core, &m->fail); break;
		case FEED_BYE: feed_bye(h->machine, h->now, core, m->bye.done); break;
		default: st = err_set(&e, ST_PROTO, "%s sent a message that only a feed sends", feed_name(h->machine, core));
		}
	if (st != ST_OK)
		feed_host_blame(h, core, &e);
}

void
feed_seat_read(struct feed_host *h, uint32_t core)
{
	struct feed_seat *s = &h->seat[core];
	struct feed_msg m = { 0 };
	struct err e;
	enum status ended = feed_link_read(&s->link), st;

	while (s->link.fd >= 0 && (st = feed_link_next(&s->link, &m, &e)) != ST_AGAIN) {
		if (st == ST_OK)
			seat_says(h, core, &m);
		feed_msg_clear(&m);
		if (st == ST_OK)
			continue;
		err_wrap(&e, "%s", feed_name(h->machine, core));
		feed_host_blame(h, core, &e);
		ended = ST_END;
		break;
	}
	if (ended == ST_END && s->link.fd >= 0) {
		feed_link_clear(&s->link);
		feed_gone(h->machine, h->now, core);
	}
}

void
feed_seat_flush(struct feed_host *h, uint32_t core)
{
	struct feed_seat *s = &h->seat[core];

	if (s->link.fd >= 0 && !feed_link_flush(&s->link) && !s->child.pid) {
		feed_seat_read(h, core); /* messages from before it went */
		feed_link_clear(&s->link);
		feed_gone(h->machine, h->now, core);
	}
}

/* Messages to cores */

void
feed_seat_welcome(struct feed_host *h, uint32_t core)
{
	const struct feed_host_conf *c = h->c;
	struct feed_msg m = { .type = FEED_WELCOME };

	m.welcome = (struct feed_welcome){ .version = FEED_VERSION, .core = core, .cores = c->machine.cores,
		.rank = c->machine.rank + core, .ranks = c->machine.cores * c->hosts, .host = c->host, .hosts = c->hosts,
		.epoch = h->begin.epoch,
		.prefetch = c->machine.prefetch, .slots = c->machine.slots, .results = (uint32_t)c->machine.results,
		.rows = c->fill.element == FEED_ROWS ? c->fill.batch / c->machine.cores : 0,
		.step = h->began ? feed_core_step(h->machine, core) : h->begin.step + c->over,
		.loop = c->machine.loop, .until = h->until == UINT64_MAX ? 0 : h->until, .seed = h->what.seed, .each = c->each,
		.tail = (char *)(uintptr_t)c->tail_word, .dataset = (char *)(uintptr_t)h->what.dataset,
		.type = (char *)(uintptr_t)c->type_text };
	feed_link_send(&h->seat[core].link, &m, -1);
}

static void
seat_ring(struct feed_seat *s, struct feed_ring *r)
{
	struct feed_msg m = { .type = FEED_RING };
	const struct columns *c = r->columns;
	struct feed_column *v = mem_array(c->n ? c->n : 1, sizeof *v);

	for (size_t i = 0; i < c->n; i++) {
		const struct column *from = &c->v[i];

		v[i] = (struct feed_column){ .path = { .v = from->path, .n = from->n_path }, .kind = (uint32_t)from->kind,
			.dtype = (char *)(uintptr_t)(from->kind == COLUMN_FIXED ? dtype_name(from->dtype) : NULL),
			.at = from->at, .heap = from->heap, .tensor = from->tensor, .axis = (uint32_t)from->axis };
		v[i].dims.n = (size_t)from->n_dims;
		v[i].dims.v = mem_array((size_t)from->n_dims + 1, sizeof *v[i].dims.v);
		for (int k = 0; k < from->n_dims; k++)
			v[i].dims.v[k].n = from->dims[k];
	}
	m.ring = (struct feed_layout){ .slots = r->slots, .bytes = r->bytes, .rows = c->rows, .whole = c->whole,
		.writable = r->read_fd < 0, .mask = c->mask >= 0 ? c->v[c->mask].path[0] : NULL };
	m.ring.columns.v = v;
	m.ring.columns.n = c->n;
	feed_link_send(&s->link, &m, r->read_fd >= 0 ? r->read_fd : r->fd);
	for (size_t i = 0; i < c->n; i++)
		mem_free(v[i].dims.v);
	mem_free(v);
	feed_ring_unref(&s->ring);
	s->ring = feed_ring_ref(r);
}

void
feed_seat_batch(struct feed_host *h, const struct feed_action *a)
{
	struct feed_seat *s = &h->seat[a->core];
	struct feed_ring *r = feed_fill_ring(h->fill, a->batch.slot);
	struct feed_msg m = { .type = FEED_BATCH, .batch = a->batch };

	if (s->ring != r)
		seat_ring(s, r);
	if (h->c->machine.results)
		feed_answer_want(s, &a->batch);
	feed_link_send(&s->link, &m, -1);
}

void
feed_seat_end(struct feed_host *h, uint32_t core)
{
	struct feed_msg m = { .type = FEED_END };

	if (!h->began)
		feed_seat_welcome(h, core);
	feed_core_end(h->machine, core, &m.end);
	feed_link_send(&h->seat[core].link, &m, -1);
}

void
feed_seat_error(struct feed_host *h, uint32_t core)
{
	const struct feed_fault *f = feed_cause(h->machine);
	struct feed_msg m = { .type = FEED_ERROR };

	m.error = (struct feed_error){ .code = (uint32_t)f->err.kind, .text = (char *)(uintptr_t)f->err.text,
		.help = (char *)(uintptr_t)f->err.help, .core = f->core };
	feed_link_send(&h->seat[core].link, &m, -1);
}
