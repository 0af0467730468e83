/* SPDX-License-Identifier: MIT
 *
 * Functions: the digests that other programs print, of bytes or of a text's UTF-8. hash() is
 * for sharing out; these are for comparing with sums from elsewhere.
 */
#include <nettle/md5.h>
#include <nettle/nettle-meta.h>
#include <nettle/sha1.h>
#include <nettle/sha2.h>

#include "expr/fn.h"
#include "expr/vm.h"
#include "value/crc32c.h"

/* Gives the digest as lower-case hexadecimal digits, as sha256sum prints it. */
static enum status
digest_of(const struct nettle_hash *h, struct expr_vm *vm, struct val *out, const struct val *a)
{
	union { struct sha256_ctx sha256; struct sha1_ctx sha1; struct md5_ctx md5; } state;
	uint8_t digest[SHA256_DIGEST_SIZE];

	h->init(&state);
	h->update(&state, a->n, a->p);
	h->digest(&state, h->digest_size, digest);
	return fn_hex(vm, digest, h->digest_size, out);
}

static enum status
digest_sha256(struct expr_vm *vm, struct val *out, const struct val *a, unsigned n)
{
	(void)n;
	return digest_of(&nettle_sha256, vm, out, a);
}

static enum status
digest_sha1(struct expr_vm *vm, struct val *out, const struct val *a, unsigned n)
{
	(void)n;
	return digest_of(&nettle_sha1, vm, out, a);
}

static enum status
digest_md5(struct expr_vm *vm, struct val *out, const struct val *a, unsigned n)
{
	(void)n;
	return digest_of(&nettle_md5, vm, out, a);
}

static enum status
digest_crc32c(struct expr_vm *vm, struct val *out, const struct val *a, unsigned n)
{
	(void)vm, (void)n;
	*out = val_int(crc32c(a->p, a->n));
	return ST_OK;
}

const struct fn fn_digest[] = {
	{ "sha256", "s", "text", .call = digest_sha256, .args = "bytes|text",
	  .brief = "the SHA-256 checksum, as sha256sum prints it", .example = "slice(sha256(\"abc\"), 0, 16)",
	  .output = "ba7816bf8f01cfea" },
	{ "sha1", "s", "text", .call = digest_sha1, .args = "bytes|text",
	  .brief = "the SHA-1 checksum, for comparison with existing ones; it is not secure",
	  .example = "sha1(\"abc\")", .output = "a9993e364706816aba3e25717850c26c9cd0d89d" },
	{ "md5", "s", "text", .call = digest_md5, .args = "bytes|text",
	  .brief = "the MD5 checksum, for comparison with existing ones; it is not secure",
	  .example = "md5(\"abc\")", .output = "900150983cd24fb0d6963f7d28e17f72" },
	{ "crc32c", "s", "int", .call = digest_crc32c, .args = "bytes|text",
	  .brief = "the CRC-32C (Castagnoli) checksum, as in TFRecord and object stores",
	  .example = "crc32c(\"123456789\")", .output = "3808858755" },
	{ 0 }
};
