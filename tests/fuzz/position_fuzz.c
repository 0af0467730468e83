/* SPDX-License-Identifier: MIT
 * Files of --checkpoint: any bytes are refused with words, or are a position with which
 * a reader begins, and says the same again. The first byte chooses: 0 the bytes are the
 * file, otherwise the position in it. */
#include <assert.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "../../cmd/dsvc-read/save.h"
#include "base/mem.h"
#include "core/read/reader.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void
fuzz_drain(struct reader *r)
{
	struct reader_action a;

	while (reader_action(r, &a))
		msg_clear(&a.msg);
}

/* Begins a reader with the position, and saves its messages; false: it refuses. */
static bool
fuzz_begin(const uint8_t *p, size_t n, struct buf *out)
{
	struct reader_opts o = { .peer = 1, .name = "a", .host = "h", .dataset = "abcd", .job.name = (char *)(uintptr_t)"j",
			       .job.checkpoint = true, .position = p, .position_len = n };
	struct reader *r;
	struct err e = { 0 };
	enum status st = reader_new(&o, 0, &r, &e);

	if (st != ST_OK) {
		assert(e.text[0]);
		return false;
	}
	fuzz_drain(r);
	reader_position(r, out);
	reader_tick(r, reader_next_deadline(r));
	reader_close(r, 1, false);
	reader_stop(r);
	fuzz_drain(r);
	reader_free(&r);
	return true;
}

static void
fuzz_position(const uint8_t *p, size_t n)
{
	struct buf once = { 0 }, twice = { 0 };

	if (fuzz_begin(p, n, &once)) {
		assert(fuzz_begin(once.data, once.len, &twice));
		assert(once.len == twice.len && !memcmp(once.data, twice.data, once.len));
	}
	buf_clear(&once);
	buf_clear(&twice);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct saved s = { 0 };
	struct err e = { 0 };
	char name[64];

	if (size < 2)
		return 0;
	if (data[0]) {
		/* A copy without a byte to spare behind it. */
		uint8_t *p = mem_dup(data + 1, size - 1);
		fuzz_position(p, size - 1);
		mem_free(p);
		return 0;
	}
	int fd = memfd_create("position", MFD_CLOEXEC);
	if (fd < 0 || write(fd, data + 1, size - 1) != (ssize_t)(size - 1))
		abort();
	snprintf(name, sizeof name, "/proc/self/fd/%d", fd);
	if (saved_load(name, &s, &e) == ST_OK && s.there)
		fuzz_position(s.position.data, s.position.len);
	else
		assert(e.text[0]);
	buf_clear(&s.position);
	close(fd);
	return 0;
}
