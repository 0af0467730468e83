/* SPDX-License-Identifier: MIT */
#include "cli/wait_workers.h"

#include <string.h>

#include "base/str.h"
#include "wire/msg.h"

enum status
wait_workers(const char *text, struct job_opts *job, struct err *e)
{
	const char *slash = strchr(text, '/');
	size_t n = slash ? (size_t)(slash - text) : strlen(text);
	int64_t count = 0, wait_ns = 10000000000;

	if (!str_int(text, n, &count) || count < 0 || count > WIRE_STREAMS_MAX ||
	    (slash && (!str_duration_ns(slash + 1, strlen(slash + 1), &wait_ns) ||
		       wait_ns < 0 || wait_ns / 1000000 > UINT32_MAX))) {
		err_set(e, ST_USAGE, "--wait-workers: '%s' is not a number of workers and a duration", text);
		err_help(e, "write 2, or 2/30s");
		return ST_USAGE;
	}
	if (count == 0 && slash) {
		err_set(e, ST_USAGE, "--wait-workers: 0 waits for as long as it takes, so '%s' has no effect", text);
		err_help(e, "write 0, or 1%s", slash);
		return ST_USAGE;
	}
	/* The protocol's longest wait: 49 days. */
	job->wait_ms = count ? (uint32_t)(wait_ns / 1000000) : UINT32_MAX;
	job->min_workers = count ? (uint32_t)count : 1;
	return ST_OK;
}
