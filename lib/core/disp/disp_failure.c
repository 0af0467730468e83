/* SPDX-License-Identifier: MIT
 *
 * Streams that fail, and their iteration with them: at an element that ends it, by
 * coming out differently, or by more failed elements than the reader allows.
 */
#include <inttypes.h>

#include "base/mem.h"
#include "base/str.h"
#include "core/disp/disp_inner.h"

void
stream_no_failure(struct stream *s)
{
	for (size_t i = 0; s->failure.code && i < s->iter->n_views; i++)
		s->views[i].reached = false;
	mem_free(s->failure.text);
	mem_free(s->failure.help);
	s->failure = (struct stream_failure){ 0 };
}

/* Fails the iteration once the elements made before the one that failed are delivered. */
void
stream_fail_check(struct disp *d, struct stream *s)
{
	struct stream_failure *f = &s->failure;

	if (!f->code || (s->iter->job->opts.order != ORDER_ANY && !views_reached(s)) ||
	    !views_covered(s, f->length))
		return;
	char *text = f->text, *help = f->help;

	f->text = f->help = NULL;
	iter_fail(d, s->iter, f->code, text, help);
}

void
stream_reached(struct disp *d, struct stream *s, const struct seat *r)
{
	s->views[r->view].reached = s->failure.code != 0;
	stream_fail_check(d, s);
}

void
stream_give_up(struct stream *s)
{
	struct iteration *it = s->iter;
	uint64_t end = views_end(s);

	if (s->finished)
		return;
	if (s->high > end)
		end = s->high;
	it->acked += views_count(s);
	it->elements += s->ended ? views_gives(s) : 0;
	it->made += s->made > end ? s->made : end;
}

void
stream_differs(struct disp *d, struct stream *s, uint64_t length)
{
	char *text = s->ended ?
		mem_printf("stream %u came out differently when it was made again: %llu elements, then %llu",
			   s->index, (unsigned long long)s->length, (unsigned long long)length) :
		mem_printf("stream %u came out differently when it was made again: "
			   "shorter than what was delivered of it, with %llu elements",
			   s->index, (unsigned long long)length);

	iter_fail(d, s->iter, ST_DATA, text,
		  mem_strdup("the pipeline or its input must give the same each time; files must not change during a pass"));
}

void
stream_fails(struct disp *d, struct stream *s, struct msg_stream_end *e)
{
	if (s->failure.code)
		return; /* said again */
	s->made += e->made;
	s->high = s->from = e->length; /* counted: fencing adds nothing */
	s->failure = (struct stream_failure){ .code = status_code(status_from_code(e->code)), .text = e->text, .help = e->help,
		.length = e->length, .split = e->split };
	e->text = e->help = NULL;
	stream_changed(d, s);
	stream_fail_check(d, s);
}

bool
fault_check(struct disp *d, struct iteration *it)
{
	if (it->state != ITER_RUNNING || it->failed <= it->max_errors)
		return true;
	iter_fail(d, it, ST_DATA,
		  mem_printf("%" PRIu64 " element%s failed: more than the %" PRIu64 " that --max-errors allows",
			     it->failed, str_s(it->failed), it->max_errors),
		  mem_strdup("--errors FILE lists them"));
	return false;
}

bool
fault_count(struct disp *d, struct stream *s, uint64_t failed)
{
	struct iteration *it = s->iter;

	if (failed <= s->failed)
		return true;
	it->failed += failed - s->failed;
	events_elements_failed(d, it, failed - s->failed);
	s->failed = failed;
	disp_dirty(d, &s->dirty, DIRTY_ROW);
	disp_dirty(d, &it->dirty, DIRTY_ROW);
	return fault_check(d, it);
}
