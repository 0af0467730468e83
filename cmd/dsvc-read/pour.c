/* SPDX-License-Identifier: MIT
 *
 * From the service to the output. What is written is acknowledged, and nothing
 * is acknowledged that is not written.
 */
#include <poll.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/rng.h"
#include "cli/stop.h"
#include "host/service.h"
#include "read.h"
#include "value/mp.h"

enum { POUR_SHOW_MS = 100 };

static void
pour_gone(void *arg)
{
	struct pour *p = arg;
	uint64_t one = 1;
	atomic_store(&p->gone, true);
	ssize_t rc = write(p->gone_fd, &one, sizeof one);
	(void)rc; /* it is read by nobody: readable for ever */
}

void
pour_init(struct pour *p, const struct read_options *o)
{
	p->o = o;
	p->left = o->count == INT64_MAX ? UINT64_MAX : (uint64_t)o->count;
	p->gone_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	p->started_ns = clock_mono_ns();
}

enum status
pour_open(struct pour *p, const struct type *type, struct err *e)
{
	struct output_conf c = { .path = p->o->output, .type = type, .watch = true,
		.format = p->o->nul ? FORMAT_NUL : (enum format_kind)p->o->format,
		.gone = pour_gone, .arg = p };
	return p->out ? ST_OK : output_open(&c, &p->out, e);
}

enum status
pour_wait(struct pour *p, int fd, struct err *e)
{
	bool watch = p->o->progress && !p->o->quiet;
	/* before anything has come there is no output that would look after its pipe */
	struct pollfd f[4] = { { fd, POLLIN, 0 }, { stop_fd(), POLLIN, 0 },
			       { p->gone_fd, POLLIN, 0 }, { STDOUT_FILENO, 0, 0 } };
	(void)e;
	poll(f, p->out || p->o->output ? 3 : 4, watch ? POUR_SHOW_MS : -1);
	if (f[3].revents & POLLERR)
		pour_gone(p);
	return f[1].revents || f[2].revents || (f[3].revents & POLLERR) ? ST_AGAIN : ST_OK;
}

static bool
pour_stopped(const struct pour *p)
{
	return atomic_load(&p->gone) || atomic_load(stop_flag());
}

static void
pour_tell(struct pour *p, struct client *c)
{
	uint64_t written = output_written(p->out);
	client_written(c, written - p->told);
	p->told = written;
}

/* The first p->left elements of a piece, which has more. */
static enum status
pour_cut(struct pour *p, struct client_piece *piece, struct err *e)
{
	const uint8_t *at = piece->p, *end = piece->p + piece->len;
	for (uint64_t i = 0; i < p->left && at; i++)
		at = mp_check_next(at, end);
	if (!at)
		return err_set(e, ST_PROTO, "a worker sent malformed elements");
	piece->count = p->left;
	piece->len = (size_t)(at - piece->p);
	return ST_OK;
}

/* The type of the job's elements is known with its first piece or its end. */
static enum status
pour_begin(struct pour *p, struct client *c, struct err *e)
{
	if (p->out)
		return ST_OK;
	struct types *arena = types_new();
	const char *text = client_job(c)->type;
	const struct type *type = text && *text ? type_parse(arena, text, strlen(text), NULL) : NULL;
	enum status st = pour_open(p, type, e);
	types_free(&arena);
	return st;
}

static enum status
pour_piece(struct pour *p, struct client *c, struct client_piece *piece, struct err *e)
{
	enum status st = pour_begin(p, c, e);
	if (st == ST_OK && piece->count > p->left)
		st = pour_cut(p, piece, e);
	if (st == ST_OK && piece->count)
		st = output_bytes(p->out, piece->p, piece->len, piece->count, e);
	if (st != ST_OK)
		return atomic_load(&p->gone) ? ST_AGAIN : st;
	p->elements += piece->count;
	p->bytes += piece->len;
	p->left -= piece->count;
	pour_tell(p, c);
	return p->left ? ST_OK : ST_END;
}

/* Nothing has come: what is there is shown before waiting. */
static enum status
pour_dry(struct pour *p, struct client *c, struct err *e)
{
	if (p->out) {
		enum status st = output_flush(p->out, e);
		if (st != ST_OK)
			return atomic_load(&p->gone) ? ST_AGAIN : st;
		pour_tell(p, c);
	}
	return pour_wait(p, client_fd(c), e);
}

static void
pour_show(struct pour *p, struct client *c)
{
	int64_t now = clock_mono_ns();
	if (!p->o->progress || now - p->shown_ns < POUR_SHOW_MS * (int64_t)1000000)
		return;
	struct read_stats s;
	client_stats(c, &s);
	p->shown_ns = now;
	show_progress(p, &s);
}

enum status
pour_client(struct pour *p, struct client *c, struct err *e)
{
	struct client_piece piece;
	enum status st = p->left ? ST_OK : ST_END;
	p->told = p->out ? output_written(p->out) : 0;
	while (st == ST_OK && !pour_stopped(p)) {
		pour_show(p, c);
		st = client_take(c, &piece, e);
		if (st == ST_OK)
			st = pour_piece(p, c, &piece, e);
		else if (st == ST_AGAIN)
			st = pour_dry(p, c, e);
	}
	show_clear(p);
	bool enough = p->left == 0, stopped = st == ST_OK || st == ST_AGAIN;
	if (enough || stopped || st == ST_IO) {
		/* what is written is theirs, and no more is wanted */
		struct err ignored; /* output_close tells it */
		if (p->out && st != ST_IO && output_flush(p->out, &ignored) == ST_OK)
			pour_tell(p, c);
		client_close(c, false, READ_CLOSE_MS);
		return st == ST_IO ? st : enough ? ST_OK : ST_AGAIN;
	}
	if (st == ST_END)
		st = pour_begin(p, c, e);
	return st;
}

static enum status
pour_wait_hook(void *arg, int fd, struct err *e)
{
	return pour_wait(arg, fd, e);
}

/* Elements of the run up to --count. */
static enum status
pour_run(struct pour *p, struct run *r, struct err *e)
{
	if (r->n > p->left)
		r->n = (uint32_t)p->left;
	enum status st = output_run(p->out, r, e);
	if (st != ST_OK)
		return atomic_load(&p->gone) ? ST_AGAIN : st;
	p->elements += r->n;
	p->bytes += run_bytes(r);
	p->left -= r->n;
	return p->left ? ST_OK : ST_END;
}

enum status
pour_plan(struct pour *p, const struct plan *plan, const struct endpoint *ep,
	  uint32_t min_workers, int64_t wait_ns, struct err *e)
{
	struct service s;
	struct op_inst *chain = NULL;
	struct run *r;
	service_init(&s, ep->address, ep->from);
	s.wait = pour_wait_hook;
	s.wait_arg = p;
	s.min_workers = min_workers;
	s.wait_ns = wait_ns;
	struct op_ctx ctx = { .element_max = (uint32_t)plan->options.element_max,
		.stop = stop_flag(), .service = &s.op,
		.seed = p->o->seed == PARAM_AUTO ? rng_seed_fresh() : (uint64_t)p->o->seed };
	enum status st = pour_open(p, plan->type, e);
	if (st == ST_OK)
		st = op_open(plan->top, &ctx, &chain, e);
	if (st == ST_OK && p->left == 0)
		st = ST_END;
	while (st == ST_OK && !pour_stopped(p)) {
		st = op_pull(chain, &r, e);
		if (st == ST_OK)
			st = pour_run(p, r, e);
	}
	op_close(&chain);
	return st == ST_END ? ST_OK : st == ST_OK ? ST_AGAIN : st;
}

enum status
pour_close(struct pour *p, bool complete, struct err *e)
{
	enum status st = ST_OK;
	if (p->out)
		st = output_close(&p->out, complete, e);
	if (p->o->stats && complete)
		show_stats(p);
	close(p->gone_fd);
	return atomic_load(&p->gone) ? ST_AGAIN : st;
}
