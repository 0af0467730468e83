/* SPDX-License-Identifier: MIT */
#include "net/address_list.h"

#include <string.h>

#include "base/mem.h"
#include "base/str.h"

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
