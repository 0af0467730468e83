/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "base/str.h"
#include "host/service.h"
#include "what.h"

enum status
what_plan(struct what *w, const struct read_options *o, const struct opt *opt,
	  const struct endpoint *ep, struct err *e)
{
	struct service s;
	service_init(&s, ep->address, ep->from);
	struct spec_src src = { .sets = &o->set, .dirs = &o->include, .service = &s.op };
	if ((o->expression != NULL) + (o->file != NULL) + (opt->n > 0) != 1) {
		err_set(e, ST_USAGE, "one dataset or pipeline is needed");
		err_help(e, "dsvc-read ID, or dsvc-read -e 'range 10 | map x*x'");
		return ST_USAGE;
	}
	if (opt->n == 1 && !spec_is_whole(opt->operand[0])) {
		w->dataset = opt->operand[0];
		return ST_OK;
	}
	if (o->file)
		src.file = o->file;
	else if (opt->n > 1)
		src.argv = opt->operand, src.argc = opt->n;
	else
		src.text = o->expression ? o->expression : opt->operand[0];
	if (src.text)
		src.len = strlen(src.text);
	enum status st = plan_make(&src, &w->plan, e);
	if (st != ST_OK || w->plan->remote)
		return st;
	/* all of it runs on workers: checked as such */
	plan_free(&w->plan);
	src.flags = SPEC_SHARDED;
	return plan_make(&src, &w->plan, e);
}

enum status
what_wait(struct what *w, const char *text, struct err *e)
{
	const char *slash = strchr(text, '/');
	size_t n = slash ? (size_t)(slash - text) : strlen(text);
	int64_t count = 0;
	w->wait_ns = 10000000000;
	if (!str_int(text, n, &count) || count < 0 || count > WIRE_STREAMS_MAX ||
	    (slash && (!str_duration_ns(slash + 1, strlen(slash + 1), &w->wait_ns) ||
		       w->wait_ns < 0 || w->wait_ns / 1000000 > UINT32_MAX))) {
		err_set(e, ST_USAGE, "--wait-workers: '%s' is not a number of workers and a duration", text);
		err_help(e, "write 2, or 2/30s");
		return ST_USAGE;
	}
	w->min_workers = (uint32_t)count;
	return ST_OK;
}

void
what_clear(struct what *w)
{
	plan_free(&w->plan);
	buf_clear(&w->spec);
	buf_clear(&w->type);
}
