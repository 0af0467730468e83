/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "host/service.h"
#include "host/tool.h"
#include "base/mem.h"
#include "lang/spec.h"
#include "op/facts.h"
#include "op/kit/seal_about.h"
#include "save.h"

/* The pipeline of a registered dataset. */
static enum status
make_registered(const char *id, const struct endpoint *ep, struct buf *out, struct err *e)
{
	struct msg reply, ask = { .type = MSG_GET, .get = { .id = (char *)id } };
	enum status st = tool_once(ep->address, ep->from, &ask, MSG_DATASET, &reply, e);

	if (st != ST_OK)
		return st;
	buf_str(out, reply.dataset.spec ? reply.dataset.spec : "");
	msg_clear(&reply);
	return ST_OK;
}

/* Whether workers can run it to its end. */
static enum status
make_check(const struct save_options *o, const struct plan *p, struct err *e)
{
	if (p->local) {
		err_set(e, ST_DATA, "the pipeline reads standard input, which workers do not have");
		err_help(e, "dsvc-run '... | save DIR' saves it from here");
		return ST_DATA;
	}
	if (p->service) {
		err_set(e, ST_DATA, "the pipeline takes its elements from the service, which workers cannot");
		err_help(e, "leave `distribute` out; of a `dataset`, give the ID instead of the pipeline");
		return ST_DATA;
	}
	if (op_elements_of(p->top) == INT64_MAX && o->count == INT64_MAX) {
		err_set(e, ST_DATA, "the pipeline has no end, so saving it has none");
		err_help(e, "-n N saves the first N elements; counter | ... becomes range N | ...");
		return ST_DATA;
	}
	return ST_OK;
}

static enum status
make_plan(const struct save_options *o, struct spec_src *src, const struct endpoint *ep, struct plan **out,
	  struct err *e)
{
	struct service s;

	service_init(&s, ep->address, ep->from);
	src->service = &s.op;
	/* -n: one stream sees the whole. */
	src->flags = SPEC_IF_WHOLE | SPEC_NO_SHARES | (o->count == INT64_MAX ? SPEC_SHARDED : SPEC_ON_WORKERS);
	return plan_make(src, out, e);
}

/* The user's pipeline, checked, as canonical text. */
static enum status
make_source(const struct save_options *o, const struct opt *opt, const struct endpoint *ep, struct buf *out,
	    struct err *e)
{
	struct spec_src src = { .sets = &o->set, .dirs = &o->include };
	struct buf text = { 0 };
	struct plan *p = NULL;
	enum status st = ST_OK;

	if (o->file)
		src.file = o->file, src.values = opt->operand + 1, src.n_values = opt->n - 1;
	else if (o->expression)
		src.text = o->expression;
	else
		st = make_registered(opt->operand[1], ep, &text, e);
	if (text.len)
		src.text = (char *)text.data;
	if (src.text)
		src.len = strlen(src.text);
	if (st == ST_OK)
		st = make_plan(o, &src, ep, &p, e);
	if (st == ST_OK)
		st = make_check(o, p, e);
	if (st == ST_OK)
		plan_canonical(p, CANON_ABSOLUTE, out);
	plan_free(&p);
	buf_clear(&text);
	return st;
}

enum status
make_spec(const struct save_options *o, const struct opt *opt, const struct endpoint *ep, const struct folder *f,
	  struct buf *spec, struct buf *type, bool *other, struct err *e)
{
	static const char *const codecs[] = { "none", "snappy", "zstd" };
	struct buf text = { 0 };
	struct plan *p = NULL;
	enum status st = make_source(o, opt, ep, &text, e);

	if (o->count != INT64_MAX)
		buf_printf(&text, " | take %lld", (long long)o->count);
	buf_str(&text, " | save \"");
	for (const char *c = f->path; *c; c++) {
		if (*c == '"' || *c == '\\')
			buf_byte(&text, '\\');
		buf_byte(&text, (uint8_t)*c);
	}
	buf_printf(&text, "\" compression=%s file_size=%lld file_time=%lldns on_full=%s", codecs[o->codec],
		   (long long)o->chunk, (long long)o->chunk_time, o->fail ? "fail" : "wait");
	struct spec_src src = { .text = (char *)text.data, .len = text.len };
	if (st == ST_OK)
		st = make_plan(o, &src, ep, &p, e);
	*other = false;
	if (st == ST_OK) {
		char *pipeline = seal_about_pipeline(p->top->in[0]);

		plan_canonical(p, CANON_ABSOLUTE, spec);
		type_print(p->type, type);
		*other = f->pipeline && strcmp(pipeline, f->pipeline) != 0;
		mem_free(pipeline);
	}
	plan_free(&p);
	buf_clear(&text);
	return st;
}
