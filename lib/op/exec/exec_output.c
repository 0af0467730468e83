/* SPDX-License-Identifier: MIT */
#include "op/exec/exec_output.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

void
child_output_clear(struct child_output *p)
{
	buf_clear(&p->b);
	*p = (struct child_output){ 0 };
}

void
child_output_reset(struct child_output *p)
{
	buf_reset(&p->b);
	p->at = 0;
	p->eof = p->fresh = false;
}

bool
child_output_read(struct child_output *p, int fd)
{
	ssize_t n;

	if (p->eof || fd < 0)
		return false;
	if (p->at == p->b.len)
		p->at = p->b.len = 0;
	else if (p->at > p->b.len / 2 && p->at >= CHILD_OUTPUT_READ) {
		memmove(p->b.data, p->b.data + p->at, p->b.len - p->at);
		p->b.len -= p->at;
		p->at = 0;
	}
	uint8_t *to = buf_room(&p->b, CHILD_OUTPUT_READ + frame_padding());
	do
		n = read(fd, to, CHILD_OUTPUT_READ);
	while (n < 0 && errno == EINTR);
	if (n < 0 && errno == EAGAIN)
		return false;
	if (n > 0)
		p->b.len += (size_t)n;
	else
		p->eof = true;
	p->fresh = true;
	return true;
}

enum status
child_output_next(struct child_output *p, struct frame *f, const uint8_t **answer, size_t *n,
		  struct err *e)
{
	const uint8_t *from = p->b.data ? p->b.data + p->at : (const uint8_t *)"";
	enum status st = frame_find(f, from, p->b.len - p->at, p->eof, n, e);

	if (st != ST_OK)
		return st;
	if (*n == 0) {
		p->fresh = false;
		return ST_END;
	}
	*answer = from;
	p->at += *n;
	return ST_OK;
}

enum status
child_output_all(struct child_output *p, struct frame *f, struct run *out, bool *more,
		 struct err *e)
{
	const uint8_t *answer;
	enum status st = ST_OK;
	size_t n, bytes = 0;

	*more = true;
	while (out->n < RUN_USUAL && bytes < RUN_BYTES) {
		st = child_output_next(p, f, &answer, &n, e);
		if (st != ST_OK)
			break;
		st = frame_get(f, answer, n, out->n, out, e);
		if (st != ST_OK)
			return st;
		bytes += n;
	}
	if (st == ST_END)
		*more = false;
	return st == ST_END ? ST_OK : st;
}
