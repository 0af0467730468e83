/* SPDX-License-Identifier: MIT */
#include "expr/run/filter.h"

#include "expr/needle.h"

enum { FILTER_GAP = 64 /* most bytes between elements that are searched, too */ };

/* A stretch of adjacent elements, searched as a whole: for needles if the pattern has some,
 * else by the pattern itself if possible. */
struct filter_scan {
	struct pattern_state *state;
	const struct needles *needles;
	const uint8_t *next[NEEDLES_MAX]; /* next place of each needle; NULL: none */
	const uint8_t *first;             /* the nearest of them, or the match; `end`: none */
	const uint8_t *last;              /* its end */
	const uint8_t *end;               /* end of the stretch */
	uint32_t upto;                    /* the first element after it */
	bool by_pattern, off;
};

/* Searches from p on for what was last found before p. */
static void
filter_scan_to(struct filter_scan *s, const uint8_t *p)
{
	size_t begin, end;

	s->first = s->end;
	if (s->by_pattern) {
		int rc = pattern_scan(s->state, p, (size_t)(s->end - p), &begin, &end);

		/* the stretch may exceed a limit that each element keeps */
		s->off = rc < 0;
		if (rc > 0) {
			s->first = p + begin;
			s->last = p + end;
		}
		return;
	}
	for (size_t i = 0; i < s->needles->n; i++) {
		const struct needle *k = &s->needles->v[i];

		if (s->next[i] && s->next[i] < p)
			s->next[i] = needle_next(k, p, s->end);
		if (s->next[i] && s->next[i] < s->first) {
			s->first = s->next[i];
			s->last = s->first + k->n;
		}
	}
}

static void
filter_scan_begin(struct filter_scan *s, const struct elem *e, uint32_t at, uint32_t n)
{
	const uint8_t *p = e[at].p, *end = p + e[at].len;

	for (size_t i = 0; i < s->needles->n; i++)
		s->next[i] = p;
	while (++at < n && e[at].block && e[at].block == e[at - 1].block && e[at].p >= end
	       && (size_t)(e[at].p - end) < FILTER_GAP)
		end = e[at].p + e[at].len;
	s->upto = at;
	s->end = end;
	filter_scan_to(s, p + 1); /* after the first byte of the head */
}

/* Whether the element matches. pattern_test is called only if the scan does not decide. */
static int
filter_test(struct filter_scan *s, const struct elem *e, uint32_t at, uint32_t n,
	    const struct val *v)
{
	const uint8_t *end = v->p + v->n;

	if (s->off || !v->n)
		return pattern_test(s->state, v->p, v->n);
	if (at >= s->upto)
		filter_scan_begin(s, e, at, n);
	if (s->first < v->p)
		filter_scan_to(s, v->p);
	if (!s->off) {
		if (!s->by_pattern && s->needles->starts && s->first != v->p)
			return 0;
		if (s->first >= end)
			return s->by_pattern ? pattern_test_rest(s->state, v->p, v->n) : 0;
		if ((s->by_pattern || s->needles->all || s->needles->starts) && s->last <= end)
			return 1;
	}
	return pattern_test(s->state, v->p, v->n);
}

enum status
filter_run(struct expr_vm *vm, const struct run *in, uint32_t *from, struct run *out)
{
	const struct pattern *p = vm->x->patterns[0];
	struct filter_scan scan = { .state = vm_pattern(vm, p),
				    .needles = pattern_needles(p) };
	const struct elem *e = in->e;
	int wanted = vm->x->quick > 0, rc = 0;
	uint32_t begin = *from, at;
	struct val v = { 0 };

	if (in->sifted && wanted) {
		for (at = begin; at < in->n; at++)
			run_push(out, e[at]);
		*from = at;
		vm->index += at - begin;
		return ST_OK;
	}
	scan.by_pattern = !scan.needles->n;
	scan.off = scan.by_pattern && !pattern_scans(p);
	for (at = begin; at < in->n; at++) {
		val_load(e[at].p, &v);
		if (v.kind != VAL_TEXT && v.kind != VAL_BYTES)
			break;
		rc = filter_test(&scan, e, at, in->n, &v);
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
	vm->r[EXPR_X] = v; /* for the message */
	if (rc < 0)
		return vm_fault(vm, "%s", pattern_fault(rc));
	if (v.kind == VAL_NIL && vm->x->skips_nulls)
		return ST_SKIP;
	return vm_fault(vm, "`%s` of %s, which is not text", vm->x->quick > 0 ? "~" : "!~",
			val_kind_name(v.kind));
}

const struct needles *
expr_needles(const struct expr *x)
{
	const struct needles *k = x->quick > 0 ? pattern_needles(x->patterns[0]) : NULL;

	return k && k->n ? k : NULL;
}
