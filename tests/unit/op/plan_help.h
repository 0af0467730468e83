/* SPDX-License-Identifier: MIT
 *
 * The plan of a spec that is right. After cmocka.h.
 */
#ifndef TESTS_PLAN_HELP_H
#define TESTS_PLAN_HELP_H

#include <string.h>

#include "lang/spec.h"

static inline struct plan *
plan_from(const char *text)
{
	struct spec_src src = { .text = text, .len = strlen(text) };
	struct plan *p = NULL;
	struct err e = { 0 };

	if (plan_make(&src, &p, &e) != ST_OK)
		fail_msg("%s: %s", text, e.text);
	return p;
}

#endif
