/* SPDX-License-Identifier: MIT */
#include "host/service.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>

#include "base/gate.h"
#include "base/log.h"
#include "base/mem.h"
#include "host/tool.h"
#include "op/program_row.h"
#include "op/remote/remote.h"
#include "value/mp.h"

enum { SERVICE_CLOSE_MS = 1000 };

struct remote_job {
	struct service *service;
	const char *job;         /* NULL: anonymous */
	uint32_t epoch;
	bool first;              /* the first of the passes that a repeat reads */
	bool taken;              /* something has come */
	struct reader_host *reader;
	const uint8_t *p, *end;  /* the rest of the piece */
	struct block *block;     /* in which it lies */
	uint64_t left, given;    /* elements to come; given out of this piece */
};

/* The environment variable counts also in programs without --transfer. */
static int
service_transfer(int asked)
{
	const char *all = asked == TRANSFER_AUTO ? getenv("DSVC_TRANSFER") : NULL;

	return all && !strcmp(all, "copy") ? TRANSFER_COPY :
	       all && !strcmp(all, "shm") ? TRANSFER_SHM : asked;
}

void
service_conf(const struct op_node *n, uint32_t pass, struct reader_host_conf *out)
{
	job_opts_ask(&out->job, &remote_of(n)->job);
	out->job.epoch += pass;
	if (remote_of(n)->at) {
		out->dispatcher = remote_of(n)->at;
		out->from = "at=";
	}
	out->job.transfer = service_transfer(out->job.transfer);
}

/* Whether pipelines may make this process speak to another service. A socket is a file, so it may
 * lie below --allow-read; an address that others serve is beyond what a worker's owner has allowed. */
static enum status
service_allowed(const char *at, struct err *e)
{
	struct stat st;
	bool file = !strncmp(at, "ipc://", 6) && !strchr(at, ','); /* with commas they are several */

	if (gate_is_open(GATE_READ) || (file && !gate_stat(at + 6, &st)))
		return ST_OK;
	err_set(e, ST_PERM, "this worker may not read from the service at %.200s", at);
	err_help(e, "workers read from services whose socket lies below their --allow-read PATH; --allow-read / allows all");
	return ST_PERM;
}

/* Whether there is a dispatcher that it can ask. */
static enum status
service_there(const struct service *s, const char *at, struct err *e)
{
	if (!at && !s->lacking && !s->dispatcher)
		return err_set(e, ST_DATA, "a worker reads datasets of other services only, which at= names");
	if (at)
		return service_allowed(at, e);
	return !s->lacking ? ST_OK : (*e = *s->lacking).kind;
}

/* For who may open it again, elsewhere, and go on: a job of its own in a fixed order. */
static void
service_same(struct job_opts *o, const struct op_remote *what)
{
	o->name = NULL;
	o->sharding = SHARD_DYNAMIC;
	if (o->order == ORDER_ANY)
		o->order = ORDER_STABLE;
	if (!o->seeded)
		o->seed = what->seed;
	o->seeded = true;
}

static enum status
service_open(void *arg, const struct op_remote *what, void **handle, struct err *e)
{
	struct service *s = arg;
	struct buf type = { 0 };
	struct reader_host_conf c = { .dispatcher = s->dispatcher, .from = s->from,
		.job = s->job, .give_up_ns = s->give_up_ns, .position = what->from, .blocked = s->blocked };
	enum status st = service_there(s, remote_of(what->node)->at, e);

	if (st != ST_OK)
		return st;
	service_conf(what->node, what->pass, &c);
	if (what->same)
		service_same(&c.job, what);
	if (what->pass + 1 > s->passes)
		s->passes = what->pass + 1;
	c.dataset = what->dataset;
	if (what->node->remote_spec) {
		program_row_print_type(what->node->type, what->node->logged.is, &type);
		c.spec = what->node->remote_spec;
		c.type = (char *)type.data;
	}
	struct remote_job *j = mem_zalloc(sizeof *j);
	*j = (struct remote_job){ .service = s, .job = c.job.name, .epoch = (uint32_t)c.job.epoch,
		.first = what->pass == 0 && !what->same };
	st = reader_host_open(&c, &j->reader, e);
	buf_clear(&type);
	if (st == ST_OK)
		*handle = j;
	else
		mem_free(j);
	return st;
}

static void
service_save(void *handle, struct buf *out)
{
	struct remote_job *j = handle;
	struct buf position = { 0 };

	reader_host_written(j->reader, j->given);
	j->given = 0;
	if (j->taken) /* else nothing was given, and the job may not even be known */
		reader_host_position(j->reader, &position);
	buf_put(out, position.data, position.len);
	buf_clear(&position);
}

static enum status
service_wait(struct service *s, int fd, struct err *e)
{
	if (s->wait)
		return s->wait(s->wait_arg, fd, e);
	struct pollfd p = { .fd = fd, .events = POLLIN };
	return poll(&p, 1, -1) < 0 && errno == EINTR ? ST_AGAIN : ST_OK;
}

/* The next piece, waited for. */
static enum status
service_piece(struct remote_job *j, struct err *e)
{
	struct reader_host_piece piece;
	enum status st;
	reader_host_written(j->reader, j->given);
	j->given = 0;
	block_unref(&j->block);
	while ((st = reader_host_take(j->reader, &piece, e)) == ST_AGAIN) {
		st = service_wait(j->service, reader_host_fd(j->reader), e);
		if (st != ST_OK)
			return st;
	}
	if (st == ST_END && j->first && reader_host_was_over(j->reader))
		log_say(LOG_WARN, "job `%s`: pass %u was read to its end; epoch=%u reads another",
			j->job ? j->job : "", j->epoch, j->epoch + 1);
	if (st != ST_OK)
		return st;
	j->taken = true;
	j->p = piece.p;
	j->end = piece.p + piece.len;
	j->left = piece.count;
	j->block = block_ref(piece.block);
	return ST_OK;
}

static enum status
service_next(void *handle, struct run *out, struct err *e)
{
	struct remote_job *j = handle;
	if (!j->left) {
		enum status st = service_piece(j, e);
		if (st != ST_OK)
			return st;
	}
	run_hold(out, block_ref(j->block));
	while (j->left && out->n < RUN_USUAL) {
		const uint8_t *next = mp_check_next(j->p, j->end);
		if (!next || (size_t)(next - j->p) > UINT32_MAX)
			return err_set(e, ST_PROTO, "a worker sent malformed elements");
		run_push(out, (struct elem){ j->p, j->block, (uint32_t)(next - j->p), 0 });
		j->p = next;
		j->left--;
		j->given++;
	}
	return ST_OK;
}

static bool
service_had_any(void *handle)
{
	const struct msg_done *done = reader_host_result(((struct remote_job *)handle)->reader);
	return done && done->elements > 0;
}

static void
service_close(void *handle)
{
	struct remote_job *j = handle;
	reader_host_written(j->reader, j->given);
	reader_host_tell(j->reader, false);
	reader_host_close(j->reader, false, SERVICE_CLOSE_MS);
	reader_host_free(&j->reader);
	block_unref(&j->block);
	mem_free(j);
}

static enum status
service_type(void *arg, const char *dataset, const char *at, struct buf *out, struct err *e)
{
	struct service *s = arg;
	enum status st = service_there(s, at, e);

	return st ? st : tool_dataset(at ? at : s->dispatcher, at ? "at=" : s->from, dataset, NULL, out, e);
}

void
service_init(struct service *s, const char *dispatcher, const char *from)
{
	*s = (struct service){ .dispatcher = dispatcher, .from = from,
		.job = { .min_workers = 1, .wait_ms = 10000 } };
	s->op = (struct op_service){ service_open, service_save, service_next, service_had_any, service_close,
		service_type, s };
}
