/* SPDX-License-Identifier: MIT */
#include "cli/halt.h"

#include <inttypes.h>
#include <string.h>

#include "base/str.h"

static enum status
halt_bad(const char *text, struct err *e)
{
	err_set(e, ST_USAGE, "'%.80s' is not never, or soon or now with a number", text);
	err_wrap(e, "--halt");
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

	*h = (struct halt){ .text = text };
	if (!text || !strcmp(text, "never"))
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

static bool
halt_due(const struct halt *h)
{
	uint64_t all = h->failed + h->succeeded;
	uint64_t n = h->why == HALT_FAIL ? h->failed : h->why == HALT_SUCCESS ? h->succeeded : all;

	if (h->why == HALT_NEVER)
		return false;
	if (!h->percent)
		return (double)n >= h->most;
	return n >= HALT_LEAST && (double)n * 100 >= h->most * (double)all;
}

bool
halt_count(struct halt *h, bool good)
{
	h->failed += !good;
	h->succeeded += good;
	bool first = !h->reached && halt_due(h);
	h->reached = h->reached || first;
	return first;
}

enum status
halt_result(const struct halt *h, bool strict, enum status st, struct err *e)
{
	uint64_t all = h->failed + h->succeeded;

	if ((st != ST_OK && st != ST_END) || !h->failed || (h->reached && h->why == HALT_SUCCESS) ||
	    !(strict || (h->reached && h->why == HALT_FAIL)))
		return st;
	return err_set(e, ST_DATA, "%" PRIu64 " of %" PRIu64 " element%s failed%s%s", h->failed, all, all == 1 ? "" : "s",
		       h->reached ? ", and the run was ended: --halt " : "", h->reached ? h->text : "");
}
