/* SPDX-License-Identifier: MIT
 *
 * FORGET: jobs and datasets that are to go at once, and not when their time is over.
 *
 * All that is named is looked at first, and nothing is forgotten if something cannot be.
 * What follows happens before the next message, so all rows go in one transaction.
 */
#include "base/mem.h"
#include "core/disp/disp_forget.h"

static const char forget_text[] = "the job was forgotten by dsvc-forget";

/* Readers of the job that are there, or waiting for an answer. */
static uint32_t
forget_readers(const struct job *j)
{
	uint32_t count = 0;

	for (size_t i = 0; i < j->n_iters; i++) {
		const struct iteration *it = j->iters[i];

		for (struct list_node *n = it->waiting.next; n != &it->waiting; n = n->next)
			count++;
		for (struct list_node *n = it->seats.next; n != &it->seats; n = n->next)
			count += LIST_OF(n, struct seat, node)->peer != NULL;
	}
	return count;
}

static bool
forget_refuse(struct disp *d, const struct peer *p, const struct msg *m, uint32_t code, char *text, const char *help)
{
	disp_error(d, p, m->req, code, text, help);
	mem_free(text);
	return false;
}

/* Anonymous jobs have a number alone. */
static char *
forget_name(const struct job *j)
{
	return *j->opts.name ? mem_strdup(j->opts.name) : mem_printf("%llu", (unsigned long long)j->number);
}

static bool
forget_may_job(struct disp *d, const struct peer *p, const struct msg *m, const char *name)
{
	const struct job *j = job_look(d, name);
	uint32_t readers = j ? forget_readers(j) : 0;

	if (!j && !m->forget.again)
		return forget_refuse(d, p, m, ST_NOINPUT, mem_printf("no job `%s`", name), "dsvc-status shows the jobs");
	if (readers && !m->forget.force)
		return forget_refuse(d, p, m, ST_TEMP,
				     mem_printf("job `%s` has %u reader%s", name, readers, readers == 1 ? "" : "s"),
				     "wait until it is read, or use --force: then its readers end with 66");
	return true;
}

/* A job uses its dataset unless it is only kept for audits. */
static bool
forget_may_dataset(struct disp *d, const struct peer *p, const struct msg *m, const char *id)
{
	size_t n;
	const struct dataset *s = dataset_look(d, id, &n);

	if (!s && n)
		return forget_refuse(d, p, m, ST_NOINPUT, mem_printf("%zu datasets begin with `%s`", n, id),
				     "write more of the id; dsvc-status shows them");
	if (!s && !m->forget.again)
		return forget_refuse(d, p, m, ST_NOINPUT, mem_printf("no dataset `%s`", id), "dsvc-status shows the datasets");
	if (!s || m->forget.force)
		return true;
	for (struct list_node *i = d->job_list.next; i != &d->job_list; i = i->next) {
		const struct job *j = LIST_OF(i, struct job, node);
		bool readers = forget_readers(j) > 0;

		if (j->dataset != s || (!readers && job_over(j) && !j->keep))
			continue;
		char *name = forget_name(j);
		char *text = mem_printf("dataset `%s` is in use: job `%s` %s", id, name,
					readers ? "has readers" : job_over(j) ? "has a position" : "is not over");
		mem_free(name);
		return forget_refuse(d, p, m, ST_TEMP, text, "use --force to forget its jobs with it; their readers end with 66");
	}
	return true;
}

bool
forget_has(const struct disp *d, uint64_t iteration)
{
	for (uint64_t i = 0; i < d->n_forgotten && i < DISP_FORGOTTEN; i++)
		if (d->forgotten[i] == iteration)
			return true;
	return false;
}

static void
forget_iteration(struct disp *d, struct iteration *it)
{
	d->forgotten[d->n_forgotten++ % DISP_FORGOTTEN] = it->id;
	while (!ring_empty(&it->waiting))
		waiting_error(d, LIST_OF(it->waiting.next, struct waiting, node), ST_NOINPUT, forget_text, "");
	for (struct list_node *n = it->seats.next; n != &it->seats; n = n->next) {
		const struct seat *r = LIST_OF(n, struct seat, node);

		if (r->peer)
			seat_tell_gone(d, r->peer, 0, it->id, r->number);
	}
}

static void
forget_job(struct disp *d, struct job *j, struct msg_forgotten *sum)
{
	sum->jobs++;
	sum->readers += forget_readers(j);
	job_used(d, j); /* answering the last OPEN must not free it */
	for (size_t i = 0; i < j->n_iters; i++)
		forget_iteration(d, j->iters[i]);
	job_free(d, j);
}

static void
forget_dataset(struct disp *d, struct dataset *s, struct msg_forgotten *sum)
{
	struct list_node *n, *next;

	s->jobs++; /* it goes last */
	for (n = d->job_list.next; n != &d->job_list; n = next) {
		struct job *j = LIST_OF(n, struct job, node);

		next = n->next;
		if (j->dataset == s)
			forget_job(d, j, sum);
	}
	s->jobs--;
	dataset_free(d, s);
	sum->datasets++;
}

void
forget_message(struct disp *d, struct peer *p, struct msg *m)
{
	const struct words *jobs = &m->forget.jobs, *datasets = &m->forget.datasets;
	struct msg_forgotten sum = { 0 };
	size_t n;

	for (size_t i = 0; i < jobs->n; i++)
		if (!forget_may_job(d, p, m, jobs->v[i]))
			return;
	for (size_t i = 0; i < datasets->n; i++)
		if (!forget_may_dataset(d, p, m, datasets->v[i]))
			return;
	for (size_t i = 0; i < jobs->n; i++) {
		struct job *j = job_look(d, jobs->v[i]);

		if (j) /* else it was named twice */
			forget_job(d, j, &sum);
	}
	for (size_t i = 0; i < datasets->n; i++) {
		struct dataset *s = dataset_look(d, datasets->v[i], &n);

		if (s)
			forget_dataset(d, s, &sum);
	}
	disp_send(d, p, MSG_FORGOTTEN, m->req)->forgotten = sum;
}
