/* SPDX-License-Identifier: MIT */
#include "pairs.h"

#include <inttypes.h>
#include <stdio.h>

#include "opts.h"
#include "value/format/format.h"

enum { PAIRS_TEXT = 128, PAIRS_KEEP = 16 };
#define PAIRS_SEAT_WAIT (300 * 1000000000ll)

/* An option as it was given; "" when it was not. */
struct said { char text[PAIRS_TEXT]; };

static struct said
said_text(const char *name, const char *value)
{
	struct said s = { "" };

	if (value)
		snprintf(s.text, sizeof s.text, "--%s %.90s", name, value);
	return s;
}

static struct said
said_number(const char *name, bool given, int64_t v)
{
	struct said s = { "" };

	if (given)
		snprintf(s.text, sizeof s.text, "--%s %" PRId64, name, v);
	return s;
}

static enum status
pairs_refuse(const struct said *a, const struct said *b, const char *why, const char *help, struct err *e)
{
	if (!a->text[0] || !b->text[0])
		return ST_OK;
	err_set(e, ST_USAGE, "%s does not go with %s: %s", a->text, b->text, why);
	err_help(e, "%s", help);
	return ST_USAGE;
}

/* Options that need a service, beside --local. */
static enum status
pairs_local(const struct feed_opts *o, struct err *e)
{
	static const char why[] = "the pipeline runs in this process", help[] = "leave one of them out";
	struct said local = { "--local" }, v[] = { said_text("host", o->host_text), said_text("job", o->job.name),
		said_number("shards", o->job.shards > 0, (int64_t)o->job.shards),
		said_number("window", o->job.window > 0, (int64_t)o->job.window) };

	for (size_t i = 0; o->local && i < sizeof v / sizeof *v; i++)
		if (pairs_refuse(&v[i], &local, why, help, e) != ST_OK)
			return ST_USAGE;
	return ST_OK;
}

/* Options that say more of another one, without that. */
static enum status
pairs_alone(const struct feed_opts *o, struct err *e)
{
	struct said v[] = { said_number("save-every", o->save_every > 0 && !o->checkpoint, o->save_every),
		said_number("keep", o->keep != PAIRS_KEEP && !o->checkpoint, o->keep) };

	for (size_t i = 0; i < sizeof v / sizeof *v; i++)
		if (v[i].text[0]) {
			err_set(e, ST_USAGE, "%s is for positions, and none are kept", v[i].text);
			err_help(e, "--checkpoint FILE keeps them");
			return ST_USAGE;
		}
	if (o->host_text || (o->job.seat_wait == PAIRS_SEAT_WAIT && !o->job.tail_of))
		return ST_OK;
	err_set(e, ST_USAGE, "%s is for the hosts of a job, and this is alone",
		o->job.tail_of ? "--tail-of stream" : "--seat-wait");
	err_help(e, "--host I/N is one of N");
	return ST_USAGE;
}

enum status
pairs_check(const struct feed_opts *o, struct err *e)
{
	static const char *const elements[] = { "core", "host", "step", "copy" };
	static const char *const formats[] = { NULL, "ndjson", "msgpack", "npy" };
	static const char again[] = "elements in order any do not come again as they came";
	struct said steps = said_number("steps", o->steps != INT64_MAX, o->steps),
		until = said_number("until", o->until_given && o->until != INT64_MAX, o->until),
		batch = said_number("batch", o->batched, o->batch),
		element = said_text("element", o->element_said ? elements[o->element] : NULL),
		any = said_text("order", o->job.order == ORDER_ANY ? "any" : NULL),
		from = said_number("from", o->from_given, o->from), checkpoint = said_text("checkpoint", o->checkpoint),
		as = said_text("as", formats[o->as]), listen = said_text("listen", o->listen);
	const struct { const struct said *a, *b; const char *why, *help; } v[] = {
		{ &steps, &until, "both say where to stop", "give only one of them" },
		{ &batch, &element, "elements are rows, or they are batches", "give only one of them" },
		{ &any, &checkpoint, again, "leave --order any out" },
		{ &any, &from, again, "leave --order any out" },
		{ &as, &listen, "one is for a command's standard input, the other for consumers in memory",
			"give only one of them" },
	};

	for (size_t i = 0; i < sizeof v / sizeof *v; i++)
		if (pairs_refuse(v[i].a, v[i].b, v[i].why, v[i].help, e) != ST_OK)
			return ST_USAGE;
	return pairs_local(o, e) == ST_OK ? pairs_alone(o, e) : ST_USAGE;
}
