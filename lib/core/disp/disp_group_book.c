/* SPDX-License-Identifier: MIT
 *
 * The books of groups that share a job: who has all it gets, and what it has missed.
 */
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "core/disp/disp_inner.h"

enum { GROUP_LACKS = 1000 }; /* bytes of a list for people */

/* Whether the group has all that it gets of the stream. */
static bool
group_has(const struct stream *s, uint32_t view)
{
	const struct view *v = &s->views[view];

	return s->finished || (s->ended && intervals_covers(&v->acked, 0, s->length));
}

bool
group_over(const struct iteration *it, uint32_t view)
{
	struct group *g = view < it->groups.n ? &it->groups.v[view] : NULL;

	if (!g || !it->n_streams || it->state != ITER_RUNNING || !iter_dealt(it))
		return false;
	while (g->n_over < it->n_streams && group_has(it->streams[g->n_over], view))
		g->n_over++;
	return g->n_over == it->n_streams;
}

/* Streams end without what a group lacks that is not there: such a group has not had all of them. */
bool
group_had_all(const struct iteration *it, uint32_t view)
{
	if (!group_over(it, view))
		return false;
	for (size_t i = 0; i < it->n_streams; i++)
		if (!intervals_covers(&it->streams[i]->views[view].acked, 0, it->streams[i]->length))
			return false;
	return true;
}

/* Its readers are told that they are done. Others get no stream that it did not. */
static void
group_done(struct disp *d, struct iteration *it, uint32_t view)
{
	if (!it->all_known)
		disp_dirty(d, &it->dirty, DIRTY_ROW);
	it->all_known = true;
	for (struct list_node *n = it->seats.next; n != &it->seats; n = n->next) {
		struct seat *r = LIST_OF(n, struct seat, node);

		if (r->peer && r->opened && r->view == view)
			ask_put(d, ASK_DONE, r->peer, (struct stream_key){ it->id, 0, 0 }, 0);
	}
}

void
group_tell_over(struct disp *d, struct iteration *it)
{
	for (uint32_t i = 0; i < it->groups.n; i++)
		if (group_live(it, i) && group_over(it, i))
			group_done(d, it, i);
}

void
group_check(struct disp *d, struct stream *s, uint32_t view)
{
	struct iteration *it = s->iter;

	if (group_shares(it) && s->ended) {
		iter_check(d, it);
		for (uint32_t i = 0; i < it->groups.n; i++)
			if ((view == UINT32_MAX || i == view) && group_live(it, i) && group_over(it, i))
				group_done(d, it, i);
	}
	stream_finish_check(d, s);
}

/* A text for people: `lacks`, and what was missed of this stream. Takes and gives. */
static char *
group_lacks(char *lacks, const struct stream *s, const struct intervals *missed)
{
	struct buf b = { 0 };

	for (size_t i = 0; i < missed->n && (!lacks || strlen(lacks) < GROUP_LACKS); i++) {
		buf_printf(&b, "%s%sstream %u: %llu-%llu", str_or_empty(lacks), lacks && *lacks ? ", " : "", s->index,
			   (unsigned long long)missed->v[i].start, (unsigned long long)missed->v[i].end - 1);
		mem_free(lacks);
		lacks = buf_take(&b);
	}
	return lacks;
}

void
group_missed(struct group *g, struct stream *s, uint32_t view)
{
	struct view *v = &s->views[view];
	struct intervals rest = { 0 };

	intervals_add(&rest, 0, s->length);
	intervals_sub_all(&rest, &v->acked);
	g->missed += intervals_count(&rest);
	g->lacks = group_lacks(g->lacks, s, &rest);
	group_skip(v, s->length); /* it may leave, and come once more */
	intervals_clear(&rest);
}

uint64_t
group_lost(const struct iteration *it, const struct group *g)
{
	uint64_t had = g->acked + g->missed;

	return it->state == ITER_FINISHED && !g->ended && it->elements > had ? it->elements - had : 0;
}

void
group_finished(struct disp *d, struct stream *s)
{
	struct iteration *it = s->iter;

	for (size_t i = 0; group_shares(it) && i < it->groups.n; i++) {
		struct group *g = &it->groups.v[i];
		uint64_t missed = views_missed(&s->views[i]);

		g->acked += intervals_count(&s->views[i].acked) - missed;
		g->missed += missed;
		g->lacks = group_lacks(g->lacks, s, &s->views[i].missed);
	}
	disp_dirty(d, &it->dirty, DIRTY_ROW);
}

void
group_fill_done(const struct iteration *it, const char *name, struct msg *m)
{
	uint32_t view;

	if (!group_shares(it))
		return;
	m->done.missed = m->done.elements = it->elements;
	if (!group_view(it, name, &view))
		return;
	m->done.missed -= it->groups.v[view].acked;
	m->done.lacks = mem_strdup(str_or_empty(it->groups.v[view].lacks));
	for (uint32_t i = 0; i < it->n_streams; i++) { /* that others have still to read */
		const struct stream *s = it->streams[i];

		if (s->finished)
			continue;
		m->done.elements += s->length;
		m->done.missed += views_missed(&s->views[view]);
		m->done.lacks = group_lacks(m->done.lacks, s, &s->views[view].missed);
	}
}
