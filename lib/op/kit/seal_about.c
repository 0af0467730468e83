/* SPDX-License-Identifier: MIT */
#include "op/kit/seal_about.h"

#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/gate.h"
#include "base/mem.h"
#include "base/transfer.h"
#include "op/kit/seal_list.h"
#include "op/kit/shards.h"
#include "value/json/json.h"
#include "value/json/json_print.h"
#include "value/mp.h"

enum {
	ABOUT_TEXT = 64 * 1024,      /* a longer text is left out */
	ABOUT_MOST = 3 * ABOUT_TEXT, /* most bytes of the line that is read */
	ABOUT_FIELDS = 7
};

void
seal_about_clear(struct seal_about *a)
{
	mem_free(a->format);
	mem_free(a->compression);
	mem_free(a->type);
	mem_free(a->spec);
	mem_free(a->pipeline);
	*a = (struct seal_about){ 0 };
}

char *
seal_about_pipeline(const struct op_node *n)
{
	return mem_printf("%016" PRIx64, shards_pipeline(n));
}

/* Appends the pipeline that ends at n, stage by stage. */
static void
about_spec(const struct op_node *n, struct buf *out)
{
	if (n->n_in == 1) {
		about_spec(n->in[0], out);
		buf_str(out, " | ");
	}
	buf_str(out, op_text(n));
}

/* Takes the text out of the buffer, unless it is too long. */
static char *
about_text(struct buf *b)
{
	char *text = b->len && b->len <= ABOUT_TEXT ? mem_strndup((char *)b->data, b->len) : NULL;

	buf_clear(b);
	return text;
}

void
seal_about_node(struct seal_about *a, const struct op_node *saves)
{
	const struct op_node *n = saves->n_in ? saves->in[0] : NULL;
	struct buf b = { 0 };

	if (!n)
		return;
	if (n->type)
		type_print(n->type, &b);
	a->type = about_text(&b);
	about_spec(n, &b);
	a->spec = about_text(&b);
	a->pipeline = seal_about_pipeline(n);
}

static uint8_t *
about_put_text(uint8_t *p, const char *key, const char *text)
{
	p = mp_put_text(p, key, (uint32_t)strlen(key));
	return text ? mp_put_text(p, text, (uint32_t)strlen(text)) : mp_put_nil(p);
}

void
seal_about_put(const struct seal_about *a, struct buf *out)
{
	const struct { const char *key, *text; } texts[] = {
		{ "format", a->format }, { "compression", a->compression }, { "type", a->type }, { "spec", a->spec },
		{ "pipeline", a->pipeline }
	};
	size_t n = sizeof texts / sizeof *texts, room = 100;
	struct buf mp = { 0 }, json = { 0 };

	for (size_t k = 0; k < n; k++)
		room += 40 + (texts[k].text ? strlen(texts[k].text) : 0);
	uint8_t *start = buf_room(&mp, room), *p = mp_put_record_head(start, ABOUT_FIELDS);
	p = mp_put_uint(mp_put_text(p, "elements", 8), a->elements);
	p = mp_put_uint(mp_put_text(p, "bytes", 5), a->bytes);
	for (size_t k = 0; k < n; k++)
		p = about_put_text(p, texts[k].key, texts[k].text);
	json_print(start, (size_t)(p - start), &json);
	buf_put(out, json.data + 1, json.len - 1);
	buf_clear(&mp);
	buf_clear(&json);
}

/* Takes one field of the record. */
static void
about_take(struct seal_about *a, const struct mp *key, const struct mp *value)
{
	char **const texts[] = { &a->format, &a->compression, &a->type, &a->spec, &a->pipeline };
	static const char *const names[] = { "format", "compression", "type", "spec", "pipeline" };

	if (key->kind != MP_TEXT)
		return;
	if (value->kind == MP_INT && key->n == 8 && !memcmp(key->p, "elements", 8))
		a->elements = value->u;
	if (value->kind == MP_INT && key->n == 5 && !memcmp(key->p, "bytes", 5))
		a->bytes = value->u;
	for (size_t k = 0; k < sizeof names / sizeof *names; k++)
		if (value->kind == MP_TEXT && value->n && !*texts[k] && key->n == strlen(names[k]) &&
		    !memcmp(key->p, names[k], key->n) && !memchr(value->p, '\0', value->n))
			*texts[k] = mem_strndup((const char *)value->p, value->n);
}

/* Reads the last line as JSON: [p, p + n) begins behind its bracket and comma. */
static bool
about_parse(uint8_t *p, size_t n, struct seal_about *a)
{
	struct json *j = json_new();
	struct buf mp = { 0 };
	struct mp m, key;
	struct err e;
	const uint8_t *at, *end;
	bool good;

	*p = '{';
	good = json_value(j, p, n, &mp, &e) == ST_OK && (at = mp_head(mp.data, end = mp.data + mp.len, &m)) &&
		m.kind == MP_RECORD;
	for (uint32_t i = 0; good && i < m.n; i++) {
		struct mp value;
		const uint8_t *from = mp_head(at, end, &key);

		at = from ? mp_skip(from, end) : NULL;
		good = at && mp_head(from, end, &value);
		if (good)
			about_take(a, &key, &value);
	}
	json_free(&j);
	buf_clear(&mp);
	return good;
}

bool
seal_about_parse(struct buf *text, struct seal_about *a)
{
	*a = (struct seal_about){ 0 };
	const uint8_t *line = text->len > 1 && text->data[text->len - 1] == '\n' ?
		memrchr(text->data, '\n', text->len - 1) : NULL;
	size_t at = line ? (size_t)(line + 1 - text->data) : text->len;
	bool good = text->len > at + 2 && text->data[at] == ']' && text->data[at + 1] == ',' &&
		about_parse(text->data + at + 1, text->len - at - 1, a);

	if (!good)
		seal_about_clear(a);
	return good;
}

bool
seal_about_read(const char *dir, struct seal_about *a)
{
	char *path = mem_printf("%s/" SEAL_NAME, dir);
	enum gate side = gate_is_open(GATE_WRITE) ? GATE_WRITE : GATE_READ;
	int fd = gate_open(side, path, O_RDONLY, 0);
	struct buf b = { 0 };
	struct stat info;
	bool good = fd >= 0 && !fstat(fd, &info);
	off_t from = good && info.st_size > ABOUT_MOST ? info.st_size - ABOUT_MOST : 0;

	*a = (struct seal_about){ 0 };
	good = good && lseek(fd, from, SEEK_SET) >= 0 && transfer_read_all(fd, ABOUT_MOST, &b) && seal_about_parse(&b, a);
	if (fd >= 0)
		close(fd);
	buf_clear(&b);
	mem_free(path);
	return good;
}
