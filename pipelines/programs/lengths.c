/* SPDX-License-Identifier: MIT
 *
 * proto=msgpack in C, with msgpack-c: answers each text with its length; any other
 * element is an error.
 *	cc -O2 -o lengths lengths.c $(pkg-config --cflags --libs msgpack-c || pkg-config --cflags --libs msgpack)
 */
#include <msgpack.h>
#include <msgpack/fbuffer.h>
#include <stdio.h>
#include <unistd.h>

static void
say_text(msgpack_packer *out, const char *s)
{
	msgpack_pack_str(out, strlen(s));
	msgpack_pack_str_body(out, s, strlen(s));
}

static void
answer(msgpack_packer *out, const msgpack_object_array *m)
{
	const msgpack_object *x = &m->ptr[1];
	int text = x->type == MSGPACK_OBJECT_STR;

	msgpack_pack_array(out, 3);
	msgpack_pack_uint64(out, m->ptr[0].via.u64);
	say_text(out, text ? "ok" : "error");
	if (text)
		msgpack_pack_uint32(out, x->via.str.size);
	else
		say_text(out, "this is no text");
}

int
main(void)
{
	msgpack_packer out = { .data = stdout, .callback = msgpack_fbuffer_write };
	msgpack_unpacker in;
	msgpack_unpacked m;
	ssize_t n;

	msgpack_unpacker_init(&in, 65536);
	msgpack_unpacked_init(&m);
	msgpack_pack_map(&out, 1); /* our half of the handshake may come first */
	say_text(&out, "dsvc");
	msgpack_pack_int(&out, 1);
	while (msgpack_unpacker_reserve_buffer(&in, 65536)
	       && (n = read(0, msgpack_unpacker_buffer(&in), 65536)) > 0) {
		msgpack_unpacker_buffer_consumed(&in, (size_t)n);
		while (msgpack_unpacker_next(&in, &m) == MSGPACK_UNPACK_SUCCESS)
			if (m.data.type == MSGPACK_OBJECT_ARRAY)
				answer(&out, &m.data.via.array);
		fflush(stdout); /* before it waits for more */
	}
	return 0;
}
