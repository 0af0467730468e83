/* SPDX-License-Identifier: MIT
 *
 * Functions: uuid5, the name-based identifiers of RFC 4122.
 */
#include <nettle/sha1.h>
#include <sodium.h>
#include <string.h>

#include "expr/fn.h"
#include "expr/vm.h"

enum { UUID_SIZE = 16 };

/* The namespaces of the RFC, which differ in one byte. */
static bool
uuid_known(const struct val *name, uint8_t out[UUID_SIZE])
{
	static const struct { const char *word; uint8_t byte; } known[] = {
		{ "dns", 0x10 }, { "url", 0x11 }, { "oid", 0x12 }, { "x500", 0x14 }
	};
	static const uint8_t base[UUID_SIZE] = { 0x6b, 0xa7, 0xb8, 0x10, 0x9d, 0xad, 0x11, 0xd1,
						 0x80, 0xb4, 0x00, 0xc0, 0x4f, 0xd4, 0x30, 0xc8 };

	for (size_t i = 0; i < sizeof known / sizeof *known; i++)
		if (strlen(known[i].word) == name->n && !memcmp(known[i].word, name->p, name->n)) {
			memcpy(out, base, UUID_SIZE);
			out[3] = known[i].byte;
			return true;
		}
	return false;
}

/* Reads 32 hex digits; skips dashes. */
static bool
uuid_read(const struct val *text, uint8_t out[UUID_SIZE])
{
	size_t len;

	return sodium_hex2bin(out, UUID_SIZE, (const char *)text->p, text->n, "-", &len, NULL) == 0
		&& len == UUID_SIZE;
}

static enum status
uuid_five(struct expr_vm *vm, struct val *out, const struct val *a, unsigned n)
{
	static const struct val url = { .kind = VAL_TEXT, .p = (const uint8_t *)"url", .n = 3 };
	const struct val *space = n > 1 ? a : &url, *name = n > 1 ? a + 1 : a;
	uint8_t id[UUID_SIZE], hash[SHA1_DIGEST_SIZE];
	struct sha1_ctx s;

	if (!uuid_known(space, id) && !uuid_read(space, id))
		return vm_fault(vm, "uuid5(): the namespace is a UUID or one of dns, url, oid, x500");
	sha1_init(&s);
	sha1_update(&s, UUID_SIZE, id);
	sha1_update(&s, name->n, name->p);
	sha1_digest(&s, sizeof hash, hash);
	hash[6] = (hash[6] & 0x0f) | 0x50;
	hash[8] = (hash[8] & 0x3f) | 0x80;
	buf_reset(&vm->tmp);
	for (int i = 0; i < UUID_SIZE; i++)
		buf_printf(&vm->tmp, "%s%02x", i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "", hash[i]);
	return vm_take_tmp(vm, VAL_TEXT, out);
}

const struct fn fn_uuid[] = {
	{ "uuid5", "t?t", "text", NULL, uuid_five, .args = "[namespace, ]name",
	  .brief = "the UUID of a name, which is the same everywhere; the namespace is a UUID, or "
		  "dns, url (the default), oid or x500",
	  .example = "uuid5(\"dns\", \"python.org\")",
	  .output = "886313e1-3b8a-5372-9b90-0c9aee199e5d" },
	{ 0 }
};
