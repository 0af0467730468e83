/* SPDX-License-Identifier: MIT */
#include "site.h"

#include <string.h>

#include "site_list.h"

#define SITE_FILE(NAME, BYTES) { NAME, BYTES, sizeof BYTES },
static const struct {
	const char *name;
	const unsigned char *bytes;
	size_t n;
} site_files[] = { SITE_LIST(SITE_FILE) };

static const char *
site_type(const char *name)
{
	static const struct { const char *end, *type; } types[] = {
		{ ".html", "text/html; charset=utf-8" }, { ".css", "text/css; charset=utf-8" },
		{ ".js", "text/javascript; charset=utf-8" }, { ".svg", "image/svg+xml" } };
	const char *dot = strrchr(name, '.');

	for (size_t i = 0; dot && i < sizeof types / sizeof *types; i++)
		if (!strcmp(dot, types[i].end))
			return types[i].type;
	return "application/octet-stream";
}

bool
site_find(const char *path, struct site_file *out)
{
	const char *name = strcmp(path, "/") ? path + 1 : "index.html";

	for (size_t i = 0; path[0] == '/' && i < sizeof site_files / sizeof *site_files; i++)
		if (!strcmp(name, site_files[i].name)) {
			*out = (struct site_file){ site_type(name), site_files[i].bytes, site_files[i].n };
			return true;
		}
	return false;
}
