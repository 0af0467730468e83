/* SPDX-License-Identifier: MIT
 * Layout and tests of spec files: any text is laid out or refused, never taken
 * for a bug of ours; laid out again it stays as it is. */
#include <assert.h>
#include <stdint.h>
#include <string.h>

#include "base/mem.h"
#include "lang/layout.h"
#include "lang/testblock.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct testblocks blocks;
	struct buf once = { 0 }, twice = { 0 };
	struct err e;

	/* Includes would read whatever the fuzzer comes up with. */
	if (size > 4096 || memmem(data, size, "include", 7))
		return 0;
	char *text = mem_strndup((const char *)data, size);
	struct spec_src src = { .text = text, .len = strlen(text), .flags = SPEC_NO_CHECK };

	testblocks_read("fuzz", text, src.len, &blocks, &e);
	testblocks_clear(&blocks);
	enum status st = spec_layout(&src, NULL, &once, &e);
	assert(st == ST_OK || (st != ST_BUG && e.text[0]));
	if (st == ST_OK) {
		src.text = once.data ? (char *)once.data : "";
		src.len = once.len;
		st = spec_layout(&src, NULL, &twice, &e);
		assert(st == ST_OK && once.len == twice.len && !memcmp(once.data, twice.data, once.len));
	}
	buf_clear(&once);
	buf_clear(&twice);
	mem_free(text);
	return 0;
}
