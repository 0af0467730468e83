/* SPDX-License-Identifier: MIT */
#include "wire/role.h"

#include <stdio.h>
#include <string.h>

static const struct { const char *name; unsigned may; } role_names[] = {
	{ "read", MAY_READ }, { "register", MAY_REGISTER }, { "work", MAY_WORK }, { "admin", MAY_ADMIN },
	{ "user", MAY_USER }, { "exec", MAY_EXEC },
};
enum { ROLE_NAMES = sizeof role_names / sizeof *role_names };

bool
roles_parse(const char *text, size_t n, unsigned *out)
{
	unsigned may = 0;

	for (size_t at = 0; at <= n; ) {
		const char *comma = at < n ? memchr(text + at, ',', n - at) : NULL;
		size_t len = (comma ? (size_t)(comma - text) : n) - at, i;

		for (i = 0; i < ROLE_NAMES; i++)
			if (strlen(role_names[i].name) == len && !memcmp(text + at, role_names[i].name, len))
				break;
		if (i == ROLE_NAMES)
			return false;
		may |= role_names[i].may;
		at += len + 1;
	}
	*out = may;
	return may & MAY_ANY;
}

void
roles_print(unsigned may, char out[ROLES_TEXT])
{
	size_t n = 0;

	out[0] = '\0';
	for (size_t i = 0; i < ROLE_NAMES; i++)
		if (role_names[i].may != MAY_USER && may & role_names[i].may)
			n += (size_t)snprintf(out + n, ROLES_TEXT - n, "%s%s", n ? "," : "", role_names[i].name);
	if (may & MAY_GUEST)
		snprintf(out + n, ROLES_TEXT - n, "%sguest", n ? "," : "");
}
