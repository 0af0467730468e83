/* SPDX-License-Identifier: MIT */
#include "value/json/json_refuse.h"

#include <math.h>
#include <stdbool.h>

#include "base/buf.h"
#include "base/str.h"
#include "value/mp.h"
#include "value/tensor.h"

enum { REFUSE_PATH = 200 }; /* bytes of a path in a message */

struct refuse {
	const struct json_rules *rules;
	struct buf path;
	struct err *e;
};

static enum status
refuse_text(struct refuse *r, const struct mp *m, const char *what)
{
	size_t at = str_utf8_valid(m->p, m->n);

	if (r->rules->invalid_utf8 != JSON_INVALID_ERROR || at == m->n)
		return ST_OK;
	err_set(r->e, ST_DATA, "JSON cannot hold %s`%.*s`, which is not UTF-8: its byte %zu is 0x%02x", what,
		r->path.len > REFUSE_PATH ? REFUSE_PATH : (int)r->path.len, (const char *)r->path.data, at + 1,
		m->p[at]);
	err_help(r->e, "--invalid-utf8 replace, or `options invalid_utf8=replace` in the spec, puts U+FFFD in place of "
		       "such bytes; utf8(TEXT, \"latin1\") converts them; text, csv and msgpack keep them");
	return ST_DATA;
}

static void
refuse_help_float(struct refuse *r)
{
	err_help(r->e, "--nonfinite null writes null for it, --nonfinite string its name; `options nonfinite=` does the "
		       "same in a spec");
}

static enum status
refuse_float(struct refuse *r, double f)
{
	if (r->rules->nonfinite != JSON_NONFINITE_ERROR || isfinite(f))
		return ST_OK;
	err_set(r->e, ST_DATA, "JSON cannot hold `%.*s`, which is %s",
		r->path.len > REFUSE_PATH ? REFUSE_PATH : (int)r->path.len, (const char *)r->path.data,
		isnan(f) ? "NaN" : f > 0 ? "Infinity" : "-Infinity");
	refuse_help_float(r);
	return ST_DATA;
}

static enum status
refuse_tensor(struct refuse *r, const struct mp *m)
{
	struct tensor t;
	struct buf text = { 0 };

	if (r->rules->nonfinite != JSON_NONFINITE_ERROR || m->ext != MP_EXT_TENSOR || !tensor_read(m->p, m->n, &t))
		return ST_OK;
	bool fine = tensor_print(&t, r->rules, &text);
	buf_clear(&text);
	if (fine)
		return ST_OK;
	err_set(r->e, ST_DATA, "JSON cannot hold `%.*s`, a tensor with Infinity or NaN in it",
		r->path.len > REFUSE_PATH ? REFUSE_PATH : (int)r->path.len, (const char *)r->path.data);
	refuse_help_float(r);
	return ST_DATA;
}

static void
refuse_name(struct buf *path, const struct mp *key)
{
	buf_byte(path, '.');
	for (uint32_t i = 0; key->kind == MP_TEXT && i < key->n && i < REFUSE_PATH; i++)
		buf_byte(path, key->p[i] < ' ' || key->p[i] >= 0x7f ? '?' : key->p[i]);
	if (key->kind != MP_TEXT)
		buf_byte(path, '?');
}

static enum status
refuse_value(struct refuse *r, const uint8_t **pp, const uint8_t *end)
{
	size_t path = r->path.len;
	const uint8_t *p;
	struct mp m, key;
	enum status st = ST_OK;

	*pp = p = mp_head(*pp, end, &m);
	switch (m.kind) {
	case MP_TEXT: return refuse_text(r, &m, "");
	case MP_FLOAT: return refuse_float(r, m.f);
	case MP_EXT: return refuse_tensor(r, &m);
	case MP_LIST:
		for (uint32_t i = 0; i < m.n && !st; i++) {
			r->path.len = path;
			buf_printf(&r->path, "[%u]", i);
			st = refuse_value(r, &p, end);
		}
		break;
	case MP_RECORD:
		for (uint32_t i = 0; i < m.n && !st; i++) {
			const uint8_t *name = p, *value = mp_skip(p, end);

			r->path.len = path;
			mp_head(name, end, &key);
			refuse_name(&r->path, &key);
			if (key.kind == MP_TEXT)
				st = refuse_text(r, &key, "the name of ");
			else if (key.kind == MP_FLOAT)
				st = refuse_float(r, key.f);
			p = value;
			if (!st)
				st = refuse_value(r, &p, end);
		}
		break;
	default: return ST_OK;
	}
	if (!st)
		r->path.len = path;
	*pp = p;
	return st;
}

enum status
json_refuse_in(const char *name, const uint8_t *p, size_t len, const struct json_rules *rules, struct err *e)
{
	struct refuse r = { .rules = rules, .e = e };

	buf_str(&r.path, name);
	enum status st = refuse_value(&r, &p, p + len);
	buf_clear(&r.path);
	return st;
}

enum status
json_refuse(const uint8_t *p, size_t len, const struct json_rules *rules, struct err *e)
{
	struct mp m;

	mp_head(p, p + len, &m);
	return json_refuse_in(m.kind == MP_LIST || m.kind == MP_RECORD ? "" : "x", p, len, rules, e);
}
