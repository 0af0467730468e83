/* SPDX-License-Identifier: MIT
 *
 * Functions of file names. They look at the text only.
 */
#include <string.h>

#include "expr/fn.h"
#include "expr/vm.h"

/* The end of the path without trailing slashes, unless there is nothing else. */
static uint32_t
path_end(const struct val *a)
{
	uint32_t n = a->n;

	while (n > 1 && a->p[n - 1] == '/')
		n--;
	return n;
}

/* The beginning of the last part. */
static uint32_t
path_last(const struct val *a, uint32_t end)
{
	uint32_t at = end;

	while (at > 0 && a->p[at - 1] != '/')
		at--;
	return at == end && end ? end - 1 : at; /* "/" is its own last part */
}

static enum status
path_basename(struct expr_vm *vm, struct val *out, const struct val *a, unsigned n)
{
	uint32_t end = path_end(a), at = path_last(a, end);

	(void)vm;
	(void)n;
	*out = val_text(a->p + at, end - at);
	return ST_OK;
}

static enum status
path_dirname(struct expr_vm *vm, struct val *out, const struct val *a, unsigned n)
{
	uint32_t end = path_end(a), at = path_last(a, end);

	(void)vm;
	(void)n;
	if (at == 0 && end && a->p[0] == '/')
		at = 1;
	while (at > 1 && a->p[at - 1] == '/')
		at--;
	*out = at ? val_text(a->p, at) : val_text(".", 1);
	return ST_OK;
}

/* The beginning of the ending in the last part: its last dot, unless that is among leading dots. */
static uint32_t
path_dot(const struct val *a, uint32_t at, uint32_t end)
{
	while (at < end && a->p[at] == '.')
		at++;
	for (uint32_t dot = end; dot > at; dot--)
		if (a->p[dot - 1] == '.')
			return dot - 1;
	return end;
}

static enum status
path_stem(struct expr_vm *vm, struct val *out, const struct val *a, unsigned n)
{
	uint32_t end = path_end(a), at = path_last(a, end);

	(void)vm;
	(void)n;
	*out = val_text(a->p + at, path_dot(a, at, end) - at);
	return ST_OK;
}

static enum status
path_ext(struct expr_vm *vm, struct val *out, const struct val *a, unsigned n)
{
	uint32_t end = path_end(a), at = path_last(a, end), dot = path_dot(a, at, end);

	(void)vm;
	(void)n;
	*out = val_text(a->p + dot, end - dot);
	return ST_OK;
}

const struct fn fn_path[] = {
	{ "basename", "t", "text", .call = path_basename, .args = "path",
	  .brief = "the last part of the path", .example = "basename(\"/logs/a.tar.gz\")",
	  .output = "a.tar.gz" },
	{ "dirname", "t", "text", .call = path_dirname, .args = "path",
	  .brief = "the path without its last part", .example = "dirname(\"/logs/a.gz\")",
	  .output = "/logs" },
	{ "stem", "t", "text", .call = path_stem, .args = "path",
	  .brief = "the last part of the path, without its ending",
	  .example = "stem(\"/logs/a.tar.gz\")",
	  .output = "a.tar" },
	{ "ext", "t", "text", .call = path_ext, .args = "path",
	  .brief = "the ending of the path, with its dot", .example = "ext(\"/logs/a.tar.gz\")",
	  .output = ".gz" },
	{ 0 }
};
