/* SPDX-License-Identifier: MIT */

#include "cli/locale.h"

#include <stdlib.h>
#include <string.h>

bool
locale_is_utf8(void)
{
	static const char *const names[] = { "LC_ALL", "LC_CTYPE", "LANG" };
	const char *value = NULL;

	for (size_t i = 0; i < sizeof names / sizeof *names && (!value || !*value); i++)
		value = getenv(names[i]);
	return value && (strcasestr(value, "utf-8") || strcasestr(value, "utf8"));
}
