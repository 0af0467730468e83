/* SPDX-License-Identifier: MIT
 * tfrecord: one frame an element: u64 length, its checksum, the data, its checksum. */
#include <endian.h>
#include <string.h>

#include "value/crc32c.h"
#include "value/format/example.h"
#include "value/format/format_desc.h"
#include "value/mp.h"

struct tfrecord_out {
	struct example_work work;
	struct buf example;
};

static void
tfrecord_frame(const void *p, size_t n, struct buf *out)
{
	uint8_t *w = buf_room(out, 12 + n + 4);
	uint64_t length = htole64(n);
	uint32_t crc;

	memcpy(w, &length, 8);
	crc = htole32(crc32c_masked(w, 8));
	memcpy(w + 8, &crc, 4);
	if (n)
		memcpy(w + 12, p, n);
	crc = htole32(crc32c_masked(p, n));
	memcpy(w + 12 + n, &crc, 4);
	out->len += 12 + n + 4;
}

static enum status
tfrecord_elem(void *state, const uint8_t *p, size_t n, struct buf *out, struct err *e)
{
	struct tfrecord_out *f = state;
	struct mp m;

	mp_head(p, p + n, &m);
	if (m.kind == MP_TEXT || m.kind == MP_BYTES) {
		tfrecord_frame(m.p, m.n, out);
		return ST_OK;
	}
	if (m.kind != MP_RECORD) {
		err_set(e, ST_DATA, "it is %s; tfrecord holds bytes, text, and records as tf.train.Example",
			format_what(p, n));
		err_help(e, "map {x: x} makes records");
		return ST_DATA;
	}
	buf_reset(&f->example);
	enum status st = example_encode(&f->work, p, n, &f->example, e);
	if (st == ST_OK)
		tfrecord_frame(f->example.data, f->example.len, out);
	return st;
}

static void
tfrecord_clear(void *state)
{
	struct tfrecord_out *f = state;

	example_work_clear(&f->work);
	buf_clear(&f->example);
}

const struct format_desc format_tfrecord = { .flags = FORMAT_IS_BINARY,
				       .state_size = sizeof(struct tfrecord_out),
					    .elem = tfrecord_elem, .clear = tfrecord_clear };
