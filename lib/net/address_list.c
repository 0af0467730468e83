/* SPDX-License-Identifier: MIT */
#include "net/address_list.h"

#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "net/address.h"

/* The comma that ends the first address; NULL: it is the last. */
static const char *
address_list_end(const char *list)
{
	const char *comma = list;

	while ((comma = strchr(comma, ',')) && !str_starts(comma + 1, "tcp://") && !str_starts(comma + 1, "ipc://"))
		comma++;
	return comma;
}

size_t
address_list_count(const char *list)
{
	size_t n = 1;

	for (const char *end = list; (end = address_list_end(end)); end++)
		n++;
	return n;
}

char *
address_list_at(const char *list, size_t k)
{
	const char *end;

	while (k--)
		list = address_list_end(list) + 1;
	end = address_list_end(list);
	return end ? mem_strndup(list, (size_t)(end - list)) : mem_strdup(list);
}

const char *
address_complete(const char *given, char out[ADDRESS_ONE_MAX])
{
	const char *scheme = "", *colon;

	if (strchr(given, '/') && !strstr(given, "://"))
		scheme = "ipc://";
	else if (!strstr(given, "://"))
		scheme = "tcp://";
	if (snprintf(out, ADDRESS_ONE_MAX, "%s%s", scheme, given) >= ADDRESS_ONE_MAX)
		return "too long";
	if (str_starts(out, "ipc://")) {
		size_t n = strlen(out) - 6;
		if (n == 0)
			return "there is no path";
		return n > ADDRESS_PATH_MAX ? "a socket's path has at most 107 bytes" : NULL;
	}
	if (!str_starts(out, "tcp://"))
		return "neither tcp:// nor ipc://";
	colon = strrchr(out + 6, ':');
	if (!colon || colon == out + 6 || colon[1] == '\0')
		return "there is no port";
	return NULL;
}

const char *
address_list_complete(const char *given, char *out, size_t size, char **bad)
{
	char one[ADDRESS_ONE_MAX], *part;
	size_t len, at = 0;

	for (const char *p = given;; p += len + 1) {
		len = strcspn(p, ",");
		part = mem_strndup(p, len);
		const char *why = *part == '@' ? "a file can only be given alone" : address_complete(part, one);
		if (!why && at && strncmp(one, out, 3) != 0)
			why = "addresses of one service are all tcp:// or all ipc://";
		if (!why && at + strlen(one) + 2 > size)
			why = "too many addresses";
		if (why) {
			*bad = part;
			return why;
		}
		mem_free(part);
		at += (size_t)sprintf(out + at, "%s%s", at ? "," : "", one);
		if (!p[len])
			return NULL;
	}
}
