/* SPDX-License-Identifier: MIT
 *
 * Warnings about what a reader was not given of its pass.
 */
#include "base/log.h"
#include "host/reader_host.h"

uint64_t
reader_host_tell(struct reader_host *c, bool quiet)
{
	const struct msg_done *done = reader_host_result(c);
	struct reader_stats s;

	reader_host_stats(c, &s);
	uint64_t missed = done ? done->missed : s.missed;
	const char *lacks = done && done->lacks ? done->lacks : "";
	if (done && done->dropped && !done->code)
		log_say(LOG_WARN, "%llu element%s did not fill a round and went to nobody", (unsigned long long)done->dropped,
			done->dropped == 1 ? "" : "s");
	if (missed && (!quiet || (done && done->code)))
		log_say(LOG_WARN, "missed %llu element%s%s%s%s%s", (unsigned long long)missed, missed == 1 ? "" : "s",
			done ? "" : " so far", *lacks ? " (" : "", lacks, *lacks ? ")" : "");
	return missed;
}
