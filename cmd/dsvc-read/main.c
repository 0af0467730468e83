/* SPDX-License-Identifier: MIT */
#include <signal.h>
#include <stddef.h>
#include <string.h>

#include "base/log.h"
#include "base/str.h"
#include "cli/opt.h"
#include "cli/program.h"
#include "cli/quit.h"
#include "cli/report.h"
#include "cli/stop.h"
#include "host/link.h"
#include "host/service.h"
#include "read.h"

static const struct param rows[] = {
	OPT_DISPATCHER(struct read_options),
	{ .name = "expression", .letter = 'e', .arg = "SPEC", .kind = PARAM_WORD,
	  .offset = offsetof(struct read_options, expression), .flags = PARAM_OPTIONAL,
	  .help = "read this pipeline, without registering it first" },
	{ .name = "file", .letter = 'f', .arg = "FILE", .kind = PARAM_WORD,
	  .offset = offsetof(struct read_options, file), .flags = PARAM_OPTIONAL, .complete = "file",
	  .help = "read the pipeline in FILE, `-`: from standard input" },
	{ .name = "set", .letter = 's', .arg = "NAME=VALUE", .kind = PARAM_WORDS,
	  .offset = offsetof(struct read_options, set), .flags = PARAM_REPEAT,
	  .help = "set a parameter of the pipeline" },
	{ .name = "include-dir", .letter = 'I', .arg = "DIR", .kind = PARAM_WORDS,
	  .offset = offsetof(struct read_options, include), .flags = PARAM_REPEAT, .complete = "dir",
	  .help = "look here for included files" },
	{ .name = "job", .letter = 'J', .arg = "NAME", .kind = PARAM_WORD,
	  .offset = offsetof(struct read_options, job), .flags = PARAM_OPTIONAL,
	  .help = "share the elements with all readers of this job" },
	{ .name = "epoch", .arg = "N", .kind = PARAM_INT, .offset = offsetof(struct read_options, epoch),
	  .def = "1", .min = 1, .max = UINT32_MAX, .help = "read the N-th pass of the job" },
	{ .name = "epochs", .arg = "N", .kind = PARAM_INT, .offset = offsetof(struct read_options, epochs),
	  .def = "1", .min = 1, .max = UINT32_MAX, .help = "read so many passes, one after the other" },
	{ .name = "sharding", .arg = "POLICY", .kind = PARAM_CHOICE,
	  .offset = offsetof(struct read_options, sharding), .def = "dynamic",
	  .choices = "off|dynamic|parallel_epochs|distributed_epoch", .complete = "off|dynamic",
	  .help = "dynamic: the workers share the elements; off: each worker gives all of them" },
	{ .name = "order", .arg = "ORDER", .kind = PARAM_CHOICE,
	  .offset = offsetof(struct read_options, order), .def = "any", .choices = "any|stable|source",
	  .complete = "any|stable|source",
	  .help = "any: as they come; stable: the same whatever workers there are; source: as dsvc-run" },
	{ .name = "shards", .arg = "N", .kind = PARAM_INT, .offset = offsetof(struct read_options, shards),
	  .def = "auto", .flags = PARAM_ALLOW_AUTO, .min = 1, .max = WIRE_STREAMS_MAX,
	  .help = "number of streams, where it is fixed" },
	{ .name = "seed", .arg = "N", .kind = PARAM_INT, .offset = offsetof(struct read_options, seed),
	  .def = "auto", .flags = PARAM_ALLOW_AUTO, .help = "for the random operators; auto: another each time" },
	{ .name = "window", .arg = "N", .kind = PARAM_INT, .offset = offsetof(struct read_options, window),
	  .def = "auto", .flags = PARAM_ALLOW_AUTO, .min = 1, .max = 65536,
	  .help = "chunks under way per stream" },
	{ .name = "format", .letter = 't', .arg = "FORMAT", .kind = PARAM_CHOICE,
	  .offset = offsetof(struct read_options, format), .def = "auto", .choices = FORMAT_CHOICES,
	  .complete = FORMAT_CHOICES, .help = "how to write elements" },
	{ .name = "null", .letter = '0', .kind = PARAM_BOOL, .offset = offsetof(struct read_options, nul),
	  .help = "end each element with NUL: -t nul" },
	{ .name = "count", .letter = 'n', .arg = "N", .kind = PARAM_INT,
	  .offset = offsetof(struct read_options, count), .def = "inf", .flags = PARAM_ALLOW_INF,
	  .max = INT64_MAX, .help = "stop after N elements" },
	{ .name = "output", .letter = 'o', .arg = "FILE", .kind = PARAM_WORD,
	  .offset = offsetof(struct read_options, output), .flags = PARAM_OPTIONAL, .complete = "file",
	  .help = "write to FILE, which appears when all is written" },
	{ .name = "checkpoint", .arg = "FILE", .kind = PARAM_WORD,
	  .offset = offsetof(struct read_options, checkpoint), .flags = PARAM_OPTIONAL, .complete = "file",
	  .help = "keep in FILE how far it got, and go on from there when it exists" },
	{ .name = "ack-fd", .arg = "N", .kind = PARAM_INT, .offset = offsetof(struct read_options, ack_fd),
	  .def = "-1", .min = -1, .max = 1 << 20,
	  .help = "elements are finished when a line on descriptor N says so: how many, so far" },
	{ .name = "wait-workers", .arg = "N[/DURATION]", .kind = PARAM_WORD,
	  .offset = offsetof(struct read_options, wait_workers), .def = "1/10s",
	  .help = "wait for so many workers, no longer than that" },
	{ .name = "progress", .letter = 'p', .arg = "WHEN", .kind = PARAM_CHOICE,
	  .offset = offsetof(struct read_options, progress), .def = "auto", .choices = "auto|always|never",
	  .complete = "auto|always|never", .help = "show progress; auto: on a terminal" },
	{ .name = "stats", .kind = PARAM_BOOL, .offset = offsetof(struct read_options, stats),
	  .help = "say at the end how much it was and how long it took" },
	OPT_QUIET(struct read_options),
	OPT_VERBOSE(struct read_options),
	{ 0 }
};

static const struct program program = {
	.name = "dsvc-read",
	.brief = "write the elements of a dataset to standard output",
	.synopsis = PROGRAM_TEXTS("[OPTION]... DATASET", "[OPTION]... -e SPEC",
				  "[OPTION]... -f FILE", "[OPTION]... WORD... [then WORD...]..."),
	.doc = PROGRAM_TEXTS(
		"The workers of the service make the elements; each comes once, in the order in which "
		"they are ready. Readers that name the same job share its elements. A worker that is "
		"lost is replaced without a loss or a repetition.",
		"One operand without a blank is the id of a registered dataset. What stands behind "
		"`distribute` in a pipeline runs in this program.",
		"With --checkpoint it may be killed and started again, with other workers too: every "
		"element comes exactly once over all its runs. With --output the file is cut back to "
		"what was saved, and then holds each element once. A position that has reached the end "
		"stays there: remove the file to begin anew."),
	.rows = rows,
	.examples = (const struct program_example[]){
		{ "dsvc-read \"$id\" | jq .user | sort | uniq -c", "a registered dataset" },
		{ "dsvc-read -e 'range 10 | map x*x'", "a pipeline, at once" },
		{ "dsvc-read -J train -n 1000 \"$id\"", "a share of what the readers of `train` divide" },
		{ 0 } },
	.exits = (const struct program_exit[]){
		{ 65, "the pipeline is wrong, or an element failed" },
		{ 66, NULL }, { 69, "no dispatcher, or no worker in time" }, { 74, NULL },
		{ 75, NULL }, { 76, NULL }, { -1, NULL } },
	.versions = link_versions,
	.flags = PROGRAM_STOP_AT_OPERAND,
};

/* What is to be read: a dataset's id, or a plan. */
struct what {
	const char *dataset;
	struct plan *plan;
	struct buf spec, type;
	uint32_t min_workers;
	int64_t wait_ns;
};

static enum status
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
	if (opt->n == 1 && !strpbrk(opt->operand[0], " \t\n|")) {
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

static enum status
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

/* Options that were given are stronger than what the pipeline says. */
static void
read_conf(const struct read_options *o, const struct opt *opt, struct client_conf *c)
{
	bool plan = c->job || c->epoch;
	if (!plan || opt_from(opt, &program, "job"))
		c->job = o->job;
	if (!plan || opt_from(opt, &program, "sharding"))
		c->sharding = o->sharding & 1 ? SHARD_DYNAMIC : SHARD_OFF;
	if (!plan || opt_from(opt, &program, "order"))
		c->order = (uint32_t)o->order;
	if (!plan || opt_from(opt, &program, "shards"))
		c->shards = o->shards == PARAM_AUTO ? 0 : (uint32_t)o->shards;
	if (!plan || opt_from(opt, &program, "window"))
		c->window = o->window == PARAM_AUTO ? 0 : (uint32_t)o->window;
	if (!plan || opt_from(opt, &program, "epoch"))
		c->epoch = (uint32_t)o->epoch;
	if (!plan || opt_from(opt, &program, "seed")) {
		c->seeded = o->seed != PARAM_AUTO;
		c->seed = c->seeded ? (uint64_t)o->seed : 0;
	}
}

static enum status
read_service(struct pour *p, const struct what *w, const struct opt *opt,
	     struct client_conf *c, struct err *e)
{
	enum status st = ST_OK;
	c->dataset = w->dataset;
	c->spec = (char *)w->spec.data;
	c->type = (char *)w->type.data;
	c->min_workers = w->min_workers;
	c->wait_ns = w->wait_ns;
	c->checkpoint = p->o->checkpoint != NULL;
	c->position = p->saved.there ? &p->saved.position : NULL;
	read_conf(p->o, opt, c);
	for (int64_t i = 0; i < p->o->epochs && st == ST_OK && p->left; i++) {
		struct client *client;
		st = client_open(c, &client, e);
		if (st != ST_OK)
			break;
		st = pour_client(p, client, e);
		client_free(&client);
		c->epoch++;
	}
	return st;
}

/* Where the elements come from: straight from the workers, or out of a chain
 * that goes on here. */
static enum status
read_run(struct pour *p, struct what *w, const struct opt *opt, const struct endpoint *ep,
	 struct err *e)
{
	struct client_conf c = { .dispatcher = ep->address, .from = ep->from };
	const struct plan *plan = w->plan;
	if (!plan)
		return read_service(p, w, opt, &c, e);
	if (plan->local) {
		err_set(e, ST_DATA, "the pipeline reads standard input, which workers do not have");
		err_help(e, "run it with dsvc-run");
		return ST_DATA;
	}
	if (plan->remote && plan->border != plan->top) {
		if (p->o->checkpoint || p->o->ack_fd >= 0)
			return err_set(e, ST_USAGE, "--checkpoint and --ack-fd need a pipeline that runs on workers as a whole");
		return pour_plan(p, plan, ep, w->min_workers, w->wait_ns, e);
	}
	if (plan->border) {
		service_conf(plan->border, &c);
		buf_str(&w->spec, plan->border->remote_spec);
		type_print(plan->border->in[0]->type, &w->type);
	} else {
		plan_canonical(plan, CANON_ABSOLUTE, &w->spec);
		type_print(plan->type, &w->type);
	}
	return read_service(p, w, opt, &c, e);
}

int
main(int argc, char **argv)
{
	struct read_options o = { 0 };
	struct opt opt;
	struct err e = { 0 };
	struct what w = { 0 };
	struct endpoint ep;
	struct pour p = { 0 };
	enum status st = opt_parse(&program, argc, argv, &o, &opt, &e);
	if (st == ST_END)
		return 0;
	if (st != ST_OK)
		return report(program.name, &e);
	log_init(program.name, o.quiet ? LOG_ERROR : o.verbose > 1 ? LOG_DEBUG : o.verbose ? LOG_INFO : LOG_WARN);
	stop_install();
	st = pour_init(&p, &o, &e);
	if (st == ST_OK)
		st = endpoint_find(o.dispatcher, opt_from(&opt, &program, "dispatcher"), &ep, &e);
	if (st == ST_OK)
		st = what_wait(&w, o.wait_workers, &e);
	if (st == ST_OK)
		st = what_plan(&w, &o, &opt, &ep, &e);
	if (st == ST_OK)
		st = read_run(&p, &w, &opt, &ep, &e);
	struct err last = { 0 };
	enum status closed = pour_close(&p, st == ST_OK, &last);
	if (st == ST_OK && closed != ST_OK)
		st = closed, e = last;
	plan_free(&w.plan);
	buf_clear(&w.spec);
	buf_clear(&w.type);
	opt_clear(&program, &o, &opt);
	if (st == ST_AGAIN)
		quit_signal(stop_signal() ? stop_signal() : SIGPIPE);
	return st == ST_OK ? 0 : report(program.name, &e);
}
