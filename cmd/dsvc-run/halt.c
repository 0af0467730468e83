/* SPDX-License-Identifier: MIT */
#include "halt.h"

#include <string.h>

#include "base/str.h"

static enum status
halt_bad(const char *text, struct err *e)
{
	err_set(e, ST_USAGE, "'%.80s' is not never, or soon or now with a number", text);
	err_help(e, "as in soon,fail=1 (the programs that run may end) or now,fail=10%% (they are ended); "
		    "also success= and done=");
	return ST_USAGE;
}

enum status
halt_parse(const char *text, struct halt *h, struct err *e)
{
	static const char *const whys[] = { [HALT_FAIL] = "fail=", [HALT_SUCCESS] = "success=",
					    [HALT_DONE] = "done=" };
	const char *at = text;
	size_t n;

	*h = (struct halt){ 0 };
	if (!strcmp(text, "never"))
		return ST_OK;
	if (!str_starts(at, "soon,") && !str_starts(at, "now,"))
		return halt_bad(text, e);
	h->now = *at == 'n';
	at = strchr(at, ',') + 1;
	for (int k = HALT_FAIL; k <= HALT_DONE; k++) {
		if (str_starts(at, whys[k])) {
			h->why = (enum halt_why)k;
			at += strlen(whys[k]);
			break;
		}
	}
	n = strlen(at);
	h->percent = n && at[n - 1] == '%';
	n -= h->percent;
	if (h->why == HALT_NEVER || !n || at[0] < '0' || at[0] > '9' || !str_float(at, n, &h->most) ||
	    !(h->most > 0) || h->most > (h->percent ? 100 : 1e15) || (h->percent && h->why == HALT_DONE) ||
	    (!h->percent && h->most != (double)(uint64_t)h->most))
		return halt_bad(text, e);
	return ST_OK;
}

bool
halt_reached(const struct halt *h, uint64_t failed, uint64_t succeeded)
{
	uint64_t n = h->why == HALT_FAIL ? failed : h->why == HALT_SUCCESS ? succeeded : failed + succeeded;

	if (h->why == HALT_NEVER)
		return false;
	if (!h->percent)
		return (double)n >= h->most;
	return n >= HALT_LEAST && (double)n * 100 >= h->most * (double)(failed + succeeded);
}
