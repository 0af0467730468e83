/* SPDX-License-Identifier: MIT */
#include "net/outbox.h"

#include <stdatomic.h>
#include <string.h>

#include "base/mem.h"

struct outbox {
	atomic_size_t refs, bytes;
};

struct parcel {
	struct outbox *box;
	size_t n;
	unsigned char bytes[];
};

struct outbox *
outbox_new(void)
{
	struct outbox *o = mem_zalloc(sizeof *o);
	atomic_init(&o->refs, 1);
	return o;
}

static void
outbox_unref(struct outbox *o)
{
	if (atomic_fetch_sub(&o->refs, 1) == 1)
		mem_free(o);
}

void
outbox_free(struct outbox **o)
{
	if (*o)
		outbox_unref(*o);
	*o = NULL;
}

size_t
outbox_bytes(const struct outbox *o)
{
	return atomic_load(&o->bytes);
}

bool
outbox_put(struct outbox *o, const void *bytes, size_t n, void **copy, void **hint)
{
	if (atomic_load(&o->bytes) + n + OUTBOX_EACH > OUTBOX_MAX)
		return false;
	struct parcel *p = mem_alloc(sizeof *p + n);
	p->box = o;
	p->n = n;
	memcpy(p->bytes, bytes, n);
	atomic_fetch_add(&o->refs, 1);
	atomic_fetch_add(&o->bytes, n + OUTBOX_EACH);
	*copy = p->bytes;
	*hint = p;
	return true;
}

void
outbox_release(void *copy, void *hint)
{
	struct parcel *p = hint;
	(void)copy;
	atomic_fetch_sub(&p->box->bytes, p->n + OUTBOX_EACH);
	outbox_unref(p->box);
	mem_free(p);
}
