/* SPDX-License-Identifier: MIT */
#include "store/log.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
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

static enum log_state
log_walk(struct log *l, bool good, uint64_t size)
{
	uint8_t *frame = mem_array(LOG_FRAME + l->page, 1);
	unsigned torn = 0; /* transactions from the first wrong frame on */

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
	return torn > 1 ? STORE_LOG_DAMAGED : STORE_LOG_THERE;
}

enum log_state
store_log(const char *path)
{
	char *name = mem_printf("%s-wal", path);
	uint8_t head[LOG_HEADER];
	struct stat st;
	struct log l = { .fd = open(name, O_RDONLY | O_CLOEXEC) };
	enum log_state state = STORE_LOG_THERE;

	mem_free(name);
	if (l.fd < 0)
		return STORE_LOG_NONE;
	if (fstat(l.fd, &st) == 0 && st.st_size <= LOG_HEADER) {
		state = STORE_LOG_NONE;
	} else if (log_read(&l, 0, head, sizeof head)) {
		bool good = log_header(&l, head);

		if (!good && !log_read(&l, LOG_HEADER + 8, l.salt, sizeof l.salt))
			l.page = 0;
		if (l.page < LOG_PAGE_MIN || l.page > LOG_PAGE_MAX)
			l.page = 4096;
		state = log_walk(&l, good, (uint64_t)st.st_size);
	}
	close(l.fd);
	return state;
}
