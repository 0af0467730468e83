/* SPDX-License-Identifier: MIT */
#include "expr/filter.h"

#include "expr/needle.h"

enum { FILTER_GAP = 64 /* bytes between elements that are searched as well */ };

/* A stretch of elements that lie one behind the other, searched as a whole. */
struct filter_scan {
	const struct needles *needles;
	const uint8_t *next[NEEDLES_MAX]; /* where each was found next; NULL: nowhere */
	const uint8_t *first;             /* the nearest of them */
	const uint8_t *end;               /* of the stretch */
	uint32_t upto;                    /* the first element behind it */
};

static void
filter_scan_least(struct filter_scan *s)
{
	s->first = s->end;
	for (size_t i = 0; i < s->needles->n; i++)
		if (s->next[i] && s->next[i] < s->first)
			s->first = s->next[i];
}

/* Looks for each needle from p on where what is known lies before p. */
static void
filter_scan_to(struct filter_scan *s, const uint8_t *p)
{
	for (size_t i = 0; i < s->needles->n; i++)
		if (s->next[i] && s->next[i] < p)
			s->next[i] = needle_search(s->needles->v[i].s, s->needles->v[i].n, p,
						   s->end);
	filter_scan_least(s);
}

static void
filter_scan_begin(struct filter_scan *s, const struct elem *e, uint32_t at, uint32_t n)
{
	const uint8_t *p = e[at].p, *end = p + e[at].len;

	while (++at < n && e[at].block && e[at].block == e[at - 1].block && e[at].p >= end
	       && (size_t)(e[at].p - end) < FILTER_GAP)
		end = e[at].p + e[at].len;
	s->upto = at;
	s->end = end;
	for (size_t i = 0; i < s->needles->n; i++)
		s->next[i] = needle_search(s->needles->v[i].s, s->needles->v[i].n, p, end);
	filter_scan_least(s);
}

/* Whether the element may match, as far as the needles say. */
static bool
filter_may(struct filter_scan *s, const struct elem *e, uint32_t at, uint32_t n,
	   const struct val *v)
{
	if (!s->needles->n)
		return true;
	if (at >= s->upto)
		filter_scan_begin(s, e, at, n);
	if (s->first < v->p)
		filter_scan_to(s, v->p);
	return s->first < v->p + v->n;
}

enum status
filter_run(struct expr_vm *vm, const struct run *in, uint32_t *from, struct run *out)
{
	const struct pattern *p = vm->x->patterns[0];
	struct pattern_state *s = machine_pattern(vm, p);
	struct filter_scan scan = { .needles = pattern_needles(p) };
	const struct elem *e = in->e;
	int wanted = vm->x->quick > 0, rc = 0;
	uint32_t begin = *from, at;
	struct val v = { 0 };

	for (at = begin; at < in->n; at++) {
		val_load(e[at].p, &v);
		if (v.kind != VAL_TEXT && v.kind != VAL_BYTES)
			break;
		rc = filter_may(&scan, e, at, in->n, &v) ? pattern_test(s, v.p, v.n) : 0;
		if (rc < 0)
			break;
		if (rc == wanted)
			run_push(out, e[at]);
	}
	*from = at;
	vm->index += at - begin;
	if (at == in->n)
		return ST_OK;
	vm->index++;
	if (rc < 0)
		return machine_fault(vm, "%s", pattern_fault(rc));
	return machine_fault(vm, "`%s` of %s, which is no text", vm->x->quick > 0 ? "~" : "!~",
			     val_kind_name(v.kind));
}
