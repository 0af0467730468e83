/* SPDX-License-Identifier: MIT
 *
 * Whether a message keeps the limits that its receiver will hold it to.
 */
#include <string.h>

#include "wire/field.h"

static size_t
fits_count(const struct field *f, const void *at)
{
	switch (f->kind) {
	case FIELD_TEXT: return *(char *const *)at ? strlen(*(char *const *)at) : 0;
	case FIELD_BYTES: return ((const struct bytes *)at)->n;
	case FIELD_RANGES: return ((const struct ranges *)at)->n;
	case FIELD_WORDS: return ((const struct words *)at)->n;
	case FIELD_SPLITS: return ((const struct split_list *)at)->n;
	case FIELD_LIST: return ((const struct { void *v; size_t n; } *)at)->n;
	case FIELD_U32: return f->max ? *(const uint32_t *)at : 0;
	default: return 0;
	}
}

/* The first field above its limit; NULL: none. */
static const struct field *
fits_rows(const struct field *rows, const char *base)
{
	for (const struct field *f = rows; f->kind; f++) {
		const void *at = base + f->offset;
		const struct { const char *v; size_t n; } *list = at;
		const struct field *bad = fits_count(f, at) > f->max ? f : NULL;

		for (size_t i = 0; !bad && f->kind == FIELD_LIST && i < list->n; i++)
			bad = fits_rows(f->item, list->v + i * f->item_size);
		if (bad)
			return bad;
	}
	return NULL;
}

enum status
msg_fits(const struct msg *m, size_t encoded, struct err *e)
{
	size_t most = msg_frame_max(m->type);
	const struct field *bad = fits_rows(msg_desc(m->type)->fields, (const char *)&m->hello);

	if (bad)
		return err_set(e, ST_BUG, "message %s is not sent: its field `%s` is above the limit of %llu",
			       msg_name(m->type), bad->name, (unsigned long long)bad->max);
	if (encoded > most)
		return err_set(e, ST_BUG, "message %s is not sent: it has %zu bytes, more than its limit of %zu",
			       msg_name(m->type), encoded, most);
	return ST_OK;
}
