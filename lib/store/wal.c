/* SPDX-License-Identifier: MIT */
#include "store/wal.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"

/* The file, all numbers with the most significant byte first:
 *
 *	header  magic, version, page size, count, salt (8 bytes), sum (8)     32 bytes
 *	frame   page, pages after a commit or 0, salt (8), sum (8)            24 bytes, and the page
 *
 * A sum goes over the first 8 bytes of its head and the page, from the sum before. */
enum { WAL_HEADER = 32, WAL_FRAME = 24, WAL_PAGE_MIN = 512, WAL_PAGE_MAX = 65536 };

struct wal {
	int fd;
	uint32_t page;
	bool big;          /* sums are of words with the most significant byte first */
	uint8_t salt[8];
	uint32_t sum[2];
};

static uint32_t
wal_word(const uint8_t *p, bool big)
{
	return big ? (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3] :
		(uint32_t)p[3] << 24 | (uint32_t)p[2] << 16 | (uint32_t)p[1] << 8 | p[0];
}

static void
wal_sum(struct wal *l, const uint8_t *p, size_t n)
{
	for (; n >= 8; p += 8, n -= 8) {
		l->sum[0] += wal_word(p, l->big) + l->sum[1];
		l->sum[1] += wal_word(p + 4, l->big) + l->sum[0];
	}
}

static bool
wal_sum_is(const struct wal *l, const uint8_t *p)
{
	return l->sum[0] == wal_word(p, true) && l->sum[1] == wal_word(p + 4, true);
}

/* False: the header is wrong; the frames are then looked at by the first one's salt. */
static bool
wal_header(struct wal *l, const uint8_t *head)
{
	uint32_t magic = wal_word(head, true);

	l->page = wal_word(head + 8, true);
	l->big = magic & 1;
	memcpy(l->salt, head + 16, sizeof l->salt);
	wal_sum(l, head, WAL_HEADER - 8);
	return (magic & ~1u) == 0x377f0682 && wal_sum_is(l, head + WAL_HEADER - 8);
}

static bool
wal_read(const struct wal *l, uint64_t at, uint8_t *out, size_t n)
{
	return pread(l->fd, out, n, (off_t)at) == (ssize_t)n;
}

/* Goes through the frames; good: the header is. */
static enum wal_state
wal_walk(struct wal *l, bool good, uint64_t size)
{
	uint8_t *frame = mem_array(WAL_FRAME + l->page, 1);
	unsigned torn = 0; /* transactions from the first wrong frame on */
	bool header = good;

	for (uint64_t at = WAL_HEADER; at + WAL_FRAME + l->page <= size; at += WAL_FRAME + l->page) {
		if (!wal_read(l, at, frame, WAL_FRAME + l->page))
			break;
		bool ours = memcmp(frame + 8, l->salt, sizeof l->salt) == 0;

		if (good) {
			wal_sum(l, frame, 8);
			wal_sum(l, frame + WAL_FRAME, l->page);
			good = ours && wal_sum_is(l, frame + 16);
		}
		if (!good && ours && wal_word(frame + 4, true))
			torn++;
	}
	mem_free(frame);
	if (torn > (header ? 1 : 0))
		return STORE_LOG_DAMAGED;
	return torn ? STORE_LOG_TORN : STORE_LOG_THERE;
}

struct wal_look
store_log(const char *path)
{
	char *name = mem_printf("%s-wal", path);
	uint8_t head[WAL_HEADER];
	struct stat st;
	struct wal l = { .fd = open(name, O_RDONLY | O_CLOEXEC) };
	struct wal_look look = { STORE_LOG_THERE, 0 };

	mem_free(name);
	if (l.fd < 0)
		return (struct wal_look){ STORE_LOG_NONE, 0 };
	if (fstat(l.fd, &st) == 0)
		look.size = st.st_size;
	if (look.size <= WAL_HEADER) {
		look.state = STORE_LOG_NONE;
	} else if (wal_read(&l, 0, head, sizeof head)) {
		bool good = wal_header(&l, head);

		if (!good && !wal_read(&l, WAL_HEADER + 8, l.salt, sizeof l.salt))
			l.page = 0;
		if (l.page < WAL_PAGE_MIN || l.page > WAL_PAGE_MAX)
			l.page = 4096;
		look.state = wal_walk(&l, good, (uint64_t)look.size);
	}
	close(l.fd);
	return look;
}

enum status
store_log_extend(const char *path, int64_t *size, struct err *e)
{
	char *name = mem_printf("%s-wal", path);
	struct rlimit most;
	struct stat st;
	int fd = open(name, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	bool ok = fd >= 0 && fstat(fd, &st) == 0;

	*size = STORE_LOG_BYTES;
	if (getrlimit(RLIMIT_FSIZE, &most) == 0 && most.rlim_cur < STORE_LOG_BYTES)
		*size = (int64_t)most.rlim_cur;
	if (ok && st.st_size < *size)
		ok = ftruncate(fd, *size) == 0;
	ok = ok && fsync(fd) == 0;
	enum status said = ok ? ST_OK : err_errno(e, "cannot make %s %lld bytes long", name,
						 (long long)*size);
	if (fd >= 0)
		close(fd);
	mem_free(name);
	return said;
}
