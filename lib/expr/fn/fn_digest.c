/* SPDX-License-Identifier: MIT
 *
 * Functions: the digests that other programs print, of bytes or of a text's UTF-8. hash() is
 * for sharing out; these are for comparing with sums from elsewhere.
 */
#include <nettle/md5.h>
#include <nettle/sha1.h>
#include <sodium.h>

#include "expr/fn.h"
#include "expr/vm.h"
#include "value/crc32c.h"

/* Gives a digest as lower-case hexadecimal digits, as sha256sum prints it. */
static enum status
digest_hex(struct expr_vm *vm, const uint8_t *digest, size_t n, struct val *out)
{
	size_t len = n * 2;
	char *p = (char *)vm_room(vm, len + 1);

	if (!p)
		return ST_DATA;
	sodium_bin2hex(p, len + 1, digest, n);
	scratch_done(&vm->scratch, (uint8_t *)p + len);
	*out = val_text((uint8_t *)p, len);
	return ST_OK;
}

static enum status
digest_sha256(struct expr_vm *vm, struct val *out, const struct val *a, unsigned n)
{
	uint8_t digest[crypto_hash_sha256_BYTES];

	(void)n;
	crypto_hash_sha256(digest, a->p, a->n);
	return digest_hex(vm, digest, sizeof digest, out);
}

static enum status
digest_sha1(struct expr_vm *vm, struct val *out, const struct val *a, unsigned n)
{
	uint8_t digest[SHA1_DIGEST_SIZE];
	struct sha1_ctx s;

	(void)n;
	sha1_init(&s);
	sha1_update(&s, a->n, a->p);
	sha1_digest(&s, sizeof digest, digest);
	return digest_hex(vm, digest, sizeof digest, out);
}

static enum status
digest_md5(struct expr_vm *vm, struct val *out, const struct val *a, unsigned n)
{
	uint8_t digest[MD5_DIGEST_SIZE];
	struct md5_ctx s;

	(void)n;
	md5_init(&s);
	md5_update(&s, a->n, a->p);
	md5_digest(&s, sizeof digest, digest);
	return digest_hex(vm, digest, sizeof digest, out);
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
	  .brief = "the SHA-256 of it, as sha256sum prints it", .example = "slice(sha256(\"abc\"), 0, 16)",
	  .output = "ba7816bf8f01cfea" },
	{ "sha1", "s", "text", .call = digest_sha1, .args = "bytes|text",
	  .brief = "the SHA-1 of it, to compare with sums that exist; it is broken for other uses",
	  .example = "sha1(\"abc\")", .output = "a9993e364706816aba3e25717850c26c9cd0d89d" },
	{ "md5", "s", "text", .call = digest_md5, .args = "bytes|text",
	  .brief = "the MD5 of it, to compare with sums that exist; it is broken for other uses",
	  .example = "md5(\"abc\")", .output = "900150983cd24fb0d6963f7d28e17f72" },
	{ "crc32c", "s", "int", .call = digest_crc32c, .args = "bytes|text",
	  .brief = "the CRC-32C (Castagnoli) of it, as in TFRecord and object stores",
	  .example = "crc32c(\"123456789\")", .output = "3808858755" },
	{ 0 }
};
