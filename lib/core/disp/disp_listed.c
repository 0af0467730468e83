/* SPDX-License-Identifier: MIT
 *
 * Which jobs a report lists: all, or those that matter now. There may be many thousands
 * that are over and only kept for audits, and a look at the service must not cost as much
 * as all of them.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "core/disp/disp_listed.h"

bool
listed_shown(const struct job *j, const char *user)
{
	return !user || (*user && j && !strcmp(str_or_empty(j->owner), user));
}

static bool
listed_meant(const struct job *j, const char *name)
{
	char number[24];

	if (!*name || !strcmp(j->opts.name, name))
		return true;
	snprintf(number, sizeof number, "%llu", (unsigned long long)j->number);
	return !strcmp(number, name);
}

static void
listed_add(struct listed *l, struct job *j)
{
	l->v = mem_grow(l->v, &l->cap, l->n + 1, sizeof(struct job *));
	l->v[l->n++] = j;
}

/* Those of the kind that were left last, at most so many. */
static void
listed_tail(const struct disp *d, enum gc_kind k, const char *user, uint32_t most, struct listed *out)
{
	for (struct list_node *n = d->idle[k].prev; n != &d->idle[k] && most; n = n->prev) {
		struct job *j = LIST_OF(n, struct job, idle);

		if (!listed_shown(j, user))
			continue;
		listed_add(out, j);
		most--;
	}
}

static int
listed_later(const void *a, const void *b)
{
	const struct job *x = *(struct job *const *)a, *y = *(struct job *const *)b;

	return x->idle_since == y->idle_since ? (x->number < y->number) - (x->number > y->number) :
		x->idle_since > y->idle_since ? -1 : 1;
}

static int
listed_number(const void *a, const void *b)
{
	const struct job *x = *(struct job *const *)a, *y = *(struct job *const *)b;

	return (x->number > y->number) - (x->number < y->number);
}

static void
listed_recent(const struct disp *d, const char *user, uint32_t recent, struct listed *out)
{
	size_t first;

	for (struct list_node *n = d->busy.next; n != &d->busy; n = n->next)
		if (listed_shown(LIST_OF(n, struct job, idle), user))
			listed_add(out, LIST_OF(n, struct job, idle));
	first = out->n;
	for (unsigned k = 0; k < GC_KINDS; k++)
		listed_tail(d, (enum gc_kind)k, user, recent, out);
	if (out->n - first <= recent)
		return;
	qsort(out->v + first, out->n - first, sizeof *out->v, listed_later);
	out->n = first + recent;
}

size_t
listed_fill(const struct disp *d, const char *name, const char *user, uint32_t recent, struct listed *out)
{
	size_t all = 0;

	if (recent && !*name)
		listed_recent(d, user, recent, out);
	for (struct list_node *n = d->job_list.next; n != &d->job_list; n = n->next) {
		struct job *j = LIST_OF(n, struct job, node);

		if (recent && !user && !*name) { /* they need not be looked at */
			all = d->n_jobs;
			break;
		}
		if (!listed_shown(j, user) || !listed_meant(j, name))
			continue;
		all++;
		if (!recent || *name)
			listed_add(out, j);
	}
	if (out->n)
		qsort(out->v, out->n, sizeof *out->v, listed_number);
	return all - out->n;
}
