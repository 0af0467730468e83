/* SPDX-License-Identifier: MIT */
#include "host/work/produce_tap.h"

#include "base/buf.h"

void
produce_tap_init(struct produce_tap *t)
{
	pthread_mutex_init(&t->lock, NULL);
}

void
produce_tap_clear(struct produce_tap *t)
{
	pthread_mutex_destroy(&t->lock);
}

void
produce_tap_ask(struct produce_tap *t, const struct msg_tap *ask)
{
	pthread_mutex_lock(&t->lock);
	t->left = ask->n;
	t->tool = ask->tool;
	atomic_store(&t->place, ask->n ? ask->place : 0);
	pthread_mutex_unlock(&t->lock);
}

bool
produce_tap_take(struct produce_tap *t, const struct run *r, struct msg_tapped *out)
{
	struct buf b = { 0 };

	pthread_mutex_lock(&t->lock);
	*out = (struct msg_tapped){ .place = atomic_load(&t->place), .tool = t->tool };
	for (uint32_t i = 0; i < r->n && t->left; i++, t->left--) {
		const struct elem *x = &r->e[i];

		if (x->len > PRODUCE_TAP_ELEMENT || b.len + x->len > WIRE_TAP_BYTES) {
			out->left_out++;
			continue;
		}
		buf_put(&b, x->p, x->len);
		out->n++;
	}
	if (!t->left)
		atomic_store(&t->place, 0);
	pthread_mutex_unlock(&t->lock);
	out->elements.n = b.len;
	out->elements.p = (uint8_t *)buf_take(&b);
	return out->n || out->left_out;
}
