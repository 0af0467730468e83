/* SPDX-License-Identifier: MIT */
#include <stddef.h>

#include "base/log.h"
#include "cli/quit.h"
#include "cli/report.h"
#include "cli/stop.h"
#include "cli/wait_workers.h"
#include "fetch/url.h"
#include "host/join.h"
#include "host/link.h"
#include "host/secure.h"
#include "host/tool.h"
#include "save.h"

/* The job of an earlier save is not to come back to life. */
static enum status
save_forget(const struct endpoint *ep, struct folder *f, struct err *e)
{
	char *name = f->job;
	struct msg reply, ask = { .type = MSG_FORGET, .forget = { .jobs = { &name, 1 } } };
	enum status st = tool_once(ep->address, ep->from, &ask, MSG_FORGOTTEN, &reply, e);

	if (st == ST_OK)
		msg_clear(&reply);
	if (st == ST_NOINPUT) {
		err_clear(e);
		st = ST_OK;
	}
	return st == ST_OK ? folder_sweep(f, e) : st;
}

/* ST_NO: it is all there already. */
static enum status
save_ready(const struct save_options *o, const struct endpoint *ep, struct folder *f, bool other, struct err *e)
{
	if (o->overwrite)
		return save_forget(ep, f, e);
	if (!f->whole)
		return ST_OK;
	if (other) {
		err_set(e, ST_DATA, "%s holds another snapshot%s%.200s", f->path, f->saved ? ": " : "",
			f->saved ? f->saved : "");
		err_help(e, "name another folder; --overwrite replaces what is there");
		return ST_DATA;
	}
	if (o->if_missing)
		return ST_NO;
	err_set(e, ST_DATA, "%s is saved already", f->path);
	err_help(e, "--overwrite saves it again, --if-missing is content with it");
	return ST_DATA;
}

static enum status
save_run(const struct save_options *o, const struct opt *opt, const struct endpoint *ep, struct folder *f,
	 struct err *e)
{
	struct buf spec = { 0 }, type = { 0 };
	bool one = o->count != INT64_MAX, other;
	struct job_opts job = { .name = f->job, .sharding = one ? SHARD_DATA : SHARD_DYNAMIC,
		.order = o->shards && !one ? ORDER_STABLE : ORDER_ANY, .shards = one ? 1 : (uint64_t)o->shards,
		.seed = o->seeded ? (uint64_t)o->seed : 0, .seeded = o->seeded,
		.checkpoint = true };
	bool over = false;
	enum status st = wait_workers(o->wait_workers, &job, e);

	if (st == ST_OK)
		st = make_spec(o, opt, ep, f, &spec, &type, &other, e);
	if (st == ST_OK)
		st = save_ready(o, ep, f, other, e);
	struct reader_host_conf c = { .dispatcher = ep->address, .from = ep->from, .job = job,
		.spec = (char *)spec.data, .type = (char *)type.data, .give_up_ns = o->give_up,
		.position = f->begun ? &f->position : NULL };
	if (st == ST_OK)
		st = follow(o, &c, f, &over, e);
	if (st == ST_OK && over)
		st = folder_end(f, e);
	else if (st == ST_DATA && f->begun)
		folder_fail(f, e);
	if (st == ST_UNAVAIL)
		folder_leave(f);
	if (st == ST_AGAIN && !o->quiet)
		log_say(LOG_WARN, "the save to %s goes on; the same command follows it again", f->path);
	if (st == ST_OK && over)
		log_say(LOG_INFO, "%llu chunks, %llu elements, %llu bytes in %s", (unsigned long long)f->sum.chunks,
			(unsigned long long)f->sum.elements, (unsigned long long)f->sum.bytes, f->path);
	buf_clear(&spec);
	buf_clear(&type);
	return st == ST_NO ? ST_OK : st;
}

static enum status
save_check(const struct save_options *o, const struct opt *opt, struct err *e)
{
	bool text = o->expression || o->file;

	if (opt->n && url_is(opt->operand[0]) && o->chunk_time) {
		err_set(e, ST_USAGE, "--chunk-time needs a folder, whose list says where a chunk ended");
		err_help(e, "--chunk ends chunks in s3:// as well");
		return ST_USAGE;
	}

	if (o->shards > 1 && o->count != INT64_MAX) {
		err_set(e, ST_USAGE, "-n counts in one stream, and --shards asks for %lld", (long long)o->shards);
		err_help(e, "leave one of them out; take %lld per_stream=true counts in each stream",
			 (long long)(o->count / o->shards));
		return ST_USAGE;
	}

	if (opt->n >= (text ? 1 : 2) && !(o->expression && o->file) && (o->file || opt->n == (text ? 1 : 2)))
		return ST_OK;
	err_set(e, ST_USAGE, opt->n ? "one folder and one dataset or pipeline are needed" : "no folder is named");
	err_help(e, "dsvc-save DIR ID, or dsvc-save -e 'range 10 | map x*x' DIR");
	return ST_USAGE;
}

int
main(int argc, char **argv)
{
	struct save_options o = { 0 };
	struct opt opt;
	struct err e = { 0 };
	struct endpoint ep;
	struct folder f = { 0 };
	enum status st;
	int code;

	if (!opt_start(&save_program, argc, argv, &o, LOG_WARN, &opt, &e, &code))
		return code;
	stop_after(o.timeout, false);
	secure_say_clear(o.insecure);
	st = save_check(&o, &opt, &e);
	if (st == ST_OK)
		st = join_first(o.join, &o.dispatcher, &e);
	if (st == ST_OK)
		st = endpoint_choose(&opt, &save_program, o.dispatcher, o.context, &ep, &e);
	if (st == ST_OK)
		st = folder_find(opt.operand[0], o.overwrite, &f, &e);
	stop_install();
	if (st == ST_OK)
		st = save_run(&o, &opt, &ep, &f, &e);
	folder_clear(&f);
	opt_clear(&save_program, &o, &opt);
	if (st == ST_AGAIN)
		quit_signal(stop_signal());
	return st == ST_OK ? 0 : report(save_program.name, &e);
}
