/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "op/batch/batch_collect.h"
#include "value/format/format.h"
#include "value/mp.h"
#include "value/tensor.h"

static void
put_tensor(struct buf *b, enum dtype d, int n_dims, uint64_t x, uint64_t y, int first)
{
	struct tensor t = { .dtype = d, .n_dims = n_dims, .dims = { x, y } };
	size_t count = (n_dims > 0 ? x : 1) * (n_dims > 1 ? y : 1);
	uint8_t *p = buf_room(b, TENSOR_HEAD_MAX + count * 8), *data = tensor_put_head(p, &t);

	for (size_t i = 0; i < count; i++) {
		float f = (float)first + (float)i;
		int64_t n = first + (int64_t)i;

		memcpy(data + i * dtype_size(d), d == DTYPE_F32 ? (void *)&f : (void *)&n, dtype_size(d));
	}
	b->len += (size_t)(data - p) + count * dtype_size(d);
}

static void
put_list(struct buf *b, uint32_t n)
{
	uint8_t *p = buf_room(b, MP_HEAD_MAX);

	b->len += (size_t)(mp_put_list_head(p, n) - p);
}

static enum status
pad(const struct padding *how, struct buf *list, size_t max, const char *want, struct err *e)
{
	struct buf out = { 0 }, text = { 0 };
	enum status st = padding_list(how, how->type, list->data, list->data + list->len, max, &out, e);

	if (st == ST_OK) {
		assert_true(mp_check(out.data, out.len));
		json_print(out.data, out.len, &text);
		assert_string_equal((char *)text.data, want);
	}
	buf_clear(&out);
	buf_clear(&text);
	buf_clear(list);
	return st;
}

static void
tensors_get_a_new_first_dimension(void **state)
{
	struct padding how = { 0 };
	struct buf list = { 0 };
	struct err e;

	(void)state;
	put_list(&list, 2);
	put_tensor(&list, DTYPE_F32, 1, 3, 0, 1);
	put_tensor(&list, DTYPE_F32, 1, 1, 0, 7);
	assert_int_equal(pad(&how, &list, 1000, "[[1.0,2.0,3.0],[7.0,0.0,0.0]]", &e), ST_OK);
	put_list(&list, 2);
	put_tensor(&list, DTYPE_U8, 2, 1, 3, 1);
	put_tensor(&list, DTYPE_U8, 2, 2, 2, 5);
	assert_int_equal(pad(&how, &list, 1000, "[[[1,2,3],[0,0,0]],[[5,6,0],[7,8,0]]]", &e), ST_OK);
	put_list(&list, 2);
	put_tensor(&list, DTYPE_I64, 0, 0, 0, 4);
	put_tensor(&list, DTYPE_I64, 0, 0, 0, 5);
	assert_int_equal(pad(&how, &list, 1000, "[4,5]", &e), ST_OK);
	put_list(&list, 2);
	put_tensor(&list, DTYPE_I64, 1, 0, 0, 4);
	put_tensor(&list, DTYPE_I64, 1, 1, 0, 5);
	assert_int_equal(pad(&how, &list, 1000, "[[0],[5]]", &e), ST_OK);
}

static void
gaps_are_filled_as_asked_for(void **state)
{
	uint8_t minus[] = { 0xff }; /* -1 */
	struct buf value = { minus, 1, 1 }, list = { 0 };
	struct padding how = { .value = &value, .shape = { 4 }, .n_shape = 1 };
	struct err e = { 0 };

	(void)state;
	put_list(&list, 1);
	put_tensor(&list, DTYPE_I8, 1, 2, 0, 1);
	assert_int_equal(pad(&how, &list, 1000, "[[1,2,-1,-1]]", &e), ST_OK);
	put_list(&list, 1);
	put_tensor(&list, DTYPE_U8, 1, 2, 0, 1);
	assert_int_equal(pad(&how, &list, 1000, "", &e), ST_DATA);
	assert_non_null(strstr(e.text, "fits u8"));
	put_list(&list, 1);
	put_tensor(&list, DTYPE_I8, 1, 5, 0, 1);
	assert_int_equal(pad(&how, &list, 1000, "", &e), ST_DATA);
	assert_non_null(strstr(e.text, "larger than shape"));
}

static void
what_does_not_go_together_is_refused(void **state)
{
	struct padding how = { 0 };
	struct buf list = { 0 };
	struct err e = { 0 };

	(void)state;
	put_list(&list, 2);
	put_tensor(&list, DTYPE_U8, 1, 2, 0, 1);
	put_tensor(&list, DTYPE_I8, 1, 2, 0, 1);
	assert_int_equal(pad(&how, &list, 1000, "", &e), ST_DATA);
	put_list(&list, 2);
	put_tensor(&list, DTYPE_U8, 1, 2, 0, 1);
	put_tensor(&list, DTYPE_U8, 2, 2, 1, 1);
	assert_int_equal(pad(&how, &list, 1000, "", &e), ST_DATA);
	put_list(&list, 2);
	put_tensor(&list, DTYPE_U8, 1, 90, 0, 1);
	put_tensor(&list, DTYPE_U8, 1, 2, 0, 1);
	assert_int_equal(pad(&how, &list, 100, "", &e), ST_DATA);
	assert_non_null(strstr(e.text, "limit"));
}
