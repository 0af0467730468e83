/* SPDX-License-Identifier: MIT */
#include "marks.h"

#include <string.h>

#include "base/mem.h"
#include "save.h"

void
marks_add(struct marks_due *m, uint64_t at, uint64_t bytes)
{
	if (m->n == m->cap && m->first > m->cap / 2) {
		m->n -= m->first;
		memmove(m->v, m->v + m->first, m->n * sizeof *m->v);
		m->first = 0;
	}
	if (m->n == m->cap)
		m->v = mem_grow(m->v, &m->cap, m->n + 1, sizeof *m->v);
	m->v[m->n++] = (struct mark_due){ at, bytes };
}

void
marks_tell(struct marks_due *m, struct reader_host *c, uint64_t told, uint64_t good, uint64_t begun)
{
	for (; m->first < m->n && m->v[m->first].at <= good; m->first++) {
		const struct mark_due *d = &m->v[m->first];

		if (d->at > told)
			reader_host_written(c, d->at - told);
		told = d->at;
		reader_host_mark(c, d->bytes, begun + told);
	}
	reader_host_written(c, good - told);
}

void
marks_clear(struct marks_due *m)
{
	mem_free(m->v);
	*m = (struct marks_due){ 0 };
}

enum status
given_load(const struct words *files, struct given *out, struct err *e)
{
	enum status st = ST_OK;

	if (files->n < 2)
		return ST_OK;
	out->positions = mem_array(files->n - 1, sizeof *out->positions);
	for (size_t i = 1; i < files->n && st == ST_OK; i++) {
		struct saved s = { 0 };

		st = saved_load(files->v[i], &s, e);
		if (st == ST_OK && !s.there) {
			st = err_set(e, ST_NOINPUT, "--checkpoint: there is no position in %s", files->v[i]);
			err_help(e, "the first file is this consumer's own, which may be missing; others are of consumers that are gone");
		}
		if (st == ST_OK)
			out->positions[out->n++] = (struct bytes){ s.position.data, s.position.len };
		else
			buf_clear(&s.position);
	}
	return st;
}

void
given_clear(struct given *g)
{
	for (size_t i = 0; i < g->n; i++)
		mem_free(g->positions[i].p);
	mem_free(g->positions);
	*g = (struct given){ 0 };
}
