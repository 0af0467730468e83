/* SPDX-License-Identifier: MIT */
#include "store/log.h"

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
enum { LOG_HEADER = 32, LOG_FRAME = 24, LOG_PAGE_MIN = 512, LOG_PAGE_MAX = 65536 };

struct log {
	int fd;
	uint32_t page;
	bool big;          /* sums are of words with the most significant byte first */
	uint8_t salt[8];
	uint32_t sum[2];
};

static uint32_t
log_word(const uint8_t *p, bool big)
{
	return big ? (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3] :
		(uint32_t)p[3] << 24 | (uint32_t)p[2] << 16 | (uint32_t)p[1] << 8 | p[0];
}

static void
log_sum(struct log *l, const uint8_t *p, size_t n)
{
	for (; n >= 8; p += 8, n -= 8) {
		l->sum[0] += log_word(p, l->big) + l->sum[1];
		l->sum[1] += log_word(p + 4, l->big) + l->sum[0];
	}
}

static bool
log_sum_is(const struct log *l, const uint8_t *p)
{
	return l->sum[0] == log_word(p, true) && l->sum[1] == log_word(p + 4, true);
}

/* False: the header is wrong; the frames are then looked at by the first one's salt. */
static bool
log_header(struct log *l, const uint8_t *head)
{
	uint32_t magic = log_word(head, true);

	l->page = log_word(head + 8, true);
	l->big = magic & 1;
	memcpy(l->salt, head + 16, sizeof l->salt);
	log_sum(l, head, LOG_HEADER - 8);
	return (magic & ~1u) == 0x377f0682 && log_sum_is(l, head + LOG_HEADER - 8);
}

static bool
log_read(const struct log *l, uint64_t at, uint8_t *out, size_t n)
{
	return pread(l->fd, out, n, (off_t)at) == (ssize_t)n;
}

/* Goes through the frames; good: the header is. */
static enum log_state
log_walk(struct log *l, bool good, uint64_t size)
{
	uint8_t *frame = mem_array(LOG_FRAME + l->page, 1);
	unsigned torn = 0; /* transactions from the first wrong frame on */
	bool header = good;

	for (uint64_t at = LOG_HEADER; at + LOG_FRAME + l->page <= size; at += LOG_FRAME + l->page) {
		if (!log_read(l, at, frame, LOG_FRAME + l->page))
			break;
		bool ours = memcmp(frame + 8, l->salt, sizeof l->salt) == 0;

		if (good) {
			log_sum(l, frame, 8);
			log_sum(l, frame + LOG_FRAME, l->page);
			good = ours && log_sum_is(l, frame + 16);
		}
		if (!good && ours && log_word(frame + 4, true))
			torn++;
	}
	mem_free(frame);
	if (torn > (header ? 1 : 0))
		return STORE_LOG_DAMAGED;
	return torn ? STORE_LOG_TORN : STORE_LOG_THERE;
}

struct log_look
store_log(const char *path)
{
	char *name = mem_printf("%s-wal", path);
	uint8_t head[LOG_HEADER];
	struct stat st;
	struct log l = { .fd = open(name, O_RDONLY | O_CLOEXEC) };
	struct log_look look = { STORE_LOG_THERE, 0 };

	mem_free(name);
	if (l.fd < 0)
		return (struct log_look){ STORE_LOG_NONE, 0 };
	if (fstat(l.fd, &st) == 0)
		look.size = st.st_size;
	if (look.size <= LOG_HEADER) {
		look.state = STORE_LOG_NONE;
	} else if (log_read(&l, 0, head, sizeof head)) {
		bool good = log_header(&l, head);

		if (!good && !log_read(&l, LOG_HEADER + 8, l.salt, sizeof l.salt))
			l.page = 0;
		if (l.page < LOG_PAGE_MIN || l.page > LOG_PAGE_MAX)
			l.page = 4096;
		look.state = log_walk(&l, good, (uint64_t)look.size);
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
