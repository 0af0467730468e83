/* SPDX-License-Identifier: MIT */
#include <string.h>
#include <time.h>

#include "top.h"
#include "value/format/format.h"
#include "value/record_put.h"

static void
json_job(const struct top_job *j, struct buf *b)
{
	record_put_head(b, 14);
	record_put_uint(b, "job", j->job);
	record_put_text(b, "name", j->name);
	record_put_uint(b, "epoch", j->epoch);
	record_put_text(b, "state", j->state);
	record_put_uint(b, "readers", j->readers);
	record_put_uint(b, "streams_known", j->streams);
	record_put_uint(b, "streams_finished", j->finished);
	record_put_uint(b, "acknowledged", j->acknowledged);
	record_put_float(b, "per_second", j->rates.v[j->rates.n - 1]);
	record_put_text(b, "limit", limit_word(j->limit.kind));
	record_put_uint(b, "operator", j->limit.most.place);
	record_put_text(b, "operator_text", j->op ? j->op : "");
	record_put_float(b, "operator_share", j->limit.most.share);
	record_put_text(b, "text", j->say);
}

static void
json_worker(struct slice w, struct buf *b)
{
	record_put_head(b, 7);
	record_put_mp(b, "name", record_text(w, "name"));
	record_put_uint(b, "pid", record_uint(w, "pid"));
	record_put_uint(b, "slots", record_uint(w, "slots"));
	record_put_uint(b, "streams", record_uint(w, "streams"));
	record_put_uint(b, "kept_bytes", record_uint(w, "kept_bytes"));
	record_put_uint(b, "call_ms", record_uint(w, "call_ms"));
	record_put_uint(b, "call_operator", record_uint(w, "call_operator"));
}

void
top_json(const struct model *m, struct buf *out)
{
	struct record_items it = record_list(tool_record(&m->report), "workers");
	struct slice w;
	struct buf b = { 0 };
	time_t now = time(NULL);
	char when[64];
	struct tm tm;

	localtime_r(&now, &tm);
	strftime(when, sizeof when, "%Y-%m-%dT%H:%M:%S%z", &tm);
	record_put_head(&b, 7);
	record_put_text(&b, "time", when);
	record_put_float(&b, "seconds", m->seconds);
	record_put_uint(&b, "slots", m->slots);
	record_put_uint(&b, "readers", m->readers);
	record_put_float(&b, "per_second", m->rates.v[m->rates.n - 1]);
	record_put_list(&b, "workers", it.left);
	while (record_next(&it, &w))
		json_worker(w, &b);
	record_put_list(&b, "jobs", (uint32_t)m->n);
	for (size_t i = 0; i < m->n; i++)
		json_job(&m->jobs[i], &b);
	json_print(b.data, b.len, out);
	buf_byte(out, '\n');
	buf_clear(&b);
}
