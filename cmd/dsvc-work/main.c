/* SPDX-License-Identifier: MIT */
#include <stddef.h>
#include <unistd.h>

#include "base/log.h"
#include "cli/endpoint.h"
#include "cli/opt.h"
#include "cli/program.h"
#include "cli/ready.h"
#include "cli/report.h"
#include "host/link.h"
#include "host/worker_host.h"
#include "base/pool.h"
#include "value/where.h"
#include "wire/msg.h"
#include "allow.h"

struct work_options {
	char *dispatcher, *bind, *advertise, *name;
	struct ready ready;
	struct words tag;
	struct fence_conf fence;
	bool insecure, quiet, until_stdin_eof;
	int64_t slots, memory, restart_interval, give_up, drain_timeout, verbose;
	int compression, transfer;
};

static const struct param rows[] = {
	OPT_DISPATCHER(struct work_options),
	{ .name = "bind", .letter = 'b', .arg = "ENDPOINT", .kind = PARAM_WORD,
	  .offset = offsetof(struct work_options, bind), .flags = PARAM_OPTIONAL,
	  .help = "where readers connect to this worker; default: ipc, or the interface that reaches the dispatcher" },
	{ .name = "advertise", .arg = "ENDPOINT", .kind = PARAM_WORD,
	  .offset = offsetof(struct work_options, advertise), .flags = PARAM_RARE | PARAM_OPTIONAL,
	  .help = "what readers are told to connect to, if not what -b says: HOST:PORT of a relay or a container's host; "
	  "HOST:* has the port that was bound" },
	{ .name = "slots", .letter = 'j', .arg = "N", .kind = PARAM_INT,
	  .offset = offsetof(struct work_options, slots), .def = "auto", .min = 1,
	  .max = WIRE_SLOTS_MAX, .flags = PARAM_ALLOW_AUTO,
	  .help = "streams to run at once (further ones take turns); also the size of the pool that parallel= uses; "
	  "auto: one per processor" },
	{ .name = "memory", .arg = "SIZE", .kind = PARAM_SIZE,
	  .offset = offsetof(struct work_options, memory), .def = "32M", .min = 1 << 20,
	  .max = INT64_MAX, .help = "bytes of unacknowledged elements to keep" },
	{ .name = "compression", .arg = "WHEN", .flags = PARAM_RARE, .kind = PARAM_CHOICE,
	  .offset = offsetof(struct work_options, compression), .def = "auto",
	  .choices = JOB_COMPRESSION_WORDS, .complete = JOB_COMPRESSION_WORDS,
	  .help = "when to compress elements, for jobs that do not say; auto: over a network, if it pays" },
	{ .name = "transfer", .arg = "WAY", .flags = PARAM_RARE, .kind = PARAM_CHOICE,
	  .offset = offsetof(struct work_options, transfer), .def = "auto",
	  .choices = JOB_TRANSFER_WORDS, .complete = JOB_TRANSFER_WORDS,
	  .help = "how readers on this machine get elements: shm (they read in the worker's memory), copy, "
	  "or auto (shm where it can be)" },
	{ .name = "name", .arg = "NAME", .kind = PARAM_WORD,
	  .offset = offsetof(struct work_options, name), .flags = PARAM_OPTIONAL | PARAM_NAME,
	  .help = "name of this worker in messages" },
	{ .name = "tag", .arg = "TAG", .kind = PARAM_WORDS, .offset = offsetof(struct work_options, tag),
	  .flags = PARAM_REPEAT | PARAM_NAME | PARAM_ONE_WORD, .help = "a label that jobs can select" },
	{ .name = "restart-interval", .arg = "DURATION", .flags = PARAM_RARE, .kind = PARAM_DURATION,
	  .offset = offsetof(struct work_options, restart_interval), .def = "1s", .max = INT64_MAX,
	  .help = "time between restart points; 0: none" },
	{ .name = "give-up", .arg = "DURATION", .flags = PARAM_RARE, .kind = PARAM_DURATION,
	  .offset = offsetof(struct work_options, give_up), .def = "0", .max = INT64_MAX,
	  .help = "give up on a lost dispatcher after DURATION; for one with state; 0: never" },
	{ .name = "drain-timeout", .arg = "DURATION", .kind = PARAM_DURATION,
	  .offset = offsetof(struct work_options, drain_timeout), .def = "25s", .max = INT64_MAX,
	  .help = "time to hand over streams after the first signal" },
	OPT_INSECURE(struct work_options),
	ALLOW_ROWS(struct work_options),
	OPT_READY_FD(struct work_options), OPT_READY_FILE(struct work_options),
	OPT_UNTIL_STDIN_EOF(struct work_options),
	OPT_QUIET(struct work_options), OPT_VERBOSE(struct work_options),
	{ 0 }
};

static const struct program program = {
	.name = "dsvc-work",
	.brief = "run pipelines for a dispatcher and serve their elements to readers",
	.synopsis = PROGRAM_TEXTS("[OPTION]..."),
	.doc = PROGRAM_TEXTS(
		"Any number of workers may run, on any machine; they may join, leave or be killed at any "
		"moment. What one worker did not deliver, another makes again.",
		"After the first TERM or INT a worker hands its streams to others and ends when what it "
		"had made is delivered; the second ends it at once."),
	.rows = rows,
	.examples = (const struct program_example[]){
		{ "dsvc-work &", "work for this user's dispatcher with all processors" },
		{ "dsvc-work -d tcp://127.0.0.1:5050 -j 4", "four streams at once" },
		{ 0 } }, .exits = (const struct program_exit[]){
		{ 0, "ended by a signal, after handing over its streams, or because the dispatcher was ended" },
		{ 66, "a file or program of its options does not exist" }, { 69, NULL },
		{ 75, "the dispatcher was lost, or not every stream was handed over in time" }, { 76, NULL },
		{ 77, "other machines can reach the address, and --insecure was not given" },
		{ 78, "--sandbox require or an --allow option asks for what the kernel does not have" },
		{ -1, NULL } },
	.versions = link_versions,
};

static uint32_t
work_slots(int64_t asked)
{
	if (asked == PARAM_AUTO)
		asked = sysconf(_SC_NPROCESSORS_ONLN);
	return asked < 1 ? 1 : asked > WIRE_SLOTS_MAX ? WIRE_SLOTS_MAX : (uint32_t)asked;
}

int
main(int argc, char **argv)
{
	struct work_options o = { 0 };
	struct opt opt;
	struct err e = { 0 };
	enum status st;
	int code;

	if (!opt_start(&program, argc, argv, &o, LOG_INFO, &opt, &e, &code))
		return code;

	struct endpoint ep;
	if (opt.n)
		st = err_set(&e, ST_USAGE, "unexpected argument `%s`", opt.operand[0]);
	else
		st = endpoint_find(o.dispatcher, opt_from(&opt, &program, "dispatcher"), &ep, &e);
	for (size_t i = 0; st == ST_OK && i < o.tag.n; i++)
		st = tag_check(o.tag.v[i], &e);
	if (st == ST_OK && o.tag.n > WIRE_TAGS_MAX)
		st = err_set(&e, ST_USAGE, "a worker has at most %d tags", WIRE_TAGS_MAX);
	if (st == ST_OK && o.bind)
		st = endpoint_bind(&o.bind, "-b", &e);
	if (st == ST_OK && o.advertise)
		st = endpoint_bind(&o.advertise, "--advertise", &e);
	if (st == ST_OK)
		st = ready_begin(&o.ready, &e);
	if (st == ST_OK) {
		struct worker_host_conf c = { .dispatcher = ep.address, .from = ep.from,
			.bind = o.bind, .advertise = o.advertise, .insecure = o.insecure,
			.fence = &o.fence, .slots = work_slots(o.slots),
			.memory = (size_t)o.memory, .name = o.name, .tags = &o.tag,
			.pack = (enum job_compression)o.compression, .transfer = (enum job_transfer)o.transfer,
			.restart_ns = o.restart_interval, .give_up_ns = o.give_up, .drain_ns = o.drain_timeout,
			.until_stdin_eof = o.until_stdin_eof, .ready = ready_told, .arg = &o.ready };
		o.fence.ready_file = o.ready.file;
		pool_set_size(c.slots);
		endpoint_export(&ep);
		st = worker_host_run(&c, &e);
		ready_end(&o.ready);
	}
	opt_clear(&program, &o, &opt);
	return st == ST_OK ? 0 : report(program.name, &e);
}
