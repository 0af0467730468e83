/* SPDX-License-Identifier: MIT
 * Sources that read files of records, over any bytes: with on_error=skip each comes
 * to an end, and all that it gives is well formed. The first byte chooses the source,
 * the second how it is read: whole, or from a place in the middle. */
#include <assert.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/mem.h"
#include "op/op.h"
#include "value/mp.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

extern const struct op_desc op_csv, op_tsv, op_tfrecord, op_bytes, op_npy, op_tar, op_msgpack;

struct fuzz {
	struct op_node node;
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
	const struct param *row = param_find(f->node.desc->params, name, strlen(name));

	if (row->kind == PARAM_WORDS)
		words_add((struct words *)((char *)f->node.params + row->offset), value, strlen(value));
	else
		assert(param_set(row, f->node.params, value, strlen(value), NULL) == ST_OK);
}

static void
fuzz_read(struct fuzz *f)
{
	struct op_inst *inst = NULL;
	struct err e = { 0 };
	struct run *r;
	enum status st = op_open(&f->node, &f->ctx, &inst, &e);

	while (st == ST_OK) {
		st = op_pull(inst, &r, &e);
		if (st != ST_OK)
			break;
		assert(r->n);
		for (uint32_t i = 0; i < r->n; i++)
			assert(mp_check(r->e[i].p, r->e[i].len));
	}
	assert(st != ST_AGAIN);
	op_close(&inst);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct {
		const struct op_desc *desc;
		const char *name, *value; /* one parameter more */
	} sources[] = {
		{ &op_csv, "quote", "\"" }, { &op_csv, "quote", "none" }, { &op_csv, "header", "false" },
		{ &op_tsv, "types", "text" }, { &op_tfrecord, "as", "bytes" },
		{ &op_tfrecord, "as", "example" }, { &op_bytes, "size", "7" }, { &op_npy, NULL, NULL },
		{ &op_tar, "group", "true" }, { &op_tar, "decode", "true" }, { &op_msgpack, NULL, NULL },
	};
	char path[64];
	struct fuzz f = { .ctx = { .element_max = 1 << 16 } };

	if (size < 2)
		return 0;
	int fd = memfd_create("fuzz", MFD_CLOEXEC);
	if (fd < 0 || write(fd, data + 2, size - 2) != (ssize_t)(size - 2))
		abort();
	snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
	size_t k = data[0] % (sizeof sources / sizeof *sources);
	f.node.desc = sources[k].desc;
	f.node.place = 1;
	f.node.on_error = OP_SKIP;
	f.node.params = mem_zalloc(f.node.desc->state_size);
	param_defaults(f.node.desc->params, f.node.params);
	fuzz_set(&f, "files", path);
	if (sources[k].name)
		fuzz_set(&f, sources[k].name, sources[k].value);
	f.ctx.arg = &f;
	/* Byte ranges are only made of what is cut so. */
	bool cut = k == 1 || k == 3 || k == 6 || k == 7;
	if (cut && data[1]) {
		f.split = (struct split){ .kind = SPLIT_FILE, .path = path, .times = 1,
					  .start = data[1] % 64, .count = 1 + data[1] / 4 };
		f.ctx.next_split = fuzz_split;
	}
	fuzz_read(&f);
	param_clear(f.node.desc->params, f.node.params);
	mem_free(f.node.params);
	close(fd);
	return 0;
}
