/* SPDX-License-Identifier: MIT
 * Sources that read files, over any bytes, packed or not: with on_error=skip each comes
 * to an end, and all that it gives is well formed. Only npy need not end soon: slices
 * without a number take no room in a file, so that a short one may have very many.
 *
 *	byte       the source
 *	byte n     not 0: 16 bytes follow, the start and count of a byte range to read;
 *	           the rest is the file */
#include <assert.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/mem.h"
#include "op/facts.h"
#include "op/op.h"
#include "op/pull.h"
#include "value/mp.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

extern const struct op_desc op_csv, op_tsv, op_tfrecord, op_bytes, op_npy, op_tar, op_msgpack,
	op_ndjson, op_lines, op_whole, op_sqlite, op_parquet, op_arrow;

#define FUZZ_COLUMNS "\x92\xa1" "b\xa1" "a"
enum { FUZZ_MANY = 5000 }; /* elements of a .npy file that are looked at */

struct fuzz {
	struct op_node *node;
	struct op_ctx ctx;
	struct split split;
	bool given;
};

static enum status
fuzz_split(void *arg, struct split *out, struct err *e)
{
	struct fuzz *f = arg;

	(void)e;
	if (f->given)
		return ST_END;
	f->given = true;
	split_copy(out, &f->split);
	return ST_OK;
}

static void
fuzz_set(struct fuzz *f, const char *name, const char *value)
{
	const struct param *row = param_find(f->node->desc->params, name, strlen(name));
	void *to = (char *)f->node->params + row->offset;

	if (row->kind == PARAM_VALUE)
		buf_str(to, value);
	else if (row->kind == PARAM_WORDS)
		words_add(to, value, strlen(value));
	else
		assert(param_set(row, f->node->params, value, strlen(value), NULL) == ST_OK);
}

static void
fuzz_read(struct fuzz *f)
{
	struct op_inst *inst = NULL;
	struct err e = { 0 };
	struct run *r;
	enum status st = op_open(f->node, &f->ctx, &inst, &e);
	uint64_t given = 0;

	while (st == ST_OK && (given < FUZZ_MANY || f->node->desc != &op_npy)) {
		st = op_pull(inst, &r, &e);
		if (st != ST_OK)
			break;
		assert(r->n);
		given += r->n;
		for (uint32_t i = 0; i < r->n; i++)
			assert(mp_check(r->e[i].p, r->e[i].len));
	}
	assert(st != ST_AGAIN);
	op_close(&inst);
}

static const struct {
	const struct op_desc *desc;
	const char *name, *value; /* one parameter more; values that are no text as MessagePack */
} fuzz_sources[] = { /* new ones go behind the others: units choose by number */
	{ &op_csv, "quote", "\"" }, { &op_csv, "quote", "none" }, { &op_csv, "header", "false" },
	{ &op_tsv, "types", "text" }, { &op_tfrecord, "as", "bytes" },
	{ &op_tfrecord, "as", "example" }, { &op_bytes, "size", "7" }, { &op_npy, NULL, NULL },
	{ &op_tar, "group", "true" }, { &op_tar, "decode", "true" }, { &op_msgpack, NULL, NULL },
	{ &op_ndjson, NULL, NULL }, { &op_lines, NULL, NULL }, { &op_lines, "delim", "x" },
	{ &op_whole, NULL, NULL }, { &op_tar, "group", "false" }, { &op_bytes, "header_bytes", "3" },
	{ &op_sqlite, "query", "SELECT * FROM t ORDER BY a" },
	{ &op_sqlite, "query", "SELECT sql, name FROM sqlite_schema" },
	{ &op_parquet, NULL, NULL }, { &op_parquet, "columns", FUZZ_COLUMNS }, { &op_parquet, "times", "text" },
	{ &op_arrow, NULL, NULL }, { &op_arrow, "columns", FUZZ_COLUMNS }, { &op_arrow, "decimals", "text" },
};

/* The file: without a name where that does, for SQLite with one, which goes into name. */
static int
fuzz_file(const uint8_t *p, size_t n, bool named, char *name, size_t size)
{
	int fd;

	if (named) {
		const char *dir = getenv("TMPDIR");

		snprintf(name, size, "%s/dsvc-fuzz-XXXXXX", dir ? dir : "/tmp");
		fd = mkstemp(name);
	} else {
		fd = memfd_create("fuzz", MFD_CLOEXEC);
		snprintf(name, size, "/proc/self/fd/%d", fd);
	}
	if (fd < 0 || write(fd, p, n) != (ssize_t)n)
		abort();
	return fd;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char path[4096];
	struct fuzz f = { .ctx = { .element_max = 1 << 16 } };

	if (size < 2 || (data[1] && size < 18))
		return 0;
	size_t k = data[0] % (sizeof fuzz_sources / sizeof *fuzz_sources), head = data[1] ? 18 : 2;
	bool sqlite = fuzz_sources[k].desc == &op_sqlite;
	int fd = fuzz_file(data + head, size - head, sqlite, path, sizeof path);

	f.node = mem_zalloc(sizeof *f.node);
	f.node->desc = fuzz_sources[k].desc;
	f.node->place = 1;
	f.node->on_error = OP_SKIP;
	f.node->params = mem_zalloc(f.node->desc->state_size);
	param_defaults(f.node->desc->params, f.node->params);
	fuzz_set(&f, sqlite ? "file" : "files", path);
	if (f.node->desc == &op_bytes)
		fuzz_set(&f, "size", "7");
	if (fuzz_sources[k].name)
		fuzz_set(&f, fuzz_sources[k].name, fuzz_sources[k].value);
	f.ctx.arg = &f;
	if (data[1]) {
		f.split = (struct split){ .kind = SPLIT_FILE, .path = path, .times = 1 };
		memcpy(&f.split.start, data + 2, 8);
		memcpy(&f.split.count, data + 10, 8);
		f.split.start &= INT64_MAX;
		f.split.count &= INT64_MAX;
		f.split.whole = data[1] & 1;
		f.ctx.next_split = fuzz_split;
	}
	fuzz_read(&f);
	op_node_free(&f.node);
	close(fd);
	if (sqlite)
		unlink(path);
	return 0;
}
