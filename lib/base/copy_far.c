/* SPDX-License-Identifier: MIT */
#include "base/copy_far.h"

#include <stdint.h>
#include <string.h>

#ifdef __SSE2__
#include <emmintrin.h>

enum { COPY_LINE = 64 };

void
copy_far(void *to, const void *from, size_t n)
{
	uint8_t *w = to;
	const uint8_t *p = from;
	size_t head = -(uintptr_t)w % COPY_LINE;

	if (n < head + COPY_LINE) {
		memcpy(w, p, n);
		return;
	}
	memcpy(w, p, head);
	w += head, p += head, n -= head;
	for (; n >= COPY_LINE; w += COPY_LINE, p += COPY_LINE, n -= COPY_LINE) {
		__m128i v[4];

		for (int i = 0; i < 4; i++)
			v[i] = _mm_loadu_si128((const __m128i *)(const void *)(p + 16 * i));
		for (int i = 0; i < 4; i++)
			_mm_stream_si128((__m128i *)(void *)(w + 16 * i), v[i]);
	}
	_mm_sfence(); /* such writes are not in the order of others */
	memcpy(w, p, n);
}

#else

void
copy_far(void *to, const void *from, size_t n)
{
	memcpy(to, from, n);
}

#endif
