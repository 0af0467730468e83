/* SPDX-License-Identifier: MIT */
#include "core/disp/report_put.h"

#include <string.h>

#include "base/mem.h"
#include "value/mp.h"

void
report_record(struct buf *b, uint32_t n)
{
	uint8_t *p = buf_room(b, MP_HEAD_MAX);

	b->len += (size_t)(mp_put_record_head(p, n) - p);
}

void
report_text(struct buf *b, const char *s)
{
	size_t n = s ? strlen(s) : 0;
	uint8_t *p = buf_room(b, n + MP_HEAD_MAX);

	b->len += (size_t)(mp_put_text(p, s ? s : "", (uint32_t)n) - p);
}

void
report_list(struct buf *b, const char *key, size_t n)
{
	report_text(b, key);
	uint8_t *p = buf_room(b, MP_HEAD_MAX);
	b->len += (size_t)(mp_put_list_head(p, (uint32_t)n) - p);
}

void
report_put_uint(struct buf *b, uint64_t v)
{
	uint8_t *p = buf_room(b, MP_INT_MAX);

	b->len += (size_t)(mp_put_uint(p, v) - p);
}

void
report_uint(struct buf *b, const char *key, uint64_t v)
{
	report_text(b, key);
	report_put_uint(b, v);
}

void
report_float(struct buf *b, const char *key, double v)
{
	report_text(b, key);
	uint8_t *p = buf_room(b, MP_FLOAT_MAX);
	b->len += (size_t)(mp_put_float(p, v) - p);
}

void
report_bool(struct buf *b, const char *key, bool v)
{
	report_text(b, key);
	buf_byte(b, v ? 0xc3 : 0xc2);
}

void
report_str(struct buf *b, const char *key, const char *v)
{
	report_text(b, key);
	report_text(b, v);
}

/* Ids are shown as they are told: 16 digits. */
void
report_id(struct buf *b, const char *key, uint64_t v)
{
	char *s = mem_printf("%016llx", (unsigned long long)v);

	report_str(b, key, s);
	mem_free(s);
}
