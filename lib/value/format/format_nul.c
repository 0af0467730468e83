/* SPDX-License-Identifier: MIT
 * nul: as text, with a NUL behind each element; for texts that hold line ends.
 */
#include "value/format/format_desc.h"
#include "value/format/format_lines.h"

static bool
nul_elems(const struct json_rules *rules, uint64_t before, const struct elem *e, uint32_t n, struct buf *out)
{
	(void)before;
	return format_lines(rules, e, n, '\0', out);
}

const struct format_desc format_nul = { .elems = nul_elems };
