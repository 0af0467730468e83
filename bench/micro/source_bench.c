/* SPDX-License-Identifier: MIT
 *
 * Speed of one source alone, one thread, as a chain of one operator gives it.
 * No part of the tests; built by hand against the library:
 *
 *	make && gcc -O2 -Ilib -Ibuild/gen bench/micro/source_bench.c build/libdsvc.a \
 *		$(pkg-config --libs simdjson libarchive libisal libpcre2-8 libsodium) -lstdc++ -lm
 *	./a.out range 200000000
 *	./a.out lines 'logs/*.gz' skip=1
 */
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/mem.h"
#include "op/op.h"

enum { BENCH_ROUNDS = 3 };

static double
bench_seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* One parameter: name=value, or the next positional one. */
static void
bench_param(const struct op_desc *d, void *params, const struct param **row, const char *arg)
{
	const char *value = strchr(arg, '=');
	const struct param *r = value ? param_find(d->params, arg, (size_t)(value - arg)) : NULL;
	struct err e = { 0 };

	value = r ? value + 1 : arg;
	if (!r)
		r = *row;
	if (r->kind == PARAM_WORDS)
		words_add((struct words *)((char *)params + r->offset), value, strlen(value));
	else if (param_set(r, params, value, strlen(value), &e) != ST_OK)
		printf("%s: %s\n", r->name, e.text);
	if (r == *row && !(r->flags & PARAM_REST))
		++*row;
}

static enum status
bench_round(const struct op_node *n, struct err *e)
{
	struct op_ctx ctx = { .seed = 1, .element_max = 1 << 30 };
	struct op_inst *chain;
	struct run *r;
	double elements = 0, bytes = 0, begin = bench_seconds(), first = 0;
	enum status st = op_open(n, &ctx, &chain, e);

	while (st == ST_OK && (st = op_pull(chain, &r, e)) == ST_OK) {
		if (first == 0)
			first = bench_seconds() - begin;
		elements += r->n;
		for (uint32_t i = 0; i < r->n; i++)
			bytes += r->e[i].len;
	}
	double s = bench_seconds() - begin;
	printf("%-8s %9.3f s %9.1f M elements/s %9.0f MB/s, first run after %.3f ms\n", n->desc->name,
	       s, elements / s / 1e6, bytes / s / 1e6, first * 1e3);
	op_close(&chain);
	return st;
}

int
main(int argc, char **argv)
{
	const struct op_desc *d = argc > 1 ? op_find(argv[1], strlen(argv[1])) : NULL;
	struct op_node n = { .desc = d, .place = 1 };
	struct err e = { 0 };
	enum status st = ST_END;

	if (!d || d->kind != OP_SOURCE) {
		printf("usage: source_bench SOURCE [ARG]...\n");
		return 64;
	}
	const struct param *row = d->params;
	n.params = mem_zalloc(d->state_size);
	param_defaults(d->params, n.params);
	for (int i = 2; i < argc; i++)
		bench_param(d, n.params, &row, argv[i]);
	for (int i = 0; i < BENCH_ROUNDS && st == ST_END; i++)
		st = bench_round(&n, &e);
	if (st != ST_END)
		printf("%s\n", e.text);
	param_clear(d->params, n.params);
	mem_free(n.params);
	return st == ST_END ? 0 : (int)st;
}
