/* SPDX-License-Identifier: MIT
 *
 * Where the time of a reader goes: into writing elements that have come, or into
 * waiting for some.
 */
#include "core/read/reader_inner.h"

void
reader_clock(struct reader *r)
{
	int64_t ns = r->clock_at ? r->now - r->clock_at : 0;

	r->clock_at = r->opened && !r->done && !r->closing ? r->now : 0;
	if (ns > 0)
		*(r->first ? &r->work_ns : &r->wait_ns) += (uint64_t)ns;
}
