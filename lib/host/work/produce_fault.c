/* SPDX-License-Identifier: MIT */
#include "host/work/produce_fault.h"

#include <string.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include "value/format/excerpt.h"

enum { PRODUCE_FAULT_PAUSE_NS = 100 * 1000 * 1000 };

void
produce_fault_init(struct produce_fault *f)
{
	pthread_mutex_init(&f->lock, NULL);
}

void
produce_fault_clear(struct produce_fault *f)
{
	struct msg scratch = { .type = MSG_FAULTS, .faults.list = f->list };

	msg_clear(&scratch);
	pthread_mutex_destroy(&f->lock);
}

static char *
produce_fault_text(const char *s)
{
	return s ? mem_strndup(s, strnlen(s, WIRE_FAULT_TEXT)) : NULL;
}

static void
produce_fault_keep(struct produce_fault *f, const struct op_failure *x)
{
	struct buf element = { 0 };

	if (x->elem.p)
		excerpt_print(x->elem.p, x->elem.len, &element);
	if (f->list.n == f->cap)
		f->list.v = mem_grow(f->list.v, &f->cap, f->list.n + 1, sizeof *f->list.v);
	f->list.v[f->list.n++] = (struct msg_fault){ .nth = x->fatal ? 0 : f->failed,
		.op = x->node->place, .text = produce_fault_text(x->node->text),
		.error = produce_fault_text(x->e->text), .file = produce_fault_text(x->file),
		.line = x->line, .element = produce_fault_text((char *)element.data),
		.offset = atomic_load(&f->offset) };
	f->kept++;
	buf_clear(&element);
}

void
produce_fault_add(struct produce_fault *f, const struct op_failure *x)
{
	pthread_mutex_lock(&f->lock);
	if (!x->fatal)
		f->failed++;
	/* The one that ends the stream is told in any case. */
	if (f->kept < WIRE_FAULTS_MAX - 1 || (x->fatal && f->list.n < WIRE_FAULTS_MAX))
		produce_fault_keep(f, x);
	pthread_mutex_unlock(&f->lock);
}

bool
produce_fault_take(struct produce_fault *f, bool all, uint64_t *failed, struct msg_faults_list *out)
{
	bool any;

	pthread_mutex_lock(&f->lock);
	any = f->failed != f->told || f->list.n;
	if (any && !all) {
		int64_t now = clock_mono_ns();
		any = now - f->told_ns >= PRODUCE_FAULT_PAUSE_NS;
		if (any)
			f->told_ns = now;
	}
	if (any) {
		*failed = f->told = f->failed;
		*out = f->list;
		f->list = (struct msg_faults_list){ 0 };
		f->cap = 0;
	}
	pthread_mutex_unlock(&f->lock);
	return any;
}

void
produce_note(void *arg, const struct op_node *n, const struct err *e)
{
	(void)arg;
	log_say(LOG_WARN, "operator %u: %s", n->place, e->text);
}
