/* SPDX-License-Identifier: MIT */
#include "base/log.h"
#include "cli/stop.h"
#include "finish.h"

void
finish_pass(struct delivery *p, struct reader_host *reader)
{
	const struct msg_done *done = reader_host_result(reader);
	for (size_t i = 0; done && i < done->faults.n; i++) {
		const struct msg_fault *f = &done->faults.v[i];
		struct fault x = { .op = f->op, .text = f->text, .error = f->error, .file = f->file,
			.line = f->line, .element = f->element, .worker = f->worker ? f->worker : "",
			.stream = f->stream, .offset = f->offset, .fatal = !f->nth };
		faults_add(p->faults, &x);
	}
	p->failed += done ? done->failed : 0;
	p->missed += reader_host_tell(reader, p->o->on_missed);
}

void
finish_empty(const struct delivery *p, struct reader_host *reader, const struct reader_host_conf *c,
	     bool last)
{
	if (p->o->checkpoint && c->position && !p->elements && !c->job.name)
		log_say(LOG_WARN, "%s is at the end of its pass: nothing is left; remove it to start over",
			p->o->checkpoint);
	else if (reader_host_was_over(reader) && c->job.name && last)
		log_say(LOG_WARN, "job `%s`: pass %u was read to its end; --epoch %u reads another", c->job.name,
			(unsigned)c->job.epoch, (unsigned)c->job.epoch + 1);
	else if (reader_host_was_over(reader) && c->job.name)
		log_say(LOG_WARN, "job `%s`: pass %u was read to its end; pass %u is next", c->job.name,
			(unsigned)c->job.epoch, (unsigned)c->job.epoch + 1);
}

enum status
finish_missed(uint64_t n, struct err *e)
{
	err_set(e, ST_DATA, "the group missed %llu element%s", (unsigned long long)n, n == 1 ? "" : "s");
	err_help(e, "--from start begins at the start, if that is still there; with --share lossless nothing is given up, "
		 "with a larger --share-window less");
	return ST_DATA;
}

enum status
finish_close(struct delivery *p, enum status st, struct err *e)
{
	struct err last = { 0 };
	if (st == ST_OK && p->acks.finished > p->elements) {
		st = err_set(e, ST_DATA, "--ack-fd: %llu element%s finished, of %llu that were written",
			     (unsigned long long)p->acks.finished, p->acks.finished == 1 ? " was" : "s were",
			     (unsigned long long)p->elements);
		err_help(e, "each line gives the total number of elements finished so far");
	}
	if (st == ST_AGAIN && stop_signal() && p->o->checkpoint && p->saved.there)
		log_say(LOG_WARN, "stopped: %s has the position after %llu element%s; the same command resumes from there",
			p->o->checkpoint, (unsigned long long)p->saved.elements, p->saved.elements == 1 ? "" : "s");
	if (p->out && st != ST_AGAIN && st != ST_TEMP)
		output_no_rest(p->out);
	st = logged_result(p->logged, st, e);
	enum status closed = delivery_close(p, st == ST_OK, &last);
	if (st == ST_OK && closed != ST_OK)
		st = closed, *e = last;
	closed = faults_close(&p->faults, &last);
	if (st == ST_OK && closed != ST_OK)
		st = closed, *e = last;
	if (st == ST_OK && p->failed)
		log_say(LOG_WARN, "%llu element%s failed%s%s", (unsigned long long)p->failed,
			p->failed == 1 ? "" : "s", p->o->errors ? "; see " : "",
			p->o->errors ? p->o->errors : "");
	if (st == ST_OK && p->missed && p->o->on_missed)
		return finish_missed(p->missed, e);
	if (st == ST_OK && p->o->fail_empty && !p->elements)
		return err_set(e, ST_NO, "%s", "");
	return st;
}
