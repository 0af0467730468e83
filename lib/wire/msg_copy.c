/* SPDX-License-Identifier: MIT
 *
 * Messages and rows copied and moved, by the rows of their fields.
 */
#include <string.h>

#include "base/mem.h"
#include "wire/field.h"

static void
copy_words(const struct words *from, struct words *to)
{
	*to = (struct words){ 0 };
	for (size_t i = 0; i < from->n; i++)
		words_add(to, from->v[i], strlen(from->v[i]));
}

static void
copy_splits(const struct split_list *from, struct split_list *to)
{
	*to = (struct split_list){ 0 };
	for (size_t i = 0; i < from->n; i++)
		split_list_add(to, &from->v[i]);
}

static void
copy_list(const struct field *f, const struct field_list *from, struct field_list *to)
{
	to->n = from->n;
	to->v = mem_array(from->n, f->item_size);
	for (size_t i = 0; i < from->n; i++)
		fields_copy(f->item, (char *)to->v + i * f->item_size, (const char *)from->v + i * f->item_size);
}

void
fields_copy(const struct field *rows, void *to_base, const void *from_base)
{
	for (const struct field *f = rows; f->kind; f++) {
		void *to = (char *)to_base + f->offset;
		const void *from = (const char *)from_base + f->offset;

		switch (f->kind) {
		case FIELD_NONE: break;
		case FIELD_U32: *(uint32_t *)to = *(const uint32_t *)from; break;
		case FIELD_U64: *(uint64_t *)to = *(const uint64_t *)from; break;
		case FIELD_BOOL: *(bool *)to = *(const bool *)from; break;
		case FIELD_TEXT: *(char **)to = mem_strdup(*(char *const *)from); break;
		case FIELD_BYTES: {
			const struct bytes *b = from;
			*(struct bytes *)to = (struct bytes){ b->n ? mem_dup(b->p, b->n) : NULL, b->n };
			break;
		}
		case FIELD_RANGES: {
			const struct ranges *r = from;
			*(struct ranges *)to = (struct ranges){ r->n ? mem_dup(r->v, r->n * sizeof *r->v) : NULL, r->n };
			break;
		}
		case FIELD_WORDS: copy_words(from, to); break;
		case FIELD_SPLITS: copy_splits(from, to); break;
		case FIELD_LIST: copy_list(f, from, to); break;
		}
		if (f->cap)
			((struct field_list_cap *)to)->cap = ((struct field_list_cap *)to)->n;
	}
}

void
fields_move(const struct field *rows, void *to_base, void *from_base)
{
	static const size_t sizes[] = {
		[FIELD_U32] = sizeof(uint32_t), [FIELD_U64] = sizeof(uint64_t), [FIELD_BOOL] = sizeof(bool),
		[FIELD_TEXT] = sizeof(char *), [FIELD_BYTES] = sizeof(struct bytes), [FIELD_RANGES] = sizeof(struct ranges),
		[FIELD_WORDS] = sizeof(struct words), [FIELD_SPLITS] = sizeof(struct split_list),
		[FIELD_LIST] = sizeof(struct field_list),
	};

	fields_clear(rows, to_base);
	for (const struct field *f = rows; f->kind; f++) {
		size_t size = f->cap ? sizeof(struct field_list_cap) : sizes[f->kind];
		char *from = (char *)from_base + f->offset;

		memcpy((char *)to_base + f->offset, from, size);
		memset(from, 0, size);
	}
}

void
msg_fill(struct msg *m, const void *body)
{
	fields_copy(msg_desc(m->type)->fields, &m->hello, body);
}

void
msg_copy(struct msg *to, const struct msg *from)
{
	*to = (struct msg){ .type = from->type, .req = from->req };
	msg_fill(to, &from->hello);
}
