/* SPDX-License-Identifier: MIT */
#include "host/feed/feed_ring.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/mem.h"

static size_t
ring_size(const struct feed_ring *r)
{
	return r->bytes * r->slots;
}

static enum status
ring_map(struct feed_ring *r, bool read_only, struct err *e)
{
	size_t size = ring_size(r);
	char path[64];

	r->fd = memfd_create("dsvc-feed", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	if (r->fd < 0)
		return err_errno(e, "cannot make the memory of steps");
	int error = posix_fallocate(r->fd, 0, (off_t)size);
	if (error) {
		errno = error;
		err_errno(e, "cannot take %zu bytes of memory for %u steps", size, r->slots);
		err_help(e, "a smaller --batch, or a smaller --prefetch");
		return e->kind = ST_IO;
	}
	if (fcntl(r->fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL))
		return err_errno(e, "cannot seal the memory of steps");
	void *at = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, r->fd, 0);
	if (at == MAP_FAILED)
		return err_errno(e, "cannot map %zu bytes of memory", size);
	r->data = at;
	if (!read_only)
		return ST_OK;
	snprintf(path, sizeof path, "/proc/self/fd/%d", r->fd);
	r->read_fd = open(path, O_RDONLY | O_CLOEXEC);
	return r->read_fd < 0 ? err_errno(e, "cannot open the memory of steps for reading") : ST_OK;
}

enum status
feed_ring_new(struct columns *c, uint32_t slots, bool read_only, struct feed_ring **out, struct err *e)
{
	struct feed_ring *r = mem_zalloc(sizeof *r);
	size_t page = (size_t)sysconf(_SC_PAGESIZE);

	r->refs = 1;
	r->fd = r->read_fd = -1;
	r->columns = c;
	r->slots = slots;
	r->bytes = (c->bytes + page - 1) / page * page; /* consumers map slot by slot */
	enum status st = ring_map(r, read_only, e);
	if (st != ST_OK)
		feed_ring_unref(&r);
	*out = r;
	return st;
}

struct feed_ring *
feed_ring_ref(struct feed_ring *r)
{
	r->refs++;
	return r;
}

void
feed_ring_unref(struct feed_ring **rp)
{
	struct feed_ring *r = *rp;

	*rp = NULL;
	if (!r || --r->refs)
		return;
	if (r->data)
		munmap(r->data, ring_size(r));
	if (r->fd >= 0)
		close(r->fd);
	if (r->read_fd >= 0)
		close(r->read_fd);
	columns_free(&r->columns);
	mem_free(r);
}
