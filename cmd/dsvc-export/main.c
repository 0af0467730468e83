/* SPDX-License-Identifier: MIT */
#include <signal.h>
#include <stddef.h>
#include <unistd.h>

#include "base/log.h"
#include "cli/endpoint.h"
#include "cli/opt.h"
#include "cli/quit.h"
#include "cli/ready.h"
#include "cli/report.h"
#include "cli/stop.h"
#include "host/link.h"
#include "host/secure.h"
#include "web.h"

struct exporter {
	bool insecure, quiet, until_stdin_eof;
	char *dispatcher, *context, *listen;
	int64_t connect_timeout, verbose, timeout;
	int metrics, log_format;
	struct ready ready;
};

static const struct param rows[] = {
	OPT_SERVICE(struct exporter),
	{ .name = "listen", .letter = 'l', .arg = "HOST:PORT", .kind = PARAM_WORD, .offset = offsetof(struct exporter, listen),
	  .def = "127.0.0.1:9464", .help = "serve at this address; port 0: any free one; host *: every interface" },
	{ .name = "metrics", .arg = "WHAT", .kind = PARAM_CHOICE, .offset = offsetof(struct exporter, metrics),
	  .choices = "service|workers", .def = "service",
	  .help = "series of the service alone, or those of each worker too" },
	OPT_READY_FD(struct exporter),
	OPT_READY_FILE(struct exporter),
	OPT_UNTIL_STDIN_EOF(struct exporter),
	OPT_LOG_FORMAT(struct exporter),
	OPT_LAST(struct exporter),
	{ 0 }
};

static const struct program program = {
	.name = "dsvc-export",
	.brief = "serve metrics, health, status and a live page of a service over HTTP",
	.synopsis = PROGRAM_TEXTS("[OPTION]..."),
	.doc = PROGRAM_TEXTS(
		"Asks the dispatcher when it is asked itself, as dsvc-status does, and answers what Prometheus, a kubelet or an "
		"autoscaler reads. It needs no right but to read, keeps nothing, and may run anywhere; several of them may.",
		"It speaks plain HTTP, to this machine unless --listen says otherwise: whoever can reach the address sees the "
		"names of jobs, workers and files. Put a proxy in front where that matters."),
	.rows = rows,
	.examples = (const struct program_example[]){
		{ "dsvc-export &", "for Prometheus on this machine" },
		{ "dsvc-export --listen '*:9464'", "in a pod, beside the dispatcher" },
		{ 0 } },
	.exits = (const struct program_exit[]){
		{ 69, "the address of --listen cannot be had" }, { 75, NULL }, { 76, NULL }, EXITS_OF_KEYS, { 124, NULL },
		{ -1, NULL } },
	.versions = link_versions,
};

static enum status
export_run(struct exporter *o, const struct endpoint *ep, struct err *e)
{
	struct web_conf c = { .listen = o->listen, .workers = o->metrics };
	struct asker *asker = NULL;
	struct web *web = NULL;
	enum status st = ready_begin(&o->ready, e);

	if (st == ST_OK)
		st = asker_open(ep, stop_fd(), &asker, e);
	if (st == ST_OK)
		st = web_open(&c, asker, &web, e);
	if (st == ST_OK)
		st = ready_told(&o->ready, web_url(web), e);
	if (st == ST_OK) {
		asker_want(asker, ASK_BRIEF); /* so that what is wrong is said at once */
		st = web_run(web, stop_fd(), o->until_stdin_eof ? STDIN_FILENO : -1, e);
	}
	stop_ask();
	web_close(&web);
	asker_close(&asker);
	ready_end(&o->ready);
	return st;
}

int
main(int argc, char **argv)
{
	struct exporter o = { 0 };
	struct opt opt;
	struct err e = { 0 };
	struct endpoint ep;
	enum status st;
	int code;

	if (!opt_start(&program, argc, argv, &o, LOG_INFO, &opt, &e, &code))
		return code;
	stop_after(o.timeout, false);
	secure_say_clear(o.insecure);
	stop_install();
	st = opt_at_most(&opt, 0, &e);
	if (st == ST_OK)
		st = endpoint_choose(&opt, &program, o.dispatcher, o.context, &ep, &e);
	if (st == ST_OK)
		st = export_run(&o, &ep, &e);
	opt_clear(&program, &o, &opt);
	if (st == ST_OK && stop_signal() == SIGALRM)
		quit_signal(SIGALRM);
	return st == ST_OK ? 0 : report(program.name, &e);
}
