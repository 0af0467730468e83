/* SPDX-License-Identifier: MIT
 * What the tests of this room share. */
#ifndef LANG_HELP_H
#define LANG_HELP_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "lang/spec.h"

/* The canonical text of a spec; fails the test when it has none. The caller frees. */
static inline char *
help_canon_src(const struct spec_src *src, unsigned flags)
{
	struct plan *p;
	struct err e = { 0 };
	struct buf out = { 0 };

	if (plan_make(src, &p, &e))
		fail_msg("%s: %s:%u:%u %s", src->text ? src->text : src->file, e.file, e.line, e.col,
			 e.text);
	plan_canonical(p, flags, &out);
	plan_free(&p);
	return buf_take(&out);
}

static inline char *
help_canon(const char *text)
{
	struct spec_src src = { .text = text, .len = strlen(text), .flags = SPEC_NO_CHECK };

	return help_canon_src(&src, 0);
}

static inline void
help_same(const char *text, const char *want)
{
	char *got = help_canon(text);

	assert_string_equal(got, want);
	mem_free(got);
}

/* The plan of a spec; fails the test when it has none. Gives. */
static inline struct plan *
help_plan(const char *spec)
{
	struct spec_src src = { .text = spec, .len = strlen(spec) };
	struct plan *plan;
	struct err e = { 0 };

	if (plan_make(&src, &plan, &e))
		fail_msg("%s: %s", spec, e.text);
	return plan;
}

/* Plans what must fail; fills e. */
static inline void
help_fails_src(const struct spec_src *src, struct err *e)
{
	struct plan *p;

	err_clear(e);
	if (plan_make(src, &p, e) == ST_OK)
		fail_msg("%s was accepted", src->text ? src->text : "it");
	assert_null(p);
	assert_int_not_equal(e->kind, ST_OK);
	assert_true(e->text[0] != '\0');
}

static inline void
help_fails(const char *text, struct err *e)
{
	struct spec_src src = { .text = text, .len = strlen(text), .flags = SPEC_NO_CHECK };

	help_fails_src(&src, e);
}

#endif
