/* SPDX-License-Identifier: MIT */
#include "opts.h"

#include <stddef.h>

#include "cli/opt.h"
#include "host/link.h"
#include "host/work/worker_host.h"
#include "wire/msg.h"
#include "allow.h"

static const struct param rows[] = {
	OPT_SERVICE(struct work_options),
	OPT_TMP_MAX(struct work_options),
	{ .name = "bind", .letter = 'b', .arg = "ENDPOINT", .kind = PARAM_WORD,
	  .offset = offsetof(struct work_options, bind), .flags = PARAM_OPTIONAL,
	  .help = "where readers connect to this worker; default: ipc, or the interface that reaches the dispatcher" },
	{ .name = "advertise", .arg = "ENDPOINT", .kind = PARAM_WORD,
	  .offset = offsetof(struct work_options, advertise), .flags = PARAM_RARE | PARAM_OPTIONAL,
	  .help = "what readers are told to connect to, if not what -b says: HOST:PORT of a relay or a container's host; "
	  "HOST:* has the port that was bound" },
	{ .name = "slots", .letter = 'j', .arg = "N", .kind = PARAM_INT,
	  .offset = offsetof(struct work_options, slots), .def = "auto", .min = 1,
	  .max = WIRE_SLOTS_MAX, .flags = PARAM_ALLOW_AUTO | PARAM_PROCESSORS,
	  .help = "streams to run at once (further ones take turns); also the size of the pool that parallel= uses; "
	  "auto or 0: one per processor that it may use; 50%: half as many; -1: one less" },
	{ .name = "memory", .arg = "SIZE", .kind = PARAM_SIZE,
	  .offset = offsetof(struct work_options, memory), .def = "auto", .min = 1 << 20,
	  .max = INT64_MAX, .flags = PARAM_ALLOW_AUTO | PARAM_ALLOW_PERCENT,
	  .help = "bytes of unacknowledged elements to keep, or N% of the memory that it may use; auto: 32M, or 25% if "
	  "a control group allows less" },
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
	  .help = "name of this worker in messages; default: NODE-JOB.TASK of Slurm, the pod, or HOST:PID" },
	{ .name = "tag", .arg = "TAG", .kind = PARAM_WORDS, .offset = offsetof(struct work_options, tag),
	  .flags = PARAM_REPEAT | PARAM_NAME | PARAM_ONE_WORD,
	  .help = "a label that jobs can select, besides those of Slurm and Kubernetes" },
	{ .name = "restart-interval", .arg = "DURATION", .flags = PARAM_RARE, .kind = PARAM_DURATION,
	  .offset = offsetof(struct work_options, restart_interval), .def = "1s", .max = INT64_MAX,
	  .help = "time between restart points; 0: none" },
	{ .name = "give-up", .arg = "DURATION", .flags = PARAM_RARE, .kind = PARAM_DURATION,
	  .offset = offsetof(struct work_options, give_up), .def = "0", .max = INT64_MAX,
	  .help = "give up on a lost dispatcher after DURATION; for one with state, and for the first one unless "
	  "--connect-timeout says otherwise; 0: never" },
	{ .name = "drain-timeout", .arg = "DURATION", .kind = PARAM_DURATION,
	  .offset = offsetof(struct work_options, drain_timeout), .def = "25s", .max = INT64_MAX,
	  .help = "time to hand over streams after the first signal" },
	{ .name = "exit-when-idle", .arg = "DURATION", .kind = PARAM_DURATION,
	  .offset = offsetof(struct work_options, exit_when_idle), .def = "0", .max = INT64_MAX, .flags = PARAM_RARE,
	  .help = "end after having nothing to do for DURATION; 0: never" },
	{ .name = "lifetime", .arg = "DURATION", .kind = PARAM_DURATION,
	  .offset = offsetof(struct work_options, lifetime), .def = "0", .max = INT64_MAX / 2, .flags = PARAM_RARE,
	  .help = "hand over streams and end DURATION after the start, as after a signal; 0: never" },
	{ .name = "data", .arg = "WAY", .kind = PARAM_CHOICE, .offset = offsetof(struct work_options, data),
	  .flags = PARAM_RARE | PARAM_BY_HAND, .def = "auto", .choices = WORKER_DATA_CHOICES, .complete = WORKER_DATA_CHOICES,
	  .help = "elements over TCP: encrypted, clear, or auto (encrypted if the dispatcher has keys or a private socket)" },
	OPT_JOIN(struct work_options),
	OPT_INSECURE(struct work_options),
	ALLOW_ROWS(struct work_options),
	OPT_READY_FD(struct work_options),
	OPT_READY_FILE(struct work_options),
	OPT_UNTIL_STDIN_EOF(struct work_options),
	OPT_TRACE(struct work_options),
	OPT_LOG_FORMAT(struct work_options),
	OPT_QUIET(struct work_options),
	OPT_VERBOSE(struct work_options),
	{ 0 }
};

const struct program work_program = {
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
		{ "dsvc-work -d tcp://a:5050 -j 4", "four streams at once, for a service whose key is known" },
		{ 0 } },
	.exits = (const struct program_exit[]){
		{ 0, "ended by a signal, after handing over its streams, or because the dispatcher was ended" },
		{ 66, "a file or program of its options does not exist" }, { 69, NULL },
		{ 75, "the dispatcher was lost, or not every stream was handed over in time" }, { 76, NULL },
		{ 77, "the dispatcher does not know this key or has another one than before, or none is known and "
		  "--insecure was not given" },
		{ 78, "others can read the keys, or --sandbox require or an --allow option asks for what the kernel does not have" },
		{ -1, NULL } },
	.versions = link_versions,
};
