/* SPDX-License-Identifier: MIT */
#include "logged.h"

#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "cli/halt.h"
#include "cli/joblog.h"
#include "op/program_row.h"
#include "value/mp.h"

/* A row that waits: until the output has so many elements. */
struct logged_row {
	uint64_t upto, output;   /* output: bytes of the file with its answers */
	size_t len;              /* bytes of its columns, which are in `columns` */
};

struct logged {
	struct joblog *log;      /* NULL: none is written */
	struct halt halt;
	bool strict;
	struct logged_row *v;    /* rows that wait are [first, n), */
	size_t first, n, cap;
	struct buf columns;      /* and these are theirs, end to end, from `at` */
	size_t at;
	struct logged_sum sum;
};

enum status
logged_open(const struct logged_conf *c, struct logged_at from, struct logged **out, struct err *e)
{
	*out = NULL;
	if (!c->path && !c->halt)
		return ST_OK;
	struct logged *l = mem_zalloc(sizeof *l);
	l->sum.before = from.rows;
	l->strict = c->strict;
	enum status st = halt_parse(c->halt, &l->halt, e);
	if (st == ST_OK && c->path)
		st = joblog_open(c->path, PROGRAM_ROW_HEAD, from.bytes > 0, &l->log, e);
	if (st == ST_OK && l->log && from.bytes)
		st = joblog_cut(l->log, from.bytes, e);
	*out = l;
	if (st == ST_OK)
		return ST_OK;
	struct err own;
	logged_close(out, &own);
	return st;
}

enum status
logged_type(const struct type **type, struct err *e)
{
	const struct type *answer = *type && (*type)->kind != TYPE_ANY ? program_row_answer(*type) : NULL;

	if (!answer && *type && (*type)->kind != TYPE_ANY) {
		err_set(e, ST_USAGE, "--joblog and --halt: the dataset has no records of programs' runs");
		err_help(e, "register it with log=true at the exec that is its last operator, or read the pipeline with -e or -f");
		return ST_USAGE;
	}
	*type = answer;
	return ST_OK;
}

static void
logged_add(struct logged *l, struct program_row *row, uint64_t output)
{
	size_t before = l->columns.len;

	row->number = l->sum.before + ++l->sum.taken;
	if (l->log)
		program_row_print(row, &l->columns);
	l->v = mem_grow(l->v, &l->cap, l->n + 1, sizeof *l->v);
	l->v[l->n++] = (struct logged_row){ l->sum.elements, output, l->columns.len - before };
}

/* Whether the run ends after this element. */
static bool
logged_count(struct logged *l, const struct program_row *row)
{
	if (l->strict && program_row_failed(row))
		program_row_say(row);
	return halt_count(&l->halt, !program_row_failed(row));
}

/* Answers of one record; *most: of how many. */
static enum status
logged_record(struct logged *l, struct output *out, const uint8_t *p, size_t len, uint64_t *most, bool whole,
	      struct err *e)
{
	struct program_row row;
	const uint8_t *at, *end;
	uint32_t many;
	enum status st = program_row_get(p, len, &row, &at, &end, &many, e);

	if (st != ST_OK)
		return st;
	bool part = many > *most && !whole;
	uint32_t n = part ? (uint32_t)*most : many;
	const uint8_t *stop = part ? at : end;
	for (uint32_t i = 0; part && i < n; i++)
		stop = mp_past(stop);
	if (n)
		st = output_bytes(out, at, (size_t)(stop - at), n, e);
	if (st != ST_OK)
		return st;
	l->sum.elements += n;
	l->sum.bytes += (size_t)(stop - at);
	*most -= n < *most ? n : *most;
	if (part)
		return ST_OK;
	logged_add(l, &row, output_length(out));
	return logged_count(l, &row) ? ST_END : ST_OK;
}

enum status
logged_take(struct logged *l, struct output *out, const struct reader_host_piece *piece, uint64_t most, bool whole,
	    struct err *e)
{
	const uint8_t *p = piece->p, *end = p + piece->len;
	enum status st = ST_OK;

	for (uint64_t i = 0; st == ST_OK && i < piece->count && most; i++) {
		const uint8_t *next = mp_check_next(p, end);

		if (!next)
			return err_set(e, ST_PROTO, "a worker sent malformed elements");
		st = logged_record(l, out, p, (size_t)(next - p), &most, whole, e);
		p = next;
	}
	return st;
}

struct logged_sum
logged_sum(const struct logged *l)
{
	return l->sum;
}

enum status
logged_tell(struct logged *l, uint64_t good, struct err *e)
{
	size_t before = l->first;

	for (; l->first < l->n && l->v[l->first].upto <= good; l->first++) {
		const struct logged_row *row = &l->v[l->first];

		if (l->log)
			joblog_put(l->log, l->columns.data + l->at, row->len, row->output);
		l->at += row->len;
	}
	if (l->first == before)
		return ST_OK;
	if (l->log && !joblog_flush(l->log))
		return joblog_why(l->log, e);
	l->sum.records += l->first - before;
	l->sum.told = l->v[l->first - 1].upto;
	if (l->first == l->n || l->first > l->cap / 2) {
		l->n -= l->first;
		l->columns.len -= l->at;
		memmove(l->v, l->v + l->first, l->n * sizeof *l->v);
		memmove(l->columns.data, l->columns.data + l->at, l->columns.len);
		l->first = l->at = 0;
	}
	return ST_OK;
}

enum status
logged_sync(struct logged *l, struct logged_at *at, struct err *e)
{
	if (!l->log)
		return ST_OK;
	*at = (struct logged_at){ joblog_length(l->log), l->sum.before + l->sum.records };
	return joblog_sync(l->log) ? ST_OK : joblog_why(l->log, e);
}

enum status
logged_result(const struct logged *l, enum status st, struct err *e)
{
	return l ? halt_result(&l->halt, l->strict, st, e) : st;
}

enum status
logged_close(struct logged **lp, struct err *e)
{
	struct logged *l = *lp;

	*lp = NULL;
	if (!l)
		return ST_OK;
	enum status st = joblog_close(&l->log, e);
	mem_free(l->v);
	buf_clear(&l->columns);
	mem_free(l);
	return st;
}
