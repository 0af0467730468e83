/* SPDX-License-Identifier: MIT
 *
 * Files of a folder, written in one go or from a saved state on, are the same
 * bytes, in every format; what is not whole has no name.
 */
#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/mem.h"
#include "base/rng.h"
#include "op/kit/seal.h"
#include "op/kit/shards.h"
#include "value/mp.h"

enum { MANY = 60, SHARDS = 2, FILE_MAX_BYTES = 700 };

static const struct op_ctx whole_ctx = { .stream = 0 }; /* one stream, which is all */

/* An operator that stands alone, in a stream. */
static struct op_ctx stream_ctx;
static const struct op_desc desc = { .name = "save" };
static const struct op_node node = { .desc = &desc };
static const struct op_inst *
in_stream(uint32_t stream)
{
	static const struct op_inst self = { .node = &node, .ctx = &stream_ctx };

	stream_ctx.stream = stream;
	return &self;
}

static void
folder_make(char *dir)
{
	strcpy(dir, "/tmp/shards.XXXXXX");
	assert_non_null(mkdtemp(dir));
}

/* Names and contents of what has a name, sorted by name. */
static void
folder_read(const char *dir, struct buf *out)
{
	struct dirent **v;
	int n = scandir(dir, &v, NULL, alphasort);

	for (int i = 0; i < n; i++) {
		if (v[i]->d_name[0] != '.') {
			char *path = mem_printf("%s/%s", dir, v[i]->d_name);
			FILE *f = fopen(path, "r");
			size_t got;

			buf_printf(out, "%s:", v[i]->d_name);
			while ((got = fread(buf_room(out, 4096), 1, 4096, f)) > 0)
				out->len += got;
			fclose(f);
			mem_free(path);
		}
		free(v[i]);
	}
	free(v);
}

static void
folder_remove(const char *dir)
{
	DIR *d = opendir(dir);
	struct dirent *e;

	while ((e = readdir(d)))
		unlinkat(dirfd(d), e->d_name, 0);
	closedir(d);
	rmdir(dir);
}

/* {"__key__": "k7", "n": 7}; of an array [7, 14]. */
static void
element_put(struct shards *s, int form, int i)
{
	uint8_t b[64], *p = b;
	char key[16];
	struct err e = { 0 };

	snprintf(key, sizeof key, "k%d", i);
	if (form == SHARDS_NPY) {
		p = mp_put_int(mp_put_int(mp_put_list_head(p, 2), i), 2 * i);
	} else {
		p = mp_put_text(mp_put_record_head(p, 2), "__key__", 7);
		p = mp_put_text(mp_put_text(p, key, (uint32_t)strlen(key)), "n", 1);
		p = mp_put_int(p, i);
	}
	struct elem x = { .p = b, .len = (uint32_t)(p - b) };
	if (shards_put(s, &x, NULL, &e) != ST_OK)
		fail_msg("%s", e.text);
}

/* All of it, in another object from `cut` on, which has seen some more written. */
static void
folder_write(const char *dir, int form, int codec, int cut)
{
	struct shards s;
	struct buf state = { 0 };
	struct err e = { 0 };

	shards_init(&s, dir, form, SHARDS, FILE_MAX_BYTES, in_stream(3));
	s.codec = (enum shards_codec)codec;
	assert_int_equal(shards_begin(&s, 9, false, &e), ST_OK);
	for (int i = 0; i < cut; i++)
		element_put(&s, form, i);
	assert_true(shards_save(&s, &state));
	for (int i = cut; i < cut + 17 && i < MANY; i++)
		element_put(&s, form, i);
	shards_clear(&s);
	shards_init(&s, dir, form, SHARDS, FILE_MAX_BYTES, in_stream(3));
	s.codec = (enum shards_codec)codec;
	struct state_in in = state_begin(state.data, state.len);
	if (shards_restore(&s, &in, &e) != ST_OK)
		fail_msg("%s", e.text);
	assert_true(state_ended(&in));
	for (int i = cut; i < MANY; i++)
		element_put(&s, form, i);
	assert_int_equal(shards_end(&s, &whole_ctx, NULL, &e), ST_OK);
	shards_clear(&s);
	buf_clear(&state);
}

static void
a_folder_gone_on_with_is_the_same(void **unused)
{
	(void)unused;
	/* npy is not compressed */
	for (int k = 0; k < SHARDS_CODECS * SHARDS_NPY + 1; k++) {
		int form = k < SHARDS_CODECS * SHARDS_NPY ? k % SHARDS_NPY : SHARDS_NPY;
		int codec = k < SHARDS_CODECS * SHARDS_NPY ? k / SHARDS_NPY : SHARDS_PLAIN;
		struct buf whole = { 0 };
		char dir[32];

		/* Each file costs a sync: fewer cuts where the format is not new. */
		for (int cut = MANY; cut >= 0; cut -= codec ? 36 : 7) {
			struct buf got = { 0 };

			folder_make(dir);
			folder_write(dir, form, codec, cut);
			folder_read(dir, cut == MANY ? &whole : &got);
			if (cut < MANY && (got.len != whole.len || memcmp(got.data, whole.data, got.len)))
				fail_msg("format %d, codec %d differs, cut at %d", form, codec, cut);
			buf_clear(&got);
			folder_remove(dir);
		}
		assert_true(whole.len > MANY);
		buf_clear(&whole);
	}
}

static void
what_is_not_whole_has_no_name(void **unused)
{
	struct buf got = { 0 };
	struct shards s;
	struct err e = { 0 };
	char dir[32];

	(void)unused;
	folder_make(dir);
	shards_init(&s, dir, SHARDS_TAR, 1, 1 << 20, in_stream(0));
	assert_int_equal(shards_begin(&s, 9, false, &e), ST_OK);
	element_put(&s, SHARDS_TAR, 1);
	struct buf state = { 0 };
	assert_true(shards_save(&s, &state));
	folder_read(dir, &got);
	assert_int_equal(got.len, 0);
	assert_int_equal(shards_end(&s, &whole_ctx, NULL, &e), ST_OK);
	folder_read(dir, &got);
	assert_true(got.len > 0);
	shards_clear(&s);
	buf_clear(&got);
	buf_clear(&state);
	folder_remove(dir);
}

static void
another_pass_is_kept_out_or_swept_away(void **unused)
{
	struct buf got = { 0 };
	struct shards s;
	struct err e = { 0 };
	char dir[32];

	(void)unused;
	folder_make(dir);
	folder_write(dir, SHARDS_TEXT, SHARDS_PLAIN, 5);
	shards_init(&s, dir, SHARDS_TEXT, 1, 1 << 20, in_stream(0));
	assert_int_equal(shards_begin(&s, 9, false, &e), ST_OK);
	assert_int_equal(shards_begin(&s, 10, false, &e), ST_DATA);
	assert_int_equal(shards_begin(&s, 10, true, &e), ST_OK);
	folder_read(dir, &got);
	assert_int_equal(got.len, 0);
	assert_int_equal(shards_begin(&s, 10, false, &e), ST_OK);
	shards_clear(&s);
	buf_clear(&got);
	folder_remove(dir);
}

/* ---- files that end by time ---- */

enum { WRITERS = 4, TIMED = 60, TIMED_SEEDS = 6 };

static void
timed_init(struct shards *s, const char *dir)
{
	shards_init(s, dir, SHARDS_TEXT, 1, 1 << 20, in_stream(0));
	s->cut.after_ns = INT64_MAX / 4;
}

/* Writes elements, and ends a file now and then as if its time were over; ends up to `most`
 * elements. ST_DATA: another one writes the stream now. */
static enum status
timed_write(struct shards *s, uint64_t most, uint64_t *rng, struct err *e)
{
	uint8_t b[16];
	enum status st = ST_OK;

	while (st == ST_OK && s->given < most) {
		struct elem x = { .p = b, .len = (uint32_t)(mp_put_uint(b, s->given) - b) };

		*rng = rng_mix(*rng, 1);
		s->cut.now_ns = *rng % 9 ? 0 : INT64_MAX;
		st = shards_put(s, &x, NULL, e);
	}
	return st;
}

/* All elements of the sealed folder, as lines. */
static void
timed_read(const char *dir, struct buf *out)
{
	struct seal_files files = { 0 };
	struct err e = { 0 };

	if (seal_check(dir, &e) != ST_OK)
		fail_msg("%s", e.text);
	assert_int_equal(seal_files_whole(dir, &files, &e), ST_OK);
	for (size_t i = 0; i < files.n; i++) {
		char *path = mem_printf("%s/%s", dir, files.v[i].name);
		FILE *f = fopen(path, "r");

		assert_int_equal(seal_file_check(path, &files.v[i], &e), ST_OK);
		out->len += fread(buf_room(out, 65536), 1, 65536, f);
		fclose(f);
		mem_free(path);
	}
	seal_files_clear(&files);
}

/* Each writer goes on from a state of the one before, which lives on, and finds out. */
static void
timed_world(uint64_t seed)
{
	struct shards s[WRITERS];
	struct buf state = { 0 }, got = { 0 }, want = { 0 };
	struct err e = { 0 };
	uint64_t rng = seed;
	char dir[32];

	folder_make(dir);
	for (int w = 0; w < WRITERS; w++) {
		uint64_t most = w + 1 == WRITERS ? TIMED : (rng = rng_mix(rng, 2)) % TIMED;

		timed_init(&s[w], dir);
		if (w == 0) {
			assert_int_equal(shards_begin(&s[w], 9, false, &e), ST_OK);
		} else {
			struct state_in in = state_begin(state.data, state.len);

			if (shards_restore(&s[w], &in, &e) != ST_OK)
				fail_msg("%s", e.text);
		}
		if (w == 0 || rng % 2) {
			uint64_t soon = s[w].given + most / 3;

			assert_int_equal(timed_write(&s[w], soon < TIMED ? soon : TIMED, &rng, &e), ST_OK);
			buf_reset(&state);
			assert_true(shards_save(&s[w], &state));
		}
		if (timed_write(&s[w], most, &rng, &e) != ST_OK)
			fail_msg("%s", e.text);
	}
	for (int w = 0; w + 1 < WRITERS; w++) {
		rng = rng_mix(rng, 3);
		s[w].cut.now_ns = INT64_MAX;
		/* It is none of ours any more as soon as a file would be listed. */
		assert_int_equal(shards_end(&s[w], &whole_ctx, NULL, &e), ST_DATA);
		assert_non_null(strstr(e.text, "another worker"));
	}
	if (shards_end(&s[WRITERS - 1], &whole_ctx, NULL, &e) != ST_OK)
		fail_msg("%s", e.text);
	for (int i = 0; i < TIMED; i++)
		buf_printf(&want, "%d\n", i);
	timed_read(dir, &got);
	if (got.len != want.len || memcmp(got.data, want.data, want.len) != 0)
		fail_msg("seed %llu: other elements", (unsigned long long)seed);
	for (int w = 0; w < WRITERS; w++)
		shards_clear(&s[w]);
	buf_clear(&state);
	buf_clear(&got);
	buf_clear(&want);
	folder_remove(dir);
}

/* One that was replaced before it began comes too late, and does not say that the save has failed. */
static void
a_later_generation_keeps_the_stream(void **unused)
{
	struct shards late, now;
	struct err e = { 0 };
	uint64_t rng = 1;
	char dir[32];

	(void)unused;
	folder_make(dir);
	timed_init(&late, dir);
	stream_ctx.gen = 2;
	timed_init(&now, dir);
	stream_ctx.gen = 0;
	assert_int_equal(shards_begin(&now, 9, false, &e), ST_OK);
	assert_int_equal(shards_begin(&late, 9, false, &e), ST_DATA);
	assert_non_null(strstr(e.text, "another worker"));
	assert_int_equal(timed_write(&now, TIMED, &rng, &e), ST_OK);
	assert_int_equal(shards_end(&now, &whole_ctx, NULL, &e), ST_OK);
	assert_true(seal_there(dir));
	shards_clear(&late);
	shards_clear(&now);
	folder_remove(dir);
}

static void
files_ended_by_time_hold_each_element_once(void **unused)
{
	(void)unused;
	for (uint64_t seed = 1; seed <= TIMED_SEEDS; seed++)
		timed_world(seed);
}
