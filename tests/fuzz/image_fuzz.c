/* SPDX-License-Identifier: MIT
 * Images out of any bytes: a size or an error, and then pixels, all of them, or an error. The
 * first four bytes choose the channels, the orientation and the box. */
#include <assert.h>
#include <stdint.h>
#include <string.h>

#include "base/mem.h"
#include "image/image.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Large images take long and show nothing new. */
enum { HEAD = 4, PIXELS = 1 << 20 };

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const uint8_t channels[4] = { 1, 3, 4, 3 };
	struct image_head head;
	struct err e;

	if (size < HEAD)
		return 0;
	const uint8_t *how = data;
	data += HEAD;
	size -= HEAD;
	if (image_head(data, size, &head, &e)) {
		assert(e.text[0]);
		return 0;
	}
	assert(head.h && head.w && head.turn >= 1 && head.turn <= 8);
	assert(head.channels == 1 || head.channels == 3 || head.channels == 4);
	if ((uint64_t)head.h * head.w > PIXELS)
		return 0;
	unsigned turn = how[0] & 4 ? head.turn : 1, want = channels[how[0] & 3];
	uint32_t h = image_lies(turn) ? head.w : head.h, w = image_lies(turn) ? head.h : head.w;
	struct image_box box = { .y = how[1] % h, .x = how[2] % w };
	box.h = 1 + how[3] % (h - box.y);
	box.w = 1 + how[3] % (w - box.x);
	if (how[0] & 8)
		box = (struct image_box){ 0, 0, h, w };
	size_t n = (size_t)box.h * box.w * want;
	uint8_t *out = mem_alloc(n);
	memset(out, 0, n);
	e.text[0] = '\0';
	if (image_decode(data, size, &head, turn, &box, want, out, &e))
		assert(e.text[0]);
	mem_free(out);
	return 0;
}
