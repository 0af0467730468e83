/* SPDX-License-Identifier: MIT */
#include "base/path.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void
path_absolute(const char *s, const char *special, struct buf *out)
{
	char *cwd = *s == '/' ? NULL : getcwd(NULL, 0);

	if (cwd) {
		for (const char *c = cwd; *c; c++) {
			if (strchr(special, *c))
				buf_byte(out, '\\');
			buf_byte(out, (uint8_t)*c);
		}
		while (s[0] == '.' && s[1] == '/')
			for (s += 2; *s == '/'; s++)
				;
		if (cwd[1])
			buf_byte(out, '/');
		free(cwd);
	}
	buf_str(out, s);
}
