/* SPDX-License-Identifier: MIT
 *
 * Bytes as a header frame: what decodes must encode to something that decodes
 * to the same.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "wire/msg.h"

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t n);

int
LLVMFuzzerTestOneInput(const uint8_t *p, size_t n)
{
	struct buf a = { 0 }, b = { 0 };
	struct msg m, again;
	struct err e;

	if (msg_decode(p, n, &m, &e))
		return 0;
	if (m.type != MSG_HELLO || m.hello.version == WIRE_VERSION) {
		msg_encode(&m, &a);
		if (msg_decode(a.data, a.len, &again, &e))
			abort();
		msg_encode(&again, &b);
		if (a.len != b.len || memcmp(a.data, b.data, a.len))
			abort();
		msg_clear(&again);
	}
	msg_clear(&m);
	buf_clear(&a);
	buf_clear(&b);
	return 0;
}
