/* SPDX-License-Identifier: MIT
 *
 * Speed of the value room alone, one thread: NDJSON in, formats out, walking.
 * No part of the tests; built by hand against the library:
 *
 *	make && gcc -O2 -Ilib bench/micro/value_bench.c build/libdsvc.a -lsimdjson -lstdc++ -lm
 *
 * With a file as argument that NDJSON is used instead of made-up records.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/mem.h"
#include "base/rng.h"
#include "value/format/format.h"
#include "value/json/json.h"
#include "value/mp.h"
#include "value/num.h"

/* CPU time: other work on the machine is not our speed. */
static int64_t
bench_cpu_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
}

static void
bench_say(const char *what, int64_t ns, double bytes, double items)
{
	double s = (double)ns / 1e9;

	printf("%-44s %8.0f MB/s %8.1f M/s\n", what, bytes / s / 1e6, items / s / 1e6);
}

static void
bench_records(struct buf *text)
{
	static const char *const labels[] = { "cat", "dog", "bird", "fish", "horse" };
	struct rng r = { 1, 0 };

	for (int i = 0; i < 500000; i++)
		buf_printf(text, "{\"id\":%d,\"label\":\"%s\",\"score\":%.2f,\"ts\":\"2026-01-%02dT%02d:%02d:00Z\","
			   "\"path\":\"/data/%06d/img.png\",\"user\":\"u%05d\"}\n", i,
			   labels[rng_below(&r, 5)], rng_unit(&r), (int)rng_below(&r, 28) + 1,
			   (int)rng_below(&r, 24), (int)rng_below(&r, 60),
			   (int)rng_below(&r, 1000000), (int)rng_below(&r, 100000));
}

static void
bench_json(const char *what, const struct buf *text, const struct json_fields *fields,
	   uint64_t *fails, enum format_kind kind)
{
	struct json *j = json_new();
	struct format *f = format_new(kind, NULL);
	struct run out = { 0 };
	struct buf to = { 0 };
	struct err e = { 0 };
	size_t at = 0, used;
	uint32_t lines;
	uint64_t n = 0, bytes = 0;
	int64_t in_ns = 0, out_ns = 0, t = bench_cpu_ns();

	while (at < text->len) {
		run_reset(&out);
		if (json_lines(j, text->data + at, text->len - at, fields, RUN_USUAL, 0, &out,
			       &used, &lines, &e))
			++*fails;
		at += used;
		n += out.n;
		int64_t mid = bench_cpu_ns();
		in_ns += mid - t;
		buf_reset(&to);
		format_run(f, &out, &to, &e);
		bytes += to.len;
		t = bench_cpu_ns();
		out_ns += t - mid;
	}
	char line[100];
	snprintf(line, sizeof line, "ndjson in, %s", what);
	bench_say(line, in_ns, (double)text->len, (double)n);
	snprintf(line, sizeof line, "out as %s, %s", kind == FORMAT_JSON ? "json" : "ndjson", what);
	bench_say(line, out_ns, (double)bytes, (double)n);
	json_free(&j);
	format_free(&f);
	run_clear(&out);
	buf_clear(&to);
}

static void
bench_text(const char *what, enum format_kind kind, bool floats, bool chunk)
{
	struct format *f = format_new(kind, NULL);
	struct run r = { 0 };
	struct buf to = { 0 };
	struct rng rng = { 7, 0 };
	uint64_t bytes = 0, n = 20000000, done = 0;
	int64_t ns = 0;

	while (done < n) {
		run_reset(&r);
		for (int i = 0; i < RUN_USUAL; i++, done++) {
			uint8_t *p = run_room(&r, MP_INT_MAX);

			run_done(&r, floats ? mp_put_float(p, rng_unit(&rng))
				 : mp_put_int(p, (int64_t)done), 0);
		}
		int64_t t = bench_cpu_ns();
		buf_reset(&to);
		if (chunk)
			format_bytes(f, r.e[0].p, run_bytes(&r), r.n, &to, NULL);
		else
			format_run(f, &r, &to, NULL);
		ns += bench_cpu_ns() - t;
		bytes += to.len;
	}
	bench_say(what, ns, (double)bytes, (double)done);
	format_free(&f);
	run_clear(&r);
	buf_clear(&to);
}

int
main(int argc, char **argv)
{
	const char *names[] = { "id", "label", "score" };
	const uint32_t lens[] = { 2, 5, 5 };
	struct json_fields three = { names, lens, 3 };
	struct buf text = { 0 };
	uint64_t fails = 0;

	if (argc > 1) {
		FILE *in = fopen(argv[1], "r");
		size_t n;

		if (!in)
			return perror(argv[1]), 66;
		while ((n = fread(buf_room(&text, 1 << 20), 1, 1 << 20, in)) > 0)
			text.len += n;
		fclose(in);
	} else {
		bench_records(&text);
	}
	memset(buf_room(&text, json_padding()), 0, json_padding());
	bench_json("3 fields", &text, &three, &fails, FORMAT_NDJSON);
	bench_json("all fields", &text, NULL, &fails, FORMAT_NDJSON);
	bench_json("all fields", &text, NULL, &fails, FORMAT_JSON);
	if (fails)
		printf("%" PRIu64 " lines were no JSON\n", fails);
	bench_text("ints out as text", FORMAT_TEXT, false, false);
	bench_text("ints out as text, from a chunk", FORMAT_TEXT, false, true);
	bench_text("ints counted, from a chunk", FORMAT_COUNT, false, true);
	bench_text("floats out as text", FORMAT_TEXT, true, false);
	buf_clear(&text);
	return 0;
}
