/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "host/pass.h"
#include "top.h"

static void
model_rate(struct top_rates *r, double v)
{
	if (r->n == TOP_HISTORY)
		memmove(r->v, r->v + 1, sizeof r->v - sizeof *r->v);
	else
		r->n++;
	r->v[r->n - 1] = v;
}

static void
model_text(struct mp text, char *out, size_t room)
{
	size_t n = text.n < room ? text.n : room - 1;

	memcpy(out, n ? text.p : (const uint8_t *)"", n);
	out[n] = '\0';
}

static void
model_drop(struct top_job *j)
{
	mem_free(j->wait);
	mem_free(j->say);
	mem_free(j->op);
}

static struct top_job *
model_job(struct model *m, uint64_t job, uint64_t epoch)
{
	for (size_t i = 0; i < m->n; i++)
		if (m->jobs[i].job == job && m->jobs[i].epoch == epoch)
			return &m->jobs[i];
	m->jobs = mem_grow(m->jobs, &m->cap, m->n + 1, sizeof *m->jobs);
	m->jobs[m->n] = (struct top_job){ .job = job, .epoch = epoch };
	return &m->jobs[m->n++];
}

/* The plan of a dataset, asked for once. */
static const struct plan *
model_plan(struct model *m, struct tool *t, struct mp dataset)
{
	for (size_t i = 0; i < m->n_plans; i++)
		if (strlen(m->plans[i].dataset) == dataset.n && !memcmp(m->plans[i].dataset, dataset.p, dataset.n))
			return m->plans[i].plan;
	if (m->n_plans == TOP_PLANS || !dataset.n)
		return NULL;
	m->plans[m->n_plans] = (struct top_plan){ mem_strndup((const char *)dataset.p, dataset.n), job_plan_get(t, dataset) };
	return m->plans[m->n_plans++].plan;
}

/* Puts in words for whom the job waits. */
static void
model_limit(struct model *m, struct tool *t, struct slice job, struct slice pass, struct top_job *j)
{
	struct slice report = tool_record(&m->report);
	struct buf say = { 0 };
	bool live = record_is(pass, "state", "running");
	const struct plan *plan = live ? model_plan(m, t, record_text(job, "dataset")) : NULL;

	model_drop(j);
	limit_find(report, job, pass, plan, &j->limit);
	limit_say(&j->limit, &say);
	size_t n = say.len;
	limit_cure(&j->limit, &say);
	if (say.len > n) { /* the cure behind a semicolon */
		char *cure = mem_strndup((const char *)say.data + n, say.len - n);
		say.len = n;
		buf_printf(&say, "; %s", cure);
		mem_free(cure);
	}
	j->say = mem_strndup((const char *)say.data, say.len);
	buf_clear(&say);
	j->op = j->limit.most.text ? mem_strdup(j->limit.most.text) : NULL;
	bool named = j->limit.kind == LIMIT_OPERATOR || j->limit.kind == LIMIT_WORKERS;
	j->wait = named && j->limit.most.place ?
		mem_printf("%s, %u: %s", limit_word(j->limit.kind), j->limit.most.place, j->op ? j->op : "?") :
		mem_strdup(j->limit.kind == LIMIT_UNKNOWN ? "" : limit_word(j->limit.kind));
	j->limit.text = (struct mp){ 0 };
	j->limit.most.text = NULL;
}

static double
model_pass(struct model *m, struct tool *t, struct slice job, struct slice pass)
{
	struct top_job *j = model_job(m, record_uint(job, "job"), record_uint(pass, "epoch"));
	uint64_t acked = record_uint(pass, "acknowledged");
	bool live = record_is(pass, "state", "running"), known = j->state[0] != 0;
	double rate = !live ? 0 : (double)record_uint(pass, "per_second");

	if (live && known && m->seconds > 0)
		rate = acked > j->acknowledged ? (double)(acked - j->acknowledged) / m->seconds : 0;
	if (live || !known)
		model_rate(&j->rates, rate);
	j->acknowledged = acked;
	j->readers = record_uint(pass, "readers");
	j->streams = record_uint(pass, "streams_known");
	j->finished = record_uint(pass, "streams_finished");
	model_text(record_text(pass, "state"), j->state, sizeof j->state);
	model_text(record_text(job, "name"), j->name, sizeof j->name);
	if (!*j->name)
		snprintf(j->name, sizeof j->name, "%llu", (unsigned long long)j->job);
	j->seen = true;
	model_limit(m, t, job, pass, j);
	return rate;
}

static void
model_sweep(struct model *m)
{
	size_t kept = 0;

	for (size_t i = 0; i < m->n; i++)
		if (m->jobs[i].seen)
			m->jobs[kept++] = m->jobs[i];
		else
			model_drop(&m->jobs[i]);
	m->n = kept;
}

static int
model_by_name(const void *a, const void *b)
{
	const struct top_job *x = a, *y = b;
	int order = strcmp(x->name, y->name);

	return order ? order : (x->epoch > y->epoch) - (x->epoch < y->epoch);
}

static int
model_by_rate(const void *a, const void *b)
{
	const struct top_job *x = a, *y = b;
	double u = x->rates.v[x->rates.n - 1], v = y->rates.v[y->rates.n - 1];

	return u < v ? 1 : u > v ? -1 : model_by_name(a, b);
}

static int
model_by_readers(const void *a, const void *b)
{
	const struct top_job *x = a, *y = b;

	return x->readers < y->readers ? 1 : x->readers > y->readers ? -1 : model_by_name(a, b);
}

void
model_sort(struct model *m, enum top_sort by)
{
	static int (*const orders[TOP_SORTS])(const void *, const void *) = {
		[TOP_BY_RATE] = model_by_rate, [TOP_BY_NAME] = model_by_name, [TOP_BY_READERS] = model_by_readers };

	m->sort = by;
	if (m->n)
		qsort(m->jobs, m->n, sizeof *m->jobs, orders[by]);
}

void
model_update(struct model *m, struct tool *t, struct msg *report, int64_t now_ns)
{
	struct slice r = tool_record(report), job, pass;
	struct record_items it = record_list(r, "jobs");
	double sum = 0;

	msg_clear(&m->report);
	m->report = *report;
	*report = (struct msg){ 0 };
	m->seconds = m->at ? (double)(now_ns - m->at) / 1e9 : 0;
	m->at = now_ns;
	m->workers = record_list(r, "workers").left;
	m->readers = record_list(r, "readers").left;
	m->slots = record_uint(r, "slots");
	for (size_t i = 0; i < m->n; i++)
		m->jobs[i].seen = false;
	while (record_next(&it, &job))
		if (pass_of_job(job, &pass))
			sum += model_pass(m, t, job, pass);
	model_sweep(m);
	model_rate(&m->rates, sum);
	model_sort(m, m->sort);
	if (!model_selected(m))
		m->selected = m->n ? m->jobs[0].job : 0;
}

static size_t
model_at(const struct model *m)
{
	size_t i = 0;

	while (i < m->n && m->jobs[i].job != m->selected)
		i++;
	return i;
}

const struct top_job *
model_selected(const struct model *m)
{
	size_t i = model_at(m);

	return i < m->n ? &m->jobs[i] : NULL;
}

void
model_select(struct model *m, int step)
{
	size_t i = model_at(m);

	if (i < m->n && (step > 0 ? i + 1 < m->n : i > 0))
		m->selected = m->jobs[step > 0 ? i + 1 : i - 1].job;
}

void
model_clear(struct model *m)
{
	for (size_t i = 0; i < m->n; i++)
		model_drop(&m->jobs[i]);
	mem_free(m->jobs);
	for (size_t i = 0; i < m->n_plans; i++) {
		mem_free(m->plans[i].dataset);
		plan_free(&m->plans[i].plan);
	}
	msg_clear(&m->report);
	*m = (struct model){ 0 };
}
