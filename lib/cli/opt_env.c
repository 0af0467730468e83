/* SPDX-License-Identifier: MIT */
#include <ctype.h>
#include <string.h>

#include "base/buf.h"
#include "cli/opt.h"

void
opt_env_name(const struct program *p, const struct param *row, bool own, char *out, size_t size)
{
	struct buf b = { 0 };

	/* dsvc-read: DSVC_READ_; the front door `dsvc` has no word of its own. */
	buf_printf(&b, "%s_%s", own ? p->name : "dsvc", row->name);
	for (size_t i = 0; i < b.len; i++)
		b.data[i] = b.data[i] == '-' ? '_' : (uint8_t)toupper(b.data[i]);
	size_t n = b.len < size ? b.len : size - 1;
	memcpy(out, b.data, n);
	out[n] = '\0';
	buf_clear(&b);
}
