/* SPDX-License-Identifier: MIT */
#include "lang_help.h"

#include "value/json/json.h"

static struct plan *
plan_of_flags(const char *text, unsigned flags)
{
	struct spec_src src = { .text = text, .len = strlen(text), .flags = SPEC_NO_CHECK | flags };
	struct plan *p;
	struct err e = { 0 };

	if (plan_make(&src, &p, &e))
		fail_msg("%s: %u:%u %s", text, e.line, e.col, e.text);
	return p;
}

static const struct op_node *
plan_source(const struct op_node *n)
{
	while (n->n_in)
		n = n->in[0];
	return n;
}

/* The fields a source has to give, joined by commas; "*": all. */
static void
project_is(const char *text, unsigned flags, const char *want)
{
	struct plan *p = plan_of_flags(text, flags);
	const struct json_fields *f = plan_source(p->top)->project;
	char got[256] = "*";

	for (size_t i = 0; f && i <= f->n; i++) {
		if (i == 0)
			got[0] = '\0';
		if (i < f->n) {
			size_t n = strlen(got);
			snprintf(got + n, sizeof got - n, "%s%.*s", i ? "," : "", (int)f->lens[i], f->names[i]);
		}
	}
	if (strcmp(got, want))
		fail_msg("%s: %s, not %s", text, got, want);
	plan_free(&p);
}

static void
sources_give_the_fields_that_are_used(void **state)
{
	(void)state;
	project_is("ndjson f | filter .label == \"cat\" and .score > 0.5 | map .id", 0, "id,label,score");
	project_is("ndjson f | map .a", 0, "a");
	project_is("ndjson f | map {a, b: .c.d}", 0, "a,c");
	project_is("ndjson f | filter .a > 1", 0, "*");
	project_is("ndjson f | filter .a > 1 | take 3", 0, "*");
	project_is("ndjson f | filter .a > 1 | take 3 | map .b", 0, "b,a");
	project_is("ndjson f | map x", 0, "*");
	project_is("ndjson f | map .a on_error=keep", 0, "*");
	project_is("ndjson f | batch 3 | map .a", 0, "*");
	project_is("ndjson f | map 1", 0, "");
	project_is("ndjson f | filter .a > 1", SPEC_DISCARD, "a");
	project_is("ndjson f | filter .a > 1 | count", 0, "a");
}

static void
places_count_up_and_stages_have_texts(void **state)
{
	struct plan *p = plan_of_flags("let f = | take 3 | skip  1\nzip (range 9 | f) (range 4) | f", 0);
	const struct op_node *n = p->top;

	(void)state;
	assert_int_equal(p->n_ops, 7);
	assert_int_equal(n->place, 7);
	assert_string_equal(n->text, "skip 1");
	n = n->in[0]->in[0];
	assert_int_equal(n->place, 1);
	assert_int_equal(n->n_in, 2);
	assert_int_equal(n->in[0]->place, 4);
	assert_int_equal(n->in[1]->place, 5);
	plan_free(&p);
}

static void
a_border_is_a_source_here(void **state)
{
	struct plan *p = plan_of_flags("range 5 | map x*x | distribute job=a | map x+1", 0);

	(void)state;
	assert_int_equal(p->n_service, 1);
	assert_false(p->local);
	assert_non_null(p->border);
	assert_ptr_equal(p->border, p->top->in[0]);
	assert_int_equal(p->border->n_in, 0);
	assert_string_equal(p->border->remote_spec, "range 5 | map x * x");
	assert_int_equal(p->border->type->kind, TYPE_INT);
	plan_free(&p);
	p = plan_of_flags("dataset abc", 0);
	assert_int_equal(p->n_service, 1);
	assert_null(p->border);
	plan_free(&p);
	p = plan_of_flags("stdin | take 3", 0);
	assert_true(p->local);
	plan_free(&p);
}

static void
scopes_are_checked(void **state)
{
	struct spec_src src = { .text = "range 9 | batch 2 | take 3", .flags = SPEC_NO_CHECK | SPEC_SHARDED };
	struct err e;

	(void)state;
	src.len = strlen(src.text);
	help_fails_src(&src, &e);
	assert_int_equal(e.col, 21);
	assert_non_null(strstr(e.help, "per_stream=true"));
	struct plan *p = plan_of_flags("range 9 | batch 2 | take 3 per_stream=true", SPEC_SHARDED);
	assert_true(p->top->per_stream);
	plan_free(&p);
	help_fails("stdin | distribute", &e);
	assert_non_null(strstr(e.text, "own input"));
	help_fails("range 3 | distribute | distribute", &e);
	assert_non_null(strstr(e.text, "from the service"));
	help_fails("dataset a | distribute", &e);
	assert_non_null(strstr(e.text, "from the service"));
	help_fails("concat (range 3) (range 4 | take 2) | distribute", &e);
	assert_int_equal(e.col, 29);
	/* An inner pipeline works for each element alone. */
	p = plan_of_flags("files a | interleave (lines x | take 3) | distribute", 0);
	plan_free(&p);
}

static void
options_are_the_plans(void **state)
{
	struct plan *p = plan_of_flags("options seed=7 element_max=1M on_error=skip\nrange 3", 0);

	(void)state;
	assert_int_equal(p->options.seed, 7);
	assert_int_equal(p->options.element_max, 1 << 20);
	assert_int_equal(p->top->on_error, OP_SKIP);
	plan_free(&p);
}

static void
everything_is_bounded(void **state)
{
	struct buf b = { 0 };
	struct err e;

	(void)state;
	for (int i = 0; i < SPEC_DEPTH + 2; i++)
		buf_str(&b, "concat (");
	help_fails((char *)b.data, &e);
	assert_non_null(strstr(e.text, "nested more than"));
	buf_reset(&b);
	for (int i = 0; i < 300; i++)
		buf_byte(&b, '(');
	help_fails((char *)b.data, &e);
	buf_reset(&b);
	buf_str(&b, "range 3");
	for (int i = 0; i < SPEC_OPS; i++)
		buf_str(&b, "|skip 1");
	help_fails((char *)b.data, &e);
	assert_string_equal(e.text, "more than 10000 operators");
	buf_reset(&b);
	for (int i = 0; i <= SPEC_BYTES; i++)
		buf_byte(&b, ' ');
	help_fails((char *)b.data, &e);
	/* Each let twice the one before. */
	buf_reset(&b);
	buf_str(&b, "let a0 = range 1\n");
	for (int i = 1; i < 30; i++)
		buf_printf(&b, "let a%d = concat a%d a%d\n", i, i - 1, i - 1);
	buf_str(&b, "a29");
	help_fails((char *)b.data, &e);
	assert_non_null(strstr(e.text, "counting those in lets"));
	buf_reset(&b);
	buf_str(&b, "let a0 = range 1\n");
	for (int i = 1; i < 500; i++)
		buf_printf(&b, "let a%d = a%d | skip 1\n", i, i - 1);
	buf_str(&b, "a499");
	help_fails((char *)b.data, &e);
	assert_non_null(strstr(e.text, "deep"));
	buf_clear(&b);
}

static void
a_long_chain_is_fine(void **state)
{
	struct buf b = { 0 };

	(void)state;
	buf_str(&b, "range 3");
	for (int i = 0; i < SPEC_OPS - 1; i++)
		buf_str(&b, "|skip 1");
	struct plan *p = plan_of_flags((char *)b.data, 0);
	assert_int_equal(p->n_ops, SPEC_OPS);
	plan_free(&p);
	buf_clear(&b);
}

static void
texts_that_are_none(void **state)
{
	struct spec_src src = { .text = "range 3\0", .len = 8 };
	struct err e;

	(void)state;
	help_fails_src(&src, &e);
	src = (struct spec_src){ .text = "range \xff", .len = 7 };
	help_fails_src(&src, &e);
	help_fails("", &e);
	assert_string_equal(e.text, "there is no pipeline in the spec");
	help_fails("# only this\n", &e);
}
