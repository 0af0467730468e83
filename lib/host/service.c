/* SPDX-License-Identifier: MIT */
#include "host/service.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/mem.h"
#include "host/tool.h"
#include "op/remote/remote.h"
#include "value/mp.h"

enum { SERVICE_CLOSE_MS = 1000 };

struct remote_job {
	struct service *service;
	const char *job;         /* NULL: anonymous */
	uint32_t epoch;
	bool first;              /* the first of the passes that a repeat reads */
	struct reader_host *reader;
	char *dispatcher, *from;
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
	out->job.transfer = service_transfer(out->job.transfer);
}

static enum status
service_open(void *arg, const struct op_node *n, const char *spec, const char *dataset,
	     uint32_t pass, void **handle, struct err *e)
{
	struct service *s = arg;
	struct buf type = { 0 };

	if (s->lacking)
		return (*e = *s->lacking).kind;
	struct reader_host_conf c = { .dispatcher = s->dispatcher, .from = s->from,
		.job = s->job, .give_up_ns = s->give_up_ns };
	service_conf(n, pass, &c);
	if (pass + 1 > s->passes)
		s->passes = pass + 1;
	c.dataset = dataset;
	if (spec) {
		type_print(n->type, &type);
		c.spec = spec;
		c.type = (char *)type.data;
	}
	struct remote_job *j = mem_zalloc(sizeof *j);
	*j = (struct remote_job){ .service = s, .job = c.job.name, .epoch = (uint32_t)c.job.epoch, .first = pass == 0 };
	enum status st = reader_host_open(&c, &j->reader, e);
	buf_clear(&type);
	if (st == ST_OK)
		*handle = j;
	else
		mem_free(j);
	return st;
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
	reader_host_close(j->reader, false, SERVICE_CLOSE_MS);
	reader_host_free(&j->reader);
	block_unref(&j->block);
	mem_free(j);
}

static enum status
service_type(void *arg, const char *dataset, struct buf *out, struct err *e)
{
	struct service *s = arg;

	if (s->lacking)
		return (*e = *s->lacking).kind;
	return tool_type(s->dispatcher, s->from, dataset, out, e);
}

void
service_init(struct service *s, const char *dispatcher, const char *from)
{
	*s = (struct service){ .dispatcher = dispatcher, .from = from,
		.job = { .min_workers = 1, .wait_ms = 10000 } };
	s->op = (struct op_service){ service_open, service_next, service_had_any, service_close,
		service_type, s };
}
