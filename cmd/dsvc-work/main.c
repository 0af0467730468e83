/* SPDX-License-Identifier: MIT */
#include <unistd.h>

#include "base/log.h"
#include "base/machine.h"
#include "base/pool.h"
#include "base/tmp_room.h"
#include "base/trace.h"
#include "cli/endpoint.h"
#include "cli/opt.h"
#include "cli/report.h"
#include "host/join.h"
#include "host/secure.h"
#include "host/work/worker_host.h"
#include "net/notify.h"
#include "net/patience.h"
#include "value/where.h"
#include "wire/msg.h"
#include "opts.h"
#include "place.h"

static uint32_t
work_slots(int64_t asked)
{
	if (asked == PARAM_AUTO)
		asked = machine_cpus();
	return asked < 1 ? 1 : asked > WIRE_SLOTS_MAX ? WIRE_SLOTS_MAX : (uint32_t)asked;
}

/* A worker that is given up with its dispatcher waits so long for the first one, too. Told to end, it
 * does so while it waits. */
static void
work_waits(const struct work_options *o, const struct opt *opt)
{
	if (!opt_from(opt, &work_program, "connect-timeout") && opt_from(opt, &work_program, "give-up"))
		patience_set(o->give_up);
	if (o->until_stdin_eof)
		patience_leash(STDIN_FILENO);
	worker_host_signals();
	worker_host_lives(o->lifetime);
	notify_open();
}

int
main(int argc, char **argv)
{
	struct work_options o = { 0 };
	struct opt opt;
	struct err e = { 0 };
	enum status st;
	int code;

	if (!opt_start(&work_program, argc, argv, &o, LOG_INFO, &opt, &e, &code))
		return code;

	struct endpoint ep;
	secure_say_clear(o.insecure);
	tmp_room_limit(o.tmp_max);
	st = opt_at_most(&opt, 0, &e);
	if (st == ST_OK)
		st = trace_start(o.trace, o.trace_max, o.name, &e);
	if (st == ST_OK)
		st = join_first(o.join, &o.dispatcher, &e);
	work_waits(&o, &opt);
	if (st == ST_OK)
		st = endpoint_choose(&opt, &work_program, o.dispatcher, o.context, &ep, &e);
	place_named(&o);
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
			.bind = o.bind, .advertise = o.advertise, .data = (enum worker_data_way)o.data,
			.fence = &o.fence, .slots = work_slots(o.slots),
			.memory = place_memory(o.memory), .name = o.name, .tags = &o.tag,
			.pack = (enum job_compression)o.compression, .transfer = (enum job_transfer)o.transfer,
			.restart_ns = o.restart_interval, .give_up_ns = o.give_up, .drain_ns = o.drain_timeout,
			.idle_ns = o.exit_when_idle,
			.until_stdin_eof = o.until_stdin_eof, .ready = ready_told, .arg = &o.ready };
		o.fence.ready_file = o.ready.file;
		pool_set_size(c.slots);
		endpoint_export(&ep);
		st = worker_host_run(&c, &e);
		ready_end(&o.ready);
	}
	opt_clear(&work_program, &o, &opt);
	return st == ST_OK || st == ST_AGAIN ? 0 : report(work_program.name, &e);
}
