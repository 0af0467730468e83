/* SPDX-License-Identifier: MIT
 *
 * Functions: images, as tensors [h,w] or [h,w,c], in other sizes and other places; and boxes drawn
 * by chance.
 */
#include <math.h>
#include <stdio.h>

#include "expr/fn.h"
#include "expr/fn/fn_image.h"
#include "expr/run/draw.h"
#include "expr/tensor/tensor_val.h"
#include "image/pixels.h"
#include "image/resize.h"
#include "value/dtype.h"

enum { PIXELS_SIDE_MAX = 1 << 20, PIXELS_TRIES = 10 };

/* An image among tensors: its first axis is its rows, its second its columns. */
struct pixels {
	struct tensor t;
	uint64_t h, w;
	size_t each; /* bytes of a pixel: what lies behind the second axis */
};

static enum status
pixels_of(struct expr_vm *vm, const char *name, const struct val *v, struct pixels *im)
{
	if (tensor_of(vm, v, &im->t))
		return ST_DATA;
	if (im->t.n_dims < 2)
		return vm_fault(vm, "%s() takes a tensor with rows and columns, not one of %d %s", name,
				im->t.n_dims, im->t.n_dims == 1 ? "axis" : "axes");
	im->h = im->t.dims[0];
	im->w = im->t.dims[1];
	im->each = dtype_size(im->t.dtype);
	for (int i = 2; i < im->t.n_dims; i++)
		im->each *= im->t.dims[i];
	return ST_OK;
}

/* Makes an image of the same kind of pixels. */
static enum status
pixels_make(struct expr_vm *vm, const struct pixels *like, uint64_t h, uint64_t w, struct val *out,
	    uint8_t **data)
{
	struct tensor t = like->t;

	t.dims[0] = h;
	t.dims[1] = w;
	return tensor_make(vm, out, &t, data);
}

/* The type of an image of known or unknown size (-1) with the pixels of another. */
static const struct type *
pixels_type(struct types *t, const struct type *like, int64_t h, int64_t w, const char *name,
	    char why[FN_WHY])
{
	int64_t dims[TYPE_DIMS_MAX];

	if (like->kind != TYPE_TENSOR || like->nullable)
		return type_scalar(TYPE_ANY);
	if (like->n_dims < 0)
		return like;
	if (like->n_dims < 2) {
		snprintf(why, FN_WHY, "%s() takes a tensor with rows and columns", name);
		return NULL;
	}
	memcpy(dims, like->dims, sizeof dims);
	dims[0] = h;
	dims[1] = w;
	return type_tensor(t, like->dtype, dims, like->n_dims);
}

static const char pixels_no_box[] = "a box is [y, x, height, width], four ints, the last two above 0";

static const struct type *
pixels_box_type(struct types *t, const struct fn_arg *a, const char *name, char why[FN_WHY])
{
	struct image_box box;

	if (!a[1].value)
		return pixels_type(t, a->type, -1, -1, name, why);
	if (image_box_read(a[1].value, &box))
		return pixels_type(t, a->type, box.h, box.w, name, why);
	snprintf(why, FN_WHY, "%s", pixels_no_box);
	return NULL;
}

static enum status
pixels_crop(struct expr_vm *vm, struct val *out, const struct val *a, unsigned n)
{
	struct image_box box;
	struct pixels im;
	struct val made;
	uint8_t *data;

	(void)n;
	if (pixels_of(vm, "crop", a, &im))
		return ST_DATA;
	if (!image_box_read(&a[1], &box))
		return vm_fault(vm, "crop(): %s", pixels_no_box);
	if (box.y > im.h || box.x > im.w || box.h > im.h - box.y || box.w > im.w - box.x)
		return vm_fault(vm, "crop(): the box [%u,%u,%u,%u] is not within the image, which is "
				"%llu high and %llu wide", box.y, box.x, box.h, box.w,
				(unsigned long long)im.h, (unsigned long long)im.w);
	if (pixels_make(vm, &im, box.h, box.w, &made, &data))
		return ST_DATA;
	size_t row = box.w * im.each;
	for (uint32_t y = 0; row && y < box.h; y++, data += row)
		memcpy(data, im.t.data + ((box.y + y) * im.w + box.x) * im.each, row);
	*out = made;
	return ST_OK;
}

static const struct type *
pixels_crop_type(struct types *t, const struct fn_arg *a, unsigned n, char why[FN_WHY])
{
	(void)n;
	return pixels_box_type(t, a, "crop", why);
}

/* Fills n numbers with one. */
static void
pixels_fill(uint8_t *to, const uint8_t *number, size_t size, uint64_t n)
{
	for (; n; n--, to += size)
		memcpy(to, number, size);
}

static enum status
pixels_pad(struct expr_vm *vm, struct val *out, const struct val *a, unsigned n)
{
	uint8_t number[8] = { 0 }, *data;
	struct image_box box;
	struct pixels im;
	struct val made;

	if (pixels_of(vm, "pad_image", a, &im))
		return ST_DATA;
	if (!image_box_read(&a[1], &box))
		return vm_fault(vm, "pad_image(): %s", pixels_no_box);
	if (n > 2 && !tensor_put(im.t.dtype, &a[2], number))
		return vm_fault(vm, "pad_image() with a number that does not fit %s", dtype_name(im.t.dtype));
	if (box.h < im.h || box.w < im.w || box.y > box.h - im.h || box.x > box.w - im.w)
		return vm_fault(vm, "pad_image(): an image %llu high and %llu wide has no room at [%u,%u] of one "
				"that is %u high and %u wide", (unsigned long long)im.h,
				(unsigned long long)im.w, box.y, box.x, box.h, box.w);
	if (pixels_make(vm, &im, box.h, box.w, &made, &data))
		return ST_DATA;
	size_t size = dtype_size(im.t.dtype), row = im.w * im.each;
	pixels_fill(data, number, size, (uint64_t)box.h * box.w * im.each / size);
	for (uint64_t y = 0; row && y < im.h; y++)
		memcpy(data + ((box.y + y) * box.w + box.x) * im.each, im.t.data + y * row, row);
	*out = made;
	return ST_OK;
}

static const struct type *
pixels_pad_type(struct types *t, const struct fn_arg *a, unsigned n, char why[FN_WHY])
{
	(void)n;
	return pixels_box_type(t, a, "pad_image", why);
}

static enum status
pixels_rotate(struct expr_vm *vm, struct val *out, const struct val *a, unsigned n)
{
	/* Anticlockwise by 0 to 3 quarters, as orientations. */
	static const uint8_t turns[4] = { 1, 8, 3, 6 };
	unsigned turn = turns[n > 1 ? (uint64_t)a[1].i & 3u : 1u];
	struct pixels im;
	struct val made;
	uint8_t *data;

	if (pixels_of(vm, "rotate90", a, &im)
	    || pixels_make(vm, &im, image_lies(turn) ? im.w : im.h, image_lies(turn) ? im.h : im.w,
			   &made, &data))
		return ST_DATA;
	pixels_turn(im.t.data, im.h, im.w, im.each, turn, data);
	*out = made;
	return ST_OK;
}

static const struct type *
pixels_rotate_type(struct types *t, const struct fn_arg *a, unsigned n, char why[FN_WHY])
{
	int64_t h = -1, w = -1;

	if (a->type->kind == TYPE_TENSOR && a->type->n_dims >= 2 && (n < 2 || a[1].value)) {
		bool lies = n < 2 || a[1].value->i & 1;

		h = a->type->dims[lies ? 1 : 0];
		w = a->type->dims[lies ? 0 : 1];
	}
	return pixels_type(t, a->type, h, w, "rotate90", why);
}

/* Turns one axis of any tensor round: [outer, length, inner]. */
static enum status
pixels_flip(struct expr_vm *vm, struct val *out, const struct val *a, unsigned n)
{
	uint64_t outer = 1, length;
	struct tensor t, to;
	struct val made;
	uint8_t *data;

	(void)n;
	if (tensor_of(vm, a, &t))
		return ST_DATA;
	int64_t axis = a[1].i < 0 ? a[1].i + t.n_dims : a[1].i;
	if (axis < 0 || axis >= t.n_dims)
		return vm_fault(vm, "flip() along axis %lld of a tensor of %d %s", (long long)a[1].i,
				t.n_dims, t.n_dims == 1 ? "axis" : "axes");
	to = t;
	if (tensor_make(vm, &made, &to, &data))
		return ST_DATA;
	for (int64_t i = 0; i < axis; i++)
		outer *= t.dims[i];
	length = t.dims[axis];
	if (t.size)
		pixels_turn(t.data, outer, length, t.size / outer / length, 2, data);
	*out = made;
	return ST_OK;
}

/* The size that resize is asked for; false: it is none. */
static bool
pixels_size_read(const struct val *list, int64_t size[2])
{
	const uint8_t *p;
	struct val v = { 0 };

	if (val_count(list, &p) != 2)
		return false;
	for (int i = 0; i < 2; i++, p = mp_past(p)) {
		val_load(p, &v);
		if (v.kind != VAL_INT || v.i < 1 || v.i > PIXELS_SIDE_MAX)
			return false;
		size[i] = v.i;
	}
	return true;
}

static const char pixels_no_size[] = "a size is [height, width], each from 1 to 1048576";
static const char pixels_methods[] = "nearest, bilinear, bicubic or area";

static void
pixels_load(const void *arg, const uint8_t *from, size_t n, double *to)
{
	const enum dtype *d = arg;
	size_t each = dtype_size(*d);

	for (; n; n--, from += each)
		*to++ = dtype_float(*d, from);
}

/* Whole numbers are rounded, and kept within what their kind can be. */
static void
pixels_store(const void *arg, const double *from, size_t n, uint8_t *to)
{
	const enum dtype *d = arg;
	size_t each = dtype_size(*d);
	bool sign = *d >= DTYPE_I8 && *d <= DTYPE_I64;
	double least = sign ? -ldexp(1, (int)each * 8 - 1) : 0, above = ldexp(1, (int)each * 8 - sign);

	for (; n; n--, from++, to += each) {
		double v = floor(*from + 0.5);
		uint64_t bits;

		if (dtype_is_float(*d)) {
			dtype_put_float(*d, *from, to);
			continue;
		}
		if (v >= above)
			bits = UINT64_MAX >> (64 - each * 8 + sign);
		else
			bits = sign ? (uint64_t)(int64_t)(v < least ? least : v) : (uint64_t)(v < least ? least : v);
		memcpy(to, &bits, each); /* little endian, as everywhere */
	}
}

static enum status
pixels_resize_run(struct expr_vm *vm, struct resize *r, const struct pixels *im, struct val *out)
{
	bool bytes = im->t.dtype == DTYPE_U8 || r->method == RESIZE_NEAREST;
	uint8_t *data;

	if (resize_between(r) > SCRATCH_VALUE_MAX / (bytes ? 1 : sizeof(double)))
		return vm_fault(vm, "resize(): an image %zu high and %zu wide is too large to be made "
				"%zu wide", r->h, r->w, r->to_w);
	if (vm_steps(vm, resize_cost(r) / 64))
		return vm_fault(vm, "resize(): an image %zu high and %zu wide takes too long to make", r->to_h, r->to_w);
	if (pixels_make(vm, im, r->to_h, r->to_w, out, &data))
		return ST_DATA;
	r->to = data;
	if (r->method == RESIZE_NEAREST) {
		r->channels = 1;
		resize_nearest(r, im->each);
	} else if (bytes) {
		resize_u8(r, &vm->tmp, &vm->tmp2);
	} else {
		struct resize_kind kind = { dtype_size(im->t.dtype), pixels_load, pixels_store, &im->t.dtype };

		r->channels /= kind.each;
		resize_numbers(r, &kind, &vm->tmp, &vm->tmp2);
	}
	return ST_OK;
}

static enum status
pixels_resize(struct expr_vm *vm, struct val *out, const struct val *a, unsigned n)
{
	enum resize_method method = RESIZE_BILINEAR;
	int64_t size[2];
	struct pixels im;
	struct val made;
	enum status st;

	if (pixels_of(vm, "resize", a, &im))
		return ST_DATA;
	if (!pixels_size_read(&a[1], size))
		return vm_fault(vm, "resize(): %s", pixels_no_size);
	if (n > 2)
		method = resize_find((const char *)a[2].p, a[2].n);
	if (method == RESIZE_METHODS)
		return vm_fault(vm, "resize() by \"%.*s\": %s", (int)(a[2].n < 40 ? a[2].n : 40),
				(const char *)a[2].p, pixels_methods);
	if (im.t.dtype == DTYPE_BOOL && method != RESIZE_NEAREST)
		return vm_fault(vm, "resize() mixes numbers, not bool: cast first, or by \"nearest\"");
	if (!im.t.count || im.h > PIXELS_SIDE_MAX || im.w > PIXELS_SIDE_MAX)
		return vm_fault(vm, "resize() of an image that is %llu high and %llu wide",
				(unsigned long long)im.h, (unsigned long long)im.w);
	struct resize r = { .from = im.t.data, .h = im.h, .w = im.w, .to_h = (size_t)size[0],
		.to_w = (size_t)size[1], .channels = im.each, .method = method,
		.antialias = n < 4 || a[3].b };
	st = pixels_resize_run(vm, &r, &im, &made);
	if (st == ST_OK)
		*out = made;
	return st;
}

static const struct type *
pixels_resize_type(struct types *t, const struct fn_arg *a, unsigned n, char why[FN_WHY])
{
	int64_t size[2] = { -1, -1 };

	if (a[1].value && !pixels_size_read(a[1].value, size)) {
		snprintf(why, FN_WHY, "%s", pixels_no_size);
		return NULL;
	}
	if (n > 2 && a[2].value
	    && resize_find((const char *)a[2].value->p, a[2].value->n) == RESIZE_METHODS) {
		snprintf(why, FN_WHY, "there is no method \"%.*s\": %s",
			 (int)(a[2].value->n < 40 ? a[2].value->n : 40), (const char *)a[2].value->p,
			 pixels_methods);
		return NULL;
	}
	return pixels_type(t, a->type, size[0], size[1], "resize", why);
}

/* Two numbers above 0, the first not above the second. */
static bool
pixels_range_read(const struct val *list, double range[2])
{
	const uint8_t *p;
	struct val v = { 0 };

	if (val_count(list, &p) != 2)
		return false;
	for (int i = 0; i < 2; i++, p = mp_past(p)) {
		val_load(p, &v);
		if (!val_is_number(&v))
			return false;
		range[i] = val_to_float(&v);
	}
	return range[0] > 0 && range[0] <= range[1] && range[1] <= 1000;
}

/* Draws a box whose area is a part of the image's and whose sides have a ratio; when none fits
 * after some tries, the largest in the middle whose sides do. */
static struct image_box
pixels_draw(struct rng *rng, double h, double w, const double area[2], const double ratio[2])
{
	double low = log(ratio[0]), high = log(ratio[1]), bh, bw;

	for (int i = 0; i < PIXELS_TRIES; i++) {
		double want = h * w * (area[0] + (area[1] - area[0]) * rng_unit(rng));
		double shape = exp(low + (high - low) * rng_unit(rng));

		bw = round(sqrt(want * shape));
		bh = round(sqrt(want / shape));
		if (bw >= 1 && bh >= 1 && bw <= w && bh <= h)
			return (struct image_box){
				(uint32_t)rng_below(rng, (uint64_t)(h - bh) + 1),
				(uint32_t)rng_below(rng, (uint64_t)(w - bw) + 1), (uint32_t)bh, (uint32_t)bw };
	}
	bh = w / h < ratio[0] ? round(w / ratio[0]) : h;
	bw = w / h > ratio[1] ? round(h * ratio[1]) : w;
	bh = bh < 1 ? 1 : bh > h ? h : bh;
	bw = bw < 1 ? 1 : bw > w ? w : bw;
	return (struct image_box){ (uint32_t)((h - bh) / 2), (uint32_t)((w - bw) / 2), (uint32_t)bh,
		(uint32_t)bw };
}

static enum status
pixels_random_box(struct expr_vm *vm, struct val *out, const struct val *a, unsigned n)
{
	double area[2] = { 0.08, 1 }, ratio[2] = { 3 / 4.0, 4 / 3.0 };
	struct rng rng = draw_next(vm);
	uint32_t count, part[2];
	struct val v = { 0 };
	const uint8_t *p;
	uint8_t *room, *w;

	count = val_count(a, &p);
	for (uint32_t i = 0; i < 2; i++, p = mp_past(p)) {
		if (count >= 2)
			val_load(p, &v);
		if (count < 2 || count > 3 || v.kind != VAL_INT || v.i < 1 || v.i > IMAGE_BOX_MAX)
			return vm_fault(vm, "random_box() takes a size, [height, width] or what image_size "
					"gives");
		part[i] = (uint32_t)v.i;
	}
	if (n > 1 && (!pixels_range_read(&a[1], area) || area[1] > 1))
		return vm_fault(vm, "random_box(): an area is [least, most], parts of the image above 0 "
				"and up to 1");
	if (n > 2 && !pixels_range_read(&a[2], ratio))
		return vm_fault(vm, "random_box(): a ratio of width to height is [least, most], above 0");
	struct image_box box = pixels_draw(&rng, part[0], part[1], area, ratio);
	room = vm_room(vm, MP_HEAD_MAX + 4 * MP_INT_MAX);
	if (!room)
		return ST_DATA;
	w = mp_put_list_head(room, 4);
	w = mp_put_uint(mp_put_uint(mp_put_uint(mp_put_uint(w, box.y), box.x), box.h), box.w);
	scratch_done(&vm->scratch, w);
	*out = val_whole(VAL_LIST, room, (size_t)(w - room));
	return ST_OK;
}

const struct fn fn_pixels[] = {
	{ "crop", "Tl", .call = pixels_crop, .check = pixels_crop_type, .args = "tensor, box",
	  .brief = "the part of an image, or of any tensor with rows and columns, in a box [y, x, "
		  "height, width]",
	  .example = "crop(tensor([[1, 2, 3], [4, 5, 6]]), [0, 1, 2, 2])", .output = "[[2,3],[5,6]]" },
	{ "pad_image", "Tl?U", .call = pixels_pad, .check = pixels_pad_type, .args = "tensor, box[, number]",
	  .brief = "an image of the height and width of the box [y, x, height, width] with the tensor "
		  "at row y and column x, and the number, or 0, around it",
	  .example = "pad_image(tensor([[1, 2]]), [1, 0, 2, 3])", .output = "[[0,0,0],[1,2,0]]" },
	{ "flip", "Ti", NULL, fn_type_first, pixels_flip, .args = "tensor, axis",
	  .brief = "the tensor with an axis in reverse order: of an image, 0 exchanges above and below "
		  "and 1 left and right; a negative axis counts from the last",
	  .example = "flip(tensor([[1, 2], [3, 4]]), 1)", .output = "[[2,1],[4,3]]" },
	{ "rotate90", "T?i", .call = pixels_rotate, .check = pixels_rotate_type,
	  .args = "tensor[, times]",
	  .brief = "the first two axes turned by 90 degrees anticlockwise, once or that many times",
	  .example = "rotate90(tensor([[1, 2], [3, 4]]))", .output = "[[2,4],[1,3]]" },
	{ "resize", "Tl?to", .call = pixels_resize, .check = pixels_resize_type,
	  .args = "tensor, [height, width][, method][, antialias]",
	  .brief = "an image in another size, by bilinear, bicubic, area or nearest; unless antialias is "
		  "false, a smaller image averages all pixels that become one, as in Pillow",
	  .example = "resize(tensor([[0, 100], [100, 200]], \"u8\"), [1, 2])", .output = "[[50,150]]" },
	{ "random_box", "l?ll", "[int]", .call = pixels_random_box, .flags = FN_VARIES | FN_DRAWS,
	  .args = "size[, area][, ratio]",
	  .brief = "a random box within an image of this size, [height, width]; area, [0.08, 1] unless given, "
		  "is the share of the image that it covers, and ratio, [3/4, 4/3] unless given, its width "
		  "divided by its height; drawn as with rand",
	  .example = "random_box([4, 6], [1, 1], [1.5, 1.5])", .output = "[0,0,4,6]" },
	{ 0 }
};
