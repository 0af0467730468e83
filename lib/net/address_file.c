/* SPDX-License-Identifier: MIT */
#include "net/address_file.h"

#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "net/address_list.h"

static char *file_path, *file_list;

void
address_file_keep(const char *path, const char *list)
{
	mem_free(file_path);
	mem_free(file_list);
	file_path = mem_strdup(path);
	file_list = mem_strdup(list);
}

const char *
address_file_of(const char *list)
{
	return list && file_list && !strcmp(list, file_list) ? file_path : NULL;
}

bool
address_file_read(const char *path, char *out, size_t size)
{
	char line[ADDRESS_LIST_MAX], *bad = NULL;
	FILE *f = fopen(path, "re");
	bool read;

	if (!f)
		return false;
	read = fgets(line, sizeof line, f) != NULL;
	fclose(f);
	if (!read)
		return false;
	line[strcspn(line, "\n")] = '\0';
	read = line[0] != '@' && !address_list_complete(line, out, size, &bad);
	mem_free(bad);
	return read;
}
