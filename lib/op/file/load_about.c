/* SPDX-License-Identifier: MIT */
#include "op/file/load_about.h"

#include <string.h>

#include "op/kit/seal.h"
#include "op/kit/shards_pack.h"

const struct type *
load_about_type(const struct words *dirs, struct types *arena)
{
	const struct type *type = dirs->n ? NULL : type_scalar(TYPE_ANY);
	struct seal_about about;
	struct err e;

	for (size_t k = 0; k < dirs->n; k++) {
		const struct type *has = NULL;

		if (seal_about_read(dirs->v[k], &about) && about.type)
			has = type_parse(arena, about.type, strlen(about.type), &e);
		if (!has)
			has = type_scalar(TYPE_ANY);
		type = type ? type_join(arena, type, has) : has;
		seal_about_clear(&about);
	}
	return type;
}

int64_t
load_about_count(const struct words *dirs)
{
	struct seal_about about;
	int64_t sum = dirs->n ? 0 : -1;

	for (size_t k = 0; k < dirs->n && sum >= 0; k++) {
		bool told = seal_about_read(dirs->v[k], &about);

		if (!told || about.elements >= (uint64_t)(INT64_MAX - sum))
			sum = -1;
		else
			sum += (int64_t)about.elements;
		seal_about_clear(&about);
	}
	return sum;
}

enum status
load_about_codec(int asked, const char *path, struct err *e)
{
	static const char *const names[SHARDS_CODECS] = { "is not compressed", "is compressed by snappy",
		"is compressed by zstd" };
	size_t n;
	enum shards_codec has = shards_pack_of(path, &n);

	if (!asked || (int)has == asked - 1)
		return ST_OK;
	err_set(e, ST_DATA, "'%s' %s", path, names[has]);
	err_help(e, "without compression= all files are read, however they are compressed");
	return ST_DATA;
}
