/* SPDX-License-Identifier: MIT
 *
 * Sizes and orientations of images, from the bytes before their pixels. No library is needed
 * for them, so that asking for a size stays cheap.
 */
#include "image/image_inner.h"

static uint32_t
head_u16(const uint8_t *p, bool little)
{
	return little ? p[0] | (uint32_t)p[1] << 8 : p[1] | (uint32_t)p[0] << 8;
}

static uint32_t
head_u32(const uint8_t *p, bool little)
{
	return little ? head_u16(p, true) | head_u16(p + 2, true) << 16
		: head_u16(p, false) << 16 | head_u16(p + 2, false);
}

unsigned
image_exif_turn(const uint8_t *p, size_t n)
{
	enum { ENTRY = 12, ORIENTATION = 0x0112, SHORT = 3 };

	if (n >= 6 && !memcmp(p, "Exif\0\0", 6)) {
		p += 6;
		n -= 6;
	}
	if (n < 8 || (memcmp(p, "II*\0", 4) && memcmp(p, "MM\0*", 4)))
		return 1;
	bool little = *p == 'I';
	uint32_t at = head_u32(p + 4, little);
	if (at > n || n - at < 2)
		return 1;
	uint32_t count = head_u16(p + at, little);
	at += 2;
	for (; count && n - at >= ENTRY; count--, at += ENTRY) {
		if (head_u16(p + at, little) != ORIENTATION)
			continue;
		uint32_t turn = head_u16(p + at + 8, little);
		return head_u16(p + at + 2, little) == SHORT && turn >= 1 && turn <= 8 ? turn : 1;
	}
	return 1;
}

static enum status
head_cut(enum image_kind kind, struct err *e)
{
	return err_set(e, ST_DATA, "the %s is cut off", image_kind_name(kind));
}

enum { JPEG_SOF_FIRST = 0xc0, JPEG_SOF_LAST = 0xcf, JPEG_DHT = 0xc4, JPEG_JPG = 0xc8, JPEG_DAC = 0xcc,
	JPEG_RST0 = 0xd0, JPEG_EOI = 0xd9, JPEG_SOS = 0xda, JPEG_EXIF = 0xe1, JPEG_TEM = 0x01 };

static bool
head_jpeg_frame(uint8_t marker)
{
	return marker >= JPEG_SOF_FIRST && marker <= JPEG_SOF_LAST && marker != JPEG_DHT
		&& marker != JPEG_JPG && marker != JPEG_DAC;
}

/* Reads a frame header: precision, rows, columns, components. */
static enum status
head_jpeg_read(const uint8_t *p, size_t n, uint8_t marker, struct image_head *head, struct err *e)
{
	if (n < 6)
		return head_cut(IMAGE_JPEG, e);
	if (*p != 8)
		return err_set(e, ST_DATA, "a jpeg of %u bits: only those of 8 are read", *p);
	head->h = head_u16(p + 1, false);
	head->w = head_u16(p + 3, false);
	head->channels = p[5] == 1 ? 1 : 3;
	head->whole = marker != JPEG_SOF_FIRST && marker != JPEG_SOF_FIRST + 1;
	if (!head->h || !head->w)
		return err_set(e, ST_DATA, "a jpeg without rows or columns");
	return ST_OK;
}

/* Walks over the segments up to the first scan: EXIF may stand behind the frame header. */
enum status
image_jpeg_head(const uint8_t *p, size_t n, struct image_head *head, struct err *e)
{
	bool sized = false, turned = false;

	for (size_t at = 2;;) {
		while (at < n && p[at] != 0xff) /* libjpeg, too, passes over what is no marker */
			at++;
		while (at < n && p[at] == 0xff)
			at++;
		if (at >= n)
			return head_cut(IMAGE_JPEG, e);
		uint8_t marker = p[at++];
		if (marker == 0 || marker == JPEG_TEM || (marker >= JPEG_RST0 && marker < JPEG_EOI))
			continue;
		if (marker == JPEG_SOS || marker == JPEG_EOI)
			return sized ? ST_OK : err_set(e, ST_DATA, "a jpeg without a size");
		size_t len = n - at < 2 ? 0 : head_u16(p + at, false);
		if (len < 2 || len > n - at)
			return head_cut(IMAGE_JPEG, e);
		if (head_jpeg_frame(marker) && !sized) {
			if (head_jpeg_read(p + at + 2, len - 2, marker, head, e))
				return ST_DATA;
			sized = true;
		}
		if (marker == JPEG_EXIF && !turned && len >= 8 && !memcmp(p + at + 2, "Exif\0\0", 6)) {
			turned = true;
			head->turn = (uint8_t)image_exif_turn(p + at + 2, len - 2);
		}
		at += len;
	}
}

enum { PNG_GREY = 0, PNG_COLOURS = 2, PNG_INDEXED = 3, PNG_GREY_ALPHA = 4 };

/* Colours with a transparent one among them have alpha. */
static void
head_png_clear(struct image_head *head, uint8_t colour)
{
	if (colour == PNG_INDEXED || colour == PNG_COLOURS || colour == PNG_GREY)
		head->channels = 4;
}

enum status
image_png_head(const uint8_t *p, size_t n, struct image_head *head, struct err *e)
{
	if (n < 33)
		return head_cut(IMAGE_PNG, e);
	if (memcmp(p + 8, "\0\0\0\15IHDR", 8))
		return err_set(e, ST_DATA, "a png without a size");
	head->w = head_u32(p + 16, false);
	head->h = head_u32(p + 20, false);
	uint8_t colour = p[25];
	head->channels = colour == PNG_GREY ? 1 : colour == PNG_COLOURS || colour == PNG_INDEXED ? 3 : 4;
	head->whole = p[28] != 0;
	if (!head->h || !head->w)
		return err_set(e, ST_DATA, "a png without rows or columns");
	for (size_t at = 33; n - at >= 12;) {
		uint32_t len = head_u32(p + at, false);
		const uint8_t *name = p + at + 4;

		if (len > n - at - 12 || !memcmp(name, "IDAT", 4))
			break;
		if (!memcmp(name, "eXIf", 4))
			head->turn = (uint8_t)image_exif_turn(p + at + 8, len);
		if (!memcmp(name, "tRNS", 4))
			head_png_clear(head, colour);
		at += 12 + (size_t)len;
	}
	return ST_OK;
}

/* A 14-bit length and what follows it, of the two kinds of pictures in a webp. */
static bool
head_webp_chunk(const uint8_t *p, size_t n, struct image_head *head)
{
	uint32_t bits;

	if (!memcmp(p, "VP8 ", 4)) {
		if (n < 18 || memcmp(p + 11, "\x9d\x01\x2a", 3))
			return false;
		head->w = head_u16(p + 14, true) & 0x3fff;
		head->h = head_u16(p + 16, true) & 0x3fff;
		return true;
	}
	if (n < 13 || p[8] != 0x2f)
		return false;
	bits = head_u32(p + 9, true);
	head->w = (bits & 0x3fff) + 1;
	head->h = (bits >> 14 & 0x3fff) + 1;
	if (bits >> 28 & 1)
		head->channels = 4;
	return true;
}

/* The first picture's own header tells the size; the one of the whole file may tell more of
 * alpha, and orientation stands in a chunk of its own, behind the picture. */
enum status
image_webp_head(const uint8_t *p, size_t n, struct image_head *head, struct err *e)
{
	bool sized = false;

	head->channels = 3;
	head->whole = true;
	for (size_t at = 12; at < n && n - at >= 8;) {
		uint64_t len = head_u32(p + at + 4, true);
		size_t has = n - at;

		if (!memcmp(p + at, "VP8X", 4) && has >= 18) {
			if (p[at + 8] & 0x02)
				return err_set(e, ST_DATA, "a webp that moves: only still ones are read");
			if (p[at + 8] & 0x10)
				head->channels = 4;
		} else if (!sized && (!memcmp(p + at, "VP8 ", 4) || !memcmp(p + at, "VP8L", 4))) {
			if (!head_webp_chunk(p + at, has, head))
				return err_set(e, ST_DATA, "a webp whose size cannot be read");
			sized = true;
		} else if (!memcmp(p + at, "EXIF", 4) && len <= has - 8) {
			head->turn = (uint8_t)image_exif_turn(p + at + 8, (size_t)len);
		}
		if (len + (len & 1) > has - 8)
			break;
		at += 8 + (size_t)(len + (len & 1));
	}
	if (!sized)
		return head_cut(IMAGE_WEBP, e);
	if (!head->h || !head->w)
		return err_set(e, ST_DATA, "a webp without rows or columns");
	return ST_OK;
}
