/* SPDX-License-Identifier: MIT
 * Readers of texts in base: nothing may be read beyond the end, whatever is
 * accepted is in range, and places in a text are places in its line. */
#include <assert.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/str.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	/* A copy without a byte to spare behind it. */
	char *s = malloc(size ? size : 1);
	int64_t n;
	double x;
	bool b;

	memcpy(s, data, size);
	str_int(s, size, &n);
	if (str_size(s, size, &n))
		assert(n >= 0);
	if (str_duration_ns(s, size, &n))
		assert(n >= 0);
	if (str_float(s, size, &x))
		assert(x == x);
	str_bool(s, size, &b);

	size_t valid = str_utf8_valid(s, size);
	assert(valid <= size);
	assert(str_utf8_valid(s, valid) == valid);

	struct err e = { 0 };
	size_t at = size ? data[0] : 0, len = size > 1 ? data[1] : 0;
	err_set(&e, ST_DATA, "x");
	err_place(&e, NULL, s, size, at, len);
	assert(e.line >= 1 && e.col >= 1 && e.width >= 1 && e.shift < e.col);
	assert(strlen(e.source) < sizeof e.source);
	free(s);
	return 0;
}
