/* SPDX-License-Identifier: MIT
 *
 * Functions: images out of their files, and back. An image is a tensor u8[h,w,channels].
 */
#include <stdio.h>

#include "expr/fn.h"
#include "expr/fn/fn_image.h"
#include "expr/tensor/tensor_val.h"
#include "image/image.h"

enum status
image_fault(struct expr_vm *vm, const char *name, const struct err *e)
{
	vm_fault(vm, "%s(): %s", name, e->text);
	if (vm->e && e->help[0])
		err_help(vm->e, "%s", e->help);
	return ST_DATA;
}

bool
image_box_read(const struct val *list, struct image_box *box)
{
	const uint8_t *p;
	struct val v = { 0 };
	uint32_t part[4];

	if (val_count(list, &p) != 4)
		return false;
	for (int i = 0; i < 4; i++, p = mp_past(p)) {
		val_load(p, &v);
		if (v.kind != VAL_INT || v.i < (i >= 2) || v.i > IMAGE_BOX_MAX)
			return false;
		part[i] = (uint32_t)v.i;
	}
	*box = (struct image_box){ part[0], part[1], part[2], part[3] };
	return true;
}

static bool
image_is_upright(const struct val *v)
{
	return v->kind == VAL_TEXT && v->n == 7 && !memcmp(v->p, "upright", 7);
}

/* The wishes of a call of decode_image: its further arguments are told apart by their kinds. */
struct image_ask {
	const struct val *box; /* NULL: all */
	unsigned channels;     /* 0: as in the file */
	bool upright;
};

/* NULL: they are understood; else what is wrong. */
static const char *
image_ask_read(const struct val *const *a, unsigned n, struct image_ask *ask)
{
	struct image_box box;

	for (unsigned i = 0; i < n; i++) {
		const struct val *v = a[i];

		if (!v)
			continue; /* not known before it runs */
		if (v->kind == VAL_LIST && !image_box_read(v, &box))
			return "a box is [y, x, height, width], four ints, the last two above 0";
		if (v->kind == VAL_LIST)
			ask->box = v;
		else if (v->kind == VAL_INT && v->i != 1 && v->i != 3 && v->i != 4)
			return "an image has 1, 3 or 4 channels";
		else if (v->kind == VAL_INT)
			ask->channels = (unsigned)v->i;
		else if (!image_is_upright(v))
			return "the only word is \"upright\": turned as its EXIF orientation says";
		else
			ask->upright = true;
	}
	return NULL;
}

static enum status
image_decode_call(struct expr_vm *vm, struct val *out, const struct val *a, unsigned n)
{
	const struct val *more[3] = { n > 1 ? &a[1] : NULL, n > 2 ? &a[2] : NULL, n > 3 ? &a[3] : NULL };
	struct tensor t = { .dtype = DTYPE_U8, .n_dims = 3 };
	struct image_ask ask = { 0 };
	struct image_head head;
	struct val made;
	struct err e;
	uint8_t *data;
	const char *why = image_ask_read(more, n - 1, &ask);

	if (why)
		return vm_fault(vm, "decode_image(): %s", why);
	if (image_head(a->p, a->n, &head, &e))
		return image_fault(vm, "decode_image", &e);
	unsigned turn = ask.upright ? head.turn : 1;
	struct image_box box = { 0, 0, head.h, head.w };
	uint32_t h = image_lies(turn) ? head.w : head.h, w = image_lies(turn) ? head.h : head.w;
	if (ask.box)
		image_box_read(ask.box, &box);
	else if (image_lies(turn))
		box = (struct image_box){ 0, 0, head.w, head.h };
	if (box.y > h || box.x > w || box.h > h - box.y || box.w > w - box.x)
		return vm_fault(vm, "decode_image(): the box [%u,%u,%u,%u] is not within the image, "
				"which is %u high and %u wide", box.y, box.x, box.h, box.w, h, w);
	t.dims[0] = box.h;
	t.dims[1] = box.w;
	t.dims[2] = ask.channels ? ask.channels : head.channels;
	if (vm_steps(vm, (uint64_t)(head.whole ? head.h : box.y + box.h) * head.w / 16))
		return vm_fault(vm, "decode_image(): an image %u high and %u wide takes too long to decode", head.h, head.w);
	if (tensor_make(vm, &made, &t, &data))
		return ST_DATA;
	if (image_decode(a->p, a->n, &head, turn, &box, (unsigned)t.dims[2], data, &e))
		return image_fault(vm, "decode_image", &e);
	*out = made;
	return ST_OK;
}

static const struct type *
image_decode_type(struct types *t, const struct fn_arg *a, unsigned n, char why[FN_WHY])
{
	const struct val *more[3] = { n > 1 ? a[1].value : NULL, n > 2 ? a[2].value : NULL,
		n > 3 ? a[3].value : NULL };
	struct image_ask ask = { 0 };
	int64_t dims[3] = { -1, -1, -1 };
	struct image_box box;
	const char *fault = image_ask_read(more, n - 1, &ask);

	if (fault) {
		snprintf(why, FN_WHY, "%s", fault);
		return NULL;
	}
	if (ask.box && image_box_read(ask.box, &box)) {
		dims[0] = box.h;
		dims[1] = box.w;
	}
	if (ask.channels)
		dims[2] = ask.channels;
	return type_tensor(t, DTYPE_U8, dims, 3);
}

static enum status
image_size_call(struct expr_vm *vm, struct val *out, const struct val *a, unsigned n)
{
	struct image_head head;
	struct err e;

	if (n > 1 && !image_is_upright(&a[1]))
		return vm_fault(vm, "image_size(): the only word is \"upright\": turned as its EXIF "
				"orientation says");
	if (image_head(a->p, a->n, &head, &e))
		return image_fault(vm, "image_size", &e);
	bool lies = n > 1 && image_lies(head.turn);
	uint8_t *p = vm_room(vm, MP_HEAD_MAX + 3 * MP_INT_MAX), *w;
	if (!p)
		return ST_DATA;
	w = mp_put_list_head(p, 3);
	w = mp_put_uint(w, lies ? head.w : head.h);
	w = mp_put_uint(w, lies ? head.h : head.w);
	w = mp_put_uint(w, head.channels);
	scratch_done(&vm->scratch, w);
	*out = val_whole(VAL_LIST, p, (size_t)(w - p));
	return ST_OK;
}

static enum status
image_encode_call(struct expr_vm *vm, struct val *out, const struct val *a, unsigned n)
{
	enum image_kind kind = image_kind_find((const char *)a[1].p, a[1].n);
	struct image_pixels im;
	struct tensor t;
	struct err e;

	if (kind == IMAGE_KINDS)
		return vm_fault(vm, "encode_image(): there is no format \"%.*s\": jpeg, png or webp",
				(int)(a[1].n < 40 ? a[1].n : 40), (const char *)a[1].p);
	if (n > 2 && (a[2].i < 1 || a[2].i > 100))
		return vm_fault(vm, "encode_image(): a quality is from 1 to 100, not %lld",
				(long long)a[2].i);
	if (tensor_of(vm, a, &t))
		return ST_DATA;
	im = (struct image_pixels){ t.data, 0, 0, t.n_dims == 3 ? (unsigned)t.dims[2] : 1 };
	if (t.dtype != DTYPE_U8 || t.n_dims < 2 || t.n_dims > 3
	    || (t.n_dims == 3 && t.dims[2] != 1 && t.dims[2] != 3 && t.dims[2] != 4))
		return vm_fault(vm, "encode_image() takes u8[h,w], or u8[h,w,c] of 1, 3 or 4 channels, "
				"not %s[%s]", dtype_name(t.dtype),
				tensor_dims_print(t.dims, t.n_dims, (char[200]){ 0 }));
	if (!t.count || t.dims[0] > IMAGE_BOX_MAX || t.dims[1] > IMAGE_BOX_MAX)
		return vm_fault(vm, "encode_image() of an image that is %llu high and %llu wide",
				(unsigned long long)t.dims[0], (unsigned long long)t.dims[1]);
	im.h = (uint32_t)t.dims[0];
	im.w = (uint32_t)t.dims[1];
	if (vm_steps(vm, t.count / 16))
		return ST_DATA;
	buf_reset(&vm->tmp);
	if (image_encode(&im, kind, n > 2 ? (unsigned)a[2].i : 0, &vm->tmp, &e))
		return image_fault(vm, "encode_image", &e);
	return vm_take_tmp(vm, VAL_BYTES, out);
}

/* The examples hold one image, a grey png of 2 by 3 pixels. */
#define IMAGE_EXAMPLE "encode_image(tensor([[1, 2, 3], [4, 5, 6]], \"u8\"), \"png\")"

const struct fn fn_image[] = {
	{ "decode_image", "b?DDD", .call = image_decode_call, .check = image_decode_type,
	  .args = "bytes[, box][, channels][, \"upright\"]",
	  .brief = "the pixels of a jpeg, png or webp, u8[height, width, channels]; of a box [y, x, "
		  "height, width] no more is decoded than needed; channels is 1, 3 or 4, or as in the "
		  "file; \"upright\" turns it as its EXIF orientation says",
	  .example = "decode_image(" IMAGE_EXAMPLE ", [0, 1, 2, 2], 1)",
	  .output = "[[[2],[3]],[[5],[6]]]" },
	{ "encode_image", "Tt?i", "bytes", .call = image_encode_call,
	  .args = "tensor, format[, quality]",
	  .brief = "the bytes of a jpeg, png or webp; the tensor is u8[h,w] or u8[h,w,c] of 1, 3 or 4 "
		  "channels; quality is from 1 to 100, for jpeg and webp, and 90 unless given",
	  .example = "len(encode_image(zeros([8, 8], \"u8\"), \"png\")) > 40", .output = "true" },
	{ "image_size", "b?t", "[int]", .call = image_size_call, .args = "bytes[, \"upright\"]",
	  .brief = "[height, width, channels] of a jpeg, png or webp, from the bytes before its "
		  "pixels; \"upright\" respects its EXIF orientation",
	  .example = "image_size(" IMAGE_EXAMPLE ")", .output = "[2,3,1]" },
	{ 0 }
};
