// SPDX-License-Identifier: MIT
//
// The parser's two stages are called one by one, and not through
// dom::document_stream: that one cannot say where a document ends, takes
// several on one line, and builds a thread of its own.
#define SIMDJSON_EXCEPTIONS 0
#include <algorithm>
#include <new>

#include <simdjson.h>

#include "value/json/json_simd.h"

enum { SIMD_CAPACITY = 64 * 1024, SIMD_KEEP_MAX = 16 * 1024 * 1024 };

struct simd {
	simdjson::dom::parser parser;
	size_t depth_max;
	size_t capacity; // 0: nothing allocated
	size_t n;        // of the text
};

extern "C" struct simd *
simd_new(size_t depth_max)
{
	auto *s = new (std::nothrow) simd;

	if (s) {
		// simdjson counts the document itself as a level
		s->depth_max = depth_max + 1;
		s->capacity = 0;
		s->n = 0;
	}
	return s;
}

extern "C" void
simd_free(struct simd *s)
{
	delete s;
}

extern "C" size_t
simd_padding(void)
{
	return simdjson::SIMDJSON_PADDING;
}

// Stage 2 does not look at the number of indices: in a document whose brackets are not
// closed it reads on behind the last one, where stage 1 has written three and the rest is
// uninitialised memory. So that each of them is a place in the text, the first index is
// repeated there. Stage 2 stops within them, whatever byte that is: an opening bracket
// seen again and again passes the limit of depth, a closing one ends the document, any
// other byte cannot follow itself.
static size_t
simd_stops(const struct simd *s)
{
	return s->depth_max + 4;
}

static void
simd_put_stops(struct simd *s)
{
	auto &i = *s->parser.implementation;
	uint32_t *v = i.structural_indexes.get(), n = i.n_structural_indexes;

	std::fill_n(v + n, simd_stops(s), v[0]);
}

static bool
simd_room(struct simd *s, size_t n)
{
	// After one huge document the memory (some 14 times its size) is given back.
	size_t want = n + simd_stops(s);
	if (want < s->capacity && (s->capacity <= SIMD_KEEP_MAX || want > s->capacity / 4))
		return true;
	size_t capacity = SIMD_CAPACITY;
	while (capacity <= want)
		capacity *= 2;
	s->capacity = 0;
	s->parser = simdjson::dom::parser();
	if (s->parser.allocate(capacity, s->depth_max) || s->parser.doc.allocate(capacity))
		return false;
	s->capacity = capacity;
	return true;
}

extern "C" enum simd_status
simd_begin(struct simd *s, const uint8_t *p, size_t n)
{
	if (!s || n > simdjson::SIMDJSON_MAXSIZE_BYTES / 4 || !simd_room(s, n))
		return SIMD_MEMORY;
	s->n = n;
	auto error = s->parser.implementation->stage1(p, n, simdjson::stage1_mode::regular);
	if (error)
		return error == simdjson::EMPTY ? SIMD_END : SIMD_BAD;
	simd_put_stops(s);
	return SIMD_OK;
}

extern "C" size_t
simd_where(const struct simd *s)
{
	auto &i = *s->parser.implementation;

	return i.next_structural_index < i.n_structural_indexes
		? i.structural_indexes[i.next_structural_index] : s->n;
}

extern "C" struct simd_marks
simd_found(const struct simd *s)
{
	auto &i = *s->parser.implementation;

	return { i.structural_indexes.get(), i.n_structural_indexes, i.next_structural_index };
}

extern "C" void
simd_taken(struct simd *s, size_t at)
{
	s->parser.implementation->next_structural_index = (uint32_t)at;
}

extern "C" void
simd_pass(struct simd *s, size_t offset)
{
	auto &i = *s->parser.implementation;

	while (i.next_structural_index < i.n_structural_indexes
	       && i.structural_indexes[i.next_structural_index] < offset)
		i.next_structural_index++;
}

extern "C" enum simd_status
simd_next(struct simd *s, struct simd_doc *d)
{
	auto &i = *s->parser.implementation;
	auto error = i.stage2_next(s->parser.doc);

	if (error)
		return error == simdjson::EMPTY ? SIMD_END
			: error == simdjson::DEPTH_ERROR ? SIMD_DEEP : SIMD_BAD;
	if (i.next_structural_index > i.n_structural_indexes)
		return SIMD_BAD; // closed by what stands behind the text
	d->tape = s->parser.doc.tape.get();
	d->strings = s->parser.doc.string_buf.get();
	d->next = simd_where(s);
	d->last = i.structural_indexes[i.next_structural_index - 1];
	return SIMD_OK;
}
