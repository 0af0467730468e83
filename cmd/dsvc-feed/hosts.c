/* SPDX-License-Identifier: MIT
 *
 * A step has N places, of which host h of H has [h N / H, (h + 1) N / H): it reads as a consumer with these places
 * in the rounds of the job. Of steps that all hosts cut or copy, each gets the whole: they share the job.
 */
#include "hosts.h"

#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "value/round.h"

enum { HOSTS_MAX = 1024, ELEMENT_CORE = 0, ELEMENT_HOST = 1, ELEMENT_STEP = 2, ELEMENT_COPY = 3 };

static enum status
hosts_parse(struct feed_opts *o, struct err *e)
{
	const char *t = o->host_text, *slash = strchr(t, '/');

	if (slash && str_int(t, (size_t)(slash - t), &o->host) && str_int(slash + 1, strlen(slash + 1), &o->hosts) &&
	    o->host >= 0 && o->hosts > o->host && o->hosts <= HOSTS_MAX)
		return ST_OK;
	err_set(e, ST_USAGE, "--host: '%s' is not I/N, host I of N hosts", t);
	err_help(e, "write host I of N as I/N, from 0 on: 0/2; there may be %d", HOSTS_MAX);
	return ST_USAGE;
}

static enum status
hosts_refuse(const char *what, const char *help, struct err *e)
{
	err_set(e, ST_USAGE, "%s does not go with --host", what);
	err_help(e, "%s", help);
	return ST_USAGE;
}

static enum status
hosts_fits(const struct feed_opts *o, struct err *e)
{
	int64_t cores = o->hosts * o->cores;

	if (!o->job.name)
		return hosts_refuse("a job without a name", "--job NAME, the same on all hosts, lets them find each other", e);
	if (o->local)
		return hosts_refuse("--local", "hosts share the elements that the workers of a service make", e);
	if (o->job.order != ORDER_STABLE)
		return hosts_refuse("an order other than stable", "leave out --order", e);
	if (o->loop_ns && o->hosts > 1)
		return hosts_refuse("a loop given as a duration", "give a number of steps, so that all hosts stop at the same", e);
	if (o->batched && o->batch % cores) {
		err_set(e, ST_USAGE, "--batch: %lld rows cannot be shared evenly by %lld cores of %lld hosts", (long long)o->batch,
			(long long)cores, (long long)o->hosts);
		err_help(e, "--batch %lld", (long long)((o->batch / cores + 1) * cores));
		return ST_USAGE;
	}
	return ST_OK;
}

/* Places of a step, and how many of them each host has. */
static uint64_t
hosts_places(const struct feed_opts *o, uint64_t *own)
{
	*own = o->batched ? (uint64_t)(o->batch / o->hosts) : o->element == ELEMENT_CORE ? (uint64_t)o->cores : 1;
	return *own * (uint64_t)o->hosts;
}

enum status
hosts_check(struct feed_opts *o, struct err *e)
{
	static const int tails[] = { TAIL_PAD, TAIL_PAD, TAIL_DROP, TAIL_SPREAD, TAIL_FAIL };
	uint64_t own, first, places;

	o->hosts = 1;
	if (!o->host_text)
		return ST_OK;
	enum status st = hosts_parse(o, e);
	if (st == ST_OK)
		st = hosts_fits(o, e);
	if (st != ST_OK)
		return st;
	/* One order of random operators for all hosts: who names the same job means the same. */
	job_opts_seed_by_name(&o->job);
	o->rounds = true;
	o->padded = o->element < ELEMENT_STEP;
	if (!o->padded && o->job.tail_of)
		return hosts_refuse("--tail-of stream", "with --element step and copy each batch is a step, and none is short", e);
	if (!o->padded) {
		o->job.consumer = o->consumer = mem_printf("%lld/%lld", (long long)o->host, (long long)o->hosts);
		o->job.share = o->hosts > 1 ? SHARE_LOSSLESS : SHARE_NONE;
		return ST_OK;
	}
	places = hosts_places(o, &own);
	first = own * (uint64_t)o->host;
	if (places > ROUND_PLACES_MAX) {
		err_set(e, ST_USAGE, "a step of several hosts has at most %d places, and not %llu", ROUND_PLACES_MAX,
			(unsigned long long)places);
		err_help(e, "make batches in the pipeline, for --element core or host");
		return ST_USAGE;
	}
	o->consumer = own > 1 ? mem_printf("%llu-%llu/%llu", (unsigned long long)first, (unsigned long long)(first + own - 1),
					   (unsigned long long)places) :
				mem_printf("%llu/%llu", (unsigned long long)first, (unsigned long long)places);
	o->job.consumer = o->consumer;
	o->job.tail = tails[o->tail];
	return ST_OK;
}

bool
hosts_lag(const struct feed_opts *o)
{
	return o->rounds && o->hosts > 1 && o->checkpoint;
}

void
hosts_conf(const struct feed_opts *o, struct feed_host_conf *c)
{
	struct feed_conf *m = &c->machine;
	struct feed_fill_conf *f = &c->fill;
	uint64_t own;

	c->host = (uint32_t)o->host;
	c->hosts = f->hosts = (uint32_t)o->hosts;
	m->rank = (uint32_t)(o->host * o->cores);
	f->parts = m->cores;
	f->batch = (uint64_t)(o->batch / o->hosts);
	if (o->batched)
		m->rows = f->batch;
	if (o->element == ELEMENT_STEP) {
		f->parts = m->parts = (uint32_t)(o->hosts * o->cores);
		m->part = m->rank;
	}
	f->rounds = o->rounds;
	f->padded = o->padded;
	f->tails = o->padded && o->job.tail_of == TAIL_OF_STREAM;
	f->lag = hosts_lag(o);
	uint64_t places = hosts_places(o, &own);
	c->what.places = o->padded ? (uint32_t)places : o->rounds;
	c->what.unit = o->padded ? (uint32_t)own : 1;
}

char *
hosts_path(const struct feed_opts *o, const char *path)
{
	const char *at = path ? strstr(path, "%h") : NULL;

	return !path ? NULL : !at ? mem_strdup(path) :
		mem_printf("%.*s%lld%s", (int)(at - path), path, (long long)o->host, at + 2);
}
