/* SPDX-License-Identifier: MIT */
#include "book.h"

#include "base/log.h"
#include "value/format/excerpt.h"

enum status
book_open(struct book *b, const char *file, struct err *e)
{
	b->file = file;
	pthread_mutex_init(&b->lock, NULL);
	b->open = true;
	return faults_open(file, &b->faults, e);
}

void
book_failure(struct book *b, const struct op_failure *f)
{
	struct fault x = { .op = f->node->place, .text = f->node->text, .error = f->e->text, .file = f->file,
		.line = f->line, .fatal = f->fatal };
	struct buf element = { 0 };

	if (b->faults && f->elem.p)
		excerpt_print(f->elem.p, f->elem.len, &element);
	x.element = (char *)element.data;
	pthread_mutex_lock(&b->lock);
	faults_add(b->faults, &x);
	b->failed += !f->fatal;
	pthread_mutex_unlock(&b->lock);
	buf_clear(&element);
}

void
book_pass(struct book *b, const struct msg_done *done)
{
	for (size_t i = 0; done && i < done->faults.n; i++) {
		const struct msg_fault *f = &done->faults.v[i];
		struct fault x = { .op = f->op, .text = f->text, .error = f->error, .file = f->file, .line = f->line,
			.element = f->element, .worker = f->worker ? f->worker : "", .stream = f->stream,
			.offset = f->offset, .fatal = !f->nth };

		faults_add(b->faults, &x);
	}
	b->failed += done ? done->failed : 0;
	b->dropped += done && !done->code ? done->dropped : 0;
	b->added = done && !done->code ? done->added : 0;
}

enum status
book_close(struct book *b, struct err *e)
{
	if (!b->open)
		return ST_OK;
	b->open = false;
	if (b->failed)
		log_say(LOG_WARN, "%llu element%s failed%s%s", (unsigned long long)b->failed, b->failed == 1 ? "" : "s",
			b->file ? "; see " : "", b->file ? b->file : "");
	pthread_mutex_destroy(&b->lock);
	return faults_close(&b->faults, e);
}
