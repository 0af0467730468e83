/* SPDX-License-Identifier: MIT
 *
 * What limits a pass, in words.
 */
#include <inttypes.h>
#include <string.h>

#include "host/limit.h"

enum { LIMIT_TEXT = 60 }; /* bytes of an operator that are shown */

static double
limit_percent(double share)
{
	return 100 * share;
}

/* Text of others: nothing in it may move the cursor, and it is no line of its own. */
static void
limit_text(const uint8_t *p, size_t n, size_t most, struct buf *out)
{
	size_t k = n;

	if (n > most)
		for (k = most; k && (p[k] & 0xc0) == 0x80; k--)
			;
	buf_plain(out, p, k, ' ');
	if (k < n)
		buf_str(out, "…");
}

static void
limit_say_op(const struct limit_op *op, struct buf *out)
{
	if (op->source)
		buf_str(out, "the source");
	else
		buf_printf(out, "operator %" PRIu32, op->place);
	if (op->text) {
		buf_str(out, " `");
		limit_text((const uint8_t *)op->text, strlen(op->text), LIMIT_TEXT, out);
		buf_byte(out, '`');
	}
	buf_printf(out, " takes %.0f %% of the workers' time", limit_percent(op->share));
}

static void
limit_say_workers(const struct limit *l, struct buf *out)
{
	if (!l->served) {
		buf_printf(out, "no slot works for it: other jobs have the %" PRIu64, l->slots);
		return;
	}
	buf_printf(out, "too few workers: their %" PRIu64 " slot%s busy, %" PRIu64 " could be used, and readers wait "
		   "%.0f %% of the time", l->slots, l->slots == 1 ? " is" : "s are", l->usable, limit_percent(l->waits));
	if (l->most.place) {
		buf_str(out, "; ");
		limit_say_op(&l->most, out);
	}
}

static void
limit_say_behind(const struct limit *l, struct buf *out)
{
	limit_say_op(&l->most, out);
	buf_printf(out, ", and readers wait %.0f %% of theirs", limit_percent(l->waits));
}

void
limit_say(const struct limit *l, struct buf *out)
{
	switch (l->kind) {
	case LIMIT_OVER:
		buf_printf(out, "nothing: it is finished, with %" PRIu64 " elements", l->elements);
		break;
	case LIMIT_FAILED:
		buf_str(out, "it failed: ");
		limit_text(l->text.p, l->text.n, 400, out);
		break;
	case LIMIT_LISTING: buf_str(out, "a worker is listing what the source consists of"); break;
	case LIMIT_NO_WORKERS: buf_str(out, "no worker is there"); break;
	case LIMIT_NO_READER: buf_str(out, "nothing reads it, and workers make no more than they can keep"); break;
	case LIMIT_CONSUMER:
		buf_str(out, "the others wait for consumer ");
		limit_text(l->text.p, l->text.n, LIMIT_TEXT, out);
		buf_str(out, ", which is not there");
		break;
	case LIMIT_OUTPUT:
		buf_printf(out, "the output of the reader%s took nothing %.0f %% of the time, and workers were held back "
			   "%.0f %% of theirs", l->readers == 1 ? "" : "s", limit_percent(l->blocked), limit_percent(l->held));
		break;
	case LIMIT_READER:
		buf_printf(out, "the reader%s had elements at hand %.0f %% of the time, and workers were held back %.0f %% "
			   "of theirs", l->readers == 1 ? "" : "s", limit_percent(1 - l->waits), limit_percent(l->held));
		break;
	case LIMIT_NETWORK:
		buf_printf(out, "the way from the workers: readers wait %.0f %% of the time, though workers are held back "
			   "%.0f %% of theirs", limit_percent(l->waits), limit_percent(l->held));
		break;
	case LIMIT_WORKERS: limit_say_workers(l, out); break;
	case LIMIT_SOURCE:
	case LIMIT_OPERATOR: limit_say_behind(l, out); break;
	default: buf_str(out, "nothing can be said yet");
	}
}

/* More slots have work that no slot has now. */
static void
limit_cure_more(const struct limit *l, struct buf *out)
{
	uint64_t more = l->usable - l->slots;

	buf_printf(out, "start workers with up to %" PRIu64 " more slot%s", more, more == 1 ? "" : "s");
}

static void
limit_cure_op(const struct limit *l, struct buf *out)
{
	if (l->usable > l->slots)
		limit_cure_more(l, out);
	else if (l->kind == LIMIT_SOURCE)
		buf_str(out, "more workers would not help, since nothing of it is left for them: cut it into more files or shards");
	else if (l->most.parallel)
		buf_str(out, "more workers would not help: give it parallel=N, or cut the source into more parts");
	else
		buf_str(out, "more workers would not help: make it do less, or cut the source into more parts");
}

void
limit_cure(const struct limit *l, struct buf *out)
{
	switch (l->kind) {
	case LIMIT_NO_WORKERS: buf_str(out, "start one: dsvc-work, or dsvc up"); break;
	case LIMIT_NO_READER: buf_str(out, l->named ? "read it: dsvc-read -J NAME" : "it is forgotten after a while"); break;
	case LIMIT_CONSUMER: buf_str(out, "start it: dsvc-read --consumer I/N"); break;
	case LIMIT_OUTPUT:
		buf_str(out, l->named ? "make the program faster that reads it, or start more readers with the same -J" :
			"make the program faster that reads it, or share the work: several readers with one -J NAME");
		break;
	case LIMIT_READER:
		buf_str(out, "put operators before `distribute`, write -t msgpack, or start more readers");
		break;
	case LIMIT_NETWORK:
		buf_str(out, "read with a larger --window or with --compression snappy, or bring workers and readers closer");
		break;
	case LIMIT_WORKERS:
		if (l->usable > l->slots)
			limit_cure_more(l, out);
		else
			buf_str(out, "start more workers");
		break;
	case LIMIT_SOURCE:
	case LIMIT_OPERATOR: limit_cure_op(l, out); break;
	default: break;
	}
}
