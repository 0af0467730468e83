/* SPDX-License-Identifier: MIT */
#include "op/file/file_packing.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/gate.h"
#include "fetch/url.h"
#include "op/file/file_input.h"
#include "op/file/file_utf16.h"

/* Bytes at the start of compressed files, which no text has; all of them must match. */
static const struct {
	enum file_packing packing;
	uint8_t n, magic[6];
	uint8_t at, more_n, more[2][6]; /* bzip2 needs more bytes: "BZh9" alone could be a word */
} file_magics[] = {
	{ FILE_GZIP, 3, { 0x1f, 0x8b, 0x08 }, 0, 0, { { 0 } } },
	{ FILE_ZSTD, 4, { 0x28, 0xb5, 0x2f, 0xfd }, 0, 0, { { 0 } } },
	{ FILE_XZ, 6, { 0xfd, '7', 'z', 'X', 'Z', 0 }, 0, 0, { { 0 } } },
	{ FILE_LZ4, 4, { 0x04, 0x22, 0x4d, 0x18 }, 0, 0, { { 0 } } },
	{ FILE_SNAPPY, 6, { 0xff, 0x06, 0, 0, 's', 'N' }, 6, 4, { "aPpY", "aPpY" } },
	{ FILE_BZIP2, 3, { 'B', 'Z', 'h' }, 4, 6,
	  { { 0x31, 0x41, 0x59, 0x26, 0x53, 0x59 }, { 0x17, 0x72, 0x45, 0x38, 0x50, 0x90 } } },
};

enum file_packing
file_packing_of(const uint8_t *p, size_t n)
{
	for (size_t i = 0; i < sizeof file_magics / sizeof *file_magics; i++) {
		if (n < file_magics[i].n || memcmp(p, file_magics[i].magic, file_magics[i].n))
			continue;
		size_t at = file_magics[i].at, more = file_magics[i].more_n;
		if (!more || (n >= at + more && (!memcmp(p + at, file_magics[i].more[0], more)
						 || !memcmp(p + at, file_magics[i].more[1], more))))
			return file_magics[i].packing;
	}
	/* pzstd begins with a frame that holds only sizes. */
	if (n >= 4 && (p[0] & 0xf0) == 0x50 && p[1] == 0x2a && p[2] == 0x4d && p[3] == 0x18)
		return FILE_ZSTD;
	return FILE_PLAIN;
}

bool
file_packing_undecided(const uint8_t *p, size_t n)
{
	if (n >= FILE_SNIFF)
		return false;
	for (size_t i = 0; i < sizeof file_magics / sizeof *file_magics; i++) {
		size_t head = file_magics[i].n < n ? file_magics[i].n : n;
		if (!memcmp(p, file_magics[i].magic, head)
		    && n < (size_t)(file_magics[i].more_n ? file_magics[i].at + file_magics[i].more_n
							  : file_magics[i].n))
			return true;
	}
	return n < 4 && (p[0] & 0xf0) == 0x50 && (n < 2 || p[1] == 0x2a) && (n < 3 || p[2] == 0x4d);
}

static size_t
packing_head_far(const char *url, uint8_t head[FILE_SNIFF])
{
	struct file_input in;
	struct err e;
	size_t n = 0;

	file_input_init(&in);
	if (file_input_open(&in, url, NULL, NULL, &e) == ST_OK) {
		file_input_until(&in, FILE_SNIFF);
		(void)file_input_peek(&in, head, FILE_SNIFF, &n, &e);
	}
	file_input_clear(&in);
	return n;
}

static size_t
packing_head(const char *path, uint8_t head[FILE_SNIFF])
{
	if (url_is(path))
		return packing_head_far(path, head);
	int fd = gate_open(GATE_READ, path, O_RDONLY | O_NONBLOCK, 0);
	ssize_t n = 0;

	if (fd >= 0) {
		n = read(fd, head, FILE_SNIFF);
		close(fd);
	}
	return n > 0 ? (size_t)n : 0;
}

enum file_packing
file_packing_at(const char *path)
{
	uint8_t head[FILE_SNIFF];

	return file_packing_of(head, packing_head(path, head));
}

bool
file_packing_plain_at(const char *path)
{
	return file_packing_at(path) == FILE_PLAIN;
}

bool
file_packing_text_at(const char *path)
{
	uint8_t head[FILE_SNIFF];
	size_t n = packing_head(path, head);

	return file_packing_of(head, n) == FILE_PLAIN && !file_utf16_is(head, n);
}
