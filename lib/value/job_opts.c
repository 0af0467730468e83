/* SPDX-License-Identifier: MIT */
#include "value/job_opts.h"

#include "base/mem.h"

#define JOB_WORD(id, number, word) [id] = word,

struct job_asked { struct job_opts opts; };
static const struct param job_rows[] = { JOB_ROWS(struct job_asked, opts), { 0 } };

const char *
job_sharding_word(int sharding)
{
	static const char *const words[] = { JOB_SHARDING_ROWS(JOB_WORD) };

	return words[sharding];
}

const char *
job_order_word(int order)
{
	static const char *const words[] = { JOB_ORDER_ROWS(JOB_WORD) };

	return words[order];
}

void
job_opts_ask(struct job_opts *to, const struct job_opts *from)
{
	param_copy(job_rows, to, from);
}

void
job_opts_own(struct job_opts *o)
{
	o->options = mem_strdup(o->options);
	for (const struct param *row = job_rows; row->kind; row++) {
		char **text = (char **)(void *)((char *)o + row->offset);

		if (row->kind == PARAM_WORD)
			*text = mem_strdup(*text);
	}
}

void
job_opts_clear(struct job_opts *o)
{
	param_clear(job_rows, o);
	mem_free(o->options);
	*o = (struct job_opts){ 0 };
}
