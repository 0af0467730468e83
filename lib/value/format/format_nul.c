/* SPDX-License-Identifier: MIT
 * nul: as text, with a NUL behind each element; for texts that hold line ends.
 */
#include "value/format/format_desc.h"
#include "value/format/format_lines.h"

static void
nul_elems(uint64_t before, const struct elem *e, uint32_t n, struct buf *out)
{
	(void)before;
	format_lines(e, n, '\0', out);
}

const struct format_desc format_nul = { .elems = nul_elems };
