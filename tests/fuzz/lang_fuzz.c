/* SPDX-License-Identifier: MIT
 * Specs: any text gives a plan or an error with words. What is planned must have
 * a canonical text that is planned again, to the same text. A first byte of 1
 * makes the rest words for the argv form, divided by newlines. */
#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "lang/spec.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { FUZZ_WORDS = 64 };

static void
fuzz_canonical(const struct plan *p)
{
	struct buf a = { 0 }, b = { 0 };
	struct plan *q;
	struct err e;

	plan_canonical(p, 0, &a);
	plan_print(p, &b);
	buf_reset(&b);
	struct spec_src src = { .text = (char *)a.data, .len = a.len, .flags = SPEC_NO_CHECK };
	enum status st = plan_make(&src, &q, &e);
	assert(st == ST_OK);
	plan_canonical(q, 0, &b);
	assert(a.len == b.len && !memcmp(a.data, b.data, a.len));
	plan_free(&q);
	buf_clear(&a);
	buf_clear(&b);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *argv[FUZZ_WORDS + 1], *text;
	struct spec_src src = { .flags = SPEC_NO_CHECK };
	struct plan *p;
	struct err e;

	/* Includes would read whatever the fuzzer comes up with. */
	if (size < 1 || size > 4096 || memmem(data, size, "include", 7))
		return 0;
	bool words = data[0] == 1;
	text = mem_strndup((const char *)data + words, size - words);
	if (words) {
		for (char *at = text; at && src.argc < FUZZ_WORDS;) {
			argv[src.argc++] = at;
			if ((at = strchr(at, '\n')))
				*at++ = '\0';
		}
		argv[src.argc] = NULL;
		src.argv = argv;
	} else {
		src.text = text;
		src.len = size;
	}
	enum status st = plan_make(&src, &p, &e);
	if (st == ST_OK) {
		fuzz_canonical(p);
		plan_free(&p);
	} else {
		assert(st >= ST_USAGE && e.text[0]);
	}
	mem_free(text);
	return 0;
}
